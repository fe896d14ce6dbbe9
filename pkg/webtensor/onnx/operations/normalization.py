"""Operators that normalize, and dropout, which does nothing outside training.

A function whose name ends in ``_last`` takes images with channels last.
"""

from __future__ import annotations

from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, number, truth
from webtensor.onnx.operations.windows import channels_first, channels_last

__all__ = ["ROWS", "batch_normalized_last", "locally_normalized_last"]


def standardized(x: Tensor, axes: tuple[int, ...], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return values of mean 0 and variance 1, the means, and the inverse standard deviations."""
    mean, variance = ops.moments(x, axes, True)
    scale = ops.rsqrt(variance + epsilon)
    return (x - mean) * scale, mean, scale


def _by_channel(x: Tensor, parameter: Tensor) -> Tensor:
    return ops.reshape(parameter, (-1, *[1] * (len(x.shape) - 2)))


def _normalized(
    x: Tensor, mean: Tensor, variance: Tensor, offset: Tensor, scale: Tensor, epsilon: float
) -> Tensor:
    return ops.batch_norm(
        x,
        _by_channel(x, mean),
        _by_channel(x, variance),
        _by_channel(x, offset),
        _by_channel(x, scale),
        epsilon,
    )


def batch_normalized(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
    training_mode: int = 0,
) -> Any:
    """Normalize channels by their means and variances, those of the batch while training."""
    if not spatial:
        raise ValueError("spatial is 0, which is not supported")
    if not training_mode:
        return _normalized(x, mean, variance, offset, scale, epsilon)
    axes = (0, *range(2, len(x.shape)))
    batch_mean, batch_variance = ops.moments(x, axes)
    result = _normalized(x, batch_mean, batch_variance, offset, scale, epsilon)
    running_mean = momentum * mean + (1.0 - momentum) * batch_mean
    return result, running_mean, momentum * variance + (1.0 - momentum) * batch_variance


def batch_normalized_last(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
) -> Tensor:
    """Normalize channels, which are last, by their means and variances."""
    return ops.batch_norm(x, mean, variance, offset, scale, epsilon)


def instance_normalized(
    x: Tensor, scale: Tensor, offset: Tensor, *, epsilon: float = 1e-5
) -> Tensor:
    """Normalize each channel of each element of the batch."""
    values, _, _ = standardized(x, tuple(range(2, len(x.shape))), epsilon)
    return values * _by_channel(x, scale) + _by_channel(x, offset)


def layer_normalized(
    x: Tensor,
    scale: Tensor,
    offset: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize the axes from one on."""
    rank = len(x.shape)
    values, mean, inverse = standardized(x, tuple(range(axis % rank, rank)), epsilon)
    values = values * scale
    return values if offset is None else values + offset, mean, inverse


def root_mean_square_normalized(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5
) -> Tensor:
    """Divide the axes from one on by the root of their mean square."""
    return root_mean_squares(x, scale, axis=axis, epsilon=epsilon)[0]


def root_mean_squares(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5
) -> tuple[Tensor, Tensor]:
    """Divide as ``root_mean_square_normalized`` does; return what it multiplies with, too."""
    rank = len(x.shape)
    squares = ops.mean(ops.square(x), tuple(range(axis % rank, rank)), True)
    inverse = ops.rsqrt(squares + epsilon)
    return x * inverse * scale, inverse


def group_normalized(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
) -> Tensor:
    """Normalize groups of channels."""
    batch, channels = x.shape[:2]
    groups = ops.reshape(x, (batch, num_groups, channels // num_groups, *x.shape[2:]))
    values, _, _ = standardized(groups, tuple(range(2, len(groups.shape))), epsilon)
    if scale.shape[0] != channels:
        share = channels // num_groups
        scale, offset = ops.repeat(scale, share, 0), ops.repeat(offset, share, 0)
    return ops.reshape(values, x.shape) * _by_channel(x, scale) + _by_channel(x, offset)


def norm_divided(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """Divide by the norm along an axis; zeros stay zeros."""
    if p == 1:
        norm = ops.sum(ops.abs(x), axis, True)
    elif p == 2:
        norm = ops.sqrt(ops.sum(ops.square(x), axis, True))
    else:
        raise ValueError(f"p must be 1 or 2, not {p}")
    return ops.divide_no_nan(x, norm)


def mean_variance_normalized(x: Tensor, *, axes: list[int] | None = None) -> Tensor:
    """Subtract the mean along axes, and divide by the standard deviation."""
    along = (0, 2, 3) if axes is None else tuple(axes)
    centered = x - ops.mean(x, along, True)
    return centered / (ops.sqrt(ops.mean(ops.square(centered), along, True)) + 1e-9)


def locally_normalized_last(
    x: Tensor, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int
) -> Tensor:
    """Divide by the squares of the channels around each, which are last."""
    if size % 2 and len(x.shape) == 4:
        return ops.local_response_normalization(x, size // 2, bias, alpha / size, beta)
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    pairs = [[0, 0]] * (len(x.shape) - 1) + [[before, after]]
    squares = ops.pad(ops.square(x), pairs)
    channels = x.shape[-1]
    sums: Any = squares[..., :channels]
    for offset in range(1, size):
        sums = sums + squares[..., offset : offset + channels]
    return x / ops.pow(bias + (alpha / size) * sums, beta)


def locally_normalized(
    x: Tensor, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int
) -> Tensor:
    """Divide by the squares of the channels around each."""
    result = locally_normalized_last(channels_last(x), alpha=alpha, beta=beta, bias=bias, size=size)
    return channels_first(result)


def dropped(
    x: Tensor,
    ratio: float = 0.5,
    training_mode: bool = False,
    *,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the tensor, with random elements set to zero while training, and the mask."""
    if not training_mode or not ratio:
        return x, ops.ones(x.shape, "bool")
    mask = ops.greater_equal(ops.random_uniform(x.shape, seed=seed), ratio)
    return ops.where(mask, x / (1.0 - ratio), ops.zeros_like(x)), mask


def swiglu(gate: Tensor, value: Tensor, *, alpha: float = 1.0) -> Tensor:
    """Return the swish of a gate times a value."""
    return gate * ops.sigmoid(alpha * gate) * value


ROWS: dict[str, Row] = {
    "BatchNormalization-1": Operator(batch_normalized).ignoring("is_test", "num_outputs"),
    "Dropout-1": Operator(dropped, ratio=number, training_mode=truth)
    .ignoring("is_test", "num_outputs")
    .impure(),
    "GroupNormalization-1": Operator(group_normalized).ignoring("stash_type"),
    "InstanceNormalization-1": Operator(instance_normalized),
    "LRN-1": Operator(locally_normalized),
    "LayerNormalization-1": Operator(layer_normalized).ignoring("stash_type"),
    "LpNormalization-1": Operator(norm_divided),
    "MeanVarianceNormalization-1": Operator(mean_variance_normalized),
    "RMSNormalization-1": Operator(root_mean_square_normalized).ignoring("stash_type"),
    "SimplifiedLayerNormalization-1": Operator(root_mean_squares).ignoring("stash_type"),
    "SwiGLU-1": Operator(swiglu),
}
