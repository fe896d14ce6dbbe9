"""Reductions along axes: sum, mean, max, min, prod, any, all, argmax, argmin.

A reduction over several axes runs once per group of adjacent axes, so kernels only ever see a
tensor as (outer, reduced, inner). Over no elements, sums give 0, products 1, ``any`` False and
``all`` True; the others raise ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from webtensor.dtypes import DType, as_dtype, bool_, complex64, float32, int32, string_
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, backend, planned, run
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.creation import full
from webtensor.ops.movement import concat, reshape
from webtensor.shapes import (
    Shape,
    axis_group,
    normalize_axes,
    normalize_axis,
    prod as _prod,
    reduced_shape,
)

__all__ = ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "sum"]

Axis = int | Sequence[int] | None

# -- gradients: attributes are (kind, outer, reduced, inner) ------------------------------------


def _sum_gradient(dy: Tensor, y: Tensor, x: Tensor, kind: str, *group: int) -> Tensor:
    outer, reduced, inner = group
    return dy.reshape((outer, 1, inner)).broadcast_to((outer, reduced, inner)).reshape(x.shape)  # type: ignore[no-any-return]


def _mean_gradient(dy: Tensor, y: Tensor, x: Tensor, kind: str, *group: int) -> Tensor:
    return _sum_gradient(dy / float(group[1]), y, x, kind, *group)


def _extremum_gradient(dy: Tensor, y: Tensor, x: Tensor, kind: str, *group: int) -> Tensor:
    """Divide the gradient evenly among the elements that equal the extremum."""
    outer, _, inner = group
    is_extremum = cast_to(x.reshape(group) == y.reshape((outer, 1, inner)), float32)
    share = dy.reshape((outer, 1, inner)) / is_extremum.sum(1, keepdims=True)
    return (is_extremum * share).reshape(x.shape)  # type: ignore[no-any-return]


def _prod_gradient(dy: Tensor, y: Tensor, x: Tensor, kind: str, *group: int) -> Tensor:
    """Multiply the gradient by the products of the elements before and behind each element."""
    outer, _, inner = group
    grouped = x.reshape(group)
    before, behind = (grouped.cumprod(1, True, reverse) for reverse in (False, True))
    return (before * behind * dy.reshape((outer, 1, inner))).reshape(x.shape)  # type: ignore[no-any-return]


_SUM = Primitive("sum", kernel="reduce", gradients=(_sum_gradient,))
#: Only for devices of 16-bit floats, where means are within range, and sums often are not.
_MEAN = Primitive("mean", kernel="reduce", gradients=(_mean_gradient,))
_PROD = Primitive("prod", kernel="reduce", gradients=(_prod_gradient,))
_MAX = Primitive("max", kernel="reduce", gradients=(_extremum_gradient,))
_MIN = Primitive("min", kernel="reduce", gradients=(_extremum_gradient,))
_ANY = Primitive("any", kernel="reduce")
_ALL = Primitive("all", kernel="reduce")
_ARGMAX = Primitive("argmax", kernel="arg_reduce")
_ARGMIN = Primitive("argmin", kernel="arg_reduce")

#: The results over no elements; other reductions have none.
_IDENTITIES: dict[str, float] = {"sum": 0, "prod": 1, "any": False, "all": True}


def _reduce(
    primitive: Primitive, x: TensorLike, axis: Axis, keepdims: bool, dtype: DType | None = None
) -> Tensor:
    """Reduce ``x``, one group of adjacent axes at a time."""
    name = primitive.name
    operand = x = as_operand(name, x)
    if x.dtype is string_:
        raise TypeError(f"{name}: string operands are not supported")
    if x.dtype is complex64 and dtype is None:
        return _reduce_complex(primitive, x, axis, keepdims)
    if x.dtype is bool_ and dtype is None:
        dtype = int32
    if dtype is not None:
        x = cast_to(x, dtype)
    plan = _cached_plan if axis is None or type(axis) is int else _plan
    result_shape, steps = plan(name, x.shape, axis, keepdims)
    if x.size == 0:
        if name not in _IDENTITIES and _prod(result_shape):
            raise ValueError(f"{name}: no elements to reduce (x.shape={x.shape}, axis={axis})")
        return full(result_shape, _IDENTITIES.get(name, 0), x.dtype)
    for shape, group in steps:
        if group[1] == 1:
            x = reshape(x, shape)
        else:
            x = run(primitive, (x,), shape, x.dtype, name, *group)
    return x if x.shape == result_shape and x is not operand else reshape(x, result_shape)


class _Plan(NamedTuple):
    """The shape of a reduction's result, and each step's shape and (outer, reduced, inner)."""

    shape: Shape
    steps: list[tuple[Shape, tuple[int, int, int]]]


def _plan(name: str, shape: Shape, axis: Axis, keepdims: bool) -> _Plan:
    """Plan a reduction, the last axes first."""
    axes = normalize_axes(name, axis, len(shape))
    result_shape = reduced_shape(shape, axes, keepdims)
    steps = []
    for first, last in reversed(_adjacent(axes)):
        group = axis_group(shape, first, last)
        shape = shape[:first] + shape[last + 1 :]
        steps.append((shape, group))
    return _Plan(result_shape, steps)


#: For axes that are equal only if they mean the same: True equals 1, but is an error.
_cached_plan = lru_cache(1024)(_plan)


def _reduce_complex(primitive: Primitive, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Sum real and imaginary parts; multiply complex numbers by halves."""
    axes = normalize_axes(primitive.name, axis, len(x.shape))
    if primitive in (_SUM, _MEAN):
        return from_pairs(_reduce(primitive, as_pairs(x), axes, keepdims))
    if primitive is not _PROD:
        raise TypeError(f"{primitive.name}: complex64 is not ordered")
    result_shape = reduced_shape(x.shape, axes, keepdims)
    if x.size == 0:
        return full(result_shape, 1, x.dtype)
    order = (*axes, *(index for index in range(len(x.shape)) if index not in axes))
    factors = x.permute_dims(order).reshape((-1, *reduced_shape(x.shape, axes, False)))
    while factors.shape[0] > 1:
        half = factors.shape[0] // 2
        odd = factors[2 * half :]
        factors = factors[:half] * factors[half : 2 * half]
        if odd.shape[0]:
            factors = concat([factors[:-1], factors[-1:] * odd])
    return reshape(factors, result_shape)


