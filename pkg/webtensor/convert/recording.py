"""Recording what a model computes: the primitives that the engine runs, with their inputs.

A ``Trace`` is the list of the tensors of one run: inputs, constants, and results of primitives,
each with what it was computed from. Reading elements that follow from the inputs is refused: what a
program does after it depends on them, and a list of primitives does not.

A loop whose number of iterations differs between runs, or depends on elements, is one step: it has
traces of its first iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from weakref import ReferenceType, ref

from webtensor import ops
from webtensor.convert.sizes import UnknownSizeError
from webtensor.engine import Primitive, Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.engine.state import capturing, observing, state
from webtensor.errors import CaptureError, ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.ops.blocks import BlockRow
from webtensor.programs.recording import on_device
from webtensor.programs.unread import UnreadStorages
from webtensor.transforms.loop_recording import Loop, LoopObserver

__all__ = [
    "CONSTANT",
    "INPUT",
    "LOOP",
    "LOOP_STACK",
    "LOOP_STATE",
    "Dimension",
    "Loops",
    "Recorder",
    "Trace",
    "Traced",
    "TracedInput",
    "TracedLoop",
    "TracedModel",
    "Unknown",
    "unscoped",
]


class Unknown(NamedTuple):
    """The size of an axis of an input, of which nothing is known."""

    input: str
    axis: int


#: A known size, or the name of one that may be several inputs', or an unknown one.
Dimension: TypeAlias = int | str | Unknown

#: Stand for what has no primitive of its own.
INPUT = Primitive("input")
CONSTANT = Primitive("constant")
RESHAPE = Primitive("reshape")
#: A loop, and its results: the last value of a state, and the outputs of all iterations.
LOOP = Primitive("loop")
LOOP_STATE = Primitive("loop_state")
LOOP_STACK = Primitive("loop_stack")
_RANDOM = frozenset({"random_bits"})
#: What computes the elements of its input.
_COPIES = frozenset({"clone", "identity", "reshape"})
#: The maximum number of tensors of a trace; each takes a few hundred bytes.
_MAX_TENSORS = 1 << 16
#: How many iterations of a loop are traced, and how many a loop may have whose end depends on
#: elements.
_TRACED_ITERATIONS, _MAX_ITERATIONS = 3, 4_000


@dataclass(frozen=True, slots=True)
class Traced:
    """A tensor of a trace.

    Attributes:
        primitive: what computed it, or ``INPUT`` or ``CONSTANT``.
        inputs: the numbers of the tensors that it was computed from.
        shape: its shape.
        dtype: the name of its dtype.
        attributes: those of the primitive.
        place: the layer or node that computed it.
        value: the tensor, if it does not follow from the inputs.
    """

    primitive: Primitive
    inputs: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: str
    attributes: tuple[Any, ...]
    place: str
    value: Tensor | None = None


@dataclass(frozen=True)
class Trace:
    """The tensors of a run, and the numbers of those that are the outputs."""

    tensors: Sequence[Traced]
    outputs: Sequence[int]


class TracedLoop(NamedTuple):
    """The attributes of a loop.

    Attributes:
        iterations: traces of the first iterations. Their inputs are the index, the states and the
            captured tensors, their outputs the next states and the outputs of the iteration.
        states: the number of states.
        is_conditional: whether the first state ends the loop where it is false.
    """

    iterations: Sequence[Trace]
    states: int
    is_conditional: bool


@dataclass
class Loops:
    """What the runs of a model show about its loops.

    Attributes:
        counts: the numbers of iterations of loops, by the name of the loop.
        rolled: the names of the loops that are one step.
        depend_on_elements: whether there are loops whose end depends on elements.
        has_fixed_sizes: whether all runs have inputs of the same sizes.
    """

    counts: dict[str, set[int]] = field(default_factory=dict)
    rolled: set[str] = field(default_factory=set)
    depend_on_elements: bool = False
    has_fixed_sizes: bool = False

    def note(self, name: str, count: int) -> bool:
        """Note the number of iterations in a run, and return whether the loop is one step."""
        self.counts.setdefault(name, set()).add(count)
        return name in self.rolled

    def roll(self) -> bool:
        """Make loops one step whose numbers of iterations differ; return whether any were not."""
        before = len(self.rolled)
        self.rolled |= {name for name, counts in self.counts.items() if len(counts) > 1}
        return len(self.rolled) > before


class TracedInput(NamedTuple):
    """An input of a model; its first axis is the batch if its size is unknown."""

    name: str
    dtype: str
    shape: tuple[Dimension, ...]


@dataclass(frozen=True)
class TracedModel:
    """A model that computes tensors from tensors.

    Attributes:
        label: what errors call it.
        inputs: its inputs.
        outputs: the names of its outputs.
        run: computes the outputs; sets the recorder's ``place``.
        budget: limits what writing the graph may cost.
        weights: the names of weights by the ids of their storages.
        metadata: what the author of the model added.
    """

    label: str
    inputs: Sequence[TracedInput]
    outputs: Sequence[str]
    run: Callable[[Sequence[Tensor], Recorder], Sequence[Tensor]]
    budget: Budget
    weights: Mapping[int, str] = field(default_factory=dict)
    metadata: Any = None


class Recorder(LoopObserver):
    """Observer that records the primitives of a run.

    Args:
        where: what errors call the model.
        loops: what the runs of the model show about its loops.
        iterations: how often loops run whose end depends on elements; None is as often as it says.
        around: the recorder of the computation that has the loop of which this is an iteration.
        name: the name of that loop.
    """

    def __init__(
        self,
        where: str,
        loops: Loops | None = None,
        iterations: int | None = None,
        around: Recorder | None = None,
        name: str = "",
    ) -> None:
        self._where, self._name = where, name
        self._loop_numbers: Counter[str] = Counter()
        self._loops, self._iterations, self._around = loops or Loops(), iterations, around
        self.has_fixed_sizes = self._loops.has_fixed_sizes
        self._tensors: list[Traced] = []
        self._numbers: dict[int, tuple[ReferenceType[Any], int]] = {}
        #: The numbers, in the recorder around, of the tensors that come from there.
        self.captured: list[int] = []
        self._unread = UnreadStorages()
        #: Returns the name of the layer or node that is being computed.
        self.place: Callable[[], str] = str if around is None else around.place
        self._last_place = ""

    def run(
        self, function: Callable[[list[Tensor]], list[Tensor]], inputs: Sequence[Tensor]
    ) -> Trace:
        """Call a function, and return what it computed.

        Raises:
            ModelFormatError: it computes something that no list of primitives does.
        """
        for tensor in inputs:
            self._note(tensor, Traced(INPUT, (), tensor.shape, str(tensor.dtype), (), ""))
            self._watch(tensor)
        try:
            with observing(self), capturing():
                results = function([*inputs])
            if not all(isinstance(result, Tensor) for result in results):
                raise ModelFormatError(f"{self._where}: an output is a list of tensors, or nothing")
            return Trace(self._tensors, [self._number(result) for result in results])
        except CaptureError:
            raise ModelFormatError(
                f"{self._where}: {self._near()}values that only the inputs decide are read, and "
                "what is computed next depends on them, which a graph cannot do"
            ) from None
        except Exception as error:
            if self._near() and not getattr(error, "__notes__", None):
                error.add_note(self._near().removesuffix(": "))
            raise
        finally:
            self._unread.release()

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Note a primitive that ran."""
        if isinstance(primitive, BlockRow):
            self._record_composed(primitive, inputs, output)
            return
        numbers = tuple(map(self._number, inputs))
        depends = primitive.name in _RANDOM or any(
            self._tensors[number].value is None for number in numbers
        )
        value = None if depends else unscoped(output)
        dtype, place = str(output.dtype), self.place()
        self._last_place = place
        if value is not None and not numbers:
            primitive, attributes = CONSTANT, ()
        traced = Traced(primitive, numbers, output.shape, dtype, attributes, place, value)
        self._note(output, traced)
        if depends:
            self._watch(output)

    def _record_composed(self, row: BlockRow, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        """Record a formula on blocks as the primitives that it is composed of."""
        observers = state.observers
        state.observers = (self,)
        try:
            composed = row.composed(*inputs)
        finally:
            state.observers = observers
        number = self._number(composed)
        self._keep(output, number)
        if self._tensors[number].value is None:
            self._watch(output)

    # -- loops ---------------------------------------------------------------------------------

    def record_loop(self, loop: Loop) -> list[Tensor] | None:
        """Record a loop as one step, unless it runs equally often in all runs."""
        name = f"{self._name}/{self.place()}"
        self._loop_numbers[name] += 1
        name = f"{name} {self._loop_numbers[name]}"
        is_readable = is_limited = loop.limit.storage.is_readable
        is_step = False
        if is_readable:
            count = loop.limit.item()
            is_step = self._loops.note(name, count)
            if not count or not (is_step or loop.is_conditional):
                return None
        observers, state.observers = state.observers, ()
        try:
            first = self._iteration(loop, name, 0, loop.states)
            is_conditional = loop.is_conditional and not _always_holds(loop, first)
            is_limited = is_readable and not is_conditional
            if is_limited and not is_step:
                return None
            return self._recorded(loop, name, first, is_readable, is_conditional)
        except ModelFormatError:
            if is_limited and not is_step:
                return None  # its operations may be recorded all the same
            raise
        finally:
            state.observers = observers

    def _recorded(
        self, loop: Loop, name: str, first: _Iteration, is_readable: bool, is_conditional: bool
    ) -> list[Tensor]:
        """Run a loop, and record it as one step."""
        iterations, states, rows = self._run_all(loop, name, first, is_readable, is_conditional)
        if any(iteration.captured != first.captured for iteration in iterations):
            raise UnknownSizeError(f"{self._where}: {self._near()}iterations of a loop differ", 1)
        traces = [iteration.trace for iteration in iterations]
        inputs = (*map(self._number, (loop.limit, *loop.states)), *first.captured)
        attributes = (TracedLoop(traces, len(states), is_conditional),)
        number = self._append(Traced(LOOP, inputs, (), "", attributes, self.place()))
        with self._readable():
            empty = [ops.zeros((0, *output.shape), output.dtype) for output in first.outputs]
            stacks = [ops.stack(column) for column in zip(*rows, strict=True)] if rows else empty
            results = [on_device(tensor, copies=True) for tensor in (*states, *stacks)]
        for output, result in enumerate(results):
            kind = LOOP_STATE if output < len(states) else LOOP_STACK
            shape, dtype = result.shape, str(result.dtype)
            self._note(result, Traced(kind, (number,), shape, dtype, (output,), self.place()))
            self._watch(result)
        return results

    def _run_all(
        self, loop: Loop, name: str, first: _Iteration, is_readable: bool, is_conditional: bool
    ) -> tuple[list[_Iteration], Sequence[Tensor], list[Sequence[Tensor]]]:
        """Run a loop; return the iterations traced, the last states, and the outputs of each."""
        depends = is_conditional or not is_readable
        self._loops.depend_on_elements |= depends
        forced = self._iterations if depends else None
        with self._readable():
            limits = [loop.limit.item()] if is_readable or not forced else []
        limit = min([*limits, forced or _MAX_ITERATIONS]) if depends else limits[0]
        iterations = [first]
        states, rows = loop.states, list[Sequence[Tensor]]()
        while len(rows) < limit and (
            not is_conditional or forced is not None or self._holds(states[0])
        ):
            if len(rows) < _TRACED_ITERATIONS:
                if rows:
                    iterations.append(self._iteration(loop, name, len(rows), states))
                states, outputs = iterations[-1].states, iterations[-1].outputs
            else:
                with self._readable():
                    index = ops.tensor(len(rows), dtype="int32")
                    states, outputs = loop.body(index, [*states])
            rows.append(outputs)
        if depends and len(rows) == _MAX_ITERATIONS:
            raise ModelFormatError(f"{self._where}: {self._near()}a loop does not end")
        return iterations, states, rows

    def _iteration(
        self, loop: Loop, name: str, number: int, states: Sequence[Tensor]
    ) -> _Iteration:
        """Run and trace an iteration of a loop."""
        inner = Recorder(self._where, self._loops, self._iterations, self, name)
        index = ops.tensor(number, dtype="int32")
        inner._note(index, Traced(INPUT, (), (), "int32", (), "", unscoped(index)))
        with self._readable():
            copies = [on_device(tensor, copies=True) for tensor in states]
        results: list[Sequence[Tensor]] = []

        def run(states: list[Tensor]) -> list[Tensor]:
            for tensor in loop.captures:
                inner._number(tensor)
            results[:] = loop.body(index, states)
            return [*results[0], *results[1]]

        trace = inner.run(run, copies)
        return _Iteration(trace, inner.captured, *results)

    def _holds(self, condition: Tensor) -> bool:
        with self._readable():
            return bool(condition.item())

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Let all elements be read within the context."""
        with self._unread.readable():
            if self._around is None:
                yield
            else:
                with self._around._readable():
                    yield

    # -- tensors -------------------------------------------------------------------------------

    def _near(self) -> str:
        """Return where the run is, for errors."""
        place = self.place() or self._last_place
        return f"{place:.200}: " if place else ""

    def _watch(self, tensor: Tensor) -> None:
        if tensor.storage.host is None:
            self._unread.add(tensor.storage)

    def _note(self, tensor: Tensor, traced: Traced) -> None:
        self._keep(tensor, self._append(traced))

    def _append(self, traced: Traced) -> int:
        if len(self._tensors) >= _MAX_TENSORS:
            raise ModelFormatError(
                f"{self._where}: {self._near()}the graph would have more than {_MAX_TENSORS:,} "
                "nodes; long loops are a part of it step by step"
            )
        self._tensors.append(traced)
        return len(self._tensors) - 1

    def _keep(self, tensor: Tensor, number: int) -> None:
        self._numbers[id(tensor)] = (ref(tensor), number)
        storage = tensor.storage
        entry = self._numbers.get(id(storage))
        if entry is None or entry[0]() is not storage:
            self._numbers[id(storage)] = (ref(storage), number)

    def _noted(self, tensor: Tensor) -> int | None:
        """Return the number of a tensor, or of another one over its elements, if there is one."""
        for target in (tensor, tensor.storage):
            entry = self._numbers.get(id(target))
            if entry is not None and entry[0]() is target:
                return entry[1]
        return None

    def _is_around(self, tensor: Tensor) -> bool:
        """Whether a tensor comes from around the loop of which this is an iteration."""
        around = self._around
        return around is not None and (
            around._noted(tensor) is not None or around._is_around(tensor)
        )

    def _number(self, tensor: Tensor) -> int:
        """Return the number of a tensor; one that nothing recorded computed is a constant."""
        number, dtype = self._noted(tensor), str(tensor.dtype)
        if number is not None:
            source = self._tensors[number]
            if source.shape == tensor.shape:
                return number
            value = None if source.value is None else unscoped(tensor)
            traced = Traced(RESHAPE, (number,), tensor.shape, dtype, (), self.place(), value)
        elif self._around is not None and self._is_around(tensor):
            outer = self._around._number(tensor)
            self.captured.append(outer)
            value = self._around._tensors[outer].value
            traced = Traced(INPUT, (), tensor.shape, dtype, (), self.place(), value)
        else:
            place = self.place()
            traced = Traced(CONSTANT, (), tensor.shape, dtype, (), place, unscoped(tensor))
            if not tensor.shape:
                # The engine has one tensor of equal numbers; they may differ in other runs.
                return self._append(traced)
        self._note(tensor, traced)
        return len(self._tensors) - 1


class _Iteration(NamedTuple):
    """An iteration of a loop: its trace, what it captures, the next states, and its outputs."""

    trace: Trace
    captured: Sequence[int]
    states: Sequence[Tensor]
    outputs: Sequence[Tensor]


def _always_holds(loop: Loop, first: _Iteration) -> bool:
    """Whether the condition of a loop stays true."""
    condition, tensors = loop.states[0], first.trace.tensors
    if not condition.storage.is_readable or not condition.item():
        return False
    (number, *_) = first.trace.outputs
    value, pending = tensors[number].value, [number]
    while tensors[number].primitive.name in _COPIES:
        (number,) = tensors[number].inputs
    if number == 1:  # the index is the first input, the condition the second one
        return True
    while pending and 0 not in pending:
        pending += tensors[pending.pop()].inputs
    return value is not None and bool(value.item()) and not pending


def unscoped(tensor: Tensor) -> Tensor:
    """Return a tensor of its own over the same elements, which no scope disposes."""
    with outside_scopes():
        return Tensor(tensor.storage, tensor.shape, tensor.dtype)
