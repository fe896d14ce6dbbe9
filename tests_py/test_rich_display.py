"""What notebooks show of tensors, models and histories: HTML without scripts and styles."""

import re
import sys
import zlib
from base64 import b64decode
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

import webtensor as wt
from tests_py.notebooks import ipython_publisher
from webtensor import keras

SVG = "{http://www.w3.org/2000/svg}"


def parts(html: str) -> ElementTree.Element:
    """Parse HTML that must be well-formed, and must do without scripts and styles."""
    assert not re.search(r"<script|<style|style=|on\w+=", html)
    return ElementTree.fromstring(f"<div>{html}</div>".replace("<br>", "<br/>"))


def pixels(html: str) -> Any:
    """The pixels of the picture in a tensor's HTML, of shape (height, width, 4)."""
    (image,) = parts(html).iter(f"{SVG}image")
    kind, _, data = image.attrib["href"].partition(",")
    assert kind == "data:image/png;base64"
    png = b64decode(data)
    width, height = (int.from_bytes(png[start : start + 4]) for start in (16, 20))
    size = int.from_bytes(png[33:37])
    rows = np.frombuffer(zlib.decompress(png[41 : 41 + size]), np.uint8)
    assert rows.size == height * (1 + 4 * width)
    return rows.reshape(height, -1)[:, 1:].reshape(height, width, 4)


# -- tensors ------------------------------------------------------------------------------------


def test_a_matrix_has_a_heat_map(backend: str) -> None:
    x = wt.tensor([[0.0, 1.0], [2.0, 4.0]])
    html = x._repr_html_()
    dark, bright = [68, 1, 84, 255], [253, 231, 37, 255]
    shown = pixels(html)
    assert shown[0, 0].tolist() == dark
    assert shown[1, 1].tolist() == bright
    assert shown[1, 0].tolist() == [33, 145, 140, 255]
    assert repr(x) in html
    assert "heat map from 0 (dark) to 4 (bright)" in html


def test_what_is_not_finite_is_left_out_of_a_heat_map() -> None:
    shown = pixels(wt.tensor([[np.nan, 1.0], [np.inf, 2.0]])._repr_html_())
    assert shown[:, 0, 3].tolist() == [0, 0]
    assert shown[:, 1, 3].tolist() == [255, 255]


@pytest.mark.parametrize(
    "values, dtype",
    [
        (np.arange(48).reshape(4, 4, 3) * 5, "int32"),
        (np.arange(48).reshape(4, 4, 3) * 5, "float32"),
        (np.arange(48).reshape(4, 4, 3) * 5 / 255, "float32"),
        (np.arange(64).reshape(4, 4, 4) * 4, "int32"),
        (np.arange(16).reshape(4, 4, 1) % 2, "bool"),
    ],
)
def test_an_image_is_shown(values: Any, dtype: str) -> None:
    shown = pixels(wt.tensor(values, dtype=dtype)._repr_html_())
    expected = np.round(values * (255 if values.max() <= 1 else 1)).astype(np.uint8)
    channels = min(values.shape[2], 3) if values.shape[2] != 4 else 4
    assert shown[..., :channels].tolist() == expected[..., :channels].tolist()


def test_images_of_a_batch_are_side_by_side() -> None:
    batch = wt.stack([wt.full((4, 5, 1), 0.2), wt.full((4, 5, 1), 1.0)])
    shown = pixels(batch._repr_html_())
    assert shown.shape == (4, 10, 4)
    assert shown[0, :, 0].tolist() == [51] * 5 + [255] * 5


def test_a_large_matrix_makes_a_small_picture() -> None:
    html = wt.zeros((3000, 500))._repr_html_()
    assert pixels(html).shape == (256, 256, 4)
    assert len(html) < 5000


def test_other_tensors_are_text() -> None:
    for x in (wt.tensor([1.0]), wt.tensor(["<b>&"]), wt.tensor([[1j, 2]]), wt.zeros((0, 3))):
        (only,) = parts(x._repr_html_())
        assert only.tag == "pre"
        assert only.text == repr(x)
    x = wt.ones((2, 2))
    x.dispose()
    assert "disposed" in x._repr_html_()


