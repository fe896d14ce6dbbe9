"""Models of TensorFlow Lite in pages: fetched, and computed as NumPy does."""

from typing import Any

import numpy as np
import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_io import shared
from tests_py.io.web_server import serving
from tests_py.tflite.cases import convolved, depthwise, normal, softmax
from tests_py.tflite.files import Array, Operator, Tensor, file, subgraph
from tests_py.tflite.test_quantization import quantization, rounded

FILTER, DEPTHWISE = normal(4, 3, 3, 3, seed=1), normal(1, 3, 3, 4, seed=2)
WEIGHTS, BIAS = normal(5, 4, seed=3), normal(4, seed=4)
X = normal(1, 9, 8, 3)
FULLY_CONNECTED: Any = ("FullyConnectedOptions", {})
STRIDES = {"stride_h": 2, "stride_w": 2, "fused_activation_function": "RELU6"}


def classifier() -> bytes:
    """Two convolutions, the means of their channels, and a softmax of their products."""
    tensors = [
        Tensor("x", (None, 9, 8, 3)),
        Tensor.constant("filter", FILTER),
        Tensor.constant("depthwise", DEPTHWISE),
        Tensor.constant("weights", WEIGHTS),
        Tensor.constant("bias", BIAS),
        Tensor.constant("axes", np.array([1, 2], "int32")),
        Tensor("maps", (None, 5, 4, 4)),
        Tensor("features", (None, 3, 2, 4)),
        Tensor("means", (None, 4)),
        Tensor("logits", (None, 5)),
        Tensor("y", (None, 5)),
    ]
    operators = [
        Operator("CONV_2D", ["x", "filter", "bias"], ["maps"], ("Conv2DOptions", STRIDES)),
        Operator(
            "DEPTHWISE_CONV_2D",
            ["maps", "depthwise"],
            ["features"],
            ("DepthwiseConv2DOptions", STRIDES),
        ),
        Operator("MEAN", ["features", "axes"], ["means"], ("ReducerOptions", {})),
        Operator(
            "FULLY_CONNECTED", ["means", "weights"], ["logits"], ("FullyConnectedOptions", {})
        ),
        Operator("SOFTMAX", ["logits"], ["y"], ("SoftmaxOptions", {"beta": 1.0})),
    ]
    return file(subgraph(tensors, operators, ["x"], ["y"]))


def classified(x: Array) -> Array:
    maps = np.clip(convolved(x, FILTER, (2, 2), True) + BIAS, 0, 6)
    features = np.clip(depthwise(maps, DEPTHWISE, (2, 2), True), 0, 6)
    return softmax(features.mean((1, 2)) @ WEIGHTS.T)


SCALES = {"x": 0.02, "weights": 0.01, "y": 0.03}
INTEGERS = np.random.default_rng(5).integers(-128, 128, (2, 4))
QUANTIZED = np.random.default_rng(6).integers(-127, 128, (3, 4)).astype("int8")


def quantized() -> bytes:
    """A product of 8-bit integers."""
    tensors = [
        Tensor("x", (2, 4), "int8", None, quantization(SCALES["x"], 5)),
        Tensor.constant("weights", QUANTIZED, **quantization(SCALES["weights"])),
        Tensor("y", (2, 3), "int8", None, quantization(SCALES["y"], -3)),
    ]
    operator = Operator("FULLY_CONNECTED", ["x", "weights"], ["y"], FULLY_CONNECTED)
    return file(subgraph(tensors, [operator], ["x"], ["y"]))


PREDICT = """
import webtensor as wt

wt.set_backend(backend)
before = wt.memory()["num_tensors"]
classifier = await wt.load_tflite_async(f"{url}/classifier.tflite")
quantized = await wt.load_tflite_async(f"{url}/quantized.tflite")
image, integers = wt.tensor(x), wt.tensor(steps, dtype="int32")
answer = {}
for _ in range(2):
    for name, model, value in (
        ("scores", classifier, image), ("products", quantized, integers)
    ):
        result = await model.predict_async(value)
        answer[name] = (await result.data()).tolist()
        result.dispose()
for value in (classifier, quantized, image, integers):
    value.dispose()
{**answer, "left": wt.memory()["num_tensors"] - before}
"""


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_models_are_fetched_and_computed(chromium_python: PythonPage, backend: str) -> None:
    files = {"/classifier.tflite": classifier(), "/quantized.tflite": quantized()}
    with serving(shared(files)) as server:
        answer = chromium_python.run(
            PREDICT, backend=backend, url=server.url, x=X.tolist(), steps=INTEGERS.tolist()
        )
    np.testing.assert_allclose(np.ravel(answer["scores"]), classified(X)[0], atol=1e-5)
    real = (INTEGERS - 5) * SCALES["x"] @ (QUANTIZED * SCALES["weights"]).T
    difference = np.ravel(answer["products"]) - rounded(real, SCALES["y"], -3).ravel()
    assert np.abs(difference).max() <= 1
    assert answer["left"] == 0
