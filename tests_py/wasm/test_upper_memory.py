"""Kernels on memory above 2 GiB, whose addresses are negative as signed integers.

Everything below is in use, by blocks that nobody writes to and that cost the machine no memory.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

import webtensor as wt
from tests_py.cases import FAMILIES, failures, run_cases
from tests_py.wasm.conftest import start
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.memory import LARGEST_BLOCK
from webtensor.dtypes import float32, int32
from webtensor.errors import OutOfMemoryError

GIBIBYTE = 1 << 30
NAME = "upper_wasm"


def occupy_lower_half(backend: WasmBackend) -> list[int]:
    """Allocate blocks until none is left below 2 GiB."""
    blocks = []
    for size in (GIBIBYTE, *(1 << power for power in range(23, 5, -1))):
        while True:
            blocks.append(backend.allocate(size))
            if blocks[-1] >= 1 << 31:
                backend.release(blocks.pop())
                break
    backend.pool.trim()
    return blocks


def fill(backend: WasmBackend) -> list[int]:
    """Allocate blocks until there is no room for one of 64 bytes."""
    blocks = []
    for power in range(30, 5, -1):
        with suppress(OutOfMemoryError):
            while True:
                blocks.append(backend.allocate(1 << power))
    return blocks


@pytest.fixture(scope="module")
def upper() -> Iterator[WasmBackend]:
    """A backend under ``NAME`` whose free memory all lies above 2 GiB."""
    backend = start("relaxed")
    occupy_lower_half(backend)
    wt.register_backend(NAME, lambda: backend)
    yield backend
    wt.remove_backend(NAME)


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_of_the_table(upper: WasmBackend, family: str) -> None:
    cases = FAMILIES[family][::3]
    answer = asyncio.run(run_cases([case.encoded() for case in cases], NAME))
    assert not failures(cases, answer, "wasm")
    address = upper.allocate(64)
    assert address >= 1 << 31  # nothing has become free below
    upper.release(address)


def test_all_addresses_are_handed_out(fresh_wasm: WasmBackend) -> None:
    blocks = fill(fresh_wasm)
    used = fresh_wasm.memory()
    assert used["heap_bytes"] == (4 << 30) - (1 << 16)
    assert used["bytes"] > 0.99 * used["heap_bytes"]
    assert len(set(blocks)) == len(blocks)
    top = max(blocks)
    assert top > 0.99 * (4 << 30)

    # The kernels compute in the topmost block, up to its end.
    fresh_wasm.functions["fill", "float32"](top, 16, 2.0)
    fresh_wasm.functions["multiply", "float32"](top, top, top, 16)
    assert fresh_wasm.read(top, float32, 16).tolist() == [4.0] * 16

    for block in blocks:
        fresh_wasm.release(block)
    assert fresh_wasm.memory()["bytes"] == 0
    # Freed, they are one block of 4 GiB again, which has room for larger ones than any before.
    assert fresh_wasm.allocate(LARGEST_BLOCK)
    assert fresh_wasm.allocate(GIBIBYTE + GIBIBYTE // 2) > LARGEST_BLOCK


def test_what_has_no_room_leaves_nothing(fresh_wasm: WasmBackend) -> None:
    blocks = fill(fresh_wasm)
    with pytest.raises(OutOfMemoryError, match=r"no room for 64 bytes: .* beyond 4,294"):
        fresh_wasm.allocate(64)
    freed = blocks.pop(3)
    fresh_wasm.release(freed)
    x = np.arange(1000, dtype=np.int32)
    address = fresh_wasm.upload(x.data, int32)
    np.testing.assert_array_equal(np.array(fresh_wasm.read(address, int32, 1000)), x)
    assert fresh_wasm.memory()["blocks"] == len(blocks) + 1


def test_large_tensors_above_2_gib(upper: WasmBackend) -> None:
    """Tensors of 200 MB, which reach far beyond what fits below."""
    wt.set_backend(NAME)
    length = 50_000_000
    x = wt.full((length,), 1.5)
    y = x * 2.0
    assert y.storage.handle >= 1 << 31
    assert float(wt.max(y)) == float(wt.min(y)) == 3.0
    picked = wt.gather(y, wt.tensor([0, length // 2, length - 1]))
    assert picked.tolist() == [3.0, 3.0, 3.0]
    assert wt.slice(y, [length - 3], [3]).tolist() == [3.0] * 3
