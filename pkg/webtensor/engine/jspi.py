"""Suspending Python: waiting in a synchronous function while the page goes on.

Browsers with JSPI (JavaScript promise integration) can suspend WebAssembly, and with it Python,
until a promise settles.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from webtensor.environment import IN_BROWSER

__all__ = ["can_suspend", "suspended"]

Result = TypeVar("Result")


def can_suspend() -> bool:
    """Whether Python can be suspended here and now."""
    if not IN_BROWSER:
        return False
    from pyodide.ffi import can_run_sync

    return bool(can_run_sync())


def suspended(awaitable: Awaitable[Result]) -> Result:
    """Return the awaitable's result; Python is suspended until it is there."""
    from pyodide.ffi import run_sync

    # An error that passes through JavaScript is kept alive by it, with everything in its frames.
    errors: list[BaseException] = []

    async def settled() -> Result | None:
        try:
            return await awaitable
        except BaseException as error:
            errors.append(error)
            return None

    result: Result = run_sync(settled())
    if errors:
        raise errors.pop()
    return result
