"""Numbers in fewer bytes: halves of floats, and integers with a scale and a minimum.

In a page JavaScript computes them (``quantization.js``), because Python took almost a second for
ten million; elsewhere NumPy does.
"""

from __future__ import annotations

from array import array
from functools import cache
from typing import TYPE_CHECKING, Any

from webtensor.environment import IN_BROWSER
from webtensor.formats.element_types import ITEM_SIZES, Buffer
from webtensor.formats.weights_manifest import QUANTIZED_DTYPES, Quantization

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["dequantized", "float32_of_float16", "quantized"]

#: The dtypes of results, and their codes in buffers.
_CODES = {"float32": "f", "int32": "i"}
_INT32_RANGE = range(-(2**31), 2**31)
#: The largest number of half precision.
_MAX_FLOAT16 = 65504.0


def dequantized(data: Buffer, quantization: Quantization, dtype: str) -> memoryview:
    """Return the numbers that quantized ones stand for, computed in double precision.

    Args:
        data: the bytes of the quantized numbers.
        quantization: their dtype, scale and minimum.
        dtype: "float32", or "int32", to which numbers are rounded.

    Raises:
        ValueError: an integer would not fit int32.

    Example:
        >>> list(dequantized(bytes([0, 1, 4]), Quantization("uint8", 0.5, -1.0), "float32"))
        [-1.0, -0.5, 1.0]
    """
    if quantization.dtype == "float16":
        return float32_of_float16(data)
    _, scale, minimum = quantization
    last = (1 << 8 * ITEM_SIZES[quantization.dtype]) - 1
    if dtype == "int32":
        for number in (minimum, last * scale + minimum):
            if not _INT32_RANGE.start <= number < _INT32_RANGE.stop:
                raise ValueError(f"with scale {scale} and min {minimum}, numbers do not fit int32")
    if IN_BROWSER:
        size = ITEM_SIZES[quantization.dtype]
        return _in_page("dequantize", data, size, _CODES[dtype], size, dtype, scale, minimum)
    return _dequantized_by_numpy(data, quantization, dtype)


def float32_of_float16(data: Buffer) -> memoryview:
    r"""Return numbers of half precision as float32.

    Example:
        >>> list(float32_of_float16(b"\x00\x3c\x00\xc0"))
        [1.0, -2.0]
    """
    if IN_BROWSER:
        return _in_page("widen", data, 2, "f")
    import numpy

    return numpy.frombuffer(data, numpy.float16).astype(numpy.float32).data


def quantized(data: Buffer, dtype: str, target: str) -> tuple[memoryview, Quantization]:
    """Return numbers in fewer bytes, and how they are stored.

    Integers cover the range of the numbers evenly. Zero, if it is in that range, stays exact, so
    that padding and sparse weights do.

    Args:
        data: the bytes of float32 or int32 numbers.
        dtype: their dtype.
        target: "float16", "uint8" or "uint16".

    Raises:
        ValueError: the dtype cannot be quantized so, or a number is not finite or, for float16,
            larger than 65504.

    Example:
        >>> data, quantization = quantized(array("f", [-1.0, 0.0, 1.0]), "float32", "uint8")
        >>> list(data), quantization.dtype
        ([0, 128, 255], 'uint8')
    """
    if dtype not in QUANTIZED_DTYPES.get(target, ()):
        raise ValueError(f"{dtype} cannot be stored as {target!r}")
    minimum, maximum = _extremes(data, dtype)
    if not minimum - minimum == 0 == maximum - maximum:
        raise ValueError("its numbers must be finite")
    if target == "float16":
        if max(-minimum, maximum) > _MAX_FLOAT16:
            largest = max(minimum, maximum, key=abs)
            raise ValueError(f"{largest} is larger than what float16 holds, {_MAX_FLOAT16}")
        return _halves(data), Quantization("float16")
    quantization = _quantization(minimum, maximum, target)
    return _steps(data, dtype, quantization), quantization


def _quantization(minimum: float, maximum: float, target: str) -> Quantization:
    """Return the scale and the minimum for numbers of a range."""
    if minimum == maximum:
        return Quantization(target, 1.0, minimum)
    last = (1 << 8 * ITEM_SIZES[target]) - 1
    scale = (maximum - minimum) / last
    if minimum <= 0 <= maximum:
        return Quantization(target, scale, -round(-minimum / scale) * scale)
    return Quantization(target, scale, minimum)


def _extremes(data: Buffer, dtype: str) -> tuple[float, float]:
    """Return the smallest and the largest number, NaN if one is that; (0, 0) if there are none."""
    if not len(data):
        return 0.0, 0.0
    if IN_BROWSER:
        from webtensor.transfer import address_of

        address, _owner = address_of(memoryview(data))
        count = memoryview(data).nbytes // ITEM_SIZES[dtype]
        minimum, maximum = _functions().extremes(address, count, dtype)
        return float(minimum), float(maximum)
    numbers = _numpy_array(data, dtype)
    return float(numbers.min()), float(numbers.max())


def _halves(data: Buffer) -> memoryview:
    if IN_BROWSER:
        return _in_page("narrow", data, 4, "H").cast("B")
    return memoryview(_numpy_array(data, "float32").astype("float16").tobytes())


def _steps(data: Buffer, dtype: str, quantization: Quantization) -> memoryview:
    target, scale, minimum = quantization
    size = ITEM_SIZES[target]
    if IN_BROWSER:
        code = "B" if target == "uint8" else "H"
        return _in_page("quantize", data, 4, code, size, dtype, scale, minimum).cast("B")
    steps = (_numpy_array(data, dtype).astype("float64") - minimum) / scale
    return memoryview(steps.round().clip(0, (1 << 8 * size) - 1).astype(target).tobytes())


# -- NumPy -------------------------------------------------------------------------------------


def _numpy_array(data: Buffer, dtype: str) -> NDArray[Any]:
    import numpy

    return numpy.frombuffer(memoryview(data).cast("B"), dtype)


def _dequantized_by_numpy(data: Buffer, quantization: Quantization, dtype: str) -> memoryview:
    import numpy

    target, scale, minimum = quantization
    steps = _numpy_array(data, target)
    count = 1 << 8 * ITEM_SIZES[target]
    # A table of all steps is quicker, unless there are fewer numbers than it has entries.
    table = numpy.arange(count) if len(steps) >= count else steps
    with numpy.errstate(over="ignore"):
        numbers = table * scale + minimum
        if dtype == "int32":
            numbers = numpy.floor(numbers + 0.5)
        numbers = numbers.astype(dtype)
    return (numbers[steps] if len(steps) >= count else numbers).data


# -- JavaScript --------------------------------------------------------------------------------


@cache
def _functions() -> Any:
    import pyodide_js

    from webtensor.javascript import function_of

    return function_of("formats/quantization.js")(pyodide_js._module)


def _in_page(function: str, data: Buffer, size: int, code: str, *arguments: object) -> memoryview:
    """Call a function of ``quantization.js`` with numbers, and memory for as many others.

    Args:
        function: its name.
        data: the bytes of the numbers.
        size: the number of bytes of each.
        code: the type of the resulting numbers, as of arrays.
        *arguments: what the function needs beside both addresses and the count.
    """
    from webtensor.transfer import address_of

    view = memoryview(data)
    address, _owner = address_of(view)
    count = view.nbytes // size
    result = array(code, (0,)) * count
    getattr(_functions(), function)(address, count, result.buffer_info()[0], *arguments)
    return memoryview(result)
