"""What ``tensor[key]`` means: NumPy's basic indexing, boolean masks, and one tensor of indices."""

from __future__ import annotations

from builtins import slice as _slice
from typing import Any

from webtensor.dtypes import bool_, int32
from webtensor.engine import Tensor, TensorLike, as_operand, from_host, near_its_operands
from webtensor.ops.masks import count_true, true_places
from webtensor.ops.movement import flip, gather, reshape, stepped_slice
from webtensor.shapes import normalize_axis, prod

__all__ = ["boolean_mask", "check_mask", "get_item", "masked"]


def get_item(x: Tensor, key: Any) -> Tensor:
    """Return ``x[key]``.

    ``key`` holds integers, slices, ``None`` and ``...`` as in NumPy's basic indexing; or it is a
    boolean mask over the leading axes; or one of its parts is an int32 tensor (or list) of indices.

    Raises:
        IndexError: too many indices, or one out of range.
        TypeError: a part of another type.
    """
    parts = list(key) if isinstance(key, tuple) else [key]
    parts = [_as_part(part) for part in parts]
    if len(parts) == 1 and isinstance(parts[0], Tensor) and parts[0].dtype is bool_:
        return boolean_mask(x, parts[0])
    parts = _fill_ellipsis(parts, len(x.shape))
    begins: list[int] = []
    steps: list[int] = []
    lengths: list[int] = []
    flipped: list[int] = []
    shape: list[int] = []
    gathered: tuple[int, Tensor] | None = None
    axis = 0
    for part in parts:
        if part is None:
            shape.append(1)
            continue
        length = x.shape[axis]
        if isinstance(part, Tensor):
            if gathered is not None:
                raise TypeError("index: only one part of the key may be a tensor or a list")
            if part.dtype is not int32:
                raise TypeError(f"index: a tensor of indices must be int32, but got {part.dtype}")
            gathered = (len(shape), part)
            part = _slice(None)
        if isinstance(part, int):
            if not -length <= part < length:
                raise IndexError(f"index {part} is out of range for axis {axis} of {x.shape}")
            begins.append(part % length)
            steps.append(1)
            lengths.append(1)
        else:
            start, stop, step = part.indices(length)
            count = len(range(start, stop, step))
            if step < 0:
                flipped.append(axis)
                start = length - 1 - start
            begins.append(start if count else 0)
            steps.append(abs(step))
            lengths.append(count)
            shape.append(count)
        axis += 1
    held = flip(x, flipped) if flipped else x
    held = stepped_slice(held, tuple(begins), tuple(lengths), tuple(steps))
    held = reshape(held, shape)
    return held if gathered is None else gather(held, gathered[1], gathered[0])


def _as_part(part: Any) -> Any:
    """Return a part of a key as None, an ellipsis, an int, a slice or a tensor."""
    if part is None or part is Ellipsis or isinstance(part, _slice):
        return part
    if isinstance(part, bool):
        raise TypeError("index: a single bool is not supported; use a mask of rank 1 or more")
    if hasattr(part, "__index__") and not getattr(part, "shape", ()):
        return part.__index__()
    if isinstance(part, list) and not part:
        return from_host("index", part, int32)
    if isinstance(part, (list, Tensor)) or hasattr(part, "__array__"):
        return as_operand("index", part)
    raise TypeError(
        "index: wanted integers, slices, None, ..., a boolean mask or an int32 tensor, "
        f"but got {part!r}"
    )


def _fill_ellipsis(parts: list[Any], rank: int) -> list[Any]:
    """Replace the ellipsis, or extend the end, with whole slices so that every axis has a part."""
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > rank:
        raise IndexError(f"index: {used} indices for a tensor of rank {rank}")
    ellipses = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("index: only one ellipsis is allowed")
    place = ellipses[0] if ellipses else len(parts)
    return parts[:place] + [_slice(None)] * (rank - used) + parts[place + 1 :]


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
    held, chosen, first = check_mask("boolean_mask", x, mask, axis)
    return masked(held, chosen, count_true(chosen), first)


def check_mask(name: str, x: TensorLike, mask: TensorLike, axis: int) -> tuple[Tensor, Tensor, int]:
    """Validate a mask over the axes of ``x`` from ``axis`` on."""
    held = as_operand(name, x)
    chosen = as_operand(name, mask)
    first = normalize_axis(name, axis, len(held.shape))
    if chosen.dtype is not bool_:
        raise TypeError(f"{name}: mask must be bool, but got {chosen.dtype}")
    rank = len(chosen.shape)
    if rank == 0 or held.shape[first : first + rank] != chosen.shape:
        raise IndexError(
            f"{name}: mask of shape {chosen.shape} does not fit the axes of {held.shape} from "
            f"axis {first} on"
        )
    return held, chosen, first


def masked(x: Tensor, mask: Tensor, count: int, axis: int) -> Tensor:
    """Pick the ``count`` slices where a mask is true."""
    rest = x.shape[axis + len(mask.shape) :]
    rows = reshape(x, (*x.shape[:axis], prod(mask.shape), *rest))
    return gather(rows, true_places(mask, count), axis)
