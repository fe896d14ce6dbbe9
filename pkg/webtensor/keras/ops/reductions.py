"""Functions along axes: sums, extremes, statistics; in Keras's module ``numpy``."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import bool_, float32, int32
from webtensor.keras.dtypes import held_dtype
from webtensor.keras.ops.operations import Row, op, reduction
from webtensor.keras.types import DTypeLike
from webtensor.shapes import normalize_axes, normalize_axis

__all__ = ["ROWS"]


def _with_axis(reduce: Callable[..., Any]) -> Row:
    """A function of ``x`` along ``axis``."""
    name = reduce.__name__

    def reduced(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return reduce(x, axis=_tuple(axis), keepdims=keepdims)

    reduced.__name__ = name
    return reduction(reduced, "axis keepdims", doc=reduce.__doc__)


def _tuple(axis: Any) -> Any:
    """Axes as numbers or tuples; JSON has made lists of tuples."""
    return tuple(axis) if isinstance(axis, list) else axis


def _count(x: Any, axis: Any) -> int:
    """How many elements are reduced to one."""
    return prod(x.shape[one] for one in normalize_axes("reduction", axis, len(x.shape)))


def _folded(x: Any, axis: Any, keepdims: bool) -> tuple[Any, tuple[int, ...]]:
    """The elements with the axes to reduce as one, the last; and the shape of the result."""
    rank = len(x.shape)
    axes = normalize_axes("reduction", _tuple(axis), rank)
    kept = [one for one in range(rank) if one not in axes]
    lengths = [x.shape[one] for one in kept]
    folded = wt.reshape(wt.permute_dims(x, [*kept, *axes]), (*lengths, _count(x, axes)))
    shape = [1 if one in axes else x.shape[one] for one in range(rank)] if keepdims else lengths
    return folded, tuple(shape)


# -- extremes ----------------------------------------------------------------------------------


def _chosen(reduce: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """An extreme, which is one of the elements: of truth values one of these."""
    found = reduce(x, axis=axis, keepdims=keepdims)
    return wt.astype(found, bool_) if x.dtype is bool_ else found


def _extreme(reduce: Any, choose: Any) -> Row:
    def reduced(x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        x, axis = wt.asarray(x), _tuple(axis)
        if initial is not None and not _count(x, axis):
            return wt.astype(wt.broadcast_to(initial, _folded(x, axis, keepdims)[1]), x.dtype)
        found = _chosen(reduce, x, axis, keepdims)
        return found if initial is None else wt.astype(choose(found, initial), found.dtype)

    return reduction(reduced, "axis keepdims initial", doc=reduce.__doc__)


def _plain_extreme(reduce: Any) -> Row:
    def reduced(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return _chosen(reduce, wt.asarray(x), _tuple(axis), keepdims)

    return reduction(reduced, "axis keepdims", doc=reduce.__doc__)


def _place(find: Any) -> Row:
    def found(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        return find(x, axis=axis, keepdims=keepdims)

    return reduction(found, "axis keepdims", doc=find.__doc__)


def _ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The greatest element less the least."""
    axis = _tuple(axis)
    return wt.subtract(wt.max(x, axis, keepdims), wt.min(x, axis, keepdims))


# -- without NaN -------------------------------------------------------------------------------


def _filled(x: Any, value: Any) -> Any:
    x = wt.asarray(x)
    return wt.where(wt.isnan(x), value, x) if x.dtype is float32 else x


def _numbers(x: Any, axis: Any, keepdims: bool) -> Any:
    """How many elements are numbers."""
    return wt.sum(wt.logical_not(wt.isnan(x)), axis=_tuple(axis), keepdims=keepdims)


