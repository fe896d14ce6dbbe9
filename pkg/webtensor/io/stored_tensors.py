"""Tensors of the arrays in files, and arrays of tensors."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from struct import unpack
from typing import Literal, TypeAlias

from webtensor.dtypes import DType, as_dtype, float32, int32, string_
from webtensor.engine import Tensor, TensorLike
from webtensor.formats.element_types import ITEM_SIZES, Buffer, Elements
from webtensor.ops import tensor

__all__ = ["elements_of", "float16_numbers", "tensor_of"]

_Numbers: TypeAlias = "memoryview[float] | array[float] | Sequence[bool] | Sequence[complex]"

#: The format codes of memoryviews, for dtypes that have one.
_FORMATS: dict[str, Literal["b", "B", "h", "H", "i", "f", "q", "Q", "d"]] = {
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "i",
    "float32": "f",
    "int64": "q",
    "uint64": "Q",
    "float64": "d",
}


def elements_of(value: TensorLike) -> Elements:
    """Return the elements of a tensor, a variable, an array or a number."""
    source = value if isinstance(value, Tensor) else tensor(value)
    data = source.bytes_sync()
    is_string = source.dtype is string_
    return Elements(source.shape, str(source.dtype), tuple(data) if is_string else data)


def tensor_of(elements: Elements, where: str) -> Tensor:
    """Return the elements as a tensor of the closest dtype.

    Unsigned 32-bit integers, which are seeds, keep their bits.

    Args:
        elements: an array in a file.
        where: what errors call the array.

    Raises:
        ValueError: there are too few or too many bytes, or an integer does not fit int32.
    """
    shape, dtype, data = elements
    if dtype == "string":
        return tensor(list(data), shape=shape, dtype=string_)
    if len(data) != elements.size * ITEM_SIZES[dtype]:
        raise ValueError(
            f"{where} holds {len(data)} bytes, but its shape {shape} of {dtype} needs "
            f"{elements.size * ITEM_SIZES[dtype]}"
        )
    if not data:
        return tensor([], shape=shape, dtype=_closest(dtype))
    try:
        numbers = (
            _READERS[dtype](data) if dtype in _READERS else memoryview(data).cast(_FORMATS[dtype])
        )
        return tensor(numbers, shape=shape, dtype=_closest(dtype))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _closest(dtype: str) -> DType:
    """Return the dtype of tensors that has the numbers of a dtype of files."""
    if dtype in ("bool", "complex64"):
        return as_dtype(dtype)
    return float32 if "float" in dtype else int32


def float16_numbers(data: Buffer) -> array[float]:
    """Return half-precision numbers as float32."""
    return array("f", unpack(f"<{len(data) // 2}e", data))


def _bfloat16_numbers(data: Buffer) -> memoryview[float]:
    """Return bfloat16 numbers, which are the upper halves of float32 ones."""
    lower, upper = bytes(data)[::2], bytes(data)[1::2]
    widened = bytearray(2 * len(data))
    widened[2::4], widened[3::4] = lower, upper
    return memoryview(widened).cast("f")


def _complex_numbers(data: Buffer) -> list[complex]:
    parts = memoryview(data).cast("f")
    return [complex(real, imag) for real, imag in zip(parts[::2], parts[1::2], strict=True)]


#: How the numbers of other dtypes are read.
_READERS: dict[str, Callable[[Buffer], _Numbers]] = {
    "bool": lambda data: [byte != 0 for byte in bytes(data)],
    "float16": float16_numbers,
    "bfloat16": _bfloat16_numbers,
    "complex64": _complex_numbers,
}
