"""Statistics composed of reductions: moments, std, log_sum_exp, sums and differences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from webtensor.arguments import as_non_negative_integer, as_number
from webtensor.autodiff.tape import paused
from webtensor.dtypes import bool_, complex64, float32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, backend, planned, run
from webtensor.ops.binary import add, divide, multiply, not_equal, pow, squared_difference, subtract
from webtensor.ops.casting import cast_to
from webtensor.ops.movement import concat, reshape
from webtensor.ops.normalization import normalized
from webtensor.ops.rearrangement import part_along
from webtensor.ops.reduction import divided_sum, max as _max, mean, sum as _sum
from webtensor.ops.ternary import where
from webtensor.ops.unary import exp, isfinite, log, sqrt, square
from webtensor.shapes import (
    axis_group,
    normalize_axes,
    normalize_axis,
    prod,
    reduced_shape,
)

__all__ = [
    "add_n",
    "count_nonzero",
    "diff",
    "log_sum_exp",
    "moments",
    "moving_average",
    "std",
    "var",
]

Axis = int | Sequence[int] | None


class Moments(NamedTuple):
    """Mean and variance."""

    mean: Tensor
    variance: Tensor


def _real(name: str, x: TensorLike) -> Tensor:
    """Return ``x`` as float32.

    Raises:
        TypeError: it is complex.
    """
    operand = as_operand(name, x)
    if operand.dtype is complex64:
        raise TypeError(f"{name}: complex64 is not supported")
    return cast_to(operand, float32)


# -- moments --------------------------------------------------------------------------------------


def _moments_gradient(
    dy: Tensor, y: Tensor, x: Tensor, outer: int, reduced: int, inner: int
) -> Tensor:
    """``(dmean + 2 * (x - mean) * dvariance) / reduced``."""
    shares = divide(dy, float(reduced))
    shape = (outer, 1, inner) if outer > 1 else (inner,)
    mean, for_mean, for_variance = (
        reshape(part_along(of, 0, index, 1), shape)
        for of, index in ((y, 0), (shares, 0), (shares, 1))
    )
    slope = multiply(for_variance, 2.0)
    if outer == 1:
        return reshape(normalized(reshape(x, (reduced, inner)), mean, slope, for_mean), x.shape)
    apart = subtract(reshape(x, (outer, reduced, inner)), mean)
    return reshape(add(multiply(apart, slope), for_mean), x.shape)


#: Means and variances, one above the other, along the middle of three axes in one pass. Not all
#: backends have a kernel for it.
_MOMENTS = Primitive("moments", gradients=(_moments_gradient,))


def moments(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Moments:
    """Mean and variance along ``axis`` (all axes by default), as float32.

    Both lack the axes, or have them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> mean, variance = wt.moments([1.0, 3.0])
        >>> mean.tolist(), variance.tolist()
        (2.0, 1.0)
    """
    operand = _real("moments", x)
    axes = normalize_axes("moments", axis, len(operand.shape))
    result_shape = reduced_shape(operand.shape, axes, keepdims)
    if operand.size and axes and axes[-1] - axes[0] < len(axes) and "moments" in backend().kernels:
        outer, reduced, inner = axis_group(operand.shape, axes[0], axes[-1])
        parts = run(_MOMENTS, (operand,), (2, outer, inner), float32, outer, reduced, inner)
        return Moments(*(reshape(part_along(parts, 0, index, 1), result_shape) for index in (0, 1)))
    center = mean(operand, axes, keepdims=True)
    variance = mean(squared_difference(operand, center), axes, keepdims)
    return Moments(reshape(center, result_shape), variance)


@planned
def var(
    x: TensorLike, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Variance along ``axis`` (all axes by default), as float32 (array API standard).

    The squares are divided by the number of elements less ``correction``: 1 gives the unbiased
    estimate from a sample.

    The result lacks the axes, or has them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.var([1.0, 3.0]).tolist(), wt.var([1.0, 3.0], correction=1).tolist()
        (1.0, 2.0)
    """
    return _variance("var", x, axis, correction, keepdims)


@planned
def std(
    x: TensorLike, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Standard deviation along ``axis``, as float32 (array API standard). See ``var``.

    The result lacks the axes, or has them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.std([1.0, 3.0]).tolist()
        1.0
    """
    return sqrt(_variance("std", x, axis, correction, keepdims))


def _variance(name: str, x: TensorLike, axis: Axis, correction: float, keepdims: bool) -> Tensor:
    operand = _real(name, x)
    correction = as_number(name, "correction", correction)
    axes = normalize_axes(name, axis, len(operand.shape))
    count = prod(operand.shape[dimension] for dimension in axes)
    squares = square(subtract(operand, mean(operand, axes, keepdims=True)))
    divisor = float(count - correction) if count > correction else 0.0
    return divided_sum(squares, axes, keepdims, count, divisor)


@planned
def count_nonzero(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements along ``axis`` are not zero, as int32 (array API standard).

    The result lacks the axes, or has them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.count_nonzero([[0, 1], [2, 3]], axis=1).tolist()
        [1, 2]
    """
    operand = as_operand("count_nonzero", x)
    axes = normalize_axes("count_nonzero", axis, len(operand.shape))
    return _sum(not_equal(operand, 0), axes, keepdims)


def log_sum_exp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Logarithm of the sum of exponentials along ``axis`` (all by default), without overflow.

    The result is float32. It lacks the axes, or has them of size 1 with ``keepdims``.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.log_sum_exp([1000.0, 0.0]).tolist()
        1000.0
    """
    operand = _real("log_sum_exp", x)
    axes = normalize_axes("log_sum_exp", axis, len(operand.shape))
    if operand.size == 0:
        return log(_sum(exp(operand), axes, keepdims))
    # The maximum is only a shift, which cancels: no gradient flows through it.
    with paused():
        maximum = _max(operand, axes, keepdims=True)
        shift = where(isfinite(maximum), maximum, 0.0)
    total = _sum(exp(subtract(operand, shift)), axes, keepdims)
    return add(log(total), reshape(shift, total.shape))


# -- sums and differences -------------------------------------------------------------------------


def add_n(tensors: Sequence[TensorLike]) -> Tensor:
    """Sum of tensors of one shape and dtype, element by element.

    Raises:
        TypeError: not a sequence of tensors, or dtypes that differ.
        ValueError: no tensors, or shapes that differ.

    Example:
        >>> import webtensor as wt
        >>> wt.add_n([[1, 2], [3, 4], [5, 6]]).tolist()
        [9, 12]
    """
    if isinstance(tensors, Tensor) or not hasattr(tensors, "__iter__"):
        raise TypeError(f"add_n: tensors must be a sequence of tensors, but got {tensors!r}")
    operands = [as_operand("add_n", tensor) for tensor in tensors]
    if not operands:
        raise ValueError("add_n: tensors must not be empty")
    if len({operand.dtype for operand in operands}) > 1:
        raise TypeError(
            f"add_n: dtypes must be equal, but got {[str(operand.dtype) for operand in operands]}"
        )
    if len({operand.shape for operand in operands}) > 1:
        raise ValueError(
            f"add_n: shapes must be equal, but got {[operand.shape for operand in operands]}"
        )
    return reduce(add, operands) if len(operands) > 1 else operands[0].clone()


def diff(
    x: TensorLike,
    n: int = 1,
    axis: int = -1,
    prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Tensor:
    """Differences of neighbours along an axis, ``n`` times over (array API standard).

    ``prepend`` and ``append`` are joined to ``x`` before. No differences, where ``n`` is 0, are
    ``x`` itself.

    Raises:
        TypeError: ``n`` is no integer.
        ValueError: ``n`` is negative, the axis is out of range, or shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.diff([1, 4, 9]).tolist(), wt.diff([1, 4, 9], n=2).tolist()
        ([3, 5], [2])
    """
    operand = as_operand("diff", x)
    axis = normalize_axis("diff", axis, len(operand.shape))
    times = as_non_negative_integer("diff", "n", n)
    parts = [operand]
    if prepend is not None:
        parts.insert(0, _joinable("prepend", prepend, operand, axis))
    if append is not None:
        parts.append(_joinable("append", append, operand, axis))
    result = concat(parts, axis) if times and len(parts) > 1 else operand
    for _ in range(times):
        size = result.shape[axis] - 1
        if size < 0:
            break
        difference = not_equal if result.dtype is bool_ else subtract
        result = difference(part_along(result, axis, 1, size), part_along(result, axis, 0, size))
    return result if result is not x else result.clone()


def _joinable(argument: str, value: TensorLike, x: Tensor, axis: int) -> Tensor:
    """Return an argument of ``diff`` that can be joined to ``x`` along an axis."""
    part = as_operand("diff", value)
    if not part.shape or reduced_shape(part.shape, (axis,), True) != reduced_shape(
        x.shape, (axis,), True
    ):
        raise ValueError(
            f"diff: {argument} must have the shape of x, {x.shape}, except along axis {axis}, but "
            f"its shape is {part.shape}"
        )
    return part


def moving_average(
    v: TensorLike,
    x: TensorLike,
    decay: TensorLike,
    step: TensorLike | None = None,
    zero_debias: bool = True,
) -> Tensor:
    """Next value of a moving average: ``v + (1 - decay) * (x - v)``.

    ``zero_debias`` divides the step by ``1 - decay ** step``, which makes up for an average that
    started at 0 (Kingma & Ba, *Adam*, ICLR 2015); ``step`` counts from 1 then.

    Raises:
        ValueError: ``v`` and ``x`` have different shapes or dtypes, or ``step`` is missing.

    Example:
        >>> import webtensor as wt
        >>> wt.moving_average([0.0], [4.0], 0.75, zero_debias=False).tolist()
        [1.0]
    """
    average, value = as_operand("moving_average", v), as_operand("moving_average", x)
    if average.shape != value.shape or average.dtype is not value.dtype:
        raise ValueError(
            f"moving_average: v and x must be alike, but v is {average.dtype} of shape "
            f"{average.shape} and x is {value.dtype} of shape {value.shape}"
        )
    rate = as_operand("moving_average", decay, float32)
    change = multiply(subtract(value, average), subtract(1.0, rate))
    if zero_debias:
        if step is None:
            raise ValueError("moving_average: step must be given where zero_debias is set")
        change = divide(change, subtract(1.0, pow(rate, as_operand("moving_average", step))))
    return add(average, change)
