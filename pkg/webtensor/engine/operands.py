"""Turning what users pass into tensors: host values, Python scalars, variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from webtensor.dtypes import DType, number_dtype, promote, string_
from webtensor.engine.convert import host_buffer, pack
from webtensor.engine.late_numbers import LateNumber, at_capture
from webtensor.engine.scopes import outside_scopes
from webtensor.engine.state import state
from webtensor.engine.storage import Storage, host_storage
from webtensor.engine.tensor import Tensor
from webtensor.engine.variable import Variable

__all__ = [
    "TensorLike",
    "as_operand",
    "as_operands",
    "cached_constants",
    "cached_number",
    "constant",
    "from_host",
    "new_constant",
]

#: What ops accept: a Tensor, a Variable, a Python number, nested lists of numbers, an array.
TensorLike = Any

_NUMBERS = (bool, int, float, complex, LateNumber)
_MAX_CONSTANTS = 128
_constants: dict[tuple[complex, DType], Tensor] = {}
#: What ``wt.memory()`` and each record of a profile leave out.
_constant_bytes = 0


def from_host(name: str, value: Any, dtype: DType | None = None) -> Tensor:
    """Make a tensor from host data; ``name`` is the function that errors will name.

    Lists may hold tensors, and arrays next to lists. Where something observes operations, as a tape
    does, tensors are stacked instead of read.
    """
    if state.observers and _holds(_is_tensor, value):
        return _stacked(name, value, dtype)
    try:
        host, shape, dtype = host_buffer(name, value, dtype)
    except TypeError:
        if not _holds(_is_tensor_or_array, value):
            raise
        return _stacked(name, value, dtype)
    return Tensor(host_storage(dtype, host), shape, dtype)


def _is_tensor(kind: type) -> bool:
    return issubclass(kind, (Tensor, Variable))


def _is_tensor_or_array(kind: type) -> bool:
    return hasattr(kind, "__array__")


def _holds(is_wanted: Callable[[type], bool], value: Any) -> bool:
    """Whether nested lists hold something of a wanted type."""
    if not isinstance(value, (list, tuple)):
        return False
    kinds = set(map(type, value))
    if any(map(is_wanted, kinds)):
        return True
    return any(issubclass(kind, (list, tuple)) for kind in kinds) and any(
        _holds(is_wanted, part) for part in value
    )


def _stacked(name: str, values: Sequence[Any], dtype: DType | None) -> Tensor:
    """Return a list of tensors, numbers and lists of them as a tensor."""
    parts = [as_operand(name, value, dtype) for value in values]
    for part, value in zip(parts, values, strict=True):
        if part.dtype is string_:
            raise TypeError(f"{name}: elements must be numbers, but got {value!r}")
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ValueError(
            f"{name}: nested sequences must have equal sizes, but there are tensors of shapes "
            f"{sorted(shapes)}"
        )
    common = dtype or reduce(promote, [part.dtype for part in parts])
    first, *others = [part.astype(common) for part in parts]
    stacked: Tensor = first.stack(others) if others else first.expand_dims(0)
    return stacked


def constant(name: str, value: Any, dtype: DType) -> Tensor:
    """Return a rank-0 tensor for a Python number; it is cached, save in captured functions.

    Ops get the same few numbers again and again; the cache saves an upload each time. A new number
    replaces the oldest: a learning rate that changes at every step would fill any cache.
    """
    if state.captures:
        captured: Tensor = state.captures[-1].constant(name, value, dtype)
        return captured
    key = (value, dtype)
    tensor = _constants.get(key)
    # 0.0 and -0.0 are equal as keys, NaN never is.
    negative_zero = not value and "-" in str(value)
    if tensor is None or negative_zero:
        tensor = new_constant(name, value, dtype)
        if value == value and not negative_zero:
            _keep(key, tensor)
    return tensor


def new_constant(name: str, value: complex, dtype: DType) -> Tensor:
    """Return a rank-0 tensor of its own for a Python number, which no scope disposes."""
    with outside_scopes():
        return Tensor(Storage(dtype.stored, dtype.words, pack(name, [value], dtype)), (), dtype)


def _keep(key: tuple[complex, DType], tensor: Tensor) -> None:
    """Cache a constant; if the cache is full, in place of the oldest."""
    global _constant_bytes
    if len(_constants) >= _MAX_CONSTANTS:
        oldest = next(iter(_constants))
        del _constants[oldest]
        _constant_bytes -= oldest[1].itemsize
    _constants[key] = tensor
    _constant_bytes += key[1].itemsize


def cached_number(operand: Tensor) -> tuple[complex, DType] | None:
    """Return the number and dtype of a cached constant, else None."""
    return next((key for key, tensor in _constants.items() if tensor is operand), None)


def cached_constants() -> tuple[int, int]:
    """Return the number of cached constants, and their bytes."""
    return len(_constants), _constant_bytes


def as_operand(name: str, value: TensorLike, dtype: DType | None = None) -> Tensor:
    """Return ``value`` as a tensor; ``dtype`` is what a Python number becomes."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Variable):
        return value.value
    if isinstance(value, _NUMBERS):
        return constant(name, value, dtype or number_dtype(at_capture(value)))
    return from_host(name, value, dtype)


def _scalar_dtype(scalar: Any, other: DType) -> DType:
    """Return a Python number's dtype beside a tensor: the tensor's, unless that is too narrow."""
    return promote(number_dtype(at_capture(scalar)), other)


def as_operands(name: str, first: TensorLike, second: TensorLike) -> tuple[Tensor, Tensor]:
    """Return two operands as tensors; a number takes the dtype of the other where it fits."""
    if isinstance(first, Variable):
        first = first.value
    if isinstance(second, Variable):
        second = second.value
    if not isinstance(first, Tensor):
        if isinstance(second, Tensor) and isinstance(first, _NUMBERS):
            return constant(name, first, _scalar_dtype(first, second.dtype)), second
        first = as_operand(name, first)
    if not isinstance(second, Tensor):
        if isinstance(second, _NUMBERS):
            second = constant(name, second, _scalar_dtype(second, first.dtype))
        else:
            second = as_operand(name, second)
    return first, second
