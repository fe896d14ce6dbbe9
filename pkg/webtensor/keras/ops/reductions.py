"""Reductions along axes: sums, maxima and minima, statistics; in Keras's module ``numpy``."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import bool_, complex64, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import check_positive
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.ops.elementwise import isclose
from webtensor.keras.ops.operations import Arguments, Computation, Row, op, reduction
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Axis, Config, DTypeLike
from webtensor.ops.casting import as_float
from webtensor.shapes import normalize_axes, normalize_axis

__all__ = ["ROWS"]


def _with_axis(reduce: Callable[..., Tensor]) -> Row:
    """A function of ``x`` along ``axis``."""
    name = reduce.__name__

    def reduced(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
        return reduce(x, axis=_tuple(axis), keepdims=keepdims)

    reduced.__name__ = name
    return reduction(reduced, "axis keepdims")


def _tuple(axis: Axis) -> Axis:
    """Return a list of axes as a tuple, since tuples have become lists in JSON."""
    return tuple(axis) if isinstance(axis, list) else axis


def _count(x: Tensor, axis: Axis) -> int:
    """Return the number of elements that are reduced to one."""
    return prod(x.shape[i] for i in normalize_axes("reduction", axis, len(x.shape)))


def _folded(x: Tensor, axis: Axis, keepdims: bool) -> tuple[Tensor, tuple[int, ...]]:
    """Merge the axes to reduce into one, the last; return the shape of the result, too."""
    rank = len(x.shape)
    axes = normalize_axes("reduction", _tuple(axis), rank)
    other_axes = [i for i in range(rank) if i not in axes]
    other_sizes = [x.shape[i] for i in other_axes]
    order = [*other_axes, *axes]
    folded = wt.reshape(wt.permute_dims(x, order), (*other_sizes, _count(x, axes)))
    if not keepdims:
        return folded, tuple(other_sizes)
    return folded, tuple(1 if i in axes else x.shape[i] for i in range(rank))


# -- extremes ----------------------------------------------------------------------------------


def _extreme_of(reduce: Callable[..., Tensor], x: TensorLike, axis: Axis, keepdims: bool) -> Tensor:
    """Return a maximum or minimum in the dtype of the elements, also if that is bool."""
    result = reduce(x, axis=axis, keepdims=keepdims)
    return wt.astype(result, bool_) if x.dtype is bool_ else result


def _extreme(reduce: Callable[..., Tensor], choose: Callable[..., Tensor]) -> Row:
    def reduced(
        x: TensorLike, axis: Axis = None, keepdims: bool = False, initial: TensorLike | None = None
    ) -> Tensor:
        x, axis = wt.asarray(x), _tuple(axis)
        if initial is not None and not _count(x, axis):
            return wt.astype(wt.broadcast_to(initial, _folded(x, axis, keepdims)[1]), x.dtype)
        result = _extreme_of(reduce, x, axis, keepdims)
        return result if initial is None else wt.astype(choose(result, initial), result.dtype)

    return reduction(reduced, "axis keepdims initial")


def _plain_extreme(reduce: Callable[..., Tensor]) -> Row:
    def reduced(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
        return _extreme_of(reduce, wt.asarray(x), _tuple(axis), keepdims)

    return reduction(reduced, "axis keepdims")


def _index_of_extreme(find: Callable[..., Tensor]) -> Row:
    def reduced(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
        return find(x, axis=axis, keepdims=keepdims)

    return reduction(reduced, "axis keepdims")


def _ptp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the maximum minus the minimum along axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.ptp([[1, 5], [3, 4]], axis=1).tolist()
        [4, 1]
    """
    axis = _tuple(axis)
    return wt.subtract(wt.max(x, axis, keepdims), wt.min(x, axis, keepdims))


# -- without NaN -------------------------------------------------------------------------------


def _filled(x: TensorLike, value: TensorLike) -> Tensor:
    x = wt.asarray(x)
    return wt.where(wt.isnan(x), value, x) if x.dtype in (float32, complex64) else x


def _number_count(x: TensorLike, axis: Axis, keepdims: bool) -> Tensor:
    """Return the number of elements that are not NaN."""
    return wt.sum(wt.logical_not(wt.isnan(x)), axis=_tuple(axis), keepdims=keepdims)


