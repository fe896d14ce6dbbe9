"""Operations of backward passes, which a model has that differentiates one of its functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from webtensor import ops
from webtensor.autodiff.functions import grad
from webtensor.engine import Tensor
from webtensor.graph.operations import arrays, images, products
from webtensor.graph.operations.arguments import attribute, axis, integers, layout, pairs
from webtensor.graph.operations.elementwise import unless_zero
from webtensor.graph.operations.rows import Argument, Attribute, Row, Tensors, resolved

__all__ = ["ONLY_HERE"]

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


# -- elements ----------------------------------------------------------------------------------


def where_positive(dy: Tensor, x: Tensor, otherwise: Tensor | float = 0.0) -> Tensor:
    """Return a gradient where x is above zero, and ``otherwise`` elsewhere."""
    return ops.where(ops.greater(x, 0), dy, otherwise)


def relu6_gradient(dy: Tensor, x: Tensor) -> Tensor:
    """Return a gradient where x is between 0 and 6."""
    return ops.where(ops.less(x, 6), where_positive(dy, x), 0.0)


def leaky_relu_gradient(dy: Tensor, x: Tensor, alpha: float) -> Tensor:
    """Return a gradient, times alpha where x is not above zero."""
    return where_positive(dy, x, dy * alpha)


def elu_gradient(dy: Tensor, y: Tensor) -> Tensor:
    """Return the gradient of ELU from its result."""
    return ops.where(ops.less(y, 0), dy * (y + 1), dy)


def selu_gradient(dy: Tensor, y: Tensor) -> Tensor:
    """Return the gradient of SELU from its result."""
    return ops.where(ops.less(y, 0), dy * (y + _SELU_ALPHA * _SELU_SCALE), dy * _SELU_SCALE)


#: Gradients that are zero where dy is, even if y is infinite.
_UNLESS_ZERO: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "InvGrad": lambda dy, y: -dy * y * y,
    "ReciprocalGrad": lambda dy, y: -dy * y * y,
    "RsqrtGrad": lambda dy, y: dy * y * y * y * -0.5,
    "SqrtGrad": lambda dy, y: dy * 0.5 / y,
}
_OF_RESULTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
}
_OF_GRADIENTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "EluGrad": elu_gradient,
    "Relu6Grad": relu6_gradient,
    "ReluGrad": where_positive,
    "SeluGrad": selu_gradient,
    "SoftplusGrad": lambda dy, x: dy * ops.sigmoid(x),
    "SoftsignGrad": lambda dy, x: dy / ops.square(1 + ops.abs(x)),
}


def bias_gradient(dy: Tensor, data_format: str) -> Tensor:
    """Sum the gradient of each channel."""
    channel = 1 if data_format.startswith("NC") else len(dy.shape) - 1
    return ops.sum(dy, tuple(axis for axis in range(len(dy.shape)) if axis != channel))


# -- functions that are differentiated -----------------------------------------------------------


def gradient_at(
    function: Callable[..., Tensor] | str, x: Tensor, dy: Tensor, **options: Any
) -> Tensor:
    """Return the gradient of a function at x."""
    compute = resolved(function)
    gradient: Tensor = grad(lambda x: compute(x, **options))(x, dy)
    return gradient


def gradient_of_shape(
    function: Callable[..., Tensor] | str, dy: Tensor, shape: Sequence[int], **options: Any
) -> Tensor:
    """Return the gradient of a linear function, which follows from the shape of its argument."""
    return gradient_at(function, ops.zeros(shape), dy, **options)


def filter_gradient(
    function: str, x: Tensor, dy: Tensor, shape: Sequence[int], **options: Any
) -> Tensor:
    """Return the gradient of the filter of a convolution."""
    compute = resolved(function)
    return gradient_of_shape(lambda filter: compute(x, filter, **options), dy, shape)


def input_gradient(
    function: str, filter: Tensor, dy: Tensor, shape: Sequence[int], **options: Any
) -> Tensor:
    """Return the gradient of the input of a convolution."""
    compute = resolved(function)
    return gradient_of_shape(lambda x: compute(x, filter, **options), dy, shape)


def image_gradient(op: str, dy: Tensor, image: Tensor, **options: Any) -> Tensor:
    """Return the gradient of an image that was resized."""
    return gradient_at(op, image, dy, size=dy.shape[1:3], **options)


def image_gradient_of_size(op: str, dy: Tensor, size: Sequence[int], **options: Any) -> Tensor:
    """Return the gradient of an image of this size that was resized."""
    shape = (dy.shape[0], *size, dy.shape[3])
    return gradient_of_shape(op, dy, shape, size=dy.shape[1:3], **options)


def padding_gradient(
    op: str, dy: Tensor, paddings: Sequence[Sequence[int]], **options: Any
) -> Tensor:
    """Return the gradient of a tensor that was padded."""
    shape = [size - sum(pair) for size, pair in zip(dy.shape, paddings, strict=True)]
    return gradient_of_shape(op, dy, shape, paddings=paddings, **options)


def normalization_gradients(
    dy: Tensor, x: Tensor, scale: Tensor, mean: Tensor, variance: Tensor, **options: Any
) -> tuple[Tensor, ...]:
    """Return the gradients of the arguments of a batch normalization."""

    def compute(x: Tensor, scale: Tensor, offset: Tensor) -> Tensor:
        return products.normalized(x, scale, offset, mean, variance, **options)[0]

    zeros = ops.zeros_like(scale)
    gradients = grad(compute, (0, 1, 2))(x, scale, zeros, dy=dy)
    return (*gradients, zeros, zeros)


def cross_entropy(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cross entropy of each row, and its gradient."""
    loss = -ops.sum(labels * ops.log_softmax(logits), -1)
    return loss, ops.softmax(logits) - labels


