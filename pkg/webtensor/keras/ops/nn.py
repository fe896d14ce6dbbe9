"""Functions of neural networks: activations, convolutions and pools, losses, attention."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any
from warnings import warn

from webtensor import ops as wt
from webtensor.dtypes import bool_, float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.geometry import positive_integers
from webtensor.keras import activations, config, losses, sliding_windows
from webtensor.keras.arguments import check_positive
from webtensor.keras.data_formats import as_data_format, with_channels_last
from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.ops import ctc, unfolding
from webtensor.keras.ops.operations import (
    Arguments,
    Computation,
    Row,
    Table,
    elementwise,
    op,
    unary,
)
from webtensor.keras.sliding_windows import Sliding
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Axis, Config, DTypeLike
from webtensor.ops import rearrangement
from webtensor.ops.casting import as_float
from webtensor.shapes import check_size, normalize_axes, normalize_axis, prod

__all__ = ["ACTIVATIONS", "TABLE"]


_FORMAT = {"data_format": config.image_data_format}


def _same_shape(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    """The result is float32 of the shape of x."""
    _axes("axis", config.get("axis"), len(args[0].shape))
    return KerasTensor(args[0].shape, float32)


# -- windows -----------------------------------------------------------------------------------


def _padding(name: str, padding: str) -> str:
    lower_case = str(padding).lower()
    if lower_case not in ("valid", "same"):
        raise ValueError(f"{name}: padding must be 'valid' or 'same', but got {padding!r}")
    return lower_case


def _images(x: TensorLike, name: str) -> tuple[Tensor, int]:
    """Return the inputs in float32 and the number of their spatial axes."""
    x = wt.asarray(x)
    rank = len(x.shape) - 2
    if not 1 <= rank <= 3:
        raise ValueError(f"{name}: inputs must have 3 to 5 axes, but have shape {x.shape}")
    return as_float(name, "inputs", x), rank


def _pool(kind: str) -> Row:
    name = f"{kind}_pool"

    def pool(
        inputs: TensorLike,
        pool_size: int | Sequence[int],
        strides: int | Sequence[int] | None = None,
        padding: str = "valid",
        data_format: str | None = None,
    ) -> Tensor:
        x, rank = _images(inputs, name)
        size = positive_integers(name, "pool_size", pool_size, rank)
        steps = size if strides is None else positive_integers(name, "strides", strides, rank)
        format = as_data_format(name, data_format)
        return sliding_windows.pool(kind, x, size, steps, _padding(name, padding), format)

    return op(
        pool,
        "pool_size strides padding data_format",
        class_name=f"{kind.capitalize()}Pool",
        defaults=_FORMAT,
    )


def _adaptive_pool(kind: str) -> Row:
    name = f"adaptive_{kind}_pool"

    def pool(
        inputs: TensorLike, output_size: int | Sequence[int], data_format: str | None = None
    ) -> Tensor:
        x, rank = _images(inputs, name)
        size = positive_integers(name, "output_size", output_size, rank)
        check_size(name, "output_size", output_size, x.shape[0] * prod(size))
        return sliding_windows.adaptive_pool(kind, x, size, as_data_format(name, data_format))

    return op(pool, "output_size data_format")


def _sliding(
    name: str,
    rank: int,
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None,
    dilation_rate: int | Sequence[int],
) -> Sliding:
    """Validate the arguments of a convolution along ``rank`` axes."""
    return Sliding(
        positive_integers(name, "strides", strides, rank),
        _padding(name, padding),
        as_data_format(name, data_format),
        positive_integers(name, "dilation_rate", dilation_rate, rank),
    )


def _conv(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Tensor:
    """Convolve ``inputs`` with ``kernel``, along 1 to 3 spatial axes.

    ``inputs`` has shape (batch, spatial…, in_channels), or the channels after the batch with
    data_format "channels_first"; ``kernel`` has shape (size…, in_channels, out_channels). The
    result is float32 of shape (batch, spatial…, out_channels). ``padding`` is "valid" or "same".

    Raises:
        ValueError: the shapes do not fit, or an argument is not a positive integer.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.conv(keras.ops.ones((1, 4, 1)), keras.ops.ones((2, 1, 1))).numpy().ravel()
        array([2., 2., 2.], dtype=float32)
    """
    x, rank = _images(inputs, "conv")
    return sliding_windows.conv(
        x,
        wt.asarray(kernel),
        _sliding("conv", rank, strides, padding, data_format, dilation_rate),
    )


def _depthwise_conv(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Tensor:
    """Convolve each channel with filters of its own, along one or two spatial axes.

    ``inputs`` has shape (batch, spatial…, channels), ``kernel`` (size…, channels, multiplier) and
    the result (batch, spatial…, channels * multiplier), in float32.

    Raises:
        ValueError: the shapes do not fit, or an argument is not a positive integer.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.depthwise_conv(keras.ops.ones((1, 3, 2)), keras.ops.ones((2, 2, 1))).tolist()
        [[[2.0, 2.0], [2.0, 2.0]]]
    """
    x, rank = _images(inputs, "depthwise_conv")
    return sliding_windows.depthwise_conv(
        x,
        wt.asarray(kernel),
        _sliding("depthwise_conv", rank, strides, padding, data_format, dilation_rate),
    )


def _separable_conv(
    inputs: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Tensor:
    """Convolve each channel with filters of its own, then mix the channels.

    ``depthwise_kernel`` has shape (size…, channels, multiplier) and ``pointwise_kernel`` (1…,
    channels * multiplier, out_channels); the result has shape (batch, spatial…, out_channels).

    Raises:
        ValueError: the shapes do not fit, or an argument is not a positive integer.

    Example:
        >>> from webtensor import keras
        >>> x, depthwise = keras.ops.ones((1, 3, 2)), keras.ops.ones((2, 2, 1))
        >>> pointwise = keras.ops.ones((1, 2, 1))
        >>> keras.ops.separable_conv(x, depthwise, pointwise).numpy().ravel()
        array([4., 4.], dtype=float32)
    """
    x, rank = _images(inputs, "separable_conv")
    return sliding_windows.separable_conv(
        x,
        wt.asarray(depthwise_kernel),
        wt.asarray(pointwise_kernel),
        _sliding("separable_conv", rank, strides, padding, data_format, dilation_rate),
    )


def _conv_transpose(
    inputs: TensorLike,
    kernel: TensorLike,
    strides: int | Sequence[int] = 1,
    padding: str = "valid",
    output_padding: int | Sequence[int] | None = None,
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
) -> Tensor:
    """Apply the transpose of a convolution, along 1 to 3 spatial axes.

    ``inputs`` has shape (batch, spatial…, in_channels) and ``kernel`` (size…, out_channels,
    in_channels). ``output_padding`` is added to the output's size at one side.

    Raises:
        ValueError: the shapes do not fit, or an argument is not a positive integer.

    Example:
        >>> from webtensor import keras
        >>> x, kernel = keras.ops.ones((1, 2, 1)), keras.ops.ones((2, 1, 1))
        >>> keras.ops.conv_transpose(x, kernel, strides=2).numpy().ravel()
        array([1., 1., 1., 1.], dtype=float32)
    """
    name = "conv_transpose"
    x, rank = _images(inputs, name)
    if isinstance(output_padding, int):
        output_padding = (output_padding,) * rank
    return sliding_windows.conv_transpose(
        x,
        wt.asarray(kernel),
        _sliding(name, rank, strides, padding, data_format, dilation_rate),
        None if output_padding is None else tuple(output_padding),
    )


def _depth_to_space(x: TensorLike, block_size: int, data_format: str = "channels_last") -> Tensor:
    """Rearrange channels into blocks of pixels.

    (batch, height, width, channels) becomes (batch, height * block_size, width * block_size,
    channels / block_size²).

    Raises:
        ValueError: ``block_size`` is less than 2, or does not fit the channels.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.depth_to_space(keras.ops.ones((1, 1, 1, 4)), 2).shape
        (1, 2, 2, 1)
    """
    _check_block("depth_to_space", block_size)
    return with_channels_last(
        wt.depth_to_space, wt.asarray(x), as_data_format("depth_to_space", data_format), block_size
    )


def _space_to_depth(x: TensorLike, block_size: int, data_format: str = "channels_last") -> Tensor:
    """Rearrange blocks of pixels into channels.

    (batch, height, width, channels) becomes (batch, height / block_size, width / block_size,
    channels * block_size²).

    Raises:
        ValueError: ``block_size`` is less than 2, or does not divide height and width.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.space_to_depth(keras.ops.ones((1, 2, 2, 1)), 2).shape
        (1, 1, 1, 4)
    """
    _check_block("space_to_depth", block_size)
    return with_channels_last(
        rearrangement.space_to_depth,
        wt.asarray(x),
        as_data_format("space_to_depth", data_format),
        block_size,
    )


def _check_block(name: str, size: int) -> None:
    if size < 2:
        raise ValueError(f"{name}: block_size must be at least 2, but got {size}")


# -- classes -----------------------------------------------------------------------------------


def _one_hot(
    x: TensorLike, num_classes: int, axis: int = -1, dtype: DTypeLike = None, sparse: bool = False
) -> Tensor:
    """Return vectors that are 1 at the index of the class and 0 elsewhere.

    The result has a further axis of size ``num_classes`` at ``axis``, and float32 by default.

    Raises:
        ValueError: ``sparse`` is true, which no backend supports.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.one_hot([1, 0], 3).tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    if sparse:
        raise ValueError("one_hot: there are no sparse tensors, so sparse must be False")
    vectors = wt.one_hot(wt.astype(x, int32), num_classes, dtype=storage_dtype(dtype))
    rank = len(vectors.shape)
    axis = normalize_axis("one_hot", axis, rank)
    return vectors if axis == rank - 1 else wt.moveaxis(vectors, -1, axis)


