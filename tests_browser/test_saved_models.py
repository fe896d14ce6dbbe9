"""Archives of Keras in plain Pyodide, which has neither h5py nor NumPy.

Keras's own archives open in a page, and those that a page writes open in Keras.
"""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_ops import BACKENDS
from tests_py.keras.saved_models import MODELS, keras, predicted, randomized

OPEN = """
import base64, io, sys
import webtensor as wt
from webtensor import keras

wt.set_backend(backend)
model = keras.saving.load_model(base64.b64decode(data))
outputs = model([wt.tensor(one) for one in inputs] if len(inputs) > 1 else wt.tensor(inputs[0]))
outputs = outputs if isinstance(outputs, list) else [outputs]
held = io.BytesIO()
model.save(held)
model.save("/tmp/again.h5")
again = keras.saving.load_model("/tmp/again.h5")
assert [one.tolist() for one in (w.value for w in again.weights)] == [
    one.tolist() for one in (w.value for w in model.weights)
]
assert not {"h5py", "numpy"} & set(sys.modules)
{
    "outputs": [one.tolist() for one in outputs],
    "saved": base64.b64encode(held.getvalue()).decode(),
}
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_archive_of_keras_in_a_page(
    chromium_python: PythonPage, name: str, backend: str, tmp_path: Path
):
    saved = MODELS[name]
    theirs = randomized(saved.make(keras))
    theirs.save(tmp_path / "theirs.keras")
    inputs = saved.inputs()
    listed: list[Any] = inputs if isinstance(inputs, list) else [inputs]
    outputs = chromium_python.run(
        OPEN,
        data=base64.b64encode((tmp_path / "theirs.keras").read_bytes()).decode(),
        inputs=[array.tolist() for array in listed],
        backend=backend,
    )
    expected = predicted(theirs, inputs)
    for mine, other in zip(outputs["outputs"], expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
    (tmp_path / "mine.keras").write_bytes(base64.b64decode(outputs["saved"]))
    back = keras.saving.load_model(tmp_path / "mine.keras")
    for first, second in zip(back.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_array_equal(first, second)


WHAT_WAS_MEANT = """
from webtensor import keras

def message(load, source):
    try:
        load(source)
    except ValueError as error:
        return str(error)

[
    message(keras.saving.load_model, "/nowhere/model.json"),
    message(keras.saving.load_layers_model, "https://example.org/model.json"),
    message(keras.saving.load_model, "https://example.org/model.keras"),
]
"""


def test_model_of_the_web_where_python_cannot_wait(webkit_python: PythonPage):
    """WebKit cannot suspend Python."""
    layers_models = webkit_python.run(WHAT_WAS_MEANT)
    archive = layers_models.pop()
    for message in layers_models:
        assert "await keras.saving.load_layers_model_async(" in message
    assert "fetched first, as with pyodide.http.pyfetch" in archive
