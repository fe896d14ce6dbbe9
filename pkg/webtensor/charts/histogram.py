"""Histograms: how values are distributed, with the statistics that show what is wrong with them."""

from __future__ import annotations

from math import isinf, isnan
from typing import Any, NamedTuple, Unpack

from webtensor.arguments import as_integer
from webtensor.charts.bar_chart import bar
from webtensor.charts.display import Chart, ChartOptions
from webtensor.charts.elements import element, escaped, number_text
from webtensor.charts.plot_area import PlotArea, label, tooltip
from webtensor.charts.scales import Scale, is_drawable, is_interval, linear_scale, surroundings
from webtensor.charts.series import read_numbers

__all__ = ["Histogram", "Statistics", "statistics_of"]

_X_MARKS, _Y_MARKS = 8, 6
_MAX_BINS = 200
_STATISTICS_HEIGHT = 36


class Statistics(NamedTuple):
    """The facts about numbers; ``minimum`` and ``maximum`` are those of the finite ones."""

    number: int
    minimum: float
    maximum: float
    nans: int
    infinities: int
    zeros: int


def statistics_of(numbers: list[float]) -> Statistics:
    """Return the statistics of numbers.

    Example:
        >>> statistics_of([0.0, 2.0, float("inf")])
        Statistics(number=3, minimum=0.0, maximum=2.0, nans=0, infinities=1, zeros=1)
    """
    finite = [number for number in numbers if is_drawable(number)]
    return Statistics(
        len(numbers),
        min(finite, default=float("nan")),
        max(finite, default=float("nan")),
        sum(map(isnan, numbers)),
        sum(map(isinf, numbers)),
        numbers.count(0.0),
    )


class Histogram(Chart):
    """The number of values in each of equally wide intervals.

    Args:
        data: numbers in a list, a tensor or an array, of any rank.
        bins: an integer, the number of intervals.
        stats: a boolean, whether the statistics are written above.
        x_label: a string, what the values are.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range.

    Example:
        >>> Histogram([1, 1, 2, float("nan")], bins=2).counts
        [2, 1]
    """

    _function = "histogram"

    def __init__(
        self,
        data: Any,
        *,
        bins: int = 12,
        stats: bool = True,
        x_label: str = "",
        **options: Unpack[ChartOptions],
    ) -> None:
        super().__init__(**options)
        bins = as_integer(self._function, "bins", bins)
        if not 1 <= bins <= _MAX_BINS:
            raise ValueError(
                f"{self._function}: bins must be from 1 to {_MAX_BINS}, but got {bins}"
            )
        numbers = read_numbers(self._function, "data", data)
        self.statistics = statistics_of(numbers)
        self.x_label, self.has_stats = x_label, stats
        #: The ends of the intervals, and the number of values in each.
        self.edges, self.counts = _counted(numbers, self.statistics, bins)

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        facts = (f"{name} {value}" for name, value in self._facts())
        return f"histogram; {', '.join(facts)}"

    def _facts(self) -> list[tuple[str, str]]:
        number, minimum, maximum, *rest = self.statistics
        names = ("NaNs", "infinities", "zeros")
        return [
            ("number", str(number)),
            ("min", number_text(minimum)),
            ("max", number_text(maximum)),
            *((name, str(count)) for name, count in zip(names, rest, strict=True)),
        ]

    def _elements(self, width: int) -> str:
        y = linear_scale(self.counts, _Y_MARKS, is_rounded=True, has_zero=True, is_integer=True)
        marks = linear_scale(self.edges, _X_MARKS).marks
        x = Scale(self.edges[0], self.edges[-1], marks)
        below = _STATISTICS_HEIGHT if self.has_stats else 0
        area = PlotArea(width, self.height, y, x, title=self.title, x_label=self.x_label)
        area.top += below
        parts = []
        for index, count in enumerate(self.counts):
            low, high = self.edges[index], self.edges[index + 1]
            left, right = area.x(low), area.x(high)
            interval = f"{number_text(low)} to {number_text(high)}"
            gap = min(1.5, (right - left) / 5)
            title = tooltip(interval, f"{count} values" if count != 1 else "1 value")
            parts.append(bar(area, y, left + gap / 2, right - left - gap, count, title))
        if not any(self.counts):
            parts = [area.message("no finite values")]
        if self.has_stats:
            parts += self._statistics(width, area.top - below)
        return area.frame() + "".join(parts)

    def _statistics(self, width: int, top: float) -> list[str]:
        """Return the statistics as columns, each a name above its value."""
        facts = self._facts()
        column = width / len(facts)
        parts = []
        for index, (name, value) in enumerate(facts):
            x = 1 + index * column
            bold = element("text", escaped(value), x=x, y=top + 21, font_weight="600")
            parts += [label(x, top + 7, name, font_size="10"), bold]
        return parts


def _counted(
    numbers: list[float], statistics: Statistics, bins: int
) -> tuple[list[float], list[int]]:
    """Return the edges of bins, and the number of values in each."""
    low, high = statistics.minimum, statistics.maximum
    if isnan(low):
        low, high = 0.0, 1.0
    if not is_interval(low, high):
        low, high = surroundings(low, high)
    width = (high - low) / bins
    counts = [0] * bins
    for number in numbers:
        if is_drawable(number):
            counts[min(int((number - low) / width), bins - 1)] += 1
    return [low + index * width for index in range(bins)] + [high], counts