def _multi_hot(
    inputs: TensorLike,
    num_classes: int | None = None,
    axis: int = -1,
    dtype: DTypeLike = None,
    sparse: bool = False,
) -> Tensor:
    """Return vectors that are 1 at the indices of all classes of a row and 0 elsewhere.

    ``inputs`` has shape (classes,) or (batch, classes); the result has shape (num_classes,) or
    (batch, num_classes).

    Raises:
        ValueError: ``num_classes`` is missing, or ``sparse`` is true, which no backend supports.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.multi_hot([0, 2], 4).tolist()
        [1.0, 0.0, 1.0, 0.0]
    """
    if num_classes is None:
        raise ValueError("multi_hot: num_classes is missing")
    inputs = wt.asarray(inputs)
    label_axis = 1 if len(inputs.shape) > 1 else 0
    vectors = _one_hot(inputs, num_classes, axis, dtype, sparse)
    return wt.astype(wt.max(vectors, axis=label_axis), storage_dtype(dtype), copy=False)


def _binary_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False
) -> Tensor:
    """Return ``-(t * log(p) + (1 - t) * log(1 - p))`` of each target t and probability p.

    With ``from_logits``, the outputs are logits instead of probabilities. The result has the shape
    of both, in float32.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.binary_crossentropy([1.0, 0.0], [0.5, 0.5]).numpy().round(3)
        array([0.693, 0.693], dtype=float32)
    """
    target = as_float("binary_crossentropy", "target", target)
    output = as_float("binary_crossentropy", "output", output)
    if from_logits:
        return wt.subtract(wt.softplus(output), wt.multiply(target, output))
    output = wt.clip(output, config.epsilon(), 1 - config.epsilon())
    positive = wt.multiply(target, wt.log(output))
    negative = wt.multiply(wt.subtract(1.0, target), wt.log(wt.subtract(1.0, output)))
    return wt.negative(wt.add(positive, negative))


