"""The elementwise table: functions of three tensors, with broadcasting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from webtensor.ops.elementwise import ternary

if TYPE_CHECKING:
    from webtensor.engine import Tensor, TensorLike

__all__ = ["where"]


@overload
def where(condition: TensorLike) -> tuple[Tensor, ...]: ...


@overload
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor: ...


@ternary(
    numpy=lambda np, x, y, z: np.where(x, y, z),
    glsl="x ? y : z",
    c="vsel(x, y, z)",
    grads=(
        None,
        lambda dy, out, condition, x, y: dy.where(condition, 0.0),
        lambda dy, out, condition, x, y: dy.where(condition.logical_not(), 0.0),
    ),
)
def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None) -> Any:
    """``x`` where the condition holds, else ``y``; the three broadcast together.

    Without ``x`` and ``y``, the indices of the elements where it holds, as from ``nonzero``.

    The result is float32, int32, complex64, bool or string, whichever can represent both.

    Raises:
        TypeError: only one of ``x`` and ``y`` is string.
        ValueError: the shapes do not broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.where([True, False], [1, 2], 0).tolist()
        [1, 0]
    """
