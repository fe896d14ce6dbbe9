"""Integers of files as those that tensors can have: several in a byte, and of 64 bits."""

from __future__ import annotations

from array import array

from webtensor.formats.element_types import Elements

__all__ = ["INT32_MAX", "INT32_MIN", "clamped", "unpacked", "with_int32_limits"]

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1
#: What stands for no limit in 64 bits, and in 32.
_LIMITS = {(1 << 63) - 1: INT32_MAX, -(1 << 63): INT32_MIN}
#: Integers of which several are in a byte: their bits, and the dtype with a byte for each.
_PACKED = {"int2": (2, "int8"), "int4": (4, "int8"), "uint2": (2, "uint8"), "uint4": (4, "uint8")}


def unpacked(elements: Elements) -> Elements:
    """Return integers of 2 or 4 bits with a byte for each, and others as they are.

    The first of a byte is in its lowest bits.

    Example:
        >>> list(unpacked(Elements((2,), "uint4", bytes([0x31]))).data)
        [1, 3]
    """
    if elements.dtype not in _PACKED:
        return elements
    bits, dtype = _PACKED[elements.dtype]
    count, mask = 8 // bits, (1 << bits) - 1
    limit = 1 << (bits - 1) if dtype == "int8" else 1 << bits
    table = [number if number < limit else 255 - mask + number for number in range(mask + 1)]
    bytes_of_numbers = bytearray(count * len(elements.data))
    data = bytes(elements.data)
    for index in range(count):
        shift = bits * index
        translation = bytes(table[byte >> shift & mask] for byte in range(256))
        bytes_of_numbers[index::count] = data.translate(translation)
    return Elements(elements.shape, dtype, bytes(bytes_of_numbers[: elements.size]))


def clamped(elements: Elements) -> Elements:
    """Return integers of 64 bits as those of 32 bits that are closest, and others as they are.

    Models write the end of a slice as the largest integer. Unsigned ones count as the signed ones
    of the same bits, for masks of the sign.

    Example:
        >>> elements = Elements((1,), "int64", (1 << 62).to_bytes(8, "little"))
        >>> memoryview(clamped(elements).data).cast("i").tolist()
        [2147483647]
    """
    if elements.dtype not in ("int64", "uint64"):
        return elements
    numbers = memoryview(elements.data).cast("B").cast("q")
    closest = array("i", (min(max(number, INT32_MIN), INT32_MAX) for number in numbers))
    return Elements(elements.shape, "int32", closest.tobytes())


def with_int32_limits(elements: Elements) -> Elements:
    """Return integers with the limits of 32 bits in place of those of 64 bits.

    Graphs write "no limit" as the largest integer; others that do not fit stay as they are.

    Example:
        >>> elements = Elements((1,), "int64", ((1 << 63) - 1).to_bytes(8, "little"))
        >>> memoryview(with_int32_limits(elements).data).cast("q").tolist()
        [2147483647]
    """
    if elements.dtype != "int64":
        return elements
    numbers = memoryview(elements.data).cast("B").cast("q")
    limited = array("q", (_LIMITS.get(number, number) for number in numbers))
    return elements._replace(data=limited.tobytes())
