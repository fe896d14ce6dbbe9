"""Random calls of functions of text."""

from __future__ import annotations

from tests_py.cases.inputs import texts
from tests_py.cases.randomized.calls import Generator, call
from tests_py.cases.randomized.draw import Draw
from tests_py.cases.sparse import i32
from tests_py.cases.strings import FINGERPRINTS, PATTERNS, text_of_length
from tests_py.cases.table import Case

__all__ = ["GENERATORS"]


def _static_regex_replace(draw: Draw) -> Case:
    pattern = draw.pick(list(PATTERNS))
    rewrites = ["", "-", "é~", r"<\0>", *([r"\1\1", r"\1-\0"] if "(" in pattern else [])]
    options = (False,) if draw.chance(3) else ()
    x = draw.texts(draw.shape(0, 4))
    return call("string.static_regex_replace", x, pattern, draw.pick(rewrites), *options)


def _string_split(draw: Draw) -> Case:
    x = draw.texts(draw.shape(1, 1))
    delimiter = draw.pick([" ", ",", "a", " ,", "ab", "", "ba "])
    return call("string.string_split", x, delimiter, draw.chance())


def _string_n_grams(draw: Draw) -> Case:
    splits = [0]
    for _ in range(draw.integer(0, 4)):
        splits.append(splits[-1] + draw.integer(0, 5))
    return call(
        "string.string_n_grams",
        draw.texts((splits[-1],), 3),
        i32(splits),
        draw.pick(["|", "", " ", "é"]),
        [draw.integer(1, 5) for _ in range(draw.integer(1, 3))],
        draw.pick(["<", "", "LP"]),
        draw.pick([">", "", "RP"]),
        draw.integer(-1, 4),
        draw.chance(),
    )


def _string_to_hash_bucket_fast(draw: Draw) -> Case:
    shape = draw.shape(0, 4, most_elements=60)
    lengths = list(FINGERPRINTS)
    drawn = draw.ints(shape, 0, len(lengths)).ravel().tolist()
    words = texts([text_of_length(lengths[index]) for index in drawn]).reshape(shape)
    buckets = draw.pick([1, 2, 7, 10, 1000, 2**31 - 1])
    return call("string.string_to_hash_bucket_fast", words, buckets)


GENERATORS: dict[str, Generator] = {
    "string.static_regex_replace": _static_regex_replace,
    "string.string_split": _string_split,
    "string.string_n_grams": _string_n_grams,
    "string.string_to_hash_bucket_fast": _string_to_hash_bucket_fast,
}
