"""Bar charts, histograms, heat maps, confusion matrices and tables."""

from math import inf, nan
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import webtensor as wt
from tests_py.charts.pictures import SVG, parsed, texts, tooltips
from webtensor.charts import BarChart, Chart, ConfusionMatrix, HeatMap, Histogram, Table
from webtensor.charts.elements import colour

CLASSES = ["cat", "dog", "<bird>"]
COUNTS = [[50, 2, 1], [4, 40, 6], [0, 3, 61]]


def rectangles(chart: Chart) -> list[dict[str, Any]]:
    """The attributes of the rectangles that have a text on pointing; numbers are numbers."""
    return [
        {
            name: float(value) if value.replace(".", "").isdigit() else value
            for name, value in rectangle.attrib.items()
        }
        for rectangle in parsed(chart).iter(f"{SVG}rect")
        if len(rectangle)
    ]


# -- bars ---------------------------------------------------------------------------------------


def test_bars_are_as_high_as_their_values() -> None:
    half, whole, below = rectangles(BarChart({"a": 2, "b": 4, "c": -2}))
    assert half["height"] * 2 == pytest.approx(whole["height"], abs=0.2)
    assert below["y"] == pytest.approx(half["y"] + half["height"], abs=0.2)
    assert below["height"] == pytest.approx(half["height"], abs=0.2)


def test_bars_stand_between_their_values_and_labels() -> None:
    chart = BarChart({"first": 2.3, "second": 3.7})
    positions = {
        text.text: (float(text.attrib["x"]), float(text.attrib["y"]))
        for text in parsed(chart).iter(f"{SVG}text")
    }
    for name, value, bar in zip(
        ("first", "second"), ("2.3", "3.7"), rectangles(chart), strict=True
    ):
        centre = pytest.approx(bar["x"] + bar["width"] / 2, abs=0.2)
        assert positions[name][0] == centre
        assert positions[value][0] == centre
        assert positions[value][1] < bar["y"] < bar["y"] + bar["height"] < positions[name][1]


@pytest.mark.parametrize(
    "data",
    [
        {"0": 3, "1": 5},
        [3, 5],
        np.array([3, 5]),
        wt.tensor([3, 5]),
        [("0", 3), ("1", 5)],
        [{"index": 0, "value": 3}, {"index": 1, "value": 5}],
    ],
)
def test_bars_may_be(data: Any) -> None:
    chart = BarChart(data)
    assert tooltips(chart) == ["0: 3", "1: 5"]
    assert repr(chart) == "<BarChart bar chart; 2 bars: 0 3, 1 5>"


def test_values_that_are_not_finite_have_no_bar() -> None:
    assert len(rectangles(BarChart([1, nan, inf]))) == 1
    assert "no values" in texts(BarChart([]))


def test_long_labels_are_turned_and_cut() -> None:
    chart = BarChart({f"a label of many words, number {index}": 1 for index in range(12)})
    turned = [text for text in parsed(chart).iter(f"{SVG}text") if "transform" in text.attrib]
    assert len(turned) == 12
    assert all((text.text or "").endswith("…") for text in turned)


def test_too_many_bars() -> None:
    with pytest.raises(ValueError, match="bar_chart: data must have at most 2000 values, but has"):
        BarChart(range(2001))


def test_bars_that_are_no_numbers() -> None:
    with pytest.raises(TypeError, match=r"bar_chart: data\[1\] must be a number, but got 'x'"):
        BarChart({"a": 1, "b": "x"})
    with pytest.raises(TypeError, match="bar_chart: data must be a list, a tensor or an array"):
        BarChart(3)


# -- histograms ---------------------------------------------------------------------------------


def test_a_histogram_counts_all_finite_values() -> None:
    values = np.random.default_rng(1).normal(size=(10, 50)).astype(np.float32)
    chart = Histogram(values, bins=7)
    counts, edges = np.histogram(values.astype(np.float64), bins=7)
    assert chart.counts == counts.tolist()
    np.testing.assert_allclose(chart.edges, edges, rtol=1e-6)


def test_a_histogram_shows_statistics() -> None:
    chart = Histogram(wt.tensor([[0.0, 2.5, nan], [inf, -inf, -1.0]]))
    assert repr(chart) == (
        "<Histogram histogram; number 6, min -1, max 2.5, NaNs 1, infinities 2, zeros 1>"
    )
    names = ["number", "min", "max", "NaNs", "infinities", "zeros"]
    assert [text for text in texts(chart) if text in names] == names
    assert not {"NaNs", "zeros"} & set(texts(Histogram([1.0], stats=False)))


def test_histograms_of_equal_values_and_of_none() -> None:
    for value in (3.0, 3e30, 3e-30, 0.0):
        assert sum(Histogram([value] * 5).counts) == 5
    assert "no finite values" in texts(Histogram([nan]))


@pytest.mark.parametrize("bins, error", [(0, ValueError), (201, ValueError), (2.5, TypeError)])
def test_a_number_of_bins_that_is_none(bins: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="histogram: bins must be"):
        Histogram([1.0], bins=bins)


# -- heat maps ----------------------------------------------------------------------------------


def test_higher_values_are_more_opaque() -> None:
    cells = rectangles(HeatMap([[0, 1], [2, 3]]))
    opacities = [cell["fill-opacity"] for cell in cells]
    assert opacities == sorted(opacities)
    assert opacities[0] < 0.1
    assert {cell["fill"] for cell in cells} == {colour(0)}


