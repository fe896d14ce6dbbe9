"""How large the result of an operation on constants can be, before it is computed.

A few bytes of a file may ask for any number of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, prod

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.elementwise import ROWS as ELEMENTWISE

__all__ = ["result_bound"]

#: Operations that move, drop or sum up elements.
_NEVER_LARGER = frozenset(
    {
        "All", "Any", "ArgMax", "ArgMin", "Concat", "ConcatV2", "Cumprod", "Cumsum", "ExpandDims",
        "Max", "Mean", "Min", "OnesLike", "Pack", "Prod", "Rank", "Reshape", "Reverse",
        "ReverseV2", "Shape", "ShapeN", "Size", "Slice", "Split", "SplitV", "Squeeze",
        "StridedSlice", "Sum", "TensorScatterUpdate", "Transpose", "Unpack", "ZerosLike",
    }
)  # fmt: skip
#: Operations whose result has as many elements as some of their int32 operands say.
_SIZED_BY_ELEMENTS = frozenset(
    {
        "BroadcastTo", "Fill", "MirrorPad", "OneHot", "Ones", "Pad", "PadV2", "ScatterNd", "Tile",
        "Zeros",
    }
)  # fmt: skip
#: Shapes and the like have no more elements than this.
_MAX_SIZES = 64


def result_bound(op: str, operands: Sequence[Tensor]) -> float:
    """Return a number of elements that the results of an operation do not exceed.

    It is infinite where nothing is known.

    Example:
        >>> result_bound("Mul", [ops.zeros((3, 1)), ops.zeros((4,))])
        12
        >>> result_bound("Fill", [ops.tensor([1000, 1000]), ops.tensor(0.0)])
        1002001
    """
    sizes = [operand.size for operand in operands]
    if op in ELEMENTWISE:
        return _broadcast_size(operands)
    if op in _NEVER_LARGER:
        return sum(sizes) + len(operands) * _MAX_SIZES
    if op == "GatherNd" and len(operands) == 2:
        return operands[0].size * prod(operands[1].shape[:-1])
    if op == "Range" and sizes == [1, 1, 1]:
        start, limit, step = (float(ops.reshape(operand, ()).item()) for operand in operands)
        count = abs((limit - start) / step) + 1 if step else inf
        return count if isfinite(count) else inf
    if op in _SIZED_BY_ELEMENTS:
        return prod(_largest(operand) for operand in operands)
    if op == "MatMul":
        return prod(sizes)
    return inf


def _broadcast_size(operands: Sequence[Tensor]) -> int:
    rank = max(len(operand.shape) for operand in operands)
    shapes = [(1,) * (rank - len(operand.shape)) + operand.shape for operand in operands]
    return prod(max(sizes) for sizes in zip(*shapes, strict=True))


def _largest(operand: Tensor) -> int:
    """Return the product of the sizes that an operand may stand for, or the number of elements."""
    if str(operand.dtype) != "int32" or operand.size > _MAX_SIZES:
        return operand.size
    numbers = [abs(int(value)) + 1 for value in ops.reshape(operand, (-1,)).tolist()]
    return max(operand.size, prod(numbers))
