"""Heat maps: a cell for each value of a matrix, more opaque for higher values.

Cells have one colour, of about the same contrast to white and to black, in an opacity by value. So
they blend with a light background and with a dark one, and text in the colour of the text around
the chart is readable on all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from webtensor.charts.display import Chart, ChartOptions
from webtensor.charts.elements import colour, element, escaped, number_text, shortened, text_width
from webtensor.charts.plot_area import header, label, tooltip
from webtensor.charts.scales import is_drawable
from webtensor.charts.series import frame_labels, read_labels, read_matrix

__all__ = ["HeatMap", "opacity"]

#: Rows and columns of larger matrices are left out, evenly.
_MOST_CELLS = 64
_CELL_FONT, _CELL_HEIGHT = 10, 14
_GAP = 6
#: The colours of the scale's legend, and their size.
_STEPS, _STEP_WIDTH, _STEP_HEIGHT = 12, 7, 9


class HeatMap(Chart):
    """The values of a matrix as colours.

    Args:
        data: a list of rows, a tensor or an array of rank 2, or a DataFrame, whose labels it has.
        x_tick_labels: strings, the labels of the columns; None numbers them.
        y_tick_labels: strings, the labels of the rows; None numbers them.
        x_label: a string, what the columns are.
        y_label: a string, what the rows are.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: rows differ in length, or there are too few labels.

    Example:
        >>> HeatMap([[0, 1], [2, 3]])
        <HeatMap heat map of 2 rows and 2 columns, values from 0 to 3>
    """

    _function = "heatmap"

    def __init__(
        self,
        data: Any,
        *,
        x_tick_labels: Iterable[object] | None = None,
        y_tick_labels: Iterable[object] | None = None,
        x_label: str = "",
        y_label: str = "",
        **options: Unpack[ChartOptions],
    ) -> None:
        function = self._function
        columns, rows = (frame_labels(data, axis) for axis in (1, 0))
        self.values = read_matrix(function, data.to_numpy() if columns is not None else data)
        count = len(self.values[0]) if self.values else 0
        x_tick_labels = columns if x_tick_labels is None else x_tick_labels
        y_tick_labels = rows if y_tick_labels is None else y_tick_labels
        self.x_tick_labels = read_labels(function, "x_tick_labels", x_tick_labels, count)
        self.y_tick_labels = read_labels(function, "y_tick_labels", y_tick_labels, len(self.values))
        self.x_label, self.y_label = x_label, y_label
        drawable = [value for row in self.values for value in row if is_drawable(value)]
        self._low, self._high = min(drawable, default=0.0), max(drawable, default=0.0)
        # Rows are as high as text, where they are not too many.
        default_height = min(max(len(self.values), 4), 16) * 26 + 60
        options.setdefault("height", default_height)
        super().__init__(**options)

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        rows, columns = len(self.values), len(self.x_tick_labels)
        low, high = number_text(self._low), number_text(self._high)
        return (
            f"heat map of {rows} rows and {columns} columns, values from {low} to {high}"
            f"{self._omission()}"
        )

    def _omission(self) -> str:
        """Say which rows and columns are drawn, if not all are."""
        rows, columns = len(self.values), len(self.x_tick_labels)
        if max(rows, columns) <= _MOST_CELLS:
            return ""
        drawn = (len(_sampled(size)) for size in (rows, columns))
        return "; {} rows and {} columns are drawn".format(*drawn)

    def _cell_style(self, row: int, column: int) -> tuple[str, float]:
        """Return the colour and the opacity of a cell."""
        share = (self.values[row][column] - self._low) / ((self._high - self._low) or 1.0)
        return colour(0), opacity(share)

    def _cell_title(self, row: int, column: int) -> str:
        value = number_text(self.values[row][column], 6)
        return f"{self.y_tick_labels[row]}, {self.x_tick_labels[column]}: {value}"

    def _elements(self, width: int) -> str:
        head, top = header(self.title, (), width)
        rows, columns = _sampled(len(self.values)), _sampled(len(self.x_tick_labels))
        if not self.values or not self.x_tick_labels:
            return head + label(width / 2, self.height / 2, "no values", "middle")
        y_texts = [shortened(self.y_tick_labels[row], width / 4) for row in rows]
        left = max(map(text_width, y_texts)) + _GAP
        top += 18
        bottom = self.height - 22 - (16 if self.x_label else 0)
        cell_width = (width - 8 - left) / len(columns)
        cell_height = (bottom - top) / len(rows)
        parts = [head, self._legend(width, top - 14)]
        if self.y_label:
            parts.append(label(1, top - 6, self.y_label))
        if self.x_label:
            middle = (left + width - 8) / 2
            parts.append(label(middle, self.height - _GAP, self.x_label, "middle"))
        has_texts = self._texts_fit(rows, columns, cell_width, cell_height)
        for row_index, row in enumerate(rows):
            for column_index, column in enumerate(columns):
                x, y = left + column_index * cell_width, top + row_index * cell_height
                parts.append(self._cell(row, column, x, y, cell_width, cell_height))
                if has_texts:
                    parts.append(
                        element(
                            "text",
                            escaped(number_text(self.values[row][column], 3)),
                            x=x + cell_width / 2,
                            y=y + cell_height / 2 + 4,
                            text_anchor="middle",
                            font_size=_CELL_FONT,
                        )
                    )
        parts += _row_labels(y_texts, left - _GAP, top, cell_height)
        x_texts = [self.x_tick_labels[column] for column in columns]
        parts += _column_labels(x_texts, left, bottom + 14, cell_width)
        return "".join(parts)

    def _cell(self, row: int, column: int, x: float, y: float, width: float, height: float) -> str:
        is_empty = not is_drawable(self.values[row][column])
        fill, fill_opacity = ("none", 0.0) if is_empty else self._cell_style(row, column)
        gap = 1 if min(width, height) >= _CELL_FONT else 0
        return element(
            "rect",
            tooltip(self._cell_title(row, column)),
            x=x + gap / 2,
            y=y + gap / 2,
            width=width - gap,
            height=height - gap,
            fill=fill,
            fill_opacity=f"{fill_opacity:.2f}",
        )

    def _texts_fit(
        self, rows: Sequence[int], columns: Sequence[int], width: float, height: float
    ) -> bool:
        widest = max(
            text_width(number_text(self.values[row][column], 3), _CELL_FONT)
            for row in rows
            for column in columns
        )
        return height >= _CELL_HEIGHT and widest + 4 <= width

    def _legend(self, width: int, y: float) -> str:
        """Return the colours from the lowest value to the highest."""
        low, high = number_text(self._low), number_text(self._high)
        right = width - 8 - text_width(high)
        left = right - _GAP - _STEPS * _STEP_WIDTH
        steps = [
            element(
                "rect",
                x=left + step * _STEP_WIDTH,
                y=y,
                width=_STEP_WIDTH,
                height=_STEP_HEIGHT,
                fill=colour(0),
                fill_opacity=f"{opacity(step / (_STEPS - 1)):.2f}",
            )
            for step in range(_STEPS)
        ]
        texts = [label(left - _GAP, y + 9, low, "end"), label(width - 8, y + 9, high, "end")]
        return "".join(steps + texts)


def opacity(share: float) -> float:
    """Return the opacity of a cell, whose value is a ``share`` of the way to the highest one."""
    return 0.05 + 0.75 * share


def _sampled(size: int) -> Sequence[int]:
    """Return indices along an axis, evenly spaced where there are too many."""
    if size <= _MOST_CELLS:
        return range(size)
    return [index * size // _MOST_CELLS for index in range(_MOST_CELLS)]


def _row_labels(texts: Sequence[str], right: float, top: float, height: float) -> Iterable[str]:
    step = max(1, -(-12 // max(int(height), 1)))
    for index in range(0, len(texts), step):
        yield label(right, top + (index + 0.5) * height + 4, texts[index], "end")


def _column_labels(texts: Sequence[str], left: float, y: float, width: float) -> Iterable[str]:
    """Yield labels, some of them where all would overlap, cut where they are long."""
    widest = min(max(map(text_width, texts)), 64.0) + _GAP
    step = max(1, -(-int(widest) // max(int(width), 1))) if widest > width else 1
    for index in range(0, len(texts), step):
        text = shortened(texts[index], step * width)
        yield label(left + (index + 0.5) * width, y, text, "middle")