def test_variables_say_that_they_are() -> None:
    vector, matrix = wt.Variable([1.0, 2.0]), wt.Variable([[1.0, 2.0], [3.0, 4.0]])
    (only,) = parts(vector._repr_html_())
    assert only.text == repr(vector)
    picture, text = parts(matrix._repr_html_())
    assert picture.tag != "pre"
    assert text.text == repr(matrix)


# -- models -------------------------------------------------------------------------------------


def test_a_model_is_a_table() -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="<dense>")])
    table = parts(model._repr_html_())
    assert [cell.text for cell in table.iter("td")] == ["<dense> (Dense)", "(None, 3)", "15"]
    assert [cell.text for cell in table.iter("th")] == ["Layer (type)", "Output Shape", "Param #"]
    assert "Trainable params: 15" in model._repr_html_()


def test_branches_and_unbuilt_models_are_tables() -> None:
    x = keras.Input((4,), name="x")
    branching = keras.Model(x, keras.layers.Add()([keras.layers.Dense(4)(x), x]))
    assert "x[0][0]" in branching._repr_html_()
    unbuilt = keras.Sequential([keras.layers.Dense(3)])
    assert "0 (unbuilt)" in unbuilt._repr_html_()


def fitted(**options: Any) -> Any:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    return model.fit(wt.ones((8, 2)), wt.ones((8, 1)), epochs=3, **options)


def test_a_history_is_curves() -> None:
    history = fitted(validation_split=0.5, verbose=0)
    charts = parts(history._repr_html_())
    labels = [chart.attrib["aria-label"] for chart in charts]
    assert [label.partition(":")[0] for label in labels] == ["loss", "mae"]
    curves = [curve.attrib["points"].split() for curve in charts.iter(f"{SVG}polyline")]
    assert [len(points) for points in curves] == [3, 3, 3, 3]
    assert repr(history).startswith("<History epochs=3, loss=")


def test_curves_of_one_epoch_and_of_numbers_that_are_not_finite() -> None:
    history = keras.callbacks.History()
    assert "No charts" in history._repr_html_()
    history.epoch, history.history = [0], {"loss": [2.0], "a<b": [float("nan")]}
    charts = parts(history._repr_html_())
    assert len(list(charts.iter(f"{SVG}circle"))) == 1


def test_optimizers_show_their_arguments() -> None:
    schedule = keras.optimizers.schedules.CosineDecay(0.1, 100)
    assert repr(keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)) == (
        "SGD(learning_rate=0.1, momentum=0.9, nesterov=True)"
    )
    assert repr(keras.optimizers.Adam(schedule, clipnorm=1.0)) == (
        "Adam(learning_rate=CosineDecay(initial_learning_rate=0.1, decay_steps=100, alpha=0.0, "
        "warmup_steps=0), clipnorm=1.0, beta_1=0.9, beta_2=0.999, epsilon=1e-07)"
    )


# -- progress bars ------------------------------------------------------------------------------


@pytest.fixture
def kernel() -> Iterator[CapturingDisplayPublisher]:
    """What a shell of IPython publishes, as a kernel of Jupyter does."""
    with ipython_publisher() as publisher:
        yield publisher


def test_a_notebook_shows_one_bar(
    kernel: CapturingDisplayPublisher, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted(batch_size=4)
    first, *updates = kernel.outputs
    assert not first["update"]
    assert all(update["update"] for update in updates)
    ids = {output["transient"]["display_id"] for output in kernel.outputs}
    assert len(ids) == 1
    (bar,) = parts(updates[-1]["data"]["text/html"]).iter("progress")
    assert bar.attrib == {"max": "2", "value": "2"}
    assert re.match(r"Epoch 3/3 2/2 · loss: .* · mae: ", updates[-1]["data"]["text/plain"])
    assert capsys.readouterr().out == ""


def test_a_terminal_of_ipython_shows_text(capsys: pytest.CaptureFixture[str]) -> None:
    InteractiveShell.instance()
    try:
        fitted(batch_size=4)
    finally:
        InteractiveShell.clear_instance()
    assert "Epoch 3/3" in capsys.readouterr().out


def test_a_notebook_of_marimo_shows_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []
    marimo = SimpleNamespace(
        running_in_notebook=lambda: True, Html=str, output=SimpleNamespace(replace=shown.append)
    )
    monkeypatch.setitem(sys.modules, "marimo", marimo)
    fitted(batch_size=4)
    assert '<progress max="2" value="2">' in shown[-1]
    assert capsys.readouterr().out == ""
