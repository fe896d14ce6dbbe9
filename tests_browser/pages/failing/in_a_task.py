"""Fails in a task that nobody awaits."""

import asyncio

from helper import fail


async def work() -> None:
    """Fail a little later."""
    await asyncio.sleep(0.01)
    fail()


asyncio.ensure_future(work())  # noqa: RUF006 - nobody keeps it, which is the point
