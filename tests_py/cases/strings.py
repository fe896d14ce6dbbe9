"""Cases of functions of text. Oracles are plain loops over characters or words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, texts
from tests_py.cases.table import Array, Case

__all__ = ["FINGERPRINTS", "PATTERNS", "STRINGS", "text_of_length"]

# -- rewriting ------------------------------------------------------------------------------------

#: Where a match begins and ends.
Span = tuple[int, int]


def _runs_of(letter: str) -> Callable[[str], list[Span]]:
    def spans(text: str) -> list[Span]:
        runs, begin = [], 0
        for character, run in groupby(text):
            end = begin + len(list(run))
            if character == letter:
                runs.append((begin, end))
            begin = end
        return runs

    return spans


def _any_of(letters: str) -> Callable[[str], list[Span]]:
    return lambda text: [(n, n + 1) for n, letter in enumerate(text) if letter in letters]


def _before(letter: str) -> Callable[[str], list[Span]]:
    """Pairs of any letter and a given one, from the left, that do not overlap."""

    def spans(text: str) -> list[Span]:
        runs, index = [], 0
        while index + 1 < len(text):
            matches = text[index + 1] == letter
            if matches:
                runs.append((index, index + 2))
            index += 2 if matches else 1
        return runs

    return spans


#: What patterns match; a group, where there is one, is the match's first letter.
PATTERNS: dict[str, Callable[[str], list[Span]]] = {
    " +": _runs_of(" "),
    "a+": _runs_of("a"),
    "[bé,]": _any_of("bé,"),
    "(.)b": _before("b"),
    "([ab])": _any_of("ab"),
    r"\.": _any_of("."),
    "x": _any_of("x"),
}


def static_regex_replace(
    x: Array, pattern: str, rewrite: str, replace_global: bool = True
) -> Array:
    result = []
    for text in x.ravel().tolist():
        letters = text.decode()
        spans = PATTERNS[pattern](letters)
        for begin, end in reversed(spans if replace_global else spans[:1]):
            put = rewrite.replace(r"\0", letters[begin:end]).replace(r"\1", letters[begin])
            letters = letters[:begin] + put + letters[end:]
        result.append(letters)
    return texts(result).reshape(x.shape)


# -- splitting ------------------------------------------------------------------------------------


def string_split(x: Array, delimiter: str, skip_empty: bool = True) -> list[Array]:
    marks = delimiter.encode()
    rows: list[list[bytes]] = []
    for text in x.tolist():
        parts = [b""] if text else []
        for byte in text:
            if not marks:
                parts += [bytes([byte])]
            elif byte in marks:
                parts += [b""]
            else:
                parts[-1] += bytes([byte])
        keeps_empty = bool(marks) and not skip_empty
        rows.append([part for part in parts if part or keeps_empty])
    indices = [(row, number) for row, parts in enumerate(rows) for number in range(len(parts))]
    return [
        np.array(indices, np.int64).reshape(len(indices), 2),
        texts([part for parts in rows for part in parts]),
        np.array([len(rows), max(map(len, rows), default=0)]),
    ]


# -- n-grams --------------------------------------------------------------------------------------


def string_n_grams(
    data: Array,
    splits: Array,
    separator: str,
    widths: Sequence[int],
    left: str,
    right: str,
    pad_width: int,
    preserve_short: bool,
) -> list[Array]:
    words = [word.decode() for word in data.tolist()]
    grams: list[str] = []
    ends = [0] * min(1, len(splits))

    def word(row: list[str], index: int) -> str:
        if index < 0:
            return left
        return row[index] if index < len(row) else right

    for begin, end in pairwise(splits.tolist()):
        row = words[begin:end]
        n_grams = []
        for width in widths:
            pads = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            firsts = range(-pads, len(row) + pads - width + 1)
            n_grams += [[word(row, first + step) for step in range(width)] for first in firsts]
        if row and not n_grams and preserve_short:
            pads = max(0, pad_width)
            n_grams.append([word(row, index) for index in range(-pads, len(row) + pads)])
        grams += [separator.join(gram) for gram in n_grams]
        ends.append(len(grams))
    return [texts(grams), np.array(ends, np.int64)]


# -- hashing --------------------------------------------------------------------------------------

#: Computed with TensorFlow.js's fingerPrint64 for the bytes ``(37 i + 11 n) mod 256``, i < n.
FINGERPRINTS = {
    0: 11160318154034397263,
    1: 4787810249829893994,
    3: 1391590960341357285,
    4: 13784819508546528661,
    7: 1779591755388221548,
    8: 2700319997276414914,
    16: 6146972963557212620,
    17: 1288097421791121095,
    32: 2092107961373731933,
    33: 14542152977315060818,
    64: 7796587972206282222,
    65: 8266282290673172197,
    128: 17840400735072181966,
    129: 15016162068590367866,
    200: 1318295021509232979,
    1000: 3129236371932873957,
}


def text_of_length(length: int) -> bytes:
    """The bytes whose hash is known."""
    return bytes(37 * i + 11 * length & 255 for i in range(length))


def string_to_hash_bucket_fast(x: Array, buckets: int) -> Array:
    number_of = {text_of_length(length): number for length, number in FINGERPRINTS.items()}
    numbers = [number_of[text] % buckets for text in x.ravel().tolist()]
    return np.array(numbers, np.int64).reshape(x.shape)


# -- cases ----------------------------------------------------------------------------------------


def _cases() -> list[Case]:
    spaced = texts([["a  b", "", " "], ["bab é,", "aab aaa", "x.b,"]])
    rows = texts(["a,b", "", ",,a", " é b,", "aaa"])
    words = texts(["aa", "b", "cc", "d", "é", "f"])
    hashed = texts([[text_of_length(n) for n in row] for row in ((0, 1, 3), (17, 64, 200))])
    cases = [
        Case("string.static_regex_replace", (spaced, *rest), static_regex_replace)
        for rest in ((" +", "_"), (" +", "_", False), ("(.)b", r"\1\0-"), ("[bé,]", ""), ("x", "y"))
    ]
    cases += [
        Case("string.static_regex_replace", (texts("a.b"), r"\.", "-"), static_regex_replace),
        Case("string.static_regex_replace", (spaced[:0], "x", "y"), static_regex_replace),
    ]
    for skip_empty in (True, False):
        cases += [
            Case("string.string_split", (rows, delimiter, skip_empty), string_split)
            for delimiter in (",", "", " ,")
        ]
    cases += [
        Case("string.string_split", (rows[:0], ","), string_split),
        Case("string.string_split", (rows[1:2], ","), string_split),
    ]
    options: tuple[tuple[Any, ...], ...] = (
        ("|", [3], "", "", 0, False),
        ("|", [3], "LP", "RP", -1, False),
        (" ", [2, 1], "<", ">", 1, True),
        ("", [4], "é", "", 1, True),
        ("|", [5], "", "", 0, True),
    )
    for chosen in options:
        for splits in ([0, 4, 6], [0, 0, 1, 6]):
            args = (words, arr(splits, np.int32), *chosen)
            cases.append(Case("string.string_n_grams", args, string_n_grams))
    nothing = (words[:0], arr([0, 0], np.int32), "|", [2], "<", ">", -1, False)
    cases.append(Case("string.string_n_grams", nothing, string_n_grams))
    hash_name = "string.string_to_hash_bucket_fast"
    return [
        *cases,
        *(Case(hash_name, (hashed, n), string_to_hash_bucket_fast) for n in (1, 10, 2**31 - 1)),
        Case(hash_name, (hashed[:0], 3), string_to_hash_bucket_fast),
        Case(hash_name, (hashed[1, 2:].reshape(()), 7), string_to_hash_bucket_fast),
    ]


STRINGS = [replace(case, sample=index % 6 == 0) for index, case in enumerate(_cases())]
