"""Conversion between dtypes."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import DType, as_dtype
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, run

__all__ = ["astype", "cast_to"]


def cast_to(x: Tensor, dtype: DType) -> Tensor:
    """Return ``x`` itself where it has the dtype, else its converted copy."""
    if x.dtype is dtype:
        return x
    return run(_CAST, (x,), x.shape, dtype)


def astype(x: TensorLike, dtype: Any) -> Tensor:
    """Convert a tensor to another dtype.

    Float to int32 truncates toward zero; anything to bool tells whether it differs from zero.

    Example:
        >>> import webtensor as wt
        >>> wt.astype([1.7, -1.7, 0.0], wt.int32).tolist()
        [1, -1, 0]
    """
    return cast_to(as_operand("astype", x), as_dtype(dtype))


_CAST = Primitive("cast")