def _categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Return ``-sum(t * log(p))`` along an axis, for targets t and probabilities p.

    Both have the same shape. With ``from_logits``, the outputs are logits instead of probabilities.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]).numpy().round(3)
        array([0.693], dtype=float32)
    """
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def _sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Return ``-log(p)`` of the probability p of each target class, an integer.

    ``output`` has the shape of ``target`` with a further axis of classes, ``axis``. With
    ``from_logits``, the outputs are logits instead of probabilities.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.sparse_categorical_crossentropy([1], [[0.5, 0.5]]).numpy().round(3)
        array([0.693], dtype=float32)
    """
    return losses.sparse_categorical_crossentropy(target, output, from_logits, axis=axis)


# -- normalization -----------------------------------------------------------------------------


def _epsilon(epsilon: float | None) -> float:
    return config.epsilon() if epsilon is None else epsilon


def _moments(
    x: TensorLike,
    axes: int | Sequence[int] | None,
    keepdims: bool = False,
    synchronized: bool = False,
) -> tuple[Tensor, ...]:
    """Return mean and variance along axes.

    Raises:
        ValueError: ``synchronized`` is true, although there is only one device.

    Example:
        >>> from webtensor import keras
        >>> mean, variance = keras.ops.moments([1.0, 3.0], axes=[0])
        >>> mean.tolist(), variance.tolist()
        (2.0, 1.0)
    """
    if synchronized:
        raise ValueError("moments: there is one device, so synchronized must be False")
    return tuple(wt.moments(x, axes, keepdims))


