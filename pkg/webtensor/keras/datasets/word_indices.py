"""Texts as the indices of their words: offsets, and the selection of texts and words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from webtensor.formats.budgets import parse_json
from webtensor.keras.datasets.sources import ORIGIN, Array, numpy_for
from webtensor.keras.utils.downloads import get_file

__all__ = ["object_array", "offset_words", "select_words", "shorter_texts", "word_index"]


def offset_words(
    texts: Iterable[Iterable[int]], start_char: int | None, index_from: int
) -> list[list[int]]:
    """Add ``index_from`` to the indices of words, and begin each text with ``start_char``."""
    if start_char is None:
        return [[word + (index_from or 0) for word in text] for text in texts]
    return [[start_char, *(word + index_from for word in text)] for text in texts]


def shorter_texts(
    texts: list[list[int]], labels: Array, maxlen: int
) -> tuple[list[list[int]], Array]:
    """Return the texts of fewer than ``maxlen`` words, and their labels."""
    indices = [index for index, text in enumerate(texts) if len(text) < maxlen]
    return [texts[index] for index in indices], labels[indices]


def select_words(
    texts: list[list[int]], num_words: int | None, skip_top: int, oov_char: int | None
) -> list[list[int]]:
    """Replace indices below ``skip_top``, or from ``num_words`` on, by ``oov_char``.

    If ``oov_char`` is None, drop them.
    """
    end = num_words or max(map(max, texts))
    if oov_char is None:
        return [[word for word in text if skip_top <= word < end] for text in texts]
    return [[word if skip_top <= word < end else oov_char for word in text] for text in texts]


def object_array(name: str, texts: list[list[int]]) -> Array:
    """Return an array of lists."""
    array: Array = numpy_for(name).empty(len(texts), dtype=object)
    array[:] = texts
    return array


def word_index(name: str, path: str, file_hash: str) -> dict[str, int]:
    """Download the indices of words."""
    file = get_file(path, origin=f"{ORIGIN}{name}_word_index.json", file_hash=file_hash)
    indices: dict[str, int] = parse_json(Path(file).read_bytes(), file)
    return indices
