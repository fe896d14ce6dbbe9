"""How much of a model has arrived."""

from __future__ import annotations

from webtensor.io.handlers import ProgressFunction

__all__ = ["Progress"]


class Progress:
    """Calls a function with the fraction of bytes that have arrived, if there is one.

    Args:
        function: called with fractions that never decrease; the last is 1.
        total: the number of all bytes; None if it is not known, then files are counted.
        files: the number of files.
    """

    def __init__(
        self, function: ProgressFunction | None, total: int | None, files: int = 0
    ) -> None:
        self._function = function
        self._total = files if total is None else total
        self._counts_files = total is None
        self._count = 0
        self._fraction = -1.0
        self._report(0.0)

    def add(self, count: int, *, ends_file: bool = False) -> None:
        """Count bytes that have arrived, and whether they are the last of a file."""
        self._count += ends_file if self._counts_files else count
        self._report(min(1.0, self._count / max(1, self._total)))

    def end(self) -> None:
        """Report that all has arrived."""
        self._report(1.0)

    def _report(self, fraction: float) -> None:
        if self._function is not None and fraction > self._fraction:
            self._fraction = fraction
            self._function(fraction)
