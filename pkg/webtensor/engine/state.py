"""The engine's mutable state, in one object, so that the hot path reads plain attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

if TYPE_CHECKING:
    from webtensor.backends.api import Backend
    from webtensor.engine.primitive import Primitive
    from webtensor.engine.tensor import Tensor

__all__ = ["Observer", "state"]


class Observer(Protocol):
    """Something told of every operation that ran: a tape, a profiler, the debug mode."""

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None: ...


class EngineState:
    """What is active and how much is alive."""

    __slots__ = (
        "backend",
        "bytes",
        "observers",
        "scope",
        "storages",
        "tensors",
        "variable_readers",
    )

    def __init__(self) -> None:
        self.backend: Backend | None = None
        self.observers: tuple[Observer, ...] = ()
        self.scope: list[ref[Tensor]] | None = None
        self.variable_readers: tuple[Any, ...] = ()
        self.tensors = 0
        self.storages = 0
        self.bytes = 0


state = EngineState()
