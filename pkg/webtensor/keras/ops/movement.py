"""Functions that move, join and pick elements, in Keras's module ``numpy``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import bool_, int32
from webtensor.keras.ops.operations import Row, op, plain
from webtensor.keras.ops.vectorization import vectorize
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor
from webtensor.shapes import normalize_axis, prod

__all__ = ["ROWS", "shape_of"]

#: What unknown lengths are in trials of indices.
_TRIED = (83, 89)


def _tuples(value: Any) -> Any:
    """Lists as tuples: JSON has made lists of these."""
    return tuple(_tuples(one) for one in value) if isinstance(value, (list, tuple)) else value


# -- shapes ------------------------------------------------------------------------------------


def shape_of(x: Any) -> tuple[int | None, ...]:
    """Return the shape of a tensor as a tuple, with None for unknown dimensions.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.shape([[1, 2, 3]])
        (1, 3)
    """
    return tuple(x.shape if hasattr(x, "shape") else wt.asarray(x).shape)


def _ndim(x: Any) -> int:
    """Return the number of axes of a tensor.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.ndim([[1, 2, 3]])
        2
    """
    return len(shape_of(x))


def _size(x: Any) -> int | None:
    """Return the number of elements of a tensor, or None where a dimension is unknown.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.size([[1, 2, 3]])
        3
    """
    shape = shape_of(x)
    return None if None in shape else prod(n for n in shape if n is not None)


def _reshape(x: Any, newshape: Any) -> Any:
    """Return the elements in another shape, in which one size may be -1, to be inferred.

    Raises:
        ValueError: the numbers of elements differ.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.reshape([1, 2, 3, 4], (2, -1)).tolist()
        [[1, 2], [3, 4]]
    """
    return wt.reshape(x, _lengths(newshape))


def _lengths(shape: Any) -> Any:
    """A shape as integers, where None, an unknown length, is -1."""
    if isinstance(shape, int):
        return (shape,)
    return tuple(-1 if one is None else int(one) for one in shape)


def _reshaped(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> KerasTensor:
    x, shape = args[0], list(_lengths(given["newshape"]))
    if shape.count(-1) > 1:
        raise ValueError(f"reshape: only one length may be -1, but newshape is {tuple(shape)}")
    known = prod(n for n in shape if n != -1)
    if None not in x.shape:
        count = prod(x.shape)
        if count % known if -1 in shape and known else count != known:
            raise ValueError(f"reshape: x of shape {x.shape} has no shape {tuple(shape)}")
        return KerasTensor([count // known if n == -1 else n for n in shape], x.dtype)
    return KerasTensor([None if n == -1 else n for n in shape], x.dtype)


def _squeeze(x: Any, axis: Any = None) -> Any:
    """Remove axes of size 1: all of them, or those given by ``axis``.

    Raises:
        ValueError: an axis is not of size 1.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.squeeze([[1, 2]]).tolist()
        [1, 2]
    """
    return wt.squeeze(x, _tuples(axis))


def _squeezed(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> KerasTensor:
    x, axis = args[0], given["axis"]
    rank = len(x.shape)
    if axis is None:
        axes = [place for place, n in enumerate(x.shape) if n == 1]
    else:
        wanted = axis if isinstance(axis, (list, tuple)) else [axis]
        axes = [normalize_axis("squeeze", one, rank) for one in wanted]
        for one in axes:
            if x.shape[one] != 1:
                raise ValueError(f"squeeze: axis {one} of shape {x.shape} has not length 1")
    return KerasTensor([n for place, n in enumerate(x.shape) if place not in axes], x.dtype)


def _expand_dims(x: Any, axis: Any) -> Any:
    """Insert axes of size 1 at the positions ``axis``, an integer or several, of the result.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.expand_dims([1, 2], -1).tolist()
        [[1], [2]]
    """
    x = wt.asarray(x)
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = len(x.shape) + len(axes)
    places = {normalize_axis("expand_dims", one, rank) for one in axes}
    lengths = iter(x.shape)
    return wt.reshape(x, [1 if one in places else next(lengths) for one in range(rank)])


def _transpose(x: Any, axes: Any = None) -> Any:
    """Permute the axes, by default into the reverse order.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.transpose([[1, 2], [3, 4]]).tolist()
        [[1, 3], [2, 4]]
    """
    return wt.transpose(x, axes)


def _swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.swapaxes([[1, 2], [3, 4]], 0, 1).tolist()
        [[1, 3], [2, 4]]
    """
    x = wt.asarray(x)
    rank = len(x.shape)
    order = list(range(rank))
    axis1, axis2 = (normalize_axis("swapaxes", one, rank) for one in (axis1, axis2))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return wt.permute_dims(x, order)


