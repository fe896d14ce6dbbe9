"""Reviews of films: 50,000 texts as indices of words, with 1 for positive and 0 for negative."""

from __future__ import annotations

from webtensor.keras.datasets.sources import Array, Parts, numpy_for, read_arrays
from webtensor.keras.datasets.word_indices import (
    object_array,
    offset_words,
    select_words,
    shorter_texts,
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
    """Return texts, as arrays of lists of the indices of words, and 1 for each positive review.

    Words are ordered by their frequency. Indices from ``skip_top`` to below ``num_words`` are kept,
    others become ``oov_char``. Texts begin with ``start_char``, and their indices are increased by
    ``index_from``. Texts of ``maxlen`` words or more are dropped.

    Raises:
        ValueError: there is no text of fewer than ``maxlen`` words.
    """
    numpy = numpy_for("imdb")
    names = ("x_train", "y_train", "x_test", "y_test")
    arrays = read_arrays("imdb", path, *names)
    # Keras shuffles both parts with one generator, one after the other.
    random = numpy.random.RandomState(seed)
    parts: list[tuple[list[list[int]], Array]] = []
    for x, y in (arrays[:2], arrays[2:]):
        order = numpy.arange(len(x))
        random.shuffle(order)
        texts, labels = offset_words(x[order], start_char, index_from), y[order]
        parts.append(shorter_texts(texts, labels, maxlen) if maxlen else (texts, labels))
    (x_train, y_train), (x_test, y_test) = parts
    if not x_train or not x_test:
        raise ValueError(f"load_data: there is no text of fewer than maxlen={maxlen} words")
    texts = select_words(x_train + x_test, num_words, skip_top, oov_char)
    labels = numpy.concatenate([y_train, y_test])
    first = len(x_train)
    return (
        (object_array("imdb", texts[:first]), labels[:first]),
        (object_array("imdb", texts[first:]), labels[first:]),
    )


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Return the indices of words, to which ``load_data`` adds ``index_from``."""
    return word_index("imdb", path, "bfafd718b763782e994055a2d397834f")