def test_rows_are_below_each_other() -> None:
    first, second, third, _ = rectangles(HeatMap(np.eye(2)))
    assert first["y"] == second["y"] < third["y"]
    assert first["x"] == third["x"] < second["x"]


def test_cells_have_labels_and_values() -> None:
    chart = HeatMap(
        [[1, nan], [2, 3]], x_tick_labels=["a", "b"], y_tick_labels=["<c>", "d"], x_label="column"
    )
    assert tooltips(chart) == ["<c>, a: 1", "<c>, b: NaN", "d, a: 2", "d, b: 3"]
    assert {"a", "b", "<c>", "d", "column", "1", "2", "3"} <= set(texts(chart))
    assert [cell["fill-opacity"] for cell in rectangles(chart)].count(0) == 1


def test_large_matrices_are_sampled_and_have_no_texts_in_cells() -> None:
    chart = HeatMap(np.full((500, 200), 0.123))
    assert len(rectangles(chart)) == 64 * 64
    assert chart.description.endswith("; 64 rows and 64 columns are drawn")
    assert "0.123" not in texts(chart)[: -2 * 64]


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"data": [1, 2]}, TypeError, r"data must be a matrix, but data\[0\] is 1"),
        ({"data": [[1, 2], [3]]}, ValueError, r"data\[0\] has 2 values and data\[1\] has 1"),
        ({"data": [["a"]]}, TypeError, r"data\[0\]\[0\] must be a number, but got 'a'"),
        ({"data": [[1]], "x_tick_labels": "ab"}, ValueError, "x_tick_labels must be 1 labels"),
        ({"data": [[1]], "y_tick_labels": []}, ValueError, "y_tick_labels must be 1 labels"),
    ],
)
def test_errors_of_heat_maps(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"heatmap: .*{message}"):
        HeatMap(**arguments)


# -- confusion matrices -------------------------------------------------------------------------


def test_the_diagonal_has_a_colour_of_its_own() -> None:
    cells = rectangles(ConfusionMatrix(COUNTS, tick_labels=CLASSES))
    assert [cell["fill"] == colour(0) for cell in cells] == [index % 4 == 0 for index in range(9)]


def test_the_diagonal_may_have_no_shade() -> None:
    cells = rectangles(ConfusionMatrix(COUNTS, shade_diagonal=False))
    assert [cells[index]["fill-opacity"] for index in (0, 4, 8)] == [0, 0, 0]
    assert cells[5]["fill-opacity"] == 0.8


def test_a_confusion_matrix_in_words() -> None:
    chart = ConfusionMatrix(COUNTS, tick_labels=CLASSES)
    assert chart.description == "confusion matrix of 3 classes; 151 of 167 examples on the diagonal"
    assert "label dog, prediction <bird>: 6" in tooltips(chart)
    assert {"label", "prediction", *CLASSES} <= set(texts(chart))


def test_a_confusion_matrix_is_square() -> None:
    with pytest.raises(ValueError, match="it has 1 rows and 2 columns"):
        ConfusionMatrix([[1, 2]])


# -- tables -------------------------------------------------------------------------------------


def cells(table: Table) -> list[list[str]]:
    """The texts of the rows, the headers' first."""
    root = ElementTree.fromstring(f"<div>{table._repr_html_()}</div>")
    return [[cell.text or "" for cell in row] for row in root.iter("tr")]


@pytest.mark.parametrize(
    "table",
    [
        Table([["<a>", 1], ["b", 0.123456]], headers=["name", "value"]),
        Table([{"name": "<a>", "value": 1}, {"name": "b", "value": 0.123456}]),
        Table({"name": ["<a>", "b"], "value": [1, 0.123456]}),
    ],
)
def test_a_table_may_be(table: Table) -> None:
    assert cells(table) == [["name", "value"], ["<a>", "1"], ["b", "0.1235"]]
    assert repr(table) == "<Table 2 rows of name, value>"


def test_a_table_of_a_tensor_numbers_its_columns() -> None:
    assert cells(Table(wt.tensor([[1.0, 2.5]]))) == [["0", "1"], ["1", "2.5"]]


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"data": 3}, TypeError, "table: data must be a list of values, but got 3"),
        ({"data": ["ab"]}, TypeError, r"table: data\[0\] must be a list of values, but got 'ab'"),
        ({"data": [[1]], "headers": "ab"}, ValueError, r"data\[0\] has 1 values, but there are 2"),
        ({"data": {"a": [1], "b": []}}, ValueError, r"data\['b'\] has 0 values, but data\['a'\]"),
        ({"data": [[1]], "title": 1}, TypeError, "table: title must be a string, but got 1"),
    ],
)
def test_errors_of_tables(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Table(**arguments)


# -- colours ------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(8))
def test_colours_are_seen_on_light_and_on_dark(index: int) -> None:
    channels = bytes.fromhex(colour(index)[-7:-1])
    assert min(contrast(channels, bytes(background)) for background in ([255] * 3, [30] * 3)) > 3.5


def contrast(first: bytes, second: bytes) -> float:
    """The contrast of two colours, as WCAG defines it."""
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: bytes) -> float:
    """The relative luminance of a colour."""
    linear = [
        level / 12.92 if level <= 0.04045 else ((level + 0.055) / 1.055) ** 2.4
        for level in (channel / 255 for channel in colour)
    ]
    return sum(
        weight * level for weight, level in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )
