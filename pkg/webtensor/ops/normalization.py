"""Normalization by statistics and by neighbours, and dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor.arguments import as_non_negative_integer, as_number
from webtensor.dtypes import float32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, planned, run
from webtensor.ops.binary import add, divide_no_nan, multiply, pow, subtract
from webtensor.ops.casting import as_float
from webtensor.ops.creation import zeros
from webtensor.ops.movement import clone
from webtensor.ops.random_bits import random_bits
from webtensor.ops.reduction import sum as _sum
from webtensor.ops.unary import divisor_of_kept, negative, reciprocal, rsqrt, sqrt, square
from webtensor.shapes import Shape, as_shape, broadcast_shapes

__all__ = [
    "batch_norm",
    "batch_norm2d",
    "batch_norm3d",
    "batch_norm4d",
    "dropout",
    "local_response_normalization",
]

# -- batch normalization ------------------------------------------------------------------------


def _by_channel(x: Tensor) -> Tensor:
    """Sum over all axes but the last."""
    return _sum(x, tuple(range(len(x.shape) - 1)))


#: ``(x - mean) * factor + offset`` with a number per channel for each; attributes are (outer,
#: channels). The difference comes first: folding the mean into the offset would cancel.
_NORMALIZE = Primitive(
    "normalize",
    gradients=(
        lambda dy, y, x, mean, factor, offset, *sizes: multiply(dy, factor),
        lambda dy, y, x, mean, factor, offset, *sizes: negative(multiply(_by_channel(dy), factor)),
        lambda dy, y, x, mean, factor, offset, *sizes: _by_channel(multiply(dy, subtract(x, mean))),
        lambda dy, y, x, mean, factor, offset, *sizes: _by_channel(dy),
    ),
)


def normalized(x: Tensor, mean: Tensor, factor: Tensor, offset: Tensor) -> Tensor:
    """``(x - mean) * factor + offset``, all float32, with a number per channel for each."""
    channels = x.shape[-1]
    outer = x.size // channels if channels else 0
    return run(_NORMALIZE, (x, mean, factor, offset), x.shape, float32, outer, channels)


@planned
def batch_norm(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    variance_epsilon: float = 0.001,
) -> Tensor:
    """Normalize by a mean and a variance, then scale and shift (Ioffe & Szegedy, 2015).

    ``(x - mean) / sqrt(variance + variance_epsilon) * scale + offset``, as float32. The parameters
    hold a number per channel, which is the last axis, or have another shape that broadcasts to
    that of ``x``.

    Raises:
        ValueError: a parameter's shape does not broadcast to that of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.batch_norm([[1.0], [3.0]], [2.0], [0.25], variance_epsilon=0.0).tolist()
        [[-2.0], [2.0]]
    """
    return _batch_norm("batch_norm", x, mean, variance, offset, scale, variance_epsilon)


def _batch_norm(
    name: str,
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: float,
    rank: int | None = None,
) -> Tensor:
    """Normalize; with ``rank``, ``x`` must have that rank, and parameters that rank or 1."""
    operand = as_float(name, "x", x)
    if rank is not None and len(operand.shape) != rank:
        raise ValueError(f"{name}: x must have rank {rank}, but its shape is {operand.shape}")
    variance_epsilon = as_number(name, "variance_epsilon", variance_epsilon)
    if not variance_epsilon >= 0:
        raise ValueError(
            f"{name}: variance_epsilon must be a non-negative number, but got {variance_epsilon!r}"
        )

    def parameter(argument: str, value: TensorLike) -> Tensor:
        number = as_float(name, argument, value)
        shape = number.shape
        if rank is not None and len(shape) not in (1, rank):
            raise ValueError(
                f"{name}: {argument} must have rank 1 or {rank}, but has shape {shape}"
            )
        if not _broadcasts_to(shape, operand.shape):
            raise ValueError(
                f"{name}: {argument} has shape {shape}, which does not broadcast to that of x, "
                f"{operand.shape}"
            )
        return number

    middle = parameter("mean", mean)
    factor = rsqrt(add(parameter("variance", variance), float(variance_epsilon)))
    if scale is not None:
        factor = multiply(factor, parameter("scale", scale))
    shift = None if offset is None else parameter("offset", offset)
    channels = operand.shape[-1:]
    if len(channels) == 1 and middle.shape == factor.shape == channels:
        shift = zeros(channels) if shift is None else shift
        if shift.shape == channels:
            return normalized(operand, middle, factor, shift)
    y = multiply(subtract(operand, middle), factor)
    return y if shift is None else add(y, shift)


def _broadcasts_to(shape: Shape, target: Shape) -> bool:
    try:
        return broadcast_shapes("", shape, target) == target
    except ValueError:
        return False


def batch_norm2d(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    variance_epsilon: float = 0.001,
) -> Tensor:
    """``batch_norm`` of a tensor of rank 2, by parameters of rank 1 or 2.

    Raises:
        ValueError: ranks or shapes that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.batch_norm2d([[1.0], [3.0]], [2.0], [0.25], variance_epsilon=0.0).tolist()
        [[-2.0], [2.0]]
    """
    return _batch_norm("batch_norm2d", x, mean, variance, offset, scale, variance_epsilon, 2)


def batch_norm3d(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    variance_epsilon: float = 0.001,
) -> Tensor:
    """``batch_norm`` of a tensor of rank 3, by parameters of rank 1 or 3. See ``batch_norm2d``.

    Raises:
        ValueError: ranks or shapes that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.batch_norm3d([[[1.0], [3.0]]], [2.0], [0.25], variance_epsilon=0.0).tolist()
        [[[-2.0], [2.0]]]
    """
    return _batch_norm("batch_norm3d", x, mean, variance, offset, scale, variance_epsilon, 3)


def batch_norm4d(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    variance_epsilon: float = 0.001,
) -> Tensor:
    """``batch_norm`` of a tensor of rank 4, by parameters of rank 1 or 4. See ``batch_norm2d``.

    Raises:
        ValueError: ranks or shapes that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.batch_norm4d([[[[1.0], [3.0]]]], [2.0], [0.25], variance_epsilon=0.0).tolist()
        [[[[-2.0], [2.0]]]]
    """
    return _batch_norm("batch_norm4d", x, mean, variance, offset, scale, variance_epsilon, 4)


# -- local response normalization ---------------------------------------------------------------

#: Adds up to each element its neighbours along the last axis; it is its own transpose. Attributes
#: are (outer, length, radius).
_WINDOW_SUM: Primitive = Primitive(
    "window_sum",
    gradients=(lambda dy, y, x, *sizes: run(_WINDOW_SUM, (dy,), x.shape, float32, *sizes),),
)


@planned
def local_response_normalization(
    x: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
) -> Tensor:
    """Divide by the neighbouring channels (Krizhevsky et al., *AlexNet*, 2012).

    ``x / (bias + alpha * s) ** beta``, where ``s`` is the sum of the squares of the channel and of
    those up to ``depth_radius`` before and after it. ``x`` is (batch, height, width, channels), or
    without batch.

    Raises:
        TypeError: ``depth_radius`` is not an integer, or another argument is not a number.
        ValueError: ``x`` has another rank, or ``depth_radius`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.local_response_normalization([[[1.0, 1.0, 0.0]]], 1, 2.0).tolist()
        [[[0.5, 0.5, 0.0]]]
    """
    name = "local_response_normalization"
    operand = as_float(name, "x", x)
    if len(operand.shape) not in (3, 4):
        raise ValueError(f"{name}: x must have rank 3 or 4, but its shape is {operand.shape}")
    depth_radius = as_non_negative_integer(name, "depth_radius", depth_radius)
    bias, alpha = as_number(name, "bias", bias), as_number(name, "alpha", alpha)
    beta = as_number(name, "beta", beta)
    channels = operand.shape[-1]
    outer = operand.size // channels if channels else 0
    radius = min(depth_radius, max(channels - 1, 0))
    sums = run(_WINDOW_SUM, (square(operand),), operand.shape, float32, outer, channels, radius)
    return multiply(operand, _negative_power(add(multiply(sums, alpha), bias), beta))


def _negative_power(x: Tensor, beta: float) -> Tensor:
    """``x ** -beta``; the usual exponents need roots only, which are quicker and more exact."""
    if beta == 1:
        return reciprocal(x)
    if beta == 0.5:
        return rsqrt(x)
    if beta == 0.75:
        root = rsqrt(x)
        return multiply(root, sqrt(root))
    return pow(x, -beta)


# -- dropout ------------------------------------------------------------------------------------


def dropout(
    x: TensorLike,
    rate: float,
    noise_shape: Sequence[int | None] | None = None,
    seed: float | None = None,
) -> Tensor:
    """Set elements to zero with probability ``rate``, and scale the others up (Srivastava, 2014).

    What is kept is divided by ``1 - rate``, so that the expected sum stays. ``noise_shape``, which
    broadcasts to the shape of ``x``, makes elements fall together along its axes of size 1; None
    in it stands for the size of ``x``.

    Raises:
        TypeError: ``x`` is not float32, or ``rate`` is not a number.
        ValueError: ``rate`` is outside [0, 1), or ``noise_shape`` does not fit.

    Example:
        >>> import webtensor as wt
        >>> sorted(set(wt.dropout(wt.ones((50,)), 0.5, seed=1).tolist()))
        [0.0, 2.0]
    """
    operand = as_operand("dropout", x, float32)
    if operand.dtype is not float32:
        raise TypeError(f"dropout: x must be float32, but got {operand.dtype}")
    rate = as_number("dropout", "rate", rate)
    if not 0 <= rate < 1:
        raise ValueError(f"dropout: rate must lie in [0, 1), but got {rate!r}")
    if rate == 0:
        return clone(operand)
    shape = operand.shape
    if noise_shape is not None:
        if not hasattr(noise_shape, "__iter__"):
            raise TypeError(
                f"dropout: noise_shape must be integers or None, but got {noise_shape!r}"
            )
        dimensions: list[Any] = list(noise_shape)
        if len(dimensions) == len(shape):
            dimensions = [
                size if dimension is None else dimension
                for dimension, size in zip(dimensions, shape, strict=True)
            ]
        noise = as_shape("dropout", dimensions, "noise_shape")
        if not _broadcasts_to(noise, shape):
            raise ValueError(
                f"dropout: noise_shape {tuple(noise_shape)} does not broadcast to the shape of x, "
                f"{shape}"
            )
        shape = noise
    bits = random_bits("dropout", shape, seed)
    # Dividing by 0 gives 0, even for elements that are not finite.
    return divide_no_nan(operand, divisor_of_kept(bits, float(rate), 1 - rate))
