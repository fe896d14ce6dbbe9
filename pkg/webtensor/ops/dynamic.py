"""Ops whose result's shape depends on values: nonzero, unique, setdiff1d.

Each reads its operand to the host once, which waits for the device; where TensorFlow.js has the op
as an asynchronous one, ``…_async`` reads without blocking the page. Values are then picked on the
device, so that gradients flow through them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from webtensor.dtypes import bool_, int32
from webtensor.engine import Tensor, TensorLike, as_operand, from_host
from webtensor.engine.convert import python_numbers
from webtensor.ops.casting import cast_to
from webtensor.ops.indexing import check_mask, masked
from webtensor.ops.movement import flatten, gather, permute_dims, reshape
from webtensor.shapes import Shape, normalize_axis

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

# -- places ---------------------------------------------------------------------------------------


def _coordinates(shape: Shape, values: Iterable[bool]) -> list[list[int]]:
    """Indices along each axis of the elements that are true, in row-major order."""
    places = [place for place, yes in enumerate(values) if yes]
    columns = []
    for length in reversed(shape):
        columns.append([place % length for place in places])
        places = [place // length for place in places]
    return columns[::-1]


def _stacked(name: str, shape: Shape, values: Sequence[bool]) -> Tensor:
    columns = _coordinates(shape, values)
    count = len(columns[0]) if columns else sum(map(bool, values))
    flat = [index for row in zip(*columns, strict=True) for index in row]
    return reshape(from_host(name, flat, int32), (count, len(shape)))


def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """Indices of the elements that are not zero, as one int32 tensor for each axis.

    They come in row-major order (array API standard). The values are read to the host.

    Raises:
        ValueError: ``x`` is a scalar.

    Example:
        >>> import webtensor as wt
        >>> [axis.tolist() for axis in wt.nonzero([[0, 1], [2, 0]])]
        [[0, 1], [1, 0]]
    """
    held = as_operand("nonzero", x)
    if not held.shape:
        raise ValueError("nonzero: x must have at least one axis, but its shape is ()")
    truth = cast_to(held, bool_)
    columns = _coordinates(held.shape, truth.data_sync())
    return tuple(from_host("nonzero", column, int32) for column in columns)


def argwhere(condition: TensorLike) -> Tensor:
    """Indices of the elements that are true, as int32 of shape (count, rank).

    They come in row-major order. The values are read to the host.

    Example:
        >>> import webtensor as wt
        >>> wt.argwhere([[False, True], [True, False]]).tolist()
        [[0, 1], [1, 0]]
    """
    truth = cast_to(as_operand("argwhere", condition), bool_)
    return _stacked("argwhere", truth.shape, truth.data_sync())


async def where_async(condition: TensorLike) -> Tensor:
    """Do what ``argwhere`` does, without blocking the page while the values are read."""
    truth = cast_to(as_operand("where_async", condition), bool_)
    return _stacked("where_async", truth.shape, await truth.data())


async def boolean_mask_async(x: TensorLike, mask: TensorLike, axis: int = 0) -> Tensor:
    """Do what ``boolean_mask`` does, without blocking the page while the mask is read."""
    held, chosen, first = check_mask("boolean_mask_async", x, mask, axis)
    return masked(held, chosen, await chosen.data(), first)


# -- distinct values ------------------------------------------------------------------------------


class Unique(NamedTuple):
    """Distinct slices in the order of their first appearance, and for each slice which it is."""

    values: Tensor
    indices: Tensor


class UniqueAll(NamedTuple):
    """Distinct elements, where each is first, which of them each element is, and how often."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Distinct elements, and how often each occurs."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Distinct elements, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


class _Distinct(NamedTuple):
    first: list[int]
    inverse: list[int]
    counts: list[int]


def _distinct(elements: Sequence[Any]) -> _Distinct:
    """Find distinct elements in the order of their first appearance; NaN equals nothing."""
    numbers: dict[Any, int] = {}
    first: list[int] = []
    inverse: list[int] = []
    counts: list[int] = []
    for place, element in enumerate(elements):
        number = numbers.setdefault(element, len(first))
        if number == len(first):
            first.append(place)
            counts.append(0)
        counts[number] += 1
        inverse.append(number)
    return _Distinct(first, inverse, counts)


