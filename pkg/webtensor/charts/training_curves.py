"""The curves of a training: a line chart for each metric, with the curve of its validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, Unpack

from webtensor.charts.display import ChartOptions, Charts
from webtensor.charts.line_chart import LineChart

__all__ = ["Metrics", "training_curves"]

_VALIDATION = "val_"

#: Names of metrics, or groups of names that share a chart; None stands for all.
Metrics: TypeAlias = "Iterable[str | Sequence[str]] | None"


def training_curves(
    history: Mapping[str, Sequence[float]],
    epochs: Sequence[int],
    metrics: Metrics = None,
    x_label: str = "epoch",
    **options: Unpack[ChartOptions],
) -> Charts:
    """Return a line chart for each metric.

    Args:
        history: a dictionary of the values of each metric.
        epochs: integers, the numbers of the epochs, from 0.
        metrics: names of metrics, each of which has a chart with its validation, or lists of names
            that share a chart; None makes a chart for each metric.
        x_label: a string, the label of the horizontal axis.
        options: the title and size of each chart; without a title it is the first metric's name.

    Raises:
        ValueError: ``history`` has no metric of a name.

    Example:
        >>> training_curves({"loss": [3, 2], "val_loss": [4, 3]}, [0, 1])[0].title
        'loss'
    """
    charts = []
    for group in _groups(history, metrics):
        for name in group:
            if name not in history:
                raise ValueError(
                    f"metrics has {name!r}, but the metrics of the history are {sorted(history)}"
                )
        series = {name: _points(history[name], epochs) for name in group}
        chart_options: ChartOptions = {"title": group[0], **options}
        charts.append(LineChart(series, x_label=x_label, **chart_options))
    return Charts(charts)


def _points(values: Sequence[float], epochs: Sequence[int]) -> list[tuple[float, float]]:
    """Return the values over the epochs; fewer values are those of every second epoch, or so."""
    frequency = max(len(epochs) // max(len(values), 1), 1)
    return [
        (float(epoch + 1), float(value))
        for epoch, value in zip(epochs[frequency - 1 :: frequency], values, strict=False)
    ]


def _groups(history: Mapping[str, object], metrics: Metrics) -> list[Sequence[str]]:
    if metrics is None:
        metrics = [
            name
            for name in history
            if not (name.startswith(_VALIDATION) and name.removeprefix(_VALIDATION) in history)
        ]
    return [_with_validation(history, metric) for metric in metrics]


def _with_validation(history: Mapping[str, object], metric: str | Sequence[str]) -> Sequence[str]:
    if not isinstance(metric, str):
        return metric
    validation = f"{_VALIDATION}{metric}"
    return [metric, validation] if validation in history else [metric]
