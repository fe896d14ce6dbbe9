"""News: 11,228 texts as numbers of words, and which of 46 topics they have."""

from __future__ import annotations

from webtensor.keras.datasets.sources import Parts, numpy_for, parted, read_arrays, shuffled
from webtensor.keras.datasets.word_indices import (
    as_objects,
    kept_words,
    numbered,
    short_ones,
    word_index,
)

__all__ = ["get_label_names", "get_word_index", "load_data"]

_TOPICS = (
    "cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves "
    "ship cotton carcass crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin "
    "strategic-metal livestock retail ipi iron-steel rubber heat jobs lei bop zinc orange pet-chem "
    "dlr gas silver wpi hog lead"
)


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> Parts:
    """Return texts, as arrays of lists of the numbers of words, and the numbers of their topics.

    Words are numbered by how frequent they are. Of the ``num_words`` most frequent ones all but the
    first ``skip_top`` are kept; others become ``oov_char``.
    """
    texts, labels = shuffled("reuters", seed, *read_arrays("reuters", path, "x", "y"))
    held = numbered(texts, start_char, index_from)
    if maxlen:
        held, labels = short_ones(held, labels, maxlen)
    kept = as_objects("reuters", kept_words(held, num_words, skip_top, oov_char))
    return parted(kept, numpy_for("reuters").array(labels), test_split)


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Return the numbers of words; ``load_data`` adds ``index_from`` to them."""
    return word_index("reuters", path, "4d44cc38712099c9e383dc6e5f11a921")


def get_label_names() -> tuple[str, ...]:
    """Return the topics, by their numbers."""
    return tuple(_TOPICS.split())
