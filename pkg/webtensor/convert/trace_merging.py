"""Making one graph of what a model computed in several runs.

The runs compute the same tensors in the same order; some of their sizes differ. ``RULES`` and
``WINDOW_RULES`` add the nodes of each primitive, and tensors that depend on nothing become
constants. The body of a loop is a graph of its own, made of traces of iterations in all runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any, NoReturn

from webtensor import ops
from webtensor.convert.loop_nodes import added_loop, loop_stack
from webtensor.convert.node_building import NodeBuilder, Value
from webtensor.convert.node_rules import Call, Rule, refused
from webtensor.convert.primitive_nodes import RULES
from webtensor.convert.recording import (
    CONSTANT,
    INPUT,
    LOOP,
    LOOP_STACK,
    LOOP_STATE,
    Trace,
    Traced,
    TracedInput,
    TracedLoop,
    TracedModel,
)
from webtensor.convert.size_bounds import size_bounds
from webtensor.convert.sizes import Shape, Size, UnknownSizeError, Varying, product, size_of
from webtensor.convert.window_nodes import WINDOW_RULES
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import ElementType
from webtensor.ops.complex_pairs import as_pairs
from webtensor.shapes import contiguous_strides

__all__ = ["Merging"]

_ALL_RULES: Mapping[str, Rule] = {**RULES, **WINDOW_RULES}
_DTYPES = frozenset({"bool", "float32", "int32"})
#: As many sizes may be in a tensor that the host made of them.
_MAX_SIZES = 64


class _DifferError(Exception):
    """Runs differ in more than in sizes."""


class Merging:
    """Makes one graph of several traces.

    Args:
        model: the model.
        traces: what its runs computed.
        nodes: receives the nodes; None is a new graph.
        weights: the names of the weights that inputs are, in the body of a loop.

    Attributes:
        nodes: the graph.
        inputs: the inputs of the graph; None for those that are the same in all traces.

    Raises:
        ModelFormatError: the runs computed different things.
    """

    def __init__(
        self,
        model: TracedModel,
        traces: Sequence[Trace],
        nodes: NodeBuilder | None = None,
        weights: Sequence[str] = (),
    ) -> None:
        self._model = model
        self._traces = _without_copies([_with_late_constants(trace) for trace in traces])
        input_names = {value.name for value in model.inputs}
        self.nodes = nodes or NodeBuilder(
            model.label, [name for name in model.outputs if name not in input_names]
        )
        self.inputs: list[Value | None] = []
        self._values: dict[int, Value] = {}
        #: The states and the lists of loops, by the number of the loop.
        self._loops: dict[int, list[Value]] = {}
        self._compare()
        #: Whether each tensor has the same elements in all traces, and the name of the only weight
        #: that it is made of.
        self._is_fixed: list[bool] = []
        self._weights: list[str] = []
        names = iter(weights)
        for number, row in enumerate(self._traces[0].tensors):
            self._is_fixed.append(self._fixed(number))
            name = next(names, "") if row.primitive is INPUT else self._weight(row)
            self._weights.append(name)
        #: Where the model itself computed a size: numbers of vectors, and indices of elements.
        self._computed_sizes = self._sizes_in_vectors()
        self.nodes.computed = self._computed_size
        self._number_of_added = 0

    def _compare(self) -> None:
        """Refuse traces of different computations."""
        for rows in zip(*(trace.tensors for trace in self._traces), strict=False):
            kinds = {(row.primitive.name, row.inputs, row.dtype) for row in rows}
            if len(kinds) > 1:
                self._refuse(rows[0], "what is computed")
        if len({len(trace.tensors) for trace in self._traces}) > 1:
            shortest = min((trace.tensors for trace in self._traces), key=len)
            self._refuse(shortest[-1], "how much is computed")

    def _refuse(self, row: Traced, subject: str) -> NoReturn:
        place = f"{row.place:.200}: " if row.place else ""
        raise UnknownSizeError(
            f"{self._model.label}: {place}{subject} depends on a size that is unknown, as in a "
            "loop over its elements; a graph needs a known size there",
            progress=1,
        )

    def results(self) -> list[Value]:
        """Add the nodes that the outputs need, and return the outputs."""
        outputs = self._traces[0].outputs
        if any([*trace.outputs] != [*outputs] for trace in self._traces):
            raise ModelFormatError(f"{self._model.label}: the outputs depend on unknown sizes")
        for dtype in (self._traces[0].tensors[number].dtype for number in outputs):
            if dtype not in _DTYPES:
                raise ModelFormatError(
                    f"{self._model.label}: an output has dtype {dtype}, which no graph has here"
                )
        for number, row in enumerate(self._traces[0].tensors):
            if row.primitive is INPUT:
                self._add_input(number)
        return [self._value(number) for number in outputs]

    def bounds(self) -> set[int]:
        """Return the bounds of sizes of which all traces are on the same side."""
        return size_bounds(self._traces, self._is_fixed)

    def _value(self, number: int) -> Value:
        """Return a tensor, after adding the nodes that it needs."""
        for needed in self._needed([number]):
            if needed not in self._values:
                self._values[needed] = self._added(needed)
        return self._values[number]

    def _needed(self, outputs: Sequence[int]) -> list[int]:
        """Return the numbers of the tensors that become nodes, in order."""
        needed: set[int] = set()
        pending = [*outputs]
        while pending:
            number = pending.pop()
            if number in needed or number in self._values:
                continue
            needed.add(number)
            if not self._is_fixed[number]:
                pending += self._traces[0].tensors[number].inputs
        return sorted(needed)

    def _rows(self, number: int) -> list[Traced]:
        return [trace.tensors[number] for trace in self._traces]

    def _fixed(self, number: int) -> bool:
        """Whether a tensor has the same elements in all traces; those before it are known."""
        rows = self._rows(number)
        values = [row.value for row in rows if row.value is not None]
        if len(values) < len(rows) or len({row.shape for row in rows}) > 1:
            return False
        if rows[0].inputs:
            is_same = all(row.attributes == rows[0].attributes for row in rows)
            return is_same and all(self._is_fixed[index] for index in rows[0].inputs)
        return rows[0].dtype in (*_DTYPES, "complex64") and _are_equal([*map(_in_pairs, values)])

    def _weight(self, row: Traced) -> str:
        """Return the name of the only weight that a tensor is made of, or ""."""
        if row.value is None:
            return ""
        own = self._model.weights.get(id(row.value.storage))
        names = {own} if own else {self._weights[index] for index in row.inputs} - {""}
        return names.pop() if len(names) == 1 else ""

    # -- tensors -------------------------------------------------------------------------------

    def _add_input(self, number: int) -> None:
        described, value = self._model.inputs[len(self.inputs)], None
        is_index = number == 0  # of an iteration, even where there is only one
        if is_index or not self._is_fixed[number]:
            value = self.nodes.placeholder(described.name, self._shape(number), described.dtype)
            self._values[number] = value
        self.inputs.append(value)

    def _shape(self, number: int) -> Shape:
        shapes = [row.shape for row in self._rows(number)]
        if len({len(shape) for shape in shapes}) > 1:
            self._refuse(self._rows(number)[0], "the rank of a tensor")
        return tuple(size_of(sizes) for sizes in zip(*shapes, strict=True))

    def _added(self, number: int) -> Value:
        """Add the node of a constant or of a primitive."""
        rows = self._rows(number)
        row = rows[0]
        self._number_of_added, self.nodes.place = number, row.place
        if self._is_fixed[number]:
            assert row.value is not None
            name = f"{row.place}/Const" if row.place else "Const"
            return self.nodes.constant(self._weights[number] or name, _in_pairs(row.value))
        if row.primitive is LOOP:
            return self._add_loop(number, rows)
        shape, dtype = self._shape(number), row.dtype
        if row.primitive in (LOOP_STATE, LOOP_STACK):
            result = self._loops[row.inputs[0]][row.attributes[0]]
            if row.primitive is LOOP_STATE:
                return self.nodes.noted(result._replace(shape=shape))
            return loop_stack(self.nodes, result, shape, dtype)
        if dtype == "complex64" and row.inputs:
            shape, dtype = (*shape, 2), "float32"
        if dtype not in _DTYPES:
            raise refused(self.nodes, f"it computes with {dtype} tensors, which no graph does here")
        if not row.inputs and row.value is not None:
            return self._constant_of_sizes(number, rows)
        return self._add_primitive(rows, shape, dtype)

    def _add_primitive(self, rows: Sequence[Traced], shape: Shape, dtype: str) -> Value:
        """Add the nodes of a primitive by its rule."""
        row = rows[0]
        rule = _ALL_RULES.get(row.primitive.name)
        if rule is None:
            what = "random numbers" if row.primitive.name == "random_bits" else row.primitive.name
            raise refused(self.nodes, f"it needs {what}, which no graph computes")
        try:
            merged = _merged([other.attributes for other in rows])
        except _DifferError:
            self._refuse(row, "an option")
        inputs = [self._values[index] for index in row.inputs]
        constants = [
            self._traces[0].tensors[index].value if self._is_fixed[index] else None
            for index in row.inputs
        ]
        traced = [other.attributes for other in rows]
        call = Call(row.primitive, inputs, shape, dtype, merged, traced, constants)
        value = rule(self.nodes, call)
        return value if value.shape == call.shape else self.nodes.reshaped(value, call.shape)

    def _add_loop(self, number: int, rows: Sequence[Traced]) -> Value:
        """Add the nodes of a loop, of which the iterations in all runs show the body."""
        inputs = rows[0].inputs
        loops: list[TracedLoop] = [row.attributes[0] for row in rows]
        traces = [trace for loop in loops for trace in loop.iterations]
        arguments = [row for row in traces[0].tensors if row.primitive is INPUT]
        model = replace(
            self._model,
            inputs=[TracedInput("argument", argument.dtype, ()) for argument in arguments],
            outputs=(),
        )
        weights = ["", *(self._weights[index] for index in inputs[1:])]
        body = Merging(model, traces, self.nodes.function(), weights)
        results = body.results()
        operands = [self._values[index] for index in inputs]
        self._loops[number] = added_loop(
            self.nodes,
            body.nodes,
            body.inputs,
            operands,
            results,
            loops[0].states,
            loops[0].is_conditional,
        )
        return operands[0]

    def _sizes_in_vectors(self) -> dict[Varying, list[tuple[int, int]]]:
        sizes: dict[Varying, list[tuple[int, int]]] = {}
        for number, is_fixed in enumerate(self._is_fixed):
            rows = self._rows(number)
            values = [row.value for row in rows if row.value is not None]
            is_computed = rows[0].inputs or rows[0].primitive is INPUT
            if is_fixed or not is_computed or len(values) < len(rows):
                continue
            if rows[0].dtype != "int32" or max(value.size for value in values) > _MAX_SIZES:
                continue
            lists = [ops.reshape(value, (-1,)).tolist() for value in values]
            for index, numbers in enumerate(zip(*lists, strict=False)):
                size = size_of(numbers)
                if isinstance(size, Varying):
                    sizes.setdefault(size, []).append((number, index))
        return sizes

    def _computed_size(self, size: Varying) -> Value | None:
        """Add the nodes by which the model computed a size before, such as that of a padding."""
        before, place, nodes = self._number_of_added, self.nodes.place, self.nodes
        earlier = [entry for entry in self._computed_sizes.get(size, ()) if entry[0] < before]
        if not earlier:
            return None
        number, index = earlier[-1]
        vector = nodes.reshaped(self._value(number), (-1,))
        self._number_of_added, nodes.place = before, place
        return nodes.sliced(vector, (index,), (index + 1,), (1,), (), shrunk=1)

    def _constant_of_sizes(self, number: int, rows: Sequence[Traced]) -> Value:
        """Add the nodes of a tensor that the host made of sizes.

        It has one number everywhere, or counts, or has a few sizes.
        """
        shape, dtype, nodes = self._shape(number), rows[0].dtype, self.nodes
        lists = [_numbers_in(row.value) for row in rows]
        if all(len({*numbers}) == 1 for numbers in lists):
            scalar = self._number([numbers[0] for numbers in lists], dtype)
            if not shape:
                return scalar
            return nodes.add("Fill", [nodes.integers(shape), scalar], shape, dtype)
        if dtype == "int32" and all(lists) and len(lists[0]) > 1:
            step = lists[0][1] - lists[0][0]
            if step and all(numbers == _counted(numbers, step) for numbers in lists):
                start, count = size_of(numbers[0] for numbers in lists), product(shape)
                ends = [nodes.size(size) for size in (start, count * step + start, step)]
                counts = nodes.add("Range", ends, (count,), dtype, Tidx=ElementType("int32"))
                return nodes.reshaped(counts, shape)
        if dtype == "int32" and len({len(numbers) for numbers in lists}) == 1:
            sizes = [size_of(numbers) for numbers in zip(*lists, strict=True)]
            if len(sizes) <= _MAX_SIZES:
                return nodes.reshaped(nodes.integers(sizes), shape)
        raise self._unknown()

    def _number(self, values: Sequence[float], dtype: str) -> Value:
        """Add a number that follows from sizes, such as one over a number of elements."""
        nodes = self.nodes
        if len({*values}) == 1:
            return nodes.scalar(values[0], dtype)
        if dtype == "int32":
            return nodes.size(size_of(int(value) for value in values))
        if all(float(value).is_integer() for value in values):
            return self._cast(size_of(int(value) for value in values))
        inverses = [round(1 / value) if value else 0 for value in values]
        if all(
            inverse and abs(inverse * value - 1) < 1e-6
            for inverse, value in zip(inverses, values, strict=True)
        ):
            return nodes.add("Reciprocal", [self._cast(size_of(inverses))], ())
        raise self._unknown()

    def _cast(self, size: Size) -> Value:
        return self.nodes.cast(self.nodes.size(size), "float32")

    def _unknown(self) -> ModelFormatError:
        return refused(
            self.nodes,
            "a constant depends on an unknown size, on values of the inputs or on earlier runs, "
            "in a way that no graph computes",
            is_due_to_sizes=True,
        )


def _with_late_constants(trace: Trace) -> Trace:
    """Return a trace in which constants are right before what first needs them.

    When they are computed depends on their size: small ones are made of numbers on the host.
    """
    rows: list[Traced] = []
    numbers: dict[int, int] = {}

    def number(index: int) -> int:
        if index not in numbers:
            row = trace.tensors[index]
            inputs = tuple(map(number, row.inputs))
            numbers[index] = len(rows)
            rows.append(row if inputs == row.inputs else replace(row, inputs=inputs))
        return numbers[index]

    for index, row in enumerate(trace.tensors):
        if row.primitive is not CONSTANT:
            number(index)
    return Trace(rows, [number(index) for index in trace.outputs])


def _without_copies(traces: Sequence[Trace]) -> list[Trace]:
    """Return traces in which copies are slices, paddings or transpositions, as in other traces.

    A slice that is all of a tensor, and a padding of nothing, are recorded as copies, a
    transposition that only moves axes of size 1 as a reshape.
    """
    rows = [[*trace.tensors] for trace in traces]
    for number, step in enumerate(zip(*rows, strict=False)):
        others = [row for row in step if row.primitive.name not in ("clone", "reshape")]
        if not others or len(others) == len(step):
            continue
        primitive, stored = others[0].primitive, others[0].attributes
        for tensors, row in zip(rows, step, strict=True):
            attributes: tuple[Any, ...] | None = None
            zeros, ones = (0,) * len(row.shape), (1,) * len(row.shape)
            if row.primitive.name == "reshape" and primitive.name == "permute_dims":
                attributes = _transposition(tensors[row.inputs[0]].shape, stored[2])
            elif row.primitive.name == "clone" and primitive.name == "slice":
                attributes = (contiguous_strides(row.shape), 0, zeros, ones)
            elif row.primitive.name == "clone" and primitive.name == "pad":
                attributes = (zeros, ones, *stored[2:])
            if attributes is not None:
                tensors[number] = replace(row, primitive=primitive, attributes=attributes)
    return [Trace(tensors, trace.outputs) for tensors, trace in zip(rows, traces, strict=True)]


def _transposition(shape: tuple[int, ...], order: Sequence[int]) -> tuple[Any, ...] | None:
    """Return the attributes of a transposition, or None if it moves elements."""
    if len(shape) != len(order):
        return None
    moved = [axis for axis in order if shape[axis] != 1]
    if moved != sorted(moved):
        return None
    strides = contiguous_strides(shape)
    return tuple(strides[axis] for axis in order), 0, order


def _numbers_in(value: Tensor | None) -> list[Any]:
    """Return the elements of a tensor; NaN is one object, which sets hold once."""
    numbers = ops.reshape(value, (-1,)).tolist()
    return [number if number == number else nan for number in numbers]


def _counted(numbers: Sequence[int], step: int) -> list[int]:
    return [numbers[0] + index * step for index in range(len(numbers))]


def _in_pairs(value: Tensor) -> Tensor:
    """Return a complex tensor as pairs of numbers, as graphs have it, and others as they are."""
    return as_pairs(value) if str(value.dtype) == "complex64" else value


def _are_equal(values: Sequence[Tensor]) -> bool:
    first, *others = values
    return all(
        other.storage is first.storage or bytes(other.storage.read()) == bytes(first.storage.read())
        for other in others
    )


def _merged(values: Sequence[Any]) -> Any:
    """Return attributes of several traces as one, in which sizes may vary.

    Raises:
        _DifferError: they differ in something else.
    """
    first = values[0]
    if isinstance(first, tuple):
        if len({len(value) for value in values}) > 1:
            raise _DifferError
        parts = [_merged(part) for part in zip(*values, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if all(value is first or value == first for value in values):
        return first
    if all(type(value) is int for value in values):
        return size_of(values)
    raise _DifferError
