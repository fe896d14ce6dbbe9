"""Running sums and products along an axis."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import as_dtype, bool_, complex64, int32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, planned, run
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.creation import full
from webtensor.ops.movement import concat, flip, pad, reshape, slice
from webtensor.shapes import axis_group, normalize_axis

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]

# -- gradients: attributes are (kind, exclusive, reverse, outer, length, inner) -------------------


def _cumsum_gradient(
    dy: Tensor, y: Tensor, x: Tensor, kind: str, exclusive: bool, reverse: bool, *group: int
) -> Tensor:
    return run(_CUMSUM, (dy,), x.shape, x.dtype, kind, exclusive, not reverse, *group)


def _cumprod_gradient(
    dy: Tensor, y: Tensor, x: Tensor, kind: str, exclusive: bool, reverse: bool, *group: int
) -> Tensor:
    """Return the product of the elements before ``x[k]``, times those after it.

    That is a sum s[k] of products that start after ``k``, computed from its neighbour:
    s[k] = dy[k] + x[k + 1] s[k + 1]. Nothing is divided, so zeros do no harm.
    """
    before = run(_CUMPROD, (x,), x.shape, x.dtype, kind, True, reverse, *group)
    weights = _shifted(dy, not reverse, group) if exclusive else dy
    factors = _shifted(x, not reverse, group)
    return before * run(_RECURRENCE, (factors, weights), x.shape, x.dtype, not reverse, *group)


def _recurrence_by_a(
    dy: Tensor, y: Tensor, a: Tensor, b: Tensor, reverse: bool, *group: int
) -> Tensor:
    return _recurrence_by_b(dy, y, a, b, reverse, *group) * _shifted(y, reverse, group)


def _recurrence_by_b(
    dy: Tensor, y: Tensor, a: Tensor, b: Tensor, reverse: bool, *group: int
) -> Tensor:
    factors = _shifted(a, not reverse, group)
    return run(_RECURRENCE, (factors, dy), dy.shape, dy.dtype, not reverse, *group)


def _shifted(x: Tensor, reverse: bool, group: tuple[int, ...]) -> Tensor:
    """Each element's neighbour before it, in the direction of the scan; 0 for the first."""
    if not x.size:
        return x
    outer, length, inner = group
    remaining = slice(reshape(x, group), (0, int(reverse), 0), (outer, length - 1, inner))
    ends = (0, 1) if reverse else (1, 0)
    return reshape(pad(remaining, [(0, 0), ends, (0, 0)]), x.shape)


_CUMSUM: Primitive = Primitive("cumsum", kernel="scan", gradients=(_cumsum_gradient,))
_CUMPROD: Primitive = Primitive("cumprod", kernel="scan", gradients=(_cumprod_gradient,))
#: y[k] = a[k] y[k - 1] + b[k]; attributes are (reverse, outer, length, inner).
_RECURRENCE: Primitive = Primitive("recurrence", gradients=(_recurrence_by_a, _recurrence_by_b))


def _scan(
    name: str, primitive: Primitive, x: TensorLike, axis: int, exclusive: bool, reverse: bool
) -> Tensor:
    x = as_operand(name, x)
    axis = normalize_axis(name, axis, len(x.shape))
    if x.dtype is complex64:
        if primitive is _CUMPROD:
            return _complex_products(x, axis, exclusive, reverse)
        return from_pairs(_scan(name, primitive, as_pairs(x), axis, exclusive, reverse))
    x = cast_to(x, int32) if x.dtype is bool_ else x
    group = axis_group(x.shape, axis, axis)
    return run(
        primitive, (x,), x.shape, x.dtype, primitive.name, bool(exclusive), bool(reverse), *group
    )


def _complex_products(x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """Products of ever longer runs: each pass doubles their length (Hillis & Steele, 1986)."""
    if reverse:
        return flip(_complex_products(flip(x, axis), axis, exclusive, False), axis)
    length = x.shape[axis]

    def delayed(by: int) -> Tensor:
        ones = full((*x.shape[:axis], by, *x.shape[axis + 1 :]), 1, complex64)
        sizes = [length - by if index == axis else -1 for index in range(len(x.shape))]
        return concat([ones, slice(x, (0,) * len(sizes), sizes)], axis)

    if exclusive and length:
        x = delayed(1)
    run_length = 1
    while run_length < length:
        x = x * delayed(run_length)
        run_length *= 2
    return x


@planned
def cumsum(x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Sum of each element and those before it along an axis; bool is summed as int32.

    ``exclusive`` leaves the element itself out, so that the first sum is 0; ``reverse`` sums from
    the other end.

    Raises:
        ValueError: the axis is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.cumsum([1, 2, 3]).tolist(), wt.cumsum([1, 2, 3], exclusive=True).tolist()
        ([1, 3, 6], [0, 1, 3])
    """
    return _scan("cumsum", _CUMSUM, x, axis, exclusive, reverse)


@planned
def cumprod(x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Product of each element and those before it along an axis.

    ``exclusive`` leaves the element itself out, so that the first product is 1; ``reverse``
    multiplies from the other end. The gradient is exact where elements are zero.

    Raises:
        ValueError: the axis is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.cumprod([2, 3, 4], reverse=True).tolist()
        [24, 12, 4]
    """
    return _scan("cumprod", _CUMPROD, x, axis, exclusive, reverse)


def cumulative_sum(
    x: TensorLike, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running sum along an axis (array API standard).

    ``axis`` may be left out for a tensor of rank 1. ``dtype`` is what ``x`` is converted to first;
    ``include_initial`` puts a 0 in front, which makes the axis longer by one.

    Raises:
        ValueError: no axis is given and the rank is not 1, or it is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.cumulative_sum([1, 2, 3], include_initial=True).tolist()
        [0, 1, 3, 6]
    """
    return _cumulative(_CUMSUM, x, axis, dtype, include_initial)


def cumulative_prod(
    x: TensorLike, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running product along an axis (array API standard). See ``cumulative_sum``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range, or missing for a rank above 1.

    Example:
        >>> import webtensor as wt
        >>> wt.cumulative_prod([2, 3, 4]).tolist()
        [2, 6, 24]
    """
    return _cumulative(_CUMPROD, x, axis, dtype, include_initial)


#: The names of the array API standard's functions, and what a scan of nothing gives.
_CUMULATIVE = {_CUMSUM: ("cumulative_sum", 0), _CUMPROD: ("cumulative_prod", 1)}


def _cumulative(
    primitive: Primitive, x: TensorLike, axis: int | None, dtype: Any, include_initial: bool
) -> Tensor:
    name, initial = _CUMULATIVE[primitive]
    x = as_operand(name, x)
    if axis is None:
        if len(x.shape) != 1:
            raise ValueError(f"{name}: axis must be given for a tensor of rank {len(x.shape)}")
        axis = 0
    axis = normalize_axis(name, axis, len(x.shape))
    if dtype is not None:
        x = cast_to(x, as_dtype(dtype))
    result = _scan(name, primitive, x, axis, False, False)
    if not include_initial:
        return result
    first = full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), initial, result.dtype)
    return concat([first, result], axis)
