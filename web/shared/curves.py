"""Curves that grow while a network learns."""

from charts import Axis, Series, axes, chart
from page import element

#: Of a curve; with more, every second one is dropped.
MAX_POINTS = 200


class Curves:
    """Two curves that grow, in an element of the page."""

    def __init__(self, identifier: str, label: str, unit: str = "step") -> None:
        """Begin without points; `label` says in words what the curves are."""
        self._element = element(identifier)
        self._label, self._unit = label, unit
        self._points: list[tuple[float, float, float]] = []
        self._calls = 0
        self._every = 1

    def add(self, x: float, first: float, second: float) -> None:
        """Lengthen both curves."""
        self._calls += 1
        if self._calls % self._every == 0:
            self._points.append((x, first, second))
        if len(self._points) > MAX_POINTS:
            self._points = self._points[1::2]
            self._every *= 2

    def draw(self) -> None:
        """Draw what there is."""
        if len(self._points) < 2:
            return
        series = [
            Series([(x, values[index]) for x, *values in self._points], style)
            for index, style in enumerate(("line", "line second"))
        ]
        first, last = self._points[0][0], self._points[-1][0]
        marks, y = axes(series)
        integers = [mark for mark in marks.marks if first <= mark <= last and mark == int(mark)]
        x = Axis(first, last, integers, name=self._unit)
        self._element.innerHTML = chart(self._label, series, x, y)
