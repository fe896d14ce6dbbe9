"""How text is normalized before it is parted into pieces: equal characters, and spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from unicodedata import normalize

from webtensor.formats.sentencepiece import CharsMap, Normalization

__all__ = ["SPACE", "normalizer"]

#: What stands for a space in pieces.
SPACE = "▁"
_REPLACEMENT = "\ufffd"
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(" +")

_TextFunction = Callable[[str], str]


def normalizer(settings: Normalization, protected: Sequence[str] = ()) -> _TextFunction:
    """Return a function that normalizes text.

    Args:
        settings: what it does.
        protected: pieces that it leaves as they are.

    Example:
        >>> from webtensor.formats.sentencepiece import Normalization
        >>> from webtensor.text.normalization import normalizer
        >>> normalizer(Normalization())(" a  b ")
        '▁a▁b'
    """
    replace: _TextFunction = str
    if settings.chars_map is not None:
        replace = partial(_replaced, settings.chars_map)
    if protected:
        longest_first = sorted(protected, key=len, reverse=True)
        parts = re.compile(f"({'|'.join(map(re.escape, longest_first))})")
        replace = partial(_replaced_between, parts, replace)
    return partial(_normalized, settings, replace)


def nfkc_normalizer(settings: Normalization) -> _TextFunction:
    """Return a function that normalizes text to Unicode's form NFKC, and then its spaces."""
    return partial(_normalized, settings, partial(normalize, "NFKC"))


def _normalized(settings: Normalization, replace: _TextFunction, text: str) -> str:
    if not text:
        return ""
    text = replace(_SURROGATES.sub(_REPLACEMENT, text))
    space = SPACE if settings.escapes_spaces else " "
    if settings.removes_extra_spaces:
        # As in SentencePiece, characters that look like escaped spaces go at the end alone.
        text = _SPACES.sub(" ", text).lstrip(" ").replace(" ", space).rstrip(space)
        if not text:
            return ""
    text = text.replace(" ", space)
    if not settings.adds_space:
        return text
    return text + space if settings.space_is_suffix else space + text


def _replaced_between(parts: re.Pattern[str], replace: _TextFunction, text: str) -> str:
    """Return the text with everything replaced but the parts that the pattern captures."""
    return "".join(
        part if number % 2 else replace(part) for number, part in enumerate(parts.split(text))
    )


def _replaced(chars_map: CharsMap, text: str) -> str:
    return b"".join(_replacements(chars_map, text)).decode("utf-8", "replace")


def _replacements(chars_map: CharsMap, text: str) -> Iterator[bytes]:
    data = text.encode("utf-8")
    position = 0
    while position < len(data):
        match = chars_map.longest_match(data, position)
        if match is None:
            size = _size_of_character(data[position])
            yield data[position : position + size]
        else:
            replacement, size = match
            yield replacement
        position += size


def _size_of_character(first_byte: int) -> int:
    """Return the number of bytes of a character in UTF-8."""
    return 1 if first_byte < 0x80 else 2 if first_byte < 0xE0 else 3 if first_byte < 0xF0 else 4
