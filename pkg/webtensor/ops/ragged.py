"""Ragged tensors: rows of unequal lengths, as dense values and the splits between rows.

Row ``i`` of an axis is ``values[splits[i]:splits[i + 1]]``. Splits decide the shapes of results, so
they are read to the host. Values are picked on the device, and gradients flow through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import ceil
from typing import Any, NamedTuple

from webtensor.dtypes import complex64, int32, promote, string_
from webtensor.engine import Tensor, TensorLike, as_operand, from_host
from webtensor.engine.convert import python_numbers
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import cast_to
from webtensor.ops.creation import full
from webtensor.ops.movement import as_indices, concat, gather, reshape
from webtensor.ops.scatter import put
from webtensor.ops.sequences import ragged_sequence
from webtensor.ops.string_elements import check_all_text
from webtensor.shapes import Shape, check_size, prod

__all__ = ["ragged_gather", "ragged_range", "ragged_tensor_to_tensor"]


class RaggedGather(NamedTuple):
    """Splits of each ragged axis of the result, from the outermost in, and its dense values."""

    output_nested_splits: list[Tensor]
    output_dense_values: Tensor


class RaggedRange(NamedTuple):
    """The splits between the ranges, and the numbers of all ranges."""

    rt_nested_splits: Tensor
    rt_dense_values: Tensor


def _splits(name: str, argument: str, value: TensorLike) -> list[int]:
    """Read splits to the host."""
    operand = as_indices(name, value, argument)
    if len(operand.shape) != 1:
        raise ValueError(f"{name}: {argument} must have rank 1, but its shape is {operand.shape}")
    return list(operand.data_sync())


def ragged_gather(
    params_nested_splits: Sequence[TensorLike],
    params_dense_values: TensorLike,
    indices: TensorLike,
    output_ragged_rank: int,
) -> RaggedGather:
    """Pick rows of a ragged tensor by an int32 tensor of indices of any shape.

    ``params_nested_splits`` holds the splits of each ragged axis from the outermost in. The result
    has ``output_ragged_rank`` ragged axes: those of ``params`` and those of ``indices`` but one.

    Raises:
        IndexError: an index is out of range.
        TypeError: splits or indices are not int32.
        ValueError: splits that fall or point past the values, or another ``output_ragged_rank``.

    Example:
        >>> import webtensor as wt
        >>> ragged = wt.ragged_gather([[0, 3, 3, 5, 6]], [1, 2, 3, 4, 5, 6], [2, 1, 0], 1)
        >>> ragged.output_nested_splits[0].tolist(), ragged.output_dense_values.tolist()
        ([0, 2, 2, 5], [4, 5, 1, 2, 3])
    """
    name = "ragged_gather"
    operand = as_operand(name, params_dense_values)
    if not operand.shape:
        raise ValueError(f"{name}: params_dense_values must have at least one axis, but has none")
    nested = _nested_splits(name, params_nested_splits, operand.shape[0])
    chosen = as_indices(name, indices)
    ragged_rank = len(nested) + len(chosen.shape) - 1
    if output_ragged_rank != ragged_rank:
        raise ValueError(
            f"{name}: output_ragged_rank must be {ragged_rank} for these splits and indices, but "
            f"got {output_ragged_rank!r}"
        )
    row_indices = list(chosen.data_sync())
    rows = len(nested[0]) - 1
    if row_indices and not (min(row_indices) >= 0 and max(row_indices) < rows):
        raise IndexError(
            f"{name}: indices must lie in [0, {rows}), but they range from {min(row_indices)} to "
            f"{max(row_indices)}"
        )
    output_splits = _even_splits(chosen.shape)
    # The ranges of rows that are picked, followed down one ragged axis after the other.
    ranges = [(index, index + 1) for index in row_indices]
    for level, splits in enumerate(nested):
        if level or chosen.shape:
            output_splits.append(_splits_of_ranges(splits, ranges))
        ranges = [(splits[begin], splits[end]) for begin, end in ranges]
    ends = list(accumulate(end - begin for begin, end in ranges))
    check_size(name, "indices", row_indices, sum(ends[-1:]) * prod(operand.shape[1:]))
    begins = [begin for begin, _ in ranges]
    value_indices = ragged_sequence(name, begins, [1] * len(begins), ends, int32)
    return RaggedGather(
        [from_host(name, splits, int32) for splits in output_splits],
        gather(operand, value_indices),
    )


def _even_splits(shape: Shape) -> list[list[int]]:
    """Return the splits of all axes of a dense tensor but the first."""
    nested: list[list[int]] = []
    rows = 1
    for size, row_size in pairwise(shape):
        rows *= size
        nested.append([row * row_size for row in range(rows + 1)])
    return nested


def _splits_of_ranges(splits: Sequence[int], ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the splits of the rows in some ranges, one range after the other."""
    sizes = (splits[row + 1] - splits[row] for begin, end in ranges for row in range(begin, end))
    return list(accumulate(sizes, initial=0))


