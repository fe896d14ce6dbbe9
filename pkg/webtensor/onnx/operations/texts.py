"""Operators on texts, which are on the host, and on their words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from math import isinf
from operator import add
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.formats.regular_expressions import compile_re2
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator, numbers
from webtensor.onnx.operations.shapes import host_shape
from webtensor.shapes import broadcast_shapes

__all__ = ["ROWS", "cast_texts"]

_CASES: dict[str, Callable[[str], str]] = {"LOWER": str.lower, "NONE": str, "UPPER": str.upper}
#: What Tokenizer puts around the words of a text.
_START, _END = "\x02", "\x03"


def _tensor(texts: Sequence[str], shape: Sequence[int]) -> Tensor:
    return ops.tensor(texts, dtype="string", shape=tuple(shape))


def _padded(rows: Sequence[Sequence[str]], shape: Sequence[int], padding: str) -> Tensor:
    """Return texts of shape (*shape, words); rows of fewer words end with a padding."""
    width = max(map(len, rows), default=0)
    result_shape = host_shape(*shape, width)
    texts = [text for row in rows for text in (*row, *repeat(padding, width - len(row)))]
    return _tensor(texts, result_shape)


def _separator(patterns: Sequence[str]) -> re.Pattern[str] | None:
    """Return what matches each of Tokenizer's separators; an empty one is between letters."""
    if [*patterns] == [""]:
        return re.compile("(?s)(?<=.)(?=.)")
    return compile_re2("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


def cast_texts(x: Tensor, dtype: str) -> Tensor:
    """Return numbers as texts, or texts as numbers, of which integers lose their fractions."""
    elements = numbers(x)
    if dtype == "string":
        elements = [element if isinstance(element, str) else _text(element) for element in elements]
    else:
        elements = [float(element) for element in elements]
    if dtype == "int32":
        elements = [max(-(2**31), min(int(element), 2**31 - 1)) for element in elements]
    return ops.tensor(elements, dtype=dtype, shape=x.shape)


def _text(number: float) -> str:
    """Return what ONNX Runtime writes for a number."""
    if number != number:
        return "NaN"
    text = f"{number:.8g}" if isinstance(number, float) else str(int(number))
    return text.upper() if isinf(number) else text


def normalized(
    x: Tensor,
    *,
    case_change_action: str = "NONE",
    is_case_sensitive: int = 0,
    stopwords: Sequence[str] = (),
) -> Tensor:
    """Remove words, and change the case of the others."""
    if case_change_action not in _CASES:
        raise ValueError(f"case_change_action is {case_change_action!r:.200}")
    change = _CASES[case_change_action]
    compared = _CASES["NONE" if is_case_sensitive else "LOWER"]
    removed = set(map(compared, stopwords))
    words = [change(word) for word in numbers(x) if compared(word) not in removed] or [""]
    return _tensor(words, (*x.shape[:-1], len(words)))


def joined(x: Tensor, y: Tensor) -> Tensor:
    """Append texts to others."""
    shape = broadcast_shapes("StringConcat", x.shape, y.shape)
    sides = [numbers(ops.broadcast_to(side, shape)) for side in (x, y)]
    return _tensor([*map(add, *sides)], shape)


def split(x: Tensor, *, delimiter: str = "", maxsplit: int = -1) -> tuple[Tensor, Tensor]:
    """Return the parts of texts, and their number."""
    rows = [text.split(delimiter or None, maxsplit) if text else [] for text in numbers(x)]
    counts = ops.tensor([len(row) for row in rows], dtype="int32", shape=x.shape)
    return _padded(rows, x.shape, ""), counts


def matches(x: Tensor, *, pattern: re.Pattern[str]) -> Tensor:
    """Whether a regular expression describes each whole text."""
    results = [pattern.fullmatch(text) is not None for text in numbers(x)]
    return ops.tensor(results, dtype="bool", shape=x.shape)


def tokens(
    x: Tensor,
    *,
    mark: int,
    mincharnum: int,
    pad_value: str,
    separators: re.Pattern[str] | None = None,
    tokenexp: re.Pattern[str] = re.compile(""),
) -> Tensor:
    """Return the words of texts: what an expression matches, or what lies between separators."""
    rows = []
    for text in numbers(x):
        if separators:
            words = separators.sub("\0", text).split("\0")
        else:
            words = [match[0] for match in tokenexp.finditer(text)]
        rows.append([word for word in words if len(word) >= mincharnum])
    if mark and any(rows):
        rows = [[_START, *row, _END] for row in rows]
    return _padded(rows, x.shape, pad_value)


def gram_frequencies(
    x: Tensor,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: list[int],
    ngram_indexes: list[int],
    pool_int64s: Sequence[int] = (),
    pool_strings: Sequence[str] = (),
    weights: list[float] | None = None,
) -> Tensor:
    """Count how often sequences of words occur, whose words may lie apart."""
    grams = _grams([*pool_int64s, *pool_strings], ngram_counts)
    columns = dict(zip(grams, ngram_indexes, strict=False))
    factors = dict(zip(grams, weights or [1.0] * len(grams), strict=False))
    texts = x.tolist() if len(x.shape) == 2 else [x.tolist()]
    shape = host_shape(*x.shape[:-1], max(ngram_indexes, default=-1) + 1)
    rows = [[0.0] * shape[-1] for _ in texts]
    lengths = range(max(min_gram_length, 1), min(max_gram_length, len(ngram_counts)) + 1)
    for row, words in zip(rows, texts, strict=True):
        counts = Counter(_occurrences(words, lengths, max_skip_count + 1))
        for gram in columns.keys() & counts.keys():
            count = 1 if mode == "IDF" else counts[gram]
            row[columns[gram]] += count * (1.0 if mode == "TF" else factors[gram])
    return ops.tensor([*chain.from_iterable(rows)], dtype="float32", shape=shape)


def _occurrences(
    words: list[Any], lengths: Iterable[int], max_step: int
) -> Iterator[tuple[Any, ...]]:
    """Yield all sequences of words that lie up to ``max_step`` words apart."""
    for length in lengths:
        for step in range(1, min(max_step, len(words)) + 1 if length > 1 else 2):
            for start in range(len(words) - step * (length - 1)):
                yield tuple(words[start : start + step * (length - 1) + 1 : step])


def _grams(pool: list[Any], starts: list[int]) -> list[tuple[Any, ...]]:
    """Return the sequences in a pool, whose parts of sequences of one length begin at starts."""
    bounds = [0, *starts, len(pool)]
    if bounds != sorted(bounds):
        raise ValueError(f"ngram_counts are {starts} of {len(pool)} elements")
    grams = []
    ends = bounds[2:]
    for length, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        grams += [tuple(pool[at : at + length]) for at in range(start, end, length)]
    return grams


ROWS: dict[str, Row] = {
    "RegexFullMatch-1": Operator(matches, pattern=compile_re2),
    "StringConcat-1": Operator(joined),
    "StringNormalizer-1": Operator(normalized).ignoring("locale").dynamic(),
    "StringSplit-1": Operator(split).dynamic(),
    "TfIdfVectorizer-1": Operator(gram_frequencies, x=lambda value: value),
    "com.microsoft.Tokenizer-1": Operator(
        tokens, separators=_separator, tokenexp=compile_re2
    ).dynamic(),
}
