"""Confusion matrices: how often each class was taken for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from webtensor.charts.display import ChartOptions
from webtensor.charts.elements import colour, number_text
from webtensor.charts.heat_map import HeatMap, opacity

__all__ = ["ConfusionMatrix"]


class ConfusionMatrix(HeatMap):
    """The number of examples by class (rows) and predicted class (columns).

    Correct predictions, on the diagonal, have the first colour, mistakes the second.

    Args:
        data: a square matrix of numbers, as of ``HeatMap``.
        tick_labels: strings, the names of the classes; None numbers them.
        shade_diagonal: a boolean, whether the diagonal is coloured. Without it, mistakes are easier
            to compare.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: the matrix is not square, or there are too few labels.

    Example:
        >>> ConfusionMatrix([[5, 1], [0, 4]], tick_labels=["cat", "dog"])
        <ConfusionMatrix confusion matrix of 2 classes; 9 of 10 examples on the diagonal>
    """

    _function = "confusion_matrix"

    def __init__(
        self,
        data: Any,
        *,
        tick_labels: Iterable[object] | None = None,
        shade_diagonal: bool = True,
        **options: Unpack[ChartOptions],
    ) -> None:
        labels = None if tick_labels is None else list(tick_labels)
        super().__init__(
            data,
            x_tick_labels=labels,
            y_tick_labels=labels,
            x_label="prediction",
            y_label="label",
            **options,
        )
        if len(self.values) != len(self.x_tick_labels):
            raise ValueError(
                f"{self._function}: data must have as many rows as columns, but it has "
                f"{len(self.values)} rows and {len(self.x_tick_labels)} columns"
            )
        self.shade_diagonal = shade_diagonal
        shaded = [
            value
            for row, values in enumerate(self.values)
            for column, value in enumerate(values)
            if shade_diagonal or row != column
        ]
        self._high = max(shaded, default=0.0)

    @property
    def description(self) -> str:
        """What there is to see, in words."""
        total = sum(map(sum, self.values))
        correct = sum(row[index] for index, row in enumerate(self.values))
        return (
            f"confusion matrix of {len(self.values)} classes; {number_text(correct)} of "
            f"{number_text(total)} examples on the diagonal{self._omission()}"
        )

    def _cell_style(self, row: int, column: int) -> tuple[str, float]:
        is_diagonal = row == column
        if is_diagonal and not self.shade_diagonal:
            return colour(0), 0.0
        share = self.values[row][column] / (self._high or 1.0)
        return colour(0 if is_diagonal else 1), opacity(share)

    def _cell_title(self, row: int, column: int) -> str:
        count = number_text(self.values[row][column], 6)
        label, prediction = self.y_tick_labels[row], self.x_tick_labels[column]
        return f"label {label}, prediction {prediction}: {count}"

    def _legend(self, width: int, y: float) -> str:
        """Return nothing: two colours of the same scale, whose numbers the cells have."""
        return ""
