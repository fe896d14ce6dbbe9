"""Bar charts: a bar for each label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from webtensor.charts.decimation import MAX_POINTS
from webtensor.charts.display import Chart, ChartOptions
from webtensor.charts.elements import colour, element, number_text, text_width
from webtensor.charts.plot_area import PlotArea, label, tooltip
from webtensor.charts.scales import Scale, is_drawable, linear_scale
from webtensor.charts.series import is_pandas_series, read_items, read_labels, read_numbers

__all__ = ["BarChart", "bar"]

_Y_MARKS = 7
_WIDEST_BAR = 48


class BarChart(Chart):
    """A bar for each label. Values that are not finite have none.

    Args:
        data: a dictionary or a Series of values by label, a list of ``{"index": …, "value": …}``
            or pairs, or numbers, which are labelled from 0.
        x_label: a string, what the labels are.
        y_label: a string, what the values are.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range, or there are more than 2,000 values.

    Example:
        >>> BarChart({"cats": 3, "dogs": 5})
        <BarChart bar chart; 2 bars: cats 3, dogs 5>
    """

    _function = "bar_chart"

    def __init__(
        self, data: Any, *, x_label: str = "", y_label: str = "", **options: Unpack[ChartOptions]
    ) -> None:
        super().__init__(**options)
        self.labels, self.values = _read_bars(self._function, data)
        if len(self.values) > MAX_POINTS:
            raise ValueError(
                f"{self._function}: data must have at most {MAX_POINTS} values, but has "
                f"{len(self.values)}; a histogram shows how many are distributed"
            )
        self.x_label, self.y_label = x_label, y_label

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        pairs = list(zip(self.labels, self.values, strict=True))
        shown = ", ".join(f"{text} {number_text(value)}" for text, value in pairs[:20])
        rest = f" and {len(pairs) - 20} more" if len(pairs) > 20 else ""
        return f"bar chart; {len(pairs)} bars" + (f": {shown}{rest}" if pairs else "")

    def _elements(self, width: int) -> str:
        scale = linear_scale(self.values, _Y_MARKS, is_rounded=True, has_zero=True)
        area = PlotArea(
            width,
            self.height,
            scale,
            self.labels,
            title=self.title,
            x_label=self.x_label,
            y_label=self.y_label,
        )
        texts = [number_text(value, 3) for value in self.values]
        has_texts = max(map(text_width, texts), default=0.0) < area.slot_width
        parts = []
        for index, value in enumerate(self.values):
            if not is_drawable(value):
                continue
            bar_width = min(area.slot_width * 0.8, _WIDEST_BAR)
            centre = area.x(index + 0.5)
            title = tooltip(f"{self.labels[index]}: {number_text(value, 6)}")
            parts.append(bar(area, scale, centre - bar_width / 2, bar_width, value, title))
            if has_texts:
                y = area.y(value) + (-4 if value >= 0 else 12)
                parts.append(label(centre, y, texts[index], "middle"))
        return area.frame() + ("".join(parts) if self.values else area.message("no values"))


def bar(area: PlotArea, scale: Scale, left: float, width: float, value: float, title: str) -> str:
    """Return a bar between zero and a value."""
    base, end = area.y(max(scale.low, 0.0)), area.y(value)
    return element(
        "rect",
        title,
        x=left,
        y=min(base, end),
        width=max(width, 0.5),
        height=abs(base - end),
        fill=colour(0),
    )


def _read_bars(function: str, data: Any) -> tuple[list[str], list[float]]:
    """Return the labels and values of bars."""
    labels: list[object] | None = None
    if is_pandas_series(data):
        data = dict(data.items())
    if isinstance(data, Mapping):
        labels, values = list(data), list(data.values())
    else:
        values = read_items(function, "data", data)
        pairs = [_pair(item) for item in values]
        if pairs and None not in pairs:
            labels = [pair[0] for pair in pairs if pair]
            values = [pair[1] for pair in pairs if pair]
    numbers = read_numbers(function, "data", values)
    return read_labels(function, "data", labels, len(numbers)), numbers


def _pair(item: Any) -> tuple[object, object] | None:
    if isinstance(item, Mapping) and item.keys() >= {"index", "value"}:
        return item["index"], item["value"]
    return item if isinstance(item, tuple) and len(item) == 2 else None
