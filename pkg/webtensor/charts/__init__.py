"""Charts as SVG text, in plain Python: the same in a page and in a notebook.

- ``display``: what all charts share, and several of them beside each other.
- ``line_chart``, ``scatter_plot``, ``bar_chart``, ``histogram``, ``heat_map``,
  ``confusion_matrix``, ``table``: one kind each; ``trainings`` arranges line charts.
- ``series``: reading what users pass; ``decimation``: fewer points with the same peaks.
- ``scales``, ``plot_area``, ``elements``: axes, what is around the data, and SVG itself.

Charts need neither scripts nor styles, which a page's policy may forbid. Text has the colour of the
text around the chart. The other colours have enough contrast on white and on nearly black; a page
replaces them by the custom properties ``--wt-chart-1`` to ``--wt-chart-8``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.lazy_contents import contents, lazy_contents

if TYPE_CHECKING:
    from webtensor.charts.bar_chart import BarChart as BarChart
    from webtensor.charts.confusion_matrix import ConfusionMatrix as ConfusionMatrix
    from webtensor.charts.display import (
        Chart as Chart,
        ChartOptions as ChartOptions,
        Charts as Charts,
        Display as Display,
    )
    from webtensor.charts.heat_map import HeatMap as HeatMap
    from webtensor.charts.histogram import Histogram as Histogram
    from webtensor.charts.line_chart import LineChart as LineChart
    from webtensor.charts.scatter_plot import ScatterPlot as ScatterPlot
    from webtensor.charts.table import Table as Table
    from webtensor.charts.trainings import training_curves as training_curves
else:
    __getattr__, __dir__ = lazy_contents(
        __name__,
        contents("""
            bar_chart: BarChart
            confusion_matrix: ConfusionMatrix
            display: Chart ChartOptions Charts Display
            heat_map: HeatMap
            histogram: Histogram
            line_chart: LineChart
            scatter_plot: ScatterPlot
            table: Table
            trainings: training_curves
        """),
    )
