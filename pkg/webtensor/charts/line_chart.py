"""Line charts: one line for each series, with its values on pointing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias, Unpack

from webtensor.charts.decimation import Point, decimated
from webtensor.charts.display import Chart, ChartOptions
from webtensor.charts.elements import colour, element, number_text
from webtensor.charts.plot_area import PlotArea, tooltip
from webtensor.charts.scales import Scale, is_drawable, linear_scale, log_scale
from webtensor.charts.series import read_domain, read_series

__all__ = ["LineChart"]

_X_MARKS, _Y_MARKS = 8, 7
#: The maximum number of columns that show their values on pointing.
_MAX_BANDS = 100

#: The names of series and their values, by the position on the horizontal axis.
_Values: TypeAlias = dict[float, list[tuple[str, float]]]


class LineChart(Chart):
    """Lines through the points of one series or several.

    Values that are not finite, and on a logarithmic axis those that are not positive, are gaps.

    Args:
        data: numbers, or points ``{"x": …, "y": …}`` or ``(x, y)``, as a list, a tensor or an
            array; several series as a list of them, the rows of a tensor or an array of rank 2, or
            a dictionary or DataFrame by name.
        x_label: a string, what ``x`` is.
        y_label: a string, what ``y`` is.
        log_y: a boolean, whether the axis of ``y`` is logarithmic.
        x_domain: a pair of numbers, the ends of the axis; None takes them from the points.
        y_domain: likewise, for ``y``.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range.

    Example:
        >>> LineChart({"loss": [3, 2, 1.5]})
        <LineChart line chart; loss: 3 points, first 3, last 1.5, minimum 1.5, maximum 3>
    """

    _function = "line_chart"

    def __init__(
        self,
        data: Any,
        *,
        x_label: str = "",
        y_label: str = "",
        log_y: bool = False,
        x_domain: Sequence[float] | None = None,
        y_domain: Sequence[float] | None = None,
        **options: Unpack[ChartOptions],
    ) -> None:
        super().__init__(**options)
        self.series = read_series(self._function, data)
        self.x_label, self.y_label, self.log_y = x_label, y_label, log_y
        self._x_domain = read_domain(self._function, "x_domain", x_domain)
        self._y_domain = read_domain(self._function, "y_domain", y_domain, is_log=log_y)

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        return "; ".join(["line chart", *(series.description for series in self.series)])

    def _elements(self, width: int) -> str:
        x, y = self._scales()
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

        def is_shown(point: Point) -> bool:
            return x.shows(point[0]) and y.shows(point[1])

        lines = []
        values: _Values = {}
        for index, series in enumerate(self.series):
            runs = _runs(decimated(series.points, is_shown), is_shown)
            lines.append(_line(area, runs, colour(index)))
            name = series.name or self.y_label or "y"
            for point in chain.from_iterable(runs):
                values.setdefault(point[0], []).append((name, point[1]))
        drawn = "".join(lines)
        if self._x_domain or self._y_domain:
            drawn = area.clipped(drawn)
        if not values:
            drawn = area.message("no values")
        return area.frame() + drawn + "".join(self._bands(area, values))

    def _scales(self) -> tuple[Scale, Scale]:
        x_values = [x for series in self.series for x, _ in series.points]
        y_values = [y for series in self.series for _, y in series.points]
        is_integer = all(x == int(x) for x in x_values if is_drawable(x))
        x_scale = linear_scale(x_values, _X_MARKS, domain=self._x_domain, is_integer=is_integer)
        if self.log_y:
            return x_scale, log_scale(y_values, _Y_MARKS, domain=self._y_domain)
        return x_scale, linear_scale(y_values, _Y_MARKS, domain=self._y_domain, is_rounded=True)

    def _bands(self, area: PlotArea, values: _Values) -> Iterable[str]:
        """Yield transparent columns around positions, which show the values there."""
        ordered = sorted(x for x in values if area.left <= area.x(x) <= area.right)
        if len(ordered) > _MAX_BANDS:
            count = len(ordered)
            ordered = [ordered[index * count // _MAX_BANDS] for index in range(_MAX_BANDS)]
        centres = [area.x(x) for x in ordered]
        edges = [area.left, *((a + b) / 2 for a, b in pairwise(centres)), area.right]
        for index, x in enumerate(ordered):
            pairs = [(self.x_label or "x", x), *values[x]]
            yield element(
                "rect",
                tooltip(*(f"{name}: {number_text(value, 6)}" for name, value in pairs)),
                x=edges[index],
                y=area.top,
                width=edges[index + 1] - edges[index],
                height=area.bottom - area.top,
                fill_opacity="0",
            )


def _runs(points: Iterable[Point], is_shown: Callable[[Point], bool]) -> list[list[Point]]:
    """Return the consecutive points between gaps."""
    runs: list[list[Point]] = [[]]
    for point in points:
        if is_shown(point):
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _line(area: PlotArea, runs: Iterable[list[Point]], stroke: str) -> str:
    """Return a line through each run, and a dot for a run of one point."""
    parts = []
    for run in runs:
        positions = [(area.x(x), area.y(y)) for x, y in run]
        if len(positions) == 1:
            ((x, y),) = positions
            parts.append(element("circle", cx=x, cy=y, r=3, fill=stroke))
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in positions)
            parts.append(element("polyline", points=path))
    return element(
        "g",
        *parts,
        fill="none",
        stroke=stroke,
        stroke_width=2,
        stroke_linejoin="round",
        stroke_linecap="round",
    )
