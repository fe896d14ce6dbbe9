"""Line charts and scatter plots: coordinates, labels, gaps, and decimation."""

from math import inf, nan
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.charts.pictures import SVG, circles, parsed, polylines, texts, tooltips
from webtensor.charts import Charts, LineChart, ScatterPlot, training_curves
from webtensor.charts.decimation import MAX_POINTS
from webtensor.charts.scales import linear_scale
from webtensor.charts.series import Series


class Column:
    """Has what charts use of a Series of pandas."""

    def __init__(self, values: dict[Any, Any], name: str | None = None) -> None:
        self._values, self.name = values, name

    @property
    def index(self) -> list[Any]:
        return list(self._values)

    def tolist(self) -> list[Any]:
        return list(self._values.values())

    def items(self) -> Any:
        return self._values.items()


class Frame:
    """Has what charts use of a DataFrame of pandas."""

    def __init__(self, **columns: list[Any]) -> None:
        self._columns = columns
        self.columns = list(columns)
        self.index = list(range(len(next(iter(columns.values())))))

    def __getitem__(self, name: str) -> Column:
        return Column(dict(zip(self.index, self._columns[name], strict=True)), name)


# -- lines --------------------------------------------------------------------------------------


def test_points_lie_where_the_axes_say() -> None:
    (line,) = polylines(LineChart([0, 10, 5]))
    (x0, y0), (x1, y1), (x2, y2) = line
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.1)
    assert y0 - y1 == pytest.approx(2 * (y0 - y2), abs=0.2)


def test_axes_have_round_marks_and_labels() -> None:
    chart = LineChart({"loss": [0.13, 0.95]}, title="Training", x_label="epoch", y_label="value")
    shown = texts(chart)
    assert {"Training", "loss", "epoch", "value", "0.2", "0.4", "0.6", "0.8", "1"} <= set(shown)


def test_names_in_the_legend_follow_their_lines() -> None:
    root = parsed(LineChart({"loss": [1.0, 2.0], "accuracy": [2.0, 3.0]}))
    lines = [line for line in root.iter(f"{SVG}line") if "stroke-linecap" in line.attrib]
    names = [text for text in root.iter(f"{SVG}text") if text.text in ("loss", "accuracy")]
    edges = [
        float(value)
        for line, name in zip(lines, names, strict=True)
        for value in (line.attrib["x1"], line.attrib["x2"], name.attrib["x"])
    ]
    assert edges == sorted(edges)


def test_as_many_values_are_marked_as_there_is_room_for() -> None:
    assert linear_scale([0.0, 6.0], 7).marks == [0, 1, 2, 3, 4, 5, 6]
    assert linear_scale([0.0, 6.0], 6).marks == [0, 2, 4, 6]


def test_equal_values_are_in_the_middle_of_their_axis() -> None:
    assert "0.001" in texts(LineChart([0.001, 0.001]))


def test_a_chart_says_in_words_what_there_is_to_see() -> None:
    chart = LineChart({"loss": [3.0, 1.0, 2.0]}, title="Training")
    words = "line chart; loss: 3 points, first 3, last 2, minimum 1, maximum 3"
    assert parsed(chart).attrib["aria-label"] == f"Training: {words}"
    assert repr(chart) == f"<LineChart {words}>"


def test_values_are_shown_on_pointing() -> None:
    chart = LineChart({"loss": [3.0, 2.0], "accuracy": [0.5, 0.75]}, x_label="epoch")
    assert tooltips(chart) == [
        "epoch: 0\nloss: 3\naccuracy: 0.5",
        "epoch: 1\nloss: 2\naccuracy: 0.75",
    ]


def test_notebooks_show_the_svg() -> None:
    chart = LineChart([1, 2])
    assert chart._repr_html_() == chart.svg
    assert chart._mime_() == ("text/html", chart.svg)


@pytest.mark.parametrize("value", [nan, inf, -inf, None])
def test_what_is_not_finite_is_a_gap(value: float | None) -> None:
    lines = polylines(LineChart([1.0, 2.0, value, 3.0, 1.0]))
    assert [len(line) for line in lines] == [2, 2]


def test_a_point_between_gaps_is_a_dot() -> None:
    chart = LineChart([nan, 1.0, nan])
    assert polylines(chart) == []
    assert len(circles(chart)) == 1


