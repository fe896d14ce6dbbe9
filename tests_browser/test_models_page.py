"""The page of models: it opens models of all formats, runs and times them, and says what is wrong.

Most tests share one page, each opening the models that it needs.
"""

import json
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, Route, expect

from tests_browser.page_watch import watched_page
from tests_py.tflite import files as tflite_files
from webtensor import keras

FLOAT = {"type": "DT_FLOAT"}
#: What the colour of each pixel of the heat map is, in all three channels together.
BRIGHTNESS = """(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const at = (pixel) => data[4 * pixel] + data[4 * pixel + 1] + data[4 * pixel + 2];
  return Array.from({ length: height }, (_, row) =>
    Array.from({ length: width }, (_, column) => at(row * width + column)));
}"""


class ModelsPage:
    """A visitor of the page."""

    def __init__(self, page: Page, site_url: str, query: str = "") -> None:
        self.page = page
        page.goto(f"{site_url}/models/{query}")
        self.wait()

    def wait(self) -> None:
        """Wait until nothing is going on."""
        phase = self.page.locator("main")
        expect(phase).to_have_attribute("data-phase", "ready")

    def press(self, button: str) -> None:
        """Press a button, and wait for what it does."""
        self.page.get_by_role("button", name=button, exact=True).click()
        self.wait()

    def compute_on(self, backend: str) -> None:
        """Choose a backend."""
        self.page.get_by_label(backend, exact=True).check()
        self.wait()

    def choose(self, files: Mapping[str, bytes]) -> None:
        """Choose files."""
        self.page.set_input_files("#files", payloads(files))
        self.wait()

    def choose_picture(self, pixels: Any) -> None:
        """Choose a picture of grey levels."""
        png = BytesIO()
        Image.fromarray(np.asarray(pixels, "uint8")).save(png, "png")
        self.page.set_input_files("#picture-file", payloads({"picture.png": png.getvalue()}))
        self.wait()

    def fill(self, **values: str) -> None:
        """Fill the controls of the first input."""
        for name, value in values.items():
            control = self.page.locator(f"#inputs fieldset:first-child [name={name}]")
            control.select_option(value) if name == "way" else control.fill(value)

    def text(self, identifier: str) -> str:
        """Return an element's text."""
        return self.page.locator(f"#{identifier}").inner_text()

    def facts(self, table: str = "facts") -> dict[str, str]:
        """Return a table's rows by their titles."""
        rows = self.page.locator(f"#{table} tr").all()
        return {row.locator("th").inner_text(): row.locator("td").inner_text() for row in rows}

    def numbers(self) -> list[float]:
        """Return the elements of the output."""
        self.page.locator("#view").select_option("numbers")
        return [float(text) for text in self.text("numbers").split()]

    def memory(self) -> tuple[int, int]:
        """Return how many tensors there are, and their bytes on the GPU."""
        facts: dict[str, str] = self.page.locator("main").evaluate("({dataset}) => ({...dataset})")
        return int(facts["tensors"]), int(facts["bytesOnGpu"])


def payloads(files: Mapping[str, bytes]) -> list[FilePayload]:
    """Return files as Playwright takes them."""
    kinds = {"png": "image/png", "json": "application/json"}
    return [
        {
            "name": name,
            "mimeType": kinds.get(name.rpartition(".")[2], "application/octet-stream"),
            "buffer": content,
        }
        for name, content in files.items()
    ]


def graph_files(
    nodes: list[dict[str, Any]], weights: Mapping[str, np.ndarray] | None = None
) -> dict[str, bytes]:
    """Return the files of a graph model whose input x has no known rank."""
    weights = weights or {}
    x = {"name": "x", "op": "Placeholder", "attr": {"dtype": FLOAT}}
    constants = [{"name": name, "op": "Const", "attr": {"dtype": FLOAT}} for name in weights]
    specs = [
        {"name": name, "shape": list(value.shape), "dtype": str(value.dtype)}
        for name, value in weights.items()
    ]
    model_json = {
        "format": "graph-model",
        "modelTopology": {
            "node": [x, *constants, *nodes],
            "versions": {"producer": 1, "minConsumer": 1},
        },
        "weightsManifest": [{"paths": ["weights.bin"], "weights": specs}] if weights else [],
    }
    files = {"model.json": json.dumps(model_json).encode()}
    if weights:
        files["weights.bin"] = b"".join(value.tobytes() for value in weights.values())
    return files


