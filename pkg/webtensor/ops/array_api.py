"""What the array API standard requires beside operations: constants, dtypes, inspection.

``wt`` is a namespace of the standard, of version ``wt.__array_api_version__``. It differs where the
library's design does: tensors are immutable, have four of the standard's dtypes, and mixed dtypes
promote. ``docs/standards.md`` says what passes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import Any, NamedTuple

from webtensor.arguments import check_choice
from webtensor.dtypes import (
    DType,
    bool_,
    complex64,
    complex128,
    dtype_named,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    number_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from webtensor.engine import (
    Tensor,
    TensorLike,
    Variable,
    as_operand,
    available_backends,
    get_backend,
)
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.movement import clone
from webtensor.shapes import Shape, as_shape, broadcast_shapes as _broadcast_two

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "broadcast_arrays",
    "broadcast_shapes",
    "can_cast",
    "e",
    "finfo",
    "iinfo",
    "inf",
    "isdtype",
    "nan",
    "newaxis",
    "pi",
    "positive",
    "result_type",
]

__array_api_version__ = "2024.12"

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

#: The dtypes that ``wt`` computes in.
_COMPUTED = (bool_, int32, float32, complex64)

_SIGNED = (int8, int16, int32, int64)
_UNSIGNED = (uint8, uint16, uint32, uint64)
_REAL = (float32, float64)
_COMPLEX = (complex64, complex128)
#: The standard's kinds of dtypes.
_KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (bool_,),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED + _UNSIGNED + _REAL + _COMPLEX,
}


# -- dtypes -------------------------------------------------------------------------------------


class InfoDType:
    """The dtype in a result of ``finfo`` or ``iinfo``: equal to it and accepted for it, but no str.

    A :class:`DType` is a string, which the standard's test suite does not want here.
    """

    __slots__ = ("_dtype",)

    def __init__(self, dtype: DType) -> None:
        self._dtype = dtype

    @property
    def name(self) -> str:
        """The plain name."""
        return self._dtype.name

    def __eq__(self, other: object) -> bool:
        return self._dtype == (other._dtype if isinstance(other, InfoDType) else other)

    def __hash__(self) -> int:
        return hash(self._dtype)

    def __repr__(self) -> str:
        return repr(self._dtype)

    def __str__(self) -> str:
        return str(self._dtype)


class FloatInfo(NamedTuple):
    """The properties that ``finfo`` returns of a float dtype, or of the parts of a complex one."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: InfoDType


class IntegerInfo(NamedTuple):
    """The properties that ``iinfo`` returns of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: InfoDType


def _dtype_of(name: str, value: Any) -> DType:
    """Return the dtype of a tensor or a number, or the one that ``value`` names."""
    if isinstance(value, (Tensor, Variable)):
        return value.dtype
    if isinstance(value, (bool, int, float, complex)):
        return number_dtype(value)
    try:
        return dtype_named(value)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def finfo(type: Any, /) -> FloatInfo:
    """Limits of the float dtype, given by name or by a tensor of it.

    Raises:
        TypeError: the dtype is neither float nor complex.

    Example:
        >>> import webtensor as wt
        >>> wt.finfo(wt.float32).eps == 2.0**-23
        True
    """
    dtype = _dtype_of("finfo", type)
    if dtype not in _REAL + _COMPLEX:
        raise TypeError(f"finfo: dtype must be float or complex, but got {dtype}")
    if dtype.stored is float32:
        bits, fraction, exponent = 32, 23, 127
    else:
        bits, fraction, exponent = 64, 52, 1023
    maximum = (2 - 2.0**-fraction) * 2.0**exponent
    return FloatInfo(
        bits, 2.0**-fraction, maximum, -maximum, 2.0 ** (1 - exponent), InfoDType(dtype.stored)
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of the integer dtype, given by name or by a tensor of it.

    Raises:
        TypeError: the dtype is no integer's.

    Example:
        >>> import webtensor as wt
        >>> wt.iinfo("int32").max
        2147483647
    """
    dtype = _dtype_of("iinfo", type)
    if dtype not in _KINDS["integral"]:
        raise TypeError(f"iinfo: dtype must be of integers, but got {dtype}")
    bits = 8 * dtype.itemsize
    signed = dtype in _SIGNED
    minimum = -(2 ** (bits - 1)) if signed else 0
    return IntegerInfo(bits, minimum + 2**bits - 1, minimum, InfoDType(dtype))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: "bool", "signed integer", "unsigned integer", "integral",
    "real floating", "complex floating", "numeric", another dtype, or one of a tuple of those.

    Raises:
        TypeError: ``dtype`` is unknown.
        ValueError: ``kind`` is.

    Example:
        >>> import webtensor as wt
        >>> wt.isdtype(wt.float32, ("integral", "real floating"))
        True
    """
    resolved = _dtype_of("isdtype", dtype)
    if isinstance(kind, tuple):
        # All are computed, so that an unknown kind raises wherever it stands.
        matches = [isdtype(resolved, single_kind) for single_kind in kind]
        return any(matches)
    if not isinstance(kind, DType) and kind in _KINDS:
        return resolved in _KINDS[kind]
    try:
        return resolved is dtype_named(kind)
    except TypeError:
        raise ValueError(
            f"isdtype: kind must be a dtype or one of {', '.join(_KINDS)}, but got {kind!r}"
        ) from None


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Dtype of the result of an operation on tensors, dtypes and Python numbers.

    A number only counts where its kind is above all others': bool < int < float < complex.

    Raises:
        TypeError: an argument is none of those.
        ValueError: there are no arguments.

    Example:
        >>> import webtensor as wt
        >>> wt.result_type(wt.tensor([1]), 2.5), wt.result_type("bool", "int32")
        ('float32', 'int32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: wanted at least one tensor or dtype, but got none")
    dtypes: list[DType] = []
    numbers: list[DType] = []
    for value in arrays_and_dtypes:
        is_number = isinstance(value, (bool, int, float, complex))
        (numbers if is_number else dtypes).append(_dtype_of("result_type", value))
    result = reduce(_promoted, dtypes or numbers)
    for number in numbers:
        if number.rank > result.rank:
            result = _promoted(result, number)
    return result


def _promoted(first: DType, second: DType) -> DType:
    """Return the dtype that holds two others: the larger of a kind, or of the higher kind."""
    lower, higher = sorted((first, second), key=lambda dtype: dtype.rank)
    if lower.rank < higher.rank:
        return complex128 if lower is float64 and higher is complex64 else higher
    if (lower in _UNSIGNED) == (higher in _UNSIGNED):
        return max(first, second, key=lambda dtype: dtype.itemsize)
    unsigned, signed = (lower, higher) if lower in _UNSIGNED else (higher, lower)
    size = max(2 * unsigned.itemsize, signed.itemsize)
    holder = next((dtype for dtype in _SIGNED if dtype.itemsize == size), None)
    if holder is None:
        raise TypeError(f"result_type: no dtype holds the integers of both {first} and {second}")
    return holder


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype, or a tensor's, converts to another without losing a kind of numbers.

    Raises:
        TypeError: an argument is not a dtype.

    Example:
        >>> import webtensor as wt
        >>> wt.can_cast(wt.int32, wt.float32), wt.can_cast(wt.float32, wt.int32)
        (True, False)
    """
    source, target = _dtype_of("can_cast", from_), _dtype_of("can_cast", to)
    return source is target or _promoted(source, target) is target


