"""Scales: from the values of an axis to parts of its length, with round values marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

__all__ = ["Scale", "is_drawable", "is_interval", "linear_scale", "log_scale", "surroundings"]

_ROUND_STEPS = (1, 2, 5, 10, 20)
#: Differences of larger values overflow, and the logarithms of smaller ones are not exact.
_LARGEST, _MIN_POSITIVE = 1e150, 1e-150
#: Smaller spans are rounding errors of the values.
_MIN_SPAN = 1e-12
#: Around larger values, half a unit is too little to see, or a rounding error itself.
_LARGEST_COUNT = 1e6


class Scale(NamedTuple):
    """The interval that an axis shows, and the values that are marked on it."""

    low: float
    high: float
    marks: Sequence[float]
    is_log: bool = False

    def position(self, value: float) -> float:
        """Return where a value lies along the axis, from 0 to 1 for those of the interval."""
        if self.is_log:
            start = log10(self.low)
            return (log10(value) - start) / (log10(self.high) - start)
        return (value - self.low) / (self.high - self.low)

    def shows(self, value: float) -> bool:
        """Whether a value has a position."""
        return is_drawable(value) and (value >= _MIN_POSITIVE or not self.is_log)


def is_drawable(value: float) -> bool:
    """Whether a value is finite and small enough to compute with."""
    return abs(value) <= _LARGEST  # false for NaN


def is_interval(low: float, high: float) -> bool:
    """Whether two values are in order, and differ by more than a rounding error.

    Example:
        >>> is_interval(0, 1), is_interval(1, 1 + 1e-16)
        (True, False)
    """
    return high - low > max(abs(low), abs(high)) * _MIN_SPAN and high - low > _MIN_POSITIVE


def surroundings(low: float, high: float) -> tuple[float, float]:
    """Return an interval around values that are equal but for a rounding error.

    Example:
        >>> surroundings(2.0, 2.0)
        (1.5, 2.5)
    """
    size = abs(low)
    margin = size / 2 if 0 < size < 1 or size > _LARGEST_COUNT else 0.5
    return low - margin, high + margin


def linear_scale(
    values: Iterable[float],
    most_marks: int,
    *,
    domain: tuple[float, float] | None = None,
    is_rounded: bool = False,
    has_zero: bool = False,
    is_integer: bool = False,
) -> Scale:
    """Return a scale on which all values lie.

    Args:
        values: numbers; those that are not drawable do not count.
        most_marks: an integer, the maximum number of marks.
        domain: a pair of numbers, the interval; None takes that of the values.
        is_rounded: a boolean, whether the interval begins and ends at a mark.
        has_zero: a boolean, whether zero is on the scale.
        is_integer: a boolean, whether only integers are marked.

    Example:
        >>> linear_scale([0.13, 0.95], 6, is_rounded=True)
        Scale(low=0.0, high=1.0, marks=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], is_log=False)
    """
    low, high = domain or _interval(values, has_zero)
    span = high - low
    power = 10.0 ** floor(log10(span / most_marks))
    is_outside = is_rounded and domain is None
    steps = (power * step for step in _ROUND_STEPS)
    step = next(step for step in steps if _mark_count(low, high, step, is_outside) <= most_marks)
    if is_integer:
        step = max(step, 1.0)
    first, last = _ends(low, high, step, is_outside)
    marks = [_rounded(index * step, step) for index in range(first, last + 1)]
    if is_outside:
        low, high = marks[0], marks[-1]
    return Scale(low, high, marks)


def log_scale(
    values: Iterable[float], most_marks: int, *, domain: tuple[float, float] | None = None
) -> Scale:
    """Return a logarithmic scale on which all positive values lie.

    Example:
        >>> log_scale([0.02, 30.0, -1.0], 6).marks
        [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    positive = [value for value in values if is_drawable(value) and value >= _MIN_POSITIVE]
    low, high = domain or (min(positive, default=0.1), max(positive, default=1.0))
    first, last = floor(log10(low)), ceil(log10(high))
    if first == last:
        last += 1
    step = ceil((last - first + 1) / most_marks)
    factors = (1, 2, 5) if last - first == 1 else (1,)
    marks = [
        float(f"{factor}e{exponent}")
        for exponent in range(first, last + 1, step)
        for factor in factors
        if exponent < last or factor == 1
    ]
    if domain is None:
        low, high = float(f"1e{first}"), float(f"1e{last}")
    return Scale(low, high, [mark for mark in marks if low <= mark <= high], is_log=True)


def _interval(values: Iterable[float], has_zero: bool) -> tuple[float, float]:
    drawable = [value for value in values if is_drawable(value)]
    if has_zero:
        drawable.append(0.0)
    low, high = min(drawable, default=0.0), max(drawable, default=1.0)
    if is_interval(low, high):
        return low, high
    if has_zero:
        return 0.0, 1.0
    return surroundings(low, high)


def _ends(low: float, high: float, step: float, is_outside: bool) -> tuple[int, int]:
    """Return the multiples of a step at the ends of an interval, outside or inside of it."""
    first, last = low / step, high / step
    tolerance = max(1e-9, 1e-15 * max(abs(first), abs(last)))
    if is_outside:
        return floor(first + tolerance), ceil(last - tolerance)
    return ceil(first - tolerance), floor(last + tolerance)


def _mark_count(low: float, high: float, step: float, is_outside: bool) -> int:
    first, last = _ends(low, high, step, is_outside)
    return last - first + 1


def _rounded(mark: float, step: float) -> float:
    """Return a mark without the rounding error of its product."""
    return round(mark, max(1 - floor(log10(step)), 0)) if step < 1 else mark
