"""Between Python values and flat host buffers: nested lists, buffers, arrays, text."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from webtensor.dtypes import (
    DType,
    as_dtype,
    bool_,
    complex64,
    float32,
    int32,
    number_dtype,
    string_,
    typed_view,
)
from webtensor.engine.elements import Elements
from webtensor.shapes import Shape, prod

__all__ = ["host_buffer", "nested_list", "pack", "python_numbers"]

_INT32_RANGE = range(-(2**31), 2**31)
_SEQUENCES = (list, tuple, range, array, memoryview, Elements)
#: The maximum rank of NumPy's arrays.
_MAX_AXES = 64


def pack(name: str, values: Sequence[Any], dtype: DType) -> Any:
    """Return a flat buffer of the dtype's format that holds Python numbers.

    Complex numbers become pairs of float32, and text a tuple of bytes.

    Raises:
        TypeError: a value is not a number.
        ValueError: an integer does not fit int32.
    """
    if dtype is string_:
        return tuple(_utf8(name, value) for value in values)
    try:
        if dtype is bool_:
            return memoryview(bytearray(map(bool, values))).cast("?") if values else _no_bytes()
        if dtype is complex64:
            pairs = ((number.real, number.imag) for number in map(complex, values))
            parts = chain.from_iterable(pairs)
            return memoryview(array("f", parts))
        numbers = _integers(values) if dtype is int32 else array("f", values)
    except OverflowError:
        misfit = next(
            (v for v in values if abs(v) == float("inf") or int(v) not in _INT32_RANGE), None
        )
        raise ValueError(f"{name}: {misfit!r} does not fit dtype {dtype}") from None
    except (TypeError, ValueError):
        misfits = [value for value in values if not _is_number(value)]
        if not misfits:
            raise ValueError(f"{name}: the values do not fit dtype {dtype}") from None
        raise TypeError(f"{name}: elements must be numbers, but got {misfits[0]!r}") from None
    return memoryview(numbers)


def _integers(values: Sequence[Any]) -> array[int]:
    """Convert numbers to integers; several times faster if they are integers already."""
    if not isinstance(values, (bytes, bytearray)):
        with suppress(TypeError):
            return array("i", values)
    return array("i", map(int, values))


def _utf8(name: str, value: Any) -> bytes:
    """Encode text as UTF-8; bytes stay as they are, as do undecodable bytes within a str."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError(
            f"{name}: elements must be str or bytes for dtype string, but got {value!r}"
        )
    return bytes(value)


def _no_bytes() -> memoryview[Any]:
    return memoryview(bytearray(1)).cast("?")[:0]


def _is_number(value: Any) -> bool:
    if isinstance(value, (int, float, complex)):
        return True
    return hasattr(value, "__float__") and not getattr(value, "shape", ())


def host_buffer(name: str, value: Any, dtype: DType | None) -> tuple[Any, Shape, DType]:
    """Copy a nested sequence, a buffer or an array into a flat host buffer of ``dtype.stored``.

    Text becomes a tuple of bytes.

    Raises:
        TypeError: the value holds something other than numbers.
        ValueError: nested sequences of unequal sizes, or an integer that does not fit int32.
    """
    if dtype is string_ or isinstance(value, str):
        return _from_text(name, value, dtype)
    if _is_array(value) and not isinstance(value, (list, tuple)):
        import numpy

        host_array = numpy.asarray(value)
        if _holds_text(host_array):
            return _from_text(name, host_array, dtype)
        array_, shape, dtype = _from_array(name, host_array, dtype)
        return _from_buffer(name, memoryview(array_), dtype.stored)[0], shape, dtype
    if isinstance(value, (bytes, bytearray, memoryview, array, Elements)):
        return _from_buffer(name, memoryview(value), dtype)
    values, shape = _flatten(name, value)
    if values and all(map(_is_array_with_axes, values)):
        return host_buffer(name, _joined(name, values, shape), dtype)
    dtype = dtype or _infer_dtype(name, values)
    return pack(name, values, dtype), shape, dtype


