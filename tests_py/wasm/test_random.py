"""Random bits, against the generator's published test vectors and a plain Python version."""

import numpy as np
import pytest

from tests_py.wasm.kernels import call
from webtensor.backends.wasm.backend import WasmBackend

MASK = 0xFFFFFFFF


def threefry(counter: tuple[int, int], key: tuple[int, int]) -> tuple[int, int]:
    """Threefry-2x32 with 20 rounds, as its authors wrote it down."""
    keys = (*key, 0x1BD11BDA ^ key[0] ^ key[1])
    x, y = (counter[0] + keys[0]) & MASK, (counter[1] + keys[1]) & MASK
    for step in range(20):
        by = (13, 15, 26, 6, 17, 29, 16, 24)[step % 8]
        x = (x + y) & MASK
        y = ((y << by | y >> (32 - by)) & MASK) ^ x
        if step % 4 == 3:
            injection = step // 4 + 1
            x = (x + keys[injection % 3]) & MASK
            y = (y + keys[(injection + 1) % 3] + injection) & MASK
    return x, y


def test_oracle_gives_the_published_vectors() -> None:
    assert threefry((0, 0), (0, 0)) == (0x6B200159, 0x99BA4EFE)
    assert threefry((MASK, MASK), (MASK, MASK)) == (0x1CB996FC, 0xBB002BE7)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 31, 1000])
@pytest.mark.parametrize("key", [(0, 0), (MASK, MASK), (0x13198A2E, 0x03707344)])
def test_random_bits(wasm: WasmBackend, size: int, key: tuple[int, int]) -> None:
    words = [word for block in range((size + 1) // 2) for word in threefry((block, 0), key)]
    got = call(wasm, "random_bits", [], (size,), "int32", *key)
    np.testing.assert_array_equal(got.view(np.uint32), np.array(words[:size], np.uint32))
