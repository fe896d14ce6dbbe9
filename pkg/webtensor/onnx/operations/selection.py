"""Operators that pick or place elements by indices and conditions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, integers, number, numbers
from webtensor.onnx.operations.shapes import checked_shape

__all__ = ["ROWS", "scattered", "wrapped"]


def wrapped(indices: Tensor, size: int | Tensor) -> Tensor:
    """Return indices from 0 on, of which negative ones count from the end."""
    if indices.storage.host is not None and min(numbers(indices), default=0) >= 0:
        return indices
    return ops.where(ops.less(indices, 0), indices + size, indices)


# -- reading -----------------------------------------------------------------------------------


def gathered(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Return the slices of these indices along an axis."""
    axis %= len(x.shape) or 1
    return ops.gather(x, wrapped(indices, x.shape[axis]), axis)


def gathered_elements(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Return the elements of these indices along an axis."""
    axis %= len(x.shape) or 1
    sizes = list(indices.shape)
    sizes[axis] = x.shape[axis]
    if sizes != list(x.shape):
        x = ops.slice(x, [0] * len(sizes), sizes)
    return ops.take_along_axis(x, wrapped(indices, x.shape[axis]), axis)


def gathered_slices(x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """Return the slices whose first indices are the rows of a tensor."""
    depth = indices.shape[-1]
    sizes = ops.tensor(list(x.shape[batch_dims : batch_dims + depth]), dtype="int32")
    indices = wrapped(indices, sizes)
    if not batch_dims:
        return ops.gather_nd(x, indices)
    batch = prod(x.shape[:batch_dims])
    values = ops.reshape(x, (batch, *x.shape[batch_dims:]))
    inner = ops.reshape(indices, (batch, -1, depth))
    row = ops.reshape(ops.arange(batch), (batch, 1, 1))
    rows = ops.broadcast_to(row, (*inner.shape[:-1], 1))
    result = ops.gather_nd(values, ops.concat([rows, inner], -1))
    return ops.reshape(result, (*indices.shape[:-1], *x.shape[batch_dims + depth :]))


def compressed(x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """Return the slices along an axis for which a condition is true, or elements."""
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    true_indices = [index for index, flag in enumerate(numbers(condition)) if flag]
    indices = ops.tensor(true_indices, shape=(len(true_indices),), dtype="int32")
    return ops.gather(x, indices, axis % len(x.shape))


def nonzero(x: Tensor) -> Tensor:
    """Return the indices of elements that are not zero, a row for each axis."""
    if not x.shape:
        x = ops.reshape(x, (1,))
    return ops.stack(ops.nonzero(x))


def all_indices(shape: list[int]) -> Tensor:
    """Return the indices of all elements of a tensor of a shape, a row for each axis."""
    sizes = checked_shape(shape) or (1,)
    grid = ops.meshgrid(*map(ops.arange, sizes), indexing="ij")
    return ops.reshape(ops.stack(grid), (len(sizes), prod(sizes)))


def unique(
    x: Tensor, *, axis: int | None = None, sorted: int = 1
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return unique slices or elements, their first indices, where each is, and counts."""
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    axis %= len(x.shape)
    rows = [tuple(numbers(row)) for row in ops.unstack(x, axis)]
    first: dict[tuple[float, ...], int] = {}
    for index, row in enumerate(rows):
        first.setdefault(row, index)
    order = list(first)
    if sorted:
        order.sort()
    position = {row: index for index, row in enumerate(order)}
    counts = [0] * len(order)
    for row in rows:
        counts[position[row]] += 1
    firsts = _integers([first[row] for row in order])
    return (
        ops.gather(x, firsts, axis),
        firsts,
        _integers([position[row] for row in rows]),
        _integers(counts),
    )


def _integers(values: list[int]) -> Tensor:
    return ops.tensor(values, shape=(len(values),), dtype="int32")


# -- writing -----------------------------------------------------------------------------------

_COMBINED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "max": ops.maximum,
    "min": ops.minimum,
    "mul": ops.multiply,
}


