"""Operators on texts compute what ONNX Runtime's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.onnx.single_nodes import Case, compare, model_of

SENTENCES = np.array(["This is. The", "a  bb", "", "Ünï côdé x", "é_1-2"], object)
NUMBERS = np.array(["1", "-5.5", "1e3", "nan", "-INF", " 3 ", "+4"], object)
WHOLE = np.array(["1", "-5", "3.7", "99999999"], object)
VALUES = np.array([1, 0.1, 3.1415926, 1e10, 1e-7, np.nan, -np.inf, 123456792, -0.0], np.float32)


def case(op: str, x: Any, outputs: str = "y", **attributes: Any) -> Case:
    domain = "com.microsoft" if op == "Tokenizer" else ""
    inputs = {"x": x} if isinstance(x, np.ndarray) else x
    return Case(op, inputs, attributes, outputs, domain=domain, opset=20)


def tokens(x: Any = SENTENCES, **attributes: Any) -> Case:
    defaults = {"mark": 0, "mincharnum": 1, "pad_value": "#"}
    return case("Tokenizer", x, **{**defaults, **attributes})


def normal(x: Any, **attributes: Any) -> Case:
    return case("StringNormalizer", x, locale="C", **attributes)


DAYS = np.array(["Mon", "tue"], object)
CASES = {
    "words": tokens(tokenexp="[a-zA-Z0-9_]+"),
    "words of ASCII": tokens(tokenexp=r"\b\w+\b"),
    "marked words": tokens(tokenexp="[a-z]+", mark=1),
    "words of two letters": tokens(tokenexp="[a-z]+", mincharnum=2),
    "words with a group": tokens(tokenexp=r"([a-z])\.?"),
    "words of a matrix": tokens(SENTENCES[:4].reshape(2, 2), tokenexp="[a-z]+"),
    "no words": tokens(SENTENCES[2:3], tokenexp="[a-z]+", mark=1),
    "letters": tokens(tokenexp="."),
    "letters between which is nothing": tokens(separators=[""]),
    "words between spaces": tokens(separators=[" "], mark=1),
    "words between separators": tokens(separators=["i", "([ab])+"]),
    "lower case": normal(DAYS, case_change_action="LOWER"),
    "upper case": normal(DAYS[None], case_change_action="UPPER"),
    "without words of any case": normal(DAYS, stopwords=["mon"]),
    "without words of a case": normal(DAYS, stopwords=["mon"], is_case_sensitive=1),
    "without all words": normal(DAYS, stopwords=["mon", "TUE"]),
    "joined": case("StringConcat", {"x": DAYS[:, None], "y": SENTENCES}),
    "split at spaces": case("StringSplit", SENTENCES, "yy"),
    "split at a delimiter": case("StringSplit", SENTENCES, "yy", delimiter=" "),
    "split once": case("StringSplit", SENTENCES[:4].reshape(2, 2), "yy", maxsplit=1),
    "split into nothing": case("StringSplit", SENTENCES[2:3], "yy"),
    "matches of classes": case("RegexFullMatch", SENTENCES, pattern="[[:alpha:][:space:]]*"),
    "matches": case("RegexFullMatch", SENTENCES, pattern="a +b+|é.*"),
    "text of numbers": case("Cast", VALUES, to=8),
    "text of integers": case("Cast", np.array([1, -5]), to=8),
    "text of booleans": case("Cast", np.array([True, False]), to=8),
    "text of text": case("Cast", DAYS, to=8),
    "numbers of text": case("Cast", NUMBERS, to=1),
    "integers of text": case("Cast", WHOLE, to=7),
    "frequencies of words": case(
        "TfIdfVectorizer",
        np.array([["a", "b", "a", "#"], ["b", "b", "a", "b"]], object),
        max_gram_length=2,
        min_gram_length=1,
        max_skip_count=0,
        mode="TFIDF",
        ngram_counts=[0, 2],
        ngram_indexes=[1, 0, 2],
        pool_strings=["a", "b", "b", "a"],
        weights=[1.0, 2.0, 3.0],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_texts_become_what_onnx_runtime_makes_of_them(backend: str, name: str) -> None:
    compare(CASES[name])


@pytest.mark.parametrize(
    "broken, reason",
    [
        (tokens(tokenexp="a("), "malformed"),
        (normal(DAYS, case_change_action="TITLE"), "TITLE"),
        (case("Cast", DAYS, to=1), "Mon"),
        (case("RegexFullMatch", DAYS, pattern="[a-"), "malformed"),
        (case("RegexFullMatch", DAYS, pattern="(a+)+b"), "take too long"),
        (tokens(tokenexp="(a+)+b"), "take too long"),
        (tokens(separators=[" ", "(a|a)*b"]), "take too long"),
    ],
)
def test_texts_without_sense_are_refused(broken: Case, reason: str) -> None:
    (x,) = broken.inputs.values()
    assert x is not None
    with pytest.raises((wt.ModelFormatError, ValueError), match=reason):
        wt.load_onnx(model_of(broken)).predict(wt.tensor(x.tolist()))
