"""Checksums of files: CRC-32 against damage, SHA-256 against changes."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from zlib import crc32

from webtensor.errors import ModelFormatError
from webtensor.formats.element_types import Buffer

__all__ = ["check_integrity", "checksum_of", "is_checksum"]

_ALGORITHMS = ("crc32", "sha256")


def checksum_of(pieces: Iterable[Buffer], algorithm: str = "crc32") -> str:
    """Return the checksum of bytes in pieces, after the name of its algorithm.

    Args:
        pieces: the bytes.
        algorithm: "crc32" or "sha256".

    Raises:
        ValueError: there is no such algorithm.

    Example:
        >>> checksum_of([b"12345", b"6789"])
        'crc32:cbf43926'
    """
    if algorithm == "crc32":
        value = 0
        for piece in pieces:
            value = crc32(piece, value)
        return f"crc32:{value:08x}"
    if algorithm == "sha256":
        digest = hashlib.sha256()
        for piece in pieces:
            digest.update(piece)
        return f"sha256:{digest.hexdigest()}"
    raise ValueError(f"checksum must be 'crc32' or 'sha256', but is {algorithm!r}")


def check_integrity(expected: str, pieces: Iterable[Buffer], label: str) -> None:
    """Compare a checksum with that of a file's bytes; those of other algorithms are ignored.

    Args:
        expected: a result of ``checksum_of``, or one in the form of pages, "sha256-" and base64.
        pieces: the bytes of the file.
        label: what errors call the file.

    Raises:
        ModelFormatError: the checksum differs.

    Example:
        >>> check_integrity("crc32:cbf43926", [b"123456789"], "weights.bin")
        >>> check_integrity("crc32:cbf43926", [b"12345678"], "weights.bin")
        Traceback (most recent call last):
        webtensor.errors.ModelFormatError: weights.bin is not what was written: its checksum is ...
    """
    if not is_checksum(expected):
        return
    expected = _normalized(expected)
    actual = checksum_of(pieces, expected.partition(":")[0])
    if actual != expected:
        raise ModelFormatError(
            f"{label} is not what was written: its checksum is {actual}, not {expected:.100}"
        )


def is_checksum(text: object) -> bool:
    """Whether this is a checksum of an algorithm that is known here.

    Example:
        >>> is_checksum("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="), is_checksum("md5:0")
        (True, False)
    """
    return isinstance(text, str) and _normalized(text).partition(":")[0] in _ALGORITHMS


def _normalized(checksum: str) -> str:
    """Return a checksum in the form of ``checksum_of``."""
    algorithm, separator, digest = checksum.partition("-")
    if not separator or ":" in algorithm:
        return checksum.lower()
    try:
        return f"{algorithm}:{base64.b64decode(digest, validate=True).hex()}"
    except (binascii.Error, ValueError):
        return f"{algorithm}:{digest}"
