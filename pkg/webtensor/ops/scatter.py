"""Picking and putting elements by tensors of indices: gather_nd, scatter_nd, segments, bins.

Everything is composed of picking, adding or replacing rows of a matrix by flat indices. Indices on
the host are checked. Checking them on a device would mean waiting, so there, indices out of range
pick zeros and put nothing.
"""

from __future__ import annotations

from typing import Any

from webtensor.arguments import as_non_negative_integer
from webtensor.dtypes import bool_, complex64, int32, promote, string_
from webtensor.engine import (
    Primitive,
    Tensor,
    TensorLike,
    as_operand,
    backend,
    near_its_operands,
    run,
    state,
)
from webtensor.errors import OutOfMemoryError
from webtensor.ops.binary import equal
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.coordinates import to_flat_indices
from webtensor.ops.creation import full, ones, zeros_like
from webtensor.ops.movement import (
    as_indices,
    flatten,
    gather,
    host_indices,
    index_bounds,
    permute_dims,
    reshape,
    scatter_add,
)
from webtensor.ops.reduction import min as _min, sum as _sum
from webtensor.ops.sequences import arange
from webtensor.ops.string_elements import check_all_text, put_texts
from webtensor.ops.ternary import where
from webtensor.shapes import (
    Shape,
    as_shape,
    broadcast_shapes,
    normalize_axis,
    prod,
)

__all__ = [
    "bincount",
    "dense_bincount",
    "gather_nd",
    "scatter_nd",
    "sparse_to_dense",
    "take_along_axis",
    "tensor_scatter_update",
    "unsorted_segment_sum",
]

# -- the primitive: attributes are (length, inner, count); a scalar is put into as a whole tensor --


def _unreplaced(
    dy: Tensor, y: Tensor, x: Tensor, indices: Tensor, updates: Tensor, *group: int
) -> Tensor:
    """The gradient of the elements that are not replaced."""
    gradient = run(_SCATTER_SET, (dy, indices, zeros_like(updates)), y.shape, x.dtype, *group)
    return gradient if x.shape == y.shape else _sum(gradient)


def _replaced(
    dy: Tensor, y: Tensor, x: Tensor, indices: Tensor, updates: Tensor, *group: int
) -> Tensor:
    """The gradient of the updates; of several with the same index, only the last has one."""
    length, _, count = group
    numbers = arange(count)
    winners = run(
        _SCATTER_SET, (full(length, -1), indices, numbers), (length,), int32, length, 1, count
    )
    counts = equal(gather(winners, indices), numbers).reshape((count, 1))
    return gather(reshape(dy, group[:2]), indices).where(counts, 0.0).reshape(updates.shape)  # type: ignore[no-any-return]


_SCATTER_SET: Primitive = Primitive("scatter_set", gradients=(_unreplaced, None, _replaced))


def put(x: Tensor, indices: Tensor, updates: Tensor, shape: Shape | None = None) -> Tensor:
    """Copy of a tensor with elements replaced at their indices in row-major order.

    Indices out of range are left out. A scalar stands for a whole tensor of ``shape``.
    """
    shape = x.shape if shape is None else shape
    group = (prod(shape), 1, indices.size)
    return run(_SCATTER_SET, (x, indices, updates), shape, x.dtype, *group)


# -- indices --------------------------------------------------------------------------------------


def _check_range(name: str, indices: Tensor, size: int) -> None:
    """Check indices along an axis where they are on the host."""
    bounds = index_bounds(indices)
    if bounds is not None and not (-size <= bounds[0] and bounds[1] < size):
        raise IndexError(
            f"{name}: indices must lie in [{-size}, {size}), but they range from {bounds[0]} "
            f"to {bounds[1]}"
        )


def _wrapped(indices: Tensor, size: int) -> Tensor:
    """Return indices along an axis, negative ones counted from its end.

    Indices out of range become invalid ones, which cannot be mistaken for a flat index.
    """
    bounds = index_bounds(indices)
    if bounds is not None and bounds[0] >= 0:
        return indices
    wrapped = where(indices < 0, indices + size, indices)
    return where((wrapped >= 0).logical_and(wrapped < size), wrapped, _NOWHERE)


#: Added to any flat index of a tensor that fits a device, it stays out of range.
_NOWHERE = 2**30


def _fit(bounds: tuple[int, int], sizes: Shape) -> bool:
    """Whether the bounds of indices are valid along each of several axes."""
    return bounds[0] >= 0 and bounds[1] < min(sizes, default=0)


