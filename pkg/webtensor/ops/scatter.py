"""Picking and putting elements by tensors of indices: gather_nd, scatter_nd, segments, bins.

Everything comes down to picking, adding or replacing rows of a matrix by flat indices. Indices that
are known on the host are checked; on a device, where looking at them would mean waiting, those out
of range pick zeros and put nothing.
"""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import bool_, complex64, int32, promote, string_
from webtensor.engine import (
    Primitive,
    Tensor,
    TensorLike,
    as_operand,
    backend,
    near_its_operands,
    run,
)
from webtensor.errors import OutOfMemoryError
from webtensor.ops.binary import equal
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import cast_to
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.coordinates import to_places
from webtensor.ops.creation import arange, full, ones, zeros_like
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
from webtensor.ops.reduction import min as least, sum as total
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


def _kept(
    dy: Tensor, y: Tensor, x: Tensor, indices: Tensor, updates: Tensor, *group: int
) -> Tensor:
    """The gradient of what is not replaced."""
    kept = run(_SCATTER_SET, (dy, indices, zeros_like(updates)), y.shape, x.dtype, *group)
    return kept if x.shape == y.shape else total(kept)


def _replaced(
    dy: Tensor, y: Tensor, x: Tensor, indices: Tensor, updates: Tensor, *group: int
) -> Tensor:
    """The gradient of the updates; where several name one place, only the last counts."""
    length, _, count = group
    numbers = arange(count)
    winners = run(
        _SCATTER_SET, (full(length, -1), indices, numbers), (length,), int32, length, 1, count
    )
    counts = equal(gather(winners, indices), numbers).reshape((count, 1))
    return gather(reshape(dy, group[:2]), indices).where(counts, 0.0).reshape(updates.shape)  # type: ignore[no-any-return]


_SCATTER_SET: Primitive = Primitive("scatter_set", gradients=(_kept, None, _replaced))


def put(x: Tensor, indices: Tensor, updates: Tensor, shape: Shape | None = None) -> Tensor:
    """Copy of a tensor with elements replaced at their places in row-major order.

    Places out of range are left out. A scalar stands for a whole tensor of ``shape``.
    """
    shape = x.shape if shape is None else shape
    group = (prod(shape), 1, indices.size)
    return run(_SCATTER_SET, (x, indices, updates), shape, x.dtype, *group)


# -- indices --------------------------------------------------------------------------------------


def _check_range(name: str, indices: Tensor, length: int) -> None:
    """Check indices along an axis where the host knows them."""
    bounds = index_bounds(indices)
    if bounds is not None and not (-length <= bounds[0] and bounds[1] < length):
        raise IndexError(
            f"{name}: indices must lie in [{-length}, {length}), but they range from {bounds[0]} "
            f"to {bounds[1]}"
        )


def _wrapped(indices: Tensor, length: int) -> Tensor:
    """Indices along an axis, negative ones counted from its end.

    Those out of range become ones that no flat index can be mistaken for.
    """
    bounds = index_bounds(indices)
    if bounds is not None and bounds[0] >= 0:
        return indices
    wrapped = where(indices < 0, indices + length, indices)
    return where((wrapped >= 0).logical_and(wrapped < length), wrapped, _NOWHERE)


#: Added to any flat index of a tensor that fits a device, it stays out of range.
_NOWHERE = 2**30


def _fit(bounds: tuple[int, int], lengths: Shape) -> bool:
    """Whether indices within bounds are within each of several lengths."""
    return bounds[0] >= 0 and bounds[1] < min(lengths, default=0)


def _flat_indices(name: str, indices: Tensor, lengths: Shape) -> Tensor:
    """Turn indices of shape (…, len(lengths)) into flat ones of rows, along one axis.

    Those out of range become the one past the last.

    Raises:
        IndexError: one of them, known on the host, is negative or too great.
        OutOfMemoryError: there are more elements than indices of 32 bits count.
    """
    if prod(lengths) >= 1 << 31:
        raise OutOfMemoryError(
            f"{name}: no room for a tensor of shape {lengths}: flat indices must fit int32"
        )
    known, bounds = host_indices(indices), index_bounds(indices)
    depth = len(lengths)
    if known is not None and bounds is not None and not _fit(bounds, lengths):
        for place, length in enumerate(lengths):
            column = known[place::depth]
            if not (min(column) >= 0 and max(column) < length):
                raise IndexError(
                    f"{name}: indices along axis {place} must lie in [0, {length}), but they range "
                    f"from {min(column)} to {max(column)}"
                )
    return to_places(reshape(indices, (prod(indices.shape[:-1]), depth)), lengths)


