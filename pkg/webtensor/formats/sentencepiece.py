"""Models of SentencePiece (``.model`` files): pieces of text, and how text is normalized.

A model is a message of protocol buffers. In it is a ``CharsMap``: what each sequence of characters
is replaced by, as a trie in SentencePiece's own form.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import isfinite
from sys import byteorder
from typing import NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.protobuf import Message, Schema

__all__ = ["CharsMap", "Normalization", "Piece", "SentencePieceModel", "read_sentencepiece"]

#: Kinds of pieces, by their numbers.
KINDS = {1: "normal", 2: "unknown", 3: "control", 4: "user_defined", 5: "unused", 6: "byte"}
MODEL_TYPES = {1: "unigram", 2: "BPE", 3: "word", 4: "char"}

SCHEMA = Schema(
    """
    ModelProto
        1 pieces           SentencePiece[]
        2 trainer_spec     TrainerSpec
        3 normalizer_spec  NormalizerSpec
    SentencePiece
        1 piece  string
        2 score  float
        3 type   PieceType
    TrainerSpec
        3  model_type                  ModelType
        24 treat_whitespace_as_suffix  bool
        35 byte_fallback               bool
    NormalizerSpec
        2 precompiled_charsmap      bytes
        3 add_dummy_prefix          bool
        4 remove_extra_whitespaces  bool
        5 escape_whitespaces        bool
    """,
    enumerations={
        "PieceType": {name: number for number, name in KINDS.items()},
        "ModelType": {name: number for number, name in MODEL_TYPES.items()},
    },
)


class Piece(NamedTuple):
    """A piece of text.

    Attributes:
        text: the piece; "▁" stands for a space.
        score: the logarithm of its probability.
        kind: "normal", "unknown", "control", "user_defined", "unused" or "byte".
    """

    text: str
    score: float
    kind: str = "normal"


class CharsMap:
    """What sequences of characters are replaced by.

    The data are the size of a trie, the trie, and the replacements, each of which ends with a zero
    byte. The trie is a double array (Yata et al. 2007) of 32-bit units: the child of a unit is
    found by an exclusive or of its offset with the next byte, and has that byte as its label.

    Raises:
        ModelFormatError: the data are too short, or the size of the trie does not fit.
    """

    def __init__(self, data: Buffer, where: str) -> None:
        content = bytes(data)
        size = int.from_bytes(content[:4], "little")
        if len(content) < 4 or not 4 <= size <= len(content) - 4 or size % 4:
            raise ModelFormatError(f"{where}: its trie has {size} of {len(content)} bytes")
        self._where = where
        self._units = array("I", content[4 : 4 + size])
        if byteorder == "big":
            self._units.byteswap()
        self._replacements = content[4 + size :]

    def longest_match(self, text: bytes, position: int) -> tuple[bytes, int] | None:
        """Return the replacement of the longest sequence of bytes from a position, and its size.

        Raises:
            ModelFormatError: the trie points to a place that it does not have, or a sequence or its
                replacement is longer than that of any model.
        """
        match: tuple[int, int] | None = None
        node = _offset(self._units[0])
        for index in range(position, len(text)):
            if index - position > _MAX_BYTES:  # units that lead to themselves have no end
                raise ModelFormatError(f"{self._where}: its trie has too long a sequence")
            byte = text[index]
            node ^= byte
            unit = self._unit(node)
            if unit & _LABEL_BITS != byte:
                break
            node ^= _offset(unit)
            if unit & _HAS_VALUE:
                match = self._unit(node) & _VALUE_BITS, index + 1 - position
        if match is None:
            return None
        begin, size = match
        end = self._replacements.find(b"\0", begin, begin + _MAX_BYTES + 1)
        if end < 0:
            raise ModelFormatError(
                f"{self._where}: at byte {begin} is no replacement of at most {_MAX_BYTES} bytes"
            )
        return self._replacements[begin:end], size

    def _unit(self, node: int) -> int:
        if node >= len(self._units):
            raise ModelFormatError(f"{self._where}: its trie has no unit {node}")
        return self._units[node]


#: The largest size of sequences and replacements; those of SentencePiece's own rules have at most
#: 12 and 33 bytes.
_MAX_BYTES = 256
#: The parts of a unit. The highest bit marks units with a value, which are no byte's.
_HAS_VALUE, _VALUE_BITS, _LABEL_BITS = 1 << 8, (1 << 31) - 1, 1 << 31 | 0xFF


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


class Normalization(NamedTuple):
    """How text is normalized before it is parted.

    Attributes:
        chars_map: what sequences of characters are replaced by; None for nothing.
        adds_space: whether a space is added to the text.
        space_is_suffix: whether that space is added at the end.
        removes_extra_spaces: whether spaces around the text, and all but one of several, go.
        escapes_spaces: whether spaces become "▁".
    """

    chars_map: CharsMap | None = None
    adds_space: bool = True
    space_is_suffix: bool = False
    removes_extra_spaces: bool = True
    escapes_spaces: bool = True


class SentencePieceModel(NamedTuple):
    """What a file has.

    Attributes:
        pieces: the pieces, in the order of their indices.
        normalization: how text is normalized.
        has_byte_fallback: whether unknown characters become pieces of kind "byte".
    """

    pieces: Sequence[Piece]
    normalization: Normalization
    has_byte_fallback: bool


def read_sentencepiece(
    data: Buffer, where: str, budget: Budget | None = None
) -> SentencePieceModel:
    """Read a unigram model of SentencePiece.

    Args:
        data: the bytes of the file.
        where: what errors call it.
        budget: limits what reading may cost.

    Raises:
        ModelFormatError: the file is malformed, or a model of another type.
    """
    with reading(where):
        model = SCHEMA.decode("ModelProto", data, where, budget)
        trainer, normalizer = model["trainer_spec"], model["normalizer_spec"]
        number = trainer.get("model_type", 1)
        if number != 1:
            raise ModelFormatError(
                f"{where} is a model of type {MODEL_TYPES.get(number, number)}; only unigram "
                "models are read"
            )
        chars_map = normalizer["precompiled_charsmap"]
        return SentencePieceModel(
            [_piece(message, f"{where}: piece {i}") for i, message in enumerate(model["pieces"])],
            Normalization(
                CharsMap(chars_map, f"{where}: precompiled_charsmap") if chars_map else None,
                adds_space=normalizer.get("add_dummy_prefix", True),
                space_is_suffix=trainer["treat_whitespace_as_suffix"],
                removes_extra_spaces=normalizer.get("remove_extra_whitespaces", True),
                escapes_spaces=normalizer.get("escape_whitespaces", True),
            ),
            trainer["byte_fallback"],
        )


def _piece(message: Message, where: str) -> Piece:
    text, score, kind = message["piece"], message["score"], message.get("type", 1)
    if not text or not isfinite(score) or kind not in KINDS:
        raise ModelFormatError(
            f"{where} must have a text, a finite score and a known type, but has {text!r}, "
            f"{score} and {kind}"
        )
    return Piece(text, score, KINDS[kind])