def node(name: str, op: str, *inputs: str, **attributes: Any) -> dict[str, Any]:
    """Return a node of float32."""
    return {"name": name, "op": op, "input": inputs, "attr": {"T": FLOAT, **attributes}}


#: y = x · [2, 10]
SCALED = graph_files([node("y", "Mul", "x", "w")], {"w": np.array([2, 10], "float32")})


def tflite_model() -> bytes:
    """Return a model of TensorFlow Lite with one operator."""
    tensors = [tflite_files.Tensor(name, (2, 3)) for name in ("x", "y")]
    relu = tflite_files.Operator("RELU", ["x"], ["y"])
    return tflite_files.file(tflite_files.subgraph(tensors, [relu], ["x"], ["y"]))


def onnx_model(op: str = "Relu") -> bytes:
    """Return a model of ONNX with one node."""
    shape: list[str | int | None] = ["batch", 3]
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"])],
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    opsets = [helper.make_opsetid("", 17)]
    data: bytes = helper.make_model(graph, ir_version=8, opset_imports=opsets).SerializeToString()
    return data


def model_with_external_weights() -> bytes:
    """Return a model of ONNX that adds three numbers, which are in `weights/addends.bin`."""
    model = onnx.load_from_string(onnx_model("Add"))
    addends = numpy_helper.from_array(np.zeros(3, "float32"), "addends")
    addends.ClearField("raw_data")
    addends.data_location = TensorProto.EXTERNAL
    addends.external_data.add(key="location", value="weights/addends.bin")
    model.graph.node[0].input.append("addends")
    model.graph.initializer.append(addends)
    data: bytes = model.SerializeToString()
    return data


@pytest.fixture(scope="module")
def shared(chromium: Browser, site_url: str) -> Iterator[ModelsPage]:
    """The page, which computes on WebAssembly; errors in it fail the last test."""
    with watched_page(chromium) as page:
        requests: list[str] = []
        page.on("request", lambda sent: requests.append(sent.url))
        models = ModelsPage(page, site_url, "?backend=wasm")
        assert not [url for url in requests if "/tensorflow/" in url]
        yield models


@pytest.fixture
def models(shared: ModelsPage) -> Iterator[ModelsPage]:
    """The page, which computes on WebAssembly."""
    shared.compute_on("WebAssembly")
    yield shared
    expect(shared.page.locator(".error")).to_have_count(0)


# -- models of the site ------------------------------------------------------------------------


@pytest.mark.parametrize("button", ["Digits, layers-model", "Digits, .keras"])
@pytest.mark.parametrize("backend", ["WebAssembly", "WebGL"])
def test_a_digit_is_read(models: ModelsPage, button: str, backend: str):
    models.compute_on(backend)
    models.press(button)
    assert models.text("notice") == ""
    best = models.page.locator("#largest li").first.inner_text().split()
    assert best[0] == "5"
    assert float(best[1]) > 0.8
    facts = models.facts()
    weights = 10 * 16 + (16 * 9 + 1) * 32 + (4 * 4 * 32 + 1) * 64 + 65 * 10
    assert facts["Weights"] == f"{weights:,} numbers in 8 tensors"
    assert facts["Inputs"].endswith("float32, ? × 8 × 8 × 1")
    operations = models.facts("operations")
    assert operations["Conv2D"] == operations["Dense"] == "2"
    assert sum(map(int, operations.values())) == 8
    assert f"on {backend}" in models.text("result-state")


