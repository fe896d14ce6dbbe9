"""Operators that reduce axes, or compute along one: sums, extremes, softmax, sorting."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.elementwise import is_float
from webtensor.onnx.operations.operators import Operator, integers, number

__all__ = ["ROWS"]

_Reduction = Callable[..., Tensor]


def _l1(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    return ops.sum(ops.abs(x), axis, keepdims)


def _l2(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    root = ops.sqrt(ops.astype(_sum_square(x, axis, keepdims), "float32"))
    return ops.astype(root, str(x.dtype))


def _log_sum(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    return ops.astype(ops.log(ops.sum(x, axis, keepdims)), x.dtype, copy=False)


def _sum_square(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    return ops.sum(ops.square(x), axis, keepdims)


def _max(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    if not x.size and str(x.dtype) != "bool":
        return _filled(x, axis, keepdims, -inf if is_float(x) else -(2**31))
    reduce = ops.any if str(x.dtype) == "bool" else ops.max
    return reduce(x, axis, keepdims)


def _min(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    if not x.size and str(x.dtype) != "bool":
        return _filled(x, axis, keepdims, inf if is_float(x) else 2**31 - 1)
    reduce = ops.all if str(x.dtype) == "bool" else ops.min
    return reduce(x, axis, keepdims)


def _filled(x: Tensor, axis: Any, keepdims: bool, value: float) -> Tensor:
    """Return a value for each reduction of no elements."""
    return ops.full(ops.sum(x, axis, keepdims).shape, value, dtype=str(x.dtype))


def _mean(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    return ops.astype(ops.mean(x, axis, keepdims), str(x.dtype))


def _log_sum_exp(x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    result = ops.log_sum_exp(ops.astype(x, "float32"), axis, keepdims)
    return ops.astype(result, x.dtype, copy=False)


_REDUCTIONS: dict[str, _Reduction] = {
    "ReduceL1": _l1,
    "ReduceL2": _l2,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": _max,
    "ReduceMean": _mean,
    "ReduceMin": _min,
    "ReduceProd": ops.prod,
    "ReduceSum": ops.sum,
    "ReduceSumSquare": _sum_square,
}


def reduction(reduce: _Reduction) -> _Reduction:
    """Return an operator that reduces axes, all of them where none are named."""

    def reduced(
        x: Tensor,
        axes: list[int] | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Tensor:
        if axes:
            return reduce(x, tuple(axes), bool(keepdims))
        return reduce(x, () if noop_with_empty_axes else None, bool(keepdims))

    return reduced


def extreme_index(find: _Reduction) -> Callable[..., Tensor]:
    """Return an operator that finds the index of an extreme element along an axis."""

    def indexed(
        x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Tensor:
        if not select_last_index:
            return find(x, axis, bool(keepdims))
        last = x.shape[axis] - 1
        return last - find(ops.flip(x, axis), axis, bool(keepdims))

    return indexed


def along(function: _Reduction) -> Callable[..., Tensor]:
    """Return an operator of an axis."""

    def computed(x: Tensor, *, axis: int = -1) -> Tensor:
        return function(x, axis)

    return computed


def along_trailing_axes(function: _Reduction) -> Callable[..., Tensor]:
    """Return an operator of an axis and all after it, as it was before version 13."""

    def computed(x: Tensor, *, axis: int = 1) -> Tensor:
        first = axis % (len(x.shape) or 1) if axis < len(x.shape) else axis
        rows = ops.reshape(x, (prod(x.shape[:first]), prod(x.shape[first:])))
        return ops.reshape(function(rows, -1), x.shape)

    return computed


def hardmax(x: Tensor, axis: int) -> Tensor:
    """Return 1 where the first maximum along an axis is, else 0."""
    rows = ops.one_hot(ops.argmax(x, axis), x.shape[axis], dtype="float32")
    return ops.moveaxis(rows, -1, axis)


def cumulative(function: _Reduction) -> Callable[..., Tensor]:
    """Return an operator of all elements before each."""

    def computed(x: Tensor, axis: int, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
        return function(x, axis % len(x.shape), bool(exclusive), bool(reverse))

    return computed


def top_elements(x: Tensor, k: int, *, axis: int = -1, largest: int = 1) -> tuple[Tensor, Tensor]:
    """Return the k largest or smallest elements along an axis, and their indices."""
    indices = ops.argsort(x, axis, descending=bool(largest), stable=True)
    begin = [0] * len(x.shape)
    size = list(x.shape)
    if not 0 <= k <= size[axis]:
        raise ValueError(f"k must be between 0 and {size[axis]}, but is {k}")
    size[axis] = k
    indices = ops.slice(indices, begin, size)
    return ops.take_along_axis(x, indices, axis), indices


def einsum(*operands: Tensor, equation: str) -> Tensor:
    """Sum products as an equation says."""
    return ops.einsum(equation.replace(" ", ""), *operands)


_BY_AXIS: dict[str, _Reduction] = {
    "Hardmax": hardmax,
    "LogSoftmax": ops.log_softmax,
    "Softmax": ops.softmax,
}

ROWS: dict[str, Row] = {
    **{f"{op}-1": Operator(reduction(reduce), axes=integers) for op, reduce in _REDUCTIONS.items()},
    **{f"{op}-1": Operator(along_trailing_axes(function)) for op, function in _BY_AXIS.items()},
    **{f"{op}-13": Operator(along(function)) for op, function in _BY_AXIS.items()},
    "ArgMax-1": Operator(extreme_index(ops.argmax)),
    "ArgMin-1": Operator(extreme_index(ops.argmin)),
    "CumProd-1": Operator(cumulative(ops.cumprod), axis=number),
    "CumSum-1": Operator(cumulative(ops.cumsum), axis=number),
    "Einsum-1": Operator(einsum),
    "TopK-1": Operator(top_elements, k=number).ignoring("sorted"),
}
