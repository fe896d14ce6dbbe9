"""Random bits by Threefry-2x32 (Salmon et al., SC 2011)."""

from __future__ import annotations

import numpy as np

from webtensor.backends.api import Handle
from webtensor.backends.numpy.backend import Array, Arrays, kernel
from webtensor.backends.signatures import Signature

__all__: list[str] = []

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def _rotate(x: Array, by: int) -> Array:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


@kernel("random_bits")
def random_bits(of: Signature, arrays: Arrays, key0: int, key1: int) -> Handle:
    """Element ``i`` is word ``i & 1`` of the block whose counter is ``i >> 1``."""
    size = of.size
    keys = [np.uint32(key) for key in (key0, key1, key0 ^ key1 ^ _PARITY)]
    first = np.arange((size + 1) // 2, dtype=np.uint32) + keys[0]
    second = np.full_like(first, keys[1])
    for group in range(5):
        for by in _ROTATIONS[group % 2]:
            first = first + second
            second = _rotate(second, by) ^ first
        first = first + keys[(group + 1) % 3]
        second = second + keys[(group + 2) % 3] + np.uint32(group + 1)
    words = np.stack([first, second], axis=1).reshape(-1)[:size]
    return words.view(np.int32).reshape(of.shape)
