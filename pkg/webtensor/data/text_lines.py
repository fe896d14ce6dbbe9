"""Lines of text files."""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator
from contextlib import aclosing
from io import StringIO
from typing import Any

from webtensor.data.byte_sources import DataSource, TextSource, as_source
from webtensor.data.dataset import Dataset
from webtensor.data.iteration import Elements, Iteration, Waiting, closing, from_async_iterable

__all__ = ["TextLineDataset", "as_lines", "line_blocks", "text_decoder"]

#: The length of the longest line.
_MAX_CHARACTERS = 1 << 24


class TextLineDataset(Dataset):
    r"""The lines of text files, as ``str`` without their ends.

    Lines end with ``\n``, ``\r\n`` or ``\r``. A file is read while it is iterated over, so that
    it may be larger than memory.

    Args:
        filenames: a path, an address, bytes, a File or Blob of a page, a FileDataSource or a
            URLDataSource; or a list of these.
        encoding: the encoding; a byte order mark is left out.

    Raises:
        LookupError: there is no such encoding.
        OSError: a file cannot be read; raised in an iteration.
        ValueError: bytes do not fit the encoding; raised in an iteration.

    Example:
        >>> import webtensor as wt
        >>> wt.data.TextLineDataset(b"one\r\ntwo").map(len).to_list()
        [3, 3]
    """

    def __init__(self, filenames: TextSource | list[TextSource], encoding: str = "utf-8") -> None:
        files = filenames if isinstance(filenames, (list, tuple)) else [filenames]
        opened = [as_source(source) for source in files]
        text_decoder(encoding)

        def lines(iteration: Iteration) -> Elements:
            for source in opened:
                yield from _lines(from_async_iterable(line_blocks(source, encoding), iteration))

        super().__init__(lines, None, any(source.is_async for source in opened))


def _lines(blocks: Elements) -> Elements:
    """Yield the lines of blocks of text, without their ends."""
    with closing(blocks):
        for block in blocks:
            if isinstance(block, Waiting):
                yield block
            else:
                yield from (line.rstrip("\r\n") for line in as_lines(block))


def text_decoder(encoding: str) -> Any:
    """Return an incremental decoder.

    Raises:
        LookupError: there is no such encoding.
    """
    name = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    return codecs.getincrementaldecoder(name)()


async def line_blocks(source: DataSource, encoding: str) -> AsyncGenerator[str, None]:
    """Give texts of whole lines with their ends, of which only the last of all may be without one.

    Raises:
        ValueError: bytes do not fit the encoding, or a line is too long.
    """
    decoder = text_decoder(encoding)
    position = 0
    rest = ""
    async with aclosing(source.chunks()) as chunks:
        async for chunk in chunks:
            rest += _decoded(decoder, chunk, source.label, position, is_last=False)
            position += len(chunk)
            # A line end of two characters may be divided.
            border = max(rest.rfind("\n"), rest.rfind("\r", 0, -1)) + 1
            if border:
                yield rest[:border]
                rest = rest[border:]
            if len(rest) > _MAX_CHARACTERS:
                raise ValueError(
                    f"{source.label}: a line has more than {_MAX_CHARACTERS:,} characters"
                )
    rest += _decoded(decoder, b"", source.label, position, is_last=True)
    if rest:
        yield rest


def as_lines(text: str) -> list[str]:
    """Return the lines of a text, with their ends."""
    return list(StringIO(text, newline=""))


def _decoded(decoder: Any, chunk: bytes, label: str, position: int, is_last: bool) -> str:
    try:
        text: str = decoder.decode(chunk, is_last)
    except UnicodeError as error:
        reason = f"text ({error})"
        if isinstance(error, UnicodeDecodeError):
            reason = f"{error.encoding} ({error.reason})"
        raise ValueError(
            f"{label}: bytes from {position} to {position + len(chunk)} are not {reason}; encoding "
            "says what they are"
        ) from None
    return text
