"""Dtypes of Keras, and how their elements are held here."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import DType, as_dtype, float32

__all__ = ["held_dtype"]

#: Dtypes that there are none of, whose elements are held in others: as JAX does with those of 64
#: bits, and without their limits for short integers.
_HELD = {
    "float64": "float32",
    "int16": "int32",
    "int64": "int32",
    "int8": "int32",
    "uint16": "int32",
    "uint8": "int32",
}


def held_dtype(dtype: Any, default: DType = float32) -> DType:
    """Return the dtype that elements of a dtype of Keras are held in; None is the default.

    Example:
        >>> from webtensor.keras.dtypes import held_dtype
        >>> held_dtype("int64")
        'int32'
    """
    if dtype is None:
        return default
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    return as_dtype(_HELD.get(str(name), dtype))
