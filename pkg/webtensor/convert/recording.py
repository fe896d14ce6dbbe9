"""Recording what a model computes: the primitives that the engine runs, with their inputs.

A ``Trace`` is the list of the tensors of one run: inputs, constants, and results of primitives,
each with what it was computed from. Reading elements that follow from the inputs is refused: what a
program does after it depends on them, and a list of primitives does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from weakref import ReferenceType, ref

from webtensor.engine import Primitive, Tensor
from webtensor.engine.scopes import outside_scopes
from webtensor.engine.state import capturing, observing, state
from webtensor.errors import CaptureError, ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.ops.blocks import BlockRow
from webtensor.programs.unread import UnreadStorages

__all__ = [
    "INPUT",
    "Dimension",
    "Recorder",
    "Trace",
    "Traced",
    "TracedInput",
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
_RANDOM = frozenset({"random_bits"})
#: The maximum number of tensors of a trace; each takes a few hundred bytes.
_MOST_TENSORS = 1 << 16


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


class Recorder:
    """Observer that records the primitives of a run.

    Args:
        where: what errors call the model.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._tensors: list[Traced] = []
        self._numbers: dict[int, tuple[ReferenceType[Any], int]] = {}
        self._unread = UnreadStorages()
        #: Returns the name of the layer or node that is being computed.
        self.place: Callable[[], str] = str
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

    def _near(self) -> str:
        """Return where the run is, for errors."""
        place = self.place() or self._last_place
        return f"{place:.200}: " if place else ""

    def _watch(self, tensor: Tensor) -> None:
        if tensor.storage.host is None:
            self._unread.add(tensor.storage)

    def _note(self, tensor: Tensor, traced: Traced) -> None:
        if len(self._tensors) >= _MOST_TENSORS:
            raise ModelFormatError(
                f"{self._where}: {self._near()}the graph would have more than {_MOST_TENSORS:,} "
                "nodes; long loops are a part of it step by step"
            )
        self._tensors.append(traced)
        self._keep(tensor, len(self._tensors) - 1)

    def _keep(self, tensor: Tensor, number: int) -> None:
        self._numbers[id(tensor)] = (ref(tensor), number)
        storage = tensor.storage
        entry = self._numbers.get(id(storage))
        if entry is None or entry[0]() is not storage:
            self._numbers[id(storage)] = (ref(storage), number)

    def _number(self, tensor: Tensor) -> int:
        """Return the number of a tensor; one that nothing recorded computed is a constant."""
        for target in (tensor, tensor.storage):
            entry = self._numbers.get(id(target))
            if entry is None or entry[0]() is not target:
                continue
            number = entry[1]
            source = self._tensors[number]
            if source.shape == tensor.shape:
                return number
            value = None if source.value is None else unscoped(tensor)
            dtype = str(tensor.dtype)
            self._note(
                tensor, Traced(RESHAPE, (number,), tensor.shape, dtype, (), self.place(), value)
            )
            return len(self._tensors) - 1
        dtype, value = str(tensor.dtype), unscoped(tensor)
        self._note(tensor, Traced(CONSTANT, (), tensor.shape, dtype, (), self.place(), value))
        return len(self._tensors) - 1


def unscoped(tensor: Tensor) -> Tensor:
    """Return a tensor of its own over the same elements, which no scope disposes."""
    with outside_scopes():
        return Tensor(tensor.storage, tensor.shape, tensor.dtype)
