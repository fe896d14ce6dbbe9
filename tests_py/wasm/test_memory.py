"""The allocator and the pool of blocks in front of it."""

import random

import numpy as np
import pytest

import webtensor as wt
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.backends.wasm.memory import LARGEST_BLOCK, size_class
from webtensor.dtypes import float32, int32
from webtensor.errors import BackendError, OutOfMemoryError

MEGABYTE = 1 << 20


def test_size_classes_waste_little_and_are_aligned() -> None:
    for count in (*range(1, 5000), 10**6, 10**6 + 1, 2**30 + 1):
        size = size_class(count)
        assert size >= count
        assert size % 64 == 0
        assert size - count < 64 or size <= count * 1.13


def test_blocks_do_not_overlap_and_keep_their_contents(fresh_wasm: WasmBackend) -> None:
    """A soak: random sizes and lifetimes, every block's contents checked when it dies."""
    draw = random.Random(6)
    blocks: list[tuple[int, int, int]] = []
    for stamp in range(3000):
        if blocks and draw.random() < 0.45:
            address, count, mark = blocks.pop(draw.randrange(len(blocks)))
            assert set(fresh_wasm.read(address, int32, count)) == {mark}
            fresh_wasm.release(address)
        else:
            count = int(2 ** draw.uniform(0, 14))
            address = fresh_wasm.upload(np.full(count, stamp, np.int32).data, int32)
            assert address % 16 == 0
            blocks.append((address, count, stamp))
    for address, count, mark in blocks:
        assert set(fresh_wasm.read(address, int32, count)) == {mark}
        fresh_wasm.release(address)
    counts = fresh_wasm.memory()
    assert counts["bytes"] == counts["blocks"] == 0


def test_fragmentation_stays_bounded(fresh_wasm: WasmBackend) -> None:
    """A long soak of mixed sizes, whose sum stays about the same, never needs much more memory."""
    draw = random.Random(8)
    blocks: list[int] = []
    peak = 0
    for step in range(100_000):
        if step % 1000 == 0:
            peak = max(peak, fresh_wasm.memory()["bytes"])
        if len(blocks) > 400:
            fresh_wasm.release(blocks.pop(draw.randrange(len(blocks))))
        else:
            largest = 17 + step // 25_000  # sizes grow with time, so parked ones stop fitting
            blocks.append(fresh_wasm.allocate(int(2 ** draw.uniform(4, largest))))
    assert peak > 16 * MEGABYTE // 8
    assert fresh_wasm.memory()["heap_bytes"] < max(16 * MEGABYTE, 3 * peak)
    for address in blocks:
        fresh_wasm.release(address)
    assert fresh_wasm.memory()["blocks"] == 0


def test_the_allocator_joins_what_is_freed(fresh_wasm: WasmBackend) -> None:
    """Directly on the exports: after any pattern of use, all memory is one block again."""
    allocate, release = (fresh_wasm.host.function(name) for name in ("allocate", "release"))
    in_use = fresh_wasm.host.function("bytes_in_use")
    heap = fresh_wasm.memory()["heap_bytes"]
    draw = random.Random(7)
    for _ in range(3):
        blocks = [allocate(draw.randrange(1, 60_000), 0) for _ in range(150)]
        assert all(blocks)
        assert len(set(blocks)) == len(blocks)
        draw.shuffle(blocks)
        for block in blocks:
            release(block)
        assert in_use() == 0
    nearly_all = allocate(13 * MEGABYTE, 0)
    assert nearly_all
    release(nearly_all)
    assert fresh_wasm.memory()["heap_bytes"] == heap


def test_freed_blocks_are_reused_without_the_allocator(fresh_wasm: WasmBackend) -> None:
    first = fresh_wasm.allocate(1000)
    fresh_wasm.release(first)
    assert fresh_wasm.allocate(990) == first


def test_memory_grows_and_parked_blocks_are_used_before(fresh_wasm: WasmBackend) -> None:
    before = fresh_wasm.memory()["heap_bytes"]
    for _ in range(3):
        blocks = [fresh_wasm.allocate(5 * MEGABYTE + 1000 * i) for i in range(10)]
        for block in blocks:
            fresh_wasm.release(block)
    grown = fresh_wasm.memory()
    assert before < grown["heap_bytes"] < before + 80 * MEGABYTE
    assert grown["parked_bytes"] >= 50 * MEGABYTE
    # One block as large as all the parked ones together.
    fresh_wasm.release(fresh_wasm.allocate(48 * MEGABYTE))
    assert fresh_wasm.memory()["heap_bytes"] == grown["heap_bytes"]


def test_contents_survive_growth(fresh_wasm: WasmBackend) -> None:
    x = np.arange(1000, dtype=np.float32)
    address = fresh_wasm.upload(x.data, float32)
    fresh_wasm.release(fresh_wasm.allocate(64 * MEGABYTE))
    np.testing.assert_array_equal(np.array(fresh_wasm.read(address, float32, 1000)), x)


@pytest.mark.parametrize("count", [3 << 30, LARGEST_BLOCK + 1, 1 << 40])
def test_out_of_memory_names_the_bytes_wanted(fresh_wasm: WasmBackend, count: int) -> None:
    address = fresh_wasm.allocate(100)
    with pytest.raises(OutOfMemoryError, match=f"no room for {count:,} bytes") as caught:
        fresh_wasm.allocate(count)
    assert isinstance(caught.value, BackendError)
    assert isinstance(caught.value, MemoryError)
    fresh_wasm.release(address)
    assert fresh_wasm.memory()["blocks"] == 0
    fresh_wasm.release(fresh_wasm.allocate(1000))


def test_reads_own_their_copy(wasm: WasmBackend) -> None:
    address = wasm.upload(np.array([1, 2], np.float32).data, float32)
    read = wasm.read(address, float32, 2)
    assert read.format == "f"
    assert read.tolist() == [1, 2]
    wasm.release(address)
    address = wasm.upload(np.array([5, 6], np.float32).data, float32)
    assert read.tolist() == [1, 2]
    wasm.release(address)


def test_tensors_of_the_engine_leave_nothing_behind() -> None:
    wt.set_backend("wasm")

    def counts() -> tuple[int, int]:
        memory = wt.backend().memory()
        return memory["blocks"], memory["bytes"]

    before = counts()
    x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(50):
        y = wt.softmax(wt.matmul(x, x)) + wt.sum(x)
        assert y.shape == (2, 2)
    del x, y
    assert counts() == before
