"""Hashes of texts, as TensorFlow computes them: the same in every process and on every platform."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from webtensor.ops.fingerprint import fingerprints64, strong_hashes

__all__ = ["Salt", "checked_salt", "crossed_hash", "fast_hashes", "strong_hashes"]

#: The key of a hash: two integers, one for both, or None for a hash without a key.
Salt: TypeAlias = int | Sequence[int] | None

_MASK = 2**64 - 1
#: The hash of an empty crossing, and a multiplier.
_EMPTY = 0xDECAFCAFFE
_FACTOR = 0xC6A4A7935BD1E995

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


# -- crossings ---------------------------------------------------------------------------------


def crossed_hash(numbers: Iterable[int]) -> int:
    """Return one hash of several 64-bit numbers, which depends on their order."""
    crossing = _EMPTY
    for number in numbers:
        crossing = _joined(crossing, number & _MASK)
    return crossing


def _mixed(x: int) -> int:
    return x ^ x >> 47


def _joined(first: int, second: int) -> int:
    joined = first ^ _FACTOR
    joined ^= _mixed(second * _FACTOR & _MASK) * _FACTOR & _MASK
    joined = joined * _FACTOR & _MASK
    joined = _mixed(joined) * _FACTOR & _MASK
    return _mixed(joined)
