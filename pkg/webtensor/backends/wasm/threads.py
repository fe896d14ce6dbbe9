"""Threads that share the work of large kernels, where the page is cross-origin isolated.

Workers are started by the first kernel that is large enough, and end with the backend. Each runs
the same compiled module on the same memory, with a separate stack. See ``threads.js``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import inf
from typing import Any, Final

from webtensor.backends.wasm.host import Host
from webtensor.errors import OutOfMemoryError

__all__ = ["Threads"]

#: As the module was linked (``wasm_build/build.py``).
_STACK_BYTES: Final = 2 << 20
_MAX_THREADS: Final = 16
#: Work that takes some microseconds.
_LITTLE_WORK: Final = 20_000


class Threads:
    """The calling thread and its helpers."""

    #: The work of a piece, which is worth sharing with threads that do not sleep: 5 to 10 µs.
    GRAIN: Final = 25_000

    def __init__(
        self,
        host: Host,
        allocate: Callable[[int], int],
        release: Callable[[int], None],
        on_change: Callable[[], None],
    ) -> None:
        """Plan for the host's default number of threads; start none yet.

        ``on_change`` is called when the set of shared kernels changes.
        """
        self._host = host
        self._on_change = on_change
        self._allocate = allocate
        self._release = release
        self._helpers: Any = None
        self._stacks: list[int] = []
        self._numbers: dict[tuple[str, ...], int] = {}
        self._grain: float = self.GRAIN
        self.count = host.default_threads

    @property
    def count(self) -> int:
        """The number of threads that share a large kernel."""
        return self._count

    @count.setter
    def count(self, count: int) -> None:
        self.close()
        self._count = min(count, self._host.most_threads, _MAX_THREADS)
        self._set_least_work()

    @property
    def grain(self) -> float:
        """The work of a piece; tests lower it."""
        return self._grain

    @grain.setter
    def grain(self, grain: float) -> None:
        self._grain = grain
        self._set_least_work()

    def _set_least_work(self) -> None:
        #: Kernels of less work run on the calling thread alone,
        self.least_work = 2 * self._grain if self._count > 1 else inf
        #: and kernels whose work is less than this may be queued.
        self.queued_work = min(_LITTLE_WORK, self.least_work) if self._host.defers else 0
        self._on_change()

    def run(self, key: tuple[str, ...], work: float, *arguments: float) -> None:
        """Run a kernel on all threads, starting them if necessary.

        If memory has no room for their stacks, this thread runs the kernel alone.
        """
        if not self.start():
            self._host.function("_".join(key))(*arguments)
            return
        if self._host.defers:
            self._host.run_queue()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._host.number("_".join(key))
        self._helpers.run(number, self.pieces(work), *arguments)

    def pieces(self, work: float) -> int:
        """Return the number of pieces, each large enough for a thread, in some work."""
        return int(work / self._grain)

    def start(self) -> bool:
        """Start the threads, unless they run; return whether memory has room for their stacks."""
        if self._helpers is not None:
            return True
        try:
            for _ in range(self._count - 1):
                self._stacks.append(self._allocate(_STACK_BYTES))
        except OutOfMemoryError:
            self._release_stacks()
            return False
        self._helpers = self._host.make_threads(self._fail)
        self._helpers.start(*(address + _STACK_BYTES for address in self._stacks))
        return True

    def _fail(self, reason: str) -> None:
        """Compute on the calling thread alone from now on."""
        self.count = 1
        warnings.warn(
            f"the wasm backend computes on one thread, because its workers failed: {reason}. "
            "docs/content_security.md says what a page must allow.",
            RuntimeWarning,
            stacklevel=2,
        )

    def close(self) -> None:
        """End the workers, and free their stacks."""
        if self._helpers is None:
            return
        self._helpers.stop()
        self._helpers = None
        self._release_stacks()

    def _release_stacks(self) -> None:
        for address in self._stacks:
            self._release(address)
        self._stacks = []