def _ordered(elements: Sequence[Any], found: _Distinct) -> _Distinct:
    """Put distinct elements in order, NaN last and complex ones by their real part first."""

    def key(number: int) -> Any:
        element = elements[found.first[number]]
        if isinstance(element, complex):
            return element != element, element.real, element.imag
        return element != element, element

    order = sorted(range(len(found.first)), key=key)
    places = sorted(range(len(order)), key=order.__getitem__)
    return _Distinct(
        [found.first[number] for number in order],
        [places[number] for number in found.inverse],
        [found.counts[number] for number in order],
    )


def unique(x: TensorLike, axis: int = 0) -> Unique:
    """Distinct slices along an axis, in the order of their first appearance.

    ``indices``, int32, tells for each place along the axis which of the values is there, so that
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
    held = as_operand("unique", x)
    axis = normalize_axis("unique", axis, len(held.shape))
    length = held.shape[axis]
    order = [axis, *(one for one in range(len(held.shape)) if one != axis)]
    slices = permute_dims(held, order)
    elements = python_numbers(slices.data_sync(), held.dtype)
    if len(held.shape) > 1:
        size = held.size // length if length else 0
        elements = [tuple(elements[begin * size : (begin + 1) * size]) for begin in range(length)]
    found = _distinct(elements)
    first = from_host("unique", found.first, int32)
    return Unique(gather(held, first, axis), from_host("unique", found.inverse, int32))


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
    held = as_operand(name, x)
    elements = python_numbers(held.data_sync(), held.dtype)
    found = _ordered(elements, _distinct(elements))
    first, inverse, counts = (from_host(name, numbers, int32) for numbers in found)
    return UniqueAll(gather(flatten(held), first), first, reshape(inverse, held.shape), counts)


def unique_counts(x: TensorLike) -> UniqueCounts:
    """Distinct elements in order, and how often each occurs. See ``unique_all``.

    Example:
        >>> import webtensor as wt
        >>> [part.tolist() for part in wt.unique_counts([3, 1, 3])]
        [[1, 3], [1, 2]]
    """
    found = _unique_all("unique_counts", x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: TensorLike) -> UniqueInverse:
    """Distinct elements in order, and which of them each element is. See ``unique_all``.

    Example:
        >>> import webtensor as wt
        >>> [part.tolist() for part in wt.unique_inverse([3, 1, 3])]
        [[1, 3], [1, 0, 1]]
    """
    found = _unique_all("unique_inverse", x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: TensorLike) -> Tensor:
    """Distinct elements in order. See ``unique_all``.

    Example:
        >>> import webtensor as wt
        >>> wt.unique_values([3, 1, 3]).tolist()
        [1, 3]
    """
    return _unique_all("unique_values", x).values


class SetDifference(NamedTuple):
    """Elements of one tensor that are not in another, and where they were."""

    values: Tensor
    indices: Tensor


def _lists(name: str, x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    first, second = as_operand(name, x), as_operand(name, y)
    for argument, held in (("x", first), ("y", second)):
        if len(held.shape) != 1:
            raise ValueError(f"{name}: {argument} must have rank 1, but its shape is {held.shape}")
    if first.dtype is not second.dtype and first.size and second.size:
        raise TypeError(
            f"{name}: x and y must have one dtype, but got {first.dtype} and {second.dtype}"
        )
    return first, second


def _difference(name: str, x: Tensor, flat: Any, other: Any) -> SetDifference:
    known = set(python_numbers(other, x.dtype))
    elements = python_numbers(flat, x.dtype)
    places = [place for place, element in enumerate(elements) if element not in known]
    indices = from_host(name, places, int32)
    return SetDifference(gather(x, indices), indices)


def setdiff1d(x: TensorLike, y: TensorLike) -> SetDifference:
    """Elements of ``x`` that are not in ``y``, in their order, and their int32 indices in ``x``.

    Both have rank 1. Elements that occur several times stay as often. The values are read to the
    host.

    Raises:
        TypeError: the dtypes differ.
        ValueError: another rank.

    Example:
        >>> import webtensor as wt
        >>> values, indices = wt.setdiff1d([1, 2, 3, 4, 3], [1, 4])
        >>> values.tolist(), indices.tolist()
        ([2, 3, 3], [1, 2, 4])
    """
    first, second = _lists("setdiff1d", x, y)
    return _difference("setdiff1d", first, first.data_sync(), second.data_sync())


async def setdiff1d_async(x: TensorLike, y: TensorLike) -> SetDifference:
    """Do what ``setdiff1d`` does, without blocking the page while the values are read."""
    name = "setdiff1d_async"
    first, second = _lists(name, x, y)
    return _difference(name, first, await first.data(), await second.data())
