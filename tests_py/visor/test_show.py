"""What the visor draws, in CPython: charts that notebooks display."""

import re
import subprocess
import sys
from collections.abc import Iterator
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher

import webtensor as wt
from tests_py.notebooks import ipython_publisher
from webtensor import keras
from webtensor.charts import Charts, Histogram, LineChart, Table
from webtensor.visor import live_curves

render, show, metrics = wt.visor.render, wt.visor.show, wt.visor.metrics


def titles(charts: Charts) -> list[str]:
    return [chart.title for chart in charts]  # type: ignore[attr-defined]


def line_charts(charts: Charts) -> list[LineChart]:
    return [chart for chart in charts if isinstance(chart, LineChart)]


# -- render -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, data",
    [
        ("line_chart", [1, 2]),
        ("scatter_plot", [(1, 2)]),
        ("bar_chart", [1, 2]),
        ("histogram", [1, 2]),
        ("heatmap", [[1, 2]]),
        ("confusion_matrix", [[1]]),
        ("table", [[1, 2]]),
    ],
)
def test_charts_are_returned_and_containers_need_a_page(name: str, data: Any) -> None:
    function = getattr(render, name)
    chart = function(data, title="A title")
    assert "A title" in chart._repr_html_()
    with pytest.raises(RuntimeError, match=f"^{name}: container is only supported in a page"):
        function(data, "an element")


def test_the_visor_needs_a_page() -> None:
    with pytest.raises(RuntimeError, match="visor: there is a visor only in a page"):
        wt.visor.visor()


# -- metrics ------------------------------------------------------------------------------------

LABELS = np.array([0, 2, 1, 2, 2])
PREDICTIONS = np.array([0, 1, 1, 2, 0])


@pytest.mark.parametrize("convert", [list, np.asarray, wt.tensor])
def test_metrics_of_predictions(convert: Any, backend: str) -> None:
    labels, predictions = convert(LABELS), convert(PREDICTIONS)
    assert metrics.accuracy(labels, predictions) == 0.6
    assert metrics.confusion_matrix(labels, predictions) == [[1, 0, 0], [0, 1, 0], [1, 1, 1]]
    assert metrics.per_class_accuracy(labels, predictions) == [(1, 1), (1, 1), (1 / 3, 3)]


def test_labels_that_are_no_classes() -> None:
    assert metrics.accuracy([[-1, 0.5], [1, nan]], [[-1, 0.25], [1, nan]]) == 0.5
    assert metrics.accuracy([[1], [2]], wt.tensor([1, 3])) == 0.5


def test_weights_of_predictions(backend: str) -> None:
    weights = wt.tensor([0.5, 2.0, 1.0, 0.0, 4.0])
    expected = [[0.5, 0, 0], [0, 1, 0], [4, 2, 0]]
    assert metrics.confusion_matrix(LABELS, PREDICTIONS, weights=weights) == expected


def test_classes_without_examples() -> None:
    *_, missing = metrics.per_class_accuracy(LABELS, PREDICTIONS, num_classes=4)
    assert isnan(missing.accuracy)
    assert missing.examples == 0
    assert metrics.confusion_matrix([], []) == []


