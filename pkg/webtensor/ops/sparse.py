"""``wt.sparse``: sparse tensors given by the coordinates, the values and the shape.

Where coordinates decide the shape of a result they are read to the host. Values are picked and
added on the device, and gradients flow through them.
"""

from __future__ import annotations

from typing import NamedTuple

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
from webtensor.ops.binary import divide_no_nan, equal, maximum
from webtensor.ops.casting import cast_to
from webtensor.ops.compaction import count_true, true_places
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.coordinates import to_coordinates, to_places
from webtensor.ops.creation import full, zeros
from webtensor.ops.movement import (
    as_indices,
    concat,
    expand_dims,
    flatten,
    gather,
    pad,
    reshape,
    slice,
)
from webtensor.ops.reduction import max as _max, min as _min
from webtensor.ops.scan import cumsum
from webtensor.ops.scatter import (
    bincount,
    put,
    tensor_scatter_update,
    unsorted_segment_sum,
)
from webtensor.ops.sorting import argsort
from webtensor.ops.string_elements import check_all_text
from webtensor.shapes import Shape, prod

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


def _read(name: str, argument: str, value: TensorLike, rank: int) -> Tensor:
    """Return int32 numbers of a rank."""
    held = as_indices(name, value, argument)
    if len(held.shape) != rank:
        raise ValueError(f"{name}: {argument} must have rank {rank}, but its shape is {held.shape}")
    return held


def _bounds(numbers: Tensor) -> tuple[int, int]:
    """The least and the greatest of numbers: by kernels on a host, else of what is read once."""
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
    places = _read(name, "indices", indices, 2)
    held = as_operand(name, values)
    shape = _read(name, "dense_shape", dense_shape, 1)
    default = as_operand(name, default_value, held.dtype)
    count, rank = places.shape
    if held.shape != (count,):
        raise ValueError(
            f"{name}: values must have shape {(count,)}, but its shape is {held.shape}"
        )
    if shape.size != rank or rank == 0:
        raise ValueError(
            f"{name}: dense_shape must give {rank} lengths for these indices, but gives "
            f"{shape.size}"
        )
    if default.shape:
        raise ValueError(f"{name}: default_value must be a scalar, but got shape {default.shape}")
    check_all_text(name, [held.dtype, default.dtype])
    places.data_sync()  # how many rows are empty must be read anyway: all the rest is near then
    all_places, is_empty, went, order = _filled(name, places, shape.data_sync()[0])
    candidates = concat([held, cast_to(reshape(default, (1,)), held.dtype)])
    return FilledRows(all_places, gather(candidates, order), is_empty, went)


