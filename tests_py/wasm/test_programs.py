"""The places of temporary values in the block of a program."""

from random import Random

import pytest

from webtensor.backends.wasm.programs import Life, arranged


@pytest.mark.parametrize("seed", range(20))
def test_values_that_live_at_once_do_not_overlap(seed: int) -> None:
    random = Random(seed)
    lives = []
    for first in range(60):
        last = first + random.choice((0, 1, 1, 2, 3, 20))
        lives.append(Life(first, last, 64 * random.randint(1, 50)))
    offsets, size = arranged(lives)
    for index, (life, offset) in enumerate(zip(lives, offsets, strict=True)):
        assert 0 <= offset <= size - life.bytes
        for other, other_offset in list(zip(lives, offsets, strict=True))[:index]:
            apart = life.first > other.last or other.first > life.last
            assert (
                apart or offset >= other_offset + other.bytes or other_offset >= offset + life.bytes
            )
    most = max(
        sum(life.bytes for life in lives if life.first <= time <= life.last) for time in range(80)
    )
    assert most <= size <= 1.25 * most


def test_nothing_needs_no_room() -> None:
    assert arranged([]) == ([], 0)
