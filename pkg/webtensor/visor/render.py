"""``wt.visor.render``: a function for each kind of chart.

Each takes the data, a container, and the options of its chart as keywords. It returns the chart,
which a notebook displays, and draws it in the container, if there is one: a surface of the visor,
its name and tab as a dictionary, an element of the page, or the id of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from webtensor.charts import (
    BarChart,
    ChartOptions,
    ConfusionMatrix,
    HeatMap,
    Histogram,
    LineChart,
    ScatterPlot,
    Table,
)
from webtensor.visor.containers import Container, shown

__all__ = [
    "bar_chart",
    "confusion_matrix",
    "heatmap",
    "histogram",
    "line_chart",
    "scatter_plot",
    "table",
]


def line_chart(
    data: Any,
    container: Container = None,
    *,
    x_label: str = "",
    y_label: str = "",
    log_y: bool = False,
    x_domain: Sequence[float] | None = None,
    y_domain: Sequence[float] | None = None,
    **options: Unpack[ChartOptions],
) -> LineChart:
    """Draw lines through the points of one series or several.

    Values that are not finite, and on a logarithmic axis those that are not positive, are gaps. Of
    a long series at most 2,000 points are drawn, among them all peaks.

    Args:
        data: numbers, or points ``{"x": …, "y": …}`` or ``(x, y)``, as a list, a tensor or an
            array; several series as a list of them, the rows of a tensor or an array of rank 2, or
            a dictionary or DataFrame by name.
        container: where the chart is drawn in a page; None only returns it.
        x_label: a string, what ``x`` is.
        y_label: a string, what ``y`` is.
        log_y: a boolean, whether the axis of ``y`` is logarithmic.
        x_domain: a pair of numbers, the ends of the axis; None takes them from the points.
        y_domain: likewise, for ``y``.
        options: ``title``, ``width`` and ``height``, in pixels.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.render.line_chart({"loss": [3, 2, 1.5]}, x_label="epoch")
        <LineChart line chart; loss: 3 points, first 3, last 1.5, minimum 1.5, maximum 3>
    """
    chart = LineChart(
        data,
        x_label=x_label,
        y_label=y_label,
        log_y=log_y,
        x_domain=x_domain,
        y_domain=y_domain,
        **options,
    )
    return shown("line_chart", chart, container)


def scatter_plot(
    data: Any,
    container: Container = None,
    *,
    x_label: str = "",
    y_label: str = "",
    x_domain: Sequence[float] | None = None,
    y_domain: Sequence[float] | None = None,
    **options: Unpack[ChartOptions],
) -> ScatterPlot:
    """Draw a dot for each point of one series or several.

    Args:
        data: as of ``line_chart``.
        container: where the chart is drawn in a page; None only returns it.
        x_label: a string, what ``x`` is.
        y_label: a string, what ``y`` is.
        x_domain: a pair of numbers, the ends of the axis; None takes them from the points.
        y_domain: likewise, for ``y``.
        options: ``title``, ``width`` and ``height``, in pixels.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.render.scatter_plot([{"x": 0.5, "y": 2}, {"x": 1, "y": 4}])
        <ScatterPlot scatter plot; 2 points, first 2, last 4, minimum 2, maximum 4>
    """
    chart = ScatterPlot(
        data, x_label=x_label, y_label=y_label, x_domain=x_domain, y_domain=y_domain, **options
    )
    return shown("scatter_plot", chart, container)


def bar_chart(
    data: Any,
    container: Container = None,
    *,
    x_label: str = "",
    y_label: str = "",
    **options: Unpack[ChartOptions],
) -> BarChart:
    """Draw a bar for each label.

    Args:
        data: a dictionary or a Series of values by label, a list of ``{"index": …, "value": …}``
            or pairs, or numbers, which are labelled from 0.
        container: where the chart is drawn in a page; None only returns it.
        x_label: a string, what the labels are.
        y_label: a string, what the values are.
        options: ``title``, ``width`` and ``height``, in pixels.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range, or there are more than 2,000 values.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.render.bar_chart({"cats": 3, "dogs": 5}, y_label="number")
        <BarChart bar chart; 2 bars: cats 3, dogs 5>
    """
    chart = BarChart(data, x_label=x_label, y_label=y_label, **options)
    return shown("bar_chart", chart, container)


def histogram(
    data: Any,
    container: Container = None,
    *,
    bins: int = 12,
    stats: bool = True,
    x_label: str = "",
    **options: Unpack[ChartOptions],
) -> Histogram:
    """Draw how values are distributed, with their number, minimum and maximum, NaNs and zeros.

    Args:
        data: numbers in a list, a tensor or an array, of any rank.
        container: where the chart is drawn in a page; None only returns it.
        bins: an integer, the number of intervals.
        stats: a boolean, whether the statistics are written above.
        x_label: a string, what the values are.
        options: ``title``, ``width`` and ``height``, in pixels.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: an option is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.render.histogram(wt.tensor([0.0, 1.0, 1.0]), bins=2).counts
        [1, 2]
    """
    chart = Histogram(data, bins=bins, stats=stats, x_label=x_label, **options)
    return shown("histogram", chart, container)


def heatmap(
    data: Any,
    container: Container = None,
    *,
    x_tick_labels: Iterable[object] | None = None,
    y_tick_labels: Iterable[object] | None = None,
    x_label: str = "",
    y_label: str = "",
    **options: Unpack[ChartOptions],
) -> HeatMap:
    """Draw the values of a matrix as colours, and as numbers where they fit.

    Args:
        data: a list of rows, a tensor or an array of rank 2, or a DataFrame.
        container: where the chart is drawn in a page; None only returns it.
        x_tick_labels: strings, the labels of the columns; None numbers them.
        y_tick_labels: strings, the labels of the rows; None numbers them.
        x_label: a string, what the columns are.
        y_label: a string, what the rows are.
        options: ``title``, ``width`` and ``height``, in pixels.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: rows differ in length, or there are too few labels.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.render.heatmap(wt.eye(2), x_tick_labels=["a", "b"])
        <HeatMap heat map of 2 rows and 2 columns, values from 0 to 1>
    """
    chart = HeatMap(
        data,
        x_tick_labels=x_tick_labels,
        y_tick_labels=y_tick_labels,
        x_label=x_label,
        y_label=y_label,
        **options,
    )
    return shown("heatmap", chart, container)


def confusion_matrix(
    data: Any,
    container: Container = None,
    *,
    tick_labels: Iterable[object] | None = None,
    shade_diagonal: bool = True,
    **options: Unpack[ChartOptions],
) -> ConfusionMatrix:
    """Draw how often each class (rows) was taken for each (columns).

    Args:
        data: a square matrix of numbers, such as ``wt.visor.metrics.confusion_matrix`` returns.
        container: where the chart is drawn in a page; None only returns it.
        tick_labels: strings, the names of the classes; None numbers them.
        shade_diagonal: a boolean, whether correct predictions are coloured. Without it, mistakes
            are easier to compare.
        options: ``title``, ``width`` and ``height``, in pixels.

    Raises:
        TypeError: ``data`` is something else, or an option has another type.
        ValueError: the matrix is not square, or there are too few labels.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.render.confusion_matrix([[5, 1], [0, 4]], tick_labels=["cat", "dog"])
        <ConfusionMatrix confusion matrix of 2 classes; 9 of 10 examples on the diagonal>
    """
    chart = ConfusionMatrix(data, tick_labels=tick_labels, shade_diagonal=shade_diagonal, **options)
    return shown("confusion_matrix", chart, container)


def table(
    data: Any,
    container: Container = None,
    *,
    headers: Iterable[object] | None = None,
    title: str = "",
) -> Table:
    """Show rows of values below headers.

    Args:
        data: a list of rows, each a list or a dictionary by header; a dictionary or a DataFrame of
            columns; a tensor or an array of rank 2.
        container: where the table is shown in a page; None only returns it.
        headers: strings, the headers of the columns; None takes them from ``data``, or numbers
            the columns.
        title: a string, the text above the table.

    Raises:
        TypeError: ``data`` is something else.
        ValueError: rows and headers differ in length.

    Example:
        >>> import webtensor as wt
        >>> wt.visor.render.table([["dense", 12]], headers=["layer", "parameters"])
        <Table 1 rows of layer, parameters>
    """
    return shown("table", Table(data, headers=headers, title=title), container)
