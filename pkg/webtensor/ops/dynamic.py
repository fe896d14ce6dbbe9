"""Ops whose result's shape depends on values: nonzero, unique, setdiff1d.

Each reads something to the host once, which waits for the device: only a count if the device can do
the rest. Where TensorFlow.js has an asynchronous op, ``…_async`` reads without blocking the page.
Values are picked on the device, so that gradients flow through them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any, NamedTuple

from webtensor.dtypes import bool_, complex64, int32, string_
from webtensor.engine import (
    Tensor,
    TensorLike,
    as_operand,
    backend,
    from_host,
    near_its_operands,
)
from webtensor.engine.convert import python_numbers
from webtensor.ops.binary import not_equal
from webtensor.ops.casting import cast_to
from webtensor.ops.compaction import count_true, count_true_async, true_indices
from webtensor.ops.coordinates import to_coordinates
from webtensor.ops.creation import full, zeros
from webtensor.ops.indexing import check_mask, masked
from webtensor.ops.movement import concat, flatten, gather, permute_dims, reshape
from webtensor.ops.rearrangement import unstack
from webtensor.ops.scan import cumsum
from webtensor.ops.scatter import put
from webtensor.ops.sorting import argsort, isin
from webtensor.shapes import normalize_axis

__all__ = [
    "argwhere",
    "boolean_mask_async",
    "nonzero",
    "setdiff1d",
    "setdiff1d_async",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "where_async",
]

# -- indices of true elements ----------------------------------------------------------------------


def _stacked(truth: Tensor, count: int) -> Tensor:
    """Return the coordinates of the true elements, in row-major order: one row for each."""
    if not truth.shape:
        return zeros((count, 0), int32)
    return to_coordinates(true_indices(truth, count), truth.shape)


@near_its_operands
def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """Indices of the elements that are not zero, as one int32 tensor for each axis.

    They come in row-major order (array API standard). How many there are is read to the host.

    Raises:
        ValueError: ``x`` is a scalar.

    Example:
        >>> import webtensor as wt
        >>> [axis.tolist() for axis in wt.nonzero([[0, 1], [2, 0]])]
        [[0, 1], [1, 0]]
    """
    operand = as_operand("nonzero", x)
    if not operand.shape:
        raise ValueError("nonzero: x must have at least one axis, but its shape is ()")
    truth = cast_to(operand, bool_)
    return tuple(unstack(_stacked(truth, count_true(truth)), 1))


@near_its_operands
def argwhere(condition: TensorLike) -> Tensor:
    """Indices of the elements that are true, as int32 of shape (count, rank).

    They come in row-major order. How many there are is read to the host.

    Raises:
        TypeError: ``condition`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.argwhere([[False, True], [True, False]]).tolist()
        [[0, 1], [1, 0]]
    """
    truth = cast_to(as_operand("argwhere", condition), bool_)
    return _stacked(truth, count_true(truth))


@near_its_operands
async def where_async(condition: TensorLike) -> Tensor:
    """Do what ``argwhere`` does, without blocking the page while their number is read.

    Raises:
        TypeError: ``condition`` has dtype string.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.where_async([True, False, True])).tolist()
        [[0], [2]]
    """
    truth = cast_to(as_operand("where_async", condition), bool_)
    return _stacked(truth, await count_true_async(truth))


@near_its_operands
async def boolean_mask_async(x: TensorLike, mask: TensorLike, axis: int = 0) -> Tensor:
    """Do what ``boolean_mask`` does, without blocking the page while the mask is read.

    Raises:
        TypeError: the mask is not bool.
        ValueError: the mask does not fit the axes.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.boolean_mask_async([1, 2, 3], [True, False, True])).tolist()
        [1, 3]
    """
    operand, chosen, first = check_mask("boolean_mask_async", x, mask, axis)
    return masked(operand, chosen, await count_true_async(chosen), first)


# -- distinct values ------------------------------------------------------------------------------


class Unique(NamedTuple):
    """Distinct slices in the order of their first appearance, and each slice's index among them."""

    values: Tensor
    indices: Tensor


class UniqueAll(NamedTuple):
    """Distinct elements, their first indices, each element's index among them, and their counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Distinct elements, and their counts."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Distinct elements, and each element's index among them."""

    values: Tensor
    inverse_indices: Tensor


class _Groups(NamedTuple):
    """Groups of equal elements: each group's first index and count, and each element's group."""

    first: Tensor
    inverse: Tensor
    counts: Tensor


def _groups(name: str, x: Tensor, slices: list[Any] | None = None) -> _Groups:
    """Group the equal elements of a tensor of rank 1, or its equal slices.

    Groups are sorted if the backend sorts, NaN last, else in the order of their first appearance.
    NaN equals nothing. A GPU sorts more slowly than the host hashes, so there, and for values
    without an order, the values are read; otherwise only the number of groups is.
    """
    if slices is None and _sorts(x):
        return _sorted_groups(x)
    elements = python_numbers(x.data_sync(), x.dtype) if slices is None else slices
    numbers = {element: number for number, element in enumerate(dict.fromkeys(elements))}
    indices = range(len(elements) - 1, -1, -1)
    first = dict(zip(reversed(elements), indices, strict=True))
    counts = Counter(elements)
    return _Groups(
        _indices(name, map(first.__getitem__, numbers)),
        _indices(name, map(numbers.__getitem__, elements)),
        _indices(name, map(counts.__getitem__, numbers)),
    )


def _sorts(x: Tensor) -> bool:
    return x.dtype not in (complex64, string_) and x.size > 0 and backend().computes_on_host


def _indices(name: str, numbers: Any) -> Tensor:
    return from_host(name, array("i", numbers), int32)


def _sorted_groups(x: Tensor) -> _Groups:
    """Sort, number the runs of equal elements, and put the numbers back."""
    order = argsort(x)
    ordered = gather(x, order)
    fresh = concat([full(1, True), not_equal(ordered[1:], ordered[:-1])])
    runs = cumsum(fresh) - 1
    starts = true_indices(fresh, count_true(fresh))
    return _Groups(
        gather(order, starts),
        put(runs, order, runs),
        concat([starts[1:], full(1, x.size)]) - starts,
    )


def _in_order(x: Tensor, groups: _Groups) -> _Groups:
    """Sort the groups, NaN last and complex elements by their real part first."""
    elements = python_numbers(gather(x, groups.first).data_sync(), x.dtype)

    def key(number: int) -> Any:
        element = elements[number]
        if isinstance(element, complex):
            return element != element, element.real, element.imag
        return element != element, element

    order = sorted(range(len(elements)), key=key)
    inverse_order = sorted(range(len(order)), key=order.__getitem__)
    return _renumbered(groups, _indices("unique", order), _indices("unique", inverse_order))


def _by_first_appearance(groups: _Groups) -> _Groups:
    order = argsort(groups.first)
    return _renumbered(groups, order, argsort(order))


def _renumbered(groups: _Groups, order: Tensor, inverse_order: Tensor) -> _Groups:
    """Reorder groups by ``order``, and renumber the elements' groups by its inverse."""
    return _Groups(
        gather(groups.first, order),
        gather(inverse_order, groups.inverse),
        gather(groups.counts, order),
    )


@near_its_operands
def unique(x: TensorLike, axis: int = 0) -> Unique:
    """Distinct slices along an axis, in the order of their first appearance.

    ``indices``, int32, tells for each index along the axis which of the values is there, so that
    ``gather(values, indices, axis)`` gives ``x`` back. NaN equals nothing. The values are read to
    the host.

    Raises:
        ValueError: the axis is out of range.

    Example:
        >>> import webtensor as wt
        >>> values, indices = wt.unique([3, 1, 3, 2])
        >>> values.tolist(), indices.tolist()
        ([3, 1, 2], [0, 1, 0, 2])
    """
    operand = as_operand("unique", x)
    axis = normalize_axis("unique", axis, len(operand.shape))
    if len(operand.shape) == 1:
        groups = _by_first_appearance(_groups("unique", operand))
    else:
        groups = _groups("unique", operand, _slices(operand, axis))
    return Unique(gather(operand, groups.first, axis), groups.inverse)


def _slices(x: Tensor, axis: int) -> list[Any]:
    """The slices of a tensor along an axis as tuples of numbers."""
    order = [axis, *(other_axis for other_axis in range(len(x.shape)) if other_axis != axis)]
    elements = python_numbers(permute_dims(x, order).data_sync(), x.dtype)
    length = x.shape[axis]
    size = x.size // length if length else 0
    return [tuple(elements[begin * size : (begin + 1) * size]) for begin in range(length)]


@near_its_operands
def unique_all(x: TensorLike) -> UniqueAll:
    """Distinct elements in order, where each is first, the inverse, and counts.

    Returns (values, indices, inverse_indices, counts); ``inverse_indices`` has the shape of ``x``,
    the others are of rank 1 (array API standard). NaN equals nothing and comes last. The values
    are read to the host.

    Example:
        >>> import webtensor as wt
        >>> [part.tolist() for part in wt.unique_all([3, 1, 3])]
        [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    """
    return _unique_all("unique_all", x)


def _unique_all(name: str, x: TensorLike) -> UniqueAll:
    operand = as_operand(name, x)
    flat = flatten(operand)
    groups = _groups(name, flat)
    groups = groups if _sorts(flat) else _in_order(flat, groups)
    inverse = reshape(groups.inverse, operand.shape)
    return UniqueAll(gather(flat, groups.first), groups.first, inverse, groups.counts)


@near_its_operands
def unique_counts(x: TensorLike) -> UniqueCounts:
    """Distinct elements in order, and how often each occurs. See ``unique_all``.

    The elements and the int32 counts have rank 1.

    Example:
        >>> import webtensor as wt
        >>> [part.tolist() for part in wt.unique_counts([3, 1, 3])]
        [[1, 3], [1, 2]]
    """
    elements = _unique_all("unique_counts", x)
    return UniqueCounts(elements.values, elements.counts)


@near_its_operands
def unique_inverse(x: TensorLike) -> UniqueInverse:
    """Distinct elements in order, and which of them each element is. See ``unique_all``.

    The elements have rank 1; the int32 indices have the shape of ``x``.

    Example:
        >>> import webtensor as wt
        >>> [part.tolist() for part in wt.unique_inverse([3, 1, 3])]
        [[1, 3], [1, 0, 1]]
    """
    elements = _unique_all("unique_inverse", x)
    return UniqueInverse(elements.values, elements.inverse_indices)


@near_its_operands
def unique_values(x: TensorLike) -> Tensor:
    """Distinct elements in order. See ``unique_all``.

    The result has rank 1 and the dtype of ``x``.

    Example:
        >>> import webtensor as wt
        >>> wt.unique_values([3, 1, 3]).tolist()
        [1, 3]
    """
    return _unique_all("unique_values", x).values


class SetDifference(NamedTuple):
    """Elements of one tensor that are not in another, and their indices."""

    values: Tensor
    indices: Tensor


def _lists(name: str, x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    first, second = as_operand(name, x), as_operand(name, y)
    for argument, operand in (("x", first), ("y", second)):
        if len(operand.shape) != 1:
            raise ValueError(
                f"{name}: {argument} must have rank 1, but its shape is {operand.shape}"
            )
    if first.dtype is not second.dtype and first.size and second.size:
        raise TypeError(
            f"{name}: x and y must have one dtype, but got {first.dtype} and {second.dtype}"
        )
    return first, second


def _remaining(name: str, x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """The elements of ``x``, and which of them are not in ``y``."""
    first, second = _lists(name, x, y)
    if first.dtype is not string_:
        return first, isin(first, second, invert=True)
    excluded = set(second.data_sync())
    return first, from_host(name, [text not in excluded for text in first.data_sync()], bool_)


def _difference(x: Tensor, remaining: Tensor, count: int) -> SetDifference:
    indices = true_indices(remaining, count)
    return SetDifference(gather(x, indices), indices)


@near_its_operands
def setdiff1d(x: TensorLike, y: TensorLike) -> SetDifference:
    """Elements of ``x`` that are not in ``y``, in their order, and their int32 indices in ``x``.

    Both have rank 1. Elements that occur several times stay as often. How many there are is read to
    the host.

    Raises:
        TypeError: the dtypes differ.
        ValueError: another rank.

    Example:
        >>> import webtensor as wt
        >>> values, indices = wt.setdiff1d([1, 2, 3, 4, 3], [1, 4])
        >>> values.tolist(), indices.tolist()
        ([2, 3, 3], [1, 2, 4])
    """
    first, remaining = _remaining("setdiff1d", x, y)
    return _difference(first, remaining, count_true(remaining))


@near_its_operands
async def setdiff1d_async(x: TensorLike, y: TensorLike) -> SetDifference:
    """Do what ``setdiff1d`` does, without blocking the page while their number is read.

    Raises:
        ValueError: an operand does not have rank 1.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.setdiff1d_async([1, 2, 3], [2])).values.tolist()
        [1, 3]
    """
    first, remaining = _remaining("setdiff1d_async", x, y)
    return _difference(first, remaining, await count_true_async(remaining))
