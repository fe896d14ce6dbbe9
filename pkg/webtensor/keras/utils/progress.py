"""The progress bar: one line of text, which is overwritten where that is possible."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable
from time import time
from typing import TypeAlias

from webtensor.engine import TensorLike
from webtensor.keras.logging import say
from webtensor.nest import flatten

__all__ = ["Progbar"]

#: Names of metrics with their values at a step.
Values: TypeAlias = "Iterable[tuple[str, TensorLike]] | None"

_BOLD, _GREEN, _GRAY, _PLAIN = "\x1b[1m", "\x1b[32m", "\x1b[37m", "\x1b[0m"


def _duration(seconds: float) -> str:
    if seconds > 3600:
        return f"{seconds // 3600:.0f}:{seconds % 3600 // 60:02.0f}:{int(seconds) % 60:02d}"
    if seconds > 60:
        return f"{seconds // 60:.0f}:{int(seconds) % 60:02d}"
    return f"{int(seconds)}s"


def _mean(value: TensorLike) -> float:
    """Return a number, or the mean of several."""
    numbers = flatten(value.tolist() if hasattr(value, "tolist") else value)
    return sum(map(float, numbers)) / len(numbers)


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) > 1e-3 else f"{value:.4e}"


class Progbar:
    """A progress bar of text, with metrics beside it.

    In a terminal and in a notebook the line is overwritten; elsewhere it is written once, at the
    end.

    Args:
        target: an integer, the number of steps; None if it is unknown.
        width: an integer, the width of the bar in characters.
        verbose: 0 for no output, 1 for a bar, 2 for one line at the end.
        interval: a number, the minimum time between updates of the bar, in seconds.
        stateful_metrics: names of metrics that are displayed as they are; others are averaged
            over the steps.
        stateless_metrics: names of metrics that are averaged; others are displayed as they are.
        unit_name: a string, the name of a step.

    Raises:
        ValueError: both ``stateful_metrics`` and ``stateless_metrics`` are given.

    Example:
        >>> from webtensor import keras
        >>> bar = keras.utils.Progbar(2, verbose=0)
        >>> bar.update(1, [("loss", 0.5)])
    """

    def __init__(
        self,
        target: int | None,
        width: int = 20,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Container[str] | None = None,
        stateless_metrics: Container[str] | None = None,
        unit_name: str = "step",
    ) -> None:
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError("Progbar: give stateful_metrics or stateless_metrics, but not both")
        self.target, self.width = target, width
        self.verbose, self.interval, self.unit_name = verbose, interval, unit_name
        self.stateful_metrics = stateful_metrics
        self.stateless_metrics = stateless_metrics
        isatty = getattr(sys.stdout, "isatty", None)
        self._is_live = bool(isatty and isatty()) or "ipykernel" in sys.modules
        #: For each metric, the sum of its values and the number of steps in it.
        self._sums: dict[str, tuple[float, int]] = {}
        self._current = 0
        self._start = time()
        self._last_update, self._first_step_end = 0.0, 0.0
        self._line_length = 0

    def update(
        self,
        current: int,
        values: Values = None,
        finalize: bool | None = None,
    ) -> None:
        """Display that ``current`` steps are done, with the metrics of the last step."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for name, value in values or ():
            self._add_value(name, _mean(value), current, finalize)
        self._current = current
        now = time()
        per_step = self._time_per_step(current, now)
        is_due = finalize or (self._is_live and now - self._last_update >= self.interval)
        if self.verbose == 1 and is_due:
            self._write(self._bar(current, now, per_step, finalize), finalize)
            self._last_update = now
        elif self.verbose == 2 and finalize and self.target:
            count = f"{current:{len(str(self.target))}d}/{self.target}"
            self._print(
                f"{count} - {now - self._start:.0f}s - {self._pace(per_step)}{self._metrics()}\n"
            )

    def add(self, n: int, values: Values = None) -> None:
        """Display that ``n`` more steps are done."""
        self.update(self._current + n, values)

    def _add_value(self, name: str, value: float, current: int, is_last: bool) -> None:
        if self.stateless_metrics is not None:
            is_averaged = name in self.stateless_metrics
        else:
            is_averaged = self.stateful_metrics is None or name not in self.stateful_metrics
        if not is_averaged or is_last:
            self._sums[name] = (value, 1)
            return
        steps = max(current - self._current, 1)
        total, count = self._sums.get(name, (0.0, 0))
        self._sums[name] = (total + value * steps, count + steps)

    def _time_per_step(self, current: int, now: float) -> float:
        """Return the mean time of a step, without the first, which often takes longer."""
        if not current:
            return 0.0
        seconds = (now - self._start) / current
        if self._first_step_end and current > 1:
            seconds = (now - self._first_step_end) / (current - 1)
        if current == 1:
            self._first_step_end = now
        return seconds

    def _pace(self, per_step: float) -> str:
        if per_step >= 1 or per_step == 0:
            return f"{per_step:.0f}s/{self.unit_name}"
        if per_step >= 1e-3:
            return f"{per_step * 1e3:.0f}ms/{self.unit_name}"
        return f"{per_step * 1e6:.0f}us/{self.unit_name}"

    def _metrics(self) -> str:
        means = ((name, total / count) for name, (total, count) in self._sums.items())
        return "".join(f" - {name}: {_number(mean)}" for name, mean in means)

    def _bar(
        self, current: int, now: float, per_step: float, is_last: bool
    ) -> list[tuple[str, str]]:
        """Return the parts of the line, each after its style."""
        elapsed = f"{now - self._start:.0f}s"
        rest = f" {self._pace(per_step)}{self._metrics()}"
        if not self.target:
            return [("", f"{current:7d}/Unknown "), (_BOLD, elapsed), ("", rest)]
        filled = int(self.width * min(current / self.target, 1.0))
        remaining = elapsed if is_last else _duration(per_step * (self.target - current))
        return [
            (_BOLD, f"{current:{len(str(self.target))}d}/{self.target}"),
            ("", " "),
            (_GREEN, "━" * filled),
            (_GRAY, "━" * (self.width - filled)),
            ("", " "),
            (_BOLD, remaining),
            ("", rest),
        ]

    def _write(self, parts: list[tuple[str, str]], is_last: bool) -> None:
        length = sum(len(text) for _, text in parts)
        end = "\n" if is_last else ""
        if not self._is_live:
            self._print("".join(text for _, text in parts) + end)
            return
        styled = "".join(
            f"{style}{text}{_PLAIN}" if style and text else text for style, text in parts
        )
        self._print("\r" + styled + " " * max(self._line_length - length, 0) + end)
        self._line_length = length

    def _print(self, text: str) -> None:
        say(text, end="")
