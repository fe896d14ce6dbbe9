"""Files that the page hands to the visitor."""

import asyncio

from js import URL, Blob, document
from pyodide.ffi import to_js

SECONDS_TO_BEGIN = 60


def save_file(content: bytes, name: str) -> None:
    """Let the browser save a file."""
    address = URL.createObjectURL(Blob.new(to_js([to_js(content)])))
    link = document.createElement("a")
    link.href, link.download = address, name
    link.click()
    asyncio.get_running_loop().call_later(SECONDS_TO_BEGIN, URL.revokeObjectURL, address)
