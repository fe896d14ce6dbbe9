"""The element types of tensors, and how they promote.

A :class:`DType` is a string with facts attached, so ``t.dtype == "float32"`` and
``t.dtype is wt.float32`` both work, and a dtype prints and serializes as its name. It equals
NumPy's dtypes and types, too. The array API standard has more dtypes than tensors do: see
:class:`UnsupportedDType`.
"""

from __future__ import annotations

from typing import Any, Final

from webtensor.environment import BOOLEAN, env

__all__ = [
    "DType",
    "UnsupportedDType",
    "as_dtype",
    "bool_",
    "complex64",
    "complex128",
    "dtype_named",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "number_dtype",
    "promote",
    "string_",
    "typed_view",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class DType(str):
    """Name of an element type, with its size in bytes and its ``struct``/buffer format.

    Elements are stored as ``stored``, ``words`` of them each: the type itself, except that a
    complex number is stored as two float32, its real and its imaginary part.
    """

    __slots__ = ("format", "itemsize", "rank", "stored", "words")

    itemsize: int
    format: str  # type: ignore[assignment]  # the buffer protocol's word wins over str.format
    rank: int
    stored: DType
    words: int

    def __new__(
        cls, name: str, itemsize: int, format: str, rank: int, stored: DType | None = None
    ) -> DType:
        dtype = super().__new__(cls, name)
        dtype.itemsize = itemsize
        dtype.format = format
        dtype.rank = rank
        dtype.stored = stored or dtype
        dtype.words = itemsize // dtype.stored.itemsize
        return dtype

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        dtype = _lookup(other)
        return NotImplemented if dtype is None else dtype is self

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (dtype_named, (str(self),))

    @property
    def name(self) -> str:
        """The plain name, as in NumPy."""
        return str(self)

    @property
    def kind(self) -> str:
        """NumPy's letter for the kind of elements: b, i, u, f, c, or T for text."""
        return "T" if self == "string" else self[0]


class UnsupportedDType(DType):
    """A dtype of the array API standard that no tensor has.

    Programs that work with any array library name such dtypes to ask whether an array has them.
    They can be compared, hashed, printed, and given to ``isdtype``, ``result_type``, ``can_cast``,
    ``finfo`` and ``iinfo``. Making a tensor of one, or casting to it, raises ``TypeError``, unless
    the flag SUBSTITUTE_DTYPES is set: then tensors get the nearest dtype that they have.
    """

    __slots__ = ()


bool_: Final = DType("bool", 1, "?", 0)
int32: Final = DType("int32", 4, "i", 1)
float32: Final = DType("float32", 4, "f", 2)
complex64: Final = DType("complex64", 8, "f", 3, stored=float32)
#: Text, as UTF-8 bytes of any number: these tensors stay on the host.
string_: Final = DType("string", 1, "s", 4)

int8: Final = UnsupportedDType("int8", 1, "b", 1)
int16: Final = UnsupportedDType("int16", 2, "h", 1)
int64: Final = UnsupportedDType("int64", 8, "q", 1)
uint8: Final = UnsupportedDType("uint8", 1, "B", 1)
uint16: Final = UnsupportedDType("uint16", 2, "H", 1)
uint32: Final = UnsupportedDType("uint32", 4, "I", 1)
uint64: Final = UnsupportedDType("uint64", 8, "Q", 1)
float64: Final = UnsupportedDType("float64", 8, "d", 2)
complex128: Final = UnsupportedDType("complex128", 16, "d", 3, stored=float64)

_BY_NAME: Final[dict[Any, DType]] = {
    "bool": bool_,
    "int32": int32,
    "float32": float32,
    bool: bool_,
    int: int32,
    float: float32,
    "complex64": complex64,
    complex: complex64,
    "string": string_,
    str: string_,
    **{
        str(dtype): dtype
        for dtype in (int8, int16, int64, uint8, uint16, uint32, uint64, float64, complex128)
    },
}
#: Whether an unavailable dtype is replaced by the nearest one that tensors have.
_SUBSTITUTES: Final = "SUBSTITUTE_DTYPES"
env().register_flag(_SUBSTITUTES, lambda: False, type=BOOLEAN)

#: What tensors hold instead of unsupported dtypes, by rank.
_SUPPORTED: Final = (bool_, int32, float32, complex64, string_)


def as_dtype(dtype: Any) -> DType:
    """Return the :class:`DType` for a name, a Python type, a NumPy dtype or a DType.

    Raises:
        TypeError: the dtype is not one that tensors can hold.
    """
    if type(dtype) is DType:
        return dtype
    resolved = _lookup(dtype)
    if resolved is not None and not isinstance(resolved, UnsupportedDType):
        return resolved
    advice = ""
    if resolved is not None:
        nearest = _SUPPORTED[resolved.rank]
        if env().get_bool(_SUBSTITUTES):
            return nearest
        advice = f"; instead of {resolved}, use {nearest}"
    raise TypeError(
        f"dtype {dtype!r} is not supported; wanted one of {', '.join(_SUPPORTED)}{advice}"
    )


def dtype_named(dtype: Any) -> DType:
    """Return what ``as_dtype`` does, or the dtype of the array API standard that is not supported.

    Raises:
        TypeError: there is no such dtype.
    """
    return _lookup(dtype) or as_dtype(dtype)


def _lookup(dtype: Any) -> DType | None:
    try:
        resolved = _BY_NAME.get(dtype)
    except TypeError:
        resolved = None
    return resolved or _BY_NAME.get(
        getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    )


def typed_view(data: bytes | bytearray | memoryview[Any], dtype: DType) -> memoryview[Any]:
    """View contiguous bytes as flat elements of a dtype."""
    return memoryview(data).cast("B").cast(dtype.format)  # type: ignore[call-overload, no-any-return]


def number_dtype(number: complex) -> DType:
    """Return the dtype of a Python number, which may be of a type derived from Python's own."""
    dtype = _BY_NAME.get(type(number))
    if dtype is None:
        kinds = (bool, int, float, complex)
        dtype = next(_BY_NAME[kind] for kind in kinds if isinstance(number, kind))
    return dtype


def promote(first: DType, second: DType) -> DType:
    """Return the smallest dtype that holds both: bool < int32 < float32 < complex64.

    Text promotes to nothing but itself: string wins, and numbers do not convert to it.
    """
    return first if first.rank >= second.rank else second
