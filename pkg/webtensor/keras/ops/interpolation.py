"""Elements at places between elements: ``map_coordinates``, and images whose pixels move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32

__all__ = ["FILL_MODES", "map_coordinates", "moved_pixels", "scale_and_translate"]


# -- what is beyond the edges ------------------------------------------------------------------


def _nearest(place: Any, length: int) -> Any:
    """``a a | a b c | c c``."""
    return wt.clip(place, 0, length - 1)


def _wrap(place: Any, length: int) -> Any:
    """``b c | a b c | a b``."""
    return wt.remainder(place, length)


def _mirror(place: Any, length: int) -> Any:
    """``c b | a b c | b a``."""
    last = max(length - 1, 1)
    return wt.minimum(wt.abs(wt.remainder(place + last, 2 * last) - last), length - 1)


def _reflect(place: Any, length: int) -> Any:
    """``b a | a b c | c b``."""
    turned = wt.remainder(place, 2 * length)
    return wt.minimum(turned, 2 * length - 1 - turned)


#: Which of the elements stands at a place.
FILL_MODES: dict[str, Callable[[Any, int], Any]] = {
    "constant": _nearest,
    "mirror": _mirror,
    "nearest": _nearest,
    "reflect": _reflect,
    "wrap": _wrap,
}


# -- samples -----------------------------------------------------------------------------------


def _corners(place: Any, order: int) -> Iterator[tuple[Any, Any]]:
    """The whole places that a place lies between, and how much each counts."""
    if order == 0:
        away = wt.multiply(wt.sign(place), wt.floor(wt.add(wt.abs(place), 0.5)))
        yield wt.astype(away, int32), None
        return
    low = wt.floor(place)
    part = wt.subtract(place, low)
    index = wt.astype(low, int32)
    yield index, wt.subtract(1.0, part)
    yield index + 1, part


def _indexed(place: Any, share: Any, length: int, step: int, fill_mode: str) -> tuple[Any, ...]:
    """What a whole place adds to an index, how much it counts, and whether it must be inside."""
    inner = FILL_MODES[fill_mode](place, length)
    return (
        wt.multiply(inner, step),
        share,
        wt.equal(inner, place) if fill_mode == "constant" else None,
    )


def _sampled(
    rows: Any,
    begin: Any,
    lengths: Sequence[int],
    places: Sequence[Any],
    order: int,
    fill_mode: str,
    fill_value: float,
) -> Any:
    """Rows at places, which are coordinates along axes; ``begin`` is where those axes begin."""
    rest = (1,) * (len(rows.shape) - 1)
    total: Any = None
    steps = _steps(lengths)
    choices = [
        [_indexed(*one, lengths[axis], steps[axis], fill_mode) for one in _corners(place, order)]
        for axis, place in enumerate(places)
    ]
    for corner in product(*choices):
        index, weight, is_inside = begin, None, None
        for inner, share, here in corner:
            index = wt.add(index, inner)
            if here is not None:
                is_inside = here if is_inside is None else wt.logical_and(is_inside, here)
            if share is not None:
                weight = share if weight is None else wt.multiply(weight, share)
        value = wt.gather(rows, index, 0)
        if is_inside is not None:
            is_inside = wt.reshape(is_inside, (*is_inside.shape, *rest))
            value = wt.where(is_inside, value, fill_value)
        if weight is not None:
            value = wt.multiply(value, wt.reshape(weight, (*weight.shape, *rest)))
        total = value if total is None else wt.add(total, value)
    return total


def _steps(lengths: Sequence[int]) -> list[int]:
    """How far apart neighbours along each axis are."""
    return [prod(lengths[place + 1 :]) for place in range(len(lengths))]


def _check_mode(name: str, fill_mode: str) -> None:
    if fill_mode not in FILL_MODES:
        raise ValueError(
            f"{name}: fill_mode must be one of {sorted(FILL_MODES)}, but got {fill_mode!r}"
        )


def map_coordinates(
    inputs: Any, coordinates: Any, order: int, fill_mode: str = "constant", fill_value: float = 0
) -> Any:
    """Return the elements of ``inputs`` at coordinates, which need not be integers.

    ``coordinates`` has shape (rank of inputs, …); the result has the shape of the rest of it and
    the dtype of ``inputs``. ``order`` is 0 for the nearest element or 1 for linear interpolation;
    ``fill_mode`` ("constant", "nearest", "wrap", "mirror" or "reflect") says what is beyond the
    edges.

    Raises:
        ValueError: the coordinates do not fit, or the order or fill mode is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.image.map_coordinates([10.0, 20.0, 30.0], [[0.5, 2.0]], order=1).tolist()
        [15.0, 30.0]
    """
    if isinstance(coordinates, (list, tuple)):
        coordinates = wt.stack([wt.asarray(one) for one in coordinates])
    x, at = wt.asarray(inputs), wt.astype(coordinates, float32)
    _check_mode("map_coordinates", fill_mode)
    if order not in (0, 1):
        raise ValueError(f"map_coordinates: order must be 0 or 1, but got {order!r}")
    if len(at.shape) < 2 or at.shape[0] != len(x.shape):
        raise ValueError(
            f"map_coordinates: coordinates must be ({len(x.shape)}, …), a row for each axis of "
            f"inputs, but have shape {at.shape}"
        )
    places = wt.unstack(at, 0)
    rows = wt.astype(wt.reshape(x, (-1,)), float32)
    found = _sampled(rows, 0, x.shape, places, order, fill_mode, fill_value)
    return found if x.dtype is float32 else wt.astype(wt.round(found), x.dtype)


def moved_pixels(
    images: Any, y: Any, x: Any, interpolation: str, fill_mode: str, fill_value: float
) -> Any:
    """Images, (batch, height, width, channels), seen at places: (batch, rows, columns)."""
    _check_mode("images", fill_mode)
    batch, height, width, channels = images.shape
    rows = wt.reshape(images, (-1, channels))
    begin = wt.reshape(wt.arange(batch) * (height * width), (batch, 1, 1))
    order = 0 if interpolation == "nearest" else 1
    return _sampled(rows, begin, (height, width), (y, x), order, fill_mode, fill_value)


# -- scaled axes -------------------------------------------------------------------------------


def _triangle(x: Any) -> Any:
    return wt.maximum(1.0 - x, 0.0)


def _cubic(x: Any) -> Any:
    """Keys' cubic, with a = -1/2."""
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return wt.where(wt.less(x, 1.0), near, wt.where(wt.less(x, 2.0), far, 0.0))