@near_its_operands
def _filled(name: str, places: Tensor, dense_rows: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The filled places, which rows are empty, where elements go, and which go to each place.

    The default value counts as the element after the last.
    """
    count, rank = places.shape
    rows = flatten(slice(places, (0, 0), (count, 1)))
    _check_rows(name, rows, dense_rows)
    counts = bincount(rows, None, dense_rows)
    is_empty = equal(counts, 0)
    missing_count = count_true(is_empty)
    missing = true_places(is_empty, missing_count)
    filled = count + missing_count
    # A row ends where all up to it are counted. Elements, by their rows, take the places that
    # empty rows leave.
    fillers = gather(cumsum(maximum(counts, 1)), missing) - 1
    left = full(filled, True)
    if missing_count:
        left = put(left, fillers, full(missing_count, False))
    went, order = true_places(left, count), full(filled, count)
    if count:
        sources = argsort(rows)
        went, order = put(went, sources, went), put(order, went, sources)
    coordinates = pad(expand_dims(missing, 1), ((0, 0), (0, rank - 1)))
    background = unsorted_segment_sum(coordinates, fillers, filled)
    all_places = tensor_scatter_update(background, reshape(went, (count, 1)), places)
    return all_places, is_empty, went, order


def _check_rows(name: str, rows: Tensor, count: int) -> None:
    least, most = _bounds(rows) if rows.size else (0, -1)
    if not (least >= 0 and most < count):
        number, row = next(
            (number, row) for number, row in enumerate(rows.data_sync()) if not 0 <= row < count
        )
        raise IndexError(
            f"{name}: indices[{number}] has row {row}, but dense_shape has {count} rows"
        )


@near_its_operands
def sparse_reshape(
    input_indices: TensorLike, input_shape: TensorLike, new_shape: TensorLike
) -> Reshaped:
    """Coordinates of the elements of a sparse tensor in another shape of as many elements.

    ``input_indices`` is (count, rank), the shapes are int32 of rank 1; one length of the new one
    may be -1.

    Raises:
        TypeError: operands that are not int32.
        ValueError: operands of other ranks, or a shape that does not hold the elements.

    Example:
        >>> import webtensor as wt
        >>> found = wt.sparse.sparse_reshape([[0, 1], [1, 2]], [2, 3], [3, -1])
        >>> found.output_indices.tolist(), found.output_shape.tolist()
        ([[0, 1], [2, 1]], [3, 2])
    """
    name = "sparse_reshape"
    places = _read(name, "input_indices", input_indices, 2)
    before = tuple(_read(name, "input_shape", input_shape, 1).data_sync())
    wanted = tuple(_read(name, "new_shape", new_shape, 1).data_sync())
    rank = places.shape[1]
    if len(before) != rank:
        raise ValueError(
            f"{name}: input_shape must give {rank} lengths for these indices, but is {before}"
        )
    size = prod(before)
    after = wanted
    known = prod(length for length in wanted if length != -1)
    if wanted.count(-1) == 1 and known > 0 and size % known == 0:
        after = tuple(size // known if length == -1 else length for length in wanted)
    if min(after, default=0) < 0 or prod(after) != size:
        raise ValueError(f"{name}: new_shape {wanted} does not hold {size} elements of {before}")
    return Reshaped(_moved(places, before, after), from_host(name, list(after), int32))


def _moved(places: Tensor, before: Shape, after: Shape) -> Tensor:
    """Coordinates in another shape, computed on the device."""
    if not before or not after:
        return zeros((places.shape[0], len(after)), int32)
    return to_coordinates(to_places(places, before), after)


# -- sums of segments -----------------------------------------------------------------------------


def _segments(
    name: str, data: TensorLike, indices: TensorLike, segment_ids: TensorLike
) -> tuple[Tensor, Tensor, Tensor, int]:
    """The operands, checked, and how many segments there are."""
    held = as_operand(name, data)
    places = _read(name, "indices", indices, 1)
    segments = _read(name, "segment_ids", segment_ids, 1)
    if not held.shape:
        raise ValueError(f"{name}: data must have at least one axis, but its shape is ()")
    if held.dtype is string_:
        raise TypeError(f"{name}: string operands are not supported")
    if places.shape != segments.shape:
        raise ValueError(
            f"{name}: indices and segment_ids must be equally many, but got {places.size} and "
            f"{segments.size}"
        )
    numbers = segments.data_sync().tolist()
    if numbers != sorted(numbers) or (numbers and numbers[0] < 0):
        raise ValueError(f"{name}: segment_ids must rise from 0 or more, but got {numbers}")
    least, most = _bounds(places) if places.size else (0, -1)
    if not (least >= 0 and most < held.shape[0]):
        raise IndexError(
            f"{name}: indices must lie in [0, {held.shape[0]}), but they range from {least} to "
            f"{most}"
        )
    return held, places, segments, numbers[-1] + 1 if numbers else 0


def _sum_picked(x: Tensor, places: Tensor, segments: Tensor, count: int) -> Tensor:
    """Sums of the slices of ``x`` at their places, by segment."""
    if x.dtype is complex64:
        return from_pairs(_sum_picked(as_pairs(x), places, segments, count))
    shape = (count, *x.shape[1:])
    if x.size == 0 or places.size == 0:
        return zeros(shape, x.dtype)
    group = (count, prod(x.shape[1:]), places.size)
    return run(_SUM_PICKED, (x, places, segments), shape, x.dtype, *group)


_SUM_PICKED = Primitive(
    "sum_picked",
    gradients=(
        lambda dy, y, x, places, segments, *group: _sum_picked(dy, segments, places, x.shape[0]),
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
    held, places, segments, count = _segments(name, data, indices, segment_ids)
    held = cast_to(held, int32) if held.dtype is bool_ else held
    return _sum_picked(held, places, segments, count)


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
    held, places, segments, count = _segments(name, data, indices, segment_ids)
    totals = _sum_picked(cast_to(held, float32), places, segments, count)
    sizes = bincount(segments, None, count)
    return divide_no_nan(totals, reshape(sizes, (count,) + (1,) * (len(totals.shape) - 1)))
