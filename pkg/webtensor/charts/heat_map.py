"""Heat maps: a cell for each value of a matrix, more opaque for higher values.

Cells have one colour, of about the same contrast to white and to black, in an opacity by value. So
they blend with a light background and with a dark one, and text in the colour of the text around
the chart is readable on all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, NamedTuple, Unpack

from webtensor.charts.display import Chart, ChartOptions
from webtensor.charts.elements import colour, element, escaped, number_text, shortened, text_width
from webtensor.charts.plot_area import header, label, tooltip
from webtensor.charts.scales import is_drawable
from webtensor.charts.series import frame_labels, read_labels, read_matrix

__all__ = ["HeatMap", "opacity"]

#: Rows and columns of larger matrices are left out, evenly.
_MAX_CELLS = 64
#: The least height of a cell with text, and the least size of one with a gap around it.
_TEXT_HEIGHT, _MIN_WITH_GAP = 14, 10
_GAP, _MARGIN = 6, 8
_LABEL_HEIGHT, _WIDEST_LABEL = 12, 64.0
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
        if max(rows, columns) <= _MAX_CELLS:
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
        row_texts = [shortened(self.y_tick_labels[row], width / 4) for row in rows]
        column_texts = [self.x_tick_labels[column] for column in columns]
        left, right = max(map(text_width, row_texts)) + _GAP, width - _MARGIN
        top += 18
        bottom = self.height - 22 - (16 if self.x_label else 0)
        grid = _Grid(left, top, (right - left) / len(columns), (bottom - top) / len(rows))
        parts = [head, self._legend(width, top - 14)]
        if self.y_label:
            parts.append(label(1, top - _GAP, self.y_label))
        if self.x_label:
            parts.append(label((left + right) / 2, self.height - _GAP, self.x_label, "middle"))
        parts += self._cells(grid, rows, columns)
        parts += _row_labels(row_texts, grid)
        parts += _column_labels(column_texts, grid, bottom + 14)
        return "".join(parts)

    def _cells(self, grid: _Grid, rows: Sequence[int], columns: Sequence[int]) -> Iterable[str]:
        """Yield the cells, with their values if all fit."""
        texts = {
            (row, column): number_text(self.values[row][column], 3)
            for row in rows
            for column in columns
        }
        widest = max(map(text_width, texts.values()))
        has_texts = grid.cell_height >= _TEXT_HEIGHT and grid.cell_width >= widest + 4
        gap = 1 if min(grid.cell_width, grid.cell_height) >= _MIN_WITH_GAP else 0
        for index, (row, column) in enumerate(texts):
            x = grid.left + index % len(columns) * grid.cell_width
            y = grid.top + index // len(columns) * grid.cell_height
            is_empty = not is_drawable(self.values[row][column])
            fill, fill_opacity = (colour(0), 0.0) if is_empty else self._cell_style(row, column)
            yield element(
                "rect",
                tooltip(self._cell_title(row, column)),
                x=x + gap / 2,
                y=y + gap / 2,
                width=grid.cell_width - gap,
                height=grid.cell_height - gap,
                fill=fill,
                fill_opacity=f"{fill_opacity:.2f}",
                shape_rendering=None if gap else "crispEdges",
            )
            if has_texts:
                yield element(
                    "text",
                    escaped(texts[row, column]),
                    x=x + grid.cell_width / 2,
                    y=y + grid.cell_height / 2 + 4,
                    text_anchor="middle",
                )

    def _legend(self, width: int, y: float) -> str:
        """Return the colours from the lowest value to the highest."""
        low, high = number_text(self._low), number_text(self._high)
        right = width - _MARGIN - text_width(high)
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
        texts = [label(left - _GAP, y + 9, low, "end"), label(width - _MARGIN, y + 9, high, "end")]
        return "".join(steps + texts)


class _Grid(NamedTuple):
    """Where the cells are, and their size, in pixels."""

    left: float
    top: float
    cell_width: float
    cell_height: float


def opacity(share: float) -> float:
    """Return the opacity of a cell, whose value is a ``share`` of the way to the highest one."""
    return 0.05 + 0.75 * min(max(share, 0.0), 1.0)


def _sampled(size: int) -> Sequence[int]:
    """Return indices along an axis, evenly spaced where there are too many."""
    if size <= _MAX_CELLS:
        return range(size)
    return [index * size // _MAX_CELLS for index in range(_MAX_CELLS)]


def _row_labels(texts: Sequence[str], grid: _Grid) -> Iterable[str]:
    """Yield labels, some of them where all would overlap."""
    step = ceil(_LABEL_HEIGHT / grid.cell_height)
    for index in range(0, len(texts), step):
        y = grid.top + (index + 0.5) * grid.cell_height + 4
        yield label(grid.left - _GAP, y, texts[index], "end")


def _column_labels(texts: Sequence[str], grid: _Grid, y: float) -> Iterable[str]:
    """Yield labels, some of them where all would overlap, cut where they are long."""
    widest = min(max(map(text_width, texts)), _WIDEST_LABEL) + _GAP
    step = ceil(widest / grid.cell_width)
    for index in range(0, len(texts), step):
        x = grid.left + (index + 0.5) * grid.cell_width
        yield label(x, y, shortened(texts[index], step * grid.cell_width), "middle")
