"""``wt.sparse``: sparse tensors given by the coordinates, the values and the shape.

Coordinates that determine the shape of a result are read to the host. Values are picked and
added on the device, and gradients flow through them.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from webtensor.dtypes import bool_, complex64, float32, int32, string_
from webtensor.engine import (
    Primitive,
    Tensor,
    TensorLike,
    as_operand,
    from_host,
    near_its_operands,
    run,
)
from webtensor.ops.binary import divide_no_nan, equal
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.coordinates import to_coordinates, to_flat_indices
from webtensor.ops.creation import ones, zeros
from webtensor.ops.movement import (
    as_indices,
    concat,
    expand_dims,
    gather,
    pad,
    reshape,
    slice,
)
from webtensor.ops.reduction import max as _max, min as _min
from webtensor.ops.scatter import bincount
from webtensor.ops.sequences import arange
from webtensor.ops.string_elements import check_all_text
from webtensor.shapes import Shape, as_shape, prod

__all__ = [
    "sparse_fill_empty_rows",
    "sparse_reshape",
    "sparse_segment_mean",
    "sparse_segment_sum",
]


class FilledRows(NamedTuple):
    """A sparse tensor without empty rows, which rows were empty, and where its elements went."""

    output_indices: Tensor
    output_values: Tensor
    empty_row_indicator: Tensor
    reverse_index_map: Tensor


class Reshaped(NamedTuple):
    """Coordinates in the new shape, and the shape."""

    output_indices: Tensor
    output_shape: Tensor


def _as_indices(name: str, argument: str, value: TensorLike, rank: int) -> Tensor:
    """Return an int32 tensor of a rank."""
    operand = as_indices(name, value, argument)
    if len(operand.shape) != rank:
        raise ValueError(
            f"{name}: {argument} must have rank {rank}, but its shape is {operand.shape}"
        )
    return operand


def _bounds(numbers: Tensor) -> tuple[int, int]:
    """Return the minimum and the maximum: by kernels on a host, else of elements read once."""
    storage = numbers.storage
    if storage.backend is None or not storage.backend.computes_on_host:
        storage.read()
    if storage.host is not None:
        return storage.bounds()
    return int(_min(numbers)), int(_max(numbers))


@near_its_operands
def sparse_fill_empty_rows(
    indices: TensorLike, values: TensorLike, dense_shape: TensorLike, default_value: TensorLike
) -> FilledRows:
    """Put a default value at the beginning of each empty row of a sparse matrix or tensor.

    ``indices`` is (count, rank), ``values`` (count,), ``dense_shape`` (rank,); the first axis
    counts rows. Returns the indices and values in the order of rows, for each row whether it was
    empty (bool), and for each element where it went (int32).

    Raises:
        IndexError: the row of an element is out of range.
        TypeError: indices or shape are not int32.
        ValueError: operands of other ranks, or that do not fit.

    Example:
        >>> import webtensor as wt
        >>> filled = wt.sparse.sparse_fill_empty_rows([[0, 1], [2, 0]], [5, 6], [3, 2], -1)
        >>> filled.output_indices.tolist(), filled.output_values.tolist()
        ([[0, 1], [1, 0], [2, 0]], [5, -1, 6])
    """
    name = "sparse_fill_empty_rows"
    index_tensor = _as_indices(name, "indices", indices, 2)
    operand = as_operand(name, values)
    shape = _as_indices(name, "dense_shape", dense_shape, 1)
    default = as_operand(name, default_value, operand.dtype)
    count, rank = index_tensor.shape
    if operand.shape != (count,):
        raise ValueError(
            f"{name}: values must have shape {(count,)}, but its shape is {operand.shape}"
        )
    if shape.size != rank or rank == 0:
        raise ValueError(
            f"{name}: dense_shape must have {rank} sizes for these indices, but has {shape.size}"
        )
    if default.shape:
        raise ValueError(f"{name}: default_value must be a scalar, but got shape {default.shape}")
    check_all_text(name, [operand.dtype, default.dtype])
    index_tensor.data_sync()  # the number of empty rows must be read anyway
    (dense_rows, *_) = as_shape(name, shape.tolist(), "dense_shape")
    all_indices, is_empty, positions, order = _filled(name, index_tensor, dense_rows)
    candidates = concat([operand, cast_to(reshape(default, (1,)), operand.dtype)])
    return FilledRows(all_indices, gather(candidates, order), is_empty, positions)


#: The number of elements in each row; then, of empty rows, and of elements outside of all rows.
_ROW_COUNTS = Primitive("row_counts")
#: The integers that ``_filled`` returns, one tensor's after the other's.
_FILLED_ROWS = Primitive("filled_rows")


@near_its_operands
def _filled(
    name: str, index_tensor: Tensor, dense_rows: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the filled indices, which rows were empty, the elements' new positions, and the order.

    In the order, the number of elements stands for each empty row.
    """
    count, rank = index_tensor.shape
    if not count:
        all_indices = pad(expand_dims(arange(dense_rows), 1), ((0, 0), (0, rank - 1)))
        order = zeros((dense_rows,), int32)
        return all_indices, ones((dense_rows,), bool_), zeros((0,), int32), order
    counts = run(_ROW_COUNTS, (index_tensor,), (dense_rows + 2,), int32)
    empty_rows, outside = slice(counts, dense_rows, 2).data_sync()
    if outside:
        _raise_outside(name, index_tensor, dense_rows)
    size = count + empty_rows
    operands, length = (index_tensor, counts), size * (rank + 1) + count
    filled = run(_FILLED_ROWS, operands, (length,), int32, size)
    all_indices = reshape(slice(filled, 0, size * rank), (size, rank))
    order, positions = slice(filled, size * rank, size), slice(filled, length - count, count)
    return all_indices, equal(slice(counts, 0, dense_rows), 0), positions, order


