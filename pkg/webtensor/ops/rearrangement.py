"""Arrangements made of slices, joins, views and permutations: roll, tile, blocks, mirrors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from webtensor.arguments import as_integer, as_integers, as_pairs_of_integers, check_choice
from webtensor.dtypes import complex64, int32, string_
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, from_host, planned, run
from webtensor.ops.binary import greater_equal, less_equal
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.indexing import get_item
from webtensor.ops.movement import (
    MAX_EMPTY_PARTS,
    as_indices,
    concat,
    expand_dims,
    flatten,
    flip,
    gather,
    pad,
    part,
    permute_dims,
    reshape,
    slice as _slice,
)
from webtensor.ops.sequences import arange, row_numbers
from webtensor.ops.ternary import where
from webtensor.shapes import Shape, broadcast_shapes, check_size, normalize_axis, prod

__all__ = [
    "batch_to_space_nd",
    "broadcast_args",
    "depth_to_space",
    "diag",
    "ensure_shape",
    "meshgrid",
    "mirror_pad",
    "moveaxis",
    "repeat",
    "roll",
    "space_to_batch_nd",
    "strided_slice",
    "tile",
    "tril",
    "triu",
    "unstack",
]


def axes_in_order(name: str, axis: int | Sequence[int], rank: int) -> list[int]:
    """Return one axis or several, possibly negative, as a list in the same order."""
    return [normalize_axis(name, index, rank) for index in as_integers(name, "axis", axis)]


def part_along(x: Tensor, axis: int, begin: int, size: int) -> Tensor:
    """A block of ``x``, cut along one axis only."""
    rank = len(x.shape)
    begins = [begin if index == axis else 0 for index in range(rank)]
    return _slice(x, begins, [size if index == axis else -1 for index in range(rank)])


# -- along axes -----------------------------------------------------------------------------------


def roll(
    x: TensorLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> Tensor:
    """Shift elements along axes, from the end back to the front (array API standard).

    Without ``axis``, the flat tensor is shifted. Several axes go with several shifts, or one.

    Raises:
        TypeError: a shift is not an integer.
        ValueError: an axis is out of range, or there are not as many shifts as axes.

    Example:
        >>> import webtensor as wt
        >>> wt.roll([1, 2, 3, 4], 1).tolist()
        [4, 1, 2, 3]
    """
    operand = as_operand("roll", x)
    shifts = as_integers("roll", "shift", shift)
    if axis is None:
        return reshape(roll(flatten(operand), sum(shifts), 0), operand.shape)
    axes = axes_in_order("roll", axis, len(operand.shape))
    if len(shifts) not in (1, len(axes)):
        raise ValueError(
            f"roll: shift must be one number, or one for each axis of {axes}, but got {shift}"
        )
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    for dimension, by in zip(axes, shifts, strict=True):
        size = operand.shape[dimension]
        start = -by % size if size else 0
        if start:
            operand = concat(
                [
                    part_along(operand, dimension, start, -1),
                    part_along(operand, dimension, 0, start),
                ],
                dimension,
            )
    return operand if operand is not x else operand.clone()


def repeat(x: TensorLike, repeats: TensorLike, axis: int | None = None) -> Tensor:
    """Repeat each element along an axis, or of the flat tensor (array API standard).

    ``repeats`` is a number for all, or one for each index along the axis; a tensor of them is read
    to the host, because the result's shape depends on it.

    Raises:
        TypeError: ``repeats`` are not integers.
        ValueError: they are negative, or not one for each index.

    Example:
        >>> import webtensor as wt
        >>> wt.repeat([1, 2], 2).tolist(), wt.repeat([[1, 2]], [2, 1], axis=1).tolist()
        ([1, 1, 2, 2], [[1, 1, 2]])
    """
    operand = as_operand("repeat", x)
    if axis is None:
        operand, axis = flatten(operand), 0
    axis = normalize_axis("repeat", axis, len(operand.shape))
    size = operand.shape[axis]
    before, after = operand.shape[:axis], operand.shape[axis + 1 :]
    if isinstance(repeats, int) and not isinstance(repeats, bool):
        counts = [repeats]
    else:
        numbers = as_indices("repeat", repeats, "repeats")
        if len(numbers.shape) > 1 or numbers.size not in (1, size):
            raise ValueError(
                f"repeat: repeats must be one number, or {size}, one for each index along axis "
                f"{axis}, but its shape is {numbers.shape}"
            )
        counts = list(numbers.data_sync())
    if min(counts, default=0) < 0:
        raise ValueError(f"repeat: repeats must not be negative, but got {min(counts)}")
    total = counts[0] * size if len(counts) == 1 else sum(counts)
    check_size("repeat", "repeats", repeats, total * prod(before) * prod(after))
    if len(counts) == 1:
        spread = broadcast_to(expand_dims(operand, axis + 1), (*before, size, counts[0], *after))
        return reshape(spread, (*before, size * counts[0], *after))
    return gather(operand, row_numbers("repeat", counts), axis)


@planned
def tile(x: TensorLike, repetitions: Sequence[int]) -> Tensor:
    """Repeat a tensor ``repetitions[i]`` times along axis ``i``.

    Fewer repetitions than axes apply to the last axes, more add axes in front, as in NumPy.

    The result has the dtype of ``x``.

    Raises:
        ValueError: a number of repetitions is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.tile([[1, 2]], (2, 2)).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    x = as_operand("tile", x)
    times = as_integers("tile", "repetitions", repetitions)
    if any(count < 0 for count in times):
        raise ValueError(f"tile: repetitions must not be negative, but got {repetitions}")
    rank = max(len(x.shape), len(times))
    times = [1] * (rank - len(times)) + times
    shape = (1,) * (rank - len(x.shape)) + x.shape
    spread = [part for size in shape for part in (1, size)]
    repeated = [part for pair in zip(times, shape, strict=True) for part in pair]
    result_shape = tuple(count * size for count, size in zip(times, shape, strict=True))
    return reshape(reshape(x, spread).broadcast_to(repeated), result_shape)


