"""Image files as bitmaps, SVG files included."""

from typing import Any

from js import URL, Image, createImageBitmap, document

SVG = "image/svg+xml"
#: The side in pixels of SVG files that say no size.
DEFAULT_SIDE = 512


async def read_bitmap(file: Any) -> Any:
    """Return the ImageBitmap of an image file.

    Raises:
        JsException: the browser cannot decode it.
    """
    if file.type != SVG:
        return await createImageBitmap(file)
    # createImageBitmap refuses SVG files; an <img> draws them, and runs no scripts of theirs.
    image = Image.new()
    image.src = URL.createObjectURL(file)
    try:
        await image.decode()
        canvas = document.createElement("canvas")
        canvas.width = image.naturalWidth or DEFAULT_SIDE
        canvas.height = image.naturalHeight or DEFAULT_SIDE
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
        return await createImageBitmap(canvas)
    finally:
        URL.revokeObjectURL(image.src)
