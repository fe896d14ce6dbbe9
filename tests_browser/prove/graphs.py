"""Random graphs of operations, which must be equal on every backend of every browser.

A graph is data: the shapes of its inputs, and steps that name an operation, the earlier values that
it takes, and its other arguments. `graph_runner.py` computes it, on NumPy in CPython and on the
backends of pages. Values and gradients are compared.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import webtensor as wt
from tests_browser.prove import graph_runner
from tests_browser.prove.trials import Stage, Trial

#: Smooth functions that keep numbers small.
UNARY = ("tanh", "sigmoid", "sin", "cos", "softplus", "erf", "atan", "softmax", "log_softmax")
#: Continuous functions whose gradients jump; a graph with one has none.
JUMPING = ("relu", "abs", "sort")
BINARY = ("add", "subtract", "multiply")
REDUCTIONS = ("sum", "mean", "log_sum_exp")
JUMPING_REDUCTIONS = ("max", "min")
STEPS = 10
TOLERANCE = 2e-4

Shape = tuple[int, ...]
Graph = dict[str, Any]


def size_of(shape: Shape) -> int:
    """Return the number of elements."""
    return int(np.prod(shape, dtype=int))


class Drawing:
    """Draws one graph, and keeps the shapes of its values."""

    def __init__(self, seed: int) -> None:
        """Draw the inputs: matrices of a few rows and columns, and a batch of them."""
        self.random = Random(seed)
        rows, columns = (self.random.randint(1, 9) for _ in range(2))
        self.shapes: list[Shape] = [
            (rows, columns),
            (rows, columns),
            (columns, self.random.randint(1, 9)),
            (self.random.randint(1, 3), rows, columns),
        ]
        self.inputs = [[s, size_of(s), self.random.randint(0, 1008)] for s in self.shapes]
        self.steps: list[Any] = []
        self.is_smooth = self.random.random() < 0.6

    def graph(self) -> Graph:
        """Draw the steps."""
        kinds = (
            self.unary,
            self.unary,
            self.binary,
            self.binary,
            self.reduce,
            self.move,
            self.join,
        )
        while len(self.steps) < STEPS:
            self.random.choice((*kinds, self.multiply))()
        return {"inputs": self.inputs, "steps": self.steps, "is_smooth": self.is_smooth}

    def _add(self, name: str, operands: list[int], result: Shape, **arguments: Any) -> None:
        self.steps.append([name, operands, arguments])
        self.shapes.append(result)

    def _value(self) -> tuple[int, Shape]:
        """Choose a value, later ones more often."""
        last = len(self.shapes) - 1
        index = max(self.random.randint(0, last), self.random.randint(0, last))
        return index, self.shapes[index]

    def unary(self) -> None:
        """Apply a function to each element, or along the last axis."""
        index, shape = self._value()
        names: tuple[str, ...] = UNARY if self.is_smooth else UNARY + JUMPING
        if not shape:
            names = tuple(name for name in names if name not in ("softmax", "log_softmax", "sort"))
        self._add(self.random.choice(names), [index], shape)

    def binary(self) -> None:
        """Combine two values whose shapes broadcast; products are kept small."""
        index, shape = self._value()
        fitting = [
            other
            for other, other_shape in enumerate(self.shapes)
            if other_shape in (shape, shape[1:], ()) or other_shape == (1,) * len(shape)
        ]
        name = self.random.choice(BINARY)
        self._add(name, [index, self.random.choice(fitting)], shape)
        self._add("tanh", [len(self.shapes) - 1], shape)

    def multiply(self) -> None:
        """Multiply matrices, one of which may be a batch."""
        index, shape = self._value()
        if len(shape) < 2:
            return
        fitting = [n for n, s in enumerate(self.shapes) if len(s) == 2 and s[0] == shape[-1]]
        if not fitting:
            return
        other = self.random.choice(fitting)
        product = (*shape[:-1], self.shapes[other][1])
        self._add("matmul", [index, other], product)
        self._add("tanh", [len(self.shapes) - 1], product)

    def reduce(self) -> None:
        """Reduce an axis."""
        index, shape = self._value()
        if not shape:
            return
        axis = self.random.randrange(len(shape))
        keepdims = self.random.random() < 0.5
        kept = (1,) if keepdims else ()
        names = REDUCTIONS if self.is_smooth else REDUCTIONS + JUMPING_REDUCTIONS
        reduced = (*shape[:axis], *kept, *shape[axis + 1 :])
        self._add(self.random.choice(names), [index], reduced, axis=axis, keepdims=keepdims)

    def move(self) -> None:
        """Put elements elsewhere."""
        index, shape = self._value()
        axes = list(range(len(shape)))
        kind = self.random.choice(("permute_dims", "reshape", "flip", "pad"))
        if kind == "permute_dims":
            self.random.shuffle(axes)
            self._add(kind, [index], tuple(shape[axis] for axis in axes), axes=axes)
        elif kind == "reshape":
            self._add(kind, [index], (size_of(shape),), shape=[size_of(shape)])
        elif kind == "flip" and shape:
            self._add(kind, [index], shape, axis=self.random.choice(axes))
        elif kind == "pad" and 0 < size_of(shape) < 500:
            paddings = [[self.random.randint(0, 1), self.random.randint(0, 1)] for _ in shape]
            if paddings:
                padded = tuple(n + sum(padding) for n, padding in zip(shape, paddings, strict=True))
                self._add(kind, [index], padded, paddings=paddings)

    def join(self) -> None:
        """Concatenate two values of a shape."""
        index, shape = self._value()
        if shape and size_of(shape) < 500:
            axis = self.random.randrange(len(shape))
            joined = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
            other = self.random.choice([n for n, s in enumerate(self.shapes) if s == shape])
            self._add("concat", [index, other], joined, axis=axis)


def draw_graph(seed: int) -> Graph:
    """Return the graph of a seed."""
    return Drawing(seed).graph()


@cache
def expected(seed: int) -> list[Any]:
    """Compute a graph on NumPy, in CPython."""
    previous = wt.get_backend()
    wt.set_backend("numpy")
    try:
        return [
            np.asarray(value.tolist()).ravel() for value in graph_runner.results(draw_graph(seed))
        ]
    finally:
        wt.set_backend(previous)


#: Graphs of one call to the page.
CHUNK = 50
RUN = (
    Path(graph_runner.__file__).read_text("utf-8")
    + """
