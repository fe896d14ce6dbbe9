"""ONNX models give what onnxruntime-web gives, in a page of Chromium, on WebAssembly and WebGL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from playwright.sync_api import Browser, Route

from tests_browser.onnx_models.comparison import compared, comparison_page
from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.test_ops import BACKENDS
from tests_py.onnx.networks import encoder, mobilenet

rng = np.random.default_rng(0)


def graph_of(
    nodes: list[Any], weights: dict[str, Any], shapes: dict[str, tuple[int, ...]], *outputs: str
) -> ModelProto:
    """Return a model of opset 17."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def normal(*shape: int) -> Any:
    """Return random weights."""
    return rng.standard_normal(shape).astype(np.float32) / 2


def segmentation() -> ModelProto:
    """Return a network that halves images, and doubles them again."""
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w", "b"], ["h"], auto_pad="SAME_LOWER", strides=[2, 2]),
        node("PRelu", ["h", "slope"], ["p"]),
        node("MaxPool", ["p"], ["m"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        node("Conv", ["m", "grouped"], ["g"], group=2, pads=[0, 1, 2, 1]),
        node("InstanceNormalization", ["g", "b", "b"], ["n"]),
        node("HardSigmoid", ["n"], ["a"]),
        node("ConvTranspose", ["a", "back"], ["t"], strides=[2, 2], output_padding=[1, 1]),
        node("Resize", ["t", "", "", "sizes"], ["r"], mode="linear"),
        node("Concat", ["r", "h"], ["c"], axis=1),
        node("Softmax", ["c"], ["y"], axis=1),
        node("ReduceMean", ["c"], ["z"], axes=[2, 3], keepdims=0),
    ]
    weights = {
        "w": normal(4, 3, 3, 3),
        "b": normal(4),
        "slope": normal(4, 1, 1),
        "grouped": normal(4, 2, 3, 3),
        "back": normal(4, 2, 2, 2),
        "sizes": np.asarray([1, 2, 8, 9], np.int64),
    }
    return graph_of(nodes, weights, {"x": (1, 3, 16, 18)}, "y", "z")


def recurrent() -> ModelProto:
    """Return a recurrent network, of whose states a loop adds those that a condition chooses."""
    node = helper.make_node
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            node("Gather", ["states", "trip"], ["state"], axis=0),
            node("ReduceSum", ["state"], ["score"], keepdims=0),
            node("Greater", ["score", "zero"], ["is_wanted"]),
            node("Where", ["is_wanted", "state", "zero"], ["chosen"]),
            node("Add", ["sum", "chosen"], ["next"]),
            node("Identity", ["goes_on"], ["still"]),
        ],
        "body",
        [
            value("trip", TensorProto.INT64, []),
            value("goes_on", TensorProto.BOOL, []),
            value("sum", TensorProto.FLOAT, None),
        ],
        [
            value("still", TensorProto.BOOL, []),
            value("next", TensorProto.FLOAT, None),
            value("score", TensorProto.FLOAT, None),
        ],
    )
    nodes = [
        node("LSTM", ["x", "w", "r", "b"], ["h", "last"], hidden_size=4),
        node("Squeeze", ["h", "one"], ["states"]),
        node("Loop", ["trips", "", "first"], ["y", "scores"], body=body),
        node("Einsum", ["states", "states"], ["products"], equation="tbi,sbi->ts"),
    ]
    weights = {
        "w": normal(1, 16, 3),
        "r": normal(1, 16, 4),
        "b": normal(1, 32),
        "one": np.asarray([1], np.int64),
        "trips": np.asarray(5, np.int64),
        "first": np.zeros((2, 4), np.float32),
        "zero": np.asarray(0, np.float32),
    }
    return graph_of(nodes, weights, {"x": (5, 2, 3)}, "y", "scores", "products", "last")


MODELS: dict[str, tuple[Callable[[], ModelProto], dict[str, tuple[int, ...]]]] = {
    "mobilenet": (partial(mobilenet, 32, 0.25, 10), {"x": (1, 3, 32, 32)}),
    "encoder": (partial(encoder, 1, 32, 2), {"x": (2, 5, 32)}),
    "segmentation": (segmentation, {"x": (1, 3, 16, 18)}),
    "recurrent": (recurrent, {"x": (5, 2, 3)}),
}


@pytest.fixture(scope="module")
def page(chromium: Browser, site_url: str) -> Iterator[PlaywrightPythonPage]:
    """A page with both libraries."""
    page = comparison_page(chromium.new_page(), site_url)

    files = {name: make().SerializeToString() for name, (make, _) in MODELS.items()}

    def send(route: Route) -> None:
        body = files[PurePosixPath(route.request.url).stem]
        route.fulfill(body=body, content_type="application/octet-stream")

    page.page.route("**/onnx/*.onnx", send)
    yield page
    page.page.close()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_first_and_later_predictions_agree(
    page: PlaywrightPythonPage, site_url: str, name: str, backend: str
):
    _, shapes = MODELS[name]
    row = compared(page, f"{site_url}/onnx/{name}.onnx", shapes, backend)
    # Sums of products of float32 numbers, in another order, through tens of layers.
    assert max(row["differences"]) < 1e-4
    assert page.run("import webtensor as wt\nwt.memory()['num_tensors']") == 0
    assert page.take_errors() == []
