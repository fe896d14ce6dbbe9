"""Fetching files, and sending data, in a page."""

from __future__ import annotations

import js
from pyodide.http import pyfetch

from webtensor.transfer import javascript_text, python_bytes

__all__ = ["fetch_bytes", "joined", "post"]


def joined(base: str, path: str) -> str:
    """Return the address of a file whose path is relative to another address."""
    base_url = js.URL.new(javascript_text(base), js.location)
    return str(js.URL.new(javascript_text(path), base_url).href)


async def fetch_bytes(url: str) -> bytes:
    """Return the bytes of the file at an address.

    Raises:
        OSError: the server cannot be reached, or has no such file.
    """
    response = await pyfetch(js.Request.new(javascript_text(url)))
    if not response.ok:
        raise OSError(f"{url}: the server answered {response.status}")
    return python_bytes(await response.buffer())


async def post(url: str, headers: dict[str, str], body: str) -> None:
    """Send a text to an address.

    Raises:
        OSError: the server cannot be reached.
    """
    request = js.Request.new(javascript_text(url))
    await pyfetch(request, method="POST", headers=headers, body=javascript_text(body))
