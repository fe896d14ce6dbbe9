"""Recording a function: the kernels that it runs, what it reads, assigns and returns.

A ``Recording`` numbers the **values** of one run: elements, which several tensors may share.
Arguments, variables and constants have values, and each kernel makes another one. A storage may
have two values: an argument's or a variable's, and that of a constant which happens to be the same
in this run. Hence it is tensors, as objects, whose values are known.

Elements that follow from arguments or variables must not be read: what a function does next depends
on them, and a recording does not. Python numbers that change from call to call are recorded as
``LateNumber``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from gc import get_referents
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import ReferenceType, WeakKeyDictionary, ref

from webtensor.autodiff.results import ones_like
from webtensor.dtypes import DType, string_
from webtensor.engine import Primitive, Storage, Tensor, Variable, backend, state
from webtensor.engine.convert import pack
from webtensor.engine.late_numbers import LateNumber, NumberHolder, at_capture
from webtensor.engine.operands import new_constant
from webtensor.engine.state import attach, capturing, detach, observing
from webtensor.engine.storage import host_storage
from webtensor.errors import CaptureError
from webtensor.nest import flatten
from webtensor.programs.unread import UnreadStorages
from webtensor.shapes import Shape

if TYPE_CHECKING:
    from webtensor.programs.loops import RecordedLoop, RecordedPass

__all__ = [
    "CUSTOM",
    "Argument",
    "Custom",
    "LateScalar",
    "RecordedCall",
    "Recorder",
    "Recording",
    "Source",
    "View",
    "scalar_storage",
]


class Argument(NamedTuple):
    """A tensor that is an argument of the function, by its number."""

    number: int


class LateScalar(NamedTuple):
    """A tensor of rank 0 of a number that each replay computes."""

    number: LateNumber
    dtype: DType


def scalar_storage(number: float, dtype: DType) -> Storage:
    """Return the storage of a tensor of rank 0."""
    return host_storage(dtype, pack("function", [number], dtype))


#: Sources of values that no call computes; storages are those of constants.
Source: TypeAlias = Argument | Variable | LateScalar | Storage


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
        late: the attributes with the late numbers among them, or None where there are none.
    """

    primitive: Primitive
    inputs: tuple[View, ...]
    output: View
    attributes: tuple[Any, ...]
    late: tuple[Any, ...] | None = None


#: Computes a value, and the function that computes its gradients.
Custom: TypeAlias = Callable[[tuple[Tensor, ...]], tuple[Tensor, Callable[..., Any]]]

#: A call of a function with gradients of its own, its attribute, in what a tape differentiates.
CUSTOM = Primitive("custom_grad")


@dataclass
class Recording:
    """The record of a function's run.

    Attributes:
        sources: what had a value at first, by the value's number.
        calls: the calls of kernels, loops, and ways back through these, in order.
        drawn: the numbers that each replay draws, in order.
        choices: what late numbers decided.
        assigned: variables, with what was assigned to them last.
        assigned_numbers: what holds numbers, with what was assigned to it last.
        made_seeds: whether it drew seeds that objects keep.
    """

    sources: dict[int, Source] = field(default_factory=dict)
    calls: list[RecordedCall | RecordedLoop | RecordedPass] = field(default_factory=list)
    drawn: list[LateNumber] = field(default_factory=list)
    choices: list[tuple[LateNumber, bool]] = field(default_factory=list)
    assigned: list[tuple[Variable, View]] = field(default_factory=list)
    assigned_numbers: list[tuple[NumberHolder, Any]] = field(default_factory=list)
    made_seeds: bool = False


