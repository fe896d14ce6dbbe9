"""Checksums of arrays, in an attribute of a file's root, which Keras does not read."""

from __future__ import annotations

from zlib import crc32

from webtensor.errors import ModelFormatError
from webtensor.keras.saving.hdf5.tree import Group

__all__ = ["CHECKSUM", "checksum_of", "without_checksum"]

#: The attribute's name.
CHECKSUM = "webtensor_checksum"


def checksum_of(tree: Group) -> str:
    """Return a checksum of all arrays with their paths, dtypes and shapes."""
    total = 0
    for path, (shape, dtype, data) in sorted(tree.arrays(), key=lambda row: row[0]):
        total = crc32(f"{path} {dtype} {list(shape)}\n".encode(), total)
        for piece in data if dtype == "string" else (data,):
            # Files pad texts with zeros.
            total = crc32(piece.rstrip(b"\0") + b"\0" if dtype == "string" else piece, total)
    return f"crc32:{total:08x}"


def without_checksum(tree: Group, file: str) -> Group:
    """Compare the checksum of a tree, if it has one, and return the tree without it.

    Raises:
        ModelFormatError: the checksum differs.
    """
    stored = tree.attributes.pop(CHECKSUM, None)
    if isinstance(stored, str) and stored.startswith("crc32:") and stored != checksum_of(tree):
        raise ModelFormatError(
            f"{file}: its arrays are not those that were written, as their checksum is another; "
            f"where they were changed on purpose, delete the attribute {CHECKSUM!r} of the root"
        )
    return tree