def _flat_indices(name: str, indices: Tensor, sizes: Shape) -> Tensor:
    """Convert indices of shape (…, len(sizes)) to flat indices of rows, along one axis.

    Indices out of range become the index past the last row.

    Raises:
        IndexError: an index on the host is negative or too large.
        OutOfMemoryError: there are more elements than indices of 32 bits count.
    """
    if prod(sizes) >= 1 << 31:
        raise OutOfMemoryError(
            f"{name}: no room for a tensor of shape {sizes}: flat indices must fit int32"
        )
    values, bounds = host_indices(indices), index_bounds(indices)
    depth = len(sizes)
    if values is not None and bounds is not None and not _fit(bounds, sizes):
        for axis, size in enumerate(sizes):
            column = values[axis::depth]
            if not (min(column) >= 0 and max(column) < size):
                raise IndexError(
                    f"{name}: indices along axis {axis} must lie in [0, {size}), but they range "
                    f"from {min(column)} to {max(column)}"
                )
    if len(indices.shape) != 2:
        indices = reshape(indices, (prod(indices.shape[:-1]), depth))
    return to_flat_indices(indices, sizes)


def _split_at(name: str, indices: Tensor, shape: Shape) -> tuple[Shape, Shape]:
    """The axes that the last axis of ``indices`` counts along, and those that are left.

    Raises:
        ValueError: there are fewer axes.
    """
    if not indices.shape or indices.shape[-1] > len(shape):
        raise ValueError(
            f"{name}: indices must have a last axis of size at most {len(shape)}, for a tensor "
            f"of shape {shape}, but indices.shape={indices.shape}"
        )
    depth = indices.shape[-1]
    return shape[:depth], shape[depth:]


# -- picking --------------------------------------------------------------------------------------


def gather_nd(x: TensorLike, indices: TensorLike) -> Tensor:
    """Pick elements or slices by int32 indices along several axes.

    The last axis of ``indices`` holds, for the first axes of ``x``, where to pick; the result's
    shape is ``(*indices.shape[:-1], *x.shape[indices.shape[-1]:])``.

    Raises:
        IndexError: an index on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the last axis of ``indices`` is longer than the rank of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).tolist()
        [2, 3]
    """
    operand = as_operand("gather_nd", x)
    index_tensor = as_indices("gather_nd", indices)
    counted, rest = _split_at("gather_nd", index_tensor, operand.shape)
    shape = (*index_tensor.shape[:-1], *rest)
    if operand.size == 0 and prod(shape):
        raise IndexError(f"gather_nd: x of shape {operand.shape} has no elements to pick")
    flat = _flat_indices("gather_nd", index_tensor, counted)
    return reshape(gather(reshape(operand, (prod(counted), prod(rest))), flat), shape)


def batched_gather(x: Tensor, indices: Tensor, axis: int, batch_dims: int) -> Tensor:
    """Gather along an axis with indices of their own for each of the leading axes."""
    if -len(indices.shape) <= batch_dims < 0:
        batch_dims += len(indices.shape)
    batch = x.shape[:batch_dims]
    if not 0 <= batch_dims <= axis or indices.shape[:batch_dims] != batch:
        raise ValueError(
            f"gather: batch_dims must not exceed axis {axis}, and the axes it counts must be equal "
            f"in x and indices, but got batch_dims={batch_dims}, x.shape={x.shape}, "
            f"indices.shape={indices.shape}"
        )
    outer, size = prod(x.shape[batch_dims:axis]), x.shape[axis]
    rest, picked = x.shape[axis + 1 :], indices.shape[batch_dims:]
    shape = (*x.shape[:axis], *picked, *rest)
    if x.size == 0 and prod(shape):
        raise IndexError(f"gather: axis {axis} of {x.shape} has no elements to pick")
    _check_range("gather", indices, size)
    blocks = prod(batch)
    within = reshape(_wrapped(indices, size), (blocks, 1, prod(picked)))
    starts = reshape(arange(blocks * outer) * size, (blocks, outer, 1))
    rows = reshape(x, (blocks * outer * size, prod(rest)))
    return reshape(gather(rows, flatten(starts + within)), shape)


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int = -1) -> Tensor:
    """Pick one element for each index along an axis (array API standard).

    ``indices``, int32, has the rank of ``x``; their other axes broadcast together. With the result
    of ``argsort``, this sorts.

    Raises:
        IndexError: an index on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the ranks differ, or the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.take_along_axis([[1, 2], [3, 4]], [[1], [0]], axis=1).tolist()
        [[2], [3]]
    """
    operand = as_operand("take_along_axis", x)
    index_tensor = as_indices("take_along_axis", indices)
    rank = len(operand.shape)
    axis = normalize_axis("take_along_axis", axis, rank)
    if len(index_tensor.shape) != rank:
        raise ValueError(
            f"take_along_axis: indices must have the rank of x, {rank}, but got x.shape="
            f"{operand.shape}, indices.shape={index_tensor.shape}"
        )
    _check_range("take_along_axis", index_tensor, operand.shape[axis])
    order = [*(dimension for dimension in range(rank) if dimension != axis), axis]
    back = sorted(range(rank), key=order.__getitem__)
    rows, columns = permute_dims(operand, order), permute_dims(index_tensor, order)
    others = broadcast_shapes("take_along_axis", rows.shape[:-1], columns.shape[:-1])
    rows = broadcast_to(rows, (*others, rows.shape[-1]))
    columns = broadcast_to(columns, (*others, columns.shape[-1]))
    return permute_dims(batched_gather(rows, columns, rank - 1, rank - 1), back)