@pytest.mark.parametrize(
    "function, arguments, message",
    [
        ("accuracy", ([1, 2], [1]), "accuracy: .* same size, but got 2 labels and 1 predictions"),
        ("accuracy", ([1, 2, 3, 4], [[1, 2], [3, 4]]), "must have the same shape"),
        ("accuracy", ([], []), "accuracy: labels must have elements"),
        ("confusion_matrix", (np.eye(3), np.eye(3)), "rank 1, a class for each example"),
        ("confusion_matrix", ([[1, 2]], wt.tensor([[1, 2]])), "must have rank 1"),
        ("per_class_accuracy", ([0, 1], [[0, 1]]), "per_class_accuracy: .* the same shape"),
        ("confusion_matrix", ([0.5], [0]), "labels must be integers from 0, but has 0.5"),
        ("confusion_matrix", ([0], [-1]), "predictions must be integers from 0, but has -1"),
        ("confusion_matrix", ([nan], [1]), "labels must be integers from 0, but has nan"),
        ("confusion_matrix", ([0], [1], 2, [1, 1]), "got 2 weights and 1 predictions"),
        ("per_class_accuracy", ([3], [1], 3), "num_classes is 3, but there is a class 3"),
    ],
)
def test_errors_of_metrics(function: str, arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(metrics, function)(*arguments)


# -- show ---------------------------------------------------------------------------------------


def small_model() -> keras.Sequential:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def fit(epochs: int = 3, **options: Any) -> Any:
    x, y = wt.ones((8, 2)), wt.ones((8, 1))
    return small_model().fit(x, y, epochs=epochs, batch_size=4, verbose=0, **options)


def test_a_history_is_curves_of_metrics() -> None:
    charts = show.history(fit(validation_split=0.5))
    assert titles(charts) == ["loss", "mae"]
    first = line_charts(charts)[0]
    assert [series.name for series in first.series] == ["loss", "val_loss"]
    assert [x for x, _ in first.series[0].points] == [1, 2, 3]


@pytest.mark.parametrize(
    "history", [{"loss": [3, 2], "mae": [1, 1]}, [{"loss": 3, "mae": 1}, {"loss": 2, "mae": 1}]]
)
def test_a_history_may_be(history: Any) -> None:
    charts = show.history(history, metrics=["loss"], height=150)
    assert titles(charts) == ["loss"]
    assert line_charts(charts)[0].series[0].points == [(1, 3), (2, 2)]
    assert 'height="150"' in charts._repr_html_()


def test_what_is_no_history() -> None:
    with pytest.raises(TypeError, match=r"history: history must be a History, .* but got 3"):
        show.history(3)


def test_the_accuracy_of_classes_is_a_table() -> None:
    classes = metrics.per_class_accuracy([0, 0, 1], [0, 1, 1])
    table = show.per_class_accuracy(classes, class_labels=["<cat>", "dog"])
    assert table.rows == [["<cat>", 0.5, 2], ["dog", 1.0, 1]]
    assert show.per_class_accuracy([{"count": 2, "accuracy": 0.5}]).rows == [["0", 0.5, 2]]
    with pytest.raises(ValueError, match="class_labels must be 2 labels, but got 1"):
        show.per_class_accuracy(classes, class_labels=["cat"])


def test_a_distribution_of_values(backend: str) -> None:
    chart = show.values_distribution(wt.tensor([[0.0, nan], [inf, 4.0]]), bins=2)
    assert chart.statistics == (4, 0.0, 4.0, 1, 1, 1)
    assert chart.counts == [1, 1]


def test_a_layer_is_a_table_and_histograms() -> None:
    model = small_model()
    model.layers[0].set_weights([[[0.0], [2.5]], [-1.0]])
    table, kernel, bias = show.layer(model.layers[0])
    assert isinstance(table, Table)
    assert isinstance(kernel, Histogram)
    assert isinstance(bias, Histogram)
    assert table.rows == [
        ["kernel", "(2, 1)", 2, 0.0, 2.5, 1, 0, 0],
        ["bias", "(1,)", 1, -1.0, -1.0, 0, 0, 0],
    ]
    with pytest.raises(TypeError, match="layer: layer must be a layer, but got 3"):
        show.layer(3)  # type: ignore[arg-type]


def test_a_summary_of_a_model() -> None:
    summary = show.model_summary(small_model())
    assert "Dense" in summary._repr_html_()
    assert "Total params: 3" in repr(summary)
    with pytest.raises(TypeError, match="model_summary: model must be a model, but got None"):
        show.model_summary(None)  # type: ignore[arg-type]


# -- live curves --------------------------------------------------------------------------------


def test_curves_of_epochs_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_curves, "_INTERVAL", 0.0)
    curves = wt.visor.fit_callbacks()
    fit(callbacks=[curves], validation_split=0.5)
    assert titles(curves.charts) == ["loss", "mae"] * 2
    by_epoch, _, by_batch, _ = line_charts(curves.charts)
    assert [series.name for series in by_epoch.series] == ["loss", "val_loss"]
    assert [x for x, _ in by_epoch.series[0].points] == [1, 2, 3]
    assert [x for x, _ in by_batch.series[0].points] == [1, 2, 3]
    assert (by_epoch.x_label, by_batch.x_label) == ("epoch", "batch")


def test_the_last_batch_of_each_epoch_is_in_the_curve() -> None:
    curves = wt.visor.fit_callbacks(metrics=["loss"], callbacks="on_batch_end")
    fit(epochs=4, callbacks=[curves])
    (chart,) = line_charts(curves.charts)
    assert {2, 4, 6, 8} <= {x for x, _ in chart.series[0].points}


