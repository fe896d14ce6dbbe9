"""The engine's mutable state, in one object, so that the hot path reads plain attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from webtensor.backends.api import Backend
    from webtensor.engine.primitive import Primitive
    from webtensor.engine.scopes import ScopesOfTask
    from webtensor.engine.tensor import Tensor

__all__ = ["Observer", "observing", "state", "stop_observing"]


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
        "captures",
        "observers",
        "scopes",
        "storages",
        "tensors",
        "variable_readers",
        "variable_writers",
    )

    def __init__(self) -> None:
        self.backend: Backend | None = None
        self.observers: tuple[Observer, ...] = ()
        #: Called with each new tensor while a scope is open in any task, else None.
        self.scopes: ScopesOfTask | None = None
        self.variable_readers: tuple[Any, ...] = ()
        self.variable_writers: tuple[Any, ...] = ()
        #: The captures of functions that are under way, the innermost last.
        self.captures: tuple[Any, ...] = ()
        self.tensors = 0
        self.storages = 0
        self.bytes = 0


state = EngineState()


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Notify an observer of operations while the context lasts."""
    state.observers += (observer,)
    try:
        yield
    finally:
        stop_observing(observer)


def stop_observing(observer: Observer) -> None:
    """Notify an observer no more."""
    state.observers = tuple(other for other in state.observers if other is not observer)
