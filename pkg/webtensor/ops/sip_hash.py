"""SipHash-2-4 (Aumasson and Bernstein, 2012): a hash of bytes that needs a key.

TensorFlow's ``string_to_hash_bucket_strong`` is this number modulo the number of buckets. Numbers
are unsigned, of 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["strong_hashes"]

_MASK = 2**64 - 1
#: The initial state, before the key is mixed in.
_INITIAL_STATE = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


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
