"""Vocabularies of pieces of text, as TensorFlow.js and SentencePiece store them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import parse_json, reading
from webtensor.formats.sentencepiece import Normalization, Piece, read_sentencepiece
from webtensor.text.normalization import nfkc_normalizer, normalizer

__all__ = ["BYTES", "Vocabulary", "read_vocabulary", "vocabulary_of"]

#: In ``vocab.json`` spaces stay as they are.
_NORMALIZATION = Normalization(removes_extra_spaces=False)
#: The pieces that stand for bytes, in the order of the bytes.
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@dataclass(frozen=True)
class Vocabulary:
    """Pieces of text, and how text is normalized before it is parted into them.

    Attributes:
        pieces: the pieces, in the order of their indices.
        normalize: returns a normalized text.
        normalization: what that does with spaces.
        has_byte_fallback: whether unknown characters become pieces of kind "byte".
    """

    pieces: Sequence[Piece]
    normalize: Callable[[str], str]
    normalization: Normalization
    has_byte_fallback: bool

    @cached_property
    def unknown_index(self) -> int:
        """The index of the piece that stands for unknown characters."""
        return next(index for index, piece in enumerate(self.pieces) if piece.kind == "unknown")

    @cached_property
    def byte_indices(self) -> list[int]:
        """The indices of the pieces that stand for bytes, in the order of the bytes."""
        indices = {piece.text: index for index, piece in enumerate(self.pieces)}
        return [indices[text] for text in BYTES]


def vocabulary_of(pairs: Any, reserved_symbols: int, where: str) -> Vocabulary:
    """Return the vocabulary of pairs of pieces and scores, as in ``vocab.json``.

    Args:
        pairs: the pairs.
        reserved_symbols: the number of the first pieces that no text has. The first one stands for
            unknown characters.
        where: what errors call the vocabulary.

    Raises:
        ModelFormatError: the pairs are malformed, or there are too few.
    """
    if not isinstance(pairs, (list, tuple)):
        raise ModelFormatError(f"{where} must be a list of pairs, but is {type(pairs).__name__}")
    pieces = [_piece(pair, f"{where}: item {index}") for index, pair in enumerate(pairs)]
    reserved = [
        piece._replace(kind="control" if index else "unknown")
        for index, piece in enumerate(pieces[:reserved_symbols])
    ]
    return _checked(
        Vocabulary(
            [*reserved, *pieces[reserved_symbols:]],
            nfkc_normalizer(_NORMALIZATION),
            _NORMALIZATION,
            has_byte_fallback=False,
        ),
        where,
    )


def _piece(pair: Any, where: str) -> Piece:
    is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
    text, score = pair if is_pair else ("", 0)
    is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
    if not isinstance(text, str) or not text or not is_number or not isfinite(score):
        raise ModelFormatError(f"{where} must be a text and a finite score, but is {pair!r:.100}")
    return Piece(text, float(score))


def read_vocabulary(data: bytes, reserved_symbols: int, where: str) -> Vocabulary:
    """Return the vocabulary in a file.

    Args:
        data: the bytes of a ``vocab.json`` or of a ``.model`` file.
        reserved_symbols: as of ``vocabulary_of``; for ``vocab.json`` alone.
        where: what errors call the file.

    Raises:
        ModelFormatError: the file is malformed, or no vocabulary.
    """
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        with reading(where):
            return vocabulary_of(parse_json(data, where), reserved_symbols, where)
    model = read_sentencepiece(data, where)
    settings = model.normalization
    protected = [piece.text for piece in model.pieces if piece.kind == "user_defined"]
    return _checked(
        Vocabulary(
            model.pieces,
            normalizer(settings, protected),
            settings,
            model.has_byte_fallback,
        ),
        where,
    )


def _checked(vocabulary: Vocabulary, where: str) -> Vocabulary:
    """Return the vocabulary if it has the pieces that every text needs.

    Raises:
        ModelFormatError: some are missing.
    """
    kinds = [piece.kind for piece in vocabulary.pieces]
    if kinds.count("unknown") != 1 or "normal" not in kinds:
        raise ModelFormatError(
            f"{where} must have one piece for unknown characters, and others, but it has "
            f"{kinds.count('unknown')} and {kinds.count('normal')}"
        )
    byte_pieces = {piece.text for piece in vocabulary.pieces if piece.kind == "byte"}
    malformed = byte_pieces.difference(BYTES)
    if malformed:
        raise ModelFormatError(f"{where} has a piece of a byte that is none: {min(malformed)!r}")
    missing = [text for text in BYTES if text not in byte_pieces]
    if vocabulary.has_byte_fallback and missing:
        raise ModelFormatError(f"{where} has no piece {missing[0]}, but falls back to bytes")
    return vocabulary
