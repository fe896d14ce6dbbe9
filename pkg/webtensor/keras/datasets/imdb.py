"""Reviews of films: 50,000 texts as numbers of words, and whether they praise."""

from __future__ import annotations

from typing import Any

from webtensor.keras.datasets.sources import Parts, numpy_for, read_arrays
from webtensor.keras.datasets.word_indices import (
    as_objects,
    kept_words,
    numbered,
    short_ones,
    word_index,
)

__all__ = ["get_word_index", "load_data"]


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
) -> Parts:
    """Return texts, as arrays of lists of the numbers of words, and 1 for each that praises.

    Words are numbered by how frequent they are. Of the ``num_words`` most frequent ones all but the
    first ``skip_top`` are kept; others become ``oov_char``.

    Raises:
        ValueError: there is no text of fewer than ``maxlen`` words.
    """
    numpy = numpy_for("imdb")
    names = ("x_train", "y_train", "x_test", "y_test")
    arrays = read_arrays("imdb", path, *names)
    # Both parts are put in order by the same random numbers, one part after the other.
    random = numpy.random.RandomState(seed)
    parts: list[tuple[list[list[int]], Any]] = []
    for x, y in (arrays[:2], arrays[2:]):
        order = numpy.arange(len(x))
        random.shuffle(order)
        texts, labels = numbered(x[order], start_char, index_from), y[order]
        parts.append(short_ones(texts, labels, maxlen) if maxlen else (texts, labels))
    (x_train, y_train), (x_test, y_test) = parts
    if not x_train or not x_test:
        raise ValueError(f"load_data: there is no text of fewer than maxlen={maxlen} words")
    kept = kept_words(x_train + x_test, num_words, skip_top, oov_char)
    labels = numpy.concatenate([y_train, y_test])
    first = len(x_train)
    return (
        (as_objects("imdb", kept[:first]), labels[:first]),
        (as_objects("imdb", kept[first:]), labels[first:]),
    )


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Return the numbers of words; ``load_data`` adds ``index_from`` to them."""
    return word_index("imdb", path, "bfafd718b763782e994055a2d397834f")
