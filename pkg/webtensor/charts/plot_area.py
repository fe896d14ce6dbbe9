"""What is around the data of a chart: title, legend, axes, grid lines and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from webtensor.charts.elements import (
    FONT_SIZE,
    colour,
    element,
    escaped,
    number_text,
    shortened,
    text_width,
)
from webtensor.charts.scales import Scale

__all__ = ["PlotArea", "header", "tooltip"]

_MARGIN, _LINE, _GAP = 8, 16, 6
#: Where texts begin: at the left edge, as the text around the chart does.
_LEFT = 1
_TITLE_SIZE = 13
#: The length of a series' line in the legend.
_SWATCH = 14
#: Labels are paler than a title, and grid lines much paler than both.
_LABEL_OPACITY, _GRID_OPACITY = "0.8", "0.15"
#: The maximum width of labels that are turned by 35 degrees.
_TURNED_WIDTH = 100


def tooltip(*lines: str) -> str:
    """Return the text that is shown on pointing at the element that it is in."""
    return element("title", escaped("\n".join(line for line in lines if line)))


def label(x: float, y: float, text: str, anchor: str = "start", **attributes: str) -> str:
    """Return a text of an axis or a legend."""
    anchor_or_default = None if anchor == "start" else anchor
    return element(
        "text",
        escaped(text),
        x=x,
        y=y,
        text_anchor=anchor_or_default,
        fill_opacity=_LABEL_OPACITY,
        **attributes,
    )


def header(title: str, names: Sequence[str], width: int) -> tuple[str, float]:
    """Return the title with the legend of the named series below it, and their height."""
    parts, y = [], float(_MARGIN)
    if title:
        y += _LINE
        text = escaped(shortened(title, (width - _MARGIN) * FONT_SIZE / _TITLE_SIZE))
        parts.append(
            element("text", text, x=_LEFT, y=y - 4, font_size=str(_TITLE_SIZE), font_weight="600")
        )
        y += 2
    if not any(names):
        return "".join(parts), y
    x = float(_LEFT)
    y += _LINE
    for index, name in enumerate(names):
        text = shortened(name, width / 2)
        entry = _SWATCH + _GAP + text_width(text)
        if x > _LEFT and x + entry > width - _MARGIN:
            x, y = float(_LEFT), y + _LINE
        line = element(
            "line",
            x1=x,
            x2=x + _SWATCH,
            y1=y - 8,
            y2=y - 8,
            stroke=colour(index),
            stroke_width=3,
            stroke_linecap="round",
        )
        parts += [line, label(x + _SWATCH + _GAP, y - 4, text)]
        x += entry + 2 * _GAP
    return "".join(parts), y + 2


class PlotArea:
    """The area of the data, with its axes around it, in a picture of a width and a height.

    ``left``, ``top``, ``right`` and ``bottom`` are its edges in pixels. Without a scale for ``x``,
    labels are below the area, one for each of equally wide slots.
    """

    def __init__(
        self,
        width: int,
        height: int,
        y: Scale,
        x: Scale | Sequence[str],
        *,
        title: str = "",
        names: Sequence[str] = (),
        x_label: str = "",
        y_label: str = "",
    ) -> None:
        self.x_scale, self.y_scale = x, y
        head, top = header(title, names, width)
        self.top = top + (_LINE + _GAP if y_label else _GAP)
        y_texts = [number_text(mark, 10) for mark in y.marks]
        self.left = _LEFT + _GAP + max(map(text_width, y_texts), default=0.0)
        self.right = float(width - _MARGIN - _GAP)
        self._is_turned = False
        label_height = _LINE if isinstance(x, Scale) else self._slot_label_height(x)
        self.bottom = float(height - _MARGIN / 2 - label_height - (_LINE if x_label else 0))
        self._head = head + "".join(
            [
                label(_LEFT, top + 10, y_label) if y_label else "",
                label((self.left + self.right) / 2, height - _GAP, x_label, "middle")
                if x_label
                else "",
            ]
        )

    def _slot_label_height(self, labels: Sequence[str]) -> float:
        """Return the height of labels, which are turned where they are wider than their slots."""
        widest = max(map(text_width, labels), default=0.0)
        self._is_turned = widest > self.slot_width - _GAP
        if not self._is_turned:
            return _LINE
        widest = min(widest, _TURNED_WIDTH)
        self.left = max(self.left, _LEFT + widest * 0.82 - self.slot_width / 2)
        return widest * 0.58 + 14

    @property
    def slot_width(self) -> float:
        """The width of a slot, where labels are below the area."""
        assert not isinstance(self.x_scale, Scale)
        return (self.right - self.left) / max(len(self.x_scale), 1)

    def x(self, value: float) -> float:
        """Return the horizontal position of a value; without a scale, of a number of slots."""
        if isinstance(self.x_scale, Scale):
            return self.left + self.x_scale.position(value) * (self.right - self.left)
        return self.left + value * self.slot_width

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        return self.bottom - self.y_scale.position(value) * (self.bottom - self.top)

    def frame(self) -> str:
        """Return all that is around the data, and the grid lines behind it."""
        return "".join([self._head, *self._rows(), *self._columns()])

    def clipped(self, elements: str) -> str:
        """Return elements that are cut off at the edges of the area."""
        width, height = self.right - self.left, self.bottom - self.top
        return element(
            "svg",
            elements,
            x=self.left,
            y=self.top,
            width=width,
            height=height,
            viewBox=f"{self.left:.1f} {self.top:.1f} {width:.1f} {height:.1f}",
        )

    def message(self, text: str) -> str:
        """Return a text in the middle, for a chart without data."""
        return label((self.left + self.right) / 2, (self.top + self.bottom) / 2, text, "middle")

    def _rows(self) -> Iterable[str]:
        for mark in self.y_scale.marks:
            y = self.y(mark)
            is_zero = mark == 0 and not self.y_scale.is_log
            yield element(
                "line",
                x1=self.left,
                x2=self.right,
                y1=y,
                y2=y,
                stroke="currentColor",
                stroke_opacity="0.45" if is_zero else _GRID_OPACITY,
            )
            yield label(self.left - _GAP, y + 4, number_text(mark, 10), "end")

    def _columns(self) -> Iterable[str]:
        y = self.bottom + _LINE - 2
        if isinstance(self.x_scale, Scale):
            for mark in self.x_scale.marks:
                yield label(self.x(mark), y, number_text(mark, 10), "middle")
            return
        last_edge = float("-inf")
        for index, text in enumerate(self.x_scale):
            x = self.x(index + 0.5)
            if not self._is_turned:
                yield label(x, y, text, "middle")
            elif x - last_edge >= 12:
                turn = f"rotate(-35 {x:.1f} {y - 4:.1f})"
                yield label(x, y - 4, shortened(text, _TURNED_WIDTH), "end", transform=turn)
                last_edge = x
