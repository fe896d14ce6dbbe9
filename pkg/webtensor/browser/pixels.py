"""Conversion between a page's pixels and tensors: ``from_pixels``, ``to_pixels``, ``draw``.

On a GPU, images become tensors and tensors images without passing through host memory. Elsewhere
they pass through it as bytes, four to a pixel (red, green, blue, opacity). A backend may have a
kernel that makes numbers of them; else slices of bytearrays split and join the channels, at the
speed of C.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from sys import byteorder
from typing import Any, Final

from webtensor.arguments import as_integer
from webtensor.dtypes import DType, float32, int32
from webtensor.engine import Storage, Tensor, TensorLike, as_operand, backend
from webtensor.environment import IN_BROWSER
from webtensor.ops import add, astype, divide, floor, max as _max, min as _min, multiply
from webtensor.shapes import prod
from webtensor.transfer import javascript_bytes, python_buffer

__all__ = [
    "draw",
    "from_pixels",
    "from_pixels_async",
    "read_levels",
    "to_pixels",
    "wait_until_loaded",
]

#: Which byte of an int32 holds a number up to 255.
_LOWEST: Final = 0 if byteorder == "little" else 3

# -- from pixels ---------------------------------------------------------------------------------


def from_pixels(pixels: Any, num_channels: int = 3, as_float: bool = False) -> Tensor:
    """Make an int32 tensor of (height, width, num_channels), with values from 0 to 255.

    With ``as_float`` it is a float32 tensor with values from 0 to 1. In a page, ``pixels`` is an
    ImageData, a canvas, an image, a video, an ImageBitmap or a VideoFrame, which on WebGL never
    leaves the GPU. Anywhere it may be a mapping with ``data`` (four bytes a pixel), ``width`` and
    ``height``, an object with these attributes, or an array of (height, width, channels) of bytes.
    ``num_channels``, from 1 to 4, leaves the last channels out.

    Raises:
        TypeError: ``pixels`` is something else, or ``num_channels`` no integer.
        ValueError: ``num_channels`` is out of range, or sizes do not fit.

    Example:
        >>> import webtensor as wt
        >>> pixels = {"data": bytes([1, 2, 3, 255]), "width": 1, "height": 1}
        >>> wt.browser.from_pixels(pixels).tolist()
        [[[1, 2, 3]]]
    """
    return _from_pixels("from_pixels", pixels, num_channels, as_float)


async def from_pixels_async(pixels: Any, num_channels: int = 3, as_float: bool = False) -> Tensor:
    """``from_pixels`` that first waits until an image is loaded and decoded.

    The result is as in ``from_pixels``: int32 (height, width, num_channels), or float32 from 0 to
    1 with ``as_float``.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> pixels = {"data": bytes([1, 2, 3, 255]), "width": 1, "height": 1}
        >>> asyncio.run(wt.browser.from_pixels_async(pixels)).tolist()
        [[[1, 2, 3]]]
    """
    await wait_until_loaded(pixels)
    return _from_pixels("from_pixels_async", pixels, num_channels, as_float)


async def wait_until_loaded(pixels: Any) -> None:
    """Wait until an image of the page is loaded and decoded; nothing else is waited for."""
    if IN_BROWSER and _kind(pixels) == "HTMLImageElement":
        await pixels.decode()


def read_levels(pixels: Any) -> Tensor:
    """Return the colours of what ``from_pixels`` takes: float32 (height, width, 3), up to 255.

    Raises:
        TypeError, ValueError: as of ``from_pixels``.
    """
    name = "from_pixels"
    levels = _taken_by_gpu(name, pixels, 3, as_float=False)
    return _through_host(name, pixels, 3, float32) if levels is None else astype(levels, float32)


def _from_pixels(name: str, pixels: Any, num_channels: int, as_float: bool) -> Tensor:
    num_channels = as_integer(name, "num_channels", num_channels)
    if not 1 <= num_channels <= 4:
        raise ValueError(f"{name}: num_channels must lie between 1 and 4, but got {num_channels}")
    tensor = _taken_by_gpu(name, pixels, num_channels, as_float)
    if tensor is not None:
        return tensor
    levels = _through_host(name, pixels, num_channels, float32 if as_float else int32)
    return divide(levels, 255.0) if as_float else levels


def _through_host(name: str, pixels: Any, num_channels: int, dtype: DType) -> Tensor:
    if IN_BROWSER and _kind(pixels):
        rgba, width, height = _page_pixels(name, pixels)
    elif isinstance(pixels, Mapping):
        missing = {"data", "width", "height"} - pixels.keys()
        if missing:
            raise ValueError(f"{name}: pixels lacks {', '.join(sorted(missing))}")
        rgba, width, height = pixels["data"], pixels["width"], pixels["height"]
    elif all(hasattr(pixels, attribute) for attribute in ("data", "width", "height")):
        rgba, width, height = pixels.data, pixels.width, pixels.height
    elif hasattr(pixels, "__array__"):
        return astype(_from_array(name, pixels, num_channels), dtype)
    else:
        raise TypeError(
            f"{name}: pixels must be an ImageData, a canvas, an image, a video, an ImageBitmap, a "
            f"mapping with data, width and height, or an array, but got {pixels!r}"
        )
    return _tensor(name, rgba, (height, width, num_channels), dtype)


def _tensor(name: str, rgba: Any, shape: tuple[Any, Any, int], dtype: DType) -> Tensor:
    height, width, channels = shape
    if not all(isinstance(length, int) and length >= 0 for length in (width, height)):
        raise ValueError(
            f"{name}: width and height must be non-negative integers, but got {width!r} and "
            f"{height!r}"
        )
    data = _bytes(name, rgba)
    count = width * height
    if len(data) != 4 * count:
        raise ValueError(
            f"{name}: data must hold {4 * count} bytes, four for each of {width} × {height} "
            f"pixels, but it holds {len(data)}"
        )
    active = backend()
    handle = active.expand_pixels(data, shape, dtype) if count else None
    if handle is not None:
        return Tensor(Storage(dtype, prod(shape), None, active, handle), shape, dtype)
    wide = bytearray(4 * channels * count)
    for channel in range(channels):
        wide[4 * channel + _LOWEST :: 4 * channels] = data[channel::4]
    host = memoryview(wide).cast("i") if count else memoryview(bytearray(4)).cast("i")[:0]
    return astype(Tensor(Storage(int32, len(host), host), shape, int32), dtype)


def _bytes(name: str, data: Any) -> memoryview[int]:
    try:
        if isinstance(data, int):
            raise TypeError
        if IN_BROWSER and hasattr(data, "byteLength"):
            return python_buffer(data)
        return memoryview(bytes(data))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: data must be bytes, but got {data!r}") from None


def _from_array(name: str, pixels: Any, channels: int) -> Tensor:
    operand = as_operand(name, pixels)
    if len(operand.shape) != 3 or operand.shape[2] < channels:
        raise ValueError(
            f"{name}: an array of pixels must be (height, width, {channels} or more channels), but "
            f"its shape is {operand.shape}"
        )
    if operand.dtype is not int32:
        raise TypeError(f"{name}: an array of pixels must hold integers, but holds {operand.dtype}")
    return operand[:, :, :channels]


# -- in a page -----------------------------------------------------------------------------------

#: The types that can be drawn on a canvas, and their attributes for width and height.
_DRAWABLE = {
    "HTMLCanvasElement": ("width", "height"),
    "HTMLImageElement": ("width", "height"),
    "HTMLVideoElement": ("videoWidth", "videoHeight"),
    "ImageBitmap": ("width", "height"),
    "OffscreenCanvas": ("width", "height"),
    "VideoFrame": ("displayWidth", "displayHeight"),
}


def _kind(value: Any) -> str:
    """Name the class of a JavaScript object; "" for anything else."""
    from pyodide.ffi import JsProxy

    return str(value)[len("[object ") : -1] if isinstance(value, JsProxy) else ""


def _page_pixels(name: str, pixels: Any) -> tuple[Any, int, int]:
    """Read the pixels of an object of the page."""
    kind = _kind(pixels)
    if kind in _DRAWABLE:
        width, height = _size(name, pixels, kind)
        # Null, which is false, where the canvas has a context of another type.
        context = pixels.getContext("2d") if "Canvas" in kind else None
        if not context:
            context = _scratch(width, height, {"willReadFrequently": True})
            context.drawImage(pixels, 0, 0, width, height)
        return context.getImageData(0, 0, width, height).data, width, height
    if all(hasattr(pixels, attribute) for attribute in ("data", "width", "height")):
        return pixels.data, int(pixels.width), int(pixels.height)
    raise TypeError(
        f"{name}: pixels must be an ImageData, a canvas, an image, a video or an ImageBitmap, but "
        f"got {pixels}"
    )


def _size(name: str, pixels: Any, kind: str) -> tuple[int, int]:
    """The width and the height of what can be drawn."""
    width, height = (int(getattr(pixels, attribute)) for attribute in _DRAWABLE[kind])
    if not width or not height:
        raise ValueError(f"{name}: the {kind} has no pixels (yet): it is {width} × {height}")
    return width, height


def _taken_by_gpu(name: str, pixels: Any, channels: int, as_float: bool) -> Tensor | None:
    """Let the GPU make a tensor of an object of the page; None where it does not."""
    active = backend()
    kind = _kind(pixels) if IN_BROWSER else ""
    if active.computes_on_host or not kind:
        return None
    source = pixels
    if kind in _DRAWABLE:
        width, height = _size(name, pixels, kind)
        if "Canvas" not in kind:
            # A canvas, unlike WebGL, shows images in their size and direction on the page, and does
            # not leave it to bitmaps whether opacity is multiplied into their colours.
            context = _scratch(width, height, {})
            context.drawImage(pixels, 0, 0, width, height)
            source = context.canvas
    elif kind == "ImageData" and pixels.data.constructor.name == "Uint8ClampedArray":
        source, width, height = pixels.data, pixels.width, pixels.height
    else:
        return None
    shape = height, width, channels
    dtype = float32 if as_float else int32
    handle = active.take_pixels(source, shape, dtype)
    if handle is None:
        return None
    return Tensor(Storage(dtype, prod(shape), None, active, handle), shape, dtype)


def _scratch(width: int, height: int, attributes: Mapping[str, Any]) -> Any:
    """The 2-D context of an empty canvas of our own."""
    import js

    if hasattr(js, "OffscreenCanvas"):
        canvas = js.OffscreenCanvas.new(width, height)
    else:
        canvas = js.document.createElement("canvas")
        canvas.width, canvas.height = width, height
    return _context(canvas, attributes)


def _context(canvas: Any, attributes: Mapping[str, Any]) -> Any:
    """The 2-D context of a canvas, or null."""
    import js
    from pyodide.ffi import to_js

    return canvas.getContext("2d", to_js(attributes, dict_converter=js.Object.fromEntries))


def _sized(name: str, canvas: Any, shape: tuple[int, ...], attributes: Any) -> Any:
    """Size a canvas, and return its 2-D context."""
    if not IN_BROWSER:
        raise RuntimeError(f"{name}: a canvas needs a browser, and this is not one")
    if not hasattr(canvas, "getContext"):
        raise TypeError(f"{name}: canvas must be a canvas, but got {canvas}")
    # Firefox's workers refuse to give the context of a page's canvas a second time.
    contexts = _contexts_by_canvas()
    context = contexts.get(canvas) or _context(canvas, dict(attributes or {}))
    if not context:
        raise ValueError(f"{name}: the canvas has a context of another type than '2d'")
    contexts.set(canvas, context)
    canvas.height, canvas.width = shape[:2]
    return context


@cache
def _contexts_by_canvas() -> Any:
    """The 2-D contexts of canvases, for as long as the canvases live."""
    import js

    return js.WeakMap.new()


def _put(context: Any, rgba: bytes, shape: tuple[int, ...]) -> None:
    """Put pixels on a canvas."""
    if rgba:
        import js

        clamped = js.Uint8ClampedArray.new(javascript_bytes(rgba).buffer)
        context.putImageData(js.ImageData.new(clamped, shape[1], shape[0]), 0, 0)


# -- to pixels -----------------------------------------------------------------------------------


def _checked(name: str, image: TensorLike) -> Tensor:
    operand = as_operand(name, image)
    if len(operand.shape) not in (2, 3) or (
        len(operand.shape) == 3 and operand.shape[2] not in (1, 3, 4)
    ):
        raise ValueError(
            f"{name}: the image must be (height, width), or (height, width, 1, 3 or 4 channels), "
            f"but its shape is {operand.shape}"
        )
    if operand.dtype not in (float32, int32):
        raise TypeError(f"{name}: the image must be float32 or int32, but it is {operand.dtype}")
    return operand


def _check_range(name: str, image: Tensor, minimum: float, maximum: float) -> None:
    """Raise if values are no colours; NaN is none."""
    limit = 1 if image.dtype is float32 else 255
    if not (minimum >= 0 and maximum <= limit):
        raise ValueError(
            f"{name}: values of {image.dtype} images must lie in [0, {limit}], but they range from "
            f"{minimum:g} to {maximum:g}"
        )


def _levels(image: Tensor) -> Tensor:
    """Values from 0 to 255, as int32."""
    if image.dtype is int32:
        return image
    return astype(floor(add(multiply(image, 255.0), 0.5)), int32)


def _rgba(levels: memoryview[Any], shape: tuple[int, ...], alpha: float) -> bytes:
    """Join the channels of a read image, of which there are 1, 3 or 4, to four bytes a pixel."""
    data = bytes(levels.cast("B")[_LOWEST::4]) if len(levels) else b""
    channels = shape[2] if len(shape) == 3 else 1
    count = shape[0] * shape[1]
    rgba = bytearray([int(255 * alpha + 0.5)]) * (4 * count)
    for channel in range(max(3, channels)):
        rgba[channel::4] = data[channel % channels :: channels]
    return bytes(rgba)


async def to_pixels(img: TensorLike, canvas: Any = None) -> bytes:
    """Return an image as bytes, four to a pixel, and put it on a canvas if one is given.

    ``img`` is (height, width), which gives greys, or (height, width, channels) with 1, 3 or 4
    channels: a grey, a colour, a colour and its opacity. float32 values lie in [0, 1], int32 values
    in [0, 255]. The canvas takes the size of the image.

    Raises:
        TypeError: the image has another dtype, or ``canvas`` is none.
        ValueError: the image has another shape, or values out of range.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.browser.to_pixels(wt.tensor([[0.0, 1.0]]))).hex()
        '000000ffffffffff'
    """
    name = "to_pixels"
    operand = _checked(name, img)
    if operand.size:
        minimum, maximum = _min(operand), _max(operand)
        levels = _levels(operand)
        _check_range(name, operand, (await minimum.data())[0], (await maximum.data())[0])
        rgba = _rgba(await levels.data(), operand.shape, 1)
    else:
        rgba = b""
    if canvas is not None:
        _put(_sized(name, canvas, operand.shape, None), rgba, operand.shape)
    return rgba


_OPTIONS = {
    "image_options": ("alpha",),
    "context_options": ("context_type", "context_attributes"),
}


def draw(image: TensorLike, canvas: Any, options: Mapping[str, Any] | None = None) -> None:
    """Put an image on a canvas, which takes its size.

    The image is as in ``to_pixels``. ``options`` may hold ``image_options``, a mapping with
    ``alpha``, the opacity of images without a channel for it, from 0 to 1; and ``context_options``,
    a mapping with ``context_type``, which must be "2d", and ``context_attributes``, a mapping that
    the canvas's context is made with.

    Raises:
        TypeError: the image has another dtype, or ``canvas`` is not a canvas.
        ValueError: the image has another shape, values are out of range, or an option is unknown.

    Example:
        >>> import webtensor as wt
        >>> if wt.env().get_bool("IS_BROWSER"):
        ...     from js import document
        ...     wt.browser.draw(wt.zeros((8, 8, 3)), document.createElement("canvas"))
    """
    name = "draw"
    operand = _checked(name, image)
    checked_options = _options(name, options)
    alpha = checked_options["image_options"].get("alpha", 1)
    if not isinstance(alpha, (int, float)) or not 0 <= alpha <= 1:
        raise ValueError(f"{name}: alpha must lie in [0, 1], but got {alpha!r}")
    context_type = checked_options["context_options"].get("context_type", "2d")
    if context_type != "2d":
        raise ValueError(f"{name}: context_type must be '2d', but got {context_type!r}")
    if operand.size:
        _check_range(name, operand, _min(operand).item(), _max(operand).item())
    context = _sized(
        name, canvas, operand.shape, checked_options["context_options"].get("context_attributes")
    )
    if not operand.size:
        return
    # What the context was set to, such as a transformation, went with the canvas's former size.
    shown = _shown_by_gpu(operand, alpha)
    if shown is not None:
        context.drawImage(shown, 0, 0)
    else:
        _put(context, _rgba(_levels(operand).data_sync(), operand.shape, alpha), operand.shape)


def _shown_by_gpu(image: Tensor, alpha: float) -> Any:
    """A canvas on which the GPU has drawn an image; None where it does not."""
    active = backend()
    if image.storage.backend is not active:
        return None
    return active.show_pixels(image, int(255 * alpha + 0.5) / 255)


def _options(name: str, options: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    groups = dict(options or {})
    for group, group_options in groups.items():
        allowed = _OPTIONS.get(group)
        if allowed is None:
            raise ValueError(
                f"{name}: options may hold {' and '.join(_OPTIONS)}, but not {group!r}"
            )
        for option in group_options:
            if option not in allowed:
                raise ValueError(
                    f"{name}: {group} may hold {' and '.join(allowed)}, not {option!r}"
                )
    return {group: groups.get(group) or {} for group in _OPTIONS}