@pytest.mark.parametrize("data", [[], [nan], {}, {"loss": []}])
def test_a_chart_without_values_says_so(data: Any) -> None:
    root = parsed(LineChart(data))
    (message,) = (text for text in root.iter(f"{SVG}text") if text.text == "no values")
    grid = [line for line in root.iter(f"{SVG}line") if "stroke-linecap" not in line.attrib]
    heights = [float(line.attrib["y1"]) for line in grid]
    middle = (min(heights) + max(heights)) / 2
    assert float(message.attrib["y"]) == pytest.approx(middle, abs=0.2)


@pytest.mark.parametrize(
    "values",
    [
        *([1e308, -1e308], [5e-324, 0.0], [1.0, 1.0 + 1e-16], [7.0, 7.0], [1e-200, 2e-200]),
        *([1e9, 1e9], [-3e30, -3e30], [1e149], [1e12, 1e12 + 1], [1e15, 1e15 + 3e3]),
    ],
)
def test_extreme_values_have_axes(values: list[float]) -> None:
    for chart in (LineChart(values), LineChart(values, log_y=True), ScatterPlot(values)):
        assert "nan" not in chart.svg
        assert "inf" not in chart.svg


def test_a_logarithmic_axis_has_powers_of_ten() -> None:
    chart = LineChart([1000.0, 10.0, 0.0, 0.1], log_y=True)
    assert {"0.1", "1", "10", "100", "1000"} <= set(texts(chart))
    ((first, second),) = polylines(chart)
    dot = circles(chart)[0]
    assert second[1] - first[1] == pytest.approx(dot[1] - second[1], abs=0.2)


def test_a_domain_cuts_lines_off() -> None:
    chart = LineChart([0.0, 5.0, 100.0], y_domain=(0, 10))
    inner = parsed(chart).find(f"{SVG}svg")
    assert inner is not None
    box = [float(inner.attrib[name]) for name in ("x", "y", "width", "height")]
    assert [float(number) for number in inner.attrib["viewBox"].split()] == box
    assert "10" in texts(chart)
    assert "100" not in texts(chart)


def test_decimation_keeps_the_peaks() -> None:
    values = [float(index % 10) for index in range(100_000)]
    values[43_210], values[76_543] = 500.0, -500.0
    (line,) = polylines(LineChart(values))
    assert len(line) <= MAX_POINTS
    heights = [y for _, y in line]
    assert heights.index(min(heights)) < heights.index(max(heights))
    edges = polylines(LineChart([500.0, -500.0]))[0]
    assert (min(heights), max(heights)) == (edges[0][1], edges[1][1])


def test_decimation_keeps_gaps() -> None:
    values = [1.0] * 10_000 + [nan] * 1000 + [2.0] * 10_000
    assert len(polylines(LineChart(values))) == 2


# -- data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        [1, 4, 9],
        (1, 4, 9),
        range(1, 10, 4),
        [{"x": 0, "y": 1}, {"x": 1, "y": 4}, {"x": 2, "y": 9}],
        [(0, 1), (1, 4), (2, 9)],
        zip(range(3), [1, 4, 9], strict=True),
        [[1, 4, 9]],
        np.array([1.0, 4.0, 9.0]),
        [np.float32(1), np.float32(4), np.float32(9)],
        {"": [1, 4, 9]},
        Column({0: 1, 1: 4, 2: 9}),
        Column({"a": 1, "b": 4, "c": 9}),
    ],
)
def test_a_series_may_be(data: Any) -> None:
    (series,) = LineChart(data).series
    assert series.name == ""
    assert [x for x, _ in series.points] == [0, 1, 2]
    assert series.points[2][1] == 9


def test_a_series_may_be_a_tensor(backend: str) -> None:
    (series,) = LineChart(wt.tensor([1.0, 4.0])).series
    assert series.points == [(0, 1), (1, 4)]


@pytest.mark.parametrize(
    "data",
    [
        {"series 1": [1, 2], "series 2": [3, 4]},
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]]),
        [np.array([1, 2]), wt.tensor([3, 4])],
        [[(0, 1), (1, 2)], [{"x": 0, "y": 3}, {"x": 1, "y": 4}]],
        Frame(**{"series 1": [1, 2], "series 2": [3, 4]}),
    ],
)
def test_several_series_may_be(data: Any) -> None:
    first, second = LineChart(data).series
    assert first == Series("series 1", [(0, 1), (1, 2)])
    assert second == Series("series 2", [(0, 3), (1, 4)])