# -- putting --------------------------------------------------------------------------------------


def _as_columns(indices: Tensor, updates: Tensor, rank: int) -> Tensor:
    """Return indices of rank 1 along the first axis, one for each update, as a column.

    The updates' rank distinguishes them from a single index along several axes.
    """
    several = indices.shape == updates.shape[:1] and len(updates.shape) == rank
    return reshape(indices, (indices.size, 1)) if several else indices


def _check_updates(name: str, updates: Tensor, indices: Tensor, rest: Shape) -> None:
    expected = (*indices.shape[:-1], *rest)
    if updates.shape != expected:
        raise ValueError(
            f"{name}: updates must have shape {expected} for these indices, but got {updates.shape}"
        )


def scatter_nd(indices: TensorLike, updates: TensorLike, shape: Any) -> Tensor:
    """Tensor of zeros of a shape, to which updates are added at their indices.

    The last axis of ``indices``, int32, holds where along the first axes an update goes; the shape
    of ``updates`` is ``(*indices.shape[:-1], *shape[indices.shape[-1]:])``. ``indices`` of rank 1
    may also count along the first axis alone, one for each slice of ``updates``. Updates with the
    same index add up.

    Raises:
        IndexError: an index on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.scatter_nd([[1], [3], [1]], [5, 6, 7], (4,)).tolist()
        [0, 12, 0, 6]
    """
    index_tensor = as_indices("scatter_nd", indices)
    operand = as_operand("scatter_nd", updates)
    output_shape = as_shape("scatter_nd", shape)
    index_tensor = _as_columns(index_tensor, operand, len(output_shape))
    counted, rest = _split_at("scatter_nd", index_tensor, output_shape)
    _check_updates("scatter_nd", operand, index_tensor, rest)
    if operand.dtype is complex64:
        return from_pairs(scatter_nd(index_tensor, as_pairs(operand), (*output_shape, 2)))
    if operand.dtype is bool_:
        return cast_to(scatter_nd(index_tensor, cast_to(operand, int32), output_shape), bool_)
    flat = _flat_indices("scatter_nd", index_tensor, counted)
    group = (1, prod(counted), prod(rest), flat.size)
    return scatter_add(operand, flat, output_shape, operand.dtype, *group)


def tensor_scatter_update(tensor: TensorLike, indices: TensorLike, updates: TensorLike) -> Tensor:
    """Copy of a tensor in which elements or slices are replaced at their indices.

    Indices and updates are as in ``scatter_nd``. Of updates with the same index, the last counts.

    Raises:
        IndexError: an index on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.tensor_scatter_update([1, 2, 3], [[0], [2]], [8, 9]).tolist()
        [8, 2, 9]
    """
    name = "tensor_scatter_update"
    operand = as_operand(name, tensor)
    index_tensor = as_indices(name, indices)
    new_values = as_operand(name, updates, operand.dtype)
    index_tensor = _as_columns(index_tensor, new_values, len(operand.shape))
    counted, rest = _split_at(name, index_tensor, operand.shape)
    _check_updates(name, new_values, index_tensor, rest)
    check_all_text(name, [operand.dtype, new_values.dtype])
    dtype = promote(operand.dtype, new_values.dtype)
    operand, new_values = cast_to(operand, dtype), cast_to(new_values, dtype)
    if dtype is complex64:
        return from_pairs(
            tensor_scatter_update(as_pairs(operand), index_tensor, as_pairs(new_values))
        )
    flat = _flat_indices(name, index_tensor, counted)
    if new_values.size == 0 or operand.size == 0:
        return operand.clone()  # type: ignore[no-any-return]
    group = (prod(counted), prod(rest), flat.size)
    if dtype is string_:
        return put_texts(operand, flat, new_values, *group[:2])
    return run(_SCATTER_SET, (operand, flat, new_values), operand.shape, dtype, *group)


