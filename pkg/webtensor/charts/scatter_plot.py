"""Scatter plots: a dot for each point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from webtensor.charts.decimation import thinned
from webtensor.charts.display import Chart, ChartOptions
from webtensor.charts.elements import colour, element, number_text
from webtensor.charts.plot_area import PlotArea, tooltip
from webtensor.charts.scales import linear_scale
from webtensor.charts.series import read_domain, read_series

__all__ = ["ScatterPlot"]

_X_MARKS, _Y_MARKS = 8, 7
#: Dots are smaller and paler where there are many.
_MANY_POINTS = 300


class ScatterPlot(Chart):
    """Dots at the points of one series or several.

    Args:
        data: as of ``LineChart``.
        x_label: a string, what ``x`` is.
        y_label: a string, what ``y`` is.
        x_domain: a pair of numbers, the ends of the axis; None takes them from the points.
        y_domain: likewise, for ``y``.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range.

    Example:
        >>> ScatterPlot([{"x": 0.5, "y": 2}, {"x": 1, "y": 4}])
        <ScatterPlot scatter plot; 2 points, first 2, last 4, minimum 2, maximum 4>
    """

    _function = "scatter_plot"

    def __init__(
        self,
        data: Any,
        *,
        x_label: str = "",
        y_label: str = "",
        x_domain: Sequence[float] | None = None,
        y_domain: Sequence[float] | None = None,
        **options: Unpack[ChartOptions],
    ) -> None:
        super().__init__(**options)
        self.series = read_series(self._function, data)
        self.x_label, self.y_label = x_label, y_label
        self._x_domain = read_domain(self._function, "x_domain", x_domain)
        self._y_domain = read_domain(self._function, "y_domain", y_domain)

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        return "; ".join(["scatter plot", *(series.description for series in self.series)])

    def _elements(self, width: int) -> str:
        points = [point for series in self.series for point in series.points]
        x = linear_scale((x for x, _ in points), _X_MARKS, domain=self._x_domain, is_rounded=True)
        y = linear_scale((y for _, y in points), _Y_MARKS, domain=self._y_domain, is_rounded=True)
        area = PlotArea(
            width,
            self.height,
            y,
            x,
            title=self.title,
            names=[series.name for series in self.series],
            x_label=self.x_label,
            y_label=self.y_label,
        )
        groups = []
        for index, series in enumerate(self.series):
            shown = [point for point in series.points if x.shows(point[0]) and y.shows(point[1])]
            is_small = len(shown) > _MANY_POINTS
            dots = [
                element(
                    "circle",
                    tooltip(series.name, f"({number_text(left, 6)}, {number_text(height, 6)})"),
                    cx=area.x(left),
                    cy=area.y(height),
                    r=2 if is_small else 3.5,
                )
                for left, height in thinned(shown)
            ]
            opacity = "0.55" if is_small else "0.8"
            groups.append(element("g", *dots, fill=colour(index), fill_opacity=opacity))
        drawn = "".join(groups)
        if self._x_domain or self._y_domain:
            drawn = area.clipped(drawn)
        return area.frame() + (drawn if points else area.message("no values"))