def _batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    axis: int,
    offset: TensorLike | None = None,
    scale: TensorLike | None = None,
    epsilon: float = 0.001,
) -> Tensor:
    """Return ``(x - mean) / sqrt(variance + epsilon) * scale + offset``.

    All but ``x`` are vectors along one axis.

    Raises:
        ValueError: a vector does not have the size of the axis.

    Example:
        >>> from webtensor import keras
        >>> x = [[1.0], [3.0]]
        >>> keras.ops.batch_normalization(x, [2.0], [1.0], axis=-1, epsilon=0.0).tolist()
        [[-1.0], [1.0]]
    """
    x = wt.asarray(x)
    _check_vectors(x, axis, mean=mean, variance=variance, offset=offset, scale=scale)
    shape = [1] * len(x.shape)
    shape[axis] = x.shape[axis]
    mean, variance, offset, scale = (
        None if vector is None else wt.reshape(vector, shape)
        for vector in (mean, variance, offset, scale)
    )
    return wt.batch_norm(x, mean, variance, offset, scale, epsilon)


def _check_vectors(x: Tensor, axis: int, **vectors: TensorLike | None) -> None:
    size = x.shape[normalize_axis("batch_normalization", axis, len(x.shape))]
    for name, vector in vectors.items():
        shape = (size,) if vector is None else tuple(wt.asarray(vector).shape)
        if shape != (size,):
            raise ValueError(
                f"batch_normalization: {name} must be a vector of {size} elements, as axis {axis} "
                f"of x has, but has shape {shape}"
            )


def _layer_normalization(
    x: TensorLike,
    gamma: TensorLike | None = None,
    beta: TensorLike | None = None,
    axis: int | Sequence[int] = -1,
    epsilon: float | None = None,
    rms_scaling: bool = False,
) -> Tensor:
    """Return ``(x - mean) / sqrt(variance + epsilon) * gamma + beta``, with statistics along axes.

    ``gamma`` and ``beta`` have the shape of these axes; the result has the shape of ``x``, in
    float32.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.layer_normalization([[1.0, 3.0]]).numpy().round(2)
        array([[-1.,  1.]], dtype=float32)
    """
    x = as_float("layer_normalization", "x", x)
    axes = _axes("layer_normalization", axis, len(x.shape))
    mean, variance = wt.moments(x, axes, True)
    if rms_scaling:
        warn("layer_normalization: instead of rms_scaling use rms_normalization", stacklevel=3)
        mean, beta = wt.zeros_like(mean), None
    beta, gamma = (
        None if values is None else _aligned(values, x.shape, axes) for values in (beta, gamma)
    )
    return wt.batch_norm(x, mean, variance, beta, gamma, _epsilon(epsilon))


def _axes(name: str, axis: Axis, rank: int) -> tuple[int, ...]:
    return normalize_axes(name, tuple(axis) if isinstance(axis, list) else axis, rank)


def _aligned(values: TensorLike, shape: Sequence[int], axes: Sequence[int]) -> Tensor:
    """Reshape values along axes such that they broadcast to a shape."""
    tensor = wt.asarray(values)
    if len(tensor.shape) == len(shape):
        return tensor
    return wt.reshape(tensor, [size if i in axes else 1 for i, size in enumerate(shape)])


def _rms_normalization(
    x: TensorLike,
    scale: TensorLike | None = None,
    axis: int | Sequence[int] = -1,
    epsilon: float | None = None,
) -> Tensor:
    """Return ``x / sqrt(mean(x²) + epsilon) * scale``, with the mean along axes.

    ``scale`` has the shape of these axes; the result has the shape of ``x``, in float32.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.rms_normalization([[1.0, 7.0]]).numpy().round(2)
        array([[0.2, 1.4]], dtype=float32)
    """
    x = as_float("rms_normalization", "x", x)
    axes = _axes("rms_normalization", axis, len(x.shape))
    mean_square = wt.mean(wt.square(x), axes, keepdims=True)
    normalized = wt.multiply(x, wt.rsqrt(wt.add(mean_square, _epsilon(epsilon))))
    return normalized if scale is None else wt.multiply(normalized, _aligned(scale, x.shape, axes))


def _normalize(
    x: TensorLike, axis: int | Sequence[int] = -1, order: int = 2, epsilon: float | None = None
) -> Tensor:
    """Return ``x / max(norm(x), epsilon)``, with the norm of the given order along axes.

    Raises:
        ValueError: ``order`` is not a positive integer.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.normalize([[3.0, 4.0]]).numpy().round(2)
        array([[0.6, 0.8]], dtype=float32)
    """
    check_positive("normalize", order=order)
    x = as_float("normalize", "x", x)
    epsilon = _epsilon(epsilon)
    axes = _axes("normalize", axis, len(x.shape))
    if order == 2:
        total = wt.sum(wt.square(x), axes, keepdims=True)
        return wt.multiply(x, wt.rsqrt(wt.maximum(total, epsilon**2)))
    norm = wt.linalg.vector_norm(x, axis=axes, ord=order, keepdims=True)
    return wt.divide(x, wt.maximum(norm, epsilon))


# -- attention ---------------------------------------------------------------------------------