def test_batches_count_where_several_are_executed_at_once() -> None:
    curves = wt.visor.fit_callbacks(metrics=["loss"], callbacks="on_batch_end")
    model = small_model()
    model.compile("sgd", "mse", steps_per_execution=2)
    model.fit(wt.ones((8, 2)), wt.ones((8, 1)), 2, epochs=2, verbose=0, callbacks=[curves])
    (chart,) = line_charts(curves.charts)
    assert {4, 8} <= {x for x, _ in chart.series[0].points} <= {2, 4, 6, 8}


def test_batches_are_not_read_without_curves_of_them() -> None:
    curves = wt.visor.fit_callbacks(callbacks=["on_epoch_end"])
    assert not curves.needs_logs(0)


def test_groups_of_metrics_with_validation() -> None:
    groups = [("loss", "val_loss"), "val_mae"]
    curves = wt.visor.fit_callbacks(metrics=groups)
    fit(callbacks=[curves], validation_split=0.5)
    names = [[series.name for series in chart.series] for chart in line_charts(curves.charts)]
    assert names == [["loss", "val_loss"], ["val_mae"], ["loss"]]


def test_a_validation_beside_its_metric_shares_the_chart() -> None:
    """As TensorFlow.js's tutorials list them."""
    history = {name: [2.0, 1.0] for name in ("loss", "val_loss", "val_mae")}
    charts = show.history(history, metrics=["loss", "val_loss", "val_mae"])
    names = [[series.name for series in chart.series] for chart in line_charts(charts)]
    assert names == [["loss", "val_loss"], ["val_mae"]]


def test_epochs_without_a_validation(kernel: CapturingDisplayPublisher) -> None:
    listed = ["loss", "val_mae", ("mae", "val_mae")]
    curves = wt.visor.fit_callbacks(metrics=listed, callbacks=["on_epoch_end"])
    fit(4, callbacks=[curves], validation_split=0.5, validation_freq=3)
    charts = line_charts(curves.charts)
    names = [[series.name for series in chart.series] for chart in charts]
    assert names == [["loss", "val_loss"], ["val_mae"], ["mae", "val_mae"]]
    assert [x for x, _ in charts[1].series[0].points] == [3]
    assert "mae: 1 point" in kernel.outputs[0]["data"]["text/plain"]


def test_errors_of_live_curves() -> None:
    with pytest.raises(ValueError, match=r"callbacks must be .* but got 'on_end'"):
        wt.visor.fit_callbacks(callbacks=["on_end"])
    with pytest.raises(RuntimeError, match="fit_callbacks: container is only supported in a page"):
        fit(callbacks=[wt.visor.fit_callbacks("an element")])
    curves = wt.visor.fit_callbacks(metrics=["los"])
    fit(callbacks=[curves])
    with pytest.raises(ValueError, match="metrics has 'los', but the metrics of the training"):
        _ = curves.charts


@pytest.fixture
def kernel() -> Iterator[CapturingDisplayPublisher]:
    """What a shell of IPython publishes, as a kernel of Jupyter does."""
    with ipython_publisher() as publisher:
        yield publisher


def test_a_notebook_shows_curves_that_are_updated(
    kernel: CapturingDisplayPublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    curves = wt.visor.fit_callbacks(callbacks=["on_epoch_end"])
    # An epoch takes 0.04 s.
    monkeypatch.setattr(live_curves, "perf_counter", lambda: 0.04 * len(curves._epochs["loss"]))
    fit(epochs=50, callbacks=[curves])
    first, *updates = kernel.outputs
    assert not first["update"]
    assert all(update["update"] for update in updates)
    assert len({output["transient"]["display_id"] for output in kernel.outputs}) == 1
    assert len(kernel.outputs) == 18  # at epochs 1, 4, 7, …, 49, and at the end
    assert kernel.outputs[-1]["data"]["text/html"] == curves.charts._repr_html_()
    assert re.search(r"loss: 50 points", kernel.outputs[-1]["data"]["text/plain"])


def test_an_unknown_metric_ends_a_training_that_is_drawn(kernel: CapturingDisplayPublisher) -> None:
    with pytest.raises(ValueError, match="metrics has 'los', but the metrics of the training"):
        fit(callbacks=[wt.visor.fit_callbacks(metrics=["los"])])
    assert kernel.outputs == []


def test_charts_load_neither_numpy_nor_the_layers_api() -> None:
    program = (
        "import sys, webtensor as wt; before = set(sys.modules)\n"
        "wt.visor.render.line_chart([1, 2]).svg\n"
        "print([name for name in set(sys.modules) - before if 'keras' in name])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"