def _is_array(value: Any) -> bool:
    """Whether NumPy can make an array of a value: its own, PyTorch's, pandas's, Pillow's images."""
    return hasattr(value, "__array__") or hasattr(value, "__array_interface__")


def _is_array_with_axes(value: Any) -> bool:
    """Whether a value is another library's array that stands for a nested sequence.

    Images have axes, but no shape.
    """
    is_tensor = isinstance(getattr(value, "dtype", None), DType)
    return not is_tensor and _is_array(value) and bool(getattr(value, "shape", True))


def _holds_text(array_: Any) -> bool:
    """Whether an array holds text, as one of NumPy or, in pandas, as objects."""
    if array_.dtype.kind == "O":
        return array_.size > 0 and all(isinstance(item, (str, bytes)) for item in array_.flat)
    return array_.dtype.kind in "SUT"


def _joined(name: str, arrays: Sequence[Any], shape: Shape) -> Any:
    """Join the arrays in nested sequences to one."""
    import numpy

    arrays = list(map(numpy.asarray, arrays))
    shapes = {array_.shape for array_ in arrays}
    if len(shapes) > 1:
        raise ValueError(
            f"{name}: nested sequences must have equal sizes, but there are arrays of shapes "
            f"{sorted(shapes)}"
        )
    return numpy.stack(arrays).reshape(shape + shapes.pop())


def _from_text(name: str, value: Any, dtype: DType | None) -> tuple[Any, Shape, DType]:
    """Copy text, nested sequences of it, or an array of it."""
    if _is_array(value):
        import numpy

        value = numpy.asarray(value)
        shape: Shape = value.shape
        values = value.reshape(-1).tolist()
    else:
        values, shape = _flatten(name, value)
    dtype = dtype or string_
    return pack(name, values, dtype), shape, dtype


def _from_array(name: str, host_array: Any, dtype: DType | None) -> tuple[Any, Shape, DType]:
    """Return a flat NumPy array in the dtype that storages use, its shape and its dtype."""
    import numpy

    if host_array.dtype.kind not in "biufc":  # bfloat16 and others of ml_dtypes can be cast
        wider = [wide for wide in (int32, float32) if numpy.can_cast(host_array.dtype, wide.name)]
        if not wider:
            raise TypeError(f"{name}: arrays of dtype {host_array.dtype} are not supported")
        host_array = host_array.astype(wider[0].name)
    target_dtype = dtype or _closest_dtype(host_array.dtype)
    if target_dtype is int32 and host_array.size and host_array.dtype.kind != "b":
        for extreme in (host_array.min(), host_array.max()):
            if extreme != extreme or int(extreme) not in _INT32_RANGE:
                raise ValueError(f"{name}: {extreme!r} does not fit dtype int32")
    if host_array.dtype.kind == "c" and target_dtype is not complex64:
        raise TypeError(f"{name}: complex elements do not fit dtype {target_dtype}")
    flat = numpy.array(host_array, dtype=target_dtype.name, order="C").reshape(-1)
    return flat.view(target_dtype.stored.name), host_array.shape, target_dtype


def _from_buffer(
    name: str, view: memoryview[Any], dtype: DType | None
) -> tuple[memoryview[Any], Shape, DType]:
    shape = tuple(view.shape or ())
    kind = view.format.lstrip("@=<")
    if kind not in "?bBhHiIlLqQfd":
        raise TypeError(f"{name}: buffers of format {view.format!r} are not supported")
    natural = bool_ if kind == "?" else float32 if kind in "fd" else int32
    dtype = dtype or natural
    if not view.c_contiguous:
        raise ValueError(f"{name}: the buffer must be contiguous")
    if dtype is complex64:
        values = memoryview(view.tobytes()).cast(kind).tolist()  # type: ignore[call-overload]
        return pack(name, values, dtype), shape, dtype
    if prod(shape) == 0:
        return pack(name, [], dtype), shape, dtype
    same_bytes = kind == dtype.format or (dtype is int32 and kind in "lL" and view.itemsize == 4)
    if same_bytes and kind != "L":
        return typed_view(bytearray(view.tobytes()), dtype), shape, dtype
    if dtype is int32 and kind in "bBhH":
        from webtensor.engine.narrow_integers import widened  # few programs have any

        return typed_view(widened(view.tobytes(), kind), dtype), shape, dtype
    values = memoryview(view.tobytes()).cast(kind).tolist()  # type: ignore[call-overload]
    if dtype is int32 and kind in "fd" and any(value != value for value in values):
        raise ValueError(f"{name}: nan does not fit dtype int32")
    return pack(name, values, dtype), shape, dtype


