"""Functions that create tensors, in Keras's module ``numpy``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log10, pi

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import is_integer
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.ops.operations import Arguments, Computation, Row, elementwise, op, plain
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, DTypeLike
from webtensor.ops.casting import as_float
from webtensor.shapes import as_shape

__all__ = ["ROWS"]


def _array(x: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Convert an array or a list to a tensor, optionally of a given dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.array([1, 2], dtype="float32").tolist()
        [1.0, 2.0]
    """
    x = wt.asarray(x)
    return x if dtype is None else wt.astype(x, storage_dtype(dtype))


def _arange(
    start: TensorLike,
    stop: TensorLike | None = None,
    step: TensorLike | None = None,
    dtype: DTypeLike = None,
) -> Tensor:
    """Return evenly spaced numbers from ``start`` up to, but not including, ``stop``.

    With one number, it is ``stop`` and the start is 0. The dtype is int32 if all numbers are
    integers, else float32, unless ``dtype`` is given.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.arange(1, 7, 2).tolist()
        [1, 3, 5]
    """
    step = 1 if step is None else step
    numbers = [number for number in (start, stop, step) if number is not None]
    are_integers = all(map(is_integer, numbers))
    result_dtype = storage_dtype(dtype, int32 if are_integers else float32)
    return wt.arange(start, stop, step, dtype=result_dtype)


def _filled(fill: Callable[..., Tensor]) -> Row:
    def filled(shape: int | Sequence[int], dtype: DTypeLike = None) -> Tensor:
        return fill(shape, storage_dtype(dtype))

    return plain(filled)


def _filled_like(fill: Callable[..., Tensor]) -> Row:
    def filled(x: TensorLike, dtype: DTypeLike = None) -> Tensor:
        x = wt.asarray(x)
        return fill(x, storage_dtype(dtype, x.dtype))

    return elementwise(filled, "dtype")


