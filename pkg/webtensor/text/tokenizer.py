"""SentencePiece's unigram tokenizer: the most probable way to part text into pieces (Kudo 2018)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple, Self

from webtensor.arguments import as_integer, as_positive_integer
from webtensor.formats.files import Source, label_of
from webtensor.formats.sentencepiece import Piece
from webtensor.ready_made.files import read_file, read_file_async
from webtensor.text.normalization import SPACE
from webtensor.text.vocabularies import BYTES, Vocabulary, read_vocabulary, vocabulary_of

__all__ = ["SentencePieceTokenizer"]

#: How much less probable an unknown character is than the least probable piece, as a logarithm.
_UNKNOWN_PENALTY = 10.0
#: What an unknown piece is decoded as.
_UNKNOWN_TEXT = " \u2047 "
_DEFAULT_RESERVED_SYMBOLS = 6


class _Step(NamedTuple):
    """The best way to a place in a text.

    Attributes:
        score: the sum of the scores of its pieces.
        begin: where its last piece begins.
        piece: the index of that piece.
    """

    score: float
    begin: int
    piece: int


class SentencePieceTokenizer:
    """Parts text into pieces of a vocabulary, and returns their indices.

    Text is normalized, and its spaces become "▁", one more of which is put in front. Of all ways to
    part it, that with the largest sum of scores is taken (Viterbi's algorithm). Characters that no
    piece has are unknown; several in a row are one unknown piece.

    Args:
        vocabulary: pairs of pieces and scores, the logarithms of their probabilities. ``load``
            reads them from files.
        reserved_symbols: the number of the first pieces that no text has. The first one stands for
            unknown characters.

    Raises:
        ModelFormatError: the vocabulary is malformed, or has too few pieces.

    Example:
        >>> import webtensor as wt
        >>> pairs = [("<unk>", 0), ("▁", -2), ("▁I", -1), ("like", -2), ("▁like", -1), ("s", -3)]
        >>> tokenizer = wt.text.SentencePieceTokenizer(pairs, reserved_symbols=1)
        >>> tokenizer.encode("I like"), tokenizer.encode("Ilikes")
        ([2, 4], [2, 3, 5])
        >>> tokenizer.encode_as_pieces("I likeXYs")
        ['▁I', '▁like', 'XY', 's']
        >>> tokenizer.decode([2, 4, 5])
        'I likes'
    """

    def __init__(
        self,
        vocabulary: Sequence[tuple[str, float]] | Vocabulary,
        reserved_symbols: int = _DEFAULT_RESERVED_SYMBOLS,
    ) -> None:
        name = type(self).__name__
        if not isinstance(vocabulary, Vocabulary):
            reserved = as_positive_integer(name, "reserved_symbols", reserved_symbols)
            vocabulary = vocabulary_of(vocabulary, reserved, f"{name}: vocabulary")
        self._vocabulary = vocabulary
        normal = (piece.score for piece in vocabulary.pieces if piece.kind == "normal")
        self._unknown_score = min(normal) - _UNKNOWN_PENALTY
        #: The score and the index of each piece that text may have.
        self._pieces: dict[str, tuple[float, int]] = {}
        for index, (text, score, kind) in enumerate(vocabulary.pieces):
            if kind == "user_defined":
                # As in SentencePiece, above the scores of normal pieces, which are logarithms.
                score = 0.1 * (len(text.encode("utf-8", "replace")) - 1)
            if kind in ("normal", "user_defined"):
                self._pieces[text] = score, index
        self._lengths = sorted({len(text) for text in self._pieces})

    @classmethod
    def load(cls, source: Source, *, reserved_symbols: int = _DEFAULT_RESERVED_SYMBOLS) -> Self:
        """Load a vocabulary from a file.

        Args:
            source: the path, the address or the bytes of a ``vocab.json``, a list of pairs of
                pieces and scores, or of a unigram model of SentencePiece, which also says how text
                is normalized.
            reserved_symbols: as of the class; for ``vocab.json`` alone.

        Raises:
            ModelFormatError: the file is malformed, or another one.
            OSError: the file cannot be read.
            RuntimeError: it is an address, and Python cannot wait here.
            TypeError: ``source`` is something else.

        Example:
            >>> import webtensor as wt
            >>> vocabulary = '[["<unk>", 0], ["▁to", -1], ["ken", -2]]'.encode()
            >>> wt.text.SentencePieceTokenizer.load(vocabulary, reserved_symbols=1).encode("token")
            [1, 2]
        """
        name = f"{cls.__name__}.load"
        reserved = as_positive_integer(name, "reserved_symbols", reserved_symbols)
        return cls(read_vocabulary(read_file(source), reserved, label_of(source)))

    @classmethod
    async def load_async(
        cls, source: Source, *, reserved_symbols: int = _DEFAULT_RESERVED_SYMBOLS
    ) -> Self:
        """Load a vocabulary as ``load`` does, without blocking the page.

        Example:
            In a page::

                tokenizer = await wt.text.SentencePieceTokenizer.load_async("use/vocab.json")
        """
        name = f"{cls.__name__}.load_async"
        reserved = as_positive_integer(name, "reserved_symbols", reserved_symbols)
        return cls(read_vocabulary(await read_file_async(source), reserved, label_of(source)))

    def __len__(self) -> int:
        """Return the number of pieces in the vocabulary."""
        return len(self._vocabulary.pieces)

    def encode(self, text: str) -> list[int]:
        """Return the indices of the pieces of a text; none for empty text.

        Raises:
            TypeError: ``text`` is no text.
        """
        return [index for _, index in self._parts("encode", text)]

    def encode_as_pieces(self, text: str) -> list[str]:
        """Return the pieces of a text, unknown ones as they are in it.

        Raises:
            TypeError: ``text`` is no text.
        """
        return [part for part, _ in self._parts("encode_as_pieces", text)]

    def decode(self, indices: Iterable[int]) -> str:
        """Return the text of pieces; unknown ones become "⁇".

        Args:
            indices: the indices of the pieces.

        Raises:
            IndexError: there is no piece of an index.
            TypeError: an index is no integer.
        """
        pieces, settings = self._vocabulary.pieces, self._vocabulary.normalization
        begins = settings.adds_space or settings.removes_extra_spaces
        texts = []
        for value in indices:
            index = as_integer("decode", "indices", value)
            if not 0 <= index < len(pieces):
                raise IndexError(
                    f"decode: there are {len(pieces)} pieces, but none of index {index}"
                )
            text = _decoded(pieces[index], begins)
            is_skipped = settings.removes_extra_spaces or pieces[index].kind == "control"
            begins = begins and is_skipped and not text
            texts.append(text)
        return b"".join(texts).decode("utf-8", "replace")

    def _parts(self, function: str, text: str) -> Iterator[tuple[str, int]]:
        """Yield the pieces of a text with their indices."""
        if not isinstance(text, str):
            raise TypeError(f"{function}: text must be a str, but got {type(text).__name__}")
        unknown = self._vocabulary.unknown_index
        unknown_text = ""
        for part, index in self._segmentation(self._vocabulary.normalize(text)):
            if index == unknown and not self._vocabulary.has_byte_fallback:
                unknown_text += part
                continue
            if unknown_text:
                yield unknown_text, unknown
                unknown_text = ""
            if index == unknown:
                for byte in part.encode():
                    piece = self._vocabulary.byte_indices[byte]
                    yield self._vocabulary.pieces[piece].text, piece
            else:
                yield part, index
        if unknown_text:
            yield unknown_text, unknown

    def _segmentation(self, text: str) -> list[tuple[str, int]]:
        """Return the most probable pieces; each unknown character is one."""
        unknown = self._vocabulary.unknown_index
        steps = [_Step(0.0, 0, unknown), *[_Step(-inf, 0, unknown)] * len(text)]
        for begin in range(len(text)):
            before = steps[begin].score
            has_character = False
            for length in self._lengths:
                end = begin + length
                if end > len(text):
                    break
                piece = self._pieces.get(text[begin:end])
                if piece is None:
                    continue
                score, index = piece
                has_character = has_character or length == 1
                if before + score > steps[end].score:
                    steps[end] = _Step(before + score, begin, index)
            if not has_character and before + self._unknown_score > steps[begin + 1].score:
                steps[begin + 1] = _Step(before + self._unknown_score, begin, unknown)
        parts = []
        end = len(text)
        while end:
            _, begin, index = steps[end]
            parts.append((text[begin:end], index))
            end = begin
        return parts[::-1]


def _decoded(piece: Piece, begins: bool) -> bytes:
    """Return the text of a piece, without the space that encoding adds at the beginning."""
    if piece.kind == "control":
        return b""
    if piece.kind == "byte":
        return bytes([BYTES.index(piece.text)])
    if piece.kind == "unknown":
        return _UNKNOWN_TEXT.encode()
    text = piece.text.removeprefix(SPACE) if begins else piece.text
    return text.replace(SPACE, " ").encode("utf-8", "replace")