def _split_at(name: str, indices: Tensor, shape: Shape) -> tuple[Shape, Shape]:
    """The axes that the last axis of ``indices`` counts along, and those that are left.

    Raises:
        ValueError: there are fewer axes.
    """
    if not indices.shape or indices.shape[-1] > len(shape):
        raise ValueError(
            f"{name}: indices must have a last axis of length at most {len(shape)}, for a tensor "
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
        IndexError: an index known on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the last axis of ``indices`` is longer than the rank of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).tolist()
        [2, 3]
    """
    held = as_operand("gather_nd", x)
    places = as_indices("gather_nd", indices)
    counted, rest = _split_at("gather_nd", places, held.shape)
    if held.dtype is complex64:
        return from_pairs(gather_nd(as_pairs(held), places))
    shape = (*places.shape[:-1], *rest)
    if held.size == 0 and prod(shape):
        raise IndexError(f"gather_nd: x of shape {held.shape} has no elements to pick")
    flat = _flat_indices("gather_nd", places, counted)
    return reshape(gather(reshape(held, (prod(counted), prod(rest))), flat), shape)


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
    if x.dtype is complex64:
        return from_pairs(batched_gather(as_pairs(x), indices, axis, batch_dims))
    outer, length = prod(x.shape[batch_dims:axis]), x.shape[axis]
    rest, picked = x.shape[axis + 1 :], indices.shape[batch_dims:]
    shape = (*x.shape[:axis], *picked, *rest)
    if x.size == 0 and prod(shape):
        raise IndexError(f"gather: axis {axis} of {x.shape} has no elements to pick")
    _check_range("gather", indices, length)
    blocks = prod(batch)
    within = reshape(_wrapped(indices, length), (blocks, 1, prod(picked)))
    starts = reshape(arange(blocks * outer) * length, (blocks, outer, 1))
    rows = reshape(x, (blocks * outer * length, prod(rest)))
    return reshape(gather(rows, flatten(starts + within)), shape)


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int = -1) -> Tensor:
    """Pick one element for each index along an axis (array API standard).

    ``indices``, int32, has the rank of ``x``; their other axes broadcast together. With the result
    of ``argsort``, this sorts.

    Raises:
        IndexError: an index known on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the ranks differ, or the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.take_along_axis([[1, 2], [3, 4]], [[1], [0]], axis=1).tolist()
        [[2], [3]]
    """
    held = as_operand("take_along_axis", x)
    places = as_indices("take_along_axis", indices)
    rank = len(held.shape)
    axis = normalize_axis("take_along_axis", axis, rank)
    if len(places.shape) != rank:
        raise ValueError(
            f"take_along_axis: indices must have the rank of x, {rank}, but got x.shape="
            f"{held.shape}, indices.shape={places.shape}"
        )
    _check_range("take_along_axis", places, held.shape[axis])
    order = [*(one for one in range(rank) if one != axis), axis]
    back = sorted(range(rank), key=order.__getitem__)
    rows, columns = permute_dims(held, order), permute_dims(places, order)
    others = broadcast_shapes("take_along_axis", rows.shape[:-1], columns.shape[:-1])
    rows = broadcast_to(rows, (*others, rows.shape[-1]))
    columns = broadcast_to(columns, (*others, columns.shape[-1]))
    return permute_dims(batched_gather(rows, columns, rank - 1, rank - 1), back)


# -- putting --------------------------------------------------------------------------------------


def _as_columns(indices: Tensor, updates: Tensor, rank: int) -> Tensor:
    """Return indices of rank 1 that count along the first axis, one per update, as a column.

    The updates' rank tells them from a single index along several axes.
    """
    several = indices.shape == updates.shape[:1] and len(updates.shape) == rank
    return reshape(indices, (indices.size, 1)) if several else indices


def _check_updates(name: str, updates: Tensor, indices: Tensor, rest: Shape) -> None:
    wanted = (*indices.shape[:-1], *rest)
    if updates.shape != wanted:
        raise ValueError(
            f"{name}: updates must have shape {wanted} for these indices, but got {updates.shape}"
        )


def scatter_nd(indices: TensorLike, updates: TensorLike, shape: Any) -> Tensor:
    """Tensor of zeros of a shape, to which updates are added at their indices.

    The last axis of ``indices``, int32, holds where along the first axes an update goes; the shape
    of ``updates`` is ``(*indices.shape[:-1], *shape[indices.shape[-1]:])``. ``indices`` of rank 1
    may also count along the first axis alone, one for each slice of ``updates``. Updates with the
    same index add up.

    Raises:
        IndexError: an index known on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.scatter_nd([[1], [3], [1]], [5, 6, 7], (4,)).tolist()
        [0, 12, 0, 6]
    """
    places = as_indices("scatter_nd", indices)
    held = as_operand("scatter_nd", updates)
    wanted = as_shape("scatter_nd", shape)
    places = _as_columns(places, held, len(wanted))
    counted, rest = _split_at("scatter_nd", places, wanted)
    _check_updates("scatter_nd", held, places, rest)
    if held.dtype is complex64:
        return from_pairs(scatter_nd(places, as_pairs(held), (*wanted, 2)))
    if held.dtype is bool_:
        return cast_to(scatter_nd(places, cast_to(held, int32), wanted), bool_)
    flat = _flat_indices("scatter_nd", places, counted)
    group = (1, prod(counted), prod(rest), flat.size)
    return scatter_add(held, flat, wanted, held.dtype, *group)


def tensor_scatter_update(tensor: TensorLike, indices: TensorLike, updates: TensorLike) -> Tensor:
    """Copy of a tensor in which elements or slices are replaced at their indices.

    Indices and updates are as in ``scatter_nd``. Of updates with the same index, the last counts.

    Raises:
        IndexError: an index known on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.tensor_scatter_update([1, 2, 3], [[0], [2]], [8, 9]).tolist()
        [8, 2, 9]
    """
    name = "tensor_scatter_update"
    held = as_operand(name, tensor)
    places = as_indices(name, indices)
    given = as_operand(name, updates, held.dtype)
    places = _as_columns(places, given, len(held.shape))
    counted, rest = _split_at(name, places, held.shape)
    _check_updates(name, given, places, rest)
    check_all_text(name, [held.dtype, given.dtype])
    dtype = promote(held.dtype, given.dtype)
    held, given = cast_to(held, dtype), cast_to(given, dtype)
    if dtype is complex64:
        return from_pairs(tensor_scatter_update(as_pairs(held), places, as_pairs(given)))
    if given.size == 0 or held.size == 0:
        return held.clone()  # type: ignore[no-any-return]
    flat = _flat_indices(name, places, counted)
    group = (prod(counted), prod(rest), flat.size)
    if dtype is string_:
        return put_texts(held, flat, given, *group[:2])
    return run(_SCATTER_SET, (held, flat, given), held.shape, dtype, *group)


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
        IndexError: an index known on the host is out of range.
        TypeError: the indices are not int32.
        ValueError: the shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.sparse_to_dense([[0, 1], [1, 0]], [5, 6], (2, 2), -1).tolist()
        [[-1, 5], [6, -1]]
    """
    name = "sparse_to_dense"
    places = as_indices(name, sparse_indices, "sparse_indices")
    values = as_operand(name, sparse_values)
    shape = as_shape(name, output_shape, "output_shape")
    if len(places.shape) > 2:
        raise ValueError(
            f"{name}: sparse_indices must have rank 0, 1 or 2, but its shape is {places.shape}"
        )
    if len(places.shape) < 2:
        places = reshape(places, (places.size, 1))
    count, depth = places.shape
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
    if dtype in (complex64, string_) or count == 0 or prod(shape) == 0:
        return tensor_scatter_update(broadcast_to(default, shape), places, updates)
    return put(default, _flat_indices(name, places, shape), updates, shape)


