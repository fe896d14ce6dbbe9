"""Weights in blocks of few bits, as ONNX Runtime quantizes the matrices of language models."""

from __future__ import annotations

from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator
from webtensor.onnx.operations.quantization import of_blocks

__all__ = ["ROWS"]

#: The 16 numbers of 4 bits each, by ``quant_type`` (Dettmers et al., 2023).
_CODES: tuple[tuple[float, ...], ...] = (
    (0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4),
    (
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
        *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
        *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ),
)


def _unpacked(x: Tensor, bits: int) -> Tensor:
    """Return the numbers in bytes, of which the lowest bits are the first, along the last axis."""
    if bits not in (2, 4, 8):
        raise ValueError(f"bits must be 2, 4 or 8, not {bits}")
    if bits == 8:
        return x
    parts = [ops.bitwise_right_shift(x, shift) for shift in range(0, 8, bits)]
    stacked = ops.bitwise_and(ops.stack(parts, -1), (1 << bits) - 1)
    return ops.reshape(stacked, (*x.shape[:-1], x.shape[-1] * (8 // bits)))


def weights_of_blocks(
    b: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    g_idx: Tensor | None = None,
    *,
    bits: int = 4,
    block_size: int,
    k: int,
    n: int,
) -> Tensor:
    """Return a matrix of shape (k, n) whose columns are quantized in blocks.

    Without ``g_idx``, which has the block of each row, blocks follow each other.
    """
    if min(block_size, k, n) < 1:
        raise ValueError(f"block_size, K and N must be positive, not {block_size}, {k} and {n}")
    count = -(-k // block_size)
    values = ops.reshape(_unpacked(ops.reshape(b, (n, count, -1)), bits), (n, count * block_size))
    zeros: Any = 1 << bits - 1
    if zero_points is not None and str(zero_points.dtype) == "int32":
        zeros = _unpacked(ops.reshape(zero_points, (n, -1)), bits)[:, :count]
    elif zero_points is not None:
        zeros = ops.reshape(zero_points, (n, count))
    factors = ops.reshape(scales, (n, count))
    if g_idx is None:
        g_idx = ops.floor_divide(ops.arange(k), block_size)
    if not isinstance(zeros, int):
        zeros = ops.gather(zeros, g_idx, axis=1)
    shifted = ops.astype(values[:, :k] - zeros, "float32")
    return ops.matrix_transpose(shifted * ops.gather(factors, g_idx, axis=1))


def weights_of_codes(
    b: Tensor, absmax: Tensor, *, block_size: int, k: int, n: int, quant_type: int
) -> Tensor:
    """Return a matrix of shape (k, n) whose elements are codes of 4 bits, times those of blocks."""
    if quant_type not in (0, 1):
        raise ValueError(f"quant_type must be 0 or 1, not {quant_type}")
    codes = _CODES[quant_type]
    if not quant_type:
        codes += tuple(-code for code in codes)
    pairs = ops.stack([ops.bitwise_right_shift(b, 4), ops.bitwise_and(b, 15)], -1)
    values = ops.gather(ops.tensor(codes), ops.reshape(pairs, (-1,))[: k * n])
    factors = of_blocks(absmax, 0, values.size, block_size)
    return ops.matrix_transpose(ops.reshape(values * factors, (n, k)))


def gathered_blocks(
    data: Tensor,
    indices: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    output_dtype: str = "uint8",
    quantize_axis: int = 1,
) -> Tensor:
    """Gather rows of a tensor that is quantized in blocks."""
    rank = len(data.shape)
    is_packed = output_dtype == "uint8" and bits < 8
    if gather_axis % rank == quantize_axis % rank or (
        is_packed and quantize_axis % rank < rank - 1
    ):
        raise ValueError(f"blocks along axis {quantize_axis} are not supported")
    parts = [data, scales] if zero_points is None else [data, scales, zero_points]
    values, factors, *zeros = (ops.gather(part, indices, axis=gather_axis) for part in parts)
    axis = quantize_axis % rank - rank
    zero: Any = 1 << bits - 1 if output_dtype == "uint8" else 0
    if is_packed:
        values = _unpacked(values, bits)
    size = values.shape[axis]
    if zeros:
        zero = _unpacked(zeros[0], bits) if is_packed else zeros[0]
        zero = of_blocks(zero, axis, size, block_size)
    return ops.astype(values - zero, "float32") * of_blocks(factors, axis, size, block_size)


ROWS: dict[str, Row] = {
    "com.microsoft.GatherBlockQuantized-1": Operator(gathered_blocks),
    "com.microsoft.WeightsOfBlocks-1": Operator(weights_of_blocks),
    "com.microsoft.WeightsOfCodes-1": Operator(weights_of_codes),
}