def _nested_splits(name: str, nested_splits: Sequence[TensorLike], count: int) -> list[list[int]]:
    """Return the splits of each ragged axis, checked; the last are of ``count`` values."""
    argument = "params_nested_splits"
    if not hasattr(nested_splits, "__iter__"):
        raise TypeError(f"{name}: {argument} must be a sequence, but got {nested_splits!r}")
    nested = [
        _splits(name, f"{argument}[{level}]", splits) for level, splits in enumerate(nested_splits)
    ]
    if not nested:
        raise ValueError(f"{name}: {argument} must not be empty")
    limits = [*(len(splits) - 1 for splits in nested[1:]), count]
    for level, (splits, limit) in enumerate(zip(nested, limits, strict=True)):
        if not splits or splits[0] < 0 or splits != sorted(splits) or splits[-1] > limit:
            raise ValueError(
                f"{name}: {argument}[{level}] must rise from 0 or more to at most {limit}, but is "
                f"{splits}"
            )
    return nested


def ragged_range(starts: TensorLike, limits: TensorLike, deltas: TensorLike) -> RaggedRange:
    """Ranges of numbers, from ``starts`` by ``deltas`` to ``limits``, as rows of a ragged tensor.

    Each is a scalar, the same for all rows, or a tensor of rank 1; the limits are not included. The
    values are read to the host.

    Raises:
        TypeError: complex numbers or text.
        ValueError: higher ranks, unequal sizes, or a delta of 0.

    Example:
        >>> import webtensor as wt
        >>> ragged = wt.ragged_range([0, 5, 8], [3, 5, 2], [1, 1, -3])
        >>> ragged.rt_nested_splits.tolist(), ragged.rt_dense_values.tolist()
        ([0, 3, 3, 5], [0, 1, 2, 8, 5])
    """
    name = "ragged_range"
    operands = [as_operand(name, value) for value in (starts, limits, deltas)]
    dtype = operands[0].dtype
    for operand in operands:
        dtype = promote(dtype, operand.dtype)
    dtype = promote(dtype, int32)
    if dtype in (complex64, string_):
        raise TypeError(f"{name}: {dtype} operands are not supported")
    shapes = {operand.shape for operand in operands if operand.shape}
    if len(shapes) > 1 or any(len(operand.shape) > 1 for operand in operands):
        raise ValueError(
            f"{name}: starts, limits and deltas must be scalars or of rank 1 and equally long, but "
            f"got shapes {[operand.shape for operand in operands]}"
        )
    rows = shapes.pop()[0] if shapes else 1
    columns = [
        python_numbers(operand.data_sync(), operand.dtype) * (1 if operand.shape else rows)
        for operand in operands
    ]
    ends = [0]
    for start, limit, delta in zip(*columns, strict=True):
        if delta == 0:
            raise ValueError(f"{name}: deltas must not be 0")
        steps = (limit - start) / delta
        check_size(name, "limits", limit, ends[-1] + steps)
        ends.append(ends[-1] + ceil(max(0, steps)))
    starts, _, deltas = columns
    values = ragged_sequence(name, starts, deltas, ends[1:], dtype)
    return RaggedRange(from_host(name, ends, int32), values)