def _full(shape: int | Sequence[int], fill_value: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Return a tensor of the given shape, filled with ``fill_value``, which is broadcast.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.full((2, 2), 7.0).tolist()
        [[7.0, 7.0], [7.0, 7.0]]
    """
    value = wt.astype(fill_value, storage_dtype(dtype))
    return wt.broadcast_to(value, as_shape("full", shape))


def _full_like(x: TensorLike, fill_value: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Return a tensor of the shape of ``x`` filled with ``fill_value``, by default of its dtype.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.full_like([1, 2, 3], 7).tolist()
        [7, 7, 7]
    """
    x = wt.asarray(x)
    value = wt.astype(fill_value, storage_dtype(dtype, x.dtype))
    return wt.broadcast_to(value, x.shape)


def _full_like_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    return KerasTensor(args[0].shape, storage_dtype(config["dtype"], args[0].dtype))


def _eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None) -> Tensor:  # noqa: N803
    """Return a matrix of shape (N, M) with ones on the ``k``-th diagonal and zeros elsewhere.

    ``M`` is ``N`` by default, and the dtype is float32.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.eye(2, 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    return wt.eye(N, M, k=k, dtype=storage_dtype(dtype))


def _identity(n: int, dtype: DTypeLike = None) -> Tensor:
    """Return the identity matrix of shape (n, n), float32 by default.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.identity(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return wt.eye(n, dtype=storage_dtype(dtype))


def _tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None) -> Tensor:  # noqa: N803
    """Return a matrix of shape (N, M) with ones on and below the ``k``-th diagonal, zeros above.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.tri(3).tolist()
        [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    return wt.tril(wt.ones((N, N if M is None else M), storage_dtype(dtype)), k)


def _linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``.

    Without ``endpoint``, ``stop`` is left out. The numbers lie along the new axis ``axis``; with
    ``retstep`` the step is returned, too. Whole numbers are rounded down.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.linspace(0.0, 1.0, 5).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    start, stop = as_float("linspace", "start", start), as_float("linspace", "stop", stop)
    num = int(num)
    parts = num - 1 if endpoint else num
    step = wt.divide(wt.subtract(stop, start), parts) if parts > 0 else wt.full((), wt.nan)
    along = (num, *[1] * max(len(start.shape), len(stop.shape)))
    if storage_dtype(dtype) is int32:
        # A quotient that is a whole number is exact, which products with weights are not.
        steps = wt.multiply(wt.subtract(stop, start), wt.reshape(wt.arange(num), along))
        numbers = wt.floor(wt.add(start, wt.divide(steps, max(parts, 1))))
    else:
        weights = wt.reshape(wt.linspace(0.0, 1.0, num, endpoint=endpoint), along)
        numbers = wt.add(wt.multiply(start, wt.subtract(1.0, weights)), wt.multiply(stop, weights))
    numbers = wt.astype(wt.moveaxis(numbers, 0, axis) if axis else numbers, storage_dtype(dtype))
    return (numbers, step) if retstep else numbers


def _logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: TensorLike = 10,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Tensor:
    """Return ``num`` powers of ``base`` with evenly spaced exponents from ``start`` to ``stop``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.logspace(0.0, 2.0, 3).numpy().round(2)
        array([  1.,  10., 100.], dtype=float32)
    """
    exponents = _linspace(start, stop, num, endpoint, axis=axis)
    return wt.astype(wt.pow(as_float("logspace", "base", base), exponents), storage_dtype(dtype))


def _geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Tensor:
    """Return ``num`` numbers from ``start`` to ``stop`` with equal ratios.

    Without ``endpoint``, ``stop`` is left out. The numbers lie along the new axis ``axis``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.geomspace(1.0, 8.0, 4).numpy().round(3)
        array([1., 2., 4., 8.], dtype=float32)
    """
    start, stop = wt.broadcast_arrays(
        as_float("geomspace", "start", start), as_float("geomspace", "stop", stop)
    )
    sign = wt.sign(start)
    first, last = (
        wt.multiply(wt.log2(wt.multiply(bound, sign)), log10(2)) for bound in (start, stop)
    )
    magnitudes = _logspace(first, last, num, endpoint, axis=axis)
    return wt.astype(wt.multiply(magnitudes, wt.expand_dims(sign, axis)), storage_dtype(dtype))


# -- windows -----------------------------------------------------------------------------------


def _window(weights: Callable[[Tensor], Tensor]) -> Row:
    """A function of a number of samples, whose weights follow from positions from 0 to 1."""

    def window(x: TensorLike) -> Tensor:
        count = int(x)
        return weights(wt.linspace(0.0, 1.0, count)) if count > 1 else wt.ones((max(count, 0),))

    return plain(window)


def _cosines(*factors: float) -> Callable[[Tensor], Tensor]:
    def weights(positions: Tensor) -> Tensor:
        total = wt.full_like(positions, factors[0])
        for number, factor in enumerate(factors[1:], 1):
            total = wt.add(total, wt.multiply(wt.cos(positions * (2 * pi * number)), factor))
        return total

    return weights


def _bessel(x: TensorLike) -> Tensor:
    """Return the modified Bessel function of the first kind and order 0, in float32.

    The approximation is that of Abramowitz and Stegun, 9.8.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.i0([0.0, 1.0]).numpy().round(3)
        array([1.   , 1.266], dtype=float32)
    """
    x = wt.abs(as_float("i0", "x", x))
    inner = wt.square(wt.divide(wt.minimum(x, 3.75), 3.75))
    near = _polynomial(_NEAR, inner)
    far = wt.maximum(x, 3.75)
    large = wt.divide(wt.multiply(wt.exp(far), _polynomial(_FAR, 3.75 / far)), wt.sqrt(far))
    return wt.where(wt.less_equal(x, 3.75), near, large)


_NEAR = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
_FAR = (
    0.39894228,
    0.01328592,
    0.00225319,
    -0.00157565,
    0.00916281,
    -0.02057706,
    0.02635537,
    -0.01647633,
    0.00392377,
)


def _polynomial(factors: tuple[float, ...], x: TensorLike) -> Tensor:
    """``f₀ + f₁x + f₂x² + …``."""
    total = wt.full_like(x, factors[-1])
    for factor in reversed(factors[:-1]):
        total = wt.add(wt.multiply(total, x), factor)
    return total


def _kaiser(x: TensorLike, beta: float) -> Tensor:
    """Return the Kaiser window of ``x`` samples and shape parameter ``beta``, as float32 (x,).

    Example:
        >>> from webtensor import keras
        >>> keras.ops.kaiser(3, 5.0).numpy().round(3)
        array([0.037, 1.   , 0.037], dtype=float32)
    """
    count = int(x)
    if count < 2:
        return wt.ones((max(count, 0),))
    positions = wt.linspace(-1.0, 1.0, count)
    heights = wt.sqrt(wt.maximum(1 - wt.square(positions), 0.0))
    return wt.divide(_bessel(heights * float(beta)), _bessel(float(beta)))


ROWS: dict[str, Row] = {
    "arange": plain(_arange),
    "array": op(_array, "dtype"),
    "bartlett": _window(lambda positions: 1 - wt.abs(2 * positions - 1)),
    "blackman": _window(_cosines(0.42, -0.5, 0.08)),
    "empty": _filled(wt.zeros),
    "empty_like": _filled_like(wt.zeros_like),
    "eye": plain(_eye),
    "full": plain(_full),
    "full_like": op(_full_like, "dtype", spec=_full_like_spec),
    "geomspace": op(_geomspace, "num endpoint dtype axis"),
    "hamming": _window(_cosines(0.54, -0.46)),
    "hanning": _window(_cosines(0.5, -0.5)),
    "i0": elementwise(_bessel, names="x"),
    "identity": plain(_identity),
    "kaiser": plain(_kaiser),
    "linspace": op(_linspace, "num endpoint retstep dtype axis"),
    "logspace": op(_logspace, "num endpoint base dtype axis"),
    "ones": _filled(wt.ones),
    "ones_like": _filled_like(wt.ones_like),
    "tri": plain(_tri),
    "zeros": _filled(wt.zeros),
    "zeros_like": _filled_like(wt.zeros_like),
}
