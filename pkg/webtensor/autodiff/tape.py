"""The tape: it records operations on watched tensors, and walks back along them. It knows no op.

Reverse-mode automatic differentiation (Griewank & Walther, *Evaluating Derivatives*, 2008). While
a tape is active it records each operation that has a watched input. Gradient rules are themselves
made of ops, so a tape that is still active while another one walks back records the walk, which
is how higher derivatives come about.

A tape belongs to the task that opened it, and to the tasks started in the meantime. It keeps the
elements that the walk back may need, even if ``dispose`` or ``tidy`` free the tensors, and releases
them step by step as it walks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from webtensor.dtypes import complex64, float32
from webtensor.engine import Primitive, Storage, Tensor, Variable, as_operand, state
from webtensor.engine.state import attach, detach, state_lock
from webtensor.engine.storage import DISPOSED
from webtensor.shapes import Shape

__all__ = [
    "IDENTITY",
    "Gathered",
    "Tape",
    "is_recording",
    "note_constant",
    "paused",
    "recording_tapes",
    "with_zeros",
    "zero_gradient",
]


class Gathered(ABC):
    """A gradient whose rules each give a piece; the pieces are joined when all have been added.

    A rule may return one instead of a tensor. A tensor cut into a hundred pieces then gets its
    gradient in one operation, not in a hundred sums of tensors that are nearly all zeros.
    """

    #: The sum of the gradients that were added, but are no pieces.
    rest: Tensor | None = None

    @abstractmethod
    def plus(self, other: Any) -> Gathered:
        """Add a tensor, or pieces."""

    @abstractmethod
    def total(self) -> Tensor:
        """Join the pieces."""

    def _add_rest(self, other: Any) -> None:
        """Add a tensor, other pieces, or None for nothing."""
        if other is not None:
            total = _total(other)
            self.rest = total if self.rest is None else self.rest + total


class _Zero:
    """The gradient through a step function, which is zero wherever it is defined: no tensor."""


_ZERO = _Zero()


def _sum(first: Any, second: Any) -> Any:
    """Add adjoints, each of which is zero, a tensor or pieces of one."""
    if first is _ZERO:
        return second
    if second is _ZERO:
        return first
    if isinstance(first, Gathered):
        return first.plus(second)
    return second.plus(first) if isinstance(second, Gathered) else first + second


def _total(adjoint: Any) -> Any:
    if type(adjoint) is Tensor:  # the common case, and the quickest test
        return adjoint
    return adjoint.total() if isinstance(adjoint, Gathered) else adjoint


class _Node(NamedTuple):
    """An operation that ran; ``storages`` are those of its output and its inputs."""

    primitive: Primitive
    inputs: tuple[Tensor, ...]
    output: Tensor
    attributes: tuple[Any, ...]
    storages: tuple[Storage, ...]

    def operands(self) -> tuple[Tensor, ...]:
        """The arguments of gradient rules: output and inputs, even if they were disposed."""
        operands = (self.output, *self.inputs)
        for operand in operands:
            if operand.storage is DISPOSED:
                return tuple(map(_restored, operands, self.storages))
        return operands


#: Gradients pass it unchanged.
IDENTITY = Primitive("identity", gradients=(lambda dy, y, x: dy,))


def _restored(tensor: Tensor, storage: Storage) -> Tensor:
    """Return a tensor, or, if it was disposed, another one with its elements."""
    if tensor.storage is not DISPOSED or storage is DISPOSED:
        return tensor
    stand_in = Tensor(storage, tensor.shape, tensor.dtype)
    _tapes_of_task.record(IDENTITY, (tensor,), stand_in, ())
    return stand_in


class Tape:
    """A recording. Use as a context manager around the computation to differentiate.

    ``watches_variables`` says whether trainable variables are watched when they are read.
    """

    def __init__(self, watches_variables: bool = True) -> None:
        self._nodes: list[_Node] = []
        #: Tensors that depend on watched ones, by identity.
        self._watched: dict[int, Tensor] = {}
        #: Tensors that depend on watched ones through step functions only.
        self._constant: set[int] = set()
        self._watches_variables = watches_variables
        self._chosen_variables: dict[int, Variable] = {}
        #: Variables that were read while watched, and the values they had, by the values' identity.
        self.variables: dict[int, tuple[Variable, Tensor]] = {}
        self.is_recording = False

    def __enter__(self) -> Tape:
        self.is_recording = True
        _tapes.set((*_tapes.get(), self))
        _tapes_of_task.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_recording = False
        _tapes.set(tuple(tape for tape in _tapes.get() if tape is not self))
        _tapes_of_task.close()

    def watch(self, tensor: Tensor) -> None:
        """Record operations that depend on this tensor."""
        self._watched[id(tensor)] = tensor

    def watches(self, tensor: Tensor) -> bool:
        """Whether gradients may flow to this tensor."""
        return id(tensor) in self._watched and id(tensor) not in self._constant

    def watch_variable(self, variable: Variable) -> None:
        """Watch a variable whenever it is read, even if the tape does not watch variables."""
        self._chosen_variables[id(variable)] = variable

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that were read while watched, or are to be."""
        read = {id(variable): variable for variable, _ in self.variables.values()}
        return tuple({**read, **self._chosen_variables}.values())

    def values_of(self, variable: Variable) -> list[Tensor]:
        """Return the values that a watched variable had when it was read."""
        return [value for other, value in self.variables.values() if other is variable]

    def met_nothing(self) -> bool:
        """Whether something recorded has no elements: there the backward pass may end."""
        return any(0 in node.output.shape for node in self._nodes)

    def follows(self, tensor: Tensor) -> bool:
        """Whether a tensor depends on what is watched, if only through step functions."""
        return id(tensor) in self._watched

    def needs_to_watch(self, variable: Variable, value: Tensor) -> bool:
        """Whether a variable is watched when it is read, but this value of it is not yet."""
        is_watched = self._watches_variables and variable.trainable
        is_watched = is_watched or id(variable) in self._chosen_variables
        return is_watched and id(value) not in self.variables

    def read_variable(self, variable: Variable, value: Tensor) -> None:
        """Note that a variable was read; a trainable one is watched."""
        if self.needs_to_watch(variable, value):
            self.variables[id(value)] = (variable, value)
            self._watched[id(value)] = value

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Record an operation if its result depends on a watched tensor."""
        watched, constant = self._watched, self._constant
        depends = False
        for operand in inputs:
            key = id(operand)
            if key in watched:
                depends = True
                if primitive.gradients is not None and key not in constant:
                    break
        else:
            if not depends:
                return
            constant.add(id(output))
        watched[id(output)] = output
        storages = (output.storage, *[operand.storage for operand in inputs])
        self._nodes.append(_Node(primitive, inputs, output, attributes, storages))

    def gradients(
        self,
        outputs: Sequence[Tensor],
        sources: Sequence[Tensor],
        dys: Sequence[Tensor],
        *,
        keep: bool = False,
        zeros: bool = True,
    ) -> list[Tensor | None]:
        """Walk back from ``outputs``, whose gradients are ``dys``, to those of ``sources``.

        Unless the recording is kept, it is consumed, and memory is freed along the way. A source on
        which no output depends gets None; if outputs depend on it only through step functions,
        such as comparisons, it gets zeros, or None without ``zeros``.
        """
        adjoints: dict[int, Any] = {}
        for output, dy in zip(outputs, dys, strict=True):
            adjoints[id(output)] = _sum(adjoints.get(id(output), _ZERO), dy)
        source_ids = set(map(id, sources))
        nodes = self._nodes
        if keep:
            for node in reversed(nodes):
                self._pass_back(node, adjoints, source_ids)
        else:
            while nodes:
                self._pass_back(nodes[-1], adjoints, source_ids)
                self._watched.pop(id(nodes.pop().output), None)
            self._constant.clear()
        return [_settled(adjoints.get(id(source)), source, zeros) for source in sources]

    def _pass_back(self, node: _Node, adjoints: dict[int, Any], source_ids: set[int]) -> None:
        """Add the gradients of a node's inputs to their adjoints, given that of its output."""
        primitive, inputs, output, attributes, _ = node
        key = id(output)
        adjoint = _total(adjoints.pop(key, None))
        if adjoint is None:
            return
        if key in source_ids:
            adjoints[key] = adjoint
        watched, constant = self._watched, self._constant
        is_zero = adjoint is _ZERO or key in constant
        operands = () if is_zero else node.operands()
        for index, operand in enumerate(inputs):
            source = id(operand)
            if source not in watched:
                continue
            rule = None if is_zero or source in constant else primitive.gradient_for(index)
            part = _ZERO if rule is None else rule(adjoint, *operands, *attributes)
            other = adjoints.get(source)
            adjoints[source] = part if other is None else _sum(other, part)


