"""Operators that move elements by positions that do not depend on data: slices, padding, blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.graph.operations.arrays import reversed_sequences
from webtensor.io.stored_integers import INT32_MAX
from webtensor.onnx.operations.operators import Operator, integers, number
from webtensor.onnx.operations.shapes import checked_shape

__all__ = ["ROWS", "cropped"]


def sliced(
    x: Tensor,
    starts: list[int],
    ends: list[int],
    axes: list[int] | None = None,
    steps: list[int] | None = None,
) -> Tensor:
    """Return every step-th element of ranges of axes."""
    parts = [slice(None)] * len(x.shape)
    for axis, start, end, step in zip(
        range(len(starts)) if axes is None else axes,
        starts,
        ends,
        [1] * len(starts) if steps is None else steps,
        strict=True,
    ):
        if not step:
            raise ValueError("a step is 0")
        range_ = _range(start, end, step, x.shape[axis])
        stop = range_.stop if range_.stop >= 0 else None
        parts[axis] = slice(range_.start, stop, step) if len(range_) else slice(0, 0)
    return x[tuple(parts)]


def _range(start: int, end: int, step: int, size: int) -> range:
    """Return the indices of a slice; bounds outside an axis become the closest ones.

    Backward, the largest integer is the beginning of the axis, as in ONNX Runtime.
    """
    start, end = (bound + size if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(start, 0), size), min(max(end, 0), size), step)
    end = -1 if end >= INT32_MAX else min(max(end, -1), size - 1)
    return range(min(max(start, 0), size - 1), end, step)


def cropped(x: Tensor, begins: Sequence[int], ends: Sequence[int], fill: Any = 0) -> Tensor:
    """Add elements before and after each axis, or remove as many as a number is below zero."""
    if min((*begins, *ends), default=0) < 0:
        x = ops.slice(
            x,
            [max(-begin, 0) for begin in begins],
            [
                size - max(-begin, 0) - max(-end, 0)
                for size, begin, end in zip(x.shape, begins, ends, strict=True)
            ],
        )
        if max((*begins, *ends)) <= 0:
            return x
    pairs = [[max(begin, 0), max(end, 0)] for begin, end in zip(begins, ends, strict=True)]
    return ops.pad(x, pairs, fill)


def padded(
    x: Tensor,
    pads: list[int],
    value: Any = None,
    axes: list[int] | None = None,
    *,
    mode: str = "constant",
) -> Tensor:
    """Add elements before and after each axis: equal ones, or those of the tensor."""
    rank = len(x.shape)
    begins, ends = [0] * rank, [0] * rank
    chosen = range(rank) if axes is None else axes
    if len(pads) != 2 * len(chosen):
        raise ValueError(f"pads has {len(pads)} numbers for {len(chosen)} axes")
    for index, axis in enumerate(chosen):
        begins[axis], ends[axis] = pads[index], pads[index + len(chosen)]
    checked_shape([max(sum(sizes), 0) for sizes in zip(x.shape, begins, ends, strict=True)])
    if mode == "constant":
        if str(x.dtype) == "bool":
            filled = cropped(ops.astype(x, "int32"), begins, ends, int(value or 0))
            return ops.astype(filled, "bool")
        return cropped(x, begins, ends, value or 0)
    pairs = list(zip(begins, ends, strict=True))
    if mode == "reflect" and all(
        0 <= min(pair) <= max(pair) < size for pair, size in zip(pairs, x.shape, strict=True)
    ):
        return ops.mirror_pad(x, pairs, mode)
    for axis, (begin, end) in enumerate(pairs):
        if begin or end:
            x = ops.gather(x, _sources(begin, end, x.shape[axis], mode), axis=axis)
    return x


def _sources(begin: int, end: int, size: int, mode: str) -> Tensor:
    """Return the indices of the elements that a padded axis takes."""
    index = ops.arange(-begin, size + end)
    if mode == "edge":
        return ops.minimum(ops.maximum(index, 0), size - 1)
    if mode == "wrap":
        return ops.remainder(index, size)
    if mode == "reflect":
        period = max(2 * (size - 1), 1)
        index = ops.remainder(index, period)
        return ops.minimum(index, period - index)
    raise ValueError(f"mode must be 'constant', 'edge', 'reflect' or 'wrap', not {mode!r}")


def center_fitted(x: Tensor, shape: list[int], *, axes: list[int] | None = None) -> Tensor:
    """Crop or pad axes to sizes, at both ends alike."""
    begins, ends = [0] * len(x.shape), [0] * len(x.shape)
    for axis, size in zip(range(len(x.shape)) if axes is None else axes, shape, strict=True):
        difference = size - x.shape[axis]
        begins[axis] = difference // 2 if difference >= 0 else -(-difference // 2)
        ends[axis] = difference - begins[axis]
    return cropped(x, begins, ends)


def depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Move channels into blocks of height and width."""
    batch, channels, height, width = x.shape
    depth = channels // blocksize**2
    if mode == "CRD":
        blocks = ops.reshape(x, (batch, depth, blocksize, blocksize, height, width))
        order = (0, 1, 4, 2, 5, 3)
    else:
        blocks = ops.reshape(x, (batch, blocksize, blocksize, depth, height, width))
        order = (0, 3, 4, 1, 5, 2)
    shape = (batch, depth, height * blocksize, width * blocksize)
    return ops.reshape(ops.permute_dims(blocks, order), shape)


