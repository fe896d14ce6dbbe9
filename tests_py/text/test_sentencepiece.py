"""Models that SentencePiece trains, read and used as SentencePiece does."""

import io
from functools import cache
from random import Random
from typing import Any

import pytest
import sentencepiece
import sentencepiece.sentencepiece_model_pb2

from webtensor import ModelFormatError
from webtensor.text import SentencePieceTokenizer

MESSAGES: Any = sentencepiece.sentencepiece_model_pb2
WORDS = [
    *("hello", "world", "tensor", "tension", "tent", "flow", "flower", "low", "lower", "learning"),
    *(
        "learn",
        "running",
        "ça",
        "été",
        "ﬁne",
        "Ⅳ",
        "日本",
        "語",
        "text",
        "Straße",
        "it's",
        "don't.",
    ),
]
TRAININGS: dict[str, dict[str, Any]] = {
    "default": {},
    "bytes": {"byte_fallback": True, "vocab_size": 350},
    "user_defined": {"user_defined_symbols": ["<sep>", "wor", "▁ﬁ"], "control_symbols": ["<cls>"]},
    "spaces": {"remove_extra_whitespaces": False},
    "suffix": {"treat_whitespace_as_suffix": True},
    "identity": {"normalization_rule_name": "identity"},
    "case": {"normalization_rule_name": "nmt_nfkc_cf"},
    "no_prefix": {"add_dummy_prefix": False},
    "other_unknown": {"unk_id": 3, "bos_id": 0, "eos_id": 1, "pad_id": 2},
}
TEXTS = [
    *("Hello, world!", "  tensors   flow ", "the lowest flowers", "LEARNING to run", "x", " ", ""),
    *(
        "ﬁne Ⅳ ①",
        "日本語テキスト",
        "e\u0301te\u0301 ça c\u0327a",
        "emoji 😹😹 there 😹",
        "a\u00a0b\u3000c",
    ),
    *("<sep>hello<sep> world<cls>", "tab\there\nline", "\u200bzero\u200bwidth\ufeff", "▁ block ▁"),
    *("２３４ ｆｕｌｌ", "½ ﷺ ㍿", "\x00\x01control", "Straße STRASSE", "word" * 50, "¨ ¨¨"),
]


@cache
def model_bytes(training: str) -> bytes:
    random = Random(0)
    lines = [" ".join(random.choices(WORDS, k=random.randint(3, 9))) for _ in range(300)]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type="unigram",
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **{"vocab_size": 75, **TRAININGS[training]},
    )
    return written.getvalue()


def reference(data: bytes) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=data)


@pytest.mark.parametrize("training", TRAININGS)
def test_texts_have_the_pieces_of_sentencepiece(training: str) -> None:
    data = model_bytes(training)
    theirs, ours = reference(data), SentencePieceTokenizer.load(data)
    assert len(ours) == theirs.get_piece_size()
    random = Random(1)
    mixed = [" ".join(random.choices([*WORDS, *TEXTS], k=4)) for _ in range(100)]
    for text in [*TEXTS, *mixed]:
        assert ours.encode(text) == theirs.encode(text), text
        assert ours.encode_as_pieces(text) == theirs.encode(text, out_type=str), text


@pytest.mark.parametrize("training", TRAININGS)
def test_pieces_have_the_text_of_sentencepiece(training: str) -> None:
    data = model_bytes(training)
    theirs, ours = reference(data), SentencePieceTokenizer.load(data)
    for text in TEXTS:
        indices = theirs.encode(text)
        assert ours.decode(indices) == theirs.decode(indices), text


def test_unused_pieces_are_not_taken() -> None:
    model = MESSAGES.ModelProto.FromString(model_bytes("default"))
    used = reference(model.SerializeToString()).encode("hello tensor")
    for index in used:
        if len(model.pieces[index].piece) > 1:
            model.pieces[index].type = MESSAGES.ModelProto.SentencePiece.UNUSED
    data = model.SerializeToString()
    indices = reference(data).encode("hello tensor")
    assert indices != used
    assert SentencePieceTokenizer.load(data).encode("hello tensor") == indices


