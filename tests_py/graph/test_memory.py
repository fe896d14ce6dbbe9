"""Models leave nothing behind: not after a run, not while running, not when they are deleted."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.cases import CASES, Case
from tests_py.graph.flows import FLOWS, Flow
from tests_py.graph.graphs import (
    Dtype,
    constant,
    function,
    model_of,
    node,
    placeholder,
    tensor_of,
    topology,
)

COUNTS = ("num_tensors", "num_storages", "num_bytes")
BLOCK = 1 << 16
LAYERS = 12


def counts() -> dict[str, int]:
    """What is alive."""
    memory = wt.memory()
    return {name: memory[name] for name in COUNTS}


GRAPHS: list[Case | Flow] = [*CASES[::7], *FLOWS]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_memory_is_flat_after_the_second_run(graph: Case | Flow, backend: str, no_leak: None):
    topology = graph.topology([1]) if isinstance(graph, Case) else graph.topology
    fetches = graph.fetches if isinstance(graph, Case) else list(graph.expected)
    model = model_of(topology)
    feeds = {name: tensor_of(value) for name, value in graph.feeds.items()}
    if isinstance(graph, Case):
        feeds.pop("input1", None)
    seen = []
    for _ in range(6):
        model.execute(feeds, fetches)
        seen.append(counts())
    assert seen[2:] == seen[2:3] * 4
    model.dispose()


class Peak:
    """The maximum number of bytes that were alive at the end of a kernel."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bytes = 0
        initialize = wt.engine.Storage.__init__

        def noted(storage: Any, *args: Any, **kwargs: Any) -> None:
            initialize(storage, *args, **kwargs)
            self.bytes = max(self.bytes, wt.memory()["num_bytes"])

        monkeypatch.setattr(wt.engine.Storage, "__init__", noted)


def chain() -> list[dict[str, Any]]:
    """A chain of operations that no pass makes fewer."""
    nodes = [placeholder("x")]
    source = "x"
    for index in range(LAYERS):
        nodes.append(node(f"y{index}", ("Sin", "Cumsum")[index % 2], _operands(source, index)))
        source = f"y{index}"
    return [constant("axis", 0), *nodes]


def _operands(source: str, index: int) -> str:
    return f"{source} axis" if index % 2 else source


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_intermediate_tensors_are_freed_while_running(
    runs: int, backend: str, monkeypatch: pytest.MonkeyPatch
):
    model = model_of(topology(chain()))
    x = wt.ones(BLOCK)
    before = wt.memory()["num_bytes"]
    for _ in range(runs - 1):
        model.execute({"x": x}, f"y{LAYERS - 1}")
    peak = Peak(monkeypatch)
    model.execute({"x": x}, f"y{LAYERS - 1}")
    # An operation's operand and result, and what its kernel may need besides.
    assert 4 * BLOCK < peak.bytes - before <= 4 * 4 * BLOCK


def test_a_loop_frees_what_its_iterations_computed(backend: str, monkeypatch: pytest.MonkeyPatch):
    step = function(
        "step",
        {"i": "int32", "x": "float32"},
        {"a": ("int32", "more:z:0"), "b": ("float32", "again:y:0")},
        [
            constant("one", 1),
            node("more", "AddV2", "i one"),
            node("wave", "Sin", "x"),
            node("again", "Cos", "wave:y:0"),
        ],
    )
    goes_on = function(
        "goes_on",
        {"i": "int32", "x": "float32"},
        {"r": ("bool", "less:z:0")},
        [constant("ten", 10), node("less", "Less", "i ten")],
    )
    loop = node("loop", "While", "zero x", cond={"func": {"name": "goes_on"}},
                body={"func": {"name": "step"}})  # fmt: skip
    nodes = [placeholder("x"), constant("zero", 0), loop, node("y", "Sin", "loop:1")]
    model = model_of(topology(nodes, [step, goes_on]))
    x = wt.ones(BLOCK)
    before = wt.memory()["num_bytes"]
    peak = Peak(monkeypatch)
    model.execute({"x": x}, "y")
    assert 4 * BLOCK < peak.bytes - before <= 4 * 4 * BLOCK


def test_nothing_is_left_of_a_deleted_model(backend: str):
    gc.collect()
    before = counts(), wt.memory()["backends"][backend]["bytes"]
    weight = constant("weight", np.ones((64, 64), np.float32))
    nodes = [placeholder("x"), weight, node("y", "MatMul", "x weight"), node("z", "Relu", "y")]
    model = model_of(topology(nodes))
    results = [model.execute({"x": wt.ones((size, 64))}, "z") for size in (1, 2, 3) * 3]
    assert counts() != before[0]
    del model, results
    gc.collect()
    assert (counts(), wt.memory()["backends"][backend]["bytes"]) == before


def test_nothing_is_left_of_a_run_that_failed(backend: str):
    nodes = [placeholder("x"), constant("w", [[1.0, 2.0]]), node("y", "MatMul", "x w")]
    model = model_of(topology(nodes))
    model.execute({"x": wt.ones((3, 1))}, "y")
    gc.collect()
    before = counts()
    for _ in range(3):
        with pytest.raises(ValueError, match="matmul"):
            model.execute({"x": wt.ones((3, 4))}, "y")
    gc.collect()
    assert counts() == before


@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case.name)
def test_what_is_computed_once_outlives_tidy(case: Case, backend: str, no_leak: None):
    model = model_of(case.topology([1]))
    feeds = {name: tensor_of(value) for name, value in case.feeds.items()}
    feeds.pop("input1", None)
    for _ in range(4):
        with wt.tidy():
            model.execute(feeds, case.fetches)
    model.dispose()


PASS_ON = [
    placeholder("x"),
    constant("w", [2.0, 3.0]),
    node("product", "Mul", "x w"),
    node("input", "Identity", "x"),
    node("weight", "Identity", "w"),
    node("first", "Identity", "product"),
    node("second", "Identity", "product"),
]
#: The same, and a random number, which is computed anew at each run.
RANDOM = [
    *PASS_ON,
    constant("shape", [1]),
    node("z", "RandomUniform", "shape", dtype=Dtype("float32"), T=Dtype("int32")),
]


@pytest.mark.parametrize("disposed", range(5))
@pytest.mark.parametrize("nodes", [PASS_ON, RANDOM], ids=["pure", "random"])
def test_each_result_is_disposed_by_itself(
    nodes: list[Any], disposed: int, backend: str, no_leak: None
):
    model = model_of(topology(nodes))
    names = ["input", "weight", "first", "second", "second", nodes[-1]["name"]]
    expected = [[1.0, 2.0], [2.0, 3.0], [2.0, 6.0], [2.0, 6.0], [2.0, 6.0]]
    x = wt.tensor([1.0, 2.0])
    for _ in range(4):
        results = model.execute({"x": x}, names)
        assert isinstance(results, list)
        results[disposed].dispose()
        for index in {*range(5)} - {disposed}:
            assert results[index].tolist() == expected[index]
        assert x.tolist() == [1.0, 2.0]
    model.dispose()


def test_results_are_separate_under_a_tape(backend: str):
    model = model_of(topology(PASS_ON))
    for _ in range(4):
        x = wt.Variable([1.0, 2.0])
        with wt.GradientTape() as tape:
            results = model.execute({"x": x}, ["first", "second", "input"])
            assert isinstance(results, list)
            results[0].dispose()
            loss = wt.sum(results[1]) + wt.sum(results[2])
        gradient = tape.gradient(loss, x)
        assert gradient is not None
        assert gradient.tolist() == [3.0, 4.0]
