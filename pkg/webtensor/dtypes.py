"""The element types of tensors, and how they promote.

A :class:`DType` is a string with facts attached, so ``t.dtype == "float32"`` and
``t.dtype is wt.float32`` both work, and a dtype prints and serializes as its name.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = [
    "DType",
    "as_dtype",
    "bool_",
    "complex64",
    "float32",
    "int32",
    "number_dtype",
    "promote",
    "string_",
    "typed_view",
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

    def __reduce__(self) -> tuple[Any, ...]:
        return (as_dtype, (str(self),))

    @property
    def name(self) -> str:
        """The plain name, as in NumPy."""
        return str(self)


bool_: Final = DType("bool", 1, "?", 0)
int32: Final = DType("int32", 4, "i", 1)
float32: Final = DType("float32", 4, "f", 2)
complex64: Final = DType("complex64", 8, "f", 3, stored=float32)
#: Text, as UTF-8 bytes of any number: these tensors stay on the host.
string_: Final = DType("string", 1, "s", 4)

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
}


def as_dtype(dtype: Any) -> DType:
    """Return the :class:`DType` for a name, a Python type, a NumPy dtype or a DType.

    Raises:
        TypeError: the dtype is not one that tensors can hold.
    """
    if type(dtype) is DType:
        return dtype
    try:
        known = _BY_NAME.get(dtype)
    except TypeError:
        known = None
    if known is None:
        known = _BY_NAME.get(getattr(dtype, "name", None) or getattr(dtype, "__name__", None))
    if known is None:
        raise TypeError(
            f"dtype {dtype!r} is not supported; "
            "wanted one of bool, int32, float32, complex64, string"
        )
    return known


def typed_view(data: bytes | bytearray | memoryview[Any], dtype: DType) -> memoryview[Any]:
    """View contiguous bytes as flat elements of a dtype."""
    return memoryview(data).cast("B").cast(dtype.format)  # type: ignore[call-overload, no-any-return]


def number_dtype(number: complex) -> DType:
    """Return the dtype of a Python number, which may be of a type derived from Python's own."""
    known = _BY_NAME.get(type(number))
    if known is None:
        kinds = (bool, int, float, complex)
        known = next(_BY_NAME[kind] for kind in kinds if isinstance(number, kind))
    return known


def promote(first: DType, second: DType) -> DType:
    """Return the smallest dtype that holds both: bool < int32 < float32 < complex64.

    Text promotes to nothing but itself: string wins, and numbers do not convert to it.
    """
    return first if first.rank >= second.rank else second