@pytest.mark.parametrize("lead", [-0.5, 0.15, 0.25, 0.35, 0.45])
def test_user_defined_pieces_are_likelier_than_others(lead: float) -> None:
    model = MESSAGES.ModelProto.FromString(model_bytes("default"))
    kinds = MESSAGES.ModelProto.SentencePiece
    model.pieces.add(piece="Z", score=-9.0, type=kinds.NORMAL)
    defined = ("Q", "QB", "QBG", "αβ", "αβγ", "hello", "el")
    for text in defined:
        model.pieces.add(piece=text, score=0.0, type=kinds.USER_DEFINED)
        model.pieces.add(piece=f"{text}Z", score=lead - 9, type=kinds.NORMAL)
    data = model.SerializeToString()
    theirs, ours = reference(data), SentencePieceTokenizer.load(data)
    for text in [*(f"{text}Z" for text in defined), "hello helpQBαβγ", "xQQBGel"]:
        assert ours.encode_as_pieces(text) == theirs.encode(text, out_type=str), text


def changed(change: Any) -> bytes:
    model = MESSAGES.ModelProto.FromString(model_bytes("bytes"))
    change(model)
    data: bytes = model.SerializeToString()
    return data


def without_byte(model: Any) -> None:
    del model.pieces[next(i for i, item in enumerate(model.pieces) if item.piece == "<0x0A>")]


MALFORMED = {
    "is a model of type BPE; only unigram": lambda model: setattr(
        model.trainer_spec, "model_type", 2
    ),
    "but it has 0 and": lambda model: setattr(model.pieces[0], "type", 3),
    "but it has 2 and": lambda model: setattr(model.pieces[1], "type", 2),
    "piece 5 must have a text, a finite score": lambda model: setattr(model.pieces[5], "piece", ""),
    "piece 6 must have a text, a finite": lambda model: setattr(model.pieces[6], "score", 1e39),
    "has no piece <0x0A>": without_byte,
    "a piece of a byte that is none: 'x'": lambda model: setattr(model.pieces[10], "piece", "x"),
    "its trie has 4294967295 of 8 bytes": lambda model: setattr(
        model.normalizer_spec, "precompiled_charsmap", b"\xff" * 8
    ),
}


@pytest.mark.parametrize("message", MALFORMED)
def test_malformed_models_are_refused(message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        SentencePieceTokenizer.load(changed(MALFORMED[message]))


@pytest.mark.parametrize("units", [b"\xff" * 16, bytes(16), b"\x00\x01\x00\x00" * 4])
def test_tries_that_point_nowhere_are_refused_or_match_nothing(units: bytes) -> None:
    def change(model: Any) -> None:
        charsmap = len(units).to_bytes(4, "little") + units + b"no zero"
        model.normalizer_spec.precompiled_charsmap = charsmap

    tokenizer = SentencePieceTokenizer.load(changed(change))
    with pytest.raises(ModelFormatError, match=r"its trie has no unit|is no replacement"):
        tokenizer.encode("\x00\x01 hello")


def trie_of_letters_without_end(has_value: bool, replacement: bytes) -> bytes:
    """A trie that any number of letters "a" leads through, as its unit leads to itself."""
    units = [0] * 512
    letter = ord("a")
    units[0] = 256 << 10
    units[256 ^ letter] = letter << 10 | has_value << 8 | letter
    data = b"".join(unit.to_bytes(4, "little") for unit in units)
    return len(data).to_bytes(4, "little") + data + replacement + b"\0"


@pytest.mark.parametrize(
    "charsmap, message",
    [
        (trie_of_letters_without_end(False, b"b"), "too long a sequence"),
        (trie_of_letters_without_end(True, b"b" * 1000), "is no replacement of at most 256 bytes"),
    ],
)
def test_tries_that_would_take_long_are_refused(charsmap: bytes, message: str) -> None:
    def change(model: Any) -> None:
        model.normalizer_spec.precompiled_charsmap = charsmap

    tokenizer = SentencePieceTokenizer.load(changed(change))
    with pytest.raises(ModelFormatError, match=message):
        tokenizer.encode("a" * (1000 if "sequence" in message else 1))