# -- to a dense tensor ----------------------------------------------------------------------------

_PARTITIONS = ("FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS")


def ragged_tensor_to_tensor(
    shape: TensorLike,
    values: TensorLike,
    default_value: TensorLike,
    row_partition_tensors: Sequence[TensorLike],
    row_partition_types: Sequence[str],
) -> Tensor:
    """Dense tensor with the values of a ragged one, and a default value where rows are short.

    ``row_partition_types`` says how each int32 tensor of ``row_partition_tensors`` parts an axis,
    from the outermost in: "ROW_SPLITS" where rows end, "VALUE_ROWIDS" the row of each value, which
    must follow a "FIRST_DIM_SIZE", the number of rows. ``shape`` is the result's, with -1 for
    sizes that fit the longest row, or just -1; rows that are longer are cut.

    Raises:
        TypeError: partitions or the shape are not int32.
        ValueError: partitions, shape or default value that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.ragged_tensor_to_tensor(
        ...     -1, [1, 2, 3, 4], 0, [[0, 1, 1, 4]], ["ROW_SPLITS"]
        ... ).tolist()
        [[1, 0, 0], [0, 0, 0], [2, 3, 4]]
    """
    name = "ragged_tensor_to_tensor"
    operand = as_operand(name, values)
    default = as_operand(name, default_value, operand.dtype)
    check_all_text(name, [operand.dtype, default.dtype])
    default = cast_to(default, operand.dtype)
    if not operand.shape:
        raise ValueError(f"{name}: values must have at least one axis, but its shape is ()")
    count, *element_sizes = operand.shape
    element_shape = tuple(element_sizes)
    row_count, nested_rows = _nested_rows(name, row_partition_tensors, row_partition_types, count)
    if len(default.shape) > len(element_shape):
        raise ValueError(
            f"{name}: default_value of shape {default.shape} does not fit elements of shape "
            f"{element_shape}"
        )
    nested_columns = [_columns(rows) for rows in nested_rows]
    widths = [max(columns, default=-1) + 1 for columns in nested_columns]
    output_shape = _output_shape(name, shape, [row_count, *widths], element_shape)
    outer_shape = output_shape[: 1 + len(widths)]
    check_size(name, "shape", output_shape, prod(output_shape))
    positions = _positions(row_count, nested_rows, nested_columns, outer_shape)
    value_indices = {
        position: index for index, position in enumerate(positions) if position is not None
    }
    sources = full(prod(outer_shape), count, int32)
    if value_indices:
        targets = from_host(name, [*value_indices], int32)
        sources = put(sources, targets, from_host(name, [*value_indices.values()], int32))
    background = reshape(broadcast_to(default, element_shape), (1, *element_shape))
    candidates = concat([operand, background])
    return reshape(gather(candidates, sources), output_shape)


def _positions(
    row_count: int,
    nested_rows: Sequence[Sequence[int]],
    nested_columns: Sequence[Sequence[int]],
    outer_shape: Shape,
) -> Sequence[int | None]:
    """Return the position of each value in a dense tensor; None for those that are cut off."""
    positions: Sequence[int | None] = range(min(row_count, outer_shape[0]))
    for rows, columns, width in zip(nested_rows, nested_columns, outer_shape[1:], strict=True):
        inner: list[int | None] = []
        for row, column in zip(rows, columns, strict=True):
            start = positions[row] if row < len(positions) else None
            inner.append(None if start is None or column >= width else start * width + column)
        positions = inner
    return positions