def _raise_outside(name: str, index_tensor: Tensor, count: int) -> NoReturn:
    rows = index_tensor.data_sync()[:: index_tensor.shape[1]]
    number, row = next((number, row) for number, row in enumerate(rows) if not 0 <= row < count)
    raise IndexError(f"{name}: indices[{number}] has row {row}, but dense_shape has {count} rows")


@near_its_operands
def sparse_reshape(
    input_indices: TensorLike, input_shape: TensorLike, new_shape: TensorLike
) -> Reshaped:
    """Coordinates of the elements of a sparse tensor in another shape of as many elements.

    ``input_indices`` is (count, rank), the shapes are int32 of rank 1; one size of the new one
    may be -1.

    Raises:
        TypeError: operands that are not int32.
        ValueError: operands of other ranks, or a shape that does not hold the elements.

    Example:
        >>> import webtensor as wt
        >>> reshaped = wt.sparse.sparse_reshape([[0, 1], [1, 2]], [2, 3], [3, -1])
        >>> reshaped.output_indices.tolist(), reshaped.output_shape.tolist()
        ([[0, 1], [2, 1]], [3, 2])
    """
    name = "sparse_reshape"
    index_tensor = _as_indices(name, "input_indices", input_indices, 2)
    before = tuple(_as_indices(name, "input_shape", input_shape, 1).data_sync())
    requested = tuple(_as_indices(name, "new_shape", new_shape, 1).data_sync())
    rank = index_tensor.shape[1]
    if len(before) != rank:
        raise ValueError(
            f"{name}: input_shape must have {rank} sizes for these indices, but is {before}"
        )
    size = prod(before)
    after = requested
    other_size = prod(dimension for dimension in requested if dimension != -1)
    if requested.count(-1) == 1 and other_size > 0 and size % other_size == 0:
        after = tuple(
            size // other_size if dimension == -1 else dimension for dimension in requested
        )
    if min(after, default=0) < 0 or prod(after) != size:
        raise ValueError(f"{name}: new_shape {requested} does not hold {size} elements of {before}")
    return Reshaped(_moved(index_tensor, before, after), from_host(name, list(after), int32))


def _moved(index_tensor: Tensor, before: Shape, after: Shape) -> Tensor:
    """Coordinates in another shape, computed on the device."""
    if not before or not after:
        return zeros((index_tensor.shape[0], len(after)), int32)
    return to_coordinates(to_flat_indices(index_tensor, before), after)


# -- sums of segments -----------------------------------------------------------------------------


