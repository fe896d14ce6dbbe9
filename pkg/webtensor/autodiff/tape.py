"""The tape: what ran on watched tensors, and the walk back along it. Knows no op.

Reverse-mode automatic differentiation (Griewank & Walther, *Evaluating Derivatives*, 2008). While
a tape is active it records each operation that has a watched input. Gradient rules are themselves
made of ops, so a tape that is still active while another one walks back records the walk, which
is how higher derivatives come about.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from webtensor.engine import Primitive, Tensor, Variable, state

__all__ = ["Gathered", "Tape", "paused"]


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


def _sum(held: Any, part: Any) -> Any:
    if isinstance(held, Gathered):
        return held.plus(part)
    return part.plus(held) if isinstance(part, Gathered) else held + part


def _total(gradient: Any) -> Tensor | None:
    return gradient.total() if isinstance(gradient, Gathered) else gradient


class _Node(NamedTuple):
    primitive: Primitive
    inputs: tuple[Tensor, ...]
    output: Tensor
    attributes: tuple[Any, ...]


class Tape:
    """A recording. Use as a context manager around the computation to differentiate."""

    def __init__(self) -> None:
        self._nodes: list[_Node] = []
        self._watched: dict[int, Tensor] = {}
        self.variables: dict[int, tuple[Variable, Tensor]] = {}

    def __enter__(self) -> Tape:
        state.observers = (*state.observers, self)
        state.variable_readers = (*state.variable_readers, self)
        return self

    def __exit__(self, *_: object) -> None:
        state.observers = tuple(one for one in state.observers if one is not self)
        state.variable_readers = tuple(one for one in state.variable_readers if one is not self)

    def watch(self, tensor: Tensor) -> None:
        """Record what is computed from this tensor."""
        self._watched[id(tensor)] = tensor

    def held(self) -> set[int]:
        """Ids of the tensors that the walk back may need, which ``tidy`` must not dispose."""
        return {id(tensor) for node in self._nodes for tensor in (*node.inputs, node.output)}

    def met_nothing(self) -> bool:
        """Whether something recorded has no elements: there the way back may end."""
        return any(node.output.size == 0 for node in self._nodes)

    def read_variable(self, variable: Variable, value: Tensor) -> None:
        """Note that a variable was read; a trainable one is watched."""
        if variable.trainable:
            self.variables[id(value)] = (variable, value)
            self._watched[id(value)] = value

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None:
        """Observe an operation; it is kept where a gradient can flow through it."""
        if primitive.gradients is None:
            return
        watched = self._watched
        for operand in inputs:
            if id(operand) in watched:
                watched[id(output)] = output
                self._nodes.append(_Node(primitive, inputs, output, attributes))
                return

    def gradients(
        self, output: Tensor, sources: Sequence[Tensor], dy: Tensor
    ) -> list[Tensor | None]:
        """Walk back from ``output``, whose gradient is ``dy``, to the gradients of ``sources``.

        The recording is consumed, so that memory is freed along the way. A source that the output
        does not depend on gets None.
        """
        adjoints: dict[int, Any] = {id(output): dy}
        wanted = set(map(id, sources))
        watched = self._watched
        nodes = self._nodes
        while nodes:
            primitive, inputs, made, attributes = nodes.pop()
            key = id(made)
            gradient = adjoints.get(key)
            if gradient is None:
                watched.pop(key, None)
                continue
            gradient = _total(gradient)
            if key in wanted:
                adjoints[key] = gradient
            else:
                del adjoints[key]
                del watched[key]
            for index, operand in enumerate(inputs):
                if id(operand) not in watched:
                    continue
                rule = primitive.gradient_for(index)
                if rule is None:
                    continue
                part = rule(gradient, made, *inputs, *attributes)
                held = adjoints.get(id(operand))
                adjoints[id(operand)] = part if held is None else _sum(held, part)
        return [_total(adjoints.get(id(source))) for source in sources]


class paused:  # noqa: N801  (used like a function)
    """Context in which no tape records."""

    def __enter__(self) -> None:
        self._observers = state.observers
        self._readers = state.variable_readers
        state.observers = tuple(one for one in state.observers if not isinstance(one, Tape))
        state.variable_readers = ()

    def __exit__(self, *_: object) -> None:
        state.observers = self._observers
        state.variable_readers = self._readers
