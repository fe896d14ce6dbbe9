"""Bytes and text between Python and JavaScript, at any address of Python's memory.

JavaScript gets addresses above 2 GiB as negative integers, which many of Pyodide's own functions do
not correct: buffers in ``to_js``, ``assign``, ``assign_to``, ``to_bytes`` and ``getBuffer``, and
texts of 64 or more ASCII characters. They silently copy wrong bytes, or raise "offset is out of
bounds" (``docs/design/choices.md`` lists what was tried). Addresses that Python computes are
positive, so the functions here pass those.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

__all__ = [
    "address_of",
    "javascript_bytes",
    "javascript_text",
    "python_buffer",
    "python_bytes",
    "zero_bytes",
]

#: The length of the longest ASCII texts that Pyodide copies character by character, at any address.
_MAX_SHORT_TEXT: Final = 63
#: The number of parts of a text that are passed in one call.
_PARTS_PER_CALL: Final = 1000


def zero_bytes(count: int) -> array[int]:
    """Return bytes that JavaScript can write to, at the address ``buffer_info()[0]``."""
    return array("B", (0,)) * count


def address_of(data: memoryview[Any]) -> tuple[int, array[Any]]:
    """Return the address of contiguous bytes, and the array that owns them.

    The array is that of ``data`` if it views a whole one, or else a copy.
    """
    owner = data.obj
    if not isinstance(owner, array) or len(owner) * owner.itemsize != data.nbytes:
        owner = array("B")
        owner.frombytes(data.cast("B"))
    return owner.buffer_info()[0], owner


def javascript_bytes(data: bytes | bytearray | memoryview[Any]) -> Any:
    """Return a Uint8Array with a copy of contiguous bytes."""
    import pyodide_js

    view = memoryview(data)
    address, _owner = address_of(view)
    return pyodide_js._module.HEAPU8.slice(address, address + view.nbytes)


def python_bytes(source: Any) -> bytes:
    """Return a copy of the bytes of a typed array or of an ArrayBuffer."""
    return python_buffer(source).tobytes()


def python_buffer(source: Any) -> memoryview[int]:
    """Return a copy of the bytes of a typed array or of an ArrayBuffer, which is read-only."""
    import js
    import pyodide_js

    count = source.byteLength
    # A typed array of other elements is viewed as bytes: ``set`` would convert its elements.
    view = js.Uint8Array.new(
        getattr(source, "buffer", source), getattr(source, "byteOffset", 0), count
    )
    result = zero_bytes(count)
    pyodide_js._module.HEAPU8.set(view, result.buffer_info()[0])
    return memoryview(result).toreadonly()


def javascript_text(text: str) -> Any:
    """Return a text for JavaScript: a string, or an array that is converted to this string.

    Functions of JavaScript and of browsers convert their arguments to strings, and an array to
    what its ``join`` returns.
    """
    if len(text) <= _MAX_SHORT_TEXT or not text.isascii():
        return text
    import js

    parts = js.Array.new()
    starts = range(0, len(text), _MAX_SHORT_TEXT)
    for first in range(0, len(starts), _PARTS_PER_CALL):
        part_starts = starts[first : first + _PARTS_PER_CALL]
        parts.push(*(text[start : start + _MAX_SHORT_TEXT] for start in part_starts))
    parts.join = parts.join.bind(parts, "")
    return parts
