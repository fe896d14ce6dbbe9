"""News: 11,228 texts as indices of words, with their topics out of 46."""

from __future__ import annotations

from webtensor.keras.datasets.sources import Parts, numpy_for, read_arrays, shuffled, split
from webtensor.keras.datasets.word_indices import (
    object_array,
    offset_words,
    select_words,
    shorter_texts,
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
    """Return texts, as arrays of lists of the indices of words, and the indices of their topics.

    Words are ordered by their frequency. Indices from ``skip_top`` to below ``num_words`` are kept,
    others become ``oov_char``. Texts begin with ``start_char``, and their indices are increased by
    ``index_from``. Texts of ``maxlen`` words or more are dropped.
    """
    x, labels = shuffled("reuters", seed, *read_arrays("reuters", path, "x", "y"))
    texts = offset_words(x, start_char, index_from)
    if maxlen:
        texts, labels = shorter_texts(texts, labels, maxlen)
    selected = object_array("reuters", select_words(texts, num_words, skip_top, oov_char))
    return split(selected, numpy_for("reuters").array(labels), test_split)


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Return the indices of words, to which ``load_data`` adds ``index_from``."""
    return word_index("reuters", path, "4d44cc38712099c9e383dc6e5f11a921")


def get_label_names() -> tuple[str, ...]:
    """Return the names of the topics, in the order of their indices."""
    return tuple(_TOPICS.split())
