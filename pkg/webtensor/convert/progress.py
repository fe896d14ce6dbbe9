"""The line in a terminal that says what a conversion is doing."""

from __future__ import annotations

from typing import Self, TextIO

__all__ = ["ProgressLine"]

#: The steps of a conversion, in their order.
_STEPS = ("reading", "freezing", "folding constants", "fusing", "encoding weights", "writing")
_WIDTH = 24
_CLEAR = "\r\x1b[K"


class ProgressLine:
    """A bar, and the name of the present step; nothing where the stream is no terminal.

    Args:
        stream: where it is written.
        is_shown: whether it is written at all.

    Example:
        >>> import io
        >>> with ProgressLine(io.StringIO()) as progress:
        ...     progress.step("reading")
    """

    def __init__(self, stream: TextIO, is_shown: bool = True) -> None:
        self._stream = stream
        self._is_shown = is_shown and stream.isatty()

    def step(self, name: str) -> None:
        """Show that a step begins."""
        if self._is_shown:
            index = _STEPS.index(name) if name in _STEPS else 0
            done = "#" * (_WIDTH * index // len(_STEPS))
            self._stream.write(f"{_CLEAR}[{done:.<{_WIDTH}}] {name}")
            self._stream.flush()

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