def _dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    bias: TensorLike | None = None,
    mask: TensorLike | None = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Tensor:
    """Return ``softmax(query @ keyᵀ * scale + bias) @ value``.

    ``query`` has shape (batch, target steps, heads, size), ``key`` and ``value`` (batch, source
    steps, heads, size); the result has the shape of ``query``. Elements where ``mask`` is false,
    or which come later if ``is_causal``, do not count. ``scale`` is ``1 / sqrt(size)`` by default,
    and ``attn_logits_soft_cap`` limits the logits.

    Raises:
        ValueError: a tensor does not have 4 axes, or ``flash_attention`` is true, which no backend
            supports.

    Example:
        >>> from webtensor import keras
        >>> x = keras.ops.ones((1, 2, 1, 3))
        >>> keras.ops.dot_product_attention(x, x, x).shape
        (1, 2, 1, 3)
    """
    if flash_attention:
        raise ValueError(
            "dot_product_attention: flash_attention must be False or None, but got "
            f"{flash_attention!r}"
        )
    query, key, value = wt.asarray(query), wt.asarray(key), wt.asarray(value)
    shapes = (query.shape, key.shape, value.shape)
    if any(len(shape) != 4 for shape in shapes):
        raise ValueError(
            "dot_product_attention: query, key and value must be (batch, steps, heads, size), but "
            f"have shapes {shapes}"
        )
    scale = 1 / sqrt(query.shape[-1]) if scale is None else scale
    query, key, value = (wt.permute_dims(operand, (0, 2, 1, 3)) for operand in (query, key, value))
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = wt.repeat(key, groups, axis=1), wt.repeat(value, groups, axis=1)
    logits = wt.multiply(wt.matmul(query, key, transpose_b=True), scale)
    if attn_logits_soft_cap is not None:
        cap = attn_logits_soft_cap
        logits = wt.multiply(wt.tanh(wt.divide(logits, cap)), cap)
    if bias is not None:
        logits = wt.add(logits, bias)
    if is_causal:
        causal_mask = wt.astype(wt.tril(wt.ones(logits.shape[-2:]), 0), bool_)
        mask = causal_mask if mask is None else wt.logical_and(mask, causal_mask)
    if mask is not None:
        logits = wt.where(mask, logits, -0.7 * 3.4028235e38)
    return wt.permute_dims(wt.matmul(wt.softmax(logits), value), (0, 2, 1, 3))


# -- signals -----------------------------------------------------------------------------------


def _psnr(x1: TensorLike, x2: TensorLike, max_val: float) -> Tensor:
    """Return the peak signal-to-noise ratio: ``20 log10(max_val) - 10 log10(mean((x1 - x2)²))``.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> from webtensor import keras
        >>> round(keras.ops.psnr([1.0, 0.0], [0.9, 0.1], max_val=1.0).item(), 2)
        20.0
    """
    x1, x2 = as_float("psnr", "x1", x1), as_float("psnr", "x2", x2)
    if x1.shape != x2.shape:
        raise ValueError(
            f"psnr: x1 and x2 must have one shape, but have shapes {x1.shape} and {x2.shape}"
        )
    error = wt.mean(wt.squared_difference(x1, x2))
    return wt.subtract(20 * log(max_val, 10), wt.multiply(wt.log10(error), 10.0))


def _polar(abs_: TensorLike, angle: TensorLike) -> Tensor:
    """Return complex numbers from their absolute values and angles in radians.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.polar([2.0], [0.0]).tolist()
        [(2+0j)]
    """
    abs_, angle = as_float("polar", "abs_", abs_), as_float("polar", "angle", angle)
    return wt.complex(wt.multiply(abs_, wt.cos(angle)), wt.multiply(abs_, wt.sin(angle)))


