"""The tape: what ran on watched tensors, and the walk back along it. Knows no op.

Reverse-mode automatic differentiation (Griewank & Walther, *Evaluating Derivatives*, 2008). While
a tape is active it records each operation that has a watched input. Gradient rules are themselves
made of ops, so a tape that is still active while another one walks back records the walk, which
is how higher derivatives come about.

A tape belongs to the task that opened it, and to the tasks started meanwhile. It keeps the elements
that the walk back may need, whatever ``dispose`` and ``tidy`` do to the tensors, and lets go of
them step by step as it walks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from webtensor.dtypes import float32
from webtensor.engine import Primitive, Storage, Tensor, Variable, as_operand, state
from webtensor.engine.storage import DISPOSED
from webtensor.shapes import Shape

__all__ = [
    "IDENTITY",
    "Gathered",
    "Tape",
    "is_recording",
    "note_constant",
    "paused",
    "zero_gradient",
]


class Gathered(ABC):
    """A gradient of which each rule gives a piece, put together when all of them are there.

    A rule may return one instead of a tensor. What is cut into a hundred pieces gets its gradient
    in one operation, not in a hundred sums of tensors that are nearly all zeros.
    """

    @abstractmethod
    def plus(self, other: Any) -> Gathered:
        """Add a tensor, or pieces."""

    @abstractmethod
    def total(self) -> Tensor:
        """Put the pieces together."""


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
    if type(adjoint) is Tensor:  # nearly always, and much sooner asked
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
        """What gradient rules take: the output and the inputs, also where they were disposed."""
        operands = (self.output, *self.inputs)
        for operand in operands:
            if operand.storage is DISPOSED:
                return tuple(map(_restored, operands, self.storages))
        return operands


#: Gradients pass it unchanged.
IDENTITY = Primitive("identity", gradients=(lambda dy, y, x: dy,))


def _restored(tensor: Tensor, storage: Storage) -> Tensor:
    """Return a tensor, or, where it was disposed, one that stands in for it."""
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
        #: Tensors that depend on what is watched, by identity.
        self._watched: dict[int, Tensor] = {}
        #: Those among them that do so by step functions alone.
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
        """Record what is computed from this tensor."""
        self._watched[id(tensor)] = tensor

    def watch_variable(self, variable: Variable) -> None:
        """Watch a variable whenever it is read, though it be none of those that are."""
        self._chosen_variables[id(variable)] = variable

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that were read while watched, or are to be."""
        read = {id(variable): variable for variable, _ in self.variables.values()}
        return tuple({**read, **self._chosen_variables}.values())

    def values_of(self, variable: Variable) -> list[Tensor]:
        """Return the values that a watched variable had when it was read."""
        return [value for other, value in self.variables.values() if other is variable]

    def met_nothing(self) -> bool:
        """Whether something recorded has no elements: there the way back may end."""
        return any(0 in node.output.shape for node in self._nodes)

    def read_variable(self, variable: Variable, value: Tensor) -> None:
        """Note that a variable was read; a trainable one is watched."""
        is_watched = self._watches_variables and variable.trainable
        if is_watched or id(variable) in self._chosen_variables:
            self.variables[id(value)] = (variable, value)
            self._watched[id(value)] = value

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Observe an operation; it is kept where its result depends on something watched."""
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

        Unless the recording is to be kept, it is consumed, and memory is freed along the way. A
        source that no output depends on gets None; one that they depend on by step functions alone,
        such as comparisons, gets zeros, or None without ``zeros``.
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
        """Add to the adjoints of a node's inputs what comes from that of its output."""
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
    return zero_gradient(source.shape) if zeros else None


def zero_gradient(shape: Shape) -> Tensor:
    """Return the gradient of what does not change with a source of this shape."""
    return as_operand("grad", 0.0, float32).broadcast_to(shape)  # type: ignore[no-any-return]


# -- the tapes of a task --------------------------------------------------------------------------

#: The tapes that this task, or one that started it, has opened.
_tapes: ContextVar[tuple[Tape, ...]] = ContextVar("tapes", default=())


class _TapesOfTask:
    """The observer that stands for all tapes: it tells those of the task that computes."""

    def __init__(self) -> None:
        self._open = 0

    def open(self) -> None:
        """Observe from the first tape on."""
        self._open += 1
        if self._open == 1:
            state.observers += (self,)
            state.variable_readers = (self,)

    def close(self) -> None:
        """Observe no longer when no tape is left."""
        self._open -= 1
        if not self._open:
            state.observers = tuple(
                observer for observer in state.observers if observer is not self
            )
            state.variable_readers = ()

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Let the tapes see an operation."""
        for tape in _tapes.get():
            if tape.is_recording:
                tape.record(primitive, inputs, output, attributes)

    def read_variable(self, variable: Variable, value: Tensor) -> None:
        """Let the tapes know that a variable was read."""
        for tape in _tapes.get():
            if tape.is_recording:
                tape.read_variable(variable, value)


_tapes_of_task = _TapesOfTask()


def is_recording() -> bool:
    """Whether a tape records what this task computes."""
    return bool(state.variable_readers) and any(tape.is_recording for tape in _tapes.get())


def note_constant(source: Tensor, output: Tensor) -> None:
    """Tell the tapes that ``output`` was made by the shape of ``source``: its gradient is zero."""
    if state.variable_readers:
        _tapes_of_task.record(_CONSTANT, (source,), output, ())


_CONSTANT = Primitive("constant")


class paused:  # noqa: N801  (used like a function)
    """Context in which no tape records what this task computes."""

    def __enter__(self) -> None:
        self._tapes = _tapes.get()
        _tapes.set(())

    def __exit__(self, *_: object) -> None:
        _tapes.set(self._tapes)
