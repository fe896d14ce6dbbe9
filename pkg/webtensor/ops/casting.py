"""Conversion between dtypes."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import DType, as_dtype, bool_, complex64, float32, string_
from webtensor.engine import Primitive, Tensor, TensorLike, alias, as_operand, planned, run
from webtensor.ops.complex_pairs import as_pairs, from_pairs

__all__ = ["as_float", "astype", "cast_to"]


def cast_to(x: Tensor, dtype: DType) -> Tensor:
    """Return ``x`` itself where it has the dtype, else its converted copy."""
    if x.dtype is dtype:
        return x
    if string_ in (x.dtype, dtype):
        raise TypeError(f"astype: {x.dtype} cannot be converted to {dtype}")
    if dtype is complex64:
        real = cast_to(x, float32).expand_dims(-1)
        return from_pairs(real.pad([(0, 0)] * len(x.shape) + [(0, 1)]))
    if x.dtype is complex64:
        pairs = as_pairs(x)
        if dtype is bool_:
            return (pairs != 0).any(-1)  # type: ignore[no-any-return]
        return cast_to(pairs[..., 0], dtype)
    return run(_CAST if dtype.rank < x.dtype.rank else _WIDEN, (x,), x.shape, dtype)


def as_float(name: str, argument: str, value: TensorLike) -> Tensor:
    """Return an operand as float32.

    Raises:
        TypeError: it is complex, whose imaginary part would be lost, or holds strings.
    """
    operand = as_operand(name, value)
    if operand.dtype in (complex64, string_):
        raise TypeError(f"{name}: {argument} must hold real numbers, but it is {operand.dtype}")
    return cast_to(operand, float32)


@planned
def astype(x: TensorLike, dtype: Any, copy: bool = True, device: str | None = None) -> Tensor:
    """Convert a tensor to another dtype.

    Float to int32 truncates toward zero; complex to float or int32 takes the real part; anything to
    bool tells whether it differs from zero. Without ``copy``, a tensor of the dtype is returned
    itself. ``device`` names the backend that the result goes to at once.

    Raises:
        TypeError: ``dtype`` is not a dtype, or the elements do not convert to it.

    Example:
        >>> import webtensor as wt
        >>> wt.astype([1.7, -1.7, 0.0], wt.int32).tolist()
        [1, -1, 0]
    """
    x = as_operand("astype", x)
    target_dtype = as_dtype(dtype)
    converted = cast_to(x, target_dtype)
    if converted is x and copy:
        converted = alias(_SAME, x, x.shape)
    return converted if device is None else converted.to_device(device)


_CAST = Primitive("cast")
#: To a dtype that holds all numbers of the first one, so that gradients pass.
_WIDEN = Primitive("cast", gradients=(lambda dy, y, x: dy,))
_SAME = Primitive("astype", gradients=(lambda dy, y, x: dy,))