def _settled(adjoint: Any, source: Tensor, zeros: bool) -> Tensor | None:
    if adjoint is not _ZERO:
        return _total(adjoint)  # type: ignore[no-any-return]
    return zero_gradient(source) if zeros else None


def zero_gradient(source: Tensor | Variable, of: Shape = ()) -> Tensor:
    """Return the gradient of what has shape ``of`` and does not change with a source."""
    dtype = complex64 if source.dtype is complex64 else float32
    zero = as_operand("grad", 0.0, dtype)
    return zero.broadcast_to((*of, *source.shape))  # type: ignore[no-any-return]


def with_zeros(
    gradients: Iterable[Tensor | None], sources: Iterable[Tensor | Variable], of: Shape = ()
) -> list[Tensor]:
    """Return gradients of what has shape ``of``, with zeros in place of None."""
    return [
        zero_gradient(source, of) if gradient is None else gradient
        for gradient, source in zip(gradients, sources, strict=True)
    ]


# -- the tapes of a task --------------------------------------------------------------------------

#: The tapes that this task, or one that started it, has opened.
_tapes: ContextVar[tuple[Tape, ...]] = ContextVar("tapes", default=())


class _TapesOfTask:
    """The observer for all tapes: it forwards operations to those of the running task."""

    def __init__(self) -> None:
        self._open = 0

    def open(self) -> None:
        """Become an observer when the first tape opens."""
        with state_lock:
            self._open += 1
            if self._open == 1:
                attach("observers", self)
                attach("variable_readers", self)

    def close(self) -> None:
        """Stop observing when no tape is left."""
        with state_lock:
            self._open -= 1
            if not self._open:
                detach("observers", self)
                detach("variable_readers", self)

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Forward an operation to the tapes."""
        for tape in _tapes.get():
            if tape.is_recording:
                tape.record(primitive, inputs, output, attributes)

    def read_variable(self, variable: Variable, value: Tensor) -> None:
        """Notify the tapes that a variable was read.

        A tensor that was read before the tapes began is a constant to them, so the variable gets
        a new one. A tensor that depends on what a tape watches is kept: a stateless call gives
        variables such tensors.
        """
        tapes = recording_tapes()
        if not any(tape.needs_to_watch(variable, value) for tape in tapes):
            return
        if not any(tape.follows(value) for tape in tapes):
            value = variable.renew()
        for tape in tapes:
            tape.read_variable(variable, value)


_tapes_of_task = _TapesOfTask()


def recording_tapes() -> list[Tape]:
    """Return the tapes that record what this task computes."""
    return [tape for tape in _tapes.get() if tape.is_recording]


def is_recording() -> bool:
    """Whether a tape records what this task computes."""
    return bool(state.variable_readers and recording_tapes())


def note_constant(source: Tensor, output: Tensor) -> None:
    """Tell the tapes that ``output`` depends only on the shape of ``source``: no gradient flows."""
    if state.variable_readers:
        _tapes_of_task.record(_CONSTANT, (source,), output, ())
    if state.captures:  # the tapes around vmap see its results alone
        state.captures[-1].note_constant(source, output)


_CONSTANT = Primitive("constant")


class paused:  # noqa: N801  (used like a function)
    """Return a context in which no tape records what this task computes."""

    def __enter__(self) -> None:
        self._tapes = _tapes.get()
        _tapes.set(())

    def __exit__(self, *_: object) -> None:
        _tapes.set(self._tapes)
