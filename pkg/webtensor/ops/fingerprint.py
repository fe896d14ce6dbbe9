"""FarmHash Fingerprint64 (Geoff Pike, Google, 2014): a hash of bytes that never changes.

TensorFlow's ``string_to_hash_bucket_fast`` is this number modulo the number of buckets. Names are
those of the original, `farmhashna::Hash64`; numbers are unsigned, of 64 bits.
"""

from __future__ import annotations

from struct import Struct

__all__ = ["fingerprint64"]

_MASK = 2**64 - 1
_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F


_one_of_64_bits = Struct("<Q").unpack_from
_two_of_64_bits = Struct("<2Q").unpack_from
_four_of_64_bits = Struct("<4Q").unpack_from
_one_of_32_bits = Struct("<I").unpack_from


def _fetch64(s: bytes, offset: int) -> int:
    number: int = _one_of_64_bits(s, offset)[0]
    return number


def _fetch32(s: bytes, offset: int) -> int:
    number: int = _one_of_32_bits(s, offset)[0]
    return number


def _rotate(value: int, shift: int) -> int:
    return (value >> shift | value << 64 - shift) & _MASK


def _shift_mix(value: int) -> int:
    return value ^ value >> 47


def _hash_len_16(u: int, v: int, mul: int) -> int:
    a = (u ^ v) * mul & _MASK
    b = (v ^ a ^ a >> 47) * mul & _MASK
    return (b ^ b >> 47) * mul & _MASK


def _hash_0_to_16(s: bytes) -> int:
    length = len(s)
    if length >= 8:
        mul = _K2 + length * 2 & _MASK
        a = _fetch64(s, 0) + _K2 & _MASK
        b = _fetch64(s, length - 8)
        c = _rotate(b, 37) * mul + a & _MASK
        d = (_rotate(a, 25) + b) * mul & _MASK
        return _hash_len_16(c, d, mul)
    if length >= 4:
        mul = _K2 + length * 2 & _MASK
        return _hash_len_16(length + (_fetch32(s, 0) << 3), _fetch32(s, length - 4), mul)
    if length > 0:
        y = s[0] + (s[length >> 1] << 8)
        z = length + (s[length - 1] << 2)
        return _shift_mix((y * _K2 ^ z * _K0) & _MASK) * _K2 & _MASK
    return _K2


def _hash_17_to_32(s: bytes) -> int:
    length = len(s)
    mul = _K2 + length * 2 & _MASK
    first, b = _two_of_64_bits(s, 0)
    before_last, last = _two_of_64_bits(s, length - 16)
    a = first * _K1 & _MASK
    c = last * mul & _MASK
    d = before_last * _K2 & _MASK
    u = _rotate(a + b & _MASK, 43) + _rotate(c, 30) + d & _MASK
    return _hash_len_16(u, a + _rotate(b + _K2 & _MASK, 18) + c & _MASK, mul)


def _hash_33_to_64(s: bytes) -> int:
    length = len(s)
    mul = _K2 + length * 2 & _MASK
    a = _fetch64(s, 0) * _K2 & _MASK
    b = _fetch64(s, 8)
    c = _fetch64(s, length - 8) * mul & _MASK
    d = _fetch64(s, length - 16) * _K2 & _MASK
    y = _rotate(a + b & _MASK, 43) + _rotate(c, 30) + d & _MASK
    z = _hash_len_16(y, a + _rotate(b + _K2 & _MASK, 18) + c & _MASK, mul)
    e = _fetch64(s, 16) * mul & _MASK
    f = _fetch64(s, 24)
    g = (y + _fetch64(s, length - 32)) * mul & _MASK
    h = (z + _fetch64(s, length - 24)) * mul & _MASK
    u = _rotate(e + f & _MASK, 43) + _rotate(g, 30) + h & _MASK
    return _hash_len_16(u, e + _rotate(f + a & _MASK, 18) + g & _MASK, mul)


def _weak_hash(s: bytes, offset: int, a: int, b: int) -> tuple[int, int]:
    """Hash of 32 bytes with seeds, in 16 bytes."""
    w, x, y, z = _four_of_64_bits(s, offset)
    a = a + w & _MASK
    b = _rotate(b + a + z & _MASK, 21)
    c = a
    a = a + x + y & _MASK
    b += _rotate(a, 44)
    return a + z & _MASK, b + c & _MASK


def fingerprint64(s: bytes) -> int:
    """Return the 64-bit fingerprint of some bytes."""
    length = len(s)
    if length <= 16:
        return _hash_0_to_16(s)
    if length <= 32:
        return _hash_17_to_32(s)
    if length <= 64:
        return _hash_33_to_64(s)
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
