"""The engine's mutable state, in one object, so that the hot path reads plain attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from webtensor.backends.api import Backend
    from webtensor.engine.primitive import Primitive
    from webtensor.engine.scopes import ScopesOfTask
    from webtensor.engine.tensor import Tensor

__all__ = ["Observer", "state"]


class Observer(Protocol):
    """A listener for every operation that ran: a tape, a profiler, the debug mode."""

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
        "scopes",
        "storages",
        "tensors",
        "variable_readers",
    )

    def __init__(self) -> None:
        self.backend: Backend | None = None
        self.observers: tuple[Observer, ...] = ()
        #: Called with each new tensor while a scope is open in any task, else None.
        self.scopes: ScopesOfTask | None = None
        self.variable_readers: tuple[Any, ...] = ()
        self.tensors = 0
        self.storages = 0
        self.bytes = 0


state = EngineState()