def _moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Move the axes ``source`` to the positions ``destination``; the others keep their order.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.moveaxis(keras.ops.ones((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    return wt.moveaxis(x, _tuples(source), _tuples(destination))


def _broadcast_to(x: Any, shape: Any) -> Any:
    """Broadcast the elements to a shape, repeating axes of size 1.

    Raises:
        ValueError: the shape of ``x`` does not broadcast to ``shape``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.broadcast_to([1, 2], (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    return wt.broadcast_to(x, _tuples(shape))


def _meshgrid(*x: Any, indexing: str = "xy") -> Any:
    """Return the coordinates of the points of the grid that vectors span.

    For vectors of sizes n and m, the results have shape (m, n), or (n, m) with indexing "ij".

    Example:
        >>> from webtensor import keras
        >>> [x.tolist() for x in keras.ops.meshgrid([1, 2], [3, 4])]
        [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    return wt.meshgrid(*(wt.reshape(one, (-1,)) for one in x), indexing=indexing)


# -- parts -------------------------------------------------------------------------------------


def _get_item(x: Any, key: Any) -> Any:
    """Return ``x[key]``, also of symbolic tensors.

    Raises:
        ValueError: an index is out of range, or there are more indices than axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.get_item([[1, 2], [3, 4]], (0, 1)).item()
        2
    """
    return wt.asarray(x)[tuple(key) if isinstance(key, list) else key]


def _item(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> KerasTensor:
    x, key = args
    parts = list(key) if isinstance(key, (list, tuple)) else [key]
    if any(not (one is None or one is ... or isinstance(one, (int, slice))) for one in parts):
        found: KerasTensor = outcome_of_trial(compute, args, {}, _TRIED)
        return found
    if sum(one is ... for one in parts) > 1:
        raise ValueError("index: there is more than one ellipsis")
    used = sum(one is not None and one is not ... for one in parts)
    if used > len(x.shape):
        raise ValueError(f"index: {used} indices for a tensor of rank {len(x.shape)}")
    place = next((i for i, one in enumerate(parts) if one is ...), len(parts))
    whole = [slice(None)] * (len(x.shape) - used)
    return KerasTensor(_picked(x.shape, parts[:place] + whole + parts[place + 1 :]), x.dtype)


def _picked(shape: Sequence[int | None], parts: list[Any]) -> list[int | None]:
    lengths = iter(shape)
    found: list[int | None] = []
    for part in parts:
        length = 1 if part is None else next(lengths)
        if part is None or (isinstance(part, slice) and length is None):
            found.append(length)
        elif isinstance(part, slice):
            found.append(len(range(*part.indices(length or 0))))
        elif length is not None and not -length <= part < length:
            raise ValueError(f"index {part} is out of range for an axis of length {length}")
    return found


def _places(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    return tuple(KerasTensor((None,), int32) for _ in args[0].shape)


def _take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Return the elements, or the slices along an axis, at indices.

    Without ``axis``, ``x`` is flattened. The shape of ``indices`` takes the place of the axis.
    Negative indices count from the end.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.take([[1, 2], [3, 4]], [1, 0], axis=0).tolist()
        [[3, 4], [1, 2]]
    """
    x = wt.asarray(x)
    if axis is None:
        x, axis = wt.reshape(x, (-1,)), 0
    axis = normalize_axis("take", axis, len(x.shape))
    indices = wt.astype(indices, int32)
    length = x.shape[axis]
    return wt.gather(x, wt.where(wt.less(indices, 0), indices + length, indices), axis)


def _take_along_axis(x: Any, indices: Any, axis: int | None = None) -> Any:
    """Return the elements along an axis at indices that differ from row to row.

    ``indices`` has the rank of ``x``; without ``axis``, both are flattened.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.take_along_axis([[3, 1], [2, 4]], [[1], [0]], axis=1).tolist()
        [[1], [2]]
    """
    x, indices = wt.asarray(x), wt.astype(indices, int32)
    if axis is None:
        x, indices, axis = wt.reshape(x, (-1,)), wt.reshape(indices, (-1,)), 0
    return wt.take_along_axis(x, indices, axis=axis)


def _diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the diagonals of the matrices along two axes; they become the last axis.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.diagonal([[1, 2], [3, 4]]).tolist()
        [1, 4]
    """
    x = wt.asarray(x)
    return wt.linalg.diagonal(wt.moveaxis(x, (axis1, axis2), (-2, -1)), offset=offset)


def _trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the sums of the diagonals of the matrices along two axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.trace([[1, 2], [3, 4]]).item()
        5
    """
    return wt.sum(_diagonal(x, offset, axis1, axis2), axis=-1)


def _diag(x: Any, k: int = 0) -> Any:
    """Return the ``k``-th diagonal of a matrix, or the matrix with a vector as this diagonal.

    Raises:
        ValueError: ``x`` has neither one axis nor two.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.diag([1, 2]).tolist()
        [[1, 0], [0, 2]]
    """
    x = wt.asarray(x)
    if len(x.shape) == 2:
        return wt.linalg.diagonal(x, offset=k)
    if len(x.shape) != 1:
        raise ValueError(f"diag: x must have one or two axes, but has shape {x.shape}")
    size = x.shape[0] + abs(k)
    before = max(-k, 0)
    rows = wt.pad(x, [[before, size - x.shape[0] - before]])
    if x.dtype is bool_:
        rows = wt.astype(rows, bool_)
    return wt.where(wt.eye(size, k=k, dtype=bool_), wt.reshape(rows, (-1, 1)), wt.zeros_like(x[:1]))


def _diagflat(x: Any, k: int = 0) -> Any:
    """Return the matrix that has all elements as its ``k``-th diagonal.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.diagflat([[1], [2]]).tolist()
        [[1, 0], [0, 2]]
    """
    return _diag(wt.reshape(x, (-1,)), k)


def _split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Split a tensor along an axis into a number of equal parts, or at indices.

    Raises:
        ValueError: the axis cannot be split into equal parts.

    Example:
        >>> from webtensor import keras
        >>> [part.tolist() for part in keras.ops.split([1, 2, 3, 4], [1, 3])]
        [[1], [2, 3], [4]]
    """
    x = wt.asarray(x)
    if isinstance(indices_or_sections, int):
        return wt.split(x, indices_or_sections, axis)
    length = x.shape[axis]
    ends = [min(one + length if one < 0 else one, length) for one in indices_or_sections]
    sizes = [max(q - p, 0) for p, q in pairwise([0, *ends, length])]
    return wt.split(x, sizes, axis)


def _array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Split a tensor along an axis into parts whose sizes differ by at most 1, or at indices.

    Example:
        >>> from webtensor import keras
        >>> [part.tolist() for part in keras.ops.array_split([1, 2, 3], 2)]
        [[1, 2], [3]]
    """
    if not isinstance(indices_or_sections, int):
        return _split(x, indices_or_sections, axis)
    x = wt.asarray(x)
    length, more = divmod(x.shape[axis], indices_or_sections)
    return wt.split(x, [length + (i < more) for i in range(indices_or_sections)], axis)


def _splitter(axis: int, lowest: int) -> Row:
    def split(x: Any, indices_or_sections: Any) -> Any:
        rank = len(wt.asarray(x).shape)
        return _split(x, indices_or_sections, 0 if rank < lowest else axis)

    return op(split, "indices_or_sections")


# -- joining -----------------------------------------------------------------------------------


def _same_kind(xs: Sequence[Any]) -> list[Any]:
    """Tensors of one dtype, the greatest of theirs."""
    held = [wt.asarray(one) for one in xs]
    kind = wt.result_type(*held)
    return [one if one.dtype is kind else wt.astype(one, kind) for one in held]


def _concatenate(xs: Any, axis: int | None = 0) -> Any:
    """Join tensors along an existing axis; their dtypes are promoted to a common one.

    Without ``axis``, they are flattened first.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.concatenate([[1, 2], [3]]).tolist()
        [1, 2, 3]
    """
    return wt.concat(_same_kind(xs), axis)


def _stack(x: Any, axis: int = 0) -> Any:
    """Join tensors of the same shape along a new axis; their dtypes are promoted to a common one.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.stack([[1, 2], [3, 4]], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    return wt.stack(_same_kind(x), axis)


def _append(x1: Any, x2: Any, axis: int | None = None) -> Any:
    """Join two tensors along an axis, or flattened if ``axis`` is None.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.append([1, 2], [3]).tolist()
        [1, 2, 3]
    """
    return wt.concat(_same_kind([x1, x2]), axis)


def _hstack(xs: Any) -> Any:
    """Join tensors along the second axis, or vectors along the first.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.hstack([[1, 2], [3]]).tolist()
        [1, 2, 3]
    """
    held = [wt.reshape(one, one.shape or (1,)) for one in _same_kind(xs)]
    return wt.concat(held, 0 if len(held[0].shape) == 1 else 1)


def _vstack(xs: Any) -> Any:
    """Join tensors along the first axis; vectors become rows.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.vstack([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
    """
    held = [one if len(one.shape) > 1 else wt.reshape(one, (1, -1)) for one in _same_kind(xs)]
    return wt.concat(held, 0)


def _dstack(xs: Any) -> Any:
    """Join tensors along the third axis; (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1).

    Example:
        >>> from webtensor import keras
        >>> keras.ops.dstack([[1, 2], [3, 4]]).tolist()
        [[[1, 3], [2, 4]]]
    """
    held = []
    for one in _same_kind(xs):
        shape = (1, *one.shape) if len(one.shape) == 1 else one.shape or (1, 1)
        held.append(wt.reshape(one, shape if len(shape) > 2 else (*shape, 1)))
    return wt.concat(held, 2)


def _tile(x: Any, repeats: Any) -> Any:
    """Repeat the whole tensor along each axis as often as ``repeats`` says.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.tile([1, 2], 2).tolist()
        [1, 2, 1, 2]
    """
    x = wt.asarray(x)
    counts = [repeats] if isinstance(repeats, int) else list(repeats)
    counts = [1] * (len(x.shape) - len(counts)) + counts
    return wt.tile(wt.reshape(x, (1,) * (len(counts) - len(x.shape)) + x.shape), counts)


_MODES: dict[str, Callable[..., Any]] = {
    "reflect": lambda x, pairs: wt.mirror_pad(x, pairs, "reflect"),
    "symmetric": lambda x, pairs: wt.mirror_pad(x, pairs, "symmetric"),
}


def _pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Any:
    """Pad a tensor along each axis.

    ``pad_width`` is a number for all axes, a pair (before, after) for all axes, or a pair for
    each. ``mode`` is "constant", with ``constant_values``, "edge", "reflect" or "symmetric".

    Raises:
        ValueError: the mode is unknown, or the widths do not fit.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.pad([1, 2], 1, constant_values=9).tolist()
        [9, 1, 2, 9]
    """
    x = wt.asarray(x)
    pairs = _pairs(pad_width, len(x.shape))
    if mode != "constant" and constant_values is not None:
        raise ValueError(f"pad: constant_values are for mode 'constant' only, but mode is {mode!r}")
    if mode == "constant":
        return wt.pad(x, pairs, constant_values or 0)
    if mode == "edge":
        return _edge_padded(x, pairs)
    if mode not in _MODES:
        known = sorted([*_MODES, "constant", "edge"])
        raise ValueError(f"pad: mode must be one of {known}, but got {mode!r}")
    return _MODES[mode](x, pairs)


def _edge_padded(x: Any, pairs: list[list[int]]) -> Any:
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            last = x.shape[axis] - 1
            places = [min(max(i, 0), last) for i in range(-before, last + 1 + after)]
            x = wt.gather(x, wt.tensor(places, dtype=int32), axis)
    return x


def _pairs(pad_width: Any, rank: int) -> list[list[int]]:
    """How much to add before and after each axis."""
    if isinstance(pad_width, int):
        return [[pad_width, pad_width]] * rank
    rows = [[one, one] if isinstance(one, int) else list(one) for one in pad_width]
    if len(rows) == 2 and all(isinstance(one, int) for one in pad_width):
        return [list(pad_width)] * rank
    if len(rows) == 1:
        rows *= rank
    if len(rows) != rank or any(len(row) != 2 for row in rows):
        raise ValueError(
            f"pad: pad_width must hold a pair for each of {rank} axes, but is {pad_width}"
        )
    return rows


# -- orders ------------------------------------------------------------------------------------


def _flip(x: Any, axis: Any = None) -> Any:
    """Reverse the order of the elements along axes, by default along all.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.flip([[1, 2], [3, 4]], axis=1).tolist()
        [[2, 1], [4, 3]]
    """
    return wt.flip(x, _tuples(axis))


def _roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Shift the elements along axes; those at the end move to the beginning.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.roll([1, 2, 3], 1).tolist()
        [3, 1, 2]
    """
    return wt.roll(x, _tuples(shift), _tuples(axis))


def _rot90(array: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Rotate the elements ``k`` times by 90°, from the first of ``axes`` toward the second.

    Raises:
        ValueError: the axes are the same.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.rot90([[1, 2], [3, 4]]).tolist()
        [[2, 4], [1, 3]]
    """
    first, second = axes
    array = wt.asarray(array)
    if normalize_axis("rot90", first, len(array.shape)) == normalize_axis(
        "rot90", second, len(array.shape)
    ):
        raise ValueError(f"rot90: axes must be two different ones, but are {tuple(axes)}")
    turns = k % 4
    if turns == 0:
        return array
    if turns == 2:
        return wt.flip(array, (first, second))
    if turns == 1:
        return _swapaxes(wt.flip(array, second), first, second)
    return wt.flip(_swapaxes(array, first, second), second)


def _sort(x: Any, axis: int | None = -1) -> Any:
    """Sort the elements along an axis in ascending order; without ``axis``, flatten them first.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.sort([3, 1, 2]).tolist()
        [1, 2, 3]
    """
    return wt.sort(wt.reshape(x, (-1,)) if axis is None else x, axis=-1 if axis is None else axis)


def _argsort(x: Any, axis: int | None = -1) -> Any:
    """Return the int32 indices that would sort the elements along an axis in ascending order.

    Without ``axis``, they are indices of the flattened elements.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.argsort([3, 1, 2]).tolist()
        [1, 2, 0]
    """
    x = wt.asarray(x)
    if not x.shape:
        return wt.zeros((), int32)
    if axis is None:
        x, axis = wt.reshape(x, (-1,)), -1
    return wt.argsort(x, axis=axis)


def _argpartition(x: Any, kth: int, axis: int | None = -1) -> Any:
    """Return int32 indices that put no larger elements before that of position ``kth``.

    They are those of ``argsort``.

    Raises:
        ValueError: ``kth`` is not an integer.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.argpartition([3, 1, 2], 1).tolist()
        [1, 2, 0]
    """
    if not isinstance(kth, int):
        raise ValueError(f"argpartition: kth must be an integer, but got {kth!r}")
    return _argsort(x, axis)


def _searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Any:
    """Return the int32 indices at which to insert values into a sorted vector to keep its order.

    ``side`` says whether equal elements come after ("left") or before ("right").

    Raises:
        ValueError: ``side`` is neither.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.searchsorted([1, 3, 5], [3, 4]).tolist()
        [1, 2]
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', but got {side!r}")
    return wt.searchsorted(sorted_sequence, values, side=side)


def _digitize(x: Any, bins: Any) -> Any:
    """Return, as int32, the index of the bin of each element; ``bins`` are ascending edges.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.digitize([0.5, 1.5, 2.5], [1.0, 2.0]).tolist()
        [0, 1, 2]
    """
    return wt.searchsorted(bins, x, side="right")


def _unravel_index(indices: Any, shape: Any) -> Any:
    """Convert indices of a flattened tensor of the given shape to indices along each axis.

    Example:
        >>> from webtensor import keras
        >>> [axis.tolist() for axis in keras.ops.unravel_index([1, 5], (2, 3))]
        [[0, 1], [1, 2]]
    """
    rest = wt.astype(indices, int32)
    rest = wt.where(wt.less(rest, 0), rest + prod(shape), rest)
    found = []
    for length in reversed(_tuples(shape)):
        found.append(wt.remainder(rest, length))
        rest = wt.floor_divide(rest, length)
    return tuple(reversed(found))


def _unique(
    x: Any,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Return the distinct elements in ascending order.

    With ``return_index``, ``return_inverse`` and ``return_counts``, a tuple also has the int32
    indices of first occurrences, the indices that restore ``x``, and the numbers of occurrences.
    With ``axis``, slices along it are compared. With ``size``, the result is cropped to that size,
    or padded with ``fill_value``, by default the first element.

    Example:
        >>> from webtensor import keras
        >>> values, counts = keras.ops.unique([2, 1, 2], return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 2], [1, 2])
    """
    x = wt.asarray(x)
    if axis is None:
        values, first, inverse, counts = wt.unique_all(wt.reshape(x, (-1,)))
        inverse = wt.reshape(inverse, x.shape)
    else:
        slices = wt.moveaxis(x, normalize_axis("unique", axis, len(x.shape)), 0)
        _, first, inverse, counts = wt.unique_all(_order(slices))
        values = wt.gather(slices, first, 0)
    if size is not None:
        values, first, counts = (
            _sized(one, size, fill)
            for one, fill in ((values, fill_value), (first, None), (counts, 0))
        )
    wanted = [values if axis is None else wt.moveaxis(values, 0, axis)]
    wanted += [first] if return_index else []
    wanted += [inverse] if return_inverse else []
    wanted += [counts] if return_counts else []
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def _order(slices: Any) -> Any:
    """A number for each slice along the first axis: equal for equal ones, and in their order."""
    count = slices.shape[0]
    numbers = wt.zeros((count,), int32)
    for column in wt.unstack(wt.reshape(slices, (count, prod(slices.shape[1:]))), 1):
        places = wt.unique_all(column)[2]
        numbers = wt.unique_all(wt.add(wt.multiply(numbers, count), places))[2]
    return numbers


def _uniquely(compute: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    x, axis, count = args[0], given["axis"], given["size"]
    place = None if axis is None else normalize_axis("unique", axis, len(x.shape))
    shape = (count,) if place is None else (*x.shape[:place], count, *x.shape[place + 1 :])
    wanted = [KerasTensor(shape, x.dtype)]
    wanted += [KerasTensor((count,), int32)] if given["return_index"] else []
    inverse = x.shape if place is None else (x.shape[place],)
    wanted += [KerasTensor(inverse, int32)] if given["return_inverse"] else []
    wanted += [KerasTensor((count,), int32)] if given["return_counts"] else []
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def _sized(x: Any, size: int, fill_value: Any) -> Any:
    """The first elements, or all and others after them."""
    missing = size - x.shape[0]
    if missing <= 0:
        return x[:size]
    fill = x[:1] if fill_value is None else wt.full_like(x[:1], fill_value)
    return wt.concat([x, wt.tile(fill, [missing] + [1] * (len(x.shape) - 1))])


def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Return the ``n``-th differences of neighboring elements along an axis.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.diff([1, 4, 9]).tolist()
        [3, 5]
    """
    return wt.diff(a, axis=axis, n=n)


ROWS: dict[str, Row] = {
    # -- shapes --------------------------------------------------------------------------------
    "broadcast_to": op(_broadcast_to, "shape"),
    "expand_dims": op(_expand_dims, "axis"),
    "meshgrid": op(_meshgrid, "indexing"),
    "ndim": plain(_ndim),
    "size": plain(_size),
    "moveaxis": op(_moveaxis, "source destination"),
    "ravel": op(lambda x: wt.reshape(x, (-1,))),
    "reshape": op(_reshape, "newshape", spec=_reshaped),
    "squeeze": op(_squeeze, "axis", spec=_squeezed),
    "swapaxes": op(_swapaxes, "axis1 axis2"),
    "transpose": op(_transpose, "axes"),
    # -- parts ---------------------------------------------------------------------------------
    "array_split": op(_array_split, "indices_or_sections axis"),
    "diag": op(_diag, "k"),
    "diagflat": op(_diagflat, "k"),
    "diagonal": op(_diagonal, "offset axis1 axis2"),
    "diff": op(_diff, "n axis"),
    "dsplit": _splitter(2, 3),
    "get_item": op(_get_item, spec=_item),
    "hsplit": _splitter(1, 2),
    "nonzero": op(wt.nonzero, names="x", spec=_places),
    "split": op(_split, "indices_or_sections axis"),
    "take": op(_take, "axis"),
    "take_along_axis": op(_take_along_axis, "axis"),
    "trace": op(_trace, "offset axis1 axis2"),
    "tril": op(wt.tril, "k"),
    "triu": op(wt.triu, "k"),
    "unique": op(
        _unique,
        "sorted return_index return_inverse return_counts axis size fill_value",
        spec=_uniquely,
    ),
    "vectorize": plain(vectorize),
    "vsplit": _splitter(0, 1),
    # -- joining -------------------------------------------------------------------------------
    "append": op(_append, "axis"),
    "concatenate": op(_concatenate, "axis"),
    "dstack": op(_dstack),
    "hstack": op(_hstack),
    "pad": op(_pad, "pad_width mode", keywords="constant_values"),
    "repeat": op(lambda x, repeats, axis=None: wt.repeat(x, repeats, axis=axis), "repeats axis"),
    "stack": op(_stack, "axis"),
    "tile": op(_tile, "repeats"),
    "vstack": op(_vstack),
    # -- orders --------------------------------------------------------------------------------
    "argpartition": op(_argpartition, "kth axis"),
    "argsort": op(_argsort, "axis"),
    "digitize": op(_digitize),
    "flip": op(_flip, "axis"),
    "fliplr": op(lambda x: wt.flip(x, 1)),
    "flipud": op(lambda x: wt.flip(x, 0)),
    "roll": op(_roll, "shift axis"),
    "rot90": op(_rot90, "k axes"),
    "searchsorted": op(_searchsorted, "side", kind="SearchSorted"),
    "sort": op(_sort, "axis"),
    "unravel_index": op(_unravel_index, "shape"),
}
