"""Suspending Python: waiting in a synchronous function without blocking the page.

Browsers with JSPI (JavaScript promise integration) can suspend WebAssembly, and with it Python,
until a promise settles.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable
from typing import TypeVar

from webtensor.environment import IN_BROWSER

__all__ = ["can_suspend", "loop_runs", "suspended"]

Result = TypeVar("Result")


class _CollectorPause:
    """Keeps Python from collecting garbage by itself while calls are suspended.

    The incremental collector of CPython 3.14 walks the frames of all tasks. Pyodide may have moved
    the frames of a suspended task, so that the walk reads other data in their place: it ends Python
    with "memory access out of bounds", or never ends (Pyodide's issue 6464).
    """

    def __init__(self) -> None:
        self._suspended = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        if not self._suspended:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._suspended += 1

    def __exit__(self, *_: object) -> None:
        self._suspended -= 1
        if not self._suspended and self._was_enabled:
            gc.enable()


_collector_pause = _CollectorPause()


def can_suspend() -> bool:
    """Whether Python can be suspended here and now."""
    if not IN_BROWSER:
        return False
    from pyodide.ffi import can_run_sync

    return bool(can_run_sync())


def loop_runs() -> bool:
    """Whether an event loop runs, in which synchronous code must not wait."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def suspended(awaitable: Awaitable[Result]) -> Result:
    """Return the awaitable's result; Python is suspended until it is there.

    Meanwhile other tasks run, and garbage is not collected.
    """
    from pyodide.ffi import run_sync

    # An error that passes through JavaScript is kept alive by it, with everything in its frames.
    errors: list[BaseException] = []

    async def settled() -> Result | None:
        try:
            return await awaitable
        except BaseException as error:
            errors.append(error)
            return None

    with _collector_pause:
        result: Result = run_sync(settled())
    if errors:
        raise errors.pop()
    return result
