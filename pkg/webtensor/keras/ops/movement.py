"""Functions that rearrange, join and pick elements, in Keras's module ``numpy``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from types import EllipsisType, NoneType
from typing import Any, overload

from webtensor import ops as wt
from webtensor.arguments import as_integer, check_choice
from webtensor.dtypes import bool_, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.ops.operations import Arguments, Computation, Row, op, plain
from webtensor.keras.ops.vectorization import vectorize
from webtensor.keras.shape_inference import outcome_of_trial
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Axis, Config, Operand, Shape
from webtensor.ops.movement import MAX_EMPTY_PARTS, pairs_of_padding
from webtensor.shapes import normalize_axis, prod

__all__ = ["ROWS", "shape_of"]

#: Sizes that trials of indices substitute for unknown dimensions.
_TRIAL_SIZES = (83, 89)


@overload
def _integers(value: int | Sequence[int]) -> int | Sequence[int]: ...


@overload
def _integers(value: Axis) -> Axis: ...


def _integers(value: Axis) -> Axis:
    """Return several integers as a tuple, since tuples have become lists in JSON."""
    return tuple(value) if isinstance(value, Iterable) else value


# -- shapes ------------------------------------------------------------------------------------


def shape_of(x: Operand) -> Shape:
    """Return the shape of a tensor as a tuple, with None for unknown dimensions.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.shape([[1, 2, 3]])
        (1, 3)
    """
    return tuple(x.shape if hasattr(x, "shape") else wt.asarray(x).shape)


def _ndim(x: Operand) -> int:
    """Return the number of axes of a tensor.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.ndim([[1, 2, 3]])
        2
    """
    return len(shape_of(x))


def _size(x: Operand) -> int:
    """Return the number of elements of a tensor; that of a symbolic one is symbolic.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.size([[1, 2, 3]])
        3
    """
    return prod(size for size in shape_of(x) if size is not None)


def _size_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    return KerasTensor((), int32)


def _reshape(x: TensorLike, newshape: int | Sequence[int | None]) -> Tensor:
    """Return the elements in another shape, in which one size may be -1, to be inferred.

    Raises:
        ValueError: the numbers of elements differ.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.reshape([1, 2, 3, 4], (2, -1)).tolist()
        [[1, 2], [3, 4]]
    """
    return wt.reshape(x, _target_shape(newshape))


def _target_shape(shape: int | Sequence[int | None]) -> tuple[int, ...]:
    """Return a shape as integers; None, an unknown dimension, becomes -1."""
    if not isinstance(shape, Iterable):
        return (shape,)
    return tuple(-1 if size is None else int(size) for size in shape)


def _reshape_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    x, shape = args[0], _target_shape(config["newshape"])
    if shape.count(-1) > 1:
        raise ValueError(f"reshape: only one size may be -1, but newshape is {shape}")
    if None in x.shape:
        return KerasTensor([None if size == -1 else size for size in shape], x.dtype)
    element_count = _size(x)
    product = prod(size for size in shape if size != -1)
    if element_count % product if -1 in shape and product else element_count != product:
        raise ValueError(f"reshape: x of shape {x.shape} has no shape {shape}")
    sizes = [element_count // product if size == -1 else size for size in shape]
    return KerasTensor(sizes, x.dtype)


def _squeeze(x: TensorLike, axis: Axis = None) -> Tensor:
    """Remove axes of size 1: all of them, or those given by ``axis``.

    Raises:
        ValueError: an axis is not of size 1.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.squeeze([[1, 2]]).tolist()
        [1, 2]
    """
    return wt.squeeze(x, _integers(axis))


def _squeeze_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    x, axis = args[0], config["axis"]
    if axis is None:
        axes = [i for i, size in enumerate(x.shape) if size == 1]
    else:
        indices = axis if isinstance(axis, (list, tuple)) else [axis]
        axes = [normalize_axis("squeeze", index, len(x.shape)) for index in indices]
        for i in axes:
            if x.shape[i] != 1:
                raise ValueError(f"squeeze: axis {i} of shape {x.shape} does not have size 1")
    return KerasTensor([size for i, size in enumerate(x.shape) if i not in axes], x.dtype)


def _expand_dims(x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """Insert axes of size 1 at the positions ``axis``, an integer or several, of the result.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.expand_dims([1, 2], -1).tolist()
        [[1], [2]]
    """
    return wt.expand_dims(x, axis)


def _transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """Permute the axes, by default into the reverse order.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.transpose([[1, 2], [3, 4]]).tolist()
        [[1, 3], [2, 4]]
    """
    return wt.transpose(x, axes)


def _swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """Exchange two axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.swapaxes([[1, 2], [3, 4]], 0, 1).tolist()
        [[1, 3], [2, 4]]
    """
    x = wt.asarray(x)
    rank = len(x.shape)
    order = list(range(rank))
    axis1, axis2 = normalize_axis("swapaxes", axis1, rank), normalize_axis("swapaxes", axis2, rank)
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return wt.permute_dims(x, order)


def _moveaxis(
    x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """Move the axes ``source`` to the positions ``destination``; the others keep their order.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.moveaxis(keras.ops.ones((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    return wt.moveaxis(x, _integers(source), _integers(destination))


def _broadcast_to(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """Broadcast the elements to a shape, repeating axes of size 1.

    Raises:
        ValueError: the shape of ``x`` does not broadcast to ``shape``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.broadcast_to([1, 2], (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    return wt.broadcast_to(x, _integers(shape))


def _meshgrid(*x: TensorLike, indexing: str = "xy") -> list[Tensor]:
    """Return the coordinates of the points of the grid that vectors span.

    For vectors of sizes n and m, the results have shape (m, n), or (n, m) with indexing "ij".

    Example:
        >>> from webtensor import keras
        >>> [x.tolist() for x in keras.ops.meshgrid([1, 2], [3, 4])]
        [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    return wt.meshgrid(*(wt.reshape(vector, (-1,)) for vector in x), indexing=indexing)


# -- parts -------------------------------------------------------------------------------------


def _get_item(x: TensorLike, key: Any) -> Tensor:
    """Return ``x[key]``, also of symbolic tensors.

    Raises:
        ValueError: an index is out of range, or there are more indices than axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.get_item([[1, 2], [3, 4]], (0, 1)).item()
        2
    """
    return wt.asarray(x)[tuple(key) if isinstance(key, list) else key]


def _get_item_spec(compute: Computation, args: Arguments, config: Config) -> KerasTensor:
    x, key = args
    indices: list[Any] = list(key) if isinstance(key, (list, tuple)) else [key]
    if not all(isinstance(index, (int, slice, NoneType, EllipsisType)) for index in indices):
        outcome: KerasTensor = outcome_of_trial(compute, args, {}, _TRIAL_SIZES)
        return outcome
    if sum(index is ... for index in indices) > 1:
        raise ValueError("index: there is more than one ellipsis")
    axis_count = sum(index is not None and index is not ... for index in indices)
    if axis_count > len(x.shape):
        raise ValueError(f"index: {axis_count} indices for a tensor of rank {len(x.shape)}")
    position = next((i for i, index in enumerate(indices) if index is ...), len(indices))
    indices[position : position + 1] = [slice(None)] * (len(x.shape) - axis_count)
    return KerasTensor(_indexed_shape(x.shape, indices), x.dtype)


def _indexed_shape(shape: Shape, indices: list[int | slice | None]) -> list[int | None]:
    """Return the shape of a tensor that is indexed with one index for each axis.

    None inserts an axis of size 1.
    """
    sizes = iter(shape)
    indexed_shape: list[int | None] = []
    for index in indices:
        size = 1 if index is None else next(sizes)
        if index is None or (isinstance(index, slice) and size is None):
            indexed_shape.append(size)
        elif isinstance(index, slice):
            indexed_shape.append(len(range(*index.indices(size or 0))))
        elif size is not None and not -size <= index < size:
            raise ValueError(f"index {index} is out of range for an axis of size {size}")
    return indexed_shape


def _nonzero_spec(compute: Computation, args: Arguments, config: Config) -> tuple[KerasTensor, ...]:
    return tuple(KerasTensor((None,), int32) for _ in args[0].shape)


def _take(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
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
    from_start = wt.where(wt.less(indices, 0), indices + x.shape[axis], indices)
    return wt.gather(x, from_start, axis)


def _take_along_axis(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
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


def _diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals of the matrices along two axes; they become the last axis.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.diagonal([[1, 2], [3, 4]]).tolist()
        [1, 4]
    """
    x = wt.asarray(x)
    return wt.linalg.diagonal(wt.moveaxis(x, (axis1, axis2), (-2, -1)), offset=offset)


def _diagonal_spec(compute: Computation, args: Arguments, config: Config) -> object:
    """Infer diagonals, which are seldom the same for 1 row and for 9."""
    return outcome_of_trial(compute, args, {}, (1, 9))


def _trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the sums of the diagonals of the matrices along two axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.trace([[1, 2], [3, 4]]).item()
        5
    """
    return wt.sum(_diagonal(x, offset, axis1, axis2), axis=-1)


def _diag(x: TensorLike, k: int = 0) -> Tensor:
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
    return wt.where(wt.eye(size, k=k, dtype=bool_), wt.reshape(rows, (-1, 1)), wt.zeros_like(rows))


def _diagflat(x: TensorLike, k: int = 0) -> Tensor:
    """Return the matrix that has all elements as its ``k``-th diagonal.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.diagflat([[1], [2]]).tolist()
        [[1, 0], [0, 2]]
    """
    return _diag(wt.reshape(x, (-1,)), k)


def _split(x: TensorLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Split a tensor along an axis into a number of equal parts, or at indices.

    Raises:
        ValueError: the axis cannot be split into equal parts.

    Example:
        >>> from webtensor import keras
        >>> [part.tolist() for part in keras.ops.split([1, 2, 3, 4], [1, 3])]
        [[1], [2, 3], [4]]
    """
    x = wt.asarray(x)
    if not isinstance(indices_or_sections, Iterable):
        return wt.split(x, indices_or_sections, axis)
    axis_size = x.shape[axis]
    ends = [
        min(index + axis_size if index < 0 else index, axis_size) for index in indices_or_sections
    ]
    sizes = [max(end - start, 0) for start, end in pairwise([0, *ends, axis_size])]
    return wt.split(x, sizes, axis)


def _array_split(
    x: TensorLike, indices_or_sections: int | Sequence[int], axis: int = 0
) -> list[Tensor]:
    """Split a tensor along an axis into parts whose sizes differ by at most 1, or at indices.

    Raises:
        ValueError: there would be no parts, or tens of thousands of empty ones.

    Example:
        >>> from webtensor import keras
        >>> [part.tolist() for part in keras.ops.array_split([1, 2, 3], 2)]
        [[1, 2], [3]]
    """
    if isinstance(indices_or_sections, Iterable):
        return _split(x, indices_or_sections, axis)
    x = wt.asarray(x)
    if not 0 < indices_or_sections <= max(x.shape[axis], MAX_EMPTY_PARTS):
        raise ValueError(
            f"array_split: indices_or_sections must be from 1 to {MAX_EMPTY_PARTS}, or to the "
            f"size of the axis, {x.shape[axis]}, but is {indices_or_sections!r:.20}"
        )
    size, remainder = divmod(x.shape[axis], indices_or_sections)
    return wt.split(x, [size + (i < remainder) for i in range(indices_or_sections)], axis)


def _split_spec(compute: Computation, args: Arguments, config: Config) -> object:
    """Infer parts from sizes that have all indices, unless these are large."""
    sections = config["indices_or_sections"]
    is_several = isinstance(sections, Iterable)
    size = 1 + 2 * max(map(abs, sections), default=0) if is_several else sections
    size = min(size, 120)
    return outcome_of_trial(compute, args, {}, (size, 2 * size))


def _splitter(axis: int, minimum_rank: int) -> Row:
    """A function that splits along an axis; ``hsplit`` of a vector along its only one."""

    def split(x: TensorLike, indices_or_sections: int | Sequence[int]) -> list[Tensor]:
        shape = wt.asarray(x).shape
        if len(shape) < minimum_rank:
            raise ValueError(f"x must have {minimum_rank} or more axes, but has shape {shape}")
        return _split(x, indices_or_sections, min(axis, len(shape) - 1))

    return op(split, "indices_or_sections", spec=_split_spec)


# -- joining -----------------------------------------------------------------------------------


def _promoted(xs: Sequence[TensorLike]) -> list[Tensor]:
    """Convert tensors to the dtype to which theirs are promoted."""
    tensors = [wt.asarray(x) for x in xs]
    dtype = wt.result_type(*tensors)
    return [wt.astype(tensor, dtype, copy=False) for tensor in tensors]


def _concatenate(xs: Sequence[TensorLike], axis: int | None = 0) -> Tensor:
    """Join tensors along an existing axis; their dtypes are promoted to a common one.

    Without ``axis``, they are flattened first.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.concatenate([[1, 2], [3]]).tolist()
        [1, 2, 3]
    """
    return wt.concat(_promoted(xs), axis)


def _stack(x: TensorLike, axis: int = 0) -> Tensor:
    """Join tensors of the same shape along a new axis; their dtypes are promoted to a common one.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.stack([[1, 2], [3, 4]], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    return wt.stack(_promoted(x), axis)


def _append(x1: TensorLike, x2: TensorLike, axis: int | None = None) -> Tensor:
    """Join two tensors along an axis, or flattened if ``axis`` is None.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.append([1, 2], [3]).tolist()
        [1, 2, 3]
    """
    return wt.concat(_promoted([x1, x2]), axis)


def _hstack(xs: Sequence[TensorLike]) -> Tensor:
    """Join tensors along the second axis, or vectors along the first.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.hstack([[1, 2], [3]]).tolist()
        [1, 2, 3]
    """
    tensors = [wt.reshape(x, x.shape or (1,)) for x in _promoted(xs)]
    return wt.concat(tensors, 0 if len(tensors[0].shape) == 1 else 1)


def _vstack(xs: Sequence[TensorLike]) -> Tensor:
    """Join tensors along the first axis; vectors become rows.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.vstack([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
    """
    tensors = [x if len(x.shape) > 1 else wt.reshape(x, (1, -1)) for x in _promoted(xs)]
    return wt.concat(tensors, 0)


def _dstack(xs: Sequence[TensorLike]) -> Tensor:
    """Join tensors along the third axis; (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1).

    Example:
        >>> from webtensor import keras
        >>> keras.ops.dstack([[1, 2], [3, 4]]).tolist()
        [[[1, 3], [2, 4]]]
    """
    tensors = []
    for x in _promoted(xs):
        shape = (1, *x.shape) if len(x.shape) == 1 else x.shape or (1, 1)
        tensors.append(wt.reshape(x, shape if len(shape) > 2 else (*shape, 1)))
    return wt.concat(tensors, 2)


def _tile(x: TensorLike, repeats: int | Sequence[int]) -> Tensor:
    """Repeat the whole tensor along each axis as often as ``repeats`` says.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.tile([1, 2], 2).tolist()
        [1, 2, 1, 2]
    """
    x = wt.asarray(x)
    counts = list(repeats) if isinstance(repeats, Iterable) else [repeats]
    counts = [1] * (len(x.shape) - len(counts)) + counts
    return wt.tile(wt.reshape(x, (1,) * (len(counts) - len(x.shape)) + x.shape), counts)


_PAD_MODES = ("constant", "edge", "reflect", "symmetric")


def _pad(
    x: TensorLike,
    pad_width: int | Sequence[int | Sequence[int]],
    mode: str = "constant",
    constant_values: TensorLike | None = None,
) -> Tensor:
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
    paddings = pairs_of_padding("pad_width", pad_width, x.shape)
    if mode != "constant" and constant_values is not None:
        raise ValueError(f"pad: constant_values are for mode 'constant' only, but mode is {mode!r}")
    if mode == "constant":
        return wt.pad(x, paddings, constant_values or 0)
    if mode == "edge":
        return _edge_padded(x, paddings)
    check_choice("pad", "mode", mode, _PAD_MODES)
    return wt.mirror_pad(x, paddings, mode)


def _edge_padded(x: Tensor, paddings: list[list[int]]) -> Tensor:
    for axis, (before, after) in enumerate(paddings):
        if before or after:
            last = x.shape[axis] - 1
            indices = [min(max(i, 0), last) for i in range(-before, last + 1 + after)]
            x = wt.gather(x, wt.tensor(indices, dtype=int32), axis)
    return x


# -- orders ------------------------------------------------------------------------------------


def _flip(x: TensorLike, axis: Axis = None) -> Tensor:
    """Reverse the order of the elements along axes, by default along all.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.flip([[1, 2], [3, 4]], axis=1).tolist()
        [[2, 1], [4, 3]]
    """
    return wt.flip(x, _integers(axis))


def _roll(x: TensorLike, shift: int | Sequence[int], axis: Axis = None) -> Tensor:
    """Shift the elements along axes; those at the end move to the beginning.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.roll([1, 2, 3], 1).tolist()
        [3, 1, 2]
    """
    return wt.roll(x, _integers(shift), _integers(axis))


def _rot90(array: TensorLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Rotate the elements ``k`` times by 90°, from the first of ``axes`` toward the second.

    Raises:
        ValueError: the axes are the same.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.rot90([[1, 2], [3, 4]]).tolist()
        [[2, 4], [1, 3]]
    """
    first, second = axes
    x = wt.asarray(array)
    rank = len(x.shape)
    if normalize_axis("rot90", first, rank) == normalize_axis("rot90", second, rank):
        raise ValueError(f"rot90: axes must be two different ones, but are {tuple(axes)}")
    turns = k % 4
    if turns == 0:
        return x
    if turns == 2:
        return wt.flip(x, (first, second))
    if turns == 1:
        return _swapaxes(wt.flip(x, second), first, second)
    return wt.flip(_swapaxes(x, first, second), second)


def _sort(x: TensorLike, axis: int | None = -1) -> Tensor:
    """Sort the elements along an axis in ascending order; without ``axis``, flatten them first.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.sort([3, 1, 2]).tolist()
        [1, 2, 3]
    """
    return wt.sort(wt.reshape(x, (-1,)) if axis is None else x, axis=-1 if axis is None else axis)


def _argsort(x: TensorLike, axis: int | None = -1) -> Tensor:
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


def _argpartition(x: TensorLike, kth: int, axis: int | None = -1) -> Tensor:
    """Return int32 indices that put no larger elements before that of position ``kth``.

    They are those of ``argsort``.

    Raises:
        ValueError: ``kth`` is not an integer.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.argpartition([3, 1, 2], 1).tolist()
        [1, 2, 0]
    """
    as_integer("argpartition", "kth", kth)
    return _argsort(x, axis)


def _searchsorted(sorted_sequence: TensorLike, values: TensorLike, side: str = "left") -> Tensor:
    """Return the int32 indices at which to insert values into a sorted vector to keep its order.

    ``side`` says whether equal elements come after ("left") or before ("right").

    Raises:
        ValueError: ``side`` is neither.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.searchsorted([1, 3, 5], [3, 4]).tolist()
        [1, 2]
    """
    check_choice("searchsorted", "side", side, ("left", "right"))
    return wt.searchsorted(sorted_sequence, values, side=side)


def _digitize(x: TensorLike, bins: Any) -> Tensor:
    """Return, as int32, the index of the bin of each element; ``bins`` are ascending edges.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.digitize([0.5, 1.5, 2.5], [1.0, 2.0]).tolist()
        [0, 1, 2]
    """
    return wt.searchsorted(bins, x, side="right")


def _unravel_index(indices: TensorLike, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """Convert indices of a flattened tensor of the given shape to indices along each axis.

    Example:
        >>> from webtensor import keras
        >>> [axis.tolist() for axis in keras.ops.unravel_index([1, 5], (2, 3))]
        [[0, 1], [1, 2]]
    """
    flat = wt.astype(indices, int32)
    flat = wt.where(wt.less(flat, 0), flat + prod(shape), flat)
    reversed_axes = []
    for size in reversed(shape):
        reversed_axes.append(wt.remainder(flat, size))
        flat = wt.floor_divide(flat, size)
    return tuple(reversed(reversed_axes))


def _unique(
    x: TensorLike,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: TensorLike | None = None,
) -> Tensor | tuple[Tensor, ...]:
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
        _, first, inverse, counts = wt.unique_all(_slice_numbers(slices))
        values = wt.gather(slices, first, 0)
    if size is not None:
        values = _resized(values, size, fill_value)
        first, counts = _resized(first, size, None), _resized(counts, size, 0)
    results = [values if axis is None else wt.moveaxis(values, 0, axis)]
    results += [first] if return_index else []
    results += [inverse] if return_inverse else []
    results += [counts] if return_counts else []
    return results[0] if len(results) == 1 else tuple(results)


def _slice_numbers(slices: Tensor) -> Tensor:
    """Number the slices along the first axis in ascending order; equal ones have equal numbers."""
    count = slices.shape[0]
    numbers = wt.zeros((count,), int32)
    for column in wt.unstack(wt.reshape(slices, (count, prod(slices.shape[1:]))), 1):
        inverse = wt.unique_all(column)[2]
        numbers = wt.unique_all(wt.add(wt.multiply(numbers, count), inverse))[2]
    return numbers


def _unique_spec(
    compute: Computation, args: Arguments, config: Config
) -> KerasTensor | tuple[KerasTensor, ...]:
    x, axis, count = args[0], config["axis"], config["size"]
    if axis is None:
        shape, inverse_shape = (count,), x.shape
    else:
        axis = normalize_axis("unique", axis, len(x.shape))
        shape, inverse_shape = (*x.shape[:axis], count, *x.shape[axis + 1 :]), (x.shape[axis],)
    results = [KerasTensor(shape, x.dtype)]
    results += [KerasTensor((count,), int32)] if config["return_index"] else []
    results += [KerasTensor(inverse_shape, int32)] if config["return_inverse"] else []
    results += [KerasTensor((count,), int32)] if config["return_counts"] else []
    return results[0] if len(results) == 1 else tuple(results)


def _resized(x: Tensor, size: int, fill_value: TensorLike | None) -> Tensor:
    """Crop the first axis to a size, or pad it with a value, by default the first element."""
    missing = size - x.shape[0]
    if missing <= 0:
        return x[:size]
    fill = x[:1] if fill_value is None else wt.full_like(x[:1], fill_value)
    return wt.concat([x, wt.tile(fill, [missing] + [1] * (len(x.shape) - 1))])


def _diff(a: TensorLike, n: int = 1, axis: int = -1) -> Tensor:
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
    "size": op(_size, spec=_size_spec),
    "moveaxis": op(_moveaxis, "source destination"),
    "ravel": op(lambda x: wt.reshape(x, (-1,))),
    "reshape": op(_reshape, "newshape", spec=_reshape_spec),
    "squeeze": op(_squeeze, "axis", spec=_squeeze_spec),
    "swapaxes": op(_swapaxes, "axis1 axis2"),
    "transpose": op(_transpose, "axes"),
    # -- parts ---------------------------------------------------------------------------------
    "array_split": op(_array_split, "indices_or_sections axis", spec=_split_spec),
    "diag": op(_diag, "k", spec=_diagonal_spec),
    "diagflat": op(_diagflat, "k"),
    "diagonal": op(_diagonal, "offset axis1 axis2", spec=_diagonal_spec),
    "diff": op(_diff, "n axis"),
    "dsplit": _splitter(2, 3),
    "get_item": op(_get_item, spec=_get_item_spec),
    "hsplit": _splitter(1, 1),
    "nonzero": op(wt.nonzero, names="x", spec=_nonzero_spec),
    "split": op(_split, "indices_or_sections axis", spec=_split_spec),
    "take": op(_take, "axis"),
    "take_along_axis": op(_take_along_axis, "axis"),
    "trace": op(_trace, "offset axis1 axis2"),
    "tril": op(wt.tril, "k"),
    "triu": op(wt.triu, "k"),
    "unique": op(
        _unique,
        "sorted return_index return_inverse return_counts axis size fill_value",
        spec=_unique_spec,
    ),
    "vectorize": plain(vectorize),
    "vsplit": _splitter(0, 2),
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
    "searchsorted": op(_searchsorted, "side", class_name="SearchSorted"),
    "sort": op(_sort, "axis"),
    "unravel_index": op(_unravel_index, "shape"),
}
