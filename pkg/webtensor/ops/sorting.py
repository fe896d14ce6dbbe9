"""Sorting along an axis, and searching sorted rows.

Kernels sort indices, and values are gathered by them, so that gradients are scattered back. Equal
elements keep their order, and NaN is last in either direction.
"""

from __future__ import annotations

from typing import NamedTuple

from webtensor.arguments import as_integer, check_choice
from webtensor.dtypes import bool_, complex64, float32, int32, promote
from webtensor.engine import (
    Primitive,
    Tensor,
    TensorLike,
    as_operand,
    as_operands,
    near_its_operands,
    run,
)
from webtensor.ops.binary import equal, less, logical_and, logical_or, minimum
from webtensor.ops.casting import as_float, cast_to
from webtensor.ops.creation import full
from webtensor.ops.movement import expand_dims, flatten, gather, permute_dims, reshape
from webtensor.ops.reduction import sum as _sum
from webtensor.ops.sequences import arange
from webtensor.ops.unary import isfinite, logical_not
from webtensor.shapes import normalize_axis, prod

__all__ = [
    "argsort",
    "in_top_k",
    "in_top_k_async",
    "isin",
    "lower_bound",
    "searchsorted",
    "sort",
    "topk",
    "upper_bound",
]

_ARGSORT = Primitive("argsort")
_TOPK = Primitive("topk")
_SEARCH_SORTED = Primitive("search_sorted")


class TopK(NamedTuple):
    """The largest elements, and their indices along the last axis."""

    values: Tensor
    indices: Tensor


def _keys(name: str, x: Tensor) -> Tensor:
    """Return numbers that backends can compare.

    Raises:
        TypeError: complex elements.
    """
    if x.dtype is complex64:
        raise TypeError(f"{name}: complex64 is not ordered")
    return cast_to(x, int32) if x.dtype is bool_ else x


def _sorting_indices(name: str, x: Tensor, descending: bool) -> Tensor:
    """Return the indices, as int32, that sort the elements along the last axis."""
    keys = _keys(name, x)
    length = x.shape[-1]
    outer = prod(x.shape[:-1])
    return run(_ARGSORT, (keys,), x.shape, int32, bool(descending), outer, length)


def _pick(x: Tensor, indices: Tensor) -> Tensor:
    """Return elements of each row of ``x`` by indices within the row, all in range."""
    outer, length = prod(x.shape[:-1]), x.shape[-1]
    flat = indices
    if outer > 1:
        starts = arange(0, outer * length, length) if length else full(outer, 0)
        flat = reshape(indices, (outer, indices.shape[-1])) + expand_dims(starts, 1)
    return reshape(gather(flatten(x), flatten(flat)), indices.shape)


def _to_last(x: Tensor, axis: int) -> tuple[Tensor, list[int] | None]:
    """Move an axis to the end; return also the permutation that moves it back, if any."""
    rank = len(x.shape)
    if axis == rank - 1:
        return x, None
    order = [*(dimension for dimension in range(rank) if dimension != axis), axis]
    return permute_dims(x, order), sorted(range(rank), key=order.__getitem__)


