"""Regular expressions in files match as Python's do, or are refused before they take years."""

from __future__ import annotations

import re

import pytest

from webtensor.formats.regular_expressions import compile_pattern, compile_re2

#: Expressions of models, or of what people write about texts.
HONEST = {
    "spaces": r"\s+",
    "outer spaces": r"^\s+|\s+$",
    "punctuation of TextVectorization": r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']",
    "punctuation of BasicTokenizer": r"[!-/]|[:-@]|[\[-`]|[{-~]",
    "line breaks": r"(?:<br />|<br>|&nbsp;|&amp;)+",
    "what is not a letter": "[^ a-z.?!,¿]",
    "words": r"\b\w\w+\b",
    "words and punctuation": r"[\w']+|[.,!?;]",
    "pieces of GPT-2 in ASCII": r"'s|'t|'re|'m|'ll|'d| ?[a-z]+| ?[0-9]+| ?[^\s\w]+|\s+(?!\S)|\s+",
    "Chinese": "[\u4e00-\u9fff]+|[\u3400-\u4dbf]+",
    "thousands": r"\d{1,3}(,\d{3})*(\.\d+)?",
    "numbers": r"[-+]?\d*\.?\d+(e[-+]?\d+)?",
    "addresses of pages": r"(?:https?://)?(?:\w+\.)+\w+(?:/\S*)?",
    "addresses of people": r"^([\w.-]+)@([\w-]+\.)+[\w-]{2,4}$",
    "addresses of ONNX's tests": r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)",
    "strings": r"\"(\\.|[^\\\"])*\"",
    "tags": r"<.*?>.*</.*?>",
    "words somewhere": ".*foo.*bar.*baz.*",
    "rules of passwords": r"^(?=.*[A-Z])(?=.*\d)(?!.*\s).{8,}$",
    "words in any case": "(?i)(skip|keep)+",
    "text of any lines": "(?s:.*)end",
    "braces that are letters": "a{}{,b}",
    "repeated word": r"(?P<word>\w+) (?P=word)|(\w+)-\2",
    "comment": "a(?#b)+",
    "paths of layers": "encoder/.*(kernel|bias)",
    "many words": "|".join(f"word{number}" for number in range(2000)),
}
TEXTS = [
    "", "a", " The  café's <br /><br> <p>foo BAR bar</p> 12,345.5e-3 ", "a{}{,b}", "word7 word7",
    "me@example.com you@gmail.com https://www.example.com/a?b", "x-x Skipkeep 汉字", "\tPassw0rd",
    '"say \\"hi\\"" bazaar foo bar baz', "encoder/dense/kernel", "line\nline end",
]  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_expressions_of_models_match_as_in_python(name: str) -> None:
    pattern = HONEST[name]
    for text in TEXTS:
        expected = re.sub(pattern, r"<\g<0>>", text)
        assert compile_pattern(pattern).sub(r"<\g<0>>", text) == expected


@pytest.mark.parametrize("name", HONEST)
def test_expressions_of_models_end_with_texts_that_do_not_match(name: str) -> None:
    expression = compile_pattern(HONEST[name])
    characters = sorted(set("ab 1.-/\n" + HONEST[name]))[:40]
    for character in characters:
        for other in characters:
            text = (character + other) * 15
            expression.fullmatch(text + "\0")
            expression.sub("", text + "\0")


HOSTILE = {
    "repetition in a repetition": "(a+)+b",
    "lazy repetitions": "(a+?)+?b",
    "three repetitions": "(?:(?:(?:a*)*)*)b",
    "repetition of what may be empty": "(a*)*b",
    "repetition of an option": "(a?)+b",
    "repetition that an option hides": r"(\w+\.?)+com",
    "bounded repetitions": "(a{1,100}){1,100}b",
    "repetition of many options": "(a?){30}a{30}",
    "many options": "a?" * 30 + "a" * 30,
    "many repetitions": ".*" * 8 + "x",
    "same alternatives": "(a|a)*b",
    "alternatives that begin alike": "(a|ab|b)*c",
    "alternatives one after the other": "(a|a)" * 30 + "b",
    "empty alternative": "(|a)*b",
    "classes that overlap": r"([a-z]|\w)*!",
    "classes that overlap beyond ASCII": "([\u5000-\u6000]|[\u5fff-\u7000])*!",
    "escaped character": r"(\x61|a)*b",
    "escaped character beyond ASCII": r"(?:\u5000+)+b",
    "letters in any case": "(?i)(a|A)*b",
    "letters in any case inside": "(?i:(a|A)*)b",
    "letter and a sign that is one": "(?i)(k|\u212a)*b",
    "line breaks": "(\r\n|\r|\n)*x",
    "boundaries": r"(\b|\b)" * 30 + "x",
    "boundaries at the end": r"(\b|\b)" * 30,
    "repetition of nothing": r"(?:\b\b){2000000000}",
    "look ahead": "(?=(a+)+b)",
    "look behind": "(?<!" + "(a|a)" * 30 + ")b",
    "atomic group": "(?>(a+)+b)",
    "possessive repetition": "(?:(a+)+b)*+",
    "repetition of a group": r"(a*)(\1*)*b",
    "verbose": "(?x)(a+ )+b",
    "number of repetitions": "a{99999999999}",
    "nested groups": "(" * 60 + ")" * 60,
    "open group": "(",
    "long expression": "a" * 20_001,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_expressions_are_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match=r"too long|is malformed|has the flag x|levels deep|more than"
    ):
        compile_pattern(HOSTILE[name])


@pytest.mark.parametrize(
    "pattern, text, expected",
    [
        (b"[[:punct:]]", "a.b-c", "a_b_c"),
        ("[[:upper:][:digit:]]+", "aBC1é", "a_é"),
        ("(?i)[[:alpha:]]", "aÉ1", "_É1"),
        (r"\w+", "aé", "_é"),
    ],
)
def test_expressions_of_re2_have_classes_of_ascii(
    pattern: str | bytes, text: str, expected: str
) -> None:
    assert compile_re2(pattern).sub("_", text) == expected
