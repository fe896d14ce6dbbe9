"""The character model against the best model that sees one character."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from threadpoolctl import threadpool_limits

import webtensor as wt
from docs.examples import character_model

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(autouse=True)
def single_thread() -> Iterator[None]:
    """Compute in one thread: for matrices this small, threads only wait for each other."""
    with threadpool_limits(1):
        yield


def test_windows_are_followed_by_their_next_characters() -> None:
    pairs = character_model.windows(wt.arange(24, dtype="int32")).to_list()
    assert [(text.tolist(), following.tolist()) for text, following in pairs] == [
        (list(range(start, start + 20)), list(range(start + 1, start + 21))) for start in (0, 3)
    ]


def test_the_model_uses_more_than_the_last_character(capsys: pytest.CaptureFixture[str]) -> None:
    text = character_model.rhyme()
    pairs, characters = Counter(pairwise(text)), Counter(text[:-1])
    entropy = -sum(
        count * math.log(count / characters[first]) for (first, _), count in pairs.items()
    ) / (len(text) - 1)
    (losses,) = character_model.main(epochs=5).series
    assert losses.points[-1][1] < 0.6 * entropy
    recited = capsys.readouterr().out
    assert recited.startswith("this is the ")
    assert set(recited) <= set(text)