def _nested_rows(
    name: str, tensors: Sequence[TensorLike], types: Sequence[str], count: int
) -> tuple[int, list[list[int]]]:
    """Return the number of outermost rows, and for each ragged axis the row of each value."""
    kinds, parts = _partitions(name, tensors, types)
    if kinds[0] == "FIRST_DIM_SIZE":
        if len(parts[0]) != 1 or parts[0][0] < 0:
            raise ValueError(f"{name}: FIRST_DIM_SIZE must be one size, but is {parts[0]}")
        row_count = parts[0][0]
        kinds, parts = kinds[1:], parts[1:]
    elif kinds[0] == "ROW_SPLITS":
        row_count = len(parts[0]) - 1
    else:
        raise ValueError(f"{name}: VALUE_ROWIDS must follow FIRST_DIM_SIZE, but got {list(types)}")
    if "FIRST_DIM_SIZE" in kinds:
        raise ValueError(f"{name}: FIRST_DIM_SIZE must come first, but got {list(types)}")
    nested_rows: list[list[int]] = []
    rows = row_count
    for kind, part in zip(kinds, parts, strict=True):
        nested_rows.append(_rows_of_values(name, kind, part, rows))
        rows = len(nested_rows[-1])
    if rows != count:
        raise ValueError(f"{name}: the partitions are of {rows} values, but there are {count}")
    return row_count, nested_rows


def _partitions(
    name: str, tensors: Sequence[TensorLike], types: Sequence[str]
) -> tuple[list[str], list[list[int]]]:
    """Return the types of row partitions, and their elements, read to the host."""
    for argument, value in (("row_partition_tensors", tensors), ("row_partition_types", types)):
        if not hasattr(value, "__len__"):
            raise TypeError(f"{name}: {argument} must be a sequence, but got {value!r}")
    kinds = list(types)
    if not kinds or len(kinds) != len(tensors) or any(kind not in _PARTITIONS for kind in kinds):
        raise ValueError(
            f"{name}: row_partition_types must be one of {_PARTITIONS} for each of the "
            f"{len(tensors)} row_partition_tensors, but got {kinds}"
        )
    partitions = [
        as_indices(name, tensor, f"row_partition_tensors[{index}]")
        for index, tensor in enumerate(tensors)
    ]
    return kinds, [list(partition.data_sync()) for partition in partitions]


def _rows_of_values(name: str, kind: str, part: list[int], rows: int) -> list[int]:
    """Return the row of each value by a partition of some rows."""
    if kind == "ROW_SPLITS":
        if len(part) != rows + 1 or part[0] != 0 or part != sorted(part):
            raise ValueError(
                f"{name}: ROW_SPLITS of {rows} rows must rise from 0 and be {rows + 1}, but are "
                f"{part}"
            )
        return [row for row, (begin, end) in enumerate(pairwise(part)) for _ in range(begin, end)]
    if part != sorted(part) or (part and (part[0] < 0 or part[-1] >= rows)):
        raise ValueError(
            f"{name}: VALUE_ROWIDS must not fall, and lie in [0, {rows}), but are {part}"
        )
    return part


def _columns(rows: Sequence[int]) -> list[int]:
    """Return each value's index within its row."""
    columns: list[int] = []
    for index, row in enumerate(rows):
        same = index > 0 and rows[index - 1] == row
        columns.append(columns[-1] + 1 if same else 0)
    return columns


def _output_shape(name: str, shape: TensorLike, natural: Sequence[int], element: Shape) -> Shape:
    """Replace -1 in a shape by the natural sizes, and check the others."""
    operand = as_indices(name, shape, "shape")
    requested: list[Any] = list(operand.data_sync())
    natural_shape = (*natural, *element)
    if not operand.shape:
        if requested != [-1]:
            raise ValueError(f"{name}: a scalar shape must be -1, but got {requested[0]}")
        return natural_shape
    if len(operand.shape) != 1 or len(requested) != len(natural_shape):
        raise ValueError(
            f"{name}: shape must have {len(natural_shape)} sizes for these values, but is "
            f"{requested}"
        )
    result_shape = tuple(
        fitting if size < 0 else size
        for size, fitting in zip(requested, natural_shape, strict=True)
    )
    if min(requested, default=0) < -1 or result_shape[len(natural) :] != element:
        raise ValueError(f"{name}: shape {requested} does not fit elements of shape {element}")
    return result_shape