def argsort(x: TensorLike, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Indices, as int32, that sort a tensor along an axis (array API standard).

    Equal elements keep their order, whether ``stable`` asks for it or not. NaN comes last.

    Raises:
        TypeError: complex elements, which have no order.

    Example:
        >>> import webtensor as wt
        >>> wt.argsort([3, 1, 2]).tolist(), wt.argsort([3, 1, 2], descending=True).tolist()
        ([1, 2, 0], [0, 2, 1])
    """
    x = as_operand("argsort", x)
    axis = normalize_axis("argsort", axis, len(x.shape))
    rows, back = _to_last(x, axis)
    indices = _sorting_indices("argsort", rows, descending)
    return indices if back is None else permute_dims(indices, back)


def sort(x: TensorLike, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements of a tensor in order along an axis (array API standard); NaN comes last.

    Raises:
        TypeError: complex elements, which have no order.

    Example:
        >>> import webtensor as wt
        >>> wt.sort([[3, 1, 2], [4, 6, 5]]).tolist()
        [[1, 2, 3], [4, 5, 6]]
    """
    x = as_operand("sort", x)
    axis = normalize_axis("sort", axis, len(x.shape))
    rows, back = _to_last(x, axis)
    values = _pick(rows, _sorting_indices("sort", rows, descending))
    return values if back is None else permute_dims(values, back)


@near_its_operands
def topk(x: TensorLike, k: int = 1, sorted: bool = True) -> TopK:
    """The ``k`` largest elements along the last axis, the largest first, and their indices.

    Of equal elements, the one with the lower index comes first. They are sorted whether ``sorted``
    asks for it or not. NaN is taken only where nothing else is left.

    Raises:
        ValueError: ``x`` is a scalar, or ``k`` is not between 0 and the size of the last axis.

    Example:
        >>> import webtensor as wt
        >>> values, indices = wt.topk([1.0, 5.0, 3.0], k=2)
        >>> values.tolist(), indices.tolist()
        ([5.0, 3.0], [1, 2])
    """
    x = as_operand("topk", x)
    if not x.shape:
        raise ValueError("topk: x must have at least one axis, but its shape is ()")
    k = as_integer("topk", "k", k)
    if not 0 <= k <= x.shape[-1]:
        raise ValueError(
            f"topk: k must be between 0 and the size of the last axis of {x.shape}, but got {k}"
        )
    keys = _keys("topk", x)
    shape = (*x.shape[:-1], k)
    indices = run(_TOPK, (keys,), shape, int32, prod(x.shape[:-1]), x.shape[-1], k)
    return TopK(_pick(x, indices), indices)


def searchsorted(
    x1: TensorLike, x2: TensorLike, side: str = "left", sorter: TensorLike | None = None
) -> Tensor:
    """Indices, as int32, at which values would be inserted into sorted ones to keep the order.

    ``x1`` holds the sorted values and ``x2``, of any shape, those to insert. Where ``x1`` has more
    than one axis, each row of its last axis is searched for the same row of ``x2``, whose other
    axes must be equal. ``side`` tells what becomes of values that are there: "left" gives the
    index of the first of them, "right" the one after the last. ``sorter`` are the indices that sort
    ``x1``, where it is not sorted itself.

    Raises:
        TypeError: complex values, which have no order.
        ValueError: another ``side``, ``x1`` is a scalar, or the shapes do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.searchsorted([1, 3, 5], [[0, 3], [4, 9]]).tolist()
        [[0, 1], [2, 3]]
    """
    check_choice("searchsorted", "side", side, ("left", "right"))
    operand = as_operand("searchsorted", x1)
    if sorter is not None:
        order = as_operand("searchsorted", sorter)
        if len(operand.shape) != 1 or order.shape != operand.shape:
            raise ValueError(
                "searchsorted: sorter needs x1 of rank 1 and of its own shape, but got "
                f"x1.shape={operand.shape}, sorter.shape={order.shape}"
            )
        operand = gather(operand, order)
    return _search("searchsorted", ("x1", "x2"), operand, x2, side)


def lower_bound(sorted_sequence: TensorLike, values: TensorLike) -> Tensor:
    """Indices of the first elements of a sorted sequence that are not less than the values.

    See ``searchsorted``.

    Raises:
        ValueError: the shapes differ in more than the last axis.

    Example:
        >>> import webtensor as wt
        >>> wt.lower_bound([1, 3, 3, 5], [3, 4]).tolist()
        [1, 3]
    """
    arguments = ("sorted_sequence", "values")
    return _search("lower_bound", arguments, sorted_sequence, values, "left")


def upper_bound(sorted_sequence: TensorLike, values: TensorLike) -> Tensor:
    """Indices of the first elements of a sorted sequence that are greater than the values.

    See ``searchsorted``.

    Raises:
        ValueError: the shapes differ in more than the last axis.

    Example:
        >>> import webtensor as wt
        >>> wt.upper_bound([1, 3, 3, 5], [3, 4]).tolist()
        [3, 3]
    """
    arguments = ("sorted_sequence", "values")
    return _search("upper_bound", arguments, sorted_sequence, values, "right")


def _search(
    name: str, arguments: tuple[str, str], rows: TensorLike, values: TensorLike, side: str
) -> Tensor:
    """Search sorted rows for values; ``arguments`` are the names of both for errors."""
    sorted_rows, targets = as_operands(name, rows, values)
    dtype = promote(promote(sorted_rows.dtype, targets.dtype), int32)
    if dtype is complex64:
        raise TypeError(f"{name}: complex64 is not ordered")
    if not sorted_rows.shape:
        raise ValueError(f"{name}: {arguments[0]} must have at least one axis, but its shape is ()")
    outer, length = prod(sorted_rows.shape[:-1]), sorted_rows.shape[-1]
    if len(sorted_rows.shape) > 1 and sorted_rows.shape[:-1] != targets.shape[:-1]:
        raise ValueError(
            f"{name}: {' and '.join(arguments)} must have equal shapes except for the last axis, "
            f"but got {sorted_rows.shape} and {targets.shape}"
        )
    if length == 0:
        return full(targets.shape, 0, int32)
    return run(
        _SEARCH_SORTED,
        (cast_to(sorted_rows, dtype), cast_to(targets, dtype)),
        targets.shape,
        int32,
        side == "right",
        outer,
        length,
        targets.size // outer if outer else 0,
    )


def isin(x1: TensorLike, x2: TensorLike, invert: bool = False) -> Tensor:
    """Whether each element of ``x1`` is among those of ``x2``, as bool (array API standard).

    NaN is among nothing. ``invert`` tells the opposite.

    The result has the shape of ``x1``.

    Raises:
        TypeError: an operand has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.isin([1, 2, 3], [3, 1, 7]).tolist()
        [True, False, True]
    """
    x, candidates = as_operands("isin", x1, x2)
    if complex64 in (x.dtype, candidates.dtype):
        pairs = equal(expand_dims(x, -1), flatten(candidates))
        is_member = pairs.any(-1)
    elif candidates.size == 0:
        is_member = full(x.shape, False)
    else:
        sorted_candidates = sort(flatten(candidates))
        indices = minimum(
            _search("isin", ("x2", "x1"), sorted_candidates, x, "left"),
            sorted_candidates.size - 1,
        )
        is_member = equal(gather(sorted_candidates, indices), x)
    return logical_not(is_member) if invert else is_member


def in_top_k(predictions: TensorLike, targets: TensorLike, k: int = 1) -> Tensor:
    """Whether each target class is among the ``k`` with the largest predictions, as bool.

    ``predictions`` is (…, classes) and ``targets`` has its shape without the last axis. Of
    equal predictions, the one with the lower index counts as greater. A target that is no class,
    or whose prediction is not finite, is not among them.

    Raises:
        TypeError: the targets are not real numbers, or ``k`` is no integer.
        ValueError: shapes that do not fit, or ``k`` is not between 1 and the number of classes.

    Example:
        >>> import webtensor as wt
        >>> wt.in_top_k([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], [2, 2], k=2).tolist()
        [True, False]
    """
    scores = as_float("in_top_k", "predictions", predictions)
    labels = as_operand("in_top_k", targets)
    if labels.dtype not in (int32, float32):
        raise TypeError(f"in_top_k: targets must be int32 or float32, but got {labels.dtype}")
    if len(scores.shape) < 2 or labels.shape != scores.shape[:-1]:
        raise ValueError(
            "in_top_k: predictions must be (…, classes) and targets have its shape without the "
            f"last axis, but got {scores.shape} and {labels.shape}"
        )
    classes = scores.shape[-1]
    k = as_integer("in_top_k", "k", k)
    if not 1 <= k <= classes:
        raise ValueError(
            f"in_top_k: k must be between 1 and the number of classes, {classes}, but got {k}"
        )
    labels = expand_dims(labels, -1)
    indices = arange(classes)
    is_target = equal(indices, labels)
    score = _sum(scores.where(is_target, 0.0), -1, keepdims=True)
    is_tied = logical_and(equal(scores, score), less(indices, labels))
    rank = _sum(logical_or(less(score, scores), is_tied), -1)
    is_class = logical_and(is_target.any(-1), isfinite(score).squeeze(-1))
    return logical_and(less(rank, k), is_class)


async def in_top_k_async(predictions: TensorLike, targets: TensorLike, k: int = 1) -> Tensor:
    """Do what ``in_top_k`` does, which waits for nothing; for code that awaits it.

    Raises:
        ValueError: the shapes do not fit, or ``k`` is out of range.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> asyncio.run(wt.in_top_k_async([[0.1, 0.9], [0.8, 0.2]], [1, 1])).tolist()
        [True, False]
    """
    return in_top_k(predictions, targets, k)