wt.set_backend(backend)
[await numbers(graph) for graph in graphs]"""
)


def graphs_are_equal(stage: Stage, trial: Trial, count: int) -> str:
    """Compute random graphs in a page and in CPython; their values and gradients are equal."""
    page = stage.python(trial.browser)
    largest, compared, gradients = 0.0, 0, 0
    for start in range(0, count, CHUNK):
        seeds = range(start, min(start + CHUNK, count))
        graphs = [draw_graph(seed) for seed in seeds]
        answer = page.run(RUN, graphs=graphs, backend=trial.backend)
        for seed, graph, values in zip(seeds, graphs, answer, strict=True):
            gradients += graph["is_smooth"]
            for number, (value, expected_array) in enumerate(
                zip(values, expected(seed), strict=True)
            ):
                scale = max(1.0, float(np.abs(expected_array).max(initial=0)))
                error = float(np.abs(np.asarray(value) - expected_array).max(initial=0)) / scale
                assert error <= TOLERANCE, f"graph {seed}, value {number}: {error} ({graph})"
                largest, compared = max(largest, error), compared + len(value)
    return (
        f"{count} graphs, {gradients} of them with gradients, {compared:,} numbers; the largest"
        f" difference from NumPy is {largest:.1e} of the largest value"
    )


GRAPH_TRIALS = [
    Trial("graphs", graphs_are_equal, "graphs", 1_000, browser, backend)
    for browser in ("chromium", "firefox", "webkit")
    for backend in ("wasm", "webgl")
]