class Recorder:
    """Observer of one run of a function.

    Args:
        is_strict: whether what cannot be captured is an error; else it ends the recording, and the
            function runs on.
        around: what records the function around this one, or None.
        is_differentiated: whether a tape will see what is recorded, so that functions with
            gradients of their own are recorded as such.
    """

    def __init__(
        self,
        is_strict: bool = True,
        around: Recorder | None = None,
        is_differentiated: bool = False,
    ) -> None:
        self.is_strict = is_strict
        self.is_differentiated = is_differentiated
        self._around = around
        #: Whether the function did what cannot be captured.
        self.has_failed = False
        self.recording = Recording()
        #: The tensors of sources that are no arguments, by the numbers of their values.
        self.constants: dict[int, Tensor] = {}
        #: Tensors with those of which only they depend, by the number of calls before.
        self.constant_views: dict[int, list[tuple[View, View]]] = {}
        self._values = 0
        #: The views of recorded tensors, by the tensors' identities.
        self._views: dict[int, tuple[ReferenceType[Tensor], View]] = {}
        #: The views of storages that the function made.
        self._storage_views: WeakKeyDictionary[Storage, View] = WeakKeyDictionary()
        self._unread = UnreadStorages()
        self._assigned: dict[int, tuple[Variable, Tensor]] = {}
        #: Variables, with their values before and during the recording.
        self._replaced: list[tuple[Variable, Tensor, Tensor]] = []
        #: The variables that the function made.
        self._own_variables: dict[int, Variable] = {}
        #: The tensors of Python numbers.
        self._scalars: dict[tuple[str, DType], Tensor] = {}
        #: The number that each holder has by now, by the identity of the holder.
        self._numbers: dict[int, tuple[NumberHolder, Any]] = {}
        self._is_drawing = False
        #: What was drawn, as the recording around this one knows it, by the identities of numbers.
        self.draws: dict[int, Any] = {}
        self._thread = 0
        #: How often something was assigned to variables.
        self.assignments = 0

    @contextmanager
    def active(self) -> Iterator[None]:
        """Record what runs within the context."""
        self._thread = get_ident()
        # The first of the readers, as it may replace the tensor that others are to see.
        attach("variable_readers", self, is_first=True)
        attach("variable_writers", self)
        try:
            with observing(self), capturing(*state.captures, self):
                yield
        finally:
            detach("variable_readers", self)
            detach("variable_writers", self)
            self._unread.release()
            self._restore_values()

    def argument(self, number: int, tensor: Tensor) -> None:
        """Note a tensor that stands for an argument."""
        self._begin(tensor, Argument(number))
        self._unread.add(tensor.storage)

    def view(self, tensor: Tensor) -> View:
        """Return what is recorded of a tensor; one that nothing recorded made is a constant."""
        recorded = self._recorded(tensor) or self._storage_views.get(tensor.storage)
        if recorded is not None:
            return View(recorded.value, tensor.shape, tensor.dtype)
        if tensor.dtype is string_:
            self.refuse("function: text cannot be captured, only numbers")
        return self._begin(tensor, tensor.storage)

    def refuse(self, message: str) -> None:
        """Note that the function cannot be captured.

        Raises:
            CaptureError: the recorder is strict.
        """
        if self.is_strict:
            raise CaptureError(message)
        self.has_failed = True
        self._unread.release()

    def check_result(self, name: str, leaf: Any) -> None:
        """Refuse a result that hides tensors: an iterator, a closure, or what refers to some."""
        # A method refers to its instance, and a function to all of its module besides its defaults.
        holder = getattr(leaf, "__self__", getattr(leaf, "__defaults__", leaf))
        if not isinstance(leaf, Variable) and (
            isinstance(leaf, Iterator)
            or getattr(leaf, "__closure__", None)
            or any(isinstance(part, Tensor) for part in flatten(get_referents(holder)))
        ):
            self.refuse(
                f"{name}: the function must return its tensors in lists, tuples and dictionaries, "
                f"but returned a {type(leaf).__name__}, in which they could not be replaced"
            )

    def finish(self) -> Recording:
        """Return the recording."""
        self.recording.assigned = [
            (variable, self.view(value)) for variable, value in self._assigned.values()
        ]
        return self.recording

    def custom_call(
        self, inputs: tuple[Tensor, ...], compute: Custom, keeps_calls: bool
    ) -> tuple[Tensor, Callable[..., Any]]:
        """Run a function with a gradient of its own, keeping or forgetting the calls of its value.

        Raises:
            CaptureError: it, or its gradient, uses a recorded tensor that is not among its inputs.
        """
        calls, first = self.recording.calls, self._values
        start = len(calls)
        noted, self.constant_views = self.constant_views, {}
        stand_ins = tuple(Tensor(x.storage, x.shape, x.dtype) for x in inputs)
        for tensor in stand_ins:
            self._note(tensor, self.next_value())
        try:
            value, gradient = compute(stand_ins)
            self.is_differentiated = False  # gradients may be made of the function itself
            gradient(ones_like(value))
        finally:
            self.is_differentiated, self.constant_views = True, noted
        for view in (view for call in calls[start:] for view in call.inputs):
            source = self.recording.sources.get(view.value)
            if view.value < first and not isinstance(source, (Storage, Variable)):
                raise CaptureError(
                    "custom_grad: within vmap, the function must take all tensors that differ "
                    "from example to example as arguments"
                )
        del calls[start:]
        return compute(inputs) if keeps_calls else (value, gradient)

    def note_custom_call(self, inputs: tuple[Tensor, ...], value: Tensor, compute: Custom) -> None:
        """Note that a tensor comes from a function with a gradient of its own."""
        views = tuple(map(self.view, inputs))
        is_old = value.storage in self._storage_views or any(
            x.storage is value.storage for x in inputs
        )
        note = partial(self._note, value=self.next_value()) if is_old else self.begin_result
        self.recording.calls.append(RecordedCall(CUSTOM, views, note(value), (compute,)))

    def left_variables(self) -> bool:
        """Whether a variable that the function made outlives the call, so that later calls use it.

        The recording ends with it: those that are gone are assigned to no more.
        """
        own, self._own_variables = self._own_variables, {}
        self.recording.assigned = [
            (variable, view)
            for variable, view in self.recording.assigned
            if id(variable) not in own
        ]
        self._assigned.clear()
        references = [ref(variable) for variable in own.values()]
        del own
        return any(reference() is not None for reference in references)

    # -- what is observed ---------------------------------------------------------------------

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Record an operation."""
        if self._ignores():
            return
        if output.dtype is string_:
            self.refuse(f"function: {primitive.name} makes text, which cannot be captured")
            return
        views = tuple(map(self.view, inputs))
        for view, operand in zip(views, inputs, strict=True):
            if operand.storage is output.storage:
                self._note(output, view.value)
                return
        if self._recorded(output):
            return
        if output.storage.size == 0:  # no kernel runs for nothing
            self._begin(output, output.storage)
            return
        result = self.begin_result(output)
        late = attributes if any(type(part) is LateNumber for part in attributes) else None
        plain = tuple(map(at_capture, attributes))
        self.recording.calls.append(RecordedCall(primitive, views, result, plain, late))

    def _ignores(self) -> bool:
        """Whether what runs is not a part of the recording, as what another thread does."""
        return self._is_drawing or self.has_failed or get_ident() != self._thread

    def note_constant(self, source: Tensor, output: Tensor) -> None:
        """Note a tensor that depends only on the shape of another one."""
        if not self._ignores():
            notes = self.constant_views.setdefault(len(self.recording.calls), [])
            notes.append((self.view(source), self.view(output)))

    def make_variable(self, variable: Variable, source: Tensor) -> None:
        """Note a variable that the function makes, and the tensor that it begins with."""
        if not self.has_failed:
            self._own_variables[id(variable)] = variable
            self._note(variable._value, self.view(source).value)

    def read_variable(self, variable: Variable, value: Tensor) -> None:
        """Note a variable that is read before the function assigned to it."""
        if not self._ignores():
            self._begin_variable(variable)

    def _begin_variable(self, variable: Variable) -> None:
        """Note a variable's value as the variable's, unless the function has computed it."""
        view = self._recorded(variable._value)
        if id(variable) in self._own_variables or (
            view is not None and not self._is_constant(variable._value, view)
        ):
            return
        if self._around is None:
            self._replace_value(variable)
        else:
            self._around._begin_variable(variable)
        self._begin(variable._value, variable)
        self._unread.add(variable._value.storage)

    def _replace_value(self, variable: Variable) -> None:
        """Let a variable hold another tensor with its elements while the function runs.

        The function may know the tensor from before, as a constant.
        """
        value = variable._value
        self._replaced.append((variable, value, variable.renew()))

    def note_alias(self, tensor: Tensor, alias: Tensor) -> None:
        """Note that an alias of a recorded tensor has the same value."""
        view = self._recorded(tensor)
        if view is not None:
            self._note(alias, view.value)
        if self._around is not None:
            self._around.note_alias(tensor, alias)

    def _restore_values(self) -> None:
        """Let variables that were not assigned to hold the tensors that they held before."""
        for variable, value, stand_in in self._replaced:
            if variable._value is stand_in:
                variable._value = value

    def write_variable(self, variable: Variable, value: Tensor, source: Tensor) -> None:
        """Note a value that is assigned to a variable, and the tensor that it comes from."""
        if not self._ignores():
            self._note(value, self.view(source).value)
            self._assigned[id(variable)] = (variable, value)
            self.assignments += 1

    # -- late numbers -------------------------------------------------------------------------

    def draw(self, source: Callable[[], float]) -> Any:
        """Draw a number, as each replay will do again."""
        if self.has_failed:
            return source()
        first = self.unrecorded(
            source if self._around is None else partial(self._around.draw, source)
        )
        number = LateNumber(at_capture(first), source, is_drawn=True)
        self.recording.drawn.append(number)
        self.draws[id(number)] = first
        return number

    def read_number(self, holder: NumberHolder) -> Any:
        """Return a number that something holds."""
        if self.has_failed:
            return self.unrecorded(lambda: holder.number)
        if self._around is not None:
            return self._around.read_number(holder)
        if id(holder) not in self._numbers:
            read = partial(getattr, holder, "number")
            self._numbers[id(holder)] = holder, LateNumber(self.unrecorded(read), read)
        return self._numbers[id(holder)][1]

    def write_number(self, holder: NumberHolder, number: Any) -> None:
        """Note a number that is assigned to what holds it."""
        self._numbers[id(holder)] = holder, number
        assigned = self.recording.assigned_numbers
        assigned[:] = [pair for pair in assigned if pair[0] is not holder]
        assigned.append((holder, number))

    def choose(self, number: LateNumber) -> bool:
        """Return what a number is, which the function then depends on.

        Raises:
            CaptureError: finding out draws something.
        """
        if _is_drawn(number):
            self.refuse(
                "function: what it does depends on a number that is drawn, as a seed, which each "
                "replay would draw again; use wt.where"
            )
        outcome = bool(number.value)
        self.recording.choices.append((number, outcome))
        return outcome

    def constant(self, name: str, number: Any, dtype: DType) -> Tensor:
        """Return a number as a tensor of rank 0.

        The engine's cache of constants would drop tensors that a program keeps.
        """
        if type(number) is not LateNumber:
            key = repr(number), dtype
            if key not in self._scalars:
                self._scalars[key] = new_constant(name, number, dtype)
            return self._scalars[key]
        tensor = Tensor(scalar_storage(number.value, dtype), (), dtype)
        self._begin(tensor, LateScalar(number, dtype))
        self._unread.add(tensor.storage)
        return tensor

    def unrecorded(self, source: Callable[[], Any]) -> Any:
        """Return what a function returns, without recording what it does."""
        was_drawing, self._is_drawing = self._is_drawing, True
        try:
            with self._unread.readable(), capturing():
                return source() if self._around is None else self._around.unrecorded(source)
        finally:
            self._is_drawing = was_drawing

    # -- values -------------------------------------------------------------------------------

    def _recorded(self, tensor: Tensor) -> View | None:
        """Return the view of a tensor that is recorded."""
        entry = self._views.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def _is_constant(self, tensor: Tensor, view: View) -> bool:
        """Whether a recorded tensor is a constant itself, and not made of one."""
        source = self.recording.sources.get(view.value)
        return isinstance(source, Storage) and self.constants[view.value] is tensor

    def begin_result(self, tensor: Tensor) -> View:
        """Note a tensor that something recorded makes."""
        view = self._storage_views[tensor.storage] = self._note(tensor, self.next_value())
        self._unread.add(tensor.storage)
        return view

    def next_value(self) -> int:
        """Return the number of another value."""
        self._values += 1
        return self._values - 1

    def _begin(self, tensor: Tensor, source: Source) -> View:
        """Note a tensor with a value that no kernel made."""
        self.recording.sources[self._values] = source
        if not isinstance(source, Argument):
            self.constants[self._values] = tensor
        return self._note(tensor, self.next_value())

    def _note(self, tensor: Tensor, value: int) -> View:
        view = View(value, tensor.shape, tensor.dtype)
        self._views[id(tensor)] = (ref(tensor), view)
        return view


def _is_drawn(number: Any) -> bool:
    """Whether computing a late number draws something."""
    return type(number) is LateNumber and (number.is_drawn or any(map(_is_drawn, number.operands)))


def on_device(tensor: Tensor, copies: bool = False) -> Tensor:
    """Return a tensor with the same elements, which only the active backend has.

    What an op does may depend on whether the host has the elements, too. With ``copies``, the
    elements are always copied, into a storage of which nothing is recorded.
    """
    storage = tensor.storage
    active = backend()
    is_there = storage.backend is active and storage.host is None and not copies
    if storage.size == 0 or is_there:
        return Tensor(storage, tensor.shape, tensor.dtype)
    copy = Storage(storage.dtype, storage.size, storage.read())
    copy.move_to(active, "function")
    copy.host = None
    return Tensor(copy, tensor.shape, tensor.dtype)