# -- segments and bins ----------------------------------------------------------------------------


def _add_up(
    name: str, argument: str, x: Tensor, segments: Tensor, count: int, refuse_negative: bool
) -> Tensor:
    """Add rows of ``x`` up by segment number; those outside ``range(count)`` are left out."""
    bounds = index_bounds(segments)
    if bounds is None or bounds[0] < 0:
        if bounds is not None and refuse_negative:
            raise ValueError(f"{name}: {argument} must not be negative, but got {bounds[0]}")
        on_host = backend().computes_on_host
        if not (bounds is None and on_host and segments.size and int(least(segments)) >= 0):
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
    held = as_operand(name, x)
    segments = as_indices(name, segment_ids, "segment_ids")
    if not held.shape or segments.shape != held.shape[:1]:
        raise ValueError(
            f"{name}: segment_ids must have one number for each slice along the first axis of x, "
            f"but got x.shape={held.shape}, segment_ids.shape={segments.shape}"
        )
    (count,) = as_shape(name, num_segments, "num_segments")
    if held.dtype is complex64:
        return from_pairs(unsorted_segment_sum(as_pairs(held), segments, count))
    held = cast_to(held, int32) if held.dtype is bool_ else held
    return _add_up(name, "segment_ids", held, segments, count, False)


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
    ``size``, it is one more than the greatest number, which must be read from the device for that,
    but ``minlength`` at least.

    Raises:
        TypeError: ``x`` is not int32.
        ValueError: another rank, weights of another shape, or a negative number or size.

    Example:
        >>> import webtensor as wt
        >>> wt.bincount([1, 1, 2], [], 4).tolist(), wt.bincount([1, 1, 2]).tolist()
        ([0.0, 2.0, 1.0, 0.0], [0, 2, 1])
    """
    held = as_indices("bincount", x, "x")
    if len(held.shape) != 1:
        raise ValueError(f"bincount: x must have rank 1, but its shape is {held.shape}")
    (least,) = as_shape("bincount", minlength, "minlength")
    if size is None:
        size = max(_size_of_counts(held), least)
    return _bincount("bincount", held, weights, size)


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
    held = as_indices("dense_bincount", x, "x")
    if len(held.shape) not in (1, 2):
        raise ValueError(f"dense_bincount: x must have rank 1 or 2, but its shape is {held.shape}")
    if not binary_output:
        return _bincount("dense_bincount", held, weights, size)
    dtype = int32 if weights is None else as_operand("dense_bincount", weights).dtype
    return cast_to(_bincount("dense_bincount", held, None, size) > 0, dtype)


def _size_of_counts(x: Tensor) -> int:
    """One more than the greatest number, which is read from the device."""
    return int(max(x.data_sync(), default=-1)) + 1


def _bincount(name: str, x: Tensor, weights: TensorLike | None, size: int | None) -> Tensor:
    given = None if weights is None else as_operand(name, weights)
    if given is not None and given.size and given.shape != x.shape:
        raise ValueError(
            f"{name}: weights must be empty or have the shape of x, {x.shape}, but its shape is "
            f"{given.shape}"
        )
    (length,) = as_shape(name, _size_of_counts(x) if size is None else size, "size")
    dtype = int32 if given is None else promote(given.dtype, int32)
    amounts = ones(x.shape, dtype) if given is None or not given.size else cast_to(given, dtype)
    numbers = x
    if len(x.shape) == 2:
        bounds = index_bounds(x)
        if bounds is not None and bounds[0] < 0:
            raise ValueError(f"{name}: x must not be negative, but got {bounds[0]}")
        starts = reshape(arange(x.shape[0]) * length, (x.shape[0], 1))
        inside = (x >= 0).logical_and(x < length)
        numbers = where(inside, x + starts, x.shape[0] * length)
    bins = x.shape[0] * length if len(x.shape) == 2 else length
    counts = _add_up(name, "x", flatten(amounts), flatten(numbers), bins, True)
    return reshape(counts, (*x.shape[:-1], length))
