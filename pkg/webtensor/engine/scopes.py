"""Scopes in TensorFlow.js's manner: ``tidy``, ``keep``, ``dispose``.

Python frees a tensor with its last reference, so scopes are needed only for reference cycles, for
code ported from TensorFlow.js, and to be sure.

A scope belongs to the task that opened it and to the tasks started in it: it ignores the tensors
that another task makes while this one waits. Scopes that don't nest, such as those of generators
that are closed late, end independently.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Set, ValuesView
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import isawaitable
from typing import Any, TypeVar, overload
from weakref import ref

from webtensor.arguments import check_callable
from webtensor.engine.state import state, state_lock
from webtensor.engine.tensor import Tensor

__all__ = ["dispose", "keep", "outside_scopes", "tensors_in", "tidy"]

Result = TypeVar("Result")

#: The scopes that are open, in all tasks.
_open: set[Scope] = set()
#: The innermost scope in this task; it may have been closed since.
_innermost: ContextVar[Scope | None] = ContextVar("innermost_scope", default=None)


def tensors_in(container: Any) -> Iterator[Tensor]:
    """Yield every tensor in nested collections, mappings, and fields of dataclasses."""
    if isinstance(container, Tensor):
        yield container
    elif isinstance(container, Mapping):
        for value in container.values():
            yield from tensors_in(value)
    elif isinstance(container, (list, tuple, deque, Set, ValuesView)):
        for value in container:
            yield from tensors_in(value)
    else:
        for name in getattr(type(container), "__dataclass_fields__", ()):
            yield from tensors_in(getattr(container, name, None))


def _current_task() -> asyncio.Task[Any] | None:
    """Return the task that runs; None where no event loop does."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


class Scope:
    """A block at whose end the tensors made in it are disposed, except those kept."""

    def __init__(self) -> None:
        self._kept: list[Tensor] = []
        #: By identity: a tensor made at the address of one that is gone replaces its entry.
        self._tensors: dict[int, ref[Tensor]] = {}
        self._outer: Scope | None = None
        self._task: ref[asyncio.Task[Any]] | None = None
        self._task_name = ""
        self._entered = False

    def __enter__(self) -> Scope:
        if self._entered:
            raise RuntimeError(
                "tidy: this scope was entered before; call wt.tidy() anew for each with"
            )
        task = _current_task()
        self._entered = True
        self._task = None if task is None else ref(task)
        self._task_name = _description(task)
        self._outer = _innermost.get()
        _innermost.set(self)
        with state_lock:
            _open.add(self)
            state.scopes = _scopes_of_task
        return self

    def keep(self, container: Any) -> Any:
        """Let tensors made in this block outlive it; return the argument."""
        self._kept.extend(tensors_in(container))
        return container

    def add(self, tensor: Tensor) -> None:
        """Register a new tensor with this block, or, if it has ended, with one around it."""
        scope = self._innermost_open()
        if scope is not None:
            scope._tensors[id(tensor)] = ref(tensor)

    def forget(self, tensor: Tensor) -> None:
        """Let a tensor outlive the block, if it was made in it."""
        entry = self._tensors.get(id(tensor))
        if entry is not None and entry() is tensor:
            del self._tensors[id(tensor)]

    def _innermost_open(self) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and scope not in _open:
            scope = scope._outer
        return scope

    def __exit__(self, *_: object) -> None:
        if self not in _open:
            raise RuntimeError("tidy: the scope is not open: it was closed before, or not entered")
        with state_lock:
            _open.remove(self)
            if not _open:
                state.scopes = None
        outer = self._innermost_open()
        innermost = _innermost.get()
        if innermost is not None:
            _innermost.set(innermost._innermost_open())
        kept_ids = set(map(id, self._kept))
        for entry in self._tensors.values():
            tensor = entry()
            if tensor is None:
                continue
            if id(tensor) not in kept_ids:
                tensor.dispose()
            elif outer is not None:
                outer.add(tensor)
        self._kept, self._tensors, self._outer = [], {}, outer
        self._require_own_task()

    def _require_own_task(self) -> None:
        """Raise an error if the block ends in another task, whose tensors it did not register."""
        opened_in = None if self._task is None else self._task()
        task = _current_task()
        if task is not opened_in:
            raise RuntimeError(
                f"tidy: the scope was opened in {self._task_name} but closed in "
                f"{_description(task)}; it disposed what was made in the first alone. Open and "
                "close a scope in one task"
            )


class ScopesOfTask:
    """The listener for new tensors: it registers them with the innermost scope of their task."""

    def add(self, tensor: Tensor) -> None:
        """Register a new tensor."""
        scope = _innermost.get()
        if scope is not None:
            scope.add(tensor)


_scopes_of_task = ScopesOfTask()


def _description(task: asyncio.Task[Any] | None) -> str:
    return "no task" if task is None else f"task {task.get_name()!r}"


@overload
def tidy() -> Scope: ...
@overload
def tidy(function: Callable[[], Result]) -> Result: ...


def tidy(function: Callable[[], Result] | None = None) -> Scope | Result:
    """Dispose the tensors that a block or a function made, except what it returns or keeps.

    With a function, calls it and returns its result, whose tensors live on. Without one, returns a
    context manager; its ``keep`` lets tensors live on. A block may await: the tensors that other
    tasks make in the meantime are not disposed, unless the task was started in the block.

    Raises:
        RuntimeError: a block ends in another task than it began, or is entered twice.
        TypeError: the function is asynchronous; await it within ``with wt.tidy():``.

    Example:
        >>> import webtensor as wt
        >>> wt.tidy(lambda: wt.add(1.0, 2.0)).tolist()
        3.0
        >>> with wt.tidy() as scope:
        ...     total = scope.keep(wt.sum(wt.ones((3,))))
        >>> total.tolist()
        3.0
    """
    scope = Scope()
    if function is None:
        return scope
    check_callable("tidy", "function", function)
    with scope:
        result = function()
        if isawaitable(result):
            _refuse_awaitable(result)
        return scope.keep(result)  # type: ignore[no-any-return]


def _refuse_awaitable(result: Any) -> None:
    if hasattr(result, "close"):
        result.close()  # or Python would warn that the coroutine was never awaited
    raise TypeError(
        "tidy: function must not be asynchronous, since it would compute only after the scope has "
        "ended; write 'with wt.tidy() as scope: result = scope.keep(await function())'"
    )


def keep(tensor: Tensor) -> Tensor:
    """Let a tensor outlive the scopes it was made in; free it with ``dispose`` or by dropping it.

    Raises:
        TypeError: not a tensor.

    Example:
        >>> import webtensor as wt
        >>> with wt.tidy():
        ...     x = wt.keep(wt.tensor([1.0]))
        >>> x.tolist()
        [1.0]
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"keep: tensor must be a Tensor, but got {type(tensor).__name__}")
    for scope in [*_open]:
        scope.forget(tensor)
    return tensor


def dispose(container: Any) -> None:
    """Dispose a tensor, or every tensor in nested collections, mappings and dataclasses.

    Example:
        >>> import webtensor as wt
        >>> x = wt.tensor([1.0])
        >>> wt.dispose({"x": [x]})
        >>> x.is_disposed
        True
    """
    for tensor in tensors_in(container):
        tensor.dispose()


@contextmanager
def outside_scopes() -> Iterator[None]:
    """Make tensors that no scope will dispose."""
    scope = _innermost.get()
    _innermost.set(None)
    try:
        yield
    finally:
        _innermost.set(scope)
