"""Waiting for the page to paint."""

from __future__ import annotations

import asyncio

from webtensor.environment import IN_BROWSER

__all__ = ["next_frame"]


async def next_frame() -> None:
    """Let the page paint and handle events; outside a page, let other tasks run.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.next_frame())
    """
    request = None
    if IN_BROWSER:
        import js

        request = getattr(js, "requestAnimationFrame", None)
    if request is None:
        await asyncio.sleep(0)
        return
    from pyodide.ffi import create_once_callable

    painted = asyncio.get_running_loop().create_future()

    def resolve(_: float) -> None:
        if not painted.done():
            painted.set_result(None)

    request(create_once_callable(resolve))
    await painted