def test_edges_are_where_a_picture_changes(models: ModelsPage):
    models.press("Edges, graph model")
    levels = np.zeros((24, 24))
    levels[:, 12:] = 255
    models.choose_picture(levels)
    models.fill(shape="1, 24, 24, 3")
    models.press("Run")
    brightness = np.array(models.page.locator("#map").evaluate(BRIGHTNESS))
    assert brightness.shape == (24, 24)
    assert (brightness == brightness[0]).all()
    assert {11, 12} == {*np.argsort(brightness[0])[-2:].tolist()}
    assert brightness[0, 5] == brightness[0, 20] == brightness.min()
    operations = models.facts("operations")
    assert (operations["Conv2D"], operations["DepthwiseConv2dNative"]) == ("2", "1")


def test_corners_are_those_of_a_square(models: ModelsPage):
    models.press("Corners, ONNX")
    levels = np.zeros((40, 60))
    levels[10:30, 20:40] = 255
    models.choose_picture(levels)
    models.fill(shape="1, 3, 40, 60")
    models.press("Run")
    brightness = np.array(models.page.locator("#map").evaluate(BRIGHTNESS))
    assert brightness.shape == (40, 60)
    for rows in (slice(0, 20), slice(20, 40)):
        for columns in (slice(0, 30), slice(30, 60)):
            part = brightness[rows, columns]
            row, column = np.unravel_index(part.argmax(), part.shape)
            assert min(abs(rows.start + row - edge) for edge in (9.5, 29.5)) <= 3
            assert min(abs(columns.start + column - edge) for edge in (19.5, 39.5)) <= 3
    assert brightness[20, 20] < brightness.max() / 2, "an edge is no corner"
    label = models.page.locator("#map").get_attribute("aria-label")
    assert label is not None
    assert label.startswith("Heat map of corners: 60 × 40, from 0 ")


def test_tensorflow_js_is_timed_and_agrees(models: ModelsPage):
    models.press("Digits, layers-model")
    models.page.get_by_label("beside TensorFlow.js").check()
    models.press("Measure")
    rows = models.page.locator("#times tbody tr")
    expect(rows.locator("th")).to_contain_text(["WebAssembly", "WebGL"])
    for row in rows.all():
        details = row.locator(".details").inner_text()
        match = re.search(r"outputs (differ by ([\d.e-]+) of|are equal)", details)
        assert match is not None, details
        assert float(match[2] or 0) < 1e-5
        assert row.locator(".bar").count() == 2
        assert float(row.locator(".ratio").inner_text()) > 0
    bars = models.page.locator("#times .bar")
    lengths = bars.locator("i").evaluate_all("(bars) => bars.map((bar) => bar.clientWidth)")
    times = [float(text.split(" ms")[0]) for text in bars.all_inner_texts()]
    for length, time in zip(lengths, times, strict=True):
        assert length == pytest.approx(max(lengths) * time / max(times), abs=2)
    expect(models.page.get_by_label("WebAssembly", exact=True)).to_be_checked()
    assert models.page.evaluate("tf.memory().numTensors") == 0


# -- models of visitors --------------------------------------------------------------------------