def sparse_cross_entropy(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cross entropy of each row, whose label is an index, and its gradient."""
    return cross_entropy(logits, ops.one_hot(labels, logits.shape[-1]))


# -- shapes ------------------------------------------------------------------------------------


def broadcast_axes(x: Tensor, y: Tensor) -> list[Tensor]:
    """Return along which axes each of two shapes is broadcast to the other, or has size 1."""
    shapes: list[list[int]] = [x.tolist(), y.tolist()]
    rank = max(map(len, shapes))
    axes = [
        [axis for axis, size in enumerate([1] * (rank - len(shape)) + shape) if size == 1]
        for shape in shapes
        if shapes[0] != shapes[1]
    ] or [[], []]
    return [ops.tensor(numbers, (len(numbers),), "int32") for numbers in axes]


def offsets_of_parts(shapes: Sequence[Tensor], axis: int) -> list[Tensor]:
    """Return where each part begins in what they are concatenated to."""
    offsets, total = [], 0
    for shape in shapes:
        sizes = shape.tolist()
        axis %= len(sizes)
        offset = [0] * len(sizes)
        offset[axis] = total
        total += sizes[axis]
        offsets.append(ops.tensor(offset, dtype="int32"))
    return offsets


def inverse_permutation(x: Tensor) -> Tensor:
    """Return the permutation that undoes another."""
    return ops.argsort(x)


def _gradient(row: Row, function: Callable[..., Any], *arguments: int, **options: Argument) -> Row:
    """Return the row of a gradient, which has the attributes of the operation."""
    own = {name: value for name, value in row.options.items() if isinstance(value, Attribute)}
    return Row(partial(function, row.function), *arguments, **options, **own)


_CONVOLUTION, _DEPTHWISE = products.ROWS["Conv2D"], products.ROWS["DepthwiseConv2dNative"]
_NORMALIZATION = products.ROWS["FusedBatchNormV3"]

ONLY_HERE = {
    # elements
    **{op: Row(function, 0, 1) for op, function in (_OF_RESULTS | _OF_GRADIENTS).items()},
    **{op: Row(unless_zero(function), 1, 0) for op, function in _UNLESS_ZERO.items()},
    "BiasAddGrad": Row(bias_gradient, 0, data_format=layout("NHWC")),
    "LeakyReluGrad": Row(leaky_relu_gradient, 0, 1, alpha=attribute("alpha", 0.2)),
    # windows, filters and images
    "AvgPoolGrad": _gradient(products.ROWS["AvgPool"], gradient_of_shape, 1, shape=integers(0)),
    "Conv2DBackpropFilter": _gradient(_CONVOLUTION, filter_gradient, 0, 2, shape=integers(1)),
    "DepthwiseConv2dNativeBackpropFilter": _gradient(
        _DEPTHWISE, filter_gradient, 0, 2, shape=integers(1)
    ),
    "DepthwiseConv2dNativeBackpropInput": _gradient(
        _DEPTHWISE, input_gradient, 1, 2, shape=integers(0)
    ),
    "MaxPoolGrad": _gradient(products.ROWS["MaxPool"], gradient_at, 0, 2),
    "ResizeBilinearGrad": _gradient(images.ROWS["ResizeBilinear"], image_gradient, 0, 1),
    "ResizeNearestNeighborGrad": _gradient(
        images.ROWS["ResizeNearestNeighbor"], image_gradient_of_size, 0, size=integers(1)
    ),
    "MirrorPadGrad": _gradient(arrays.ROWS["MirrorPad"], padding_gradient, 0, paddings=pairs(1)),
    # normalization and losses
    "FusedBatchNormGradV3": Row(normalization_gradients, 0, 1, 2, 3, 4, **_NORMALIZATION.options),
    "SoftmaxCrossEntropyWithLogits": Row(cross_entropy, 0, 1),
    "SparseSoftmaxCrossEntropyWithLogits": Row(sparse_cross_entropy, 0, 1),
    # shapes
    "BroadcastGradientArgs": Row(broadcast_axes, 0, 1).dynamic().reading(0, 1),
    "ConcatOffset": Row(offsets_of_parts, Tensors(1), axis=axis(0)).reading(Tensors(1)),
    "InvertPermutation": Row(inverse_permutation, 0),
    "StridedSliceGrad": _gradient(
        arrays.ROWS["StridedSlice"],
        gradient_of_shape,
        4,
        shape=integers(0),
        begin=integers(1),
        end=integers(2),
        strides=integers(3),
    ),
}
