"""`plot` draws lines or points as SVG; the page's style sheet for results has its colours."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT = 460, 230
LEFT, RIGHT, TOP, BOTTOM = 52, WIDTH - 14, 12, HEIGHT - 26
MOST_COLOURS = 4

Points = list[tuple[float, float]]


class Plot:
    """Named series of points in one coordinate system."""

    def __init__(self, series: Mapping[str, Points], title: str, *, dots: bool) -> None:
        """Keep the points that can be drawn."""
        self.series = {
            name: [point for point in points if all(map(math.isfinite, point))]
            for name, points in series.items()
        }
        self.title = title
        self.dots = dots

    def __repr__(self) -> str:
        """Say in text what the picture shows."""
        described = ", ".join(_described(name, points) for name, points in self.series.items())
        return f"<Plot {self.title + ': ' if self.title else ''}{described}>"

    def _repr_html_(self) -> str:
        label = escape(repr(self)[len("<Plot ") : -1])
        parts = [
            f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        ]
        points = [point for series in self.series.values() for point in series]
        if points:
            horizontal = _Axis([x for x, _ in points], LEFT, RIGHT)
            vertical = _Axis([y for _, y in points], BOTTOM, TOP)
            parts += _grid(horizontal, vertical)
            for index, series in enumerate(self.series.values()):
                places = [(horizontal.place(x), vertical.place(y)) for x, y in series]
                parts += _drawn(places, f"series-{index % MOST_COLOURS + 1}", self.dots)
        parts.append("</svg>")
        names = [name for name in self.series if name]
        legend = "".join(
            f'<span class="series-{index % MOST_COLOURS + 1}">{escape(name)}</span>'
            for index, name in enumerate(names)
        )
        title = f"<figcaption>{escape(self.title)}</figcaption>" if self.title else ""
        return f'<figure>{title}{"".join(parts)}<p class="legend">{legend}</p></figure>'


def plot(*values: Any, title: str = "", dots: bool = False) -> Plot:
    """Draw numbers as a line, or as dots: `plot(y)`, `plot(x, y)` or `plot({"loss": y})`."""
    if len(values) == 1 and isinstance(values[0], Mapping):
        series = {str(name): _numbered(_numbers(y)) for name, y in values[0].items()}
    elif len(values) == 1:
        series = {"": _numbered(_numbers(values[0]))}
    elif len(values) == 2:
        x, y = (_numbers(value) for value in values)
        if len(x) != len(y):
            raise ValueError(f"plot: x has {len(x)} numbers, but y has {len(y)}")
        series = {"": list(zip(x, y, strict=True))}
    else:
        raise TypeError(f"plot: takes y, or x and y, or a dict of series; got {len(values)} values")
    return Plot(series, title, dots=dots)


def _numbers(values: Any) -> list[float]:
    """Return the numbers of a list, a tensor or an array of one dimension."""
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    return [float(item) for item in items]


def _numbered(heights: list[float]) -> Points:
    return [(float(index), y) for index, y in enumerate(heights)]


def _described(name: str, points: Points) -> str:
    if not points:
        return f"{name} no points".strip()
    heights = [y for _, y in points]
    span = f"{len(points)} points from {heights[0]:.3g} to {heights[-1]:.3g}"
    return f"{name} {span}".strip()


class _Axis:
    """Numbers of one axis, from `start` to `end` in pixels, with round numbers as marks."""

    def __init__(self, numbers: Sequence[float], start: float, end: float) -> None:
        low, high = min(numbers), max(numbers)
        if low == high:
            low, high = low - 0.5, high + 0.5
        self.low, self.high, self.start, self.end = low, high, start, end

    def place(self, number: float) -> float:
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)

    def marks(self) -> Iterator[float]:
        step = _round_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step)
        for index in range(first, math.floor(self.high / step) + 1):
            yield index * step


def _round_step(span: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is not below `span`."""
    power: float = 10.0 ** math.floor(math.log10(span))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= span)


def _grid(horizontal: _Axis, vertical: _Axis) -> Iterator[str]:
    for number in vertical.marks():
        y = vertical.place(number)
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number:.4g}</text>'
    for number in horizontal.marks():
        x = horizontal.place(number)
        yield f'<text x="{x:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{number:.4g}</text>'


def _drawn(places: Points, style: str, dots: bool) -> Iterator[str]:
    if dots or len(places) == 1:
        for x, y in places:
            yield f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    else:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline class="{style}" points="{path}"/>'
