"""Moving elements: reshape, transpose, slice, pad, concat, gather and their kin.

Transposes, slices, reversals and broadcasts are all strided views of a tensor, which one kernel
copies out: element ``(i, j, …)`` of the result is element ``offset + i * strides[0] + …`` of
the source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from webtensor.arguments import as_integer, as_integers, as_pairs_of_integers
from webtensor.autodiff import Gathered
from webtensor.dtypes import DType, complex64, int32, promote, string_
from webtensor.engine import Primitive, Tensor, TensorLike, alias, as_operand, planned, run
from webtensor.engine.convert import pack
from webtensor.errors import AxisError
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.shapes import (
    Shape,
    axis_group,
    contiguous_strides,
    normalize_axes,
    normalize_axis,
    prod,
    single_integer,
)

__all__ = [
    "Pieces",
    "clone",
    "concat",
    "expand_dims",
    "flatten",
    "flip",
    "gather",
    "pad",
    "part",
    "permute_dims",
    "reshape",
    "slice",
    "split",
    "spread",
    "squeeze",
    "stack",
    "stepped_slice",
    "strided_view",
    "take",
    "transpose",
]

# -- same elements, other shape -----------------------------------------------------------------

_RESHAPE = Primitive("reshape", gradients=(lambda dy, y, x: dy.reshape(x.shape),))
_CLONE = Primitive("clone", gradients=(lambda dy, y, x: dy,))


def reshape(x: TensorLike, shape: int | Sequence[int], copy: bool | None = None) -> Tensor:
    """Give the elements, in row-major order, another shape; nothing is copied.

    One size may be -1: it is found from the others. ``copy`` is for the array API standard: as
    tensors never change, a copy could not be told from the original.

    Raises:
        ValueError: the shape does not hold the elements.

    Example:
        >>> import webtensor as wt
        >>> wt.reshape([1, 2, 3, 4], (2, -1)).tolist()
        [[1, 2], [3, 4]]
    """
    x = as_operand("reshape", x)
    if copy is not None and type(copy) is not bool:
        raise TypeError(
            f"reshape: copy must be True, False or None, but got {copy!r}; a shape of several axes "
            "is one argument: reshape(x, (2, 3))"
        )
    one_size = single_integer(shape)
    sizes: Any = shape if one_size is None else (one_size,)
    try:
        dimensions = tuple([dimension.__index__() for dimension in sizes])
    except (AttributeError, TypeError):
        raise TypeError(f"reshape: shape must be integers, but got {shape!r}") from None
    size = prod(x.shape)
    if -1 in dimensions:
        other_size = prod([dimension for dimension in dimensions if dimension != -1])
        if dimensions.count(-1) == 1 and other_size > 0 and size % other_size == 0:
            dimensions = tuple(
                size // other_size if dimension == -1 else dimension for dimension in dimensions
            )
    if min(dimensions, default=0) < 0 or prod(dimensions) != size:
        raise ValueError(f"reshape: shape {dimensions} does not hold {size} elements of {x.shape}")
    return alias(_RESHAPE, x, dimensions)


def clone(x: TensorLike) -> Tensor:
    """Another tensor with the same elements, which are shared.

    The result has the shape and dtype of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.clone([1, 2]).tolist()
        [1, 2]
    """
    x = as_operand("clone", x)
    return alias(_CLONE, x, x.shape)


def flatten(x: TensorLike) -> Tensor:
    """The elements along one axis.

    The result has rank 1 and the dtype of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.flatten([[1], [2]]).tolist()
        [1, 2]
    """
    x = as_operand("flatten", x)
    return reshape(x, (x.size,))


def expand_dims(x: TensorLike, axis: int | Sequence[int] = 0) -> Tensor:
    """Insert axes of size 1 at ``axis``, an integer or several, of the result.

    Raises:
        AxisError: the result has no such axis; it is a ``ValueError`` and an ``IndexError``.

    Example:
        >>> import webtensor as wt
        >>> wt.expand_dims([1, 2], axis=1).shape
        (2, 1)
    """
    x = as_operand("expand_dims", x)
    axes = axis if isinstance(axis, (list, tuple)) else (axis,)
    rank = len(x.shape) + len(axes)
    try:
        new_axes = normalize_axes("expand_dims", axes, rank)
    except ValueError as error:
        raise AxisError(*error.args) from None
    sizes = iter(x.shape)
    return reshape(x, tuple(1 if index in new_axes else next(sizes) for index in range(rank)))


def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """Remove axes of size 1: the given ones, or all.

    Raises:
        ValueError: a given axis has another size.

    Example:
        >>> import webtensor as wt
        >>> wt.squeeze([[[1, 2]]]).shape
        (2,)
    """
    x = as_operand("squeeze", x)
    if axis is None:
        return reshape(x, tuple(size for size in x.shape if size != 1))
    axes = normalize_axes("squeeze", axis, len(x.shape))
    for index in axes:
        if x.shape[index] != 1:
            raise ValueError(f"squeeze: axis {index} of shape {x.shape} does not have size 1")
    return reshape(x, tuple(n for index, n in enumerate(x.shape) if index not in axes))


# -- strided views: attributes are (strides, offset, what the gradient needs) -------------------


def strided_view(
    primitive: Primitive, x: Tensor, shape: Shape, strides: Shape, offset: int, *details: Any
) -> Tensor:
    """Copy a strided view of ``x`` out."""
    if x.dtype is string_:
        from webtensor.ops.string_elements import viewed_texts

        return viewed_texts(x, shape, strides, offset)
    return run(primitive, (x,), shape, x.dtype, strides, offset, *details)


def _inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


_PERMUTE = Primitive(
    "permute_dims",
    kernel="strided",
    gradients=(lambda dy, y, x, strides, offset, axes: dy.permute_dims(_inverse(axes)),),
)
_FLIP = Primitive(
    "flip",
    kernel="strided",
    gradients=(lambda dy, y, x, strides, offset, axes: dy.flip(axes),),
)


class Pieces(Gathered):
    """The gradient of a tensor of ``shape`` that is zero outside a few pieces.

    ``pieces`` has them by (begin, shape, step): where each lies in the tensor.
    """

    def __init__(
        self, shape: Shape, begin: Shape, piece: Tensor, step: Shape | None = None
    ) -> None:
        self.shape = shape
        step = (1,) * len(shape) if step is None else step
        self.pieces: dict[tuple[Shape, Shape, Shape], Tensor] = {(begin, piece.shape, step): piece}

    def plus(self, other: Any) -> Pieces:
        if isinstance(other, Pieces):
            for key, piece in other.pieces.items():
                previous = self.pieces.get(key)
                self.pieces[key] = piece if previous is None else previous + piece
            other = other.rest
        self._add_rest(other)
        return self

    def total(self) -> Tensor:
        """Join the pieces, with zeros between them; or add them up where they overlap."""
        joining = _joining(self.shape, tuple(self.pieces))
        whole = self._added() if joining is None else self._joined(joining)
        return whole if self.rest is None else self.rest + whole

    def _added(self) -> Tensor:
        spreads = [
            spread(piece, self.shape, begin, step, 0.0)
            for (begin, _, step), piece in self.pieces.items()
        ]
        total, *others = spreads
        for other in others:
            total = total + other
        return total

    def _joined(self, joining: _Joining) -> Tensor:
        pieces = tuple(self.pieces.values())
        dtype = pieces[0].dtype
        parts = tuple(
            [
                pieces[part] if type(part) is int else _constant(part, 0.0, dtype)  # type: ignore[arg-type]
                for part in joining.parts
            ]
        )
        if dtype is complex64:
            return concat(parts, joining.axis)
        return run(_CONCAT, parts, self.shape, dtype, joining.outer, joining.row_sizes)


class _Joining(NamedTuple):
    """How pieces are joined along an axis: each part is the index of a piece or a shape of zeros.

    ``outer`` and ``row_sizes`` are attributes of the primitive "concat".
    """

    axis: int
    parts: tuple[int | Shape, ...]
    outer: int
    row_sizes: tuple[int, ...]


@lru_cache(maxsize=256)
def _joining(shape: Shape, placements: tuple[tuple[Shape, Shape, Shape], ...]) -> _Joining | None:
    """Return how to join pieces, or None if there is one or they differ along several axes."""
    cut = {
        axis
        for _, dimensions, step in placements
        for axis, size in enumerate(dimensions)
        if size != shape[axis] or step[axis] != 1
    }
    filled = sum(0 not in dimensions for _, dimensions, _ in placements)
    if filled < 2 or len(cut) != 1 or any(max(step) > 1 for _, _, step in placements):
        return None
    (axis,) = cut
    outer, _, inner = axis_group(shape, axis, axis)
    order = sorted(range(len(placements)), key=lambda index: placements[index][0][axis])
    parts: list[int | Shape] = []
    row_sizes = []
    end = 0
    for index in (*order, None):
        begin = shape[axis] if index is None else placements[index][0][axis]
        if begin < end:
            return None
        if begin > end:
            parts.append((*shape[:axis], begin - end, *shape[axis + 1 :]))
            row_sizes.append((begin - end) * inner)
        if index is not None:
            size = placements[index][1][axis]
            if size:
                parts.append(index)
                row_sizes.append(size * inner)
                end = begin + size
    return _Joining(axis, tuple(parts), outer, tuple(row_sizes))


_SLICE = Primitive(
    "slice",
    kernel="strided",
    gradients=(lambda dy, y, x, strides, offset, begin, step: Pieces(x.shape, begin, dy, step),),
)


@planned
def permute_dims(x: TensorLike, axes: Sequence[int]) -> Tensor:
    """Reorder the axes: axis ``i`` of the result is axis ``axes[i]`` of ``x``.

    Raises:
        ValueError: ``axes`` is not a permutation of the axes of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.permute_dims([[1, 2], [3, 4]], (1, 0)).tolist()
        [[1, 3], [2, 4]]
    """
    x = as_operand("permute_dims", x)
    return _permuted(x, _order("permute_dims", "axes", axes, x.shape))


def _order(name: str, argument: str, axes: Sequence[int], shape: Shape) -> Shape:
    """Return axes in an order that a user gave, all counted from the front."""
    rank = len(shape)
    order = tuple(normalize_axis(name, axis, rank) for axis in as_integers(name, argument, axes))
    if sorted(order) != list(range(rank)):
        raise ValueError(
            f"{name}: {argument} must be a permutation of the axes of shape {shape}, but got "
            f"{tuple(axes)}"
        )
    return order


def _permuted(x: Tensor, order: Shape) -> Tensor:
    shape = tuple(x.shape[axis] for axis in order)
    moved = [axis for axis in order if x.shape[axis] != 1]
    if moved == sorted(moved):
        return reshape(x, shape)
    if x.dtype is complex64:
        return from_pairs(_permuted(as_pairs(x), (*order, len(order))))
    strides = contiguous_strides(x.shape)
    return strided_view(_PERMUTE, x, shape, tuple(strides[axis] for axis in order), 0, order)


@planned
def transpose(x: TensorLike, perm: Sequence[int] | None = None, conjugate: bool = False) -> Tensor:
    """Reorder the axes, by default into the reverse order; ``conjugate`` conjugates the elements.

    Raises:
        ValueError: ``perm`` is not a permutation of the axes of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.transpose([[1, 2], [3, 4]]).tolist()
        [[1, 3], [2, 4]]
    """
    x = as_operand("transpose", x)
    if conjugate:
        from webtensor.ops.complex_numbers import conj  # which builds on this module

        x = conj(x)
    if perm is None:
        return _permuted(x, tuple(range(len(x.shape) - 1, -1, -1)))
    return _permuted(x, _order("transpose", "perm", perm, x.shape))


@planned
def flip(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """Reverse the order of the elements along the given axes, or all.

    The result has the shape and dtype of ``x``.

    Raises:
        ValueError: an axis is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.flip([[1, 2], [3, 4]], axis=1).tolist()
        [[2, 1], [4, 3]]
    """
    x = as_operand("flip", x)
    axes = normalize_axes("flip", axis, len(x.shape))
    if x.dtype is complex64:
        return from_pairs(flip(as_pairs(x), axes))
    strides = list(contiguous_strides(x.shape))
    offset = 0
    for index in axes:
        offset += strides[index] * (x.shape[index] - 1)
        strides[index] = -strides[index]
    return strided_view(_FLIP, x, x.shape, tuple(strides), offset, axes)


@planned
def slice(
    x: TensorLike, begin: int | Sequence[int], size: int | Sequence[int] | None = None
) -> Tensor:
    """Cut a block out of a tensor, from ``begin`` and of ``size`` along each axis.

    Axes beyond those given are taken whole; a size of -1 means up to the end.

    Raises:
        ValueError: the block does not lie within the tensor.

    Example:
        >>> import webtensor as wt
        >>> wt.slice([[1, 2, 3], [4, 5, 6]], (0, 1), (2, 2)).tolist()
        [[2, 3], [5, 6]]
    """
    x = as_operand("slice", x)
    rank = len(x.shape)
    begins = as_integers("slice", "begin", begin)
    sizes = [-1] * len(begins) if size is None else as_integers("slice", "size", size)
    if len(begins) > rank or len(sizes) > rank:
        raise ValueError(f"slice: begin={begin} and size={size} have more axes than {x.shape}")
    begins += [0] * (rank - len(begins))
    sizes += [-1] * (rank - len(sizes))
    shape = tuple(
        dimension - start if size == -1 else size
        for start, size, dimension in zip(begins, sizes, x.shape, strict=True)
    )
    for start, count, dimension in zip(begins, shape, x.shape, strict=True):
        if start < 0 or count < 0 or start + count > dimension:
            raise ValueError(
                f"slice: begin={tuple(begins)} and size={tuple(sizes)} do not lie within {x.shape}"
            )
    return stepped_slice(x, tuple(begins), shape, (1,) * rank)


def stepped_slice(x: Tensor, begin: Shape, shape: Shape, step: Shape) -> Tensor:
    """Every ``step``-th element along each axis from ``begin`` on; steps are positive."""
    if shape == x.shape:
        return clone(x)
    if x.dtype is complex64:
        return from_pairs(stepped_slice(as_pairs(x), (*begin, 0), (*shape, 2), (*step, 1)))
    strides = contiguous_strides(x.shape)
    offset = sum(start * stride for start, stride in zip(begin, strides, strict=True))
    stepped = tuple(stride * by for stride, by in zip(strides, step, strict=True))
    return strided_view(_SLICE, x, shape, stepped, offset, begin, step)


# -- padding: attributes are (low, step, value) -------------------------------------------------

_PAD = Primitive(
    "pad",
    gradients=(lambda dy, y, x, low, step, value: stepped_slice(dy, low, x.shape, step),),
)


def spread(x: Tensor, shape: Shape, low: Shape, step: Shape, value: complex) -> Tensor:
    """Spread ``x`` over a tensor of ``value``, ``step`` apart along each axis from ``low`` on."""
    if x.dtype is complex64:
        parts = [
            spread(part, (*shape, 1), (*low, 0), (*step, 1), number)
            for part, number in zip(
                split(as_pairs(x), 2, -1), (value.real, value.imag), strict=True
            )
        ]
        return from_pairs(concat(parts, -1))
    if x.size == 0:
        return _constant(shape, value, x.dtype)
    return run(_PAD, (x,), shape, x.dtype, low, step, value)


def pairs_of_padding(
    argument: str, padding: int | Sequence[int | Sequence[int]], shape: Shape
) -> list[list[int]]:
    """Return the padding (before, after) of each axis; one number or pair is for all axes.

    Raises:
        ValueError: not one pair of non-negative integers for each axis.
    """
    if single_integer(padding) is not None:
        padding = [padding]  # type: ignore[list-item]
    pairs = as_pairs_of_integers("pad", argument, padding)
    if len(pairs) == 2 and all(single_integer(width) is not None for width in padding):  # type: ignore[union-attr]
        pairs = [[*pairs[0], *pairs[1]]]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    if len(pairs) == 1:
        pairs *= len(shape)
    if len(pairs) != len(shape) or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(
            f"pad: {argument} must be one (before, after) pair of non-negative integers for each "
            f"axis of shape {shape}, or for all of them, but got {padding}"
        )
    return pairs


@planned
def pad(
    x: TensorLike, paddings: int | Sequence[int | Sequence[int]], constant_value: complex = 0
) -> Tensor:
    """Surround a tensor with a constant: ``paddings[i]`` is (before, after) along axis ``i``.

    One pair (before, after), or one number for both, is for all axes.

    Raises:
        ValueError: not one pair of non-negative integers for each axis.

    Example:
        >>> import webtensor as wt
        >>> wt.pad([1, 2], [(1, 2)]).tolist()
        [0, 1, 2, 0, 0]
    """
    x = as_operand("pad", x)
    pairs = pairs_of_padding("paddings", paddings, x.shape)
    shape = tuple(
        size + before + after for size, (before, after) in zip(x.shape, pairs, strict=True)
    )
    if shape == x.shape:
        return clone(x)
    low = tuple(before for before, _ in pairs)
    if x.dtype is not complex64:
        constant_value = pack("pad", [constant_value], x.dtype)[0]
    return spread(x, shape, low, (1,) * len(shape), constant_value)


# -- joining and parting ------------------------------------------------------------------------


def _concat_gradient(index: int) -> Callable[..., Tensor]:
    """The gradient of input ``index``: a slice of ``dy``; attributes are (outer, row_sizes)."""

    def rule(dy: Tensor, y: Tensor, *operands: Any) -> Tensor:
        *inputs, outer, row_sizes = operands
        rows = dy.reshape((outer, sum(row_sizes)))
        begin = sum(row_sizes[:index])
        return slice(rows, (0, begin), (outer, row_sizes[index])).reshape(inputs[index].shape)  # type: ignore[no-any-return]

    return rule


_CONCAT = Primitive("concat", gradients=_concat_gradient)


@planned
def concat(tensors: Sequence[TensorLike], axis: int | None = 0) -> Tensor:
    """Join tensors along an existing axis, or their elements if it is None; dtypes are promoted.

    Raises:
        ValueError: no tensors, or shapes that differ elsewhere than along the axis.

    Example:
        >>> import webtensor as wt
        >>> wt.concat([[[1, 2]], [[3, 4]]], axis=1).tolist()
        [[1, 2, 3, 4]]
    """
    operands = _same_dtype("concat", tensors)
    if axis is None:
        operands, axis = [flatten(operand) for operand in operands], 0
    shape = operands[0].shape
    axis = normalize_axis("concat", axis, len(shape))
    for operand in operands:
        other = operand.shape
        if (
            len(other) != len(shape)
            or other[:axis] != shape[:axis]
            or other[axis + 1 :] != shape[axis + 1 :]
        ):
            raise ValueError(
                f"concat: shapes must be equal except along axis {axis}, but got "
                f"{[operand.shape for operand in operands]}"
            )
    total = sum(operand.shape[axis] for operand in operands)
    joined = (*shape[:axis], total, *shape[axis + 1 :])
    nonempty = tuple(operand for operand in operands if operand.shape[axis])
    if len(nonempty) == 1:
        return clone(nonempty[0])
    if operands[0].dtype is complex64:
        return from_pairs(concat([as_pairs(operand) for operand in nonempty or operands], axis))
    outer, _, inner = axis_group(shape, axis, axis)
    row_sizes = tuple(operand.shape[axis] * inner for operand in nonempty)
    if operands[0].dtype is string_:
        from webtensor.ops.string_elements import joined_texts

        return joined_texts(nonempty, joined, outer)
    return run(_CONCAT, nonempty, joined, operands[0].dtype, outer, row_sizes)


def _same_dtype(name: str, tensors: Sequence[TensorLike]) -> list[Tensor]:
    if isinstance(tensors, Tensor) or not hasattr(tensors, "__iter__"):
        raise TypeError(f"{name}: tensors must be a sequence of tensors, but got {tensors!r}")
    operands = [as_operand(name, value) for value in tensors]
    if not operands:
        raise ValueError(f"{name}: tensors must not be empty")
    dtypes = [operand.dtype for operand in operands]
    if string_ in dtypes:
        from webtensor.ops.string_elements import check_all_text

        check_all_text(name, dtypes)
    dtype: DType = operands[0].dtype
    for operand in operands:
        dtype = promote(dtype, operand.dtype)
    return [cast_to(operand, dtype) for operand in operands]


@planned
def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis.

    The result has a further axis, of the number of tensors.

    Raises:
        ValueError: the shapes differ, or ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.stack([[1, 2], [3, 4]], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    operands = _same_dtype("stack", tensors)
    shapes = {operand.shape for operand in operands}
    if len(shapes) != 1:
        raise ValueError(
            f"stack: shapes must be equal, but got {[operand.shape for operand in operands]}"
        )
    first = operands[0]
    axis = normalize_axis("stack", axis, len(first.shape) + 1)
    if len(operands) == 1 or first.size == 0 or first.dtype in (complex64, string_):
        return concat([expand_dims(operand, axis) for operand in operands], axis)
    shape = (*first.shape[:axis], len(operands), *first.shape[axis:])
    outer = prod(first.shape[:axis])
    row_sizes = (first.size // outer,) * len(operands)
    return run(_STACK, tuple(operands), shape, first.dtype, outer, row_sizes)


def _stack_gradient(index: int) -> Callable[..., Tensor]:
    """The gradient of input ``index``: a slice of ``dy``; attributes are (outer, row_sizes)."""

    def rule(dy: Tensor, y: Tensor, *operands: Any) -> Tensor:
        *inputs, outer, row_sizes = operands
        layers = (outer, len(row_sizes), row_sizes[0])
        gradient = part(dy if dy.shape == layers else reshape(dy, layers), 1, index)
        shape = inputs[index].shape
        return gradient if gradient.shape == shape else reshape(gradient, shape)

    return rule


_STACK = Primitive("stack", kernel="concat", gradients=_stack_gradient)


#: One slice along an axis, which is removed; attributes are (strides, offset, axis, index).
_PART = Primitive(
    "part",
    kernel="strided",
    gradients=(lambda dy, y, x, strides, offset, axis, index: _whole_of(dy, x, axis, index),),
)


def _whole_of(dy: Tensor, x: Tensor, axis: int, index: int) -> Pieces:
    begin = tuple(index if dimension == axis else 0 for dimension in range(len(x.shape)))
    piece = reshape(dy, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    return Pieces(x.shape, begin, piece)


def part(x: Tensor, axis: int, index: int) -> Tensor:
    """The slice at ``index`` along an axis, which is removed; neither is checked."""
    shape = x.shape
    rest = (*shape[:axis], *shape[axis + 1 :])
    if shape[axis] == 1:
        return reshape(x, rest)
    if x.dtype is complex64:
        return from_pairs(part(as_pairs(x), axis, index))
    strides = contiguous_strides(shape)
    remaining_strides = (*strides[:axis], *strides[axis + 1 :])
    return strided_view(_PART, x, rest, remaining_strides, index * strides[axis], axis, index)


#: Of more parts than this, none may be empty: each is a tensor.
MAX_EMPTY_PARTS = 1 << 16


def split(x: TensorLike, num_or_size_splits: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Part a tensor along an axis into equal parts, or into parts of the given sizes.

    Raises:
        ValueError: the parts do not add up to the axis, or are tens of thousands of empty ones.

    Example:
        >>> import webtensor as wt
        >>> [part.tolist() for part in wt.split([1, 2, 3, 4], 2)]
        [[1, 2], [3, 4]]
    """
    x = as_operand("split", x)
    axis = normalize_axis("split", axis, len(x.shape))
    dimension = x.shape[axis]
    count = single_integer(num_or_size_splits)
    if count is not None:
        if count <= 0 or dimension % count or (not dimension and count > MAX_EMPTY_PARTS):
            raise ValueError(
                f"split: axis {axis} of {x.shape} cannot be parted into {count} equal parts"
            )
        sizes = [dimension // count] * count
    else:
        sizes = as_integers("split", "num_or_size_splits", num_or_size_splits)
        if sizes.count(-1) == 1:
            sizes[sizes.index(-1)] = dimension - sum(sizes) - 1
        if sum(sizes) != dimension or min(sizes, default=0) < 0:
            raise ValueError(f"split: sizes {sizes} do not add up to axis {axis} of {x.shape}")
    parts = []
    begin = 0
    for size in sizes:
        begins = tuple(begin if index == axis else 0 for index in range(len(x.shape)))
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        parts.append(slice(x, begins, shape))
        begin += size
    return parts


# -- gathering: attributes are (outer, length, inner, count) ------------------------------------

_GATHER: Primitive = Primitive(
    "gather",
    gradients=(
        lambda dy, y, x, indices, *group: scatter_add(dy, indices, x.shape, x.dtype, *group),
        None,
    ),
)
_SCATTER_ADD: Primitive = Primitive(
    "scatter_add",
    gradients=(
        lambda dy, y, x, indices, *group: _run_unless_empty(
            _GATHER, dy, indices, x.shape, x.dtype, *group
        ),
        None,
    ),
)


def scatter_add(x: Tensor, indices: Tensor, shape: Shape, dtype: DType, *group: int) -> Tensor:
    """Add the slices of ``x`` up at their indices, in a tensor of zeros."""
    return _run_unless_empty(_SCATTER_ADD, x, indices, shape, dtype, *group)


def _run_unless_empty(
    primitive: Primitive, x: Tensor, indices: Tensor, shape: Shape, dtype: DType, *group: int
) -> Tensor:
    """Gather or scatter the slices of ``x``, or return zeros where it has no elements."""
    if x.size == 0:
        return _constant(shape, 0.0, dtype)
    return run(primitive, (x, indices), shape, dtype, *group)


def _constant(shape: Shape, value: complex, dtype: DType) -> Tensor:
    from webtensor.ops.creation import full  # which builds on this module

    return full(shape, value, dtype)


def gather(x: TensorLike, indices: TensorLike, axis: int = 0, batch_dims: int = 0) -> Tensor:
    """Pick slices along an axis by an int32 tensor of indices of any shape.

    The result's shape is that of ``x`` with the axis replaced by the shape of ``indices``. Negative
    indices count from the end. An index out of range raises where the indices are known on the
    host, and picks 0 where a GPU computed them. ``batch_dims`` leading axes are common to ``x`` and
    ``indices``: there each row of ``x`` is picked from with indices of its own. A negative number
    counts from the rank of ``indices`` down.

    Raises:
        IndexError: an index on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: ``batch_dims`` exceeds the axis, or the batches differ.

    Example:
        >>> import webtensor as wt
        >>> wt.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).tolist()
        [[5, 6], [1, 2]]
    """
    x = as_operand("gather", x)
    indices = as_indices("gather", indices)
    axis = normalize_axis("gather", axis, len(x.shape))
    if as_integer("gather", "batch_dims", batch_dims):
        from webtensor.ops.scatter import batched_gather  # which builds on this module

        return batched_gather(x, indices, axis, batch_dims)
    size = x.shape[axis]
    bounds = index_bounds(indices)
    if bounds is not None and not (-size <= bounds[0] and bounds[1] < size):
        raise IndexError(
            f"gather: indices must lie in [{-size}, {size}) for axis {axis} of {x.shape}, but "
            f"they range from {bounds[0]} to {bounds[1]}"
        )
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if x.dtype is complex64:
        return from_pairs(gather(as_pairs(x), indices, axis))
    if x.size == 0 and prod(shape):
        raise IndexError(f"gather: axis {axis} of {x.shape} has no elements to pick")
    group = *axis_group(x.shape, axis, axis), indices.size
    if x.dtype is string_:
        from webtensor.ops.string_elements import gathered_texts

        return gathered_texts(x, indices, shape, *group)
    return run(_GATHER, (x, indices), shape, x.dtype, *group)


#: Indices on a device are checked on the host only up to this many.
_MAX_CHECKED = 4096


def host_indices(indices: Tensor) -> memoryview[Any] | None:
    """The values of indices that are on the host, for checking them; None for no values.

    Many indices that lie on a device already are trusted like those computed there, even if the
    host has them too: looking at each would take longer than most ops do with them.
    """
    storage = indices.storage
    host = storage.host
    if not host or (storage.backend is not None and len(host) > _MAX_CHECKED):
        return None
    return host


def index_bounds(indices: Tensor) -> tuple[int, int] | None:
    """Return the minimum and the maximum of indices that ``host_indices`` returned."""
    return None if host_indices(indices) is None else indices.storage.bounds()


def as_indices(name: str, indices: TensorLike, argument: str = "indices") -> Tensor:
    """Return indices as a tensor, after checking that they are int32."""
    operand = as_operand(name, indices)
    if operand.size == 0:
        return cast_to(operand, int32)
    if operand.dtype is not int32:
        raise TypeError(f"{name}: {argument} must be int32, but got {operand.dtype}")
    return operand


def take(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """Pick elements along an axis, or of the flat tensor (array API standard). See ``gather``.

    The shape of ``indices`` takes the place of the axis.

    Raises:
        IndexError: an index is out of range.
        TypeError: ``indices`` are not int32.

    Example:
        >>> import webtensor as wt
        >>> wt.take([[1, 2], [3, 4]], [1, 1], axis=1).tolist()
        [[2, 2], [4, 4]]
    """
    x, indices = as_operand("take", x), as_indices("take", indices)
    if axis is None:
        return gather(flatten(x), indices, 0)
    return gather(x, indices, normalize_axis("take", axis, len(x.shape)))
