"""What the array API standard asks for beside operations: constants, dtypes, inspection.

``wt`` is a namespace of the standard, of version ``wt.__array_api_version__``. It differs where the
library's design does: tensors are immutable, dtypes are those below, and mixed dtypes promote.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from webtensor.dtypes import (
    DType,
    as_dtype,
    bool_,
    complex64,
    float32,
    int32,
    number_dtype,
    promote,
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

#: The standard's kinds of dtypes, and which of ours they hold.
_KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (bool_,),
    "signed integer": (int32,),
    "unsigned integer": (),
    "integral": (int32,),
    "real floating": (float32,),
    "complex floating": (complex64,),
    "numeric": (int32, float32, complex64),
}


# -- dtypes -------------------------------------------------------------------------------------


class FloatInfo(NamedTuple):
    """What ``finfo`` tells of a float dtype, or of the parts of a complex one."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerInfo(NamedTuple):
    """What ``iinfo`` tells of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def _dtype_of(name: str, value: Any) -> DType:
    """Return the dtype of a tensor or a number, or the one that ``value`` names."""
    if isinstance(value, (Tensor, Variable)):
        return value.dtype
    if isinstance(value, (bool, int, float, complex)):
        return number_dtype(value)
    try:
        return as_dtype(value)
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
    if dtype not in (float32, complex64):
        raise TypeError(f"finfo: dtype must be float32 or complex64, but got {dtype}")
    greatest = (2 - 2.0**-23) * 2.0**127
    return FloatInfo(32, 2.0**-23, greatest, -greatest, 2.0**-126, float32)


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of the integer dtype, given by name or by a tensor of it.

    Raises:
        TypeError: the dtype is not int32.

    Example:
        >>> import webtensor as wt
        >>> wt.iinfo("int32").max
        2147483647
    """
    dtype = _dtype_of("iinfo", type)
    if dtype is not int32:
        raise TypeError(f"iinfo: dtype must be int32, but got {dtype}")
    return IntegerInfo(32, 2**31 - 1, -(2**31), int32)


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
    held = _dtype_of("isdtype", dtype)
    if isinstance(kind, tuple):
        return any(isdtype(held, one) for one in kind)
    if not isinstance(kind, DType) and kind in _KINDS:
        return held in _KINDS[kind]
    try:
        return held is as_dtype(kind)
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
    first, *others = (_dtype_of("result_type", value) for value in arrays_and_dtypes)
    for other in others:
        first = promote(first, other)
    return first


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype, or a tensor's, converts to another without losing a kind of numbers.

    Example:
        >>> import webtensor as wt
        >>> wt.can_cast(wt.int32, wt.float32), wt.can_cast(wt.float32, wt.int32)
        (True, False)
    """
    source, target = _dtype_of("can_cast", from_), _dtype_of("can_cast", to)
    return promote(source, target) is target


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
    """Repeat tensors along axes of length 1, and along new leading axes, to a common shape.

    Raises:
        ValueError: they do not broadcast together.

    Example:
        >>> import webtensor as wt
        >>> [x.tolist() for x in wt.broadcast_arrays([[1], [2]], [3, 4])]
        [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    held = [as_operand("broadcast_arrays", array) for array in arrays]
    shape: Shape = ()
    for one in held:
        shape = _broadcast_two("broadcast_arrays", shape, one.shape)
    return [broadcast_to(one, shape) for one in held]


def positive(x: TensorLike, /) -> Tensor:
    """``+x``: a tensor with the same numbers.

    Raises:
        TypeError: ``x`` is bool.

    Example:
        >>> import webtensor as wt
        >>> wt.positive([1, -2]).tolist()
        [1, -2]
    """
    held = as_operand("positive", x)
    if held.dtype not in _KINDS["numeric"]:
        raise TypeError(f"positive: x must hold numbers, but its dtype is {held.dtype}")
    return clone(held)


# -- inspection ---------------------------------------------------------------------------------


class NamespaceInfo:
    """What a namespace of the array API standard can do here."""

    def capabilities(self) -> dict[str, Any]:
        """What is optional in the standard. Kernels have been tried with up to 8 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> str:
        """Name of the active backend, where operations compute."""
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
        """Dtypes by name, all or those of a kind (see ``isdtype``)."""
        known = (bool_, int32, float32, complex64)
        return {dtype.name: dtype for dtype in known if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807  (the standard's name)
    """Return what tells the namespace's capabilities, devices and dtypes."""
    return NamespaceInfo()


def array_namespace(self: Any, /, *, api_version: str | None = None) -> Any:
    """Return ``webtensor``, the namespace of the array API standard that the tensor belongs to.

    Raises:
        ValueError: the version is not one that it follows.
    """
    if api_version not in (None, *_VERSIONS):
        raise ValueError(
            f"__array_namespace__: api_version must be one of {_VERSIONS}, but got {api_version!r}"
        )
    return sys.modules.get("webtensor") or import_module("webtensor")
