"""Indexing: ``tensor[key]`` as in NumPy.

Integers, slices, ``None`` and ``...`` slice a tensor. Tensors, arrays and lists pick elements: by
integers along an axis, or by a mask along as many axes as it has; several are broadcast with each
other. The axes of their result replace the indexed axes if these are adjacent in the key, and
come first otherwise.
"""

from __future__ import annotations

from builtins import slice as _slice
from functools import reduce
from itertools import groupby
from typing import Any, NamedTuple

from webtensor.dtypes import bool_, int32
from webtensor.engine import Tensor, TensorLike, as_operand, from_host, near_its_operands, state
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.compaction import count_true, true_indices
from webtensor.ops.coordinates import to_flat_indices
from webtensor.ops.creation import zeros
from webtensor.ops.movement import (
    flip,
    gather,
    index_bounds,
    permute_dims,
    reshape,
    stack,
    stepped_slice,
)
from webtensor.ops.ternary import where
from webtensor.shapes import Shape, broadcast_shapes, normalize_axis, prod

__all__ = ["boolean_mask", "check_mask", "get_item", "masked"]


def get_item(x: Tensor, key: Any) -> Tensor:
    """Return ``x[key]``.

    Raises:
        IndexError: too many indices, one out of range, or shapes that do not fit.
        TypeError: a part of another type.
    """
    parts = [_as_part(part) for part in (key if isinstance(key, tuple) else (key,))]
    if len(parts) == 1 and _is_mask(parts[0]):
        return boolean_mask(x, parts[0])
    cut, picks = _cut(x, _fill_ellipsis(parts, len(x.shape)))
    if not picks:
        return cut
    blocks = [picking for picking, _ in groupby(parts, _is_picking) if picking]
    return _picked(cut, picks, picks[0].axis if len(blocks) == 1 else 0)


def _as_part(part: Any) -> Any:
    """Return a part of a key as None, an ellipsis, a bool, an int, a slice or a tensor."""
    if part is None or part is Ellipsis or isinstance(part, (_slice, bool)) or type(part) is int:
        return part
    if getattr(part, "dtype", None) == "bool" and not part.shape:
        return bool(part)
    if state.captures and isinstance(part, Tensor) and not part.shape:
        return _as_indices(part)  # replays read another number
    if hasattr(part, "__index__") and not getattr(part, "shape", ()):
        return part.__index__()
    if isinstance(part, list) and not part:
        return from_host("index", part, int32)
    if isinstance(part, (list, Tensor)) or hasattr(part, "__array__"):
        return _as_indices(as_operand("index", part))
    raise TypeError(
        "index: wanted integers, slices, None, ..., a boolean mask or an int32 tensor, "
        f"but got {part!r}"
    )


def _as_indices(indices: Tensor) -> Tensor:
    if indices.dtype not in (bool_, int32):
        raise TypeError(f"index: a tensor of indices must be int32, but got {indices.dtype}")
    return indices


def _is_mask(part: Any) -> bool:
    return isinstance(part, Tensor) and part.dtype is bool_


def _is_picking(part: Any) -> bool:
    """Whether a part stands for indices; an integer does so beside tensors of indices."""
    return isinstance(part, (Tensor, int))


