"""Texts as the numbers of their words, and which of them are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webtensor.keras.budgets import parse_json
from webtensor.keras.datasets.sources import ORIGIN, numpy_for
from webtensor.keras.utils.downloads import get_file

__all__ = ["as_objects", "kept_words", "numbered", "short_ones", "word_index"]


def numbered(texts: Any, start_char: int | None, index_from: int) -> list[list[int]]:
    """Count words from ``index_from`` on, with ``start_char`` before each text."""
    if start_char is None:
        return [[word + (index_from or 0) for word in text] for text in texts]
    return [[start_char, *(word + index_from for word in text)] for text in texts]


def short_ones(texts: list[list[int]], labels: Any, maxlen: int) -> tuple[list[list[int]], Any]:
    """Return the texts of fewer than ``maxlen`` words, and their labels."""
    places = [place for place, text in enumerate(texts) if len(text) < maxlen]
    return [texts[place] for place in places], [labels[place] for place in places]


def kept_words(
    texts: list[list[int]], num_words: int | None, skip_top: int, oov_char: int | None
) -> list[list[int]]:
    """Replace words that are too frequent or too rare by ``oov_char``, or leave them out."""
    most = num_words or max(map(max, texts))
    if oov_char is None:
        return [[word for word in text if skip_top <= word < most] for text in texts]
    return [[word if skip_top <= word < most else oov_char for word in text] for text in texts]


def as_objects(name: str, texts: list[list[int]]) -> Any:
    """Return an array of lists."""
    found = numpy_for(name).empty(len(texts), dtype=object)
    found[:] = texts
    return found


def word_index(name: str, path: str, file_hash: str) -> dict[str, int]:
    """Fetch the numbers of words."""
    kept = get_file(path, origin=f"{ORIGIN}{name}_word_index.json", file_hash=file_hash)
    found: dict[str, int] = parse_json(Path(kept).read_bytes(), kept)
    return found
