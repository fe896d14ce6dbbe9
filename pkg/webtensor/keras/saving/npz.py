"""npz files: a zip archive of arrays, each of which has a header of one line of text.

Headers are matched as text, never evaluated. Arrays of Python objects are code, and are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import IO

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import ITEM_SIZES, Buffer, Elements
from webtensor.formats.files import Archive, write_members
from webtensor.keras.saving.hdf5 import MAX_GROUPS, Group

__all__ = ["read_npz", "write_npz"]

_MAGIC = b"\x93NUMPY"
#: The largest number of bytes of a header, as in NumPy.
_MAX_HEADER_BYTES = 10_000
_HEADER = re.compile(
    r"\{'descr': '([|<>=]?[a-zA-Z]\d+)', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d+, ?)*(?:\d+,?)?)\),? ?\}\s*"
)
_TYPE_CODES = {
    "b1": "bool",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "c8": "complex64",
    **{f"i{size}": f"int{8 * size}" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)},
}
_DESCRIPTIONS = {
    dtype: ("|" if code[1] == "1" else "<") + code for code, dtype in _TYPE_CODES.items()
}


def read_npz(data: bytes, label: str, budget: Budget | None = None) -> Group:
    """Return the arrays in a file; slashes in their names separate groups.

    Raises:
        ModelFormatError: the file is broken, or has arrays of Python objects.
    """
    tree = Group()
    with reading(label), Archive(BytesIO(data), label, budget) as archive:
        for name in sorted(archive.names):
            if not name.endswith(".npy"):
                continue
            where = f"{label}: {name!r}"
            if name.count("/") > MAX_GROUPS:
                raise ModelFormatError(f"{where} is nested more than {MAX_GROUPS} levels deep")
            array = _array(archive.read(name), where, archive.budget)
            tree.put(name.removesuffix(".npy"), array)
    return tree


def _array(data: bytes, where: str, budget: Budget) -> Elements:
    if data[:6] != _MAGIC or len(data) < 12 or data[6] not in (1, 2, 3):
        raise ModelFormatError(f"{where} is no array of an npz file")
    width = 2 if data[6] == 1 else 4
    begin = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    if begin > _MAX_HEADER_BYTES:
        raise ModelFormatError(
            f"{where} is an array of a kind that is not read: its header has {begin} bytes"
        )
    header = data[8 + width : begin].decode("latin-1")
    match = _HEADER.fullmatch(header.strip())
    if match is None or match[1][0] in ">=" or match[1].lstrip("<|") not in _TYPE_CODES:
        raise ModelFormatError(
            f"{where} is an array of a kind that is not read, such as one of Python objects, which "
            f"are code: {header.strip()[:100]}"
        )
    dtype = _TYPE_CODES[match[1].lstrip("<|")]
    shape = tuple(int(size) for size in re.findall(r"\d+", match[3]))
    if match[2] == "True" and len(shape) > 1:
        raise ModelFormatError(f"{where} is in Fortran order, which is not read")
    body = memoryview(data)[begin:]
    if len(body) != budget.size_of(shape, where) * ITEM_SIZES[dtype]:
        raise ModelFormatError(f"{where} has shape {shape}, but {len(body)} bytes")
    return Elements(shape, dtype, body)


def write_npz(file: IO[bytes], tree: Group) -> None:
    """Write all arrays of a tree, each under its path."""
    members = ((f"{path}.npy", _pieces(elements)) for path, elements in tree.arrays())
    write_members(file, members)


def _pieces(elements: Elements) -> Iterator[Buffer]:
    if elements.dtype not in _DESCRIPTIONS:
        raise ValueError(f"elements of dtype {elements.dtype} cannot be saved in an npz file")
    shape = ", ".join(map(str, elements.shape)) + ("," if len(elements.shape) == 1 else "")
    header = (
        f"{{'descr': '{_DESCRIPTIONS[elements.dtype]}', 'fortran_order': False, "
        f"'shape': ({shape}), }}"
    )
    # The header is padded, so that the elements begin at a multiple of 64 bytes.
    size = 64 * -(-(11 + len(header)) // 64) - 10
    yield _MAGIC + b"\1\0" + size.to_bytes(2, "little")
    yield header.ljust(size - 1).encode() + b"\n"
    yield elements.data
