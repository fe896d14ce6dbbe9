"""The curves of a training: a line chart for each metric, with the curve of its validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, Unpack

from webtensor.charts.decimation import Point
from webtensor.charts.display import ChartOptions, Charts
from webtensor.charts.line_chart import LineChart

__all__ = ["VALIDATION", "Curves", "Metrics", "curves_of_epochs", "training_curves"]

#: What names of metrics of the validation begin with.
VALIDATION = "val_"

#: The points of each metric, by its name.
Curves: TypeAlias = "Mapping[str, Sequence[Point]]"

#: Names of metrics, or groups of names that share a chart; None stands for all.
Metrics: TypeAlias = "Iterable[str | Sequence[str]] | None"


def training_curves(
    curves: Curves,
    metrics: Metrics = None,
    x_label: str = "epoch",
    **options: Unpack[ChartOptions],
) -> Charts:
    """Return a line chart for each metric.

    Args:
        curves: a dictionary of the points of each metric.
        metrics: names of metrics, each of which has a chart with its validation, or lists of names
            that share a chart; None makes a chart for each metric.
        x_label: a string, the label of the horizontal axis.
        options: the title and size of each chart; without a title it is the first metric's name.

    Raises:
        ValueError: there is no metric of a name.

    Example:
        >>> training_curves({"loss": [(1, 3)], "val_loss": [(1, 4)]})[0].title
        'loss'
    """
    charts = []
    for group in _groups(curves, metrics):
        for name in group:
            if name not in curves:
                raise ValueError(
                    f"metrics has {name!r}, but the metrics of the training are {sorted(curves)}"
                )
        chart_options: ChartOptions = {"title": group[0], **options}
        series = {name: curves[name] for name in group}
        charts.append(LineChart(series, x_label=x_label, **chart_options))
    return Charts(charts)


def curves_of_epochs(history: Mapping[str, Sequence[float]], epochs: Sequence[int]) -> Curves:
    """Return the points of metrics over the epochs, counted from 1.

    A metric with fewer values than epochs has those of every second epoch, or third, and so on, as
    a validation may.

    Example:
        >>> curves_of_epochs({"loss": [3, 2], "val_loss": [4]}, range(2))
        {'loss': [(1.0, 3.0), (2.0, 2.0)], 'val_loss': [(2.0, 4.0)]}
    """
    curves = {}
    for name, values in history.items():
        frequency = max(len(epochs) // max(len(values), 1), 1)
        curves[name] = [
            (float(epoch + 1), float(value))
            for epoch, value in zip(epochs[frequency - 1 :: frequency], values, strict=False)
        ]
    return curves


def _groups(curves: Curves, metrics: Metrics) -> list[Sequence[str]]:
    names = list(curves if metrics is None else metrics)
    return [
        _with_validation(curves, metric)
        for metric in names
        if not isinstance(metric, str)
        or not metric.startswith(VALIDATION)
        or metric.removeprefix(VALIDATION) not in names
    ]


def _with_validation(curves: Curves, metric: str | Sequence[str]) -> Sequence[str]:
    if not isinstance(metric, str):
        return metric
    validation = f"{VALIDATION}{metric}"
    return [metric, validation] if validation in curves else [metric]
