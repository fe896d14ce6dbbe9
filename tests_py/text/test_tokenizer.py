"""The tokenizer on small vocabularies: known answers, and the best of all segmentations."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import webtensor as wt
from tests_py.io.web_server import serving
from webtensor import ModelFormatError
from webtensor.text import SentencePieceTokenizer

RESERVED = [("<unk>", 0), *((f"<reserved {number}>", 0) for number in range(5))]
PAIRS = [
    *RESERVED,
    *[("▁", -2), ("▁a", -1), ("▁ç", -2), ("a", -3), (".", -1), ("▁I", -1), ("▁like", -1)],
    *[("▁it", -1), ("I", -2), ("like", -2), ("it", -2)],
    *[(letter, -3) for letter in "liket"],
]


def pieces_of(text: str) -> list[str]:
    return SentencePieceTokenizer(PAIRS).encode_as_pieces(text)


@pytest.mark.parametrize(
    "text, pieces",
    [
        ("I like it.", ["▁I", "▁like", "▁it", "."]),
        ("Ilikeit.", ["▁I", "like", "it", "."]),
        ("it it", ["▁it", "▁it"]),
        ("tie", ["▁", "t", "i", "e"]),
        (" a", ["▁", "▁a"]),
        ("a  a ", ["▁a", "▁", "▁a", "▁"]),
        ("", []),
    ],
)
def test_the_likeliest_pieces_are_taken(text: str, pieces: list[str]) -> None:
    tokenizer = SentencePieceTokenizer(PAIRS)
    assert tokenizer.encode_as_pieces(text) == pieces
    indices = [[piece for piece, _ in PAIRS].index(piece) for piece in pieces]
    assert tokenizer.encode(text) == indices
    assert tokenizer.decode(indices) == text


def test_equal_characters_are_normalized() -> None:
    assert pieces_of("ça") == pieces_of("c\u0327a") == ["▁ç", "a"]
    assert pieces_of("ｌｉｋｅ") == ["▁like"]


def test_unknown_characters_in_a_row_are_one_piece() -> None:
    tokenizer = SentencePieceTokenizer(PAIRS)
    assert tokenizer.encode("a😹😹") == [7, 0]
    assert tokenizer.encode("😹a😹😹a") == [6, 0, 9, 0, 9]
    assert tokenizer.encode_as_pieces("a😹xa") == ["▁a", "😹x", "a"]
    assert tokenizer.decode([7, 0]) == "a \u2047 "


def test_broken_characters_are_unknown() -> None:
    assert SentencePieceTokenizer(PAIRS).encode("a\ud83d") == [7, 0]


def test_a_longer_piece_is_better_than_an_unknown_character() -> None:
    tokenizer = SentencePieceTokenizer([("<unk>", 0), ("▁", -1), ("a", -1), ("ab", -9)], 1)
    assert tokenizer.encode_as_pieces("ab") == ["▁", "ab"]


def test_reserved_symbols_are_in_no_text() -> None:
    pairs = [("<unk>", 0), ("a", 0), ("▁", -1), ("a", -2)]
    assert SentencePieceTokenizer(pairs, reserved_symbols=2).encode("a") == [2, 3]
    assert SentencePieceTokenizer(pairs, reserved_symbols=2).decode([1, 2, 3, 1]) == "a"


def segmentations(text: str) -> Iterator[list[str]]:
    if not text:
        yield []
    for end in range(1, len(text) + 1):
        for rest in segmentations(text[end:]):
            yield [text[:end], *rest]


def score(pieces: list[str], scores: dict[str, float]) -> float:
    unknown = min(scores.values()) - 10
    if any(piece not in scores and len(piece) > 1 for piece in pieces):
        return float("-inf")
    return sum(scores.get(piece, unknown) for piece in pieces)


@pytest.mark.parametrize("seed", range(20))
def test_no_segmentation_is_likelier(seed: int) -> None:
    random = Random(seed)
    scores = {
        "".join(random.choices("abc▁", k=random.choice((1, 1, 2, 2, 3, 4)))): -random.uniform(1, 12)
        for _ in range(25)
    }
    tokenizer = SentencePieceTokenizer([("<unk>", 0.0), *scores.items()], 1)
    for _ in range(20):
        text = "".join(random.choices("abcd ", k=random.randrange(1, 9)))
        best = max(segmentations("▁" + text.replace(" ", "▁")), key=lambda way: score(way, scores))
        merged: list[str] = []
        for number, piece in enumerate(best):
            is_unknown = piece not in scores
            if is_unknown and number and best[number - 1] not in scores:
                merged[-1] += piece
            else:
                merged.append(piece)
        assert tokenizer.encode_as_pieces(text) == merged


def test_long_texts_take_no_recursion() -> None:
    assert SentencePieceTokenizer(PAIRS).encode("I like it." * 2000)[-4:] == [14, 12, 13, 10]


def test_vocabularies_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "vocab.json"
    path.write_text(json.dumps(PAIRS), "utf-8")
    expected = SentencePieceTokenizer(PAIRS).encode("I like it.")
    for source in (path, str(path), path.read_bytes()):
        assert SentencePieceTokenizer.load(source).encode("I like it.") == expected
        loaded = asyncio.run(SentencePieceTokenizer.load_async(source))
        assert loaded.encode("I like it.") == expected
        assert len(loaded) == len(PAIRS)


def test_vocabularies_are_fetched_from_addresses() -> None:
    with serving({"/vocab.json": json.dumps(PAIRS).encode()}) as server:
        address = f"{server.url}/vocab.json"
        for tokenizer in (
            SentencePieceTokenizer.load(address),
            asyncio.run(SentencePieceTokenizer.load_async(address)),
        ):
            assert tokenizer.encode_as_pieces("I like it.") == ["▁I", "▁like", "▁it", "."]
        with pytest.raises(OSError, match="404"):
            SentencePieceTokenizer.load(f"{server.url}/other.json")


@pytest.mark.parametrize(
    "content, message",
    [
        ("{}", "must be a list of pairs, but is dict"),
        ("[1, 2]", "item 0 must be a text and a finite score, but is 1"),
        ('[["a", 0], ["b"]]', r"item 1 must be a text and a finite score, but is \['b'\]"),
        ('[["a", 0], ["", 0]]', "item 1 must be"),
        ('[["a", 0], ["b", true]]', "item 1 must be"),
        ('[["a", 0], ["b", NaN]]', "item 1 must be"),
        ('[["a", 0], ["b", 1e999]]', "item 1 must be"),
        ("[]", "one piece for unknown characters, and others, but it has 0 and 0"),
        ('[["a", 0], ["b", 0]]', "but it has 1 and 0"),
        ("[[[", "Expecting value"),
    ],
)
def test_malformed_vocabularies_are_refused(content: str, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        SentencePieceTokenizer.load(content.encode())


def test_arguments_are_checked() -> None:
    tokenizer = SentencePieceTokenizer(PAIRS)
    unfit: Any = ["a"]
    with pytest.raises(TypeError, match="encode: text must be a str, but got list"):
        tokenizer.encode(unfit)
    with pytest.raises(IndexError, match="decode: there are 22 pieces, but none of index 22"):
        tokenizer.decode([22])
    with pytest.raises(IndexError, match="none of index -1"):
        tokenizer.decode([-1])
    with pytest.raises(TypeError, match="decode: indices must be an integer, but got 'a'"):
        tokenizer.decode(unfit)
    with pytest.raises(ValueError, match="reserved_symbols must be positive, but got 0"):
        SentencePieceTokenizer(PAIRS, reserved_symbols=0)
    with pytest.raises(ModelFormatError, match="SentencePieceTokenizer: vocabulary: item 0"):
        SentencePieceTokenizer(unfit)
    with pytest.raises(FileNotFoundError):
        SentencePieceTokenizer.load("no such file")
    with pytest.raises(AttributeError):
        wt.text.Tokenizer  # type: ignore[attr-defined]  # noqa: B018