def _segments(
    name: str, data: TensorLike, indices: TensorLike, segment_ids: TensorLike
) -> tuple[Tensor, Tensor, Tensor, int]:
    """Return the operands, checked, and the number of segments."""
    operand = as_operand(name, data)
    index_tensor = _as_indices(name, "indices", indices, 1)
    segments = _as_indices(name, "segment_ids", segment_ids, 1)
    if not operand.shape:
        raise ValueError(f"{name}: data must have at least one axis, but its shape is ()")
    if operand.dtype is string_:
        raise TypeError(f"{name}: string operands are not supported")
    if index_tensor.shape != segments.shape:
        raise ValueError(
            f"{name}: indices and segment_ids must be equally many, but got {index_tensor.size} "
            f"and {segments.size}"
        )
    numbers = segments.data_sync().tolist()
    if numbers != sorted(numbers) or (numbers and numbers[0] < 0):
        raise ValueError(f"{name}: segment_ids must rise from 0 or more, but got {numbers}")
    low, high = _bounds(index_tensor) if index_tensor.size else (0, -1)
    if not (low >= 0 and high < operand.shape[0]):
        raise IndexError(
            f"{name}: indices must lie in [0, {operand.shape[0]}), but they range from {low} to "
            f"{high}"
        )
    return operand, index_tensor, segments, numbers[-1] + 1 if numbers else 0


def _sum_picked(x: Tensor, indices: Tensor, segments: Tensor, count: int) -> Tensor:
    """Sums of the slices of ``x`` at the indices, by segment."""
    if x.dtype is complex64:
        return from_pairs(_sum_picked(as_pairs(x), indices, segments, count))
    shape = (count, *x.shape[1:])
    if x.size == 0 or indices.size == 0:
        return zeros(shape, x.dtype)
    group = (count, prod(x.shape[1:]), indices.size)
    return run(_SUM_PICKED, (x, indices, segments), shape, x.dtype, *group)


_SUM_PICKED = Primitive(
    "sum_picked",
    gradients=(
        lambda dy, y, x, indices, segments, *group: _sum_picked(dy, segments, indices, x.shape[0]),
        None,
        None,
    ),
)


@near_its_operands
def sparse_segment_sum(data: TensorLike, indices: TensorLike, segment_ids: TensorLike) -> Tensor:
    """Sum the slices of ``data`` that ``indices`` name, by their segment.

    ``indices`` and ``segment_ids`` are int32 of rank 1; the latter must not fall. The result has
    one slice for each number up to the last segment's, with zeros where there is none.

    Raises:
        IndexError: an index is out of range.
        TypeError: indices or segments are not int32.
        ValueError: they are not equally many, or the segments fall or are negative.

    Example:
        >>> import webtensor as wt
        >>> wt.sparse.sparse_segment_sum([[1, 2], [3, 4], [5, 6]], [0, 2, 1], [0, 0, 2]).tolist()
        [[6, 8], [0, 0], [3, 4]]
    """
    name = "sparse_segment_sum"
    operand, index_tensor, segments, count = _segments(name, data, indices, segment_ids)
    operand = cast_to(operand, int32) if operand.dtype is bool_ else operand
    return _sum_picked(operand, index_tensor, segments, count)


@near_its_operands
def sparse_segment_mean(data: TensorLike, indices: TensorLike, segment_ids: TensorLike) -> Tensor:
    """Mean of the slices of ``data`` that ``indices`` name, by their segment, as float32.

    See ``sparse_segment_sum``.

    Raises:
        IndexError: an index is out of range.
        TypeError: ``indices`` or ``segment_ids`` are not int32.

    Example:
        >>> import webtensor as wt
        >>> wt.sparse.sparse_segment_mean([[1, 2], [3, 4], [5, 6]], [0, 2, 1], [0, 0, 2]).tolist()
        [[3.0, 4.0], [0.0, 0.0], [3.0, 4.0]]
    """
    name = "sparse_segment_mean"
    operand, index_tensor, segments, count = _segments(name, data, indices, segment_ids)
    totals = _sum_picked(cast_to(operand, float32), index_tensor, segments, count)
    sizes = bincount(segments, None, count)
    return divide_no_nan(totals, reshape(sizes, (count,) + (1,) * (len(totals.shape) - 1)))
