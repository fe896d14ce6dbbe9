"""Fetching files, and sending data, in a page."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import js
from pyodide.ffi import JsException

from webtensor.javascript import function_of
from webtensor.transfer import javascript_text, python_bytes

__all__ = ["fetch_bytes", "joined", "post"]


def joined(base: str, path: str) -> str:
    """Return the address of a file whose path is relative to another address."""
    base_url = js.URL.new(javascript_text(base), js.location)
    return str(js.URL.new(javascript_text(path), base_url).href)


@cache
def _fetching() -> Any:
    return function_of("io/fetching.js")()


async def fetch_bytes(url: str) -> bytes:
    """Return the bytes of the file at an address.

    Raises:
        OSError: the server cannot be reached, breaks off, or has no such file.
    """
    try:
        answer = await _fetching().get(javascript_text(url))
    except JsException as error:
        raise OSError(
            f"{url}: the server cannot be reached, or its answer broke off ({error})"
        ) from None
    if answer.data is None:
        raise OSError(f"{url}: the server answered {answer.status}")
    return python_bytes(answer.data)


async def post(url: str, headers: dict[str, str], body: str) -> None:
    """Send a text to an address.

    Raises:
        OSError: the server cannot be reached.
    """
    try:
        await _fetching().post(
            javascript_text(url), javascript_text(json.dumps(headers)), javascript_text(body)
        )
    except JsException as error:
        raise OSError(f"{url}: the server cannot be reached ({error})") from None
