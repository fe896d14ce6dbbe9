"""``wt.visor.show``: what is known of a training, a model, a layer or a tensor, as charts.

Each function draws in ``container``, if there is one, and returns what it draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from webtensor.charts import ChartOptions, Charts, Display, Histogram, Table
from webtensor.charts.decimation import Point
from webtensor.charts.histogram import statistics_of
from webtensor.charts.series import read_numbers
from webtensor.charts.trainings import Curves, Metrics, curves_of_epochs, training_curves
from webtensor.keras import Layer, Model
from webtensor.keras.callbacks import History
from webtensor.keras.models.summary import summary_html, summary_lines
from webtensor.visor.containers import Container, shown
from webtensor.visor.live_curves import FitCallbacks

__all__ = [
    "fit_callbacks",
    "history",
    "layer",
    "model_summary",
    "per_class_accuracy",
    "values_distribution",
]

_WEIGHT_HEADERS = ("name", "shape", "number", "min", "max", "zeros", "NaNs", "infinities")


def history(
    history: Any,
    container: Container = None,
    *,
    metrics: Metrics = None,
    **options: Unpack[ChartOptions],
) -> Charts:
    """Draw the curves of a training, those of a metric and of its validation in one chart.

    Args:
        history: the ``History`` that ``fit`` returns, a dictionary of the values of each metric, or
            a list with the dictionary of each epoch's metrics.
        container: where the charts are drawn in a page; None only returns them.
        metrics: names of metrics, each of which has a chart, or lists of names that share a chart;
            None makes a chart for each metric.
        options: ``title``, ``width`` and ``height`` of each chart.

    Raises:
        TypeError: ``history`` is something else.
        ValueError: the history has no metric of a name.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.show.history([{"loss": 3.0}, {"loss": 2.0}])[0]
        <LineChart line chart; loss: 2 points, first 3, last 2, minimum 2, maximum 3>
    """
    charts = training_curves(_curves(history), metrics, **options)
    return shown("history", charts, container)


def _curves(history: Any) -> Curves:
    """Return the points of each metric over the epochs, from 1."""
    if isinstance(history, History):
        return curves_of_epochs(history.history, history.epoch)
    if isinstance(history, Mapping):
        values = {
            name: read_numbers("history", f"history[{name!r}]", metric)
            for name, metric in history.items()
        }
        return curves_of_epochs(values, range(max(map(len, values.values()), default=0)))
    if isinstance(history, Sequence) and all(isinstance(logs, Mapping) for logs in history):
        curves: dict[str, list[Point]] = {}
        for epoch, logs in enumerate(history, 1):
            for name, value in logs.items():
                curves.setdefault(name, []).append((float(epoch), float(value)))
        return curves
    raise TypeError(
        "history: history must be a History, a dictionary of lists or a list of dictionaries, "
        f"but got {history!r}"
    )


#: The name of the function of tfjs-vis.
fit_callbacks = FitCallbacks


def per_class_accuracy(
    class_accuracy: Iterable[Sequence[float] | Mapping[str, float]],
    container: Container = None,
    *,
    class_labels: Iterable[object] | None = None,
    title: str = "",
) -> Table:
    """Show the accuracy of each class as a table.

    Args:
        class_accuracy: pairs of the accuracy and the number of examples, such as
            ``wt.visor.metrics.per_class_accuracy`` returns, or dictionaries with "accuracy" and
            "count".
        container: where the table is shown in a page; None only returns it.
        class_labels: strings, the names of the classes; None numbers them.
        title: a string, the text above the table.

    Raises:
        ValueError: there are more or fewer labels than classes.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.show.per_class_accuracy([(0.5, 2), (1.0, 1)], class_labels=["cat", "dog"])
        <Table 2 rows of class, accuracy, examples>
    """
    rows = [
        [row["accuracy"], row["count"]] if isinstance(row, Mapping) else list(row)
        for row in class_accuracy
    ]
    labels = range(len(rows)) if class_labels is None else list(class_labels)
    if len(labels) != len(rows):
        raise ValueError(
            f"per_class_accuracy: class_labels must be {len(rows)} labels, but got {len(labels)}"
        )
    table = Table(
        [[str(label), *row] for label, row in zip(labels, rows, strict=True)],
        headers=("class", "accuracy", "examples"),
        title=title,
    )
    return shown("per_class_accuracy", table, container)


def values_distribution(
    tensor: Any, container: Container = None, *, bins: int = 12, **options: Unpack[ChartOptions]
) -> Histogram:
    """Draw how the values of a tensor are distributed, with their statistics.

    Args:
        tensor: a tensor, an array or a list.
        container: where the chart is drawn in a page; None only returns it.
        bins: an integer, the number of intervals.
        options: ``title``, ``width`` and ``height``, in pixels.

    Raises:
        TypeError: ``tensor`` is something else, or an option has another type.
        ValueError: an option is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.show.values_distribution(wt.tensor([[0.0, 1.0], [1.0, 4.0]]))
        <Histogram histogram; number 4, min 0, max 4, NaNs 0, infinities 0, zeros 1>
    """
    return shown("values_distribution", Histogram(tensor, bins=bins, **options), container)


def layer(layer: Layer, container: Container = None, **options: Unpack[ChartOptions]) -> Charts:
    """Show the weights of a layer: a table of their statistics, and a histogram of each.

    Args:
        layer: a layer that is built.
        container: where they are drawn in a page; None only returns them.
        options: ``width`` and ``height`` of each histogram.

    Raises:
        TypeError: ``layer`` is not a layer.

    Example:
        >>> import webtensor as wt
        >>> dense = wt.layers.Dense(3)
        >>> dense.build((None, 2))
        >>> wt.visor.show.layer(dense)[0]
        <Table 2 rows of name, shape, number, min, max, zeros, NaNs, infinities>
    """
    if not isinstance(layer, Layer):
        raise TypeError(f"layer: layer must be a layer, but got {layer!r}")
    rows, histograms = [], []
    for weight in layer.weights:
        values = read_numbers("layer", weight.name, weight.value.data_sync())
        number, low, high, nans, infinities, zeros = statistics_of(values)
        shape = str(tuple(weight.shape))
        rows.append([weight.name, shape, number, low, high, zeros, nans, infinities])
        chart_options: ChartOptions = {"title": weight.name, "height": 180, **options}
        histograms.append(Histogram(values, stats=False, **chart_options))
    table = Table(rows, headers=_WEIGHT_HEADERS, title=f"Weights of {layer.name}")
    return shown("layer", Charts([table, *histograms]), container)


def model_summary(model: Model, container: Container = None) -> Display:
    """Show the table of a model's layers, with their shapes and numbers of parameters.

    Args:
        model: a model.
        container: where the table is shown in a page; None only returns it.

    Raises:
        TypeError: ``model`` is not a model.

    Example:
        >>> import webtensor as wt
        >>> model = wt.Sequential([wt.Input((4,)), wt.layers.Dense(2)], name="small")
        >>> wt.visor.show.model_summary(model).description
        'Model: "small"'
    """
    if not isinstance(model, Model):
        raise TypeError(f"model_summary: model must be a model, but got {model!r}")
    return shown("model_summary", _ModelSummary(model), container)


class _ModelSummary(Display):
    """The table of a model's layers, as it is when it is made."""

    def __init__(self, model: Model) -> None:
        self._lines, self._html = summary_lines(model), summary_html(model)

    @property
    def description(self) -> str:
        return self._lines[0]

    def html(self, width: int | None = None) -> str:
        return self._html

    def __repr__(self) -> str:
        return "\n".join(self._lines)
