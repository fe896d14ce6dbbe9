"""Standard output and input of a session, which are the page's console."""

import codecs
import io
import pydoc
import sys
from collections.abc import Callable
from typing import Any

LONGEST_PIECE = 8192  # characters that wait for the end of their line
LONGEST_HELP = 50_000  # characters of a description; the console drops the beginning of longer text


class ConsoleOutput(io.TextIOBase):
    """Passes text on by lines, or when it is flushed."""

    encoding = "utf-8"

    def __init__(self, send: Callable[[str], None]) -> None:
        """Remember where text goes."""
        self._send = send
        self._waiting: list[str] = []
        self.buffer = BytesOutput(self)

    def writable(self) -> bool:
        """Tell that this stream can be written to."""
        return True

    def write(self, text: str) -> int:
        """Write text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._waiting.append(text)
        if "\n" in text or len(text) > LONGEST_PIECE:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        text = "".join(self._waiting)
        self._waiting.clear()
        if text:
            self._send(text)


class BytesOutput(io.BufferedIOBase):
    """Writes bytes to a text stream."""

    def __init__(self, text_stream: io.TextIOBase) -> None:
        """Remember the text stream; characters may come in pieces."""
        self._text_stream = text_stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """Tell that this stream can be written to."""
        return True

    def write(self, data: Any, /) -> int:
        """Write bytes."""
        content = memoryview(data).tobytes()
        self._text_stream.write(self._decoder.decode(content))
        return len(content)

    def flush(self) -> None:
        """Pass on what was written."""
        self._text_stream.flush()


class ConsoleInput(io.TextIOBase):
    """Asks for a line whenever one is read; None stands for the end of the input."""

    encoding = "utf-8"

    def __init__(self, read_line: Callable[[], str | None]) -> None:
        """Remember whom to ask."""
        self._read_line = read_line
        self.buffer = BytesInput(self)

    def readable(self) -> bool:
        """Tell that this stream can be read from."""
        return True

    def close(self) -> None:
        """Stay open: `exit()` closes it, but the session goes on."""

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        """Read a line, of any size; empty text means the end of the input."""
        line = self._read_line()
        return "" if line is None else f"{line}\n"

    def read(self, size: int | None = -1, /) -> str:
        """Read all lines until the end of the input."""
        return "".join(iter(self.readline, ""))


class BytesInput(io.BufferedIOBase):
    """Reads the bytes of a text stream."""

    def __init__(self, text_stream: io.TextIOBase) -> None:
        """Remember the text stream."""
        self._text_stream = text_stream

    def readable(self) -> bool:
        """Tell that this stream can be read from."""
        return True

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a line, of any size; empty bytes mean the end of the input."""
        return self._text_stream.readline().encode()

    def read(self, size: int | None = -1, /) -> bytes:
        """Read all lines until the end of the input."""
        return self._text_stream.read().encode()


def write_help(text: str, title: str = "") -> None:
    """Write what `help` describes, in place of a pager; of a long text, only the beginning."""
    text = pydoc.plain(text)
    if len(text) > LONGEST_HELP:
        beginning = text[:LONGEST_HELP].rpartition("\n")[0]
        text = f"{beginning}\n\nThe rest is left out; ask for a part of it, as in help(x.name).\n"
    sys.stdout.write(text)
