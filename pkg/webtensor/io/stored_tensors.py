"""Tensors of the arrays in files, and arrays of tensors."""

from __future__ import annotations

from array import array
from collections.abc import Callable

from webtensor.dtypes import DType, as_dtype, float32, int32, string_, typed_view
from webtensor.engine import Tensor, TensorLike
from webtensor.engine.storage import empty_host, host_storage
from webtensor.formats.element_types import ITEM_SIZES, NUMBER_FORMATS, Buffer, Elements
from webtensor.formats.quantization import float32_of_float16
from webtensor.ops import tensor
from webtensor.shapes import Shape

__all__ = ["elements_of", "tensor_of", "tensor_on"]

#: Dtypes whose numbers Python converts one by one.
_CONVERTED = frozenset({"int8", "uint8", "int16", "uint16", "int64", "uint64", "float64"})
#: The bytes of truth values: whatever is not zero is true.
_TRUTH = bytes([0, *[1] * 255])


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
    target = _closest(dtype)
    if dtype in _CONVERTED:
        numbers = memoryview(data).cast(NUMBER_FORMATS[dtype])
        try:
            return tensor(numbers, shape=shape, dtype=target)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    read = _READERS.get(dtype)
    return tensor_on(data if read is None else read(data), shape, target)


def tensor_on(data: Buffer, shape: Shape, dtype: DType) -> Tensor:
    """Return a tensor of elements in host memory, which are copied only if they may change.

    Args:
        data: as many bytes as the shape needs.
        shape: that of the tensor.
        dtype: that of the tensor, not that of text.
    """
    view = memoryview(data)
    if not view.nbytes:
        return Tensor(host_storage(dtype, empty_host(dtype.stored)), shape, dtype)
    if not view.readonly:
        view = memoryview(bytes(view))
    return Tensor(host_storage(dtype, typed_view(view, dtype.stored)), shape, dtype)


def _closest(dtype: str) -> DType:
    """Return the dtype of tensors that has the numbers of a dtype of files."""
    if dtype in ("bool", "complex64"):
        return as_dtype(dtype)
    return float32 if "float" in dtype else int32


def _truth_values(data: Buffer) -> bytes:
    return bytes(data).translate(_TRUTH)


def _bfloat16_numbers(data: Buffer) -> memoryview:
    """Return bfloat16 numbers, which are the upper halves of float32 ones."""
    widened = array("B", (0,)) * (2 * len(data))
    bits = array("B", data)
    widened[2::4], widened[3::4] = bits[::2], bits[1::2]
    return memoryview(widened).toreadonly()


#: How the numbers of other dtypes become those of tensors.
_READERS: dict[str, Callable[[Buffer], Buffer]] = {
    "bool": _truth_values,
    "float16": lambda data: float32_of_float16(data).toreadonly(),
    "bfloat16": _bfloat16_numbers,
}
