"""The backends there are, which of them can start here, and which is active."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from webtensor.backends.api import Backend, Kernel, Priority
from webtensor.engine.state import state
from webtensor.environment import env
from webtensor.errors import BackendUnavailableError

__all__ = [
    "activate_default",
    "add_kernel",
    "added_kernels",
    "available_backends",
    "backend",
    "find_backend",
    "get_backend",
    "others",
    "priority_reason",
    "ready",
    "register_backend",
    "registered_backends",
    "remove_backend",
    "remove_kernel",
    "set_backend",
    "start_backend",
    "started_backends",
    "unavailable_reason",
]

BackendFactory = Callable[[], Backend]


class _Entry(NamedTuple):
    factory: BackendFactory
    priority: int | Callable[[], Priority]


_entries: dict[str, _Entry] = {}
_started: dict[str, Backend] = {}
_refused: dict[str, str] = {}
#: Kernels registered by users, by backend and name.
_added: dict[str, dict[str, Kernel]] = {}


def register_backend(
    name: str, factory: BackendFactory, priority: int | Callable[[], Priority] = 1
) -> bool:
    """Register a backend as ``name``; the highest priority that can start is the default.

    ``factory`` returns the started backend or raises ``BackendUnavailableError``. If the priority
    depends on the device, it is a function that returns it, with the reason if it is lower. Returns
    False, changing nothing, if the name is taken.

    Example:
        >>> import webtensor as wt
        >>> def start():
        ...     raise wt.BackendUnavailableError("no such device")
        >>> wt.register_backend("device", start, priority=0)
        True
        >>> wt.unavailable_reason("device")
        'no such device'
        >>> wt.remove_backend("device")
    """
    if name in _entries:
        return False
    _entries[name] = _Entry(factory, priority)
    return True


def remove_backend(name: str) -> None:
    """Forget a backend and close it if it was started; tensors that live on it are lost.

    Raises:
        ValueError: no backend of this name.

    Example:
        >>> import webtensor as wt
        >>> def start():
        ...     raise wt.BackendUnavailableError("no such device")
        >>> wt.register_backend("device", start, priority=0)
        True
        >>> wt.remove_backend("device")
        >>> "device" in wt.registered_backends()
        False
    """
    _require(name)
    del _entries[name]
    _refused.pop(name, None)
    started = _started.pop(name, None)
    if started is not None:
        if state.backend is started:
            state.backend = None
        started.close()


def registered_backends() -> list[str]:
    """Names of the registered backends, the most preferred first.

    Example:
        >>> import webtensor as wt
        >>> "numpy" in wt.registered_backends()
        True
    """
    return sorted(_entries, key=lambda name: -_priority(name).value)


def available_backends() -> list[str]:
    """Names of the backends that can start here, the most preferred first.

    Example:
        >>> import webtensor as wt
        >>> "numpy" in wt.available_backends()
        True
    """
    return [name for name in registered_backends() if find_backend(name) is not None]


def unavailable_reason(name: str) -> str | None:
    """Return the reason why a backend cannot start here, or None if it can.

    Example:
        >>> import webtensor as wt
        >>> print(wt.unavailable_reason("numpy"))
        None
    """
    _require(name)
    find_backend(name)
    return _refused.get(name)


def priority_reason(name: str) -> str | None:
    """Return the reason why a backend is less preferred here than elsewhere, or None.

    Example:
        >>> import webtensor as wt
        >>> print(wt.priority_reason("numpy"))
        None
    """
    _require(name)
    return _priority(name).reason


def find_backend(name: str) -> Backend | None:
    """Return the started backend of this name, or None where it cannot start here.

    Example:
        >>> import webtensor as wt
        >>> wt.find_backend("numpy").name
        'numpy'
    """
    try:
        return start_backend(name)
    except BackendUnavailableError:
        return None


def start_backend(name: str) -> Backend:
    """Return the backend of this name, having started it if it was not.

    Raises:
        ValueError: no backend of this name is registered.
        BackendUnavailableError: the backend cannot start here; the message says why.
    """
    if name in _started:
        return _started[name]
    entry = _require(name)
    env().read_overrides()
    try:
        started = entry.factory()
    except BackendUnavailableError as error:
        _refused[name] = str(error)
        raise
    _refused.pop(name, None)
    _started[name] = started
    started.on_lost = partial(_replace, name, started)
    for kernel_name, kernel in _added.get(name, {}).items():
        started.add_kernel(kernel_name, kernel)
    return started


def set_backend(name: str) -> bool:
    """Make a backend the active one; tensors move to it when an operation next uses them.

    Returns True, for symmetry with TensorFlow.js.

    Raises:
        ValueError: no backend of this name is registered.
        BackendUnavailableError: the backend cannot start here; the message says why.

    Example:
        >>> import webtensor as wt
        >>> wt.set_backend("numpy")
        True
        >>> wt.get_backend()
        'numpy'
    """
    state.backend = start_backend(name)
    return True


def get_backend() -> str:
    """Return the name of the active backend, starting the default one if none is active.

    Raises:
        BackendUnavailableError: no registered backend can start here.

    Example:
        >>> import webtensor as wt
        >>> wt.set_backend("numpy")
        True
        >>> wt.get_backend()
        'numpy'
    """
    return backend().name


def backend() -> Backend:
    """Return the active backend, starting the default one if none is active.

    Raises:
        BackendUnavailableError: no registered backend can start here.

    Example:
        >>> import webtensor as wt
        >>> wt.set_backend("numpy")
        True
        >>> wt.backend().name
        'numpy'
    """
    return state.backend or activate_default()


async def ready() -> str:
    """Wait until the active backend can compute, and return its name.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> wt.set_backend("numpy")
        True
        >>> asyncio.run(wt.ready())
        'numpy'
    """
    active = backend()
    prepare: Callable[[], Awaitable[None]] | None = getattr(active, "prepare", None)
    if prepare is not None:
        await prepare()
    return active.name


def activate_default() -> Backend:
    """Start and activate the most preferred backend that can start here."""
    for name in registered_backends():
        started = find_backend(name)
        if started is not None:
            state.backend = started
            return started
    reasons = "; ".join(f"{name}: {why}" for name, why in _refused.items())
    raise BackendUnavailableError(f"no backend can start here ({reasons or 'none is registered'})")


def others(active: Backend) -> Iterator[Backend]:
    """Return the other backends that can start here, the most preferred first.

    If the active backend's device was lost and has come back, the backend's successor becomes the
    active one and is returned first.
    """
    for name in sorted(registered_backends(), key=lambda name: name != active.name):
        candidate = find_backend(name)
        if candidate is None or candidate is active:
            continue
        if name == active.name:
            state.backend = candidate
        yield candidate


def started_backends() -> list[Backend]:
    """The backends that were started, in the order in which they were."""
    return list(_started.values())


def added_kernels(name: str) -> dict[str, Kernel]:
    """Return the kernels that were added to a backend from outside."""
    _require(name)
    return dict(_added.get(name, {}))


def add_kernel(backend: str, name: str, kernel: Kernel) -> None:
    """Add a kernel to a backend, started or not.

    Raises:
        ValueError: the backend is not registered.
    """
    _require(backend)
    _added.setdefault(backend, {})[name] = kernel
    started = _started.get(backend)
    if started is not None:
        started.add_kernel(name, kernel)


def remove_kernel(backend: str, name: str) -> None:
    """Remove a kernel from a backend, started or not.

    Raises:
        ValueError: the backend is not registered, or has no such kernel.
    """
    _require(backend)
    is_removed = _added.get(backend, {}).pop(name, None) is not None
    started = _started.get(backend)
    if started is not None:
        is_removed |= started.remove_kernel(name)
    if not is_removed:
        raise ValueError(f"backend {backend!r} has no kernel {name!r}")


def _require(name: str) -> _Entry:
    try:
        return _entries[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"backend {name!r} is not registered; there are {', '.join(_entries)}"
        ) from None


def _priority(name: str) -> Priority:
    priority = _entries[name].priority
    return priority() if callable(priority) else Priority(priority)


def _replace(name: str, lost: Backend) -> None:
    """Remove a backend whose device was lost; another replaces it as soon as it can start."""
    if _started.get(name) is lost:
        del _started[name]
    if state.backend is lost:
        with suppress(BackendUnavailableError):
            state.backend = start_backend(name)
