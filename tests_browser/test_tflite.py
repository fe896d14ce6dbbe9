"""Models of TensorFlow Lite in pages: fetched, and computed as NumPy does."""

from typing import Any

import numpy as np
import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_io import shared
from tests_py.io.web_server import serving
from tests_py.tflite.classifier import X, classified, classifier
from tests_py.tflite.files import Operator, Tensor, file, subgraph
from tests_py.tflite.test_quantization import quantization, rounded

FULLY_CONNECTED: Any = ("FullyConnectedOptions", {})


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