def scattered(x: Tensor, indices: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    """Place slices at indices, or combine them with what is there.

    Where indices repeat, those that come first are combined first.
    """
    if reduction == "none":
        return ops.tensor_scatter_update(x, indices, updates)
    if reduction == "add":
        return x + ops.scatter_nd(indices, updates, x.shape)
    if reduction not in _COMBINED:
        raise ValueError(f"reduction must be one of 'none', 'add', {', '.join(_COMBINED)}")
    depth = indices.shape[-1]
    flat = ops.reshape(indices, (-1, depth))
    updates = ops.reshape(updates, (flat.shape[0], *x.shape[depth:]))
    for turn in _turns(flat):
        chosen = _integers(turn)
        at = ops.gather(flat, chosen)
        combined = _COMBINED[reduction](ops.gather_nd(x, at), ops.gather(updates, chosen))
        x = ops.tensor_scatter_update(x, at, combined)
    return x


def _turns(indices: Tensor) -> list[list[int]]:
    """Return rows of indices in groups within which none repeats."""
    turns: list[list[int]] = []
    counts: dict[tuple[int, ...], int] = {}
    for number_, row in enumerate(indices.tolist()):
        key = tuple(row)
        turn = counts.get(key, 0)
        counts[key] = turn + 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(number_)
    return turns


def scattered_slices(
    x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none"
) -> Tensor:
    """Place slices where the rows of a tensor say."""
    sizes = ops.tensor(list(x.shape[: indices.shape[-1]]), dtype="int32")
    return scattered(x, wrapped(indices, sizes), updates, reduction)


def filled(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """Replace the slices whose index is true in a mask, which may be smaller than ``x``."""
    mask = ops.reshape(ops.astype(mask, "bool"), mask.shape or (1,))
    sizes = x.shape[: len(mask.shape)]
    if mask.shape != sizes:
        lacking = [size - length for size, length in zip(sizes, mask.shape, strict=True)]
        mask = ops.pad(mask, [(0, count) for count in lacking])
    mask = ops.reshape(mask, (*sizes, *[1] * (len(x.shape) - len(sizes))))
    return ops.where(mask, ops.reshape(value, ()), x)


def scattered_elements(
    x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """Place elements at indices along an axis."""
    axis %= len(x.shape) or 1
    coordinates = []
    for other, size in enumerate(indices.shape):
        if other == axis:
            coordinate = wrapped(indices, x.shape[axis])
        else:
            shape = [size if index == other else 1 for index in range(len(indices.shape))]
            coordinate = ops.broadcast_to(ops.reshape(ops.arange(size), shape), indices.shape)
        coordinates.append(ops.reshape(coordinate, (-1,)))
    rows = ops.stack(coordinates, 1)
    return scattered(x, rows, ops.reshape(updates, (-1,)), reduction)


def tensor_scattered(
    past_cache: Tensor,
    update: Tensor,
    write_indices: list[int] | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Tensor:
    """Write a part of a cache along an axis, from an index for each element of the batch."""
    axis %= len(past_cache.shape)
    size, length = past_cache.shape[axis], update.shape[axis]
    results = []
    begins = write_indices or [0] * past_cache.shape[0]
    for cache, part, begin in zip(
        ops.unstack(past_cache), ops.unstack(update), begins, strict=True
    ):
        targets = [begin + step for step in range(length)]
        if mode == "circular":
            targets = [target % size for target in targets]
        rows = ops.reshape(_integers(targets), (-1, 1))
        moved = ops.tensor_scatter_update(
            ops.moveaxis(cache, axis - 1, 0), rows, ops.moveaxis(part, axis - 1, 0)
        )
        results.append(ops.moveaxis(moved, 0, axis - 1))
    return ops.stack(results)


def one_hot(indices: Tensor, depth: int, values: Tensor, *, axis: int = -1) -> Tensor:
    """Return vectors with one of two values each, along a new axis."""
    off, on = ops.unstack(values)
    rows = ops.one_hot(wrapped(ops.astype(indices, "int32"), int(depth)), int(depth), dtype="bool")
    return ops.where(ops.moveaxis(rows, -1, axis), on, off)


ROWS: dict[str, Row] = {
    "Compress-1": Operator(compressed, condition=lambda value: value).dynamic(),
    "Gather-1": Operator(gathered),
    "GatherElements-1": Operator(gathered_elements),
    "GatherND-1": Operator(gathered_slices),
    "NonZero-1": Operator(nonzero).dynamic(),
    "NonZero (all)-1": Operator(all_indices, shape=integers),
    "OneHot-1": Operator(one_hot, depth=number),
    "Scatter-1": Operator(scattered_elements),
    "ScatterElements-1": Operator(scattered_elements),
    "ScatterND-1": Operator(scattered_slices),
    "ScatterND (masked)-1": Operator(filled),
    "TensorScatter-1": Operator(tensor_scattered, write_indices=integers),
    "Unique-1": Operator(unique, x=lambda value: value).dynamic(),
}
