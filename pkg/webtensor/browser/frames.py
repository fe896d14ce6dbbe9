"""Waiting for the page to paint."""

from __future__ import annotations

import asyncio

from webtensor.environment import IN_BROWSER

__all__ = ["next_frame"]

#: Browsers draw no frames of a page that is hidden, or becomes so while one is awaited.
_LONGEST_WAIT = 0.5


async def next_frame() -> None:
    """Let the page paint and handle events; where nothing is painted, let other tasks run.

    Nothing is painted outside a page, and while the page is hidden.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.next_frame())
    """
    request = None
    if IN_BROWSER:
        import js

        if not getattr(getattr(js, "document", None), "hidden", False):
            request = getattr(js, "requestAnimationFrame", None)
    if request is None:
        await asyncio.sleep(0)
        return
    from pyodide.ffi import create_once_callable

    loop = asyncio.get_running_loop()
    painted = loop.create_future()

    def resolve(_: float) -> None:
        if not painted.done():
            painted.set_result(None)

    request(create_once_callable(resolve))
    waiting = loop.call_later(_LONGEST_WAIT, resolve, 0.0)
    await painted
    waiting.cancel()
