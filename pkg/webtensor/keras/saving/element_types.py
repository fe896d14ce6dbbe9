"""Elements as they lie in files, of more dtypes than tensors have, and how tensors are made.

All files that are read or written here hold them row-major and little-endian.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from math import prod
from struct import unpack
from typing import Any, NamedTuple

from webtensor.dtypes import DType, as_dtype, float32, int32, string_
from webtensor.engine import Tensor
from webtensor.ops import tensor

__all__ = ["ITEM_SIZES", "Elements", "elements_of", "float16_numbers", "tensor_of"]

#: Bytes per element, for each dtype that files may hold.
ITEM_SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "complex64": 8,
}
_FORMATS: dict[str, Any] = {
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int64": "q",
    "uint64": "Q",
    "float64": "d",
}


class Elements(NamedTuple):
    """An array in a file; ``data`` is bytes, or a tuple of bytes where ``dtype`` is "string"."""

    shape: tuple[int, ...]
    dtype: str
    data: Any

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


def elements_of(value: Any) -> Elements:
    """Return the elements of a tensor, a variable, an array or a number."""
    held = value if isinstance(value, Tensor) else tensor(value)
    data = held.bytes_sync()
    return Elements(held.shape, str(held.dtype), tuple(data) if held.dtype is string_ else data)


def tensor_of(elements: Elements, where: str) -> Tensor:
    """Return the elements as a tensor of the closest dtype; ``where`` is what errors name.

    Unsigned 32-bit integers, which are seeds, keep their bits.

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
    read = _READERS.get(dtype)
    try:
        values = read(data) if read is not None else memoryview(data).cast(_FORMATS[dtype])
        return tensor(values, shape=shape, dtype=_closest(dtype))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _closest(dtype: str) -> DType:
    if dtype in ("bool", "complex64"):
        return as_dtype(dtype)
    return float32 if "float" in dtype else int32


def float16_numbers(data: Any) -> array[float]:
    """Return half-precision numbers as float32."""
    return array("f", unpack(f"<{len(data) // 2}e", data))


def _bfloat16_numbers(data: Any) -> Any:
    """Return bfloat16 numbers, the upper halves of float32 ones."""
    widened = bytearray(2 * len(data))
    held = bytes(data)
    widened[2::4], widened[3::4] = held[::2], held[1::2]
    return memoryview(widened).cast("f")


def _complex_numbers(data: Any) -> list[complex]:
    parts = memoryview(data).cast("f")
    return [complex(real, imag) for real, imag in zip(parts[::2], parts[1::2], strict=True)]


_READERS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda data: [byte != 0 for byte in bytes(data)],
    "float16": float16_numbers,
    "bfloat16": _bfloat16_numbers,
    "float32": lambda data: memoryview(data).cast("f"),
    "int32": lambda data: memoryview(data).cast("i"),
    "uint32": lambda data: memoryview(data).cast("i"),
    "complex64": _complex_numbers,
}