def unstack(x: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """Part a tensor into its slices along an axis, which is removed.

    Each has the dtype of ``x``.

    Raises:
        ValueError: ``axis`` is out of range, or there are tens of thousands of empty slices.

    Example:
        >>> import webtensor as wt
        >>> [part.tolist() for part in wt.unstack([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
    """
    x = as_operand("unstack", x)
    axis = normalize_axis("unstack", axis, len(x.shape))
    if not x.size and x.shape[axis] > MAX_EMPTY_PARTS:
        raise ValueError(f"unstack: axis {axis} of {x.shape} has too many slices without elements")
    return tuple(part(x, axis, index) for index in range(x.shape[axis]))


def moveaxis(
    x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """Move axes to other positions; the others keep their order (array API standard).

    Raises:
        ValueError: an axis is out of range or named twice, or there are not as many destinations.

    Example:
        >>> import webtensor as wt
        >>> wt.moveaxis(wt.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    operand = as_operand("moveaxis", x)
    rank = len(operand.shape)
    sources, targets = (
        [normalize_axis("moveaxis", index, rank) for index in as_integers("moveaxis", name, axes)]
        for name, axes in (("source", source), ("destination", destination))
    )
    if len(sources) != len(targets):
        raise ValueError(
            f"moveaxis: source and destination must name as many axes, but got {source} and "
            f"{destination}"
        )
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise ValueError(
            f"moveaxis: source and destination must not name an axis twice, but got {source} and "
            f"{destination}"
        )
    order = [axis for axis in range(rank) if axis not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return permute_dims(operand, order)


# -- diagonals, triangles, grids ------------------------------------------------------------------


def _triangle(name: str, x: TensorLike, k: int, lower: bool) -> Tensor:
    operand = as_operand(name, x)
    if len(operand.shape) < 2:
        raise ValueError(f"{name}: x must have at least two axes, but its shape is {operand.shape}")
    (diagonal,) = as_integers(name, "k", k)
    rows = arange(diagonal, diagonal + operand.shape[-2]).reshape((-1, 1))
    keep = greater_equal if lower else less_equal
    return where(keep(rows, arange(operand.shape[-1])), operand, False)


def tril(x: TensorLike, k: int = 0) -> Tensor:
    """Matrices with zeros above the diagonal number ``k`` (array API standard).

    The last two axes are rows and columns; diagonals above the main one have positive numbers.

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.tril([[1, 2], [3, 4]]).tolist()
        [[1, 0], [3, 4]]
    """
    return _triangle("tril", x, k, True)


def triu(x: TensorLike, k: int = 0) -> Tensor:
    """Matrices with zeros below the diagonal number ``k`` (array API standard). See ``tril``.

    ``x`` has shape (..., rows, columns), as the result has.

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.triu([[1, 2], [3, 4]]).tolist()
        [[1, 2], [0, 4]]
    """
    return _triangle("triu", x, k, False)


@planned
def diag(x: TensorLike) -> Tensor:
    """Tensor of twice the rank, with the elements of ``x`` on its diagonal and zeros elsewhere.

    For ``x`` of rank 1, that is a diagonal matrix.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.diag([1, 2]).tolist()
        [[1, 0], [0, 2]]
    """
    operand = as_operand("diag", x)
    size = operand.size
    # With ``size`` zeros after each element, the next is one column further in the next row.
    spread = flatten(pad(reshape(operand, (size, 1)), [(0, 0), (0, size)]))
    return reshape(_slice(spread, 0, size * size), operand.shape * 2)


def meshgrid(*arrays: TensorLike, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid, from those along each of its axes (array API standard).

    Returns one tensor of the whole grid's shape for each; those of a higher rank than 1 are
    flattened, and scalars have size 1. With ``indexing="xy"`` the first runs along columns and
    the second along rows, as in plots; with "ij", tensor number ``i`` runs along axis ``i``.

    Raises:
        ValueError: another ``indexing``.

    Example:
        >>> import webtensor as wt
        >>> x, y = wt.meshgrid([1, 2], [3, 4])
        >>> x.tolist(), y.tolist()
        ([[1, 2], [1, 2]], [[3, 3], [4, 4]])
    """
    if not (isinstance(indexing, str) and indexing in ("xy", "ij")):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', but got {indexing!r}")
    operands = [as_operand("meshgrid", array) for array in arrays]
    grid_axes = list(range(len(operands)))
    if indexing == "xy" and len(operands) > 1:
        grid_axes[:2] = [1, 0]
    sizes = [0] * len(operands)
    for operand, grid_axis in zip(operands, grid_axes, strict=True):
        sizes[grid_axis] = operand.size
    grids = []
    for operand, grid_axis in zip(operands, grid_axes, strict=True):
        own = [operand.size if index == grid_axis else 1 for index in range(len(operands))]
        grids.append(broadcast_to(reshape(operand, own), sizes))
    return grids


# -- shapes ---------------------------------------------------------------------------------------


def broadcast_args(s0: TensorLike, s1: TensorLike) -> Tensor:
    """Shape that two shapes, given as int32 tensors, broadcast to. Their values are read.

    Raises:
        TypeError: the shapes are not int32.
        ValueError: they do not have rank 1, or cannot be broadcast together.

    Example:
        >>> import webtensor as wt
        >>> wt.broadcast_args([2, 1], [5, 1, 3]).tolist()
        [5, 2, 3]
    """
    shapes = []
    for argument, value in (("s0", s0), ("s1", s1)):
        operand = as_indices("broadcast_args", value, argument)
        if len(operand.shape) != 1:
            raise ValueError(
                f"broadcast_args: {argument} must have rank 1, but its shape is {operand.shape}"
            )
        shapes.append(tuple(operand.data_sync()))
    joined = broadcast_shapes("broadcast_args", *shapes)
    return from_host("broadcast_args", list(joined), int32)


def ensure_shape(x: TensorLike, shape: Sequence[int | None]) -> Tensor:
    """Return the tensor itself, after checking its shape; None stands for any size.

    Raises:
        ValueError: the shape is another one.

    Example:
        >>> import webtensor as wt
        >>> wt.ensure_shape([[1, 2]], (None, 2)).tolist()
        [[1, 2]]
    """
    operand = as_operand("ensure_shape", x)
    if not hasattr(shape, "__iter__"):
        raise TypeError(f"ensure_shape: shape must be integers or None, but got {shape!r}")
    expected = tuple(shape)
    if len(expected) != len(operand.shape) or any(
        size not in (None, own) for size, own in zip(expected, operand.shape, strict=True)
    ):
        raise ValueError(f"ensure_shape: wanted shape {expected}, but x has shape {operand.shape}")
    return operand


# -- slices and mirrors ---------------------------------------------------------------------------


@planned
def strided_slice(
    x: TensorLike,
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """Cut out what ``x[begin[0]:end[0]:strides[0], …]`` means in Python.

    The masks are read bit by bit: where bit ``i`` is set, ``begin_mask`` and ``end_mask`` leave
    that end of part ``i`` open, ``ellipsis_mask`` makes the part an ellipsis, ``new_axis_mask`` a
    new axis of size 1, and ``shrink_axis_mask`` the single index ``begin[i]``, which removes the
    axis.

    Raises:
        IndexError: more parts than axes, or a single index out of range.
        TypeError: ``begin``, ``end`` or ``strides`` are not integers.
        ValueError: they are not equally many, a stride is 0, or there are several ellipses.

    Example:
        >>> import webtensor as wt
        >>> wt.strided_slice([[1, 2, 3], [4, 5, 6]], (0, 2), (2, 0), (1, -1)).tolist()
        [[3, 2], [6, 5]]
    """
    name = "strided_slice"
    operand = as_operand(name, x)
    begins, ends = as_integers(name, "begin", begin), as_integers(name, "end", end)
    steps = [1] * len(begins) if strides is None else as_integers(name, "strides", strides)
    if not len(begins) == len(ends) == len(steps):
        raise ValueError(
            f"{name}: begin, end and strides must be equally long, but got {begin}, {end} and "
            f"{strides}"
        )
    if 0 in steps:
        raise ValueError(f"{name}: strides must not be 0, but got {strides}")
    masks = _SliceMasks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    for argument, mask in masks._asdict().items():
        as_integer(name, argument, mask)
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError(f"{name}: ellipsis_mask must have one bit set, but got {ellipsis_mask}")
    key = tuple(
        _key_part(masks, 1 << index, slice(first, last, step))
        for index, (first, last, step) in enumerate(zip(begins, ends, steps, strict=True))
    )
    try:
        return get_item(operand, key)
    except IndexError as error:
        raise IndexError(f"{name}: {error}") from None


class _SliceMasks(NamedTuple):
    """The masks of ``strided_slice``, of which bit i is about part i."""

    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int


def _key_part(masks: _SliceMasks, bit: int, bounds: slice) -> Any:
    """Return a part of ``strided_slice`` as a part of a key, by its bit of the masks."""
    if masks.ellipsis_mask & bit:
        return ...
    if masks.new_axis_mask & bit:
        return None
    if masks.shrink_axis_mask & bit:
        if bounds.step < 0:
            raise ValueError(
                "strided_slice: the stride of a single index must be positive, but strides has "
                f"{bounds.step}"
            )
        return bounds.start
    start = None if masks.begin_mask & bit else bounds.start
    stop = None if masks.end_mask & bit else bounds.stop
    return slice(start, stop, bounds.step)


@planned
def mirror_pad(x: TensorLike, paddings: Sequence[Sequence[int]], mode: str) -> Tensor:
    """Surround a tensor with its mirror images, ``paddings[i]`` (before, after) along axis ``i``.

    With ``mode="reflect"`` the outermost elements are not repeated, with "symmetric" they are.

    Raises:
        ValueError: another mode, or paddings that are not one pair for each axis, or are longer
            than the mirror image.

    Example:
        >>> import webtensor as wt
        >>> wt.mirror_pad([1, 2, 3], [(0, 2)], "reflect").tolist()
        [1, 2, 3, 2, 1]
        >>> wt.mirror_pad([1, 2, 3], [(0, 2)], "symmetric").tolist()
        [1, 2, 3, 3, 2]
    """
    operand = as_operand("mirror_pad", x)
    check_choice("mirror_pad", "mode", mode, ("reflect", "symmetric"))
    pairs = as_pairs_of_integers("mirror_pad", "paddings", paddings)
    skipped = 1 if mode == "reflect" else 0
    if len(pairs) != len(operand.shape) or any(
        len(pair) != 2 or min(pair) < 0 or max(pair) > max(size - skipped, 0)
        for pair, size in zip(pairs, operand.shape, strict=True)
    ):
        raise ValueError(
            "mirror_pad: paddings must be one (before, after) pair for each axis, not longer than "
            f"its mirror image, but got {paddings} for shape {operand.shape}, mode={mode!r}"
        )
    shape = tuple(
        size + before + after for size, (before, after) in zip(operand.shape, pairs, strict=True)
    )
    if shape == operand.shape:
        return operand.clone()  # type: ignore[no-any-return]
    if operand.dtype is complex64:
        return from_pairs(mirror_pad(as_pairs(operand), [*pairs, (0, 0)], mode))
    if operand.dtype is string_:
        flat_indices = mirror_pad(reshape(arange(operand.size), operand.shape), pairs, mode)
        return gather(flatten(operand), flat_indices)
    low = tuple(before for before, _ in pairs)
    return run(_MIRROR_PAD, (operand,), shape, operand.dtype, low, skipped)


def _mirror_pad_gradient(dy: Tensor, y: Tensor, x: Tensor, low: Shape, skipped: int) -> Tensor:
    """Add the gradients of mirror images to the elements that they mirror."""
    for axis, (own, before) in enumerate(zip(x.shape, low, strict=True)):
        after = dy.shape[axis] - own - before
        middle = part_along(dy, axis, before, own)
        for start, size, to in (
            (0, before, skipped),
            (before + own, after, own - skipped - after),
        ):
            if size:
                image = flip(part_along(dy, axis, start, size), axis)
                margins = [(0, 0)] * len(x.shape)
                margins[axis] = (to, own - to - size)
                middle = middle + pad(image, margins)
        dy = middle
    return dy


_MIRROR_PAD = Primitive("mirror_pad", gradients=(_mirror_pad_gradient,))


# -- blocks ---------------------------------------------------------------------------------------


def _check_blocks(
    name: str, x: Tensor, block_shape: Any, argument: str, margins: Any
) -> tuple[list[int], list[list[int]]]:
    blocks = as_integers(name, "block_shape", block_shape)
    pairs = as_pairs_of_integers(name, argument, margins)
    if min(blocks, default=1) < 1:
        raise ValueError(f"{name}: block_shape must be positive, but got {block_shape}")
    if len(x.shape) <= len(blocks):
        raise ValueError(
            f"{name}: x must have more axes than the {len(blocks)} of block_shape, but its shape "
            f"is {x.shape}"
        )
    if len(pairs) != len(blocks) or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(
            f"{name}: {argument} must be one pair of non-negative integers for each axis of "
            f"block_shape {block_shape}, but got {margins}"
        )
    return blocks, pairs


@planned
def space_to_batch_nd(
    x: TensorLike, block_shape: Sequence[int], paddings: Sequence[Sequence[int]]
) -> Tensor:
    """Move blocks of the axes after the first, padded with zeros, into the batch axis.

    ``x`` is (batch, *space, *rest), and ``block_shape`` and ``paddings`` have an entry for each
    axis of the space. The result is (prod(block_shape) * batch, *space / block_shape, *rest).

    Raises:
        ValueError: a padded size is not a multiple of its block, or the options do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.space_to_batch_nd([[[1], [2], [3], [4]]], [2], [(0, 0)]).tolist()
        [[[1], [3]], [[2], [4]]]
    """
    name = "space_to_batch_nd"
    operand = as_operand(name, x)
    blocks, pairs = _check_blocks(name, operand, block_shape, "paddings", paddings)
    count = len(blocks)
    batch, rest = operand.shape[0], operand.shape[count + 1 :]
    space = tuple(
        [size + sum(pair) for size, pair in zip(operand.shape[1 : count + 1], pairs, strict=True)]
    )
    if any(size % block for size, block in zip(space, blocks, strict=True)):
        raise ValueError(
            f"{name}: the padded sizes {space} must be multiples of block_shape {block_shape} "
            f"(x.shape={operand.shape}, paddings={paddings})"
        )
    padded = pad(operand, [(0, 0), *pairs, *[(0, 0)] * len(rest)])
    cells = [size // block for size, block in zip(space, blocks, strict=True)]
    split = [part for pair in zip(cells, blocks, strict=True) for part in pair]
    order = [
        *range(2, 2 * count + 1, 2),
        0,
        *range(1, 2 * count + 1, 2),
        *range(2 * count + 1, 2 * count + 1 + len(rest)),
    ]
    moved = permute_dims(reshape(padded, (batch, *split, *rest)), order)
    return reshape(moved, (prod(blocks) * batch, *cells, *rest))


@planned
def batch_to_space_nd(
    x: TensorLike, block_shape: Sequence[int], crops: Sequence[Sequence[int]]
) -> Tensor:
    """Undo ``space_to_batch_nd``: move blocks out of the batch axis, and cut the edges off.

    Raises:
        ValueError: the batch is not a multiple of the blocks, or the options do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.batch_to_space_nd([[[1], [3]], [[2], [4]]], [2], [(0, 1)]).tolist()
        [[[1], [2], [3]]]
    """
    name = "batch_to_space_nd"
    operand = as_operand(name, x)
    blocks, pairs = _check_blocks(name, operand, block_shape, "crops", crops)
    count = len(blocks)
    batch, cells, rest = operand.shape[0], operand.shape[1 : count + 1], operand.shape[count + 1 :]
    if batch % prod(blocks):
        raise ValueError(
            f"{name}: the batch of {batch} must be a multiple of the {prod(blocks)} places in "
            f"block_shape {block_shape}"
        )
    space = [cell * block for cell, block in zip(cells, blocks, strict=True)]
    if any(size < sum(pair) for size, pair in zip(space, pairs, strict=True)):
        raise ValueError(f"{name}: crops {crops} are longer than the space {space}")
    batch //= prod(blocks)
    split = reshape(operand, (*blocks, batch, *cells, *rest))
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    uncropped = reshape(permute_dims(split, order), (batch, *space, *rest))
    begins = [0, *(pair[0] for pair in pairs)]
    sizes = [batch, *(size - sum(pair) for size, pair in zip(space, pairs, strict=True))]
    return _slice(uncropped, begins, sizes)


@planned
def depth_to_space(x: TensorLike, block_size: int, data_format: str = "NHWC") -> Tensor:
    """Move channels of images into blocks of ``block_size`` by ``block_size`` pixels.

    ``x`` is (batch, height, width, channels), or (batch, channels, height, width) where
    ``data_format`` is "NCHW".

    Raises:
        ValueError: another rank or data format, or channels that are not a multiple of
            ``block_size`` squared.

    Example:
        >>> import webtensor as wt
        >>> wt.depth_to_space([[[[1, 2, 3, 4]]]], 2).tolist()
        [[[[1], [2]], [[3], [4]]]]
    """
    name = "depth_to_space"
    operand = as_operand(name, x)
    (block,) = as_integers(name, "block_size", block_size)
    check_choice(name, "data_format", data_format, ("NHWC", "NCHW"))
    if len(operand.shape) != 4:
        raise ValueError(f"{name}: x must have rank 4, but its shape is {operand.shape}")
    if data_format == "NCHW":
        batch, channels, height, width = operand.shape
    else:
        batch, height, width, channels = operand.shape
    if block < 1 or channels % (block * block):
        raise ValueError(
            f"{name}: the channels must be a multiple of block_size squared, but got {channels} "
            f"channels and block_size={block_size}"
        )
    depth = channels // (block * block)
    if data_format == "NCHW":
        parts = reshape(operand, (batch, block, block, depth, height, width))
        moved = permute_dims(parts, (0, 3, 4, 1, 5, 2))
        return reshape(moved, (batch, depth, height * block, width * block))
    parts = reshape(operand, (batch, height, width, block, block, depth))
    moved = permute_dims(parts, (0, 1, 3, 2, 4, 5))
    return reshape(moved, (batch, height * block, width * block, depth))


def space_to_depth(x: Tensor, block_size: int) -> Tensor:
    """Move blocks of ``block_size`` by ``block_size`` pixels of images into their channels.

    ``x`` is (batch, height, width, channels), the result (batch, height / block_size, width /
    block_size, channels * block_size²).

    Raises:
        ValueError: ``block_size`` is not positive, or does not divide height and width.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.ops.rearrangement import space_to_depth
        >>> space_to_depth(wt.tensor([1, 2, 3, 4], (1, 2, 2, 1)), 2).tolist()
        [[[[1, 2, 3, 4]]]]
    """
    batch, height, width, channels = x.shape
    if block_size < 1 or height % block_size or width % block_size:
        raise ValueError(
            "space_to_depth: height and width must be multiples of block_size, but got "
            f"x.shape={x.shape} and block_size={block_size}"
        )
    rows, columns = height // block_size, width // block_size
    parts = reshape(x, (batch, rows, block_size, columns, block_size, channels))
    moved = permute_dims(parts, (0, 1, 3, 2, 4, 5))
    return reshape(moved, (batch, rows, columns, channels * block_size * block_size))
