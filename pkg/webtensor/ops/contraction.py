"""Contractions: matmul, dot, conv2d, depthwise_conv2d, and the primitives of their gradients."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import complex64, float32, int32, promote
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, as_operands, run
from webtensor.geometry import MatmulSizes, Padding, Window, make_window
from webtensor.ops.broadcasting import broadcast_to, sum_to
from webtensor.ops.casting import cast_to
from webtensor.ops.creation import zeros
from webtensor.ops.movement import permute_dims, reshape
from webtensor.ops.rows import COMPLEX_RULES
from webtensor.shapes import Shape, broadcast_shapes, prod

__all__ = ["conv2d", "depthwise_conv2d", "dot", "matmul"]

# -- matrix multiplication ----------------------------------------------------------------------


def _gradient_a(dy: Tensor, y: Tensor, a: Tensor, b: Tensor, sizes: MatmulSizes) -> Tensor:
    if sizes.transpose_a:
        return sum_to(matmul(b, dy, sizes.transpose_b, True), a.shape)
    return sum_to(matmul(dy, b, False, not sizes.transpose_b), a.shape)


def _gradient_b(dy: Tensor, y: Tensor, a: Tensor, b: Tensor, sizes: MatmulSizes) -> Tensor:
    if sizes.transpose_b:
        return sum_to(matmul(dy, a, True, sizes.transpose_a), b.shape)
    return sum_to(matmul(a, dy, not sizes.transpose_a, False), b.shape)


_MATMUL = Primitive("matmul", gradients=(_gradient_a, _gradient_b))


def matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False
) -> Tensor:
    """Matrix product of the last two axes; the axes before them broadcast.

    An operand of rank 1 is a row on the left and a column on the right, and its axis is removed
    from the result, as in NumPy. The result is float32, or int32 for two int32 operands.

    Raises:
        ValueError: an operand is a scalar, the inner lengths differ, or the batches do not
            broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.matmul([[1.0, 2.0]], [[3.0], [4.0]]).tolist()
        [[11.0]]
    """
    a, b = as_operands("matmul", a, b)
    if not a.shape or not b.shape:
        raise ValueError(f"matmul: operands must have axes, but got shapes {a.shape}, {b.shape}")
    dtype = promote(promote(a.dtype, b.dtype), int32)
    a, b = cast_to(a, dtype), cast_to(b, dtype)
    if dtype is complex64:
        return COMPLEX_RULES["matmul"](a, b, transpose_a, transpose_b)
    if len(a.shape) == 1 or len(b.shape) == 1:
        return _vector_product(a, b, transpose_a, transpose_b)
    m, k = a.shape[:-3:-1] if transpose_a else a.shape[-2:]
    other, n = b.shape[:-3:-1] if transpose_b else b.shape[-2:]
    if k != other:
        raise ValueError(
            f"matmul: a has {k} columns, but b has {other} rows (a.shape={a.shape}, "
            f"b.shape={b.shape}, transpose_a={transpose_a}, transpose_b={transpose_b})"
        )
    batches = broadcast_shapes("matmul", a.shape[:-2], b.shape[:-2])
    shape = (*batches, m, n)
    if k == 0:
        return zeros(shape, dtype)
    if len(b.shape) == 2 < len(a.shape) and not transpose_a:
        rows = reshape(a, (prod(a.shape[:-1]), k))
        return reshape(matmul(rows, b, False, transpose_b), shape)
    a = _batched(a, batches)
    b = _batched(b, batches)
    batch = prod(batches)
    a_batched = prod(a.shape[:-2]) == batch > 1
    b_batched = prod(b.shape[:-2]) == batch > 1
    sizes = MatmulSizes(batch, m, k, n, bool(transpose_a), bool(transpose_b), a_batched, b_batched)
    return run(_MATMUL, (a, b), shape, dtype, sizes)


def _batched(x: Tensor, batches: Shape) -> Tensor:
    """Repeat a batch of matrices to the full batch unless it is whole or a single matrix."""
    own = prod(x.shape[:-2])
    return x if own in (1, prod(batches)) else broadcast_to(x, (*batches, *x.shape[-2:]))


def _vector_product(a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    a_is_vector, b_is_vector = len(a.shape) == 1, len(b.shape) == 1
    left = reshape(a, (1, a.shape[0])) if a_is_vector else a
    right = reshape(b, (b.shape[0], 1)) if b_is_vector else b
    product = matmul(left, right, transpose_a and not a_is_vector, transpose_b and not b_is_vector)
    shape = product.shape
    if b_is_vector:
        shape = shape[:-1]
    if a_is_vector:
        shape = shape[:-2] + shape[-1:] if not b_is_vector else shape[:-1]
    return reshape(product, shape)


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Product of vectors and matrices of rank 1 or 2.

    Example:
        >>> import webtensor as wt
        >>> wt.dot([1, 2], [3, 4]).tolist()
        11
    """
    a, b = as_operands("dot", a, b)
    if len(a.shape) not in (1, 2) or len(b.shape) not in (1, 2):
        raise ValueError(f"dot: operands must have rank 1 or 2, but got {a.shape} and {b.shape}")
    return matmul(a, b)


# -- convolution --------------------------------------------------------------------------------
#
# Convolution is linear in each operand, so three primitives are closed under differentiation: the
# convolution and its transposes with respect to the input and the filter.


