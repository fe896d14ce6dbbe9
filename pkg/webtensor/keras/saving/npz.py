"""npz files: a zip archive of arrays, each with a header in a line of text.

Headers are taken apart strictly, as text: what npz calls object arrays is code, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any

from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget, reading
from webtensor.keras.saving.element_types import ITEM_SIZES, Elements
from webtensor.keras.saving.files import Archive, write_members
from webtensor.keras.saving.hdf5 import MAX_GROUPS, Group

__all__ = ["read_npz", "write_npz"]

_MAGIC = b"\x93NUMPY"
#: NumPy, too, reads no longer ones.
_LONGEST_HEADER = 10_000
_HEADER = re.compile(
    r"\{'descr': '([|<>=]?[a-zA-Z]\d+)', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d+, ?)*(?:\d+,?)?)\),? ?\}\s*"
)
_LETTERS = {
    "b1": "bool",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "c8": "complex64",
    **{f"i{size}": f"int{8 * size}" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)},
}
_DESCRIPTIONS = {
    dtype: ("|" if letters[1] == "1" else "<") + letters for letters, dtype in _LETTERS.items()
}


def read_npz(data: bytes, label: str, budget: Budget | None = None) -> Group:
    """Return the arrays in a file; slashes in their names make groups.

    Raises:
        ModelFormatError: it is broken, or has arrays of Python objects.
    """
    found = Group()
    with reading(label), Archive(BytesIO(data), label, budget) as archive:
        for name in sorted(archive.names):
            if not name.endswith(".npy"):
                continue
            where = f"{label}: {name!r}"
            if name.count("/") > MAX_GROUPS:
                raise ModelFormatError(f"{where} is nested more than {MAX_GROUPS} levels deep")
            array = _array(archive.read(name), where, archive.budget)
            found.put(name.removesuffix(".npy"), array)
    return found


def _array(data: bytes, where: str, budget: Budget) -> Elements:
    if data[:6] != _MAGIC or len(data) < 12 or data[6] not in (1, 2, 3):
        raise ModelFormatError(f"{where} is no array of an npz file")
    width = 2 if data[6] == 1 else 4
    begin = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    if begin > _LONGEST_HEADER:
        raise ModelFormatError(
            f"{where} is an array of a kind that is not read: its header has {begin} bytes"
        )
    header = data[8 + width : begin].decode("latin-1")
    matched = _HEADER.fullmatch(header.strip())
    if matched is None or matched[1][0] in ">=" or matched[1].lstrip("<|") not in _LETTERS:
        raise ModelFormatError(
            f"{where} is an array of a kind that is not read, such as one of Python objects, which "
            f"are code: {header.strip()[:100]}"
        )
    dtype = _LETTERS[matched[1].lstrip("<|")]
    shape = tuple(int(length) for length in re.findall(r"\d+", matched[3]))
    if matched[2] == "True" and len(shape) > 1:
        raise ModelFormatError(f"{where} lies in Fortran's order, which is not read")
    body = memoryview(data)[begin:]
    if len(body) != budget.size_of(shape, where) * ITEM_SIZES[dtype]:
        raise ModelFormatError(f"{where} has shape {shape}, but {len(body)} bytes")
    return Elements(shape, dtype, body)


def write_npz(file: IO[bytes], tree: Group) -> None:
    """Write all arrays of a tree, by their paths."""
    write_members(file, ((f"{path}.npy", _pieces(one)) for path, one in tree.arrays()))


def _pieces(elements: Elements) -> Iterator[Any]:
    if elements.dtype not in _DESCRIPTIONS:
        raise ValueError(f"npz files hold no {elements.dtype}")
    shape = ", ".join(map(str, elements.shape)) + ("," if len(elements.shape) == 1 else "")
    header = (
        f"{{'descr': '{_DESCRIPTIONS[elements.dtype]}', 'fortran_order': False, "
        f"'shape': ({shape}), }}"
    )
    length = 64 * -(-(11 + len(header)) // 64) - 10
    yield _MAGIC + b"\1\0" + length.to_bytes(2, "little")
    yield header.ljust(length - 1).encode() + b"\n"
    yield elements.data
