"""Charts as SVG text; colours and fonts come from the shared style sheet."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain, groupby
from math import ceil, floor, isnan, log10
from typing import NamedTuple

WIDTH, HEIGHT = 340, 135
LEFT, RIGHT, TOP, BOTTOM = 40, WIDTH - 6, 8, HEIGHT - 20
ROUND_STEPS = (1, 2, 2.5, 5, 10, 20)
MAX_MARKS = 7

Points = Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """The interval that an axis shows, and the values that are marked on it."""

    low: float
    high: float
    marks: Sequence[float]
    unit: str = ""
    #: What is counted; it is written before the first mark.
    name: str = ""

    @classmethod
    def covering(cls, values: Iterable[float], name: str = "") -> "Axis":
        """Return an axis from one round number to another, with all values between them."""
        low, high = _extremes(values)
        span = (high - low) or max(abs(high), 1.0)
        power = 10.0 ** floor(log10(span / MAX_MARKS))
        for step in (power * round_step for round_step in ROUND_STEPS):
            first, last = floor(low / step), ceil(high / step)
            if last - first < MAX_MARKS:
                break
        marks = [index * step for index in range(first, max(last, first + 1) + 1)]
        return cls(marks[0], marks[-1], marks, name=name)

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, from 0 to 1; beyond the ends, at an end."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def label(self, mark: float) -> str:
        """Write a mark."""
        text = f"{mark:.10g}{self.unit}"
        return f"{self.name} {text}" if self.name and mark == self.marks[0] else text


class Series(NamedTuple):
    """Points, and how they are drawn: classes of the style sheet, such as "line" or "dots"."""

    points: Points
    style: str = "line"


def chart(label: str, series: Sequence[Series], x: Axis, y: Axis) -> str:
    """Draw series of points on common axes; `label` says in words what there is to see."""
    parts = [*_horizontal_lines(y), *_bottom_labels(x)]
    for points, style in series:
        positions = [_position(point, x, y) for point in points]
        draw = _dots if "dots" in style.split() else _line
        parts.append(draw(positions, style))
    count = len(series[0].points) if series else 0
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}"'
        f' data-points="{count}">{"".join(parts)}</svg>'
    )


def axes(series: Sequence[Series]) -> tuple[Axis, Axis]:
    """Return round axes on which all points lie."""
    points = list(chain.from_iterable(points for points, _ in series))
    return Axis.covering(x for x, _ in points), Axis.covering(y for _, y in points)


def running_mean(points: Points, decay: float = 0.9) -> list[tuple[float, float]]:
    """Smooth the points' heights by a mean whose memory decays."""
    total = weight = 0.0
    smooth = []
    for x, y in points:
        total = decay * total + y
        weight = decay * weight + 1
        smooth.append((x, total / weight))
    return smooth


def _extremes(values: Iterable[float]) -> tuple[float, float]:
    finite = [value for value in values if abs(value) < float("inf")]
    return (min(finite), max(finite)) if finite else (0.0, 1.0)


def _position(point: tuple[float, float], x: Axis, y: Axis) -> tuple[float, float]:
    left = LEFT + x.share(point[0]) * (RIGHT - LEFT)
    return left, BOTTOM - y.share(point[1]) * (BOTTOM - TOP)


def _line(positions: Points, style: str) -> str:
    """Draw a line, which has gaps where points are NaN."""
    runs = [
        " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
        for is_gap, run in groupby(positions, lambda position: isnan(sum(position)))
        if not is_gap
    ]
    return "".join(f'<polyline class="{style}" points="{run}"/>' for run in runs)


def _dots(positions: Points, style: str) -> str:
    circles = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in positions if not isnan(x + y)
    )
    return f'<g class="{style}">{circles}</g>'


def _horizontal_lines(axis: Axis) -> list[str]:
    parts = []
    for mark in axis.marks:
        y = BOTTOM - axis.share(mark) * (BOTTOM - TOP)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text = axis.label(mark)
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    return parts


def _bottom_labels(axis: Axis) -> list[str]:
    return [
        f'<text x="{LEFT + axis.share(mark) * (RIGHT - LEFT):.1f}" y="{HEIGHT - 5}"'
        f' text-anchor="middle">{axis.label(mark)}</text>'
        for mark in axis.marks
    ]