def _flatten(name: str, value: Any) -> tuple[Sequence[Any], Shape]:
    """Flatten nested sequences level by level, checking that each level is even."""
    shape: list[int] = []
    level: Sequence[Any] = [value]
    while level and isinstance(level[0], _SEQUENCES):
        sizes = {len(item) if isinstance(item, _SEQUENCES) else -1 for item in level}
        if len(sizes) != 1:
            # Where this is a TypeError, from_host stacks the arrays, tensors and sequences.
            raise (TypeError if any(map(_is_array, level)) else ValueError)(
                f"{name}: nested sequences must have equal sizes, but at depth {len(shape)} "
                f"there are sizes {sorted(size for size in sizes if size >= 0)}"
                + (" and single elements" if -1 in sizes else "")
            )
        if len(shape) == _MAX_AXES:
            raise ValueError(f"{name}: sequences must not be nested deeper than {_MAX_AXES} times")
        shape.append(sizes.pop())
        level = list(chain.from_iterable(level))
    return level, tuple(shape)


def _infer_dtype(name: str, values: Sequence[Any]) -> DType:
    kinds = set(map(type, values))
    if complex in kinds:
        return complex64
    if not kinds or float in kinds:
        return float32
    if kinds == {bool}:
        return bool_
    if kinds <= {int, bool}:
        return int32
    if kinds <= {str, bytes}:
        return string_
    dtypes = set()
    for value in values:
        if hasattr(value, "dtype"):
            dtypes.add(_closest_dtype(_dtype_for_numpy(value)))
        elif isinstance(value, (int, float)):
            dtypes.add(number_dtype(value))
        else:
            raise TypeError(f"{name}: elements must be numbers, but got {value!r}")
    return max(dtypes, key=lambda dtype: dtype.rank)


def _dtype_for_numpy(value: Any) -> Any:
    """Return the dtype of a value; that of NumPy if it is another library's, as PyTorch's."""
    if isinstance(value.dtype, DType) or hasattr(value.dtype, "kind"):
        return value.dtype
    import numpy

    return numpy.asarray(value).dtype


def _closest_dtype(dtype: Any) -> DType:
    kind = getattr(dtype, "kind", None)
    if kind is None or isinstance(dtype, DType):
        return as_dtype(dtype)
    return {"b": bool_, "i": int32, "u": int32, "c": complex64}.get(kind, float32)


def python_numbers(flat: Any, dtype: DType) -> list[Any]:
    """Return stored elements as Python numbers, or text as str."""
    if dtype is string_:
        return [text.decode("utf-8", "surrogateescape") for text in flat]
    if dtype is complex64:
        return list(map(complex, flat[::2], flat[1::2]))
    numbers: list[Any] = flat.tolist()
    return numbers


def nested_list(flat: Any, shape: Shape, dtype: DType) -> Any:
    """Return stored elements as nested lists of ``shape`` (a number for rank 0)."""
    values = python_numbers(flat, dtype)
    if not shape:
        return values[0]
    if not values:
        return _empty_lists(shape)
    for size in reversed(shape[1:]):
        values = [values[start : start + size] for start in range(0, len(values), size)]
    return values


def _empty_lists(shape: Shape) -> list[Any]:
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if shape else []
