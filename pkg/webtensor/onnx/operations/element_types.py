"""ONNX's dtypes, and those of tensors for them."""

from __future__ import annotations

from webtensor.formats.onnx_messages import DATA_TYPES
from webtensor.graph.operations.arguments import dtype_name

__all__ = ["BIT_WIDTHS", "bounds", "dtype_of", "type_name"]

#: The bits of integers that are narrower than those of tensors.
BIT_WIDTHS = {f"{sign}int{bits}": bits for bits in (2, 4, 8, 16) for sign in ("", "u")}


def type_name(kind: int | str) -> str:
    """Return the name of a dtype from its name or number.

    Raises:
        ValueError: no dtype has this number.
    """
    if isinstance(kind, str):
        return kind
    if kind not in DATA_TYPES:
        raise ValueError(f"there is no dtype of the number {kind}")
    return DATA_TYPES[kind].name


def dtype_of(kind: int | str) -> str:
    """Return the dtype of tensors for a dtype of files.

    Raises:
        ValueError: no tensor has such elements.
    """
    name = type_name(kind)
    return "int32" if name in BIT_WIDTHS else dtype_name(name)


def bounds(name: str) -> tuple[int, int]:
    """Return the smallest and the largest integer of a dtype.

    Raises:
        ValueError: it has no integers of few bits.
    """
    bits = BIT_WIDTHS.get(name)
    if bits is None:
        raise ValueError(f"numbers cannot be quantized to dtype {name!r}")
    return (0, (1 << bits) - 1) if name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
