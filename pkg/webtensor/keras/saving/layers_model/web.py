"""Fetching files in a page."""

from __future__ import annotations

from webtensor.transfer import javascript_text, python_bytes

__all__ = ["fetch_bytes", "joined"]


def joined(base: str, path: str) -> str:
    """Return the address of a file beside another."""
    from js import URL, location

    beside = URL.new(javascript_text(base), location)
    return str(URL.new(javascript_text(path), beside).href)


async def fetch_bytes(url: str) -> bytes:
    """Return what is at an address.

    Raises:
        OSError: it cannot be reached, or there is nothing.
    """
    from js import Request
    from pyodide.http import pyfetch

    response = await pyfetch(Request.new(javascript_text(url)))
    if not response.ok:
        raise OSError(f"{url}: the server answered {response.status}")
    return python_bytes(await response.buffer())