def test_the_index_of_a_series_of_pandas_is_x() -> None:
    (series,) = LineChart(Column({2000: 1.5, 2001: None}, "population")).series
    assert series.name == "population"
    assert series.points[0] == (2000, 1.5)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"data": 3}, "data must be a list, a tensor or an array, but got 3"),
        ({"data": "abc"}, "data must be a list, a tensor or an array, but got 'abc'"),
        ({"data": ["1"]}, r"data\[0\] must be a number, a point .* but got '1'"),
        ({"data": [(1, 2, 3)]}, r"data\[0\] must be a number, a point .* got \(1, 2, 3\)"),
        ({"data": [{"y": 3}]}, r"data\[0\] must be a number, a point"),
        ({"data": {"loss": [1, "x"]}}, r"data\['loss'\]\[1\] must be a number"),
        ({"data": [1, [2]]}, r"data\[1\] must be a number"),
        ({"data": [1j]}, r"data\[0\] must be a number"),
        ({"data": [1], "title": 3}, "title must be a string, but got 3"),
        ({"data": [1], "width": 4.5}, "width must be an integer, but got 4.5"),
        ({"data": [1], "y_domain": 3}, "y_domain must be a list"),
        ({"data": [1], "x_domain": (1, 2, 3)}, "x_domain must be a pair of numbers"),
        ({"data": [1], "colour": "red"}, "unexpected keyword argument 'colour'"),
    ],
)
def test_errors_of_types(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        LineChart(**arguments)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"height": 5}, "height must be from 120 to 4000 pixels, but got 5"),
        ({"x_domain": (0, 5e-324)}, "x_domain must be two finite numbers"),
        ({"y_domain": (1, 1)}, r"y_domain must be two finite numbers, the minimum first"),
        ({"y_domain": (0, 1), "log_y": True}, "y_domain of a logarithmic axis must be positive"),
    ],
)
def test_errors_of_values(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"line_chart: {message}"):
        LineChart([1], **options)


# -- dots ---------------------------------------------------------------------------------------


def test_a_scatter_plot_has_a_dot_for_each_point() -> None:
    chart = ScatterPlot({"a": [(0, 0), (4, 8)], "b": [(2, 4), (nan, 1)]})
    (x0, y0), (x1, y1), (x2, y2) = circles(chart)
    assert x2 == pytest.approx((x0 + x1) / 2, abs=0.2)
    assert y2 == pytest.approx((y0 + y1) / 2, abs=0.2)
    assert tooltips(chart) == ["a\n(0, 0)", "a\n(4, 8)", "b\n(2, 4)"]


def test_many_dots_are_thinned_but_for_the_extremes() -> None:
    points = [(x / 1000 % 1, x / 777 % 1) for x in range(10_000)]
    points[1234] = (5.0, 9.0)
    chart = ScatterPlot(points)
    assert len(circles(chart)) <= MAX_POINTS
    assert "(5, 9)" in tooltips(chart)


# -- text ---------------------------------------------------------------------------------------


HOSTILE = '<script>alert("1")</script>&\x00'


def test_hostile_text_stays_text() -> None:
    chart = LineChart({HOSTILE: [1, 2]}, title=HOSTILE, x_label=HOSTILE, y_label=HOSTILE)
    shown = texts(chart)
    readable = HOSTILE.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    assert shown.count(readable) == 4
    assert readable in parsed(chart).attrib["aria-label"]
    assert any(readable in tooltip for tooltip in tooltips(chart))


# -- several charts -----------------------------------------------------------------------------


def series_names(charts: Charts) -> list[list[str]]:
    """The names of the series of each chart."""
    return [[series.name for series in chart.series] for chart in charts]  # type: ignore[attr-defined]


def test_a_metric_shares_a_chart_with_its_validation() -> None:
    charts = training_curves({"loss": [(1, 3)], "val_loss": [(1, 4)], "mae": [(1, 1)]})
    assert series_names(charts) == [["loss", "val_loss"], ["mae"]]


def test_metrics_may_be_chosen_and_grouped() -> None:
    curves = {"loss": [(1, 3.0)], "mae": [(1, 1.0)], "mse": [(1, 2.0)]}
    charts = training_curves(curves, ["loss", ("mae", "mse")])
    assert series_names(charts) == [["loss"], ["mae", "mse"]]
    with pytest.raises(ValueError, match=r"metrics has 'los', but .* \['loss', 'mae', 'mse'\]"):
        training_curves(curves, ["los"])


def test_charts_are_shown_beside_each_other() -> None:
    charts = Charts([LineChart([1]), ScatterPlot([2])])
    assert charts._repr_html_() == "".join(chart._repr_html_() for chart in charts)
    assert len(charts) == 2
    assert "No charts" in Charts([])._repr_html_()