def _nan_place(find: Any, worst: float) -> Row:
    def found(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        """The place of an extreme among numbers; -1 where all are NaN."""
        place = find(_filled(x, worst), axis=axis, keepdims=keepdims)
        has_none = wt.all(wt.isnan(x), axis=axis, keepdims=keepdims)
        return wt.where(has_none, -1, place)

    return reduction(found, "axis keepdims")


def _nan_extreme(reduce: Any, worst: float) -> Row:
    def reduced(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """An extreme among numbers; NaN where there are none."""
        x, axis = wt.asarray(x), _tuple(axis)
        found = _chosen(reduce, _filled(x, worst), axis, keepdims)
        if x.dtype is not float32:
            return found
        return wt.where(wt.all(wt.isnan(x), axis=axis, keepdims=keepdims), wt.nan, found)

    return reduction(reduced, "axis keepdims")


def _nan_mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of numbers."""
    total = wt.sum(_filled(x, 0.0), axis=_tuple(axis), keepdims=keepdims)
    return wt.divide(total, _numbers(x, axis, keepdims))


def _nan_var(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance of numbers."""
    return _nan_mean(wt.square(wt.subtract(x, _nan_mean(x, axis, True))), axis, keepdims)


def _nan_std(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The standard deviation of numbers."""
    return wt.sqrt(_nan_var(x, axis, keepdims))


def _nan_sum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum of numbers."""
    return wt.sum(_filled(x, 0.0), axis=_tuple(axis), keepdims=keepdims)


def _nan_prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product of numbers."""
    return wt.prod(_filled(x, 1.0), axis=_tuple(axis), keepdims=keepdims)


# -- order statistics --------------------------------------------------------------------------


def _interpolated(x: Any, place: Any, method: str) -> Any:
    """Elements of sorted rows at places that need not be whole; one place per row."""
    low, high = wt.floor(place), wt.ceil(place)
    if method not in _WEIGHTS:
        raise ValueError(f"quantile: method must be one of {sorted(_WEIGHTS)}, but got {method!r}")
    weight = _WEIGHTS[method](wt.subtract(place, low))

    def at(places: Any) -> Any:
        index = wt.expand_dims(wt.astype(places, int32), -1)
        return wt.squeeze(wt.take_along_axis(x, index, axis=-1), -1)

    first, second = at(low), at(high)
    between = wt.add(first, wt.multiply(wt.subtract(second, first), weight))
    # The difference of infinities is no number.
    return wt.where(wt.equal(first, second), first, between)


_WEIGHTS: dict[str, Callable[[Any], Any]] = {
    "higher": wt.ceil,
    "linear": lambda part: part,
    "lower": wt.zeros_like,
    "midpoint": lambda part: wt.multiply(wt.ceil(part), 0.5),
    "nearest": wt.round,
}


def _quantiles(x: Any, q: Any, axis: Any, method: str, keepdims: bool, is_nan_skipped: bool) -> Any:
    x = wt.astype(wt.asarray(x), float32)
    rows, shape = _folded(x, axis, keepdims)
    if not rows.shape[-1]:
        raise ValueError(f"there are no elements to reduce in x of shape {x.shape}")
    # Sorting puts NaN last.
    rows = wt.sort(rows)
    is_nan = wt.isnan(rows)
    q = wt.astype(wt.asarray(q), float32)
    if len(q.shape) > 1:
        raise ValueError(f"quantile: q must be a number or a list, but has shape {q.shape}")
    if is_nan_skipped:
        count = wt.sum(wt.logical_not(is_nan), axis=-1)
    else:
        count = wt.full(rows.shape[:-1], rows.shape[-1], int32)
    last = wt.maximum(wt.subtract(count, 1), 0)
    has_nan = wt.equal(count, 0) if is_nan_skipped else wt.any(is_nan, axis=-1)
    found = []
    for one in wt.unstack(q) if q.shape else [q]:
        made = _interpolated(rows, wt.multiply(one, wt.astype(last, float32)), method)
        found.append(wt.reshape(wt.where(has_nan, wt.nan, made), shape))
    return wt.stack(found) if q.shape else found[0]


def _quantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """The values below which the parts ``q`` of the elements are."""
    return _quantiles(x, q, axis, method, keepdims, False)


def _percentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """The values below which ``q`` percent of the elements are."""
    return _quantiles(x, wt.divide(q, 100), axis, method, keepdims, False)


def _nan_quantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """The values below which the parts ``q`` of the numbers are."""
    return _quantiles(x, q, axis, method, keepdims, True)


def _nan_percentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Any:
    """The values below which ``q`` percent of the numbers are."""
    return _quantiles(x, wt.divide(q, 100), axis, method, keepdims, True)


def _median(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The middle element, or the mean of the two."""
    return _quantiles(x, 0.5, axis, "linear", keepdims, False)


def _nan_median(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The middle number, or the mean of the two."""
    return _quantiles(x, 0.5, axis, "linear", keepdims, True)


# -- the rest ----------------------------------------------------------------------------------


def _average(x: Any, axis: Any = None, weights: Any = None) -> Any:
    """The mean, weighted where there are weights."""
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
        lengths = [1] * len(x.shape)
        lengths[axis] = -1
        weights = wt.reshape(weights, lengths)
    total = wt.sum(wt.broadcast_to(weights, x.shape), axis)
    return wt.divide(wt.sum(wt.multiply(x, weights), axis), total)


def _count_nonzero(x: Any, axis: Any = None) -> Any:
    """How many elements are not zero."""
    return wt.count_nonzero(x, _tuple(axis))


def _prod(x: Any, axis: Any = None, keepdims: bool = False, dtype: DTypeLike = None) -> Any:
    """The product."""
    return wt.prod(x, _tuple(axis), keepdims, dtype and held_dtype(dtype))


def _running(accumulate: Any, *, of_nan: float | None = None) -> Row:
    def accumulated(x: Any, axis: int | None = None, dtype: DTypeLike = None) -> Any:
        x = wt.asarray(x if of_nan is None else _filled(x, of_nan))
        if dtype is not None:
            x = wt.astype(x, held_dtype(dtype))
        elif x.dtype is bool_:
            x = wt.astype(x, int32)
        if axis is None:
            x, axis = wt.reshape(x, (-1,)), 0
        return accumulate(x, axis)

    return op(accumulated, "axis dtype", doc=accumulate.__doc__)


def _allclose(
    x1: Any, x2: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether all elements differ by no more than ``atol + rtol * |x2|``."""
    from webtensor.keras.ops.elementwise import _isclose

    return wt.all(_isclose(x1, x2, rtol, atol, equal_nan))


def _bincount(x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Any:
    """How often each number occurs in each row; the lengths follow from the elements."""
    if sparse:
        raise ValueError("bincount: there are no sparse tensors, so sparse must be False")
    x = wt.asarray(x)
    length = max(minlength, int(wt.max(x)) + 1 if prod(x.shape) else 0)
    if len(x.shape) == 1:
        return wt.bincount(x, weights, length)
    hits = wt.equal(wt.expand_dims(x, -1), wt.arange(length))
    if weights is None:
        return wt.sum(hits, axis=-2)
    return wt.sum(wt.multiply(hits, wt.expand_dims(weights, -1)), axis=-2)


def _corrcoef(x: Any) -> Any:
    """How rows correlate."""
    x = wt.astype(wt.asarray(x), float32)
    if len(x.shape) > 2:
        raise ValueError(f"corrcoef: x must have at most two axes, but has shape {x.shape}")
    is_row = len(x.shape) < 2
    rows = wt.reshape(x, (1, -1)) if is_row else x
    rows = rows - wt.mean(rows, axis=1, keepdims=True)
    rows = rows * wt.rsqrt(wt.sum(wt.square(rows), axis=1, keepdims=True))
    found = wt.clip(wt.matmul(rows, rows, transpose_b=True), -1.0, 1.0)
    return wt.reshape(found, ()) if is_row else found


def _trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral of a curve that is straight between points."""
    y = wt.astype(wt.asarray(y), float32)
    axis = normalize_axis("trapezoid", axis, len(y.shape))
    rows = wt.moveaxis(y, axis, -1)
    if x is None:
        widths: Any = dx
    else:
        x = wt.asarray(x)
        widths = wt.diff(wt.moveaxis(x, axis, -1) if len(x.shape) > 1 else x)
    heights = wt.add(rows[..., 1:], rows[..., :-1])
    return wt.sum(wt.multiply(heights, widths), axis=-1) * 0.5


def _histogram(x: Any, bins: int = 10, range: Any = None) -> Any:
    """How many elements are in each of the bins, and where these begin and end."""
    if not isinstance(bins, int) or bins < 1:
        raise ValueError(f"histogram: bins must be a positive integer, but got {bins!r}")
    x = wt.astype(wt.asarray(x), float32)
    if len(x.shape) != 1:
        raise ValueError(f"histogram: x must have one axis, but its shape is {x.shape}")
    low, high = range or (float(wt.min(x)), float(wt.max(x)))
    if low > high:
        raise ValueError(f"histogram: range must be (low, high), but got {tuple(range)}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = wt.linspace(low, high, bins + 1)
    is_inside = wt.logical_and(wt.greater_equal(x, low), wt.less_equal(x, high))
    place = wt.searchsorted(edges, x, side="right") - 1
    place = wt.where(is_inside, wt.clip(place, 0, bins - 1), bins)
    return wt.astype(wt.bincount(place, size=bins + 1)[:bins], float32), edges


ROWS: dict[str, Row] = {
    # -- sums and extremes ---------------------------------------------------------------------
    "all": _with_axis(wt.all),
    "allclose": op(_allclose, "rtol atol equal_nan", kind="AllClose"),
    "amax": _plain_extreme(wt.max),
    "amin": _plain_extreme(wt.min),
    "any": _with_axis(wt.any),
    "argmax": _place(wt.argmax),
    "argmin": _place(wt.argmin),
    "average": op(_average, "axis", keywords="weights"),
    "bincount": op(_bincount, "weights minlength sparse"),
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
    "nanargmax": _nan_place(wt.argmax, -wt.inf),
    "nanargmin": _nan_place(wt.argmin, wt.inf),
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