def sparse_to_dense(
    sparse_indices: TensorLike,
    sparse_values: TensorLike,
    output_shape: Any,
    default_value: Any = 0,
) -> Tensor:
    """Tensor of a shape that holds values at their indices and a default elsewhere.

    ``sparse_indices``, int32, is (count, rank of the output), or (count,) or a single index for an
    output of rank 1. ``sparse_values`` holds one value for each, or is a scalar for all. Of values
    with the same index, the last counts.

    Raises:
        IndexError: an index on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.sparse_to_dense([[0, 1], [1, 0]], [5, 6], (2, 2), -1).tolist()
        [[-1, 5], [6, -1]]
    """
    name = "sparse_to_dense"
    index_tensor = as_indices(name, sparse_indices, "sparse_indices")
    values = as_operand(name, sparse_values)
    shape = as_shape(name, output_shape, "output_shape")
    if len(index_tensor.shape) > 2:
        raise ValueError(
            f"{name}: sparse_indices must have rank 0, 1 or 2, but its shape is "
            f"{index_tensor.shape}"
        )
    if len(index_tensor.shape) < 2:
        index_tensor = reshape(index_tensor, (index_tensor.size, 1))
    count, depth = index_tensor.shape
    if depth != len(shape):
        raise ValueError(
            f"{name}: sparse_indices give {depth} coordinates, but output_shape is {shape}"
        )
    if values.shape not in ((), (count,)):
        raise ValueError(
            f"{name}: sparse_values must be a scalar or have shape {(count,)}, but its shape is "
            f"{values.shape}"
        )
    if values.dtype is string_ and isinstance(default_value, int) and default_value == 0:
        default_value = ""
    default = as_operand(name, default_value, values.dtype)
    if default.shape != ():
        raise ValueError(f"{name}: default_value must be a scalar, but got shape {default.shape}")
    check_all_text(name, [values.dtype, default.dtype])
    dtype = promote(values.dtype, default.dtype)
    default, updates = cast_to(default, dtype), broadcast_to(cast_to(values, dtype), (count,))
    if dtype in (complex64, string_) or count == 0:
        return tensor_scatter_update(broadcast_to(default, shape), index_tensor, updates)
    return put(default, _flat_indices(name, index_tensor, shape), updates, shape)


# -- segments and bins ----------------------------------------------------------------------------


def _add_up(
    name: str, argument: str, x: Tensor, segments: Tensor, count: int, refuse_negative: bool
) -> Tensor:
    """Add rows of ``x`` up by segment number; those outside ``range(count)`` are left out."""
    if x.dtype is complex64:
        return from_pairs(_add_up(name, argument, as_pairs(x), segments, count, refuse_negative))
    bounds = index_bounds(segments)
    if bounds is None or bounds[0] < 0:
        if bounds is not None and refuse_negative:
            raise ValueError(f"{name}: {argument} must not be negative, but got {bounds[0]}")
        is_eager_on_host = backend().computes_on_host and not state.captures
        may_read = bounds is None and is_eager_on_host and segments.storage.is_readable
        if not (may_read and segments.size and int(_min(segments)) >= 0):
            segments = where(segments < 0, count, segments)
    rest = x.shape[1:]
    group = (1, count, prod(rest), segments.size)
    return scatter_add(x, segments, (count, *rest), x.dtype, *group)


def unsorted_segment_sum(x: TensorLike, segment_ids: TensorLike, num_segments: int) -> Tensor:
    """Sum the slices of ``x`` along its first axis that have the same segment number.

    ``segment_ids`` is int32 of rank 1, with a number for each slice; slices whose number is not in
    ``range(num_segments)`` are left out. The result has ``num_segments`` slices.

    Raises:
        TypeError: the numbers are not int32.
        ValueError: not one number for each slice, or ``num_segments`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.unsorted_segment_sum([1, 2, 3, 4], [1, 0, 1, 1], 3).tolist()
        [2, 8, 0]
    """
    name = "unsorted_segment_sum"
    operand = as_operand(name, x)
    segments = as_indices(name, segment_ids, "segment_ids")
    if not operand.shape or segments.shape != operand.shape[:1]:
        raise ValueError(
            f"{name}: segment_ids must have one number for each slice along the first axis of x, "
            f"but got x.shape={operand.shape}, segment_ids.shape={segments.shape}"
        )
    count = as_non_negative_integer(name, "num_segments", num_segments)
    operand = cast_to(operand, int32) if operand.dtype is bool_ else operand
    return _add_up(name, "segment_ids", operand, segments, count, False)