def _axes_of(part: Any) -> int:
    """Return the number of axes that a part of a key indexes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return len(part.shape) if _is_mask(part) else 1


def _fill_ellipsis(parts: list[Any], rank: int) -> list[Any]:
    """Replace the ellipsis, or extend the end, with whole slices so that every axis has a part."""
    indexed_axes = sum(map(_axes_of, parts))
    if indexed_axes > rank:
        raise IndexError(f"index: {indexed_axes} indices for a tensor of rank {rank}")
    ellipses = [index for index, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("index: only one ellipsis is allowed")
    position = ellipses[0] if ellipses else len(parts)
    return parts[:position] + [_slice(None)] * (rank - indexed_axes) + parts[position + 1 :]


# -- cutting --------------------------------------------------------------------------------------


class _Pick(NamedTuple):
    """Indices along an axis of what was cut, and the size of that axis."""

    axis: int
    size: int
    indices: Tensor


def _cut(x: Tensor, parts: list[Any]) -> tuple[Tensor, list[_Pick]]:
    """Apply all parts but those that pick, for which the result has an axis each."""
    slices: list[tuple[int, int, int]] = []
    shape: list[int] = []
    picks: list[_Pick] = []
    for part in parts:
        axis = len(slices)
        if part is None:
            shape.append(1)
        elif isinstance(part, bool):
            picks.append(_Pick(len(shape), 1, zeros((int(part),), int32)))
            shape.append(1)
        elif isinstance(part, Tensor):
            sizes = x.shape[axis : axis + _axes_of(part)]
            picks.append(_Pick(len(shape), prod(sizes), _indices_of(part, sizes, axis)))
            slices += [(0, size, 1) for size in sizes]
            shape.append(prod(sizes))
        elif isinstance(part, int):
            slices.append((_from_zero(part, axis, x.shape), 1, 1))
        else:
            start, stop, step = part.indices(x.shape[axis])
            size = len(range(start, stop, step))
            slices.append((start if size else 0, size, step))
            shape.append(size)
    return reshape(_sliced(x, slices), shape), picks


def _from_zero(index: int, axis: int, shape: Shape) -> int:
    """Return an index along an axis, which may count from the end, from the start."""
    size = shape[axis]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range for axis {axis} of {shape}")
    return index % size


def _sliced(x: Tensor, slices: list[tuple[int, int, int]]) -> Tensor:
    """Slice each axis: from a start, a size, in steps, which may be negative."""
    flipped = [axis for axis, (_, _, step) in enumerate(slices) if step < 0]
    starts = [
        x.shape[axis] - 1 - start if step < 0 and size else start
        for axis, (start, size, step) in enumerate(slices)
    ]
    sizes = tuple([size for _, size, _ in slices])
    steps = tuple([abs(step) for _, _, step in slices])
    return stepped_slice(flip(x, flipped) if flipped else x, tuple(starts), sizes, steps)


def _indices_of(part: Tensor, sizes: Shape, axis: int) -> Tensor:
    """Return indices; for a mask over axes of these sizes, the indices of its true elements."""
    if part.dtype is not bool_:
        return part
    if part.shape != sizes:
        raise IndexError(
            f"index: a mask of shape {part.shape} does not fit the axes from {axis} on, of sizes "
            f"{sizes}"
        )
    return true_indices(part, count_true(part))


# -- picking --------------------------------------------------------------------------------------


def _picked(x: Tensor, picks: list[_Pick], at: int) -> Tensor:
    """Index several axes at once; the axes of the result replace them at ``at``."""
    axes = [pick.axis for pick in picks]
    first, count = axes[0], len(axes)
    if axes != [*range(first, first + count)]:
        others = [axis for axis in range(len(x.shape)) if axis not in axes]
        x, first = permute_dims(x, axes + others), 0
    before, sizes, after = (
        x.shape[:first],
        x.shape[first : first + count],
        x.shape[first + count :],
    )
    indices = picks[0].indices if count == 1 else _flat_indices(picks, sizes)
    picked = gather(reshape(x, (*before, prod(sizes), *after)), indices, first)
    if at == first:
        return picked
    rank, moved = len(picked.shape), range(first, first + len(indices.shape))
    return permute_dims(picked, [*moved, *(axis for axis in range(rank) if axis not in moved)])


def _flat_indices(picks: list[_Pick], sizes: Shape) -> Tensor:
    """Return the indices of several axes, broadcast with each other, as flat indices."""
    shapes = [pick.indices.shape for pick in picks]
    try:
        shape = reduce(lambda first, second: broadcast_shapes("index", first, second), shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise IndexError(
            f"index: indices of shapes {listed} cannot be broadcast together"
        ) from None
    columns = [broadcast_to(_from_start(pick), shape) for pick in picks]
    rows = reshape(stack(columns, -1), (prod(shape), len(picks)))
    return reshape(to_flat_indices(rows, sizes), shape)


def _from_start(pick: _Pick) -> Tensor:
    """Return indices that count from the start of their axis."""
    bounds = index_bounds(pick.indices)
    if bounds is not None:
        minimum, maximum = bounds
        if not (-pick.size <= minimum and maximum < pick.size):
            raise IndexError(
                f"index: indices must lie in [{-pick.size}, {pick.size}) for an axis of size "
                f"{pick.size}, but they range from {minimum} to {maximum}"
            )
        if minimum >= 0:
            return pick.indices
    return where(pick.indices < 0, pick.indices + pick.size, pick.indices)


@near_its_operands
def boolean_mask(x: TensorLike, mask: TensorLike, axis: int = 0) -> Tensor:
    """Pick the elements, or slices, where a mask over the axes from ``axis`` on is true.

    The length of the result depends on the mask's values, so how many are true is read to the host.

    Raises:
        IndexError: the mask's shape is not that of the axes.
        TypeError: the mask is not bool.

    Example:
        >>> import webtensor as wt
        >>> wt.boolean_mask([1, 2, 3], [True, False, True]).tolist()
        [1, 3]
    """
    operand, chosen, first = check_mask("boolean_mask", x, mask, axis)
    return masked(operand, chosen, count_true(chosen), first)


def check_mask(name: str, x: TensorLike, mask: TensorLike, axis: int) -> tuple[Tensor, Tensor, int]:
    """Validate a mask over the axes of ``x`` from ``axis`` on."""
    operand = as_operand(name, x)
    chosen = as_operand(name, mask)
    first = normalize_axis(name, axis, len(operand.shape))
    if chosen.dtype is not bool_:
        raise TypeError(f"{name}: mask must be bool, but got {chosen.dtype}")
    rank = len(chosen.shape)
    if rank == 0 or operand.shape[first : first + rank] != chosen.shape:
        raise IndexError(
            f"{name}: mask of shape {chosen.shape} does not fit the axes of {operand.shape} from "
            f"axis {first} on"
        )
    return operand, chosen, first


def masked(x: Tensor, mask: Tensor, count: int, axis: int) -> Tensor:
    """Pick the ``count`` slices where a mask is true."""
    rest = x.shape[axis + len(mask.shape) :]
    rows = reshape(x, (*x.shape[:axis], prod(mask.shape), *rest))
    return gather(rows, true_indices(mask, count), axis)
