"""Kernels of matrix products and convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webtensor.backends.api import Backend, Elementwise, Handle, Kernel, Operand
from webtensor.backends.fused_activations import epilogue_operands
from webtensor.backends.numpy.backend import array_of, kernel
from webtensor.backends.numpy.windows import Array, fold, padded, windows
from webtensor.dtypes import DType
from webtensor.geometry import MatmulSizes, Window
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("matmul")
def matmul(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, sizes: MatmulSizes
) -> Handle:
    """Multiply batches of matrices."""

    def matrices(x: Operand, batched: bool, transposed: bool, rows: int, columns: int) -> Array:
        inner = (columns, rows) if transposed else (rows, columns)
        stored = array_of(x).reshape(sizes.batch if batched else 1, *inner)
        return stored.transpose(0, 2, 1) if transposed else stored

    a = matrices(inputs[0], sizes.a_batched, sizes.transpose_a, sizes.m, sizes.k)
    b = matrices(inputs[1], sizes.b_batched, sizes.transpose_b, sizes.k, sizes.n)
    return (a @ b).reshape(shape)


@kernel("conv2d")
def conv2d(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Multiply each window by the filter."""
    x, filter = map(array_of, inputs)
    return np.tensordot(windows(padded(x, window), window), filter, 3)


@kernel("conv2d_input_gradient")
def conv2d_input_gradient(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Transpose of ``conv2d`` with respect to its input."""
    dy, filter = map(array_of, inputs)
    return fold(np.tensordot(dy, filter, ((3,), (3,))), window)


@kernel("conv2d_filter_gradient")
def conv2d_filter_gradient(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Transpose of ``conv2d`` with respect to its filter."""
    x, dy = map(array_of, inputs)
    patches = windows(padded(x, window), window)
    return np.tensordot(patches, dy, ((0, 1, 2), (0, 1, 2)))


def _by_channel(y: Array, window: Window) -> Array:
    """View output channels as (input channel, multiplier)."""
    return y.reshape(*y.shape[:3], window.in_channels, -1)


@kernel("depthwise_conv2d")
def depthwise_conv2d(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Multiply each window by each channel's own filters."""
    x, filter = map(array_of, inputs)
    patches = windows(padded(x, window), window)
    return np.einsum("bijhwc,hwcm->bijcm", patches, filter).reshape(shape)


@kernel("depthwise_conv2d_input_gradient")
def depthwise_conv2d_input_gradient(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Transpose of ``depthwise_conv2d`` with respect to its input."""
    dy, filter = map(array_of, inputs)
    return fold(np.einsum("bijcm,hwcm->bijhwc", _by_channel(dy, window), filter), window)


@kernel("depthwise_conv2d_filter_gradient")
def depthwise_conv2d_filter_gradient(
    backend: Backend, inputs: Sequence[Operand], shape: Shape, dtype: DType, window: Window
) -> Handle:
    """Transpose of ``depthwise_conv2d`` with respect to its filter."""
    x, dy = map(array_of, inputs)
    patches = windows(padded(x, window), window)
    return np.einsum("bijhwc,bijcm->hwcm", patches, _by_channel(dy, window))


def _fused(product: Kernel) -> Kernel:
    """Make the kernel of a product with an epilogue: a bias, a residual, an activation."""

    def run_fused(
        backend: Backend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        geometry: MatmulSizes | Window,
        row: Elementwise | None,
        *parameters: float,
    ) -> Handle:
        arrays = [array_of(operand) for operand in inputs[2:]]
        bias, slopes, residual = epilogue_operands(arrays, row)
        y = product(backend, inputs[:2], shape, dtype, geometry) + bias
        if residual is not None:
            y = y + residual
        if row is None:
            return y
        operands = (y,) if slopes is None else (y, slopes)
        return row.numpy(np, *operands, *parameters).astype(np.float32)

    return run_fused


for _product in (matmul, conv2d, depthwise_conv2d):
    kernel(f"fused_{_product.__name__}")(_fused(_product))