@near_its_operands
def bincount(
    x: TensorLike,
    weights: TensorLike | None = None,
    size: int | None = None,
    *,
    minlength: int = 0,
) -> Tensor:
    """Count how often each number from 0 to ``size - 1`` occurs in an int32 tensor of rank 1.

    ``weights``, of the shape of ``x`` or empty, is what each occurrence counts for; it gives the
    result's dtype, which is int32 without it. Numbers from ``size`` on are left out. Without
    ``size``, it is one more than the largest number, which must be read from the device for that,
    but ``minlength`` at least.

    Raises:
        TypeError: ``x`` is not int32.
        ValueError: another rank, weights of another shape, or a negative number or size.

    Example:
        >>> import webtensor as wt
        >>> wt.bincount([1, 1, 2], [], 4).tolist(), wt.bincount([1, 1, 2]).tolist()
        ([0.0, 2.0, 1.0, 0.0], [0, 2, 1])
    """
    operand = as_indices("bincount", x, "x")
    if len(operand.shape) != 1:
        raise ValueError(f"bincount: x must have rank 1, but its shape is {operand.shape}")
    minlength = as_non_negative_integer("bincount", "minlength", minlength)
    if size is None:
        size = max(_size_of_counts(operand), minlength)
    return _bincount("bincount", operand, weights, size)


@near_its_operands
def dense_bincount(
    x: TensorLike,
    weights: TensorLike | None = None,
    size: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """Count numbers as ``bincount`` does, in each row of an int32 tensor of rank 1 or 2.

    ``binary_output`` tells only whether a number occurs, as 1 or 0, whatever the weights.

    Raises:
        TypeError: ``x`` is not int32.
        ValueError: another rank, weights of another shape, or a negative number or size.

    Example:
        >>> import webtensor as wt
        >>> wt.dense_bincount([[1, 1, 2], [0, 3, 9]], size=4).tolist()
        [[0, 2, 1, 0], [1, 0, 0, 1]]
    """
    operand = as_indices("dense_bincount", x, "x")
    if len(operand.shape) not in (1, 2):
        raise ValueError(
            f"dense_bincount: x must have rank 1 or 2, but its shape is {operand.shape}"
        )
    if not binary_output:
        return _bincount("dense_bincount", operand, weights, size)
    dtype = int32 if weights is None else as_operand("dense_bincount", weights).dtype
    return cast_to(_bincount("dense_bincount", operand, None, size) > 0, dtype)


def _size_of_counts(x: Tensor) -> int:
    """One more than the maximum, which is read from the device."""
    return max(int(max(x.data_sync(), default=-1)) + 1, 0)


def _bincount(name: str, x: Tensor, weights: TensorLike | None, size: int | None) -> Tensor:
    weight_tensor = None if weights is None else as_operand(name, weights)
    if weight_tensor is not None and weight_tensor.size and weight_tensor.shape != x.shape:
        raise ValueError(
            f"{name}: weights must be empty or have the shape of x, {x.shape}, but its shape is "
            f"{weight_tensor.shape}"
        )
    length = _size_of_counts(x) if size is None else as_non_negative_integer(name, "size", size)
    dtype = int32 if weight_tensor is None else promote(weight_tensor.dtype, int32)
    amounts = (
        ones(x.shape, dtype)
        if weight_tensor is None or not weight_tensor.size
        else cast_to(weight_tensor, dtype)
    )
    if len(x.shape) == 1:
        return _add_up(name, "x", amounts, x, length, True)
    bounds, rows = index_bounds(x), x.shape[0]
    if bounds is not None and bounds[0] < 0:
        raise ValueError(f"{name}: x must not be negative, but got {bounds[0]}")
    starts = reshape(arange(rows) * length, (rows, 1))
    numbers = where((x >= 0).logical_and(x < length), x + starts, rows * length)
    counts = _add_up(name, "x", flatten(amounts), flatten(numbers), rows * length, True)
    return reshape(counts, (rows, length))
