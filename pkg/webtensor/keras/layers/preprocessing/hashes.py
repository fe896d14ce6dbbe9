"""Hashes of texts, as TensorFlow computes them: the same in every process and on every platform."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from webtensor.ops.fingerprint import fingerprints64

__all__ = ["Salt", "checked_salt", "crossed_hash", "fast_hashes", "strong_hashes"]

#: The key of a hash: two integers, one for both, or None for a hash without a key.
Salt: TypeAlias = int | Sequence[int] | None

_MASK = 2**64 - 1
#: The hash of an empty crossing, and a multiplier.
_EMPTY = 0xDECAFCAFFE
_FACTOR = 0xC6A4A7935BD1E995
#: The initial state of SipHash (Aumasson and Bernstein, 2012), before the key is mixed in.
_INITIAL_STATE = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)

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


# -- keyed -------------------------------------------------------------------------------------


def strong_hashes(texts: Iterable[bytes], key: Sequence[int]) -> dict[bytes, int]:
    """Return the SipHash-2-4 hashes of texts, which cannot be predicted without the key."""
    return {text: _sip_hash(text, key) for text in set(texts)}


def _sip_hash(text: bytes, key: Sequence[int]) -> int:
    v0, v1, v2, v3 = (word ^ key[i % 2] & _MASK for i, word in enumerate(_INITIAL_STATE))
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) & 0xFF])
    for begin in range(0, len(padded), 8):
        word = int.from_bytes(padded[begin : begin + 8], "little")
        v0, v1, v2, v3 = _rounds(v0, v1, v2, v3 ^ word, 2)
        v0 ^= word
    v0, v1, v2, v3 = _rounds(v0, v1, v2 ^ 0xFF, v3, 4)
    return v0 ^ v1 ^ v2 ^ v3


def _rotated(x: int, bits: int) -> int:
    return (x << bits | x >> 64 - bits) & _MASK


def _rounds(v0: int, v1: int, v2: int, v3: int, count: int) -> tuple[int, int, int, int]:
    for _ in range(count):
        v0 = v0 + v1 & _MASK
        v2 = v2 + v3 & _MASK
        v1 = _rotated(v1, 13) ^ v0
        v3 = _rotated(v3, 16) ^ v2
        v0 = _rotated(v0, 32)
        v2 = v2 + v1 & _MASK
        v0 = v0 + v3 & _MASK
        v1 = _rotated(v1, 17) ^ v2
        v3 = _rotated(v3, 21) ^ v0
        v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


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