def _adjacent(axes: Sequence[int]) -> list[tuple[int, int]]:
    """Group sorted axes into runs of adjacent axes, as (first, last)."""
    runs = []
    for _, adjacent in groupby(enumerate(axes), key=lambda pair: pair[1] - pair[0]):
        members = [axis for _, axis in adjacent]
        runs.append((members[0], members[-1]))
    return runs


def _converted(name: str, x: TensorLike, dtype: Any) -> TensorLike:
    return x if dtype is None else cast_to(as_operand(name, x), as_dtype(dtype))


@planned
def sum(x: TensorLike, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Sum of the elements along ``axis`` (all axes by default); bool is summed as int32.

    With ``dtype``, they are converted first.

    The result is float32, int32 or complex64. It lacks the axes, or has them of size 1 with
    ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.sum([[1, 2], [3, 4]], axis=0).tolist()
        [4, 6]
    """
    return _reduce(_SUM, _converted("sum", x, dtype), axis, keepdims)


def divided_sum(x: Tensor, axis: Axis, keepdims: bool, count: int, divisor: float) -> Tensor:
    """Sums of ``count`` elements each along ``axis``, divided by ``divisor``.

    On devices of 16-bit floats, where sums could overflow, they are computed from means.
    """
    if backend().float_format == "f":
        return sum(x, axis, keepdims) / divisor
    average = _reduce(_MEAN, x, axis, keepdims) if count else sum(x, axis, keepdims)
    return average if divisor == count else average / (divisor / (count or 1))


@planned
def prod(x: TensorLike, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Product of the elements along ``axis`` (all axes by default).

    With ``dtype``, they are converted first.

    The result is float32, int32 or complex64. It lacks the axes, or has them of size 1 with
    ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.prod([[1, 2], [3, 4]]).tolist()
        24
    """
    return _reduce(_PROD, _converted("prod", x, dtype), axis, keepdims)


@planned
def mean(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean along ``axis`` (all axes by default), as float32; NaN over no elements.

    The result is complex64 for complex64. It lacks the axes, or has them of size 1 with
    ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.mean([[1, 2], [3, 4]]).tolist()
        2.5
    """
    x = as_operand("mean", x)
    axes = normalize_axes("mean", axis, len(x.shape))
    count = _prod([x.shape[dimension] for dimension in axes])
    if x.dtype is not complex64:
        x = cast_to(x, float32)
    return divided_sum(x, axis, keepdims, count, float(count))


@planned
def max(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Maximum along ``axis`` (all axes by default); NaN where an element is NaN.

    The gradient is shared evenly among equal maxima.

    The result is float32 or int32, as ``x`` is. It lacks the axes, or has them of size 1 with
    ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.
        ValueError: ``axis`` is out of range, or there are no elements.

    Example:
        >>> import webtensor as wt
        >>> wt.max([[1, 2], [3, 4]], axis=1).tolist()
        [2, 4]
    """
    return _reduce(_MAX, x, axis, keepdims)


@planned
def min(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Minimum along ``axis`` (all axes by default); NaN where an element is NaN.

    The gradient is shared evenly among equal minima.

    The result is float32 or int32, as ``x`` is. It lacks the axes, or has them of size 1 with
    ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.
        ValueError: ``axis`` is out of range, or there are no elements.

    Example:
        >>> import webtensor as wt
        >>> wt.min([[1, 2], [3, 4]], axis=1).tolist()
        [1, 3]
    """
    return _reduce(_MIN, x, axis, keepdims)


@planned
def any(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether any element along ``axis`` (all axes by default) is true.

    The result is bool. It lacks the axes, or has them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.any([[True, False], [False, False]], axis=1).tolist()
        [True, False]
    """
    return _reduce(_ANY, x, axis, keepdims, bool_)


@planned
def all(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along ``axis`` (all axes by default) are true.

    The result is bool. It lacks the axes, or has them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.all([[True, True], [False, True]], axis=1).tolist()
        [True, False]
    """
    return _reduce(_ALL, x, axis, keepdims, bool_)


def _arg_reduce(primitive: Primitive, x: TensorLike, axis: int | None, keepdims: bool) -> Tensor:
    name = primitive.name
    x = as_operand(name, x)
    if x.dtype is complex64:
        raise TypeError(f"{name}: complex64 is not ordered")
    if x.dtype is bool_:
        x = cast_to(x, int32)
    first, last = 0, len(x.shape) - 1
    if axis is not None:
        first = last = normalize_axis(name, axis, len(x.shape))
    group = axis_group(x.shape, first, last)
    if group[1] == 0:
        raise ValueError(f"{name}: no elements to compare (x.shape={x.shape}, axis={axis})")
    result_shape = reduced_shape(x.shape, range(first, last + 1), keepdims)
    return run(primitive, (x,), result_shape, int32, name, *group)


@planned
def argmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Index of the first maximum along ``axis`` (of the flat tensor by default), int32.

    Raises:
        TypeError: ``x`` has dtype string or complex64.
        ValueError: ``axis`` is out of range, or there are no elements.

    Example:
        >>> import webtensor as wt
        >>> wt.argmax([[1, 5], [7, 3]], axis=1).tolist()
        [1, 0]
    """
    return _arg_reduce(_ARGMAX, x, axis, keepdims)


@planned
def argmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Index of the first minimum along ``axis`` (of the flat tensor by default), int32.

    Raises:
        TypeError: ``x`` has dtype string or complex64.
        ValueError: ``axis`` is out of range, or there are no elements.

    Example:
        >>> import webtensor as wt
        >>> wt.argmin([[1, 5], [7, 3]], axis=1).tolist()
        [0, 1]
    """
    return _arg_reduce(_ARGMIN, x, axis, keepdims)
