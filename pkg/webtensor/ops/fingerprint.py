"""Hashes of bytes that never change, as TensorFlow has them: one without a key, and one with.

The first is FarmHash's Fingerprint64 (Geoff Pike, Google, 2014).

TensorFlow's ``string_to_hash_bucket_fast`` is this number modulo the number of buckets. Names are
those of the original, `farmhashna::Hash64`; numbers are unsigned, of 64 bits.

Short texts of equal length take the same steps with the same factors, so their numbers are packed
into one large integer: each has a lane of 128 bits or more, with room for sums and products, and
the overflow in the upper half of a lane is masked away. Python computes with such integers in C.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from struct import Struct

__all__ = ["crossed_hash", "fingerprints64", "strong_hashes"]

_MASK = 2**64 - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F

#: Texts hashed at once: integers of many more would not stay in a processor's cache.
_BATCH = 4096


def fingerprints64(texts: Iterable[bytes]) -> dict[bytes, int]:
    """Return the 64-bit fingerprints of texts."""
    hashes: dict[bytes, int] = {}
    for length, group in groupby(sorted(dict.fromkeys(texts), key=len), len):
        alike = list(group)
        if length > 64:
            hashes.update(zip(alike, map(_hash_over_64, alike), strict=True))
            continue
        for begin in range(0, len(alike), _BATCH):
            batch = alike[begin : begin + _BATCH]
            hashes.update(zip(batch, _hash_to_64(batch, length), strict=True))
    return hashes


# -- steps, with a mask of the lower 64 bits of each lane -----------------------------------------


def _rotate(value: int, shift: int, mask: int = _MASK) -> int:
    return (value >> shift | value << 64 - shift) & mask


def _shift_mix(value: int, mask: int = _MASK) -> int:
    return (value ^ value >> 47) & mask


def _hash_len_16(u: int, v: int, mul: int, mask: int = _MASK) -> int:
    a = _shift_mix((u ^ v) * mul & mask, mask)
    b = _shift_mix((v ^ a) * mul & mask, mask)
    return b * mul & mask


# -- many texts at once, of up to 64 bytes --------------------------------------------------------


class _Lanes:
    """Texts of one length side by side, each at the lower end of a lane."""

    def __init__(self, texts: Sequence[bytes], length: int) -> None:
        self.length = length
        self.width = 16 if length <= 16 else 32 if length <= 32 else 64
        self.size = self.width * len(texts)
        self.texts = int.from_bytes(bytes(self.width - length).join(texts), "little")
        self.ones = int.from_bytes((b"\1" + bytes(self.width - 1)) * len(texts), "little")
        self.mask = self.ones * _MASK

    def fetch(self, offset: int) -> int:
        """Return the 64 bits of each text at an offset."""
        return self.texts >> 8 * offset & self.mask

    def fetch_short(self, offset: int, count: int) -> int:
        """Return fewer bytes than that."""
        return self.texts >> 8 * offset & self.ones * ((1 << 8 * count) - 1)

    def take_apart(self, numbers: int) -> list[int]:
        """Return the number of each text."""
        words = memoryview(numbers.to_bytes(self.size, "little")).cast("Q")
        return words[:: self.width // 8].tolist()


def _hash_to_64(texts: Sequence[bytes], length: int) -> list[int]:
    lanes = _Lanes(texts, length)
    function = _hash_0_to_16 if length <= 16 else _hash_17_to_32 if length <= 32 else _hash_33_to_64
    return lanes.take_apart(function(lanes))


def _hash_0_to_16(s: _Lanes) -> int:
    length, ones, mask = s.length, s.ones, s.mask
    mul = _K2 + length * 2 & _MASK
    if length >= 8:
        a = s.fetch(0) + ones * _K2 & mask
        b = s.fetch(length - 8)
        c = _rotate(b, 37, mask) * mul + a & mask
        d = (_rotate(a, 25, mask) + b & mask) * mul & mask
        return _hash_len_16(c, d, mul, mask)
    if length >= 4:
        first, last = s.fetch_short(0, 4), s.fetch_short(length - 4, 4)
        return _hash_len_16(ones * length + (first << 3), last, mul, mask)
    if length > 0:
        y = s.fetch_short(0, 1) + (s.fetch_short(length >> 1, 1) << 8)
        z = ones * length + (s.fetch_short(length - 1, 1) << 2)
        return _shift_mix((y * _K2 ^ z * _K0) & mask, mask) * _K2 & mask
    return ones * _K2


def _hash_17_to_32(s: _Lanes) -> int:
    length, mask = s.length, s.mask
    mul = _K2 + length * 2 & _MASK
    a = s.fetch(0) * _K1 & mask
    b = s.fetch(8)
    c = s.fetch(length - 8) * mul & mask
    d = s.fetch(length - 16) * _K2 & mask
    u = _rotate(a + b & mask, 43, mask) + _rotate(c, 30, mask) + d & mask
    v = a + _rotate(b + s.ones * _K2 & mask, 18, mask) + c & mask
    return _hash_len_16(u, v, mul, mask)


def _hash_33_to_64(s: _Lanes) -> int:
    length, mask = s.length, s.mask
    mul = _K2 + length * 2 & _MASK
    a = s.fetch(0) * _K2 & mask
    b = s.fetch(8)
    c = s.fetch(length - 8) * mul & mask
    d = s.fetch(length - 16) * _K2 & mask
    y = _rotate(a + b & mask, 43, mask) + _rotate(c, 30, mask) + d & mask
    v = a + _rotate(b + s.ones * _K2 & mask, 18, mask) + c & mask
    z = _hash_len_16(y, v, mul, mask)
    e = s.fetch(16) * mul & mask
    f = s.fetch(24)
    g = (y + s.fetch(length - 32) & mask) * mul & mask
    h = (z + s.fetch(length - 24) & mask) * mul & mask
    u = _rotate(e + f & mask, 43, mask) + _rotate(g, 30, mask) + h & mask
    v = e + _rotate(f + a & mask, 18, mask) + g & mask
    return _hash_len_16(u, v, mul, mask)


# -- one text at a time, of more than 64 bytes ----------------------------------------------------

_one_of_64_bits = Struct("<Q").unpack_from
_four_of_64_bits = Struct("<4Q").unpack_from


def _fetch64(s: bytes, offset: int) -> int:
    number: int = _one_of_64_bits(s, offset)[0]
    return number


def _weak_hash(s: bytes, offset: int, a: int, b: int) -> tuple[int, int]:
    """Hash of 32 bytes with seeds, in 16 bytes."""
    w, x, y, z = _four_of_64_bits(s, offset)
    a = a + w & _MASK
    b = _rotate(b + a + z & _MASK, 21)
    c = a
    a = a + x + y & _MASK
    b += _rotate(a, 44)
    return a + z & _MASK, b + c & _MASK


def _hash_over_64(s: bytes) -> int:
    length = len(s)
    # 56 bytes of state: v, w, x, y and z.
    seed = 81
    x = seed * _K2 + _fetch64(s, 0) & _MASK
    y = seed * _K1 + 113 & _MASK
    z = _shift_mix(y * _K2 + 113 & _MASK) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    end = (length - 1) // 64 * 64
    for offset in range(0, end, 64):
        x = _rotate(x + y + v[0] + _fetch64(s, offset + 8) & _MASK, 37) * _K1 & _MASK
        y = _rotate(y + v[1] + _fetch64(s, offset + 48) & _MASK, 42) * _K1 & _MASK
        x ^= w[1]
        y = y + v[0] + _fetch64(s, offset + 40) & _MASK
        z = _rotate(z + w[0] & _MASK, 33) * _K1 & _MASK
        v = _weak_hash(s, offset, v[1] * _K1 & _MASK, x + w[0] & _MASK)
        w = _weak_hash(s, offset + 32, z + w[1] & _MASK, y + _fetch64(s, offset + 16) & _MASK)
        z, x = x, z
    mul = _K1 + ((z & 0xFF) << 1) & _MASK
    # The last 64 bytes, which overlap with those before.
    offset = length - 64
    w = w[0] + (length - 1 & 63) & _MASK, w[1]
    v = v[0] + w[0] & _MASK, v[1]
    w = w[0] + v[0] & _MASK, w[1]
    x = _rotate(x + y + v[0] + _fetch64(s, offset + 8) & _MASK, 37) * mul & _MASK
    y = _rotate(y + v[1] + _fetch64(s, offset + 48) & _MASK, 42) * mul & _MASK
    x ^= w[1] * 9 & _MASK
    y = y + v[0] * 9 + _fetch64(s, offset + 40) & _MASK
    z = _rotate(z + w[0] & _MASK, 33) * mul & _MASK
    v = _weak_hash(s, offset, v[1] * mul & _MASK, x + w[0] & _MASK)
    w = _weak_hash(s, offset + 32, z + w[1] & _MASK, y + _fetch64(s, offset + 16) & _MASK)
    z, x = x, z
    first = _hash_len_16(v[0], w[0], mul) + _shift_mix(y) * _K0 + z & _MASK
    return _hash_len_16(first, _hash_len_16(v[1], w[1], mul) + x & _MASK, mul)


# -- keyed -------------------------------------------------------------------------------------

#: The initial state of SipHash (Aumasson and Bernstein, 2012), before the key is mixed in.
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


# -- crossings ---------------------------------------------------------------------------------

#: A multiplier.
_FACTOR = 0xC6A4A7935BD1E995


def crossed_hash(numbers: Iterable[int], key: int = 0xDECAFCAFFE) -> int:
    """Return one hash of several 64-bit numbers, which depends on their order."""
    crossing = key
    for number in numbers:
        crossing = _joined(crossing, number & _MASK)
    return crossing


def _joined(first: int, second: int) -> int:
    joined = first ^ _FACTOR
    joined ^= _shift_mix(second * _FACTOR & _MASK) * _FACTOR & _MASK
    joined = joined * _FACTOR & _MASK
    joined = _shift_mix(joined) * _FACTOR & _MASK
    return _shift_mix(joined)
