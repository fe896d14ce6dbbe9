"""Models are converted in a page, without NumPy, to the files that they become elsewhere."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_ops import BACKENDS
from tests_py.convert.samples import SAMPLES
from webtensor.convert import convert_model

CONVERT = """
import base64, json, sys, tempfile
from pathlib import Path
import webtensor as wt

def as_tensor(stored):
    return wt.tensor(stored["elements"], shape=stored["shape"], dtype=stored["dtype"])

def listed(value):
    texts = str(value.dtype) == "string"
    return value.bytes_sync() if texts else wt.reshape(value, (-1,)).tolist()

async def outcome(files, inputs):
    folder = Path(tempfile.mkdtemp())
    for name, data in files.items():
        path = folder / "saved" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
    before = wt.memory()["num_tensors"]
    wt.convert_model(folder / "saved", folder / "web")
    assert wt.memory()["num_tensors"] == before
    model = wt.load_graph_model(str(folder / "web"))
    feeds = {name: as_tensor(stored) for name, stored in inputs.items()}
    results = await model.execute_async(feeds)
    outputs = results if isinstance(results, list) else [results]
    for output in outputs:
        await output.data()
    values = [listed(output) for output in outputs]
    model.dispose()
    data = b"".join(path.read_bytes() for path in sorted((folder / "web").glob("*.bin")))
    return {
        "json": (folder / "web" / "model.json").read_text(),
        "data": base64.b64encode(data).decode(),
        "outputs": values,
    }

wt.set_backend(backend)
results = [await outcome(*sample) for sample in samples]
assert "numpy" not in sys.modules
results
"""
NAMES = ("LSTM", "MobileNet v2 block", "detection", "hash tables")


@pytest.mark.parametrize("backend", BACKENDS)
def test_conversions_in_a_page(chromium_python: PythonPage, backend: str, tmp_path: Path) -> None:
    samples = [SAMPLES[name] for name in NAMES]
    sent = []
    for sample in samples:
        files = {name: b64encode(data).decode() for name, data in sample.files.items()}
        inputs = {
            name: {
                "dtype": "string" if array.dtype == object else str(array.dtype),
                "shape": list(array.shape),
                "elements": [
                    value.decode() if isinstance(value, bytes) else value
                    for value in array.ravel().tolist()
                ],
            }
            for name, array in sample.inputs.items()
        }
        sent.append([files, inputs])
    results = chromium_python.run(CONVERT, samples=sent, backend=backend)
    for number, (sample, result) in enumerate(zip(samples, results, strict=True)):
        folder = tmp_path / str(number)
        convert_model(sample.write(folder / "saved"), folder / "web")
        here = json.loads((folder / "web" / "model.json").read_text())
        there = json.loads(result["json"])
        assert there["modelTopology"] == here["modelTopology"]
        for actual, expected in zip(result["outputs"], sample.outputs.values(), strict=True):
            scale = 1e-4 * np.abs(expected).max(initial=1e-6)
            np.testing.assert_allclose(actual, expected.ravel(), rtol=0, atol=scale)


TRACE = """
import gc, sys, tempfile
import webtensor as wt
from webtensor import keras

wt.set_backend(backend)
folder = tempfile.mkdtemp()
x = keras.Input((8, 8, 2))
y = keras.layers.Conv2D(3, 3, activation="relu")(x)
y = keras.layers.BatchNormalization()(y)
y = keras.layers.Reshape((-1, 3))(y)
model = keras.Model(x, keras.layers.Dense(2, "softmax")(keras.layers.LSTM(4)(y)))
model.save(f"{folder}/model.keras")
counts = []
for _ in range(2):  # the first time fills caches
    wt.convert_model(
        f"{folder}/model.keras",
        f"{folder}/web",
        output_format="tfjs_graph_model",
        overwrite=True,
    )
    gc.collect()  # layers and their calls refer to each other
    counts.append(wt.memory()["num_tensors"])
assert counts[0] == counts[1]
graph = wt.load_graph_model(f"{folder}/web")
image = wt.random_uniform((2, 8, 8, 2), -1.0, 1.0, seed=1)
expected, actual = await model(image).data(), await (await graph.predict_async(image)).data()
assert "numpy" not in sys.modules
[[*expected], [*actual]]
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_models_are_traced_in_a_page(chromium_python: PythonPage, backend: str) -> None:
    expected, actual = chromium_python.run(TRACE, backend=backend)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)
