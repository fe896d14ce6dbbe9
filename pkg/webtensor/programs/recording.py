"""Recording a function: the kernels that it runs, what it reads, assigns and returns.

A ``Recording`` numbers the **values** of one run: elements, which several tensors may share.
Arguments, variables and constants have values, and each kernel makes another one. Elements that
follow from arguments or variables must not be read: what a function does next depends on them, and
a recording does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from weakref import ReferenceType, ref

from webtensor.dtypes import DType, string_
from webtensor.engine import Primitive, Storage, Tensor, Variable, state
from webtensor.engine.state import observing
from webtensor.errors import CaptureError
from webtensor.ops.random_bits import seed_attributes
from webtensor.programs.unread import UnreadStorages
from webtensor.shapes import Shape

__all__ = ["Argument", "RecordedCall", "Recorder", "Recording", "Source", "View"]


class Argument(NamedTuple):
    """A tensor that is an argument of the function, by its number."""

    number: int


#: What has a value before anything is computed; storages are those of constants.
Source: TypeAlias = Argument | Variable | Storage


class View(NamedTuple):
    """A tensor of a recording: the number of its value, seen in a shape and a dtype."""

    value: int
    shape: Shape
    dtype: DType


class RecordedCall(NamedTuple):
    """A primitive whose kernel made a value.

    Attributes:
        primitive: what ran.
        inputs: what it ran on.
        output: its result.
        attributes: those of the primitive.
        seed: the number of the seed that its attributes come from, or None.
    """

    primitive: Primitive
    inputs: tuple[View, ...]
    output: View
    attributes: tuple[Any, ...]
    seed: int | None = None


@dataclass
class Recording:
    """What a function did.

    Attributes:
        sources: what had a value at first, by the value's number.
        calls: the calls of kernels, in order.
        seeds: what draws each seed.
        assigned: variables, with what was assigned to them last.
    """

    sources: dict[int, Source] = field(default_factory=dict)
    calls: list[RecordedCall] = field(default_factory=list)
    seeds: list[Callable[[], int]] = field(default_factory=list)
    assigned: list[tuple[Variable, View]] = field(default_factory=list)


class Recorder:
    """Observer of one run of a function."""

    def __init__(self) -> None:
        self.recording = Recording()
        self._values = 0
        #: What is known of tensors and storages, by their identity.
        self._views: dict[int, tuple[ReferenceType[Any], View]] = {}
        self._unread = UnreadStorages()
        self._assigned: dict[int, tuple[Variable, Tensor]] = {}
        #: The numbers of seeds by the attributes that follow from them.
        self._drawn: dict[tuple[Any, ...], int] = {}
        self._is_drawing = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Record what runs within the context."""
        readers, writers = state.variable_readers, state.variable_writers
        drawers = state.seed_readers
        try:
            with observing(self):
                state.variable_readers = (*readers, self)
                state.variable_writers = (*writers, self)
                state.seed_readers = (*drawers, self)
                yield
        finally:
            state.variable_readers = readers
            state.variable_writers, state.seed_readers = writers, drawers
            self._unread.release()

    def argument(self, number: int, tensor: Tensor) -> None:
        """Note a tensor that stands for an argument."""
        self._begin(tensor, Argument(number))
        self._unread.add(tensor.storage)

    def view(self, tensor: Tensor) -> View:
        """Return what is recorded of a tensor; one that nothing recorded made is a constant."""
        recorded = self._known(tensor) or self._known(tensor.storage)
        if recorded is not None:
            return View(recorded.value, tensor.shape, tensor.dtype)
        if tensor.dtype is string_:
            raise CaptureError("function: text cannot be captured, only numbers")
        return self._begin(tensor, tensor.storage)

    def finish(self) -> Recording:
        """Return the recording.

        Raises:
            CaptureError: a seed was drawn for something that is not recorded.
        """
        used = {call.seed for call in self.recording.calls}
        if not used.issuperset(range(len(self.recording.seeds))):
            raise CaptureError(
                "function: a seed is drawn for what is no operation on tensors: each replay would "
                "have the same random numbers"
            )
        self.recording.assigned = [
            (variable, self.view(value)) for variable, value in self._assigned.values()
        ]
        return self.recording

    # -- what is observed ---------------------------------------------------------------------

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Record an operation."""
        if self._is_drawing:
            return
        if output.dtype is string_:
            raise CaptureError(f"function: {primitive.name} makes text, which cannot be captured")
        views = tuple(map(self.view, inputs))
        for view, operand in zip(views, inputs, strict=True):
            if operand.storage is output.storage:
                self._note(output, view.value)
                return
        if self._known(output) or self._known(output.storage):
            return
        if output.storage.size == 0:  # no kernel runs for nothing
            self._begin(output, output.storage)
            return
        result = self._note(output, self._next_value())
        seed = None if inputs else self._drawn.get(attributes)
        self.recording.calls.append(RecordedCall(primitive, views, result, attributes, seed))
        self._unread.add(output.storage)

    def read_variable(self, variable: Variable, value: Tensor) -> None:
        """Note a variable that is read before the function assigned to it."""
        if not self._is_drawing and id(variable) not in self._assigned and not self._known(value):
            self._begin(value, variable)
            self._unread.add(value.storage)

    def write_variable(self, variable: Variable, value: Tensor) -> None:
        """Note a value that is assigned to a variable."""
        if not self._is_drawing:
            self.view(value)
            self._assigned[id(variable)] = (variable, value)

    def draw(self, source: Callable[[], int]) -> int:
        """Draw a seed, as each replay will do again."""
        self._is_drawing = True
        try:
            seed = source()
        finally:
            self._is_drawing = False
        self._drawn[seed_attributes(seed)] = len(self.recording.seeds)
        self.recording.seeds.append(source)
        return seed

    # -- values -------------------------------------------------------------------------------

    def _known(self, target: Tensor | Storage) -> View | None:
        entry = self._views.get(id(target))
        return entry[1] if entry is not None and entry[0]() is target else None

    def _next_value(self) -> int:
        self._values += 1
        return self._values - 1

    def _begin(self, tensor: Tensor, source: Source) -> View:
        """Note a tensor with a value that no kernel made."""
        self.recording.sources[self._values] = source
        return self._note(tensor, self._next_value())

    def _note(self, tensor: Tensor, value: int) -> View:
        view = View(value, tensor.shape, tensor.dtype)
        self._views[id(tensor)] = (ref(tensor), view)
        if not self._known(tensor.storage):
            self._views[id(tensor.storage)] = (ref(tensor.storage), view)
        return view