def _family(prefix: str) -> tuple[Primitive, Primitive, Primitive]:
    """Make a convolution primitive and its two transposes."""

    def forward(x: Tensor, filter: Tensor, window: Window) -> Tensor:
        shape = (window.batch, window.out_height, window.out_width, window.out_channels)
        return run(convolve, (x, filter), shape, float32, window)

    def to_input(dy: Tensor, filter: Tensor, window: Window) -> Tensor:
        shape = (window.batch, window.in_height, window.in_width, window.in_channels)
        return run(input_gradient, (dy, filter), shape, float32, window)

    def to_filter(x: Tensor, dy: Tensor, shape: Shape, window: Window) -> Tensor:
        if x.size == 0:
            return zeros(shape)
        return run(filter_gradient, (x, dy), shape, float32, window)

    convolve = Primitive(
        prefix,
        gradients=(
            lambda dy, y, x, filter, window: to_input(dy, filter, window),
            lambda dy, y, x, filter, window: to_filter(x, dy, filter.shape, window),
        ),
    )
    input_gradient = Primitive(
        f"{prefix}_input_gradient",
        gradients=(
            lambda ddx, dx, dy, filter, window: forward(ddx, filter, window),
            lambda ddx, dx, dy, filter, window: to_filter(ddx, dy, filter.shape, window),
        ),
    )
    filter_gradient = Primitive(
        f"{prefix}_filter_gradient",
        gradients=(
            lambda ddw, dw, x, dy, window: to_input(dy, ddw, window),
            lambda ddw, dw, x, dy, window: forward(x, ddw, window),
        ),
    )
    return convolve, input_gradient, filter_gradient


_CONV2D, _, _ = _family("conv2d")
_DEPTHWISE_CONV2D, _, _ = _family("depthwise_conv2d")


def _images(name: str, x: TensorLike, data_format: str) -> tuple[Tensor, bool]:
    """Return ``x`` as a float batch with channels last, and whether a batch axis was added."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"{name}: data_format must be 'NHWC' or 'NCHW', but got {data_format!r}")
    x = cast_to(as_operand(name, x), float32)
    single = len(x.shape) == 3
    if single:
        x = reshape(x, (1, *x.shape))
    if len(x.shape) != 4:
        raise ValueError(f"{name}: x must have rank 3 or 4, but its shape is {x.shape}")
    return (permute_dims(x, (0, 2, 3, 1)) if data_format == "NCHW" else x), single


def _as_given(y: Tensor, single: bool, data_format: str) -> Tensor:
    """Undo what ``_images`` did to the layout."""
    if data_format == "NCHW":
        y = permute_dims(y, (0, 3, 1, 2))
    return reshape(y, y.shape[1:]) if single else y


def _convolve(
    primitive: Primitive, x: Tensor, filter: Tensor, channels: int, options: tuple[Any, ...]
) -> Tensor:
    name = primitive.name
    size = (filter.shape[0], filter.shape[1])
    window = make_window(name, x.shape, channels, size, *options)
    shape = (window.batch, window.out_height, window.out_width, window.out_channels)
    if filter.size == 0:
        return zeros(shape)
    return run(primitive, (x, filter), shape, float32, window)


def _as_filter(name: str, x: Tensor, filter: TensorLike) -> Tensor:
    held = cast_to(as_operand(name, filter), float32)
    if len(held.shape) != 4:
        raise ValueError(f"{name}: filter must have rank 4, but its shape is {held.shape}")
    if held.shape[2] != x.shape[3]:
        raise ValueError(
            f"{name}: filter has {held.shape[2]} input channels, but x has {x.shape[3]} "
            f"(x.shape={x.shape}, filter.shape={held.shape})"
        )
    return held


def conv2d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any = 1,
    pad: Padding = "valid",
    data_format: str = "NHWC",
    dilations: Any = 1,
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Two-dimensional convolution (cross-correlation, as in every deep-learning library).

    ``x`` is (batch, height, width, in_channels), or without batch; ``filter`` is (height, width,
    in_channels, out_channels). ``strides`` and ``dilations`` are a number or (height, width).
    ``pad`` is "same", "valid", a number, or [[0, 0], [top, bottom], [left, right], [0, 0]].
    ``dim_rounding_mode`` ("floor", which is the default, "round" or "ceil") says what becomes of an
    output length that is not whole.

    Raises:
        ValueError: shapes or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.conv2d(wt.ones((1, 2, 2, 1)), wt.ones((2, 2, 1, 1))).tolist()
        [[[[4.0]]]]
    """
    images, single = _images("conv2d", x, data_format)
    filter = _as_filter("conv2d", images, filter)
    y = _convolve(
        _CONV2D, images, filter, filter.shape[3], (strides, pad, dilations, dim_rounding_mode)
    )
    return _as_given(y, single, data_format)


def depthwise_conv2d(
    x: TensorLike,
    filter: TensorLike,
    strides: Any = 1,
    pad: Padding = "valid",
    data_format: str = "NHWC",
    dilations: Any = 1,
    dim_rounding_mode: str | None = None,
) -> Tensor:
    """Convolution of each channel with filters of its own.

    ``filter`` is (height, width, in_channels, multiplier); the result has in_channels × multiplier
    channels, those of one input channel side by side. The rest is as in ``conv2d``.

    Example:
        >>> import webtensor as wt
        >>> wt.depthwise_conv2d(wt.ones((1, 2, 2, 2)), wt.ones((2, 2, 2, 1))).tolist()
        [[[[4.0, 4.0]]]]
    """
    images, single = _images("depthwise_conv2d", x, data_format)
    filter = _as_filter("depthwise_conv2d", images, filter)
    channels = filter.shape[2] * filter.shape[3]
    y = _convolve(
        _DEPTHWISE_CONV2D, images, filter, channels, (strides, pad, dilations, dim_rounding_mode)
    )
    return _as_given(y, single, data_format)
