"""Computing elements before they are asked for."""

from __future__ import annotations

import asyncio
from typing import Any

from webtensor.data.iteration import Elements, closing

__all__ = ["prefetched"]


async def prefetched(elements: Elements, count: int) -> Elements:
    """Have a task compute up to ``count`` elements ahead; an error comes at its element."""
    results: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    room = asyncio.Semaphore(count)

    async def compute() -> None:
        try:
            async with closing(elements):
                while True:
                    await room.acquire()
                    results.put_nowait(("element", await anext(elements)))
        except StopAsyncIteration:
            results.put_nowait(("end", None))
        except Exception as error:
            results.put_nowait(("error", error))

    task = asyncio.ensure_future(compute())
    try:
        while True:
            kind, value = await results.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            room.release()
            yield value
    finally:
        task.cancel()
