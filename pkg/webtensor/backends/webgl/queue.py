"""The queue of draws: integers packed into memory that ``device.js`` reads."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sized
from struct import Struct
from typing import Any, NoReturn

__all__ = ["COPY", "COPY_RECORDS", "DrawQueue"]

#: Replaces the program in the record of a copy of this many textures into one.
COPY = 0
COPY_RECORDS = {count: Struct(f"={count + 5}i") for count in (4, 8)}

_WORDS = 1 << 15
#: The maximum size of a record, in bytes.
_LONGEST_RECORD = 512


class DrawQueue:
    """Draws that wait for one crossing to JavaScript.

    They are flushed when a result is read, when the queue is full, and in a microtask, that is,
    before control returns to the event loop. While programs are ``pending`` (being linked), the
    microtask is put off until they are ready, so that the event loop does not wait for them.
    ``on_wait`` is called when a flush had to wait for programs, and ``lost`` when a draw finds that
    the context is lost.
    """

    def __init__(
        self, device: Any, pending: Sized, on_wait: Callable[[], None], lost: Callable[[], NoReturn]
    ) -> None:
        from pyodide.ffi import create_proxy

        self._buffer = array("i", [-1]) * _WORDS
        self._words = memoryview(self._buffer)
        self._address = self._buffer.buffer_info()[0]
        self._execute = device.flush
        self._schedule = device.schedule
        self._when_settled = device.whenSettled
        self._pending = pending
        self._on_wait = on_wait
        self._lost = lost
        self._position = 0
        self._last = len(self._buffer) * 4 - _LONGEST_RECORD
        self._flush_proxy = create_proxy(self.flush)
        self._task_ended_proxy = create_proxy(self._task_ended)

    def push(self, record: Struct, *words: float) -> None:
        """Append a draw; ``record`` packs its words and the end mark after them."""
        position = self._position
        if position == 0 and not self._schedule(self._task_ended_proxy):
            self._lost()
        record.pack_into(self._buffer, position, *words, -1)
        self._position = position = position + record.size - 4
        if position > self._last:
            self.flush()

    def push_words(self, words: memoryview[int]) -> None:
        """Append draws that are packed already, of at most half the queue."""
        if self._position + words.nbytes > self._last:
            self.flush()
        if self._position == 0 and not self._schedule(self._task_ended_proxy):
            self._lost()
        begin = self._position // words.itemsize
        end = begin + len(words)
        self._words[begin:end] = words
        self._words[end] = -1
        self._position = end * words.itemsize

    def flush(self) -> None:
        """Execute the queued draws."""
        if self._position:
            self._position = 0
            self._execute(self._address)
        if self._pending:
            self._on_wait()

    def _task_ended(self) -> None:
        if self._pending:
            self._when_settled(self._flush_proxy)
        else:
            self.flush()

    def close(self) -> None:
        """Drop the queued draws and the callbacks."""
        self._position = 0
        self._buffer[0] = -1
        self._flush_proxy.destroy()
        self._task_ended_proxy.destroy()
