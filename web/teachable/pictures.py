"""Pictures as squares on canvases: of files, of the page's own examples, and of the webcam."""

from typing import Any

from bitmaps import read_bitmap
from js import document
from pyodide.ffi import JsException
from pyodide.http import pyfetch

SIDE = 224  # pixels


class UnreadablePictureError(ValueError):
    """A file that is no picture; the message is a sentence that names it."""


def blank_picture() -> Any:
    """Return an empty canvas of the size of pictures."""
    canvas = document.createElement("canvas")
    canvas.width = canvas.height = SIDE
    return canvas


def square(source: Any, width: int, height: int) -> Any:
    """Return a canvas with the largest square in the middle of a source of pixels."""
    side = min(width, height)
    canvas = blank_picture()
    canvas.getContext("2d").drawImage(
        source, (width - side) / 2, (height - side) / 2, side, side, 0, 0, SIDE, SIDE
    )
    return canvas


async def read_picture(file: Any, name: str) -> Any:
    """Return the picture of a file.

    Raises:
        UnreadablePictureError: the file has no content, or the browser cannot decode it.
    """
    if not file.size:
        raise UnreadablePictureError(f"{name} is empty: it has no bytes.")
    try:
        bitmap = await read_bitmap(file)
    except JsException:
        raise UnreadablePictureError(f"{name} is no picture that this browser can read.") from None
    try:
        return square(bitmap, bitmap.width, bitmap.height)
    finally:
        bitmap.close()


async def fetch_picture(address: str) -> Any:
    """Return a picture of this site."""
    response = await pyfetch(address)
    response.raise_for_status()
    return await read_picture(await response.js_response.blob(), address)