# -- shapes -------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: int | Sequence[int]) -> Shape:
    """Shape that tensors of the given shapes broadcast to.

    Raises:
        ValueError: they do not broadcast together.

    Example:
        >>> import webtensor as wt
        >>> wt.broadcast_shapes((2, 1), (3,))
        (2, 3)
    """
    result: Shape = ()
    for shape in shapes:
        result = _broadcast_two("broadcast_shapes", result, as_shape("broadcast_shapes", shape))
    return result


def broadcast_arrays(*arrays: TensorLike) -> list[Tensor]:
    """Repeat tensors along axes of size 1, and along new leading axes, to a common shape.

    Raises:
        ValueError: they do not broadcast together.

    Example:
        >>> import webtensor as wt
        >>> [x.tolist() for x in wt.broadcast_arrays([[1], [2]], [3, 4])]
        [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    operands = [as_operand("broadcast_arrays", array) for array in arrays]
    shape: Shape = ()
    for operand in operands:
        shape = _broadcast_two("broadcast_arrays", shape, operand.shape)
    return [broadcast_to(operand, shape) for operand in operands]


def positive(x: TensorLike, /) -> Tensor:
    """``+x``: a tensor with the same numbers.

    Raises:
        TypeError: ``x`` is bool.

    Example:
        >>> import webtensor as wt
        >>> wt.positive([1, -2]).tolist()
        [1, -2]
    """
    operand = as_operand("positive", x)
    if operand.dtype not in _KINDS["numeric"]:
        raise TypeError(f"positive: x must hold numbers, but its dtype is {operand.dtype}")
    return clone(operand)


# -- inspection ---------------------------------------------------------------------------------


class NamespaceInfo:
    """The capabilities of the library as a namespace of the array API standard."""

    def capabilities(self) -> dict[str, Any]:
        """Optional parts of the standard. Kernels have been tested with up to 8 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> str:
        """Name of the active backend, which computes operations."""
        return get_backend()

    def devices(self) -> list[str]:
        """Names of the backends that can start here."""
        return available_backends()

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """Dtypes of what is made without naming one; they are the same on every backend."""
        return {
            "real floating": float32,
            "complex floating": complex64,
            "integral": int32,
            "indexing": int32,
        }

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, DType]:
        """Dtypes that tensors have, by name, all or those of a kind (see ``isdtype``)."""
        return {dtype.name: dtype for dtype in _COMPUTED if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807  (the standard's name)
    """Return an object that tells the namespace's capabilities, devices and dtypes."""
    return NamespaceInfo()


def array_namespace(self: Any, /, *, api_version: str | None = None) -> Any:
    """Return ``webtensor``, the namespace of the array API standard that the tensor belongs to.

    Raises:
        ValueError: the version is not one that it follows.
    """
    check_choice("__array_namespace__", "api_version", api_version, (None, *_VERSIONS))
    return sys.modules.get("webtensor") or import_module("webtensor")
