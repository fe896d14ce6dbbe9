"""Hashes of texts, as TensorFlow computes them: the same in every process and on every platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from webtensor.ops.fingerprint import crossed_hash, fingerprints64, strong_hashes

__all__ = ["Salt", "checked_salt", "crossed_hash", "fast_hashes", "strong_hashes"]

#: The key of a hash: two integers, one for both, or None for a hash without a key.
Salt: TypeAlias = int | Sequence[int] | None

fast_hashes = fingerprints64


def checked_salt(name: str, salt: Salt) -> list[int] | None:
    """Return the key that a salt stands for.

    Raises:
        ValueError: the salt is neither an integer nor two of them.
    """
    if salt is None:
        return None
    if isinstance(salt, int):
        return [salt, salt]
    if isinstance(salt, (list, tuple)) and len(salt) == 2:
        return list(salt)
    raise ValueError(f"{name}: salt must be an integer or two of them, but got salt={salt!r}")
