"""Fetching files, and sending data, in a page."""

from __future__ import annotations

import js
from pyodide.ffi import JsException
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
        OSError: the server cannot be reached, breaks off, or has no such file.
    """
    # Pyodide's pyfetch fails with an AttributeError where an answer breaks off.
    try:
        response = await js.fetch(js.Request.new(javascript_text(url)))
        data = await response.arrayBuffer() if response.ok else None
    except JsException as error:
        raise OSError(
            f"{url}: the server cannot be reached, or its answer broke off ({error})"
        ) from None
    if data is None:
        raise OSError(f"{url}: the server answered {response.status}")
    return python_bytes(data)


async def post(url: str, headers: dict[str, str], body: str) -> None:
    """Send a text to an address.

    Raises:
        OSError: the server cannot be reached.
    """
    request = js.Request.new(javascript_text(url))
    await pyfetch(request, method="POST", headers=headers, body=javascript_text(body))
