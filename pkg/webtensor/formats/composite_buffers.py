"""Several buffers as one, without joining them: the files of a model's weights."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from webtensor.formats.element_types import Buffer

__all__ = ["CompositeArrayBuffer", "concatenate_array_buffers"]


class CompositeArrayBuffer:
    """Bytes in pieces, which are sliced as if they were one buffer.

    Args:
        buffers: a buffer, or a sequence of them.

    Example:
        >>> import webtensor as wt
        >>> composite = wt.io.CompositeArrayBuffer([b"abc", b"def"])
        >>> composite.byte_length, composite.slice(2, 5)
        (6, b'cde')
    """

    def __init__(self, buffers: Buffer | Sequence[Buffer] = ()) -> None:
        if isinstance(buffers, Buffer):
            buffers = [buffers]
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        self._pieces = [view for view in views if len(view)]
        #: The offset of each piece, and the end of the last.
        self._offsets = [0, *accumulate(map(len, self._pieces))]

    @property
    def byte_length(self) -> int:
        """The number of bytes of all pieces."""
        return self._offsets[-1]

    def slice(self, start: int = 0, end: int | None = None) -> bytes:
        """Return a copy of the bytes from ``start`` to ``end``, or to the end of all."""
        return bytes(self.view(start, end))

    def view(self, start: int = 0, end: int | None = None) -> memoryview:
        """Return the bytes from ``start`` to ``end``; they are copied only if pieces end there."""
        end = self.byte_length if end is None else min(end, self.byte_length)
        start = max(0, start)
        if start >= end:
            return memoryview(b"")
        if len(self._pieces) == 1:
            return self._pieces[0][start:end]
        first = bisect_right(self._offsets, start) - 1
        last = bisect_right(self._offsets, end - 1) - 1
        if first == last:
            offset = self._offsets[first]
            return self._pieces[first][start - offset : end - offset]
        head = self._pieces[first][start - self._offsets[first] :]
        tail = self._pieces[last][: end - self._offsets[last]]
        return memoryview(b"".join([head, *self._pieces[first + 1 : last], tail]))

    @staticmethod
    def join(buffers: Buffer | Sequence[Buffer]) -> bytes:
        """Return the bytes of all buffers, one after another."""
        return CompositeArrayBuffer(buffers).slice()


def concatenate_array_buffers(buffers: Buffer | Sequence[Buffer]) -> bytes:
    """Return the bytes of all buffers, one after another.

    Example:
        >>> import webtensor as wt
        >>> wt.io.concatenate_array_buffers([b"ab", b"c"])
        b'abc'
    """
    return CompositeArrayBuffer.join(buffers)