def _nan_index_of_extreme(find: Callable[..., Tensor], worst: float) -> Row:
    def reduced(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
        index = find(_filled(x, worst), axis=axis, keepdims=keepdims)
        is_all_nan = wt.all(wt.isnan(x), axis=axis, keepdims=keepdims)
        return wt.where(is_all_nan, -1, index)

    return reduction(reduced, "axis keepdims")


def _nan_extreme(reduce: Callable[..., Tensor], worst: float) -> Row:
    def reduced(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
        x, axis = wt.asarray(x), _tuple(axis)
        result = _extreme_of(reduce, _filled(x, worst), axis, keepdims)
        if x.dtype is not float32:
            return result
        return wt.where(wt.all(wt.isnan(x), axis=axis, keepdims=keepdims), wt.nan, result)

    return reduction(reduced, "axis keepdims")


def _nan_mean(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the mean along axes of the elements that are not NaN.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nanmean([1.0, float("nan"), 3.0]).item()
        2.0
    """
    numbers = as_float("nanmean", "x", _filled(x, 0.0))
    return wt.sum(numbers, _tuple(axis), keepdims) / _number_count(x, axis, keepdims)


def _nan_var(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the variance along axes of the elements that are not NaN.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nanvar([1.0, float("nan"), 3.0]).item()
        1.0
    """
    deviations = wt.where(wt.isnan(x), 0.0, wt.subtract(x, _nan_mean(x, axis, True)))
    total = wt.sum(wt.square(deviations), _tuple(axis), keepdims)
    return total / _number_count(x, axis, keepdims)


def _nan_std(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the standard deviation along axes of the elements that are not NaN.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nanstd([1.0, float("nan"), 3.0]).item()
        1.0
    """
    return wt.sqrt(_nan_var(x, axis, keepdims))


def _nan_sum(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the sum along axes of the elements that are not NaN.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nansum([1.0, float("nan"), 3.0]).item()
        4.0
    """
    return wt.sum(_filled(x, 0.0), axis=_tuple(axis), keepdims=keepdims)


def _nan_prod(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the product along axes of the elements that are not NaN.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nanprod([2.0, float("nan"), 3.0]).item()
        6.0
    """
    return wt.prod(_filled(x, 1.0), axis=_tuple(axis), keepdims=keepdims)


# -- order statistics --------------------------------------------------------------------------


def _interpolated(rows: Tensor, position: Tensor, method: str) -> Tensor:
    """Interpolate sorted rows at positions that need not be integers, one for each row."""
    lower, upper = wt.floor(position), wt.ceil(position)
    check_choice("quantile", "method", method, _WEIGHTS)
    weight = _WEIGHTS[method](wt.subtract(position, lower))

    def elements_at(indices: Tensor) -> Tensor:
        index = wt.expand_dims(wt.astype(indices, int32), -1)
        return wt.squeeze(wt.take_along_axis(rows, index, axis=-1), -1)

    first, second = elements_at(lower), elements_at(upper)
    # An infinite element times a weight of 0 is NaN.
    interpolated = first * (1 - weight) + wt.where(wt.equal(weight, 0), 0.0, second * weight)
    is_second = wt.logical_or(wt.equal(weight, 1), wt.equal(first, second))
    return wt.where(is_second, second, interpolated)


#: The weight of the upper element, from the fraction of the position.
_WEIGHTS: dict[str, Callable[[Tensor], Tensor]] = {
    "higher": wt.ceil,
    "linear": lambda fraction: fraction,
    "lower": wt.zeros_like,
    "midpoint": lambda fraction: wt.multiply(wt.ceil(fraction), 0.5),
    "nearest": wt.round,
}


def _quantiles(
    x: TensorLike, q: TensorLike, axis: Axis, method: str, keepdims: bool, is_nan_skipped: bool
) -> Tensor:
    x = as_float("quantile", "x", x)
    rows, shape = _folded(x, axis, keepdims)
    if not rows.shape[-1]:
        raise ValueError(f"there are no elements to reduce in x of shape {x.shape}")
    # Sorting puts NaN last.
    rows = wt.sort(rows)
    is_nan = wt.isnan(rows)
    q = as_float("quantile", "q", q)
    if len(q.shape) > 1:
        raise ValueError(f"quantile: q must be a number or a list, but has shape {q.shape}")
    q = wt.where(wt.equal(q, wt.clip(q, 0.0, 1.0)), q, wt.nan)
    if is_nan_skipped:
        count = wt.sum(wt.logical_not(is_nan), axis=-1)
    else:
        count = wt.full(rows.shape[:-1], rows.shape[-1], int32)
    last = wt.maximum(wt.subtract(count, 1), 0)
    has_nan = wt.equal(count, 0) if is_nan_skipped else wt.any(is_nan, axis=-1)
    quantiles = []
    for fraction in wt.unstack(q) if q.shape else [q]:
        position = wt.multiply(fraction, wt.astype(last, float32))
        quantile = _interpolated(rows, position, method)
        is_undefined = wt.logical_or(has_nan, wt.isnan(fraction))
        quantiles.append(wt.reshape(wt.where(is_undefined, wt.nan, quantile), shape))
    return wt.stack(quantiles) if q.shape else quantiles[0]


def _quantile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the ``q``-th quantiles along axes, in float32; ``q`` is from 0 to 1.

    With several ``q``, they are along a new first axis. ``method`` says how to interpolate:
    "linear", "lower", "higher", "midpoint" or "nearest". A ``q`` outside its range gives NaN.

    Raises:
        ValueError: the method is unknown, or there are no elements.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.quantile([1.0, 2.0, 3.0], [0.0, 0.5]).tolist()
        [1.0, 2.0]
    """
    return _quantiles(x, q, axis, method, keepdims, False)


def _percentile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the ``q``-th percentiles along axes, in float32; ``q`` is from 0 to 100.

    With several ``q``, they are along a new first axis. ``method`` says how to interpolate:
    "linear", "lower", "higher", "midpoint" or "nearest". A ``q`` outside its range gives NaN.

    Raises:
        ValueError: the method is unknown, or there are no elements.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.percentile([1.0, 2.0, 3.0], 50).item()
        2.0
    """
    return _quantiles(x, wt.divide(q, 100), axis, method, keepdims, False)


def _nan_quantile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the ``q``-th quantiles along axes of the elements that are not NaN.

    ``q`` is from 0 to 1; see ``quantile``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nanquantile([1.0, float("nan"), 3.0], 0.5).item()
        2.0
    """
    return _quantiles(x, q, axis, method, keepdims, True)


def _nan_percentile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """Return the ``q``-th percentiles along axes of the elements that are not NaN.

    ``q`` is from 0 to 100; see ``percentile``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nanpercentile([1.0, float("nan"), 3.0], 50).item()
        2.0
    """
    return _quantiles(x, wt.divide(q, 100), axis, method, keepdims, True)


def _median(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the median along axes: the middle element, or the mean of the two.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.median([[3.0, 1.0, 2.0], [4.0, 4.0, 7.0]], axis=1).tolist()
        [2.0, 4.0]
    """
    return _quantiles(x, 0.5, axis, "linear", keepdims, False)


def _nan_median(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the median along axes of the elements that are not NaN.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.nanmedian([1.0, float("nan"), 3.0]).item()
        2.0
    """
    return _quantiles(x, 0.5, axis, "linear", keepdims, True)


# -- averages, counts and integrals ------------------------------------------------------------


def _average(x: TensorLike, axis: Axis = None, weights: TensorLike | None = None) -> Tensor:
    """Return the mean along axes, weighted by ``weights`` where given.

    ``weights`` has the shape of ``x``, or of its one axis.

    Raises:
        ValueError: the weights have another shape.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.average([1.0, 4.0], weights=[3.0, 1.0]).item()
        1.75
    """
    axis = _tuple(axis)
    x = wt.asarray(x)
    if weights is None:
        return wt.mean(x, axis)
    weights = wt.asarray(weights)
    if weights.shape != x.shape:
        if not isinstance(axis, int) or weights.shape != (x.shape[axis],):
            raise ValueError(
                "average: weights must have the shape of x, or of one axis, but have shape "
                f"{weights.shape}; x has shape {x.shape} and axis is {axis}"
            )
        shape = [1] * len(x.shape)
        shape[axis] = -1
        weights = wt.reshape(weights, shape)
    total = wt.sum(wt.broadcast_to(weights, x.shape), axis)
    return wt.divide(wt.sum(wt.multiply(x, weights), axis), total)


def _count_nonzero(x: TensorLike, axis: Axis = None) -> Tensor:
    """Return the number of elements along axes that are not zero, as int32.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.count_nonzero([[0, 1], [2, 3]], axis=1).tolist()
        [1, 2]
    """
    return wt.count_nonzero(x, _tuple(axis))


def _prod(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, dtype: DTypeLike = None
) -> Tensor:
    """Return the product of the elements along axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.prod([[1, 2], [3, 4]], axis=1).tolist()
        [2, 12]
    """
    return wt.prod(x, _tuple(axis), keepdims, dtype and storage_dtype(dtype))


def _running(accumulate: Callable[..., Tensor], *, of_nan: float | None = None) -> Row:
    def accumulated(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None) -> Tensor:
        x = wt.asarray(x if of_nan is None else _filled(x, of_nan))
        if dtype is not None:
            x = wt.astype(x, storage_dtype(dtype))
        elif x.dtype is bool_:
            x = wt.astype(x, int32)
        if axis is None:
            x, axis = wt.reshape(x, (-1,)), 0
        return accumulate(x, axis)

    return op(accumulated, "axis dtype")


def _allclose(
    x1: TensorLike,
    x2: TensorLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Return, as a bool tensor of shape (), whether all elements are close, as ``isclose`` says.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.allclose([1.0, 2.0], [1.0, 2.000001]).item()
        True
    """
    return wt.all(isclose(x1, x2, rtol, atol, equal_nan))


def _bincount(
    x: TensorLike, weights: TensorLike | None = None, minlength: int = 0, sparse: bool = False
) -> Tensor:
    """Return how often each integer from 0 on occurs along the last axis, or the sums of weights.

    The result has at least ``minlength`` counts along its last axis; how many follows from the
    maximum.

    Raises:
        ValueError: ``sparse`` is true, which no backend supports.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.bincount([0, 2, 2]).tolist()
        [1, 0, 2]
    """
    if sparse:
        raise ValueError("bincount: there are no sparse tensors, so sparse must be False")
    x = wt.asarray(x)
    size = max(minlength, int(wt.max(x)) + 1 if prod(x.shape) else 0)
    if len(x.shape) == 1:
        return wt.bincount(x, weights, size)
    hits = wt.equal(wt.expand_dims(x, -1), wt.arange(size))
    if weights is None:
        return wt.sum(hits, axis=-2)
    return wt.sum(wt.multiply(hits, wt.expand_dims(weights, -1)), axis=-2)


def _bincount_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    """Infer counts, of which the elements say how many there are."""
    counts = outcome_of_trial(compute, args, {})
    return KerasTensor((*counts.shape[:-1], None), counts.dtype)


def _corrcoef(x: TensorLike) -> Tensor:
    """Return the Pearson correlation coefficients of the rows of a matrix: (m, n) becomes (m, m).

    Raises:
        ValueError: ``x`` has more than two axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.corrcoef([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]).numpy().round(3)
        array([[ 1., -1.],
               [-1.,  1.]], dtype=float32)
    """
    x = as_float("corrcoef", "x", x)
    if len(x.shape) > 2:
        raise ValueError(f"corrcoef: x must have at most two axes, but has shape {x.shape}")
    is_row = len(x.shape) < 2
    rows = wt.reshape(x, (1, -1)) if is_row else x
    rows = rows - wt.mean(rows, axis=1, keepdims=True)
    rows = rows * wt.rsqrt(wt.sum(wt.square(rows), axis=1, keepdims=True))
    coefficients = wt.clip(wt.matmul(rows, rows, transpose_b=True), -1.0, 1.0)
    return wt.reshape(coefficients, ()) if is_row else coefficients


def _trapezoid(
    y: TensorLike, x: TensorLike | None = None, dx: float = 1.0, axis: int = -1
) -> Tensor:
    """Return the integral of sampled values along an axis by the trapezoidal rule, in float32.

    The samples are at ``x``, or at distances ``dx``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.trapezoid([1.0, 2.0, 3.0]).item()
        4.0
    """
    y = as_float("trapezoid", "y", y)
    axis = normalize_axis("trapezoid", axis, len(y.shape))
    rows = wt.moveaxis(y, axis, -1)
    if x is None:
        widths: Any = dx
    else:
        x = wt.asarray(x)
        widths = wt.diff(wt.moveaxis(x, axis, -1) if len(x.shape) > 1 else x)
    heights = wt.add(rows[..., 1:], rows[..., :-1])
    return wt.sum(wt.multiply(heights, widths), axis=-1) * 0.5


def _histogram(x: TensorLike, bins: int = 10, range: Any = None) -> tuple[Tensor, Tensor]:
    """Return how many elements are in each of ``bins`` bins of the same width, and the bins' edges.

    ``x`` has one axis; the counts are float32 (bins,), the edges (bins + 1,). ``range`` is the
    pair of the first and the last edge, by default the minimum and the maximum.

    Raises:
        ValueError: ``x`` has more axes than one, ``bins`` is not positive, or the range is
            reversed.

    Example:
        >>> from webtensor import keras
        >>> counts, edges = keras.ops.histogram([1.0, 2.0, 2.5, 5.0], bins=2)
        >>> counts.tolist(), edges.tolist()
        ([3.0, 1.0], [1.0, 3.0, 5.0])
    """
    check_positive("histogram", bins=bins)
    x = as_float("histogram", "x", x)
    if len(x.shape) != 1:
        raise ValueError(f"histogram: x must have one axis, but its shape is {x.shape}")
    low, high = range or (float(wt.min(x)), float(wt.max(x)))
    if low > high:
        raise ValueError(f"histogram: range must be (low, high), but got {tuple(range)}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = wt.linspace(low, high, bins + 1)
    is_inside = wt.logical_and(wt.greater_equal(x, low), wt.less_equal(x, high))
    indices = wt.searchsorted(edges, x, side="right") - 1
    indices = wt.where(is_inside, wt.clip(indices, 0, bins - 1), bins)
    return wt.astype(wt.bincount(indices, size=bins + 1)[:bins], float32), edges


ROWS: dict[str, Row] = {
    # -- sums and extremes ---------------------------------------------------------------------
    "all": _with_axis(wt.all),
    "allclose": op(_allclose, "rtol atol equal_nan", class_name="AllClose"),
    "amax": _plain_extreme(wt.max),
    "amin": _plain_extreme(wt.min),
    "any": _with_axis(wt.any),
    "argmax": _index_of_extreme(wt.argmax),
    "argmin": _index_of_extreme(wt.argmin),
    "average": op(_average, "axis", keywords="weights"),
    "bincount": op(_bincount, "weights minlength sparse", spec=_bincount_spec),
    "corrcoef": op(_corrcoef),
    "count_nonzero": reduction(_count_nonzero, "axis"),
    "cumprod": _running(wt.cumprod),
    "cumsum": _running(wt.cumsum),
    "histogram": op(_histogram, "bins range"),
    "max": _extreme(wt.max, wt.maximum),
    "mean": _with_axis(wt.mean),
    "median": reduction(_median, "axis keepdims"),
    "min": _extreme(wt.min, wt.minimum),
    "percentile": op(_percentile, "axis method keepdims"),
    "prod": reduction(_prod, "axis keepdims dtype"),
    "ptp": reduction(_ptp, "axis keepdims"),
    "quantile": op(_quantile, "axis method keepdims"),
    "std": _with_axis(wt.std),
    "sum": _with_axis(wt.sum),
    "trapezoid": op(_trapezoid, "x dx axis"),
    "var": _with_axis(wt.var),
    # -- without NaN ---------------------------------------------------------------------------
    "nanargmax": _nan_index_of_extreme(wt.argmax, -wt.inf),
    "nanargmin": _nan_index_of_extreme(wt.argmin, wt.inf),
    "nancumprod": _running(wt.cumprod, of_nan=1.0),
    "nancumsum": _running(wt.cumsum, of_nan=0.0),
    "nanmax": _nan_extreme(wt.max, -wt.inf),
    "nanmean": reduction(_nan_mean, "axis keepdims"),
    "nanmedian": reduction(_nan_median, "axis keepdims"),
    "nanmin": _nan_extreme(wt.min, wt.inf),
    "nanpercentile": op(_nan_percentile, "axis method keepdims"),
    "nanprod": reduction(_nan_prod, "axis keepdims"),
    "nanquantile": op(_nan_quantile, "axis method keepdims"),
    "nanstd": reduction(_nan_std, "axis keepdims"),
    "nansum": reduction(_nan_sum, "axis keepdims"),
    "nanvar": reduction(_nan_var, "axis keepdims"),
}
