"""The engine's mutable state, in one object, so that the hot path reads plain attributes.

Captures belong to the task, or the thread, that they run in. While there is none in any, the hot
path finds an empty tuple; else ``state.captures`` looks up those of the running task.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from webtensor.backends.api import Backend
    from webtensor.engine.primitive import Primitive
    from webtensor.engine.scopes import ScopesOfTask
    from webtensor.engine.tensor import Tensor

__all__ = [
    "Observer",
    "attach",
    "capturing",
    "detach",
    "is_within_capture",
    "observing",
    "state",
    "state_lock",
]


class Observer(Protocol):
    """A listener for every operation that ran: a tape, a profiler, the debug mode."""

    def record(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        output: Tensor,
        attributes: tuple[Any, ...],
    ) -> None: ...


class _CapturesOfTask:
    """The captures of the running task."""

    def __init__(self) -> None:
        #: How many contexts there are, in all tasks.
        self.open = 0

    def __bool__(self) -> bool:
        return bool(_captures.get())

    def __iter__(self) -> Iterator[Any]:
        return iter(_captures.get() or ())

    def __getitem__(self, index: int) -> Any:
        return (_captures.get() or ())[index]


class EngineState:
    """The active backend and observers, and the numbers of live tensors and bytes."""

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
        #: The captures of functions that are under way in this task, the innermost last.
        self.captures: tuple[Any, ...] | _CapturesOfTask = ()
        self.tensors = 0
        self.storages = 0
        self.bytes = 0


state = EngineState()
#: Held by what changes the state's tuples, as other threads may.
state_lock = RLock()

#: None outside of captures.
_captures: ContextVar[tuple[Any, ...] | None] = ContextVar("captures", default=None)
_captures_of_task = _CapturesOfTask()


def attach(group: str, listener: object, is_first: bool = False) -> None:
    """Add a listener to a tuple of the state's, such as ``observers``."""
    with state_lock:
        listeners = getattr(state, group)
        setattr(state, group, (listener, *listeners) if is_first else (*listeners, listener))


def detach(group: str, listener: object) -> None:
    """Remove a listener from a tuple of the state's."""
    with state_lock:
        listeners = getattr(state, group)
        setattr(state, group, tuple(other for other in listeners if other is not listener))


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Notify an observer of operations while the context lasts."""
    attach("observers", observer)
    try:
        yield
    finally:
        detach("observers", observer)


@contextmanager
def capturing(*captures: Any) -> Iterator[None]:
    """Let these be the captures that this task sees, which may be none within a capture."""
    with state_lock:
        _captures_of_task.open += 1
        state.captures = _captures_of_task
    token = _captures.set(captures)
    try:
        yield
    finally:
        _captures.reset(token)
        with state_lock:
            _captures_of_task.open -= 1
            if not _captures_of_task.open:
                state.captures = ()


def is_within_capture() -> bool:
    """Whether this task captures a function, even if it sees no captures."""
    return _captures.get() is not None