TABLE = Table(
    "keras.src.ops.nn",
    {
        # -- activations -----------------------------------------------------------------------
        "celu": elementwise(lambda x, alpha=1.0: activations.celu(x, alpha), "alpha"),
        "elu": elementwise(lambda x, alpha=1.0: activations.elu(x, alpha), "alpha"),
        "gelu": elementwise(
            lambda x, approximate=True: activations.gelu(x, approximate), "approximate"
        ),
        "glu": op(lambda x, axis=-1: activations.glu(x, axis), "axis"),
        "hard_shrink": elementwise(activations.hard_shrink, "threshold"),
        "hard_sigmoid": unary(activations.hard_sigmoid),
        "hard_silu": unary(activations.hard_silu),
        "hard_swish": unary(activations.hard_silu, "HardSilu"),
        "hard_tanh": unary(activations.hard_tanh),
        "leaky_relu": elementwise(activations.leaky_relu, "negative_slope"),
        "log_sigmoid": unary(activations.log_sigmoid),
        "log_softmax": op(activations.log_softmax, "axis", spec=_same_shape),
        "relu": unary(wt.relu),
        "relu6": unary(wt.relu6),
        "selu": unary(activations.selu),
        "sigmoid": unary(activations.sigmoid),
        "silu": unary(activations.silu),
        "soft_shrink": elementwise(activations.soft_shrink, "threshold"),
        "softmax": op(activations.softmax, "axis", spec=_same_shape),
        "softplus": unary(activations.softplus),
        "softsign": unary(activations.softsign),
        "sparse_plus": unary(activations.sparse_plus),
        "sparse_sigmoid": unary(activations.sparse_sigmoid),
        "sparsemax": op(activations.sparsemax, "axis", spec=_same_shape),
        "squareplus": elementwise(activations.squareplus, "b"),
        "swish": unary(activations.silu, "Silu"),
        "tanh_shrink": unary(activations.tanh_shrink),
        "threshold": elementwise(activations.threshold, "threshold default_value"),
        # -- windows ---------------------------------------------------------------------------
        "adaptive_average_pool": _adaptive_pool("average"),
        "adaptive_max_pool": _adaptive_pool("max"),
        "average_pool": _pool("average"),
        "conv": op(_conv, "strides padding data_format dilation_rate", defaults=_FORMAT),
        "conv_transpose": op(
            _conv_transpose,
            "strides padding output_padding data_format dilation_rate",
            defaults=_FORMAT,
        ),
        "depth_to_space": op(_depth_to_space, "block_size data_format"),
        "depthwise_conv": op(
            _depthwise_conv, "strides padding data_format dilation_rate", defaults=_FORMAT
        ),
        "fold": op(unfolding.fold, "output_size kernel_size dilation padding stride"),
        "max_pool": _pool("max"),
        "separable_conv": op(
            _separable_conv, "strides padding data_format dilation_rate", defaults=_FORMAT
        ),
        "space_to_depth": op(_space_to_depth, "block_size data_format"),
        "unfold": op(unfolding.unfold, "kernel_size dilation padding stride"),
        # -- classes ---------------------------------------------------------------------------
        "binary_crossentropy": elementwise(_binary_crossentropy, "from_logits"),
        "categorical_crossentropy": op(_categorical_crossentropy, "from_logits axis"),
        "ctc_decode": op(
            ctc.ctc_decode,
            "strategy beam_width top_paths merge_repeated mask_index",
            class_name="CTCDecode",
        ),
        "ctc_loss": op(ctc.ctc_loss, "mask_index", class_name="CTCLoss"),
        "multi_hot": op(_multi_hot, "num_classes axis dtype sparse"),
        "one_hot": op(_one_hot, "num_classes axis dtype sparse", defaults={"dtype": config.floatx}),
        "sparse_categorical_crossentropy": op(_sparse_categorical_crossentropy, "from_logits axis"),
        # -- normalization ---------------------------------------------------------------------
        "batch_normalization": op(_batch_normalization, "axis epsilon", class_name="BatchNorm"),
        "layer_normalization": op(
            _layer_normalization,
            "axis epsilon rms_scaling",
            class_name="LayerNorm",
            spec=_same_shape,
        ),
        "moments": op(_moments, "axes keepdims synchronized"),
        "normalize": op(_normalize, "axis order epsilon"),
        "rms_normalization": op(
            _rms_normalization,
            "axis epsilon",
            class_name="RMSNorm",
            keywords="scale",
            spec=_same_shape,
        ),
        # -- attention and signals -------------------------------------------------------------
        "dot_product_attention": op(
            _dot_product_attention,
            "is_causal flash_attention attn_logits_soft_cap",
            keywords="bias mask scale",
        ),
        "polar": elementwise(_polar),
        "psnr": op(_psnr, "max_val", class_name="PSNR"),
    },
)


def __getattr__(name: str) -> Any:
    return TABLE.function(name)


#: Operations of ``keras.activations`` that no function of ``keras.ops`` makes.
ACTIVATIONS = Table(
    "keras.src.activations.activations",
    {
        "relu": elementwise(
            activations.relu, "negative_slope max_value threshold", class_name="ReLU"
        )
    },
)