def _lanczos(radius: int) -> Callable[[Any], Any]:
    def weight(x: Any) -> Any:
        angle = wt.maximum(x, 1e-3) * 3.141592653589793
        bells = wt.sin(angle) * wt.sin(angle / radius) * radius / wt.square(angle)
        return wt.where(wt.less(x, 1e-3), 1.0, wt.where(wt.less(x, radius), bells, 0.0))

    return weight


_KERNELS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("bilinear", "linear", "triangle", "trilinear"), _triangle),
    **dict.fromkeys(("bicubic", "cubic", "tricubic"), _cubic),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
}


def _shares(
    length: int, outputs: int, scale: Any, translation: Any, method: str, antialias: bool
) -> Any:
    """How much each element of an axis counts for each of the result: (outputs, length)."""
    inverse = wt.divide(1.0, scale)
    wide = wt.maximum(inverse, 1.0) if antialias else 1.0
    centers = wt.arange(outputs, dtype=float32) + 0.5
    at = wt.reshape(centers * inverse - translation * inverse - 0.5, (outputs, 1))
    far = wt.abs(at - wt.arange(length, dtype=float32)) / wide
    weights = _KERNELS[method](far)
    total = wt.sum(weights, axis=1, keepdims=True)
    is_some = wt.greater(wt.abs(total), 1e-4)
    weights = wt.where(is_some, wt.divide(weights, wt.where(is_some, total, 1.0)), 0.0)
    is_inside = wt.logical_and(wt.greater_equal(at, -0.5), wt.less_equal(at, length - 0.5))
    return wt.where(is_inside, weights, 0.0)


def scale_and_translate(
    images: Any,
    output_shape: Any,
    scale: Any,
    translation: Any,
    spatial_dims: Any,
    method: str,
    antialias: bool = True,
) -> Any:
    """Scale and then translate ``images`` along the axes ``spatial_dims``.

    ``output_shape`` is the shape of the result, which is float32. ``scale`` and ``translation``
    have a number for each of the axes. ``method`` is "linear", "cubic", "lanczos3" or "lanczos5".

    Raises:
        ValueError: the method is unknown.

    Example:
        >>> from webtensor import keras
        >>> x = [1.0, 2.0]
        >>> keras.ops.image.scale_and_translate(x, (4,), [2.0], [0.0], (0,), "linear").tolist()
        [1.0, 1.25, 1.75, 2.0]
    """
    if method not in _KERNELS:
        raise ValueError(
            f"scale_and_translate: method must be one of {sorted(_KERNELS)}, but got {method!r}"
        )
    x = wt.astype(images, float32)
    scales, moves = wt.astype(scale, float32), wt.astype(translation, float32)
    for number, axis in enumerate(spatial_dims):
        shares = _shares(
            x.shape[axis], output_shape[axis], scales[number], moves[number], method, antialias
        )
        x = wt.moveaxis(wt.linalg.tensordot(shares, x, axes=([1], [axis])), 0, axis)
    return x
