"""Broadcasting and its reverse, summing a gradient back to the shape it was broadcast from."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.dtypes import complex64
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, planned
from webtensor.ops.complex_pairs import as_pairs, from_pairs
from webtensor.ops.movement import clone, reshape, strided_view
from webtensor.ops.reduction import sum as _sum
from webtensor.shapes import Shape, as_shape, broadcast_shapes
from webtensor.views import broadcast_strides

__all__ = ["broadcast_to", "sum_to"]

_BROADCAST = Primitive(
    "broadcast_to",
    kernel="strided",
    gradients=(lambda dy, y, x, strides, offset: sum_to(dy, x.shape),),
)


@planned
def broadcast_to(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """Repeat a tensor along axes of size 1, and along new leading axes, to a given shape.

    Raises:
        ValueError: the tensor's shape cannot be broadcast to it.

    Example:
        >>> import webtensor as wt
        >>> wt.broadcast_to([1, 2], (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    x = as_operand("broadcast_to", x)
    target = as_shape("broadcast_to", shape)
    if target == x.shape:
        return clone(x)
    if broadcast_shapes("broadcast_to", x.shape, target) != target:
        raise ValueError(f"broadcast_to: shape {x.shape} cannot be broadcast to {target}")
    if x.dtype is complex64:
        aligned = reshape(x, (1,) * (len(target) - len(x.shape)) + x.shape)
        return from_pairs(broadcast_to(as_pairs(aligned), (*target, 2)))
    return strided_view(_BROADCAST, x, target, broadcast_strides(x.shape, target), 0)


def sum_to(x: Tensor, shape: Shape) -> Tensor:
    """Sum ``x`` down to ``shape``, from which its shape was broadcast."""
    if x.shape == shape:
        return x
    offset = len(x.shape) - len(shape)
    axes = tuple(
        axis
        for axis, size in enumerate(x.shape)
        if axis < offset or (shape[axis - offset] == 1 and size != 1)
    )
    return reshape(_sum(x, axes), shape)
