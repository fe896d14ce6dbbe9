"""Constants of TensorFlow Lite's models as tensors: dense, and numbers where they are quantized."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.errors import ModelFormatError
from webtensor.formats import tflite as format_
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import ITEM_SIZES, Buffer, Elements
from webtensor.io.stored_integers import clamped, unpacked
from webtensor.io.stored_tensors import tensor_of

__all__ = ["along", "constant_of"]


def constant_of(stored: format_.Tensor, where: str, budget: Budget) -> Tensor:
    """Return a constant; quantized ones as the float32 numbers that they stand for.

    Args:
        stored: the constant.
        where: what errors call the file.
        budget: limits what it may cost.

    Raises:
        ModelFormatError: it has another number of bytes than its shape needs, or it costs more than
            the budget.
    """
    label = f"{where}: tensor {stored.name!r:.200}"
    with reading(label), on_host("constants"):
        budget.spend(4 * budget.size_of(stored.shape, label), label)
        if stored.sparsity is not None:
            elements = _dense(stored, stored.sparsity, label)
        else:
            elements = stored.elements(where, budget)
        value = tensor_of(clamped(unpacked(elements)), label)
        quantization = stored.quantization
        if quantization is None or str(value.dtype) != "int32":
            return value
        numbers = ops.astype(value, "float32")
        if any(quantization.zero_points):
            zeros = list(map(float, quantization.zero_points))
            numbers = ops.subtract(numbers, along(zeros, stored.shape, quantization.dimension))
        scales = along(quantization.scales, stored.shape, quantization.dimension)
        return ops.multiply(numbers, scales)


def along(values: Sequence[float], shape: Sequence[int], dimension: int) -> Tensor | float:
    """Return one number, or one for each index along a dimension, so that it broadcasts."""
    if len(values) == 1:
        return float(values[0])
    sizes = [1] * len(shape)
    sizes[dimension] = len(values)
    return ops.tensor([float(value) for value in values], shape=sizes, dtype="float32")


# -- sparse constants --------------------------------------------------------------------------


def _dense(stored: format_.Tensor, sparsity: format_.Sparsity, label: str) -> Elements:
    """Return all elements of a sparse constant, most of which are zeros."""
    if stored.dtype not in ITEM_SIZES:
        raise ModelFormatError(f"{label} of dtype {stored.dtype} is sparse, which is not supported")
    width = ITEM_SIZES[stored.dtype]
    data: Buffer = stored.data or b""
    rank = len(stored.shape)
    blocks = [
        sparsity.dimensions[sparsity.traversal_order.index(rank + index)].size
        for index in range(len(sparsity.block_map))
    ]
    if min(blocks, default=1) < 1:
        raise ModelFormatError(f"{label} has blocks of the sizes {blocks}")
    dense = bytearray(prod(stored.shape) * width)
    steps = _steps(stored.shape, sparsity, blocks)
    offsets = [0]
    for dimension, step in zip(sparsity.dimensions, steps, strict=True):
        offsets = _descended(dimension, step, offsets, len(data), label)
    if len(offsets) * width != len(data):
        raise ModelFormatError(
            f"{label} has {len(data)} bytes, but its indices are those of {len(offsets)} elements"
        )
    for index, offset in enumerate(offsets):
        dense[offset * width : (offset + 1) * width] = data[index * width : (index + 1) * width]
    return Elements(stored.shape, stored.dtype, bytes(dense))


def _steps(
    shape: Sequence[int], sparsity: format_.Sparsity, blocks: Sequence[int]
) -> list[tuple[int, int]]:
    """Return how far an index of each stored dimension leads in the dense array, and its size."""
    rank = len(shape)
    strides = [prod(shape[axis + 1 :]) for axis in range(rank)]
    factors = [1] * rank
    for axis, size in zip(sparsity.block_map, blocks, strict=True):
        factors[axis] *= size
    steps = []
    for dimension in sparsity.traversal_order:
        if dimension < rank:
            size = shape[dimension] // factors[dimension]
            steps.append((strides[dimension] * factors[dimension], size))
        else:
            axis = sparsity.block_map[dimension - rank]
            steps.append((strides[axis], blocks[dimension - rank]))
    return steps


def _descended(
    dimension: format_.SparseDimension,
    step: tuple[int, int],
    offsets: list[int],
    limit: int,
    label: str,
) -> list[int]:
    """Return where the indices of a further dimension lead, from where those above it did."""
    stride, size = step
    impossible = ModelFormatError(f"{label} is sparse in an impossible way")
    if dimension.format == "DENSE":
        if len(offsets) * size > limit or dimension.size != size:
            raise impossible
        return [offset + stride * index for offset in offsets for index in range(size)]
    segments, indices = list(dimension.segments), list(dimension.indices)
    is_fit = (
        len(segments) == len(offsets) + 1
        and segments[0] == 0
        and segments[-1] == len(indices) <= limit
        and segments == sorted(segments)
        and all(0 <= index < size for index in indices)
    )
    if not is_fit:
        raise impossible
    return [
        offset + stride * index
        for offset, (begin, end) in zip(offsets, pairwise(segments), strict=True)
        for index in indices[begin:end]
    ]