def space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    """Move blocks of height and width into channels."""
    batch, channels, height, width = x.shape
    rows, columns = height // blocksize, width // blocksize
    blocks = ops.reshape(x, (batch, channels, rows, blocksize, columns, blocksize))
    order = (0, 1, 3, 5, 2, 4) if mode == "CRD" else (0, 3, 5, 1, 2, 4)
    moved = ops.permute_dims(blocks, order)
    return ops.reshape(moved, (batch, channels * blocksize**2, rows, columns))


def with_reversed_sequences(
    x: Tensor, sequence_lens: Tensor, *, batch_axis: int = 1, time_axis: int = 0
) -> Tensor:
    """Reverse the first steps of each sequence of a batch."""
    return reversed_sequences(x, sequence_lens, time_axis, batch_axis)


def columns_to_image(
    x: Tensor,
    image_shape: list[int],
    block_shape: list[int],
    *,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    """Add blocks up where they lie in an image."""
    rank = len(image_shape)
    dilations, strides = dilations or [1] * rank, strides or [1] * rank
    pads = pads or [0] * 2 * rank
    outer = [size + pads[axis] + pads[axis + rank] for axis, size in enumerate(image_shape)]
    counts = [
        (outer[axis] - dilations[axis] * (block_shape[axis] - 1) - 1) // strides[axis] + 1
        for axis in range(rank)
    ]
    channels = x.shape[1] // prod(block_shape)
    blocks = ops.reshape(x, (x.shape[0], channels, prod(block_shape), *counts))
    image = ops.zeros((x.shape[0], channels, *outer))
    for index, offsets in enumerate(product(*map(range, block_shape))):
        part = blocks[:, :, index]
        for axis in range(rank):
            targets = ops.tensor(
                [
                    offsets[axis] * dilations[axis] + step * strides[axis]
                    for step in range(counts[axis])
                ],
                dtype="int32",
            )
            rows = ops.one_hot(targets, outer[axis], dtype="float32")
            part = ops.moveaxis(
                ops.linalg.tensordot(part, rows, axes=([2 + axis], [0])), -1, 2 + axis
            )
        image = image + part
    begins = [0, 0, *(-pad for pad in pads[:rank])]
    return cropped(image, begins, [0, 0, *(-pad for pad in pads[rank:])])


def triangle(x: Tensor, k: int = 0, *, upper: int = 1) -> Tensor:
    """Return the triangle above or below a diagonal, with zeros elsewhere."""
    return ops.triu(x, k) if upper else ops.tril(x, k)


ROWS: dict[str, Row] = {
    "CenterCropPad-1": Operator(center_fitted, shape=integers),
    "Col2Im-1": Operator(columns_to_image, image_shape=integers, block_shape=integers),
    "DepthToSpace-1": Operator(depth_to_space),
    "Pad-1": Operator(padded, pads=integers, value=number, axes=integers),
    "ReverseSequence-1": Operator(with_reversed_sequences),
    "Slice-1": Operator(sliced, starts=integers, ends=integers, axes=integers, steps=integers),
    "SpaceToDepth-1": Operator(space_to_depth),
    "Trilu-1": Operator(triangle, k=number),
}
