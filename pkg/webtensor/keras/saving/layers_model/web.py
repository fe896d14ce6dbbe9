"""Fetching files in a page."""

from __future__ import annotations

__all__ = ["fetch_bytes", "joined"]


def joined(base: str, path: str) -> str:
    """Return the address of a file beside another."""
    from js import URL, location

    return str(URL.new(path, URL.new(base, location.href)).href)


async def fetch_bytes(url: str) -> bytes:
    """Return what is at an address.

    Raises:
        OSError: it cannot be reached, or there is nothing.
    """
    from pyodide.http import pyfetch

    response = await pyfetch(url)
    if not response.ok:
        raise OSError(f"{url}: the server answered {response.status}")
    content: bytes = await response.bytes()
    return content
