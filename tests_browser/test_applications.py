"""``keras.applications`` in pages: weights that are fetched, with and without waiting in a call."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Route

from tests_browser.prove.network import faulty_server
from tests_browser.python_page import PlaywrightPythonPage, PythonPage
from tests_browser.test_ops import BACKENDS
from webtensor import keras

SMALL: dict[str, Any] = {"alpha": 0.25, "include_top": False, "pooling": "avg"}

FETCH = """
import sys
import webtensor as wt
from webtensor import keras

wt.set_backend(backend)
network = keras.applications.MobileNet
message = None
try:
    model = network(weights=address, **options)
except RuntimeError as error:
    message = str(error)
again = await keras.applications.build_async(network, weights=address, **options)
image = keras.applications.mobilenet.preprocess_input(image)
features = await again(wt.tensor(image)).array()
if message is None:
    assert await model(wt.tensor(image)).array() == features
assert "numpy" not in sys.modules
[message, features]
"""


def features_of(model: Any, image: Any) -> Any:
    return np.asarray(model(keras.applications.mobilenet.preprocess_input(image)))


@pytest.fixture(scope="module")
def image() -> Any:
    return np.random.default_rng(0).uniform(0, 255, (1, 32, 32, 3)).astype("float32").round(2)


def test_weights_of_a_layers_model_on_the_web(any_python_page: PythonPage, image: Any):
    options = {**SMALL, "input_shape": [32, 32, 3]}
    keras.utils.set_random_seed(1)
    model = keras.applications.MobileNet(weights=None, **options)
    with faulty_server(keras.saving.layers_model_files(model)) as url:
        message, features = any_python_page.run(
            FETCH,
            address=f"{url}/cut/0/none/model.json",
            options=options,
            image=image.tolist(),
            backend="wasm",
        )
    np.testing.assert_allclose(features, features_of(model, image), rtol=1e-3, atol=1e-5)
    if any_python_page.browser_name == "webkit":  # it cannot suspend Python
        assert "await keras.applications.build_async(keras.applications.MobileNet" in message
    else:
        assert message is None


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_of_imagenet(
    chromium_python: PlaywrightPythonPage, backend: str, image: Any, tmp_path: Path
):
    options = {**SMALL, "input_shape": [128, 128, 3]}
    keras.utils.set_random_seed(2)
    model = keras.applications.MobileNet(weights=None, **options)
    model.save(tmp_path / "m.h5")
    requests: list[str] = []

    def answer(route: Route) -> None:
        requests.append(route.request.url)
        headers = {
            "Access-Control-Allow-Origin": "*",
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
        route.fulfill(body=(tmp_path / "m.h5").read_bytes(), headers=headers)

    large = np.repeat(np.repeat(image, 4, 1), 4, 2)
    source = "import shutil; shutil.rmtree('/home/pyodide/.keras', ignore_errors=True)\n" + FETCH
    chromium_python.page.route("https://storage.googleapis.com/**", answer)
    try:
        message, features = chromium_python.run(
            source, address="imagenet", options=options, image=large.tolist(), backend=backend
        )
    finally:
        chromium_python.page.unroute("https://storage.googleapis.com/**")
    assert message is None
    np.testing.assert_allclose(features, features_of(model, large), rtol=1e-3, atol=1e-4)
    folder = "https://storage.googleapis.com/tensorflow/keras-applications/mobilenet"
    assert requests == [f"{folder}/mobilenet_2_5_128_tf_no_top.h5"]  # the second time it is cached


CLASSES = """
import hashlib, shutil
from webtensor import keras
from webtensor.keras.applications import imagenet_utils

imagenet_utils._CLASS_INDEX_HASH = hashlib.md5(index.encode()).hexdigest()
imagenet_utils._class_names.cache_clear()
shutil.rmtree("/home/pyodide/.keras", ignore_errors=True)
probabilities = [[0.0] * 999 + [1.0]]
keras.applications.mobilenet.decode_predictions(probabilities, top=1)
"""


def test_names_of_classes(chromium_python: PlaywrightPythonPage):
    index = json.dumps({str(number): [f"n{number}", f"class {number}"] for number in range(1000)})
    headers = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
    address = "**/data/imagenet_class_index.json"
    chromium_python.page.route(address, lambda route: route.fulfill(body=index, headers=headers))
    try:
        assert chromium_python.run(CLASSES, index=index) == [[["n999", "class 999", 1.0]]]
    finally:
        chromium_python.page.unroute(address)


WITHOUT_NAMES = """
from webtensor import keras

try:
    message = keras.applications.mobilenet.decode_predictions([[0.0] * 1000])
except RuntimeError as error:
    message = str(error)
message
"""


def test_names_of_classes_where_python_cannot_wait(webkit_python: PythonPage):
    message = webkit_python.run(WITHOUT_NAMES)
    assert "await keras.utils.get_file_async('imagenet_class_index.json', 'https://" in message