def drop(page: Page, *paths: Path) -> None:
    """Drop files or folders on the page."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [*map(str, paths)], "dragOperationsMask": 1}
    for event in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": event, "x": 20, "y": 20, "data": data})
    session.detach()


def test_a_folder_is_dropped_and_its_shape_is_set(models: ModelsPage, tmp_path: Path):
    folder = tmp_path / "scaled"
    folder.mkdir()
    for name, content in SCALED.items():
        (folder / name).write_bytes(content)
    drop(models.page, folder)
    models.wait()
    assert models.text("notice") == ""
    assert models.text("state").startswith("scaled is open")
    assert models.facts()["Inputs"] == "x: float32, of any rank"
    assert models.facts("operations") == {"Const": "1", "Mul": "1", "Placeholder": "1"}
    models.fill(shape="3, 2", way="constant", low="1.5")
    models.press("Run")
    assert models.numbers() == [3, 15] * 3
    models.fill(shape="2 × 2", way="noise", low="4", high="5")
    models.press("Run")
    numbers = np.array(models.numbers()) / [2, 10, 2, 10]
    assert (numbers >= 4).all()
    assert (numbers < 5).all()
    assert len({*numbers}) == 4
    models.fill(shape="3, 3")
    models.press("Run")
    assert "y" in models.text("notice"), "the node that failed is named"


def test_a_file_of_keras_is_dropped(models: ModelsPage, tmp_path: Path):
    layer = keras.layers.Dense(2, kernel_initializer="ones", bias_initializer="ones")
    model = keras.Sequential([keras.Input((3,)), layer])
    path = tmp_path / "ones.h5"
    model.save(path)
    drop(models.page, path)
    models.wait()
    models.fill(way="constant", low="2")
    models.press("Run")
    assert models.numbers() == [7, 7]
    assert models.facts()["Weights"] == "8 numbers in 2 tensors"
    expect(models.page.get_by_label("beside TensorFlow.js")).to_be_disabled()


def test_files_are_chosen(models: ModelsPage):
    models.choose(SCALED)
    assert models.facts()["Size"] == "8 bytes"
    models.choose({"relu.onnx": onnx_model()})
    assert models.facts()["Inputs"] == "x: float32, ? × 3"
    models.fill(shape="2, 3", way="constant", low="-1")
    models.press("Run")
    assert models.numbers() == [0] * 6
    models.fill(shape="2, 4")
    models.press("Run")
    assert models.text("notice") == "x: the shape must be ? × 3"
    addends = np.array([1, 2, 3], "float32").tobytes()
    models.choose({"addends.bin": addends, "add.onnx": model_with_external_weights()})
    models.fill(shape="2, 3", way="constant", low="-1")
    models.press("Run")
    assert models.numbers() == [0, 1, 2] * 2
    models.choose({"relu.tflite": tflite_model()})
    assert models.facts()["Inputs"] == "x: float32, 2 × 3"
    models.fill(way="constant", low="-1")
    models.press("Run")
    assert models.numbers() == [0] * 6


# -- what goes wrong -----------------------------------------------------------------------------

BROKEN = {
    "another kind": ({"notes.txt": b"text"}, r"^notes\.txt is of no kind .*\.onnx"),
    "truncated ONNX": ({"cut.onnx": onnx_model()[:-9]}, r"^cut\.onnx"),
    "no weights": (
        {"add.onnx": model_with_external_weights()},
        r"^add\.onnx: weights are in the file 'weights/addends\.bin', which is missing",
    ),
    "no Keras": ({"fake.keras": b"PK no archive"}, r"fake\.keras"),
    "no HDF5": ({"fake.h5": b"no file"}, r"fake\.h5"),
    "two models": (
        {"a.onnx": b"", "b.keras": b""},
        r"^These are 2 models; open one of them: a\.onnx, b\.keras\.$",
    ),
    "many files": (
        {f"{number}.bin": b"" for number in range(300)},
        r"^one of the files must be model\.json, but there are \['0\.bin', .*\.\.\.\]$",
    ),
    "no model.json": ({"a.bin": b"", "b.bin": b""}, r"one of the files must be model\.json"),
    "no shard": (
        {"model.json": SCALED["model.json"]},
        r"model\.json names the file 'weights\.bin'",
    ),
    "short shard": ({**SCALED, "weights.bin": bytes(7)}, r"^model\.json: weight 'w' needs 8 bytes"),
    "no JSON": ({"model.json": b"{"}, r"model\.json"),
    "unknown operations": (
        graph_files([node("y", "Frobnicate", "x"), node("z", "Whirl", "y")]),
        r"model\.json has operations that are unknown: Frobnicate, Whirl",
    ),
    "unknown operator": ({"odd.onnx": onnx_model("Frobnicate")}, r"^odd\.onnx.*Frobnicate"),
    "no picture": ({"picture.png": b"no picture"}, r"^picture\.png is no picture"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_sentence_names_what_is_wrong(models: ModelsPage, case: str):
    files, message = BROKEN[case]
    models.choose(files)
    notice = models.text("notice")
    assert re.search(message, notice), notice
    assert len(notice) < 500
    assert models.text("state") == "That did not work."


def test_the_page_goes_on_after_failures(models: ModelsPage):
    models.choose({"cut.onnx": onnx_model()[:-9]})
    expect(models.page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    assert models.memory()[0] == 0
    models.choose_picture([[0, 255]])
    assert (models.text("notice"), models.text("state")) == ("", "")
    models.press("Digits, layers-model")
    assert models.text("notice") == ""
    models.choose({"notes.txt": b"text"})
    assert models.text("notice") != ""
    models.press("Run")
    assert models.text("notice") == ""
    assert models.page.locator("#largest li").count() == 10


def test_too_much_memory_is_refused(models: ModelsPage):
    models.choose(SCALED)
    models.fill(shape="40000, 40000", way="noise")
    models.press("Run")
    assert "1,600,000,000 numbers" in models.text("notice")
    dims = {"dtype": {"type": "DT_INT32"}}
    values = {"dims": np.array([60_000, 60_000], "int32"), "zero": np.array(0, "float32")}
    files = graph_files([node("y", "Fill", "dims", "zero")], values)
    topology = json.loads(files["model.json"])
    topology["modelTopology"]["node"][1]["attr"] = dims
    models.choose({**files, "model.json": json.dumps(topology).encode()})
    models.fill(shape="1", way="constant")
    models.press("Run")
    assert "memory" in models.text("notice")
    models.press("Digits, .keras")
    assert models.text("notice") == ""


def test_opening_can_be_stopped(models: ModelsPage):
    shards = "**/group1-shard*"
    waiting: list[Route] = []

    def keep_waiting(route: Route) -> None:
        waiting.append(route)

    models.page.route(shards, keep_waiting)
    with models.page.expect_request(shards):
        models.page.get_by_role("button", name="Edges, graph model").click()
    models.press("Stop")
    assert models.text("state") == "Stopped."
    models.page.locator("#plane").dispatch_event("change")  # as when it is hidden after typing
    for route in waiting:
        route.abort()
    models.page.unroute(shards)
    models.press("Edges, graph model")
    assert models.text("state").startswith("Edges, graph model is open")


# -- memory ------------------------------------------------------------------------------------


def test_a_second_model_frees_the_first(models: ModelsPage):
    models.compute_on("WebGL")
    buttons = ("Digits, layers-model", "Corners, ONNX", "Digits, .keras")
    memory: list[dict[str, tuple[int, int]]] = []
    for _ in range(3):  # the first time, numbers of the library's own come to the GPU
        memory.append({})
        for button in buttons:
            models.press(button)
            memory[-1][button] = models.memory()
    assert memory[1] == memory[2]
    tensors, bytes_on_gpu = memory[1]["Digits, .keras"]
    assert tensors == 8
    assert bytes_on_gpu >= 4 * 38_282


# -- Firefox -------------------------------------------------------------------------------------


def test_models_open_in_firefox(firefox_page: Page, site_url: str):
    models = ModelsPage(firefox_page, site_url, "?backend=wasm&model=digits-keras")
    assert models.page.locator("#largest li").first.inner_text().split()[0] == "5"
    models.choose({"relu.onnx": onnx_model()})
    models.fill(way="constant", low="3")
    models.press("Run")
    assert models.numbers() == [3] * 3
    models.choose(SCALED)
    models.fill(shape="2", way="constant", low="1")
    models.page.get_by_label("beside TensorFlow.js").check()
    models.press("Measure")
    rows = models.page.locator("#times tbody tr").all()
    assert rows
    for row in rows:
        expect(row).to_contain_text("outputs are equal")
    models.choose({"cut.onnx": onnx_model()[:-9]})
    assert models.text("notice").startswith("cut.onnx")
