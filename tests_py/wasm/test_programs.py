"""The places of temporary values in the block of a program."""

from random import Random

import numpy as np
import pytest

import webtensor as wt
from webtensor.backends.wasm.temporary_memory import Lifetime, arranged


@pytest.mark.parametrize("seed", range(20))
def test_values_that_live_at_once_do_not_overlap(seed: int) -> None:
    random = Random(seed)
    lifetimes = []
    for first in range(60):
        last = first + random.choice((0, 1, 1, 2, 3, 20))
        lifetimes.append(Lifetime(first, last, 64 * random.randint(1, 50)))
    offsets, size = arranged(lifetimes)
    for index, (lifetime, offset) in enumerate(zip(lifetimes, offsets, strict=True)):
        assert 0 <= offset <= size - lifetime.bytes
        for other, other_offset in list(zip(lifetimes, offsets, strict=True))[:index]:
            apart = lifetime.first > other.last or other.first > lifetime.last
            assert (
                apart
                or offset >= other_offset + other.bytes
                or other_offset >= offset + lifetime.bytes
            )
    most = max(
        sum(lifetime.bytes for lifetime in lifetimes if lifetime.first <= time <= lifetime.last)
        for time in range(80)
    )
    assert most <= size <= 1.25 * most


def test_programs_share_the_memory_of_temporary_values() -> None:
    wt.set_backend("wasm")

    def sums(x: wt.Tensor) -> wt.Tensor:
        for _ in range(6):
            x = wt.cumsum(x) / 8  # no two of these calls are one
        return x

    def used() -> int:
        return wt.memory()["backends"]["wasm"]["bytes"]

    inputs = [wt.random_uniform((size,), seed=size) for size in (1000, 100_000, 200_000, 2000)]
    expected = [sums(x).numpy() for x in inputs]
    before = used()
    captured = wt.function(sums)
    for _ in range(3):  # the block grows, and programs from before are compiled again
        for x, y in zip(inputs, expected, strict=True):
            np.testing.assert_array_equal(captured(x).numpy(), y)
    largest = 2 * 4 * 200_000  # two values live at once
    assert largest <= used() - before <= 1.1 * largest
    captured.clear()
    assert used() == before


def test_nothing_needs_no_room() -> None:
    assert arranged([]) == ([], 0)
