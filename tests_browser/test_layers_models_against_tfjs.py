"""Layers-models of TensorFlow.js open here, and those from here in TensorFlow.js, in one page.

Predictions agree, training goes on where it was, and either finds what the other has left in the
browser's IndexedDB.
"""

import base64
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Route

from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.test_ops import BACKENDS
from web.build import ROOT

SCRIPT = (ROOT / "tests_browser" / "pages" / "tfjs_layers.js").read_text()
THEIR_MODELS = ("convolutional", "functional", "recurrent")
#: Adadelta of TensorFlow.js is another formula: it divides by the average before its update.
OPTIMIZERS = ("sgd", "momentum", "adam", "rmsprop", "adagrad")

#: The same in Python as in the page's script.
COMMON = """
import base64
import webtensor as wt
from webtensor import keras

wt.set_backend(backend)
L = keras.layers

def numbers(shape):
    size = wt.shapes.prod(shape)
    return wt.tensor([((index * 37) % 101) / 50 - 1 for index in range(size)], shape=shape)

def inputs_of(model):
    is_looked_up = any(isinstance(layer, L.Embedding) for layer in model.layers)
    shapes = [[2 if length is None else length for length in one.shape] for one in model.inputs]
    found = [numbers(shape) for shape in shapes]
    return [(abs(one) * 5).astype("int32") for one in found] if is_looked_up else found

def outputs_of(model):
    inputs = inputs_of(model)
    found = model(inputs[0] if len(inputs) == 1 else inputs)
    found = found if isinstance(found, list) else [found]
    return [{"shape": list(one.shape), "values": one.reshape(-1).tolist()} for one in found]

def decoded(files):
    return {name: base64.b64decode(data) for name, data in files.items()}

def encoded(files):
    return {name: base64.b64encode(data).decode() for name, data in files.items()}
"""

LOAD = f"""{COMMON}
model = keras.saving.load_layers_model(decoded(files))
{{"outputs": outputs_of(model), "metadata": model.user_defined_metadata}}
"""

GO_ON = f"""{COMMON}
model = keras.saving.load_layers_model(decoded(files))
await model.fit_async(
    numbers([8, 4]), numbers([8, 2]), epochs=3, batch_size=8, shuffle=False, verbose=0
)
[one.value.reshape(-1).tolist() for one in model.weights]
"""

TRAIN = f"""{COMMON}
model = keras.Sequential([keras.Input((4,)), L.Dense(3), L.Dense(2)])
model.compile(keras.optimizers.deserialize(optimizer), "mse", metrics=["mae"])

async def fit():
    await model.fit_async(
        numbers([8, 4]), numbers([8, 2]), epochs=3, batch_size=8, shuffle=False, verbose=0
    )

await fit()
files = encoded(keras.saving.layers_model_files(model, include_optimizer=True))
await fit()
{{"files": files, "weights": [one.value.reshape(-1).tolist() for one in model.weights]}}
"""

MODELS = {
    "convolutional": """
model = keras.Sequential([
    keras.Input((9, 9, 3)),
    L.Conv2D(4, 3, padding="same", activation="relu", kernel_regularizer="l2"),
    L.BatchNormalization(),
    L.MaxPooling2D(),
    L.SeparableConv2D(3, 2),
    L.DepthwiseConv2D(2),
    L.LeakyReLU(negative_slope=0.1),
    L.Conv2DTranspose(2, 2, strides=2),
    L.ReLU(max_value=3.0),
    L.Dropout(0.2, seed=1),
    L.UpSampling2D(),
    L.ZeroPadding2D(),
    L.Cropping2D(1),
    L.Flatten(),
    L.Dense(5, activation="softmax"),
])
""",
    "functional": """
first, second = keras.Input((5,), name="first"), keras.Input((4,), name="second")
shared = L.Dense(4, activation="silu", name="shared")
inside = keras.Input((4,))
core = keras.Model(inside, L.ELU()(L.Dense(4, name="core_dense")(inside)), name="core")
inner = keras.Sequential([keras.Input((4,)), L.Dense(3), L.Dense(4)], name="inner")
a = inner(shared(L.Dense(4)(first)))
b = core(inner(shared(second)))
c = L.LayerNormalization()(L.Concatenate()([a, b]))
model = keras.Model([first, second], [L.Dense(1)(c), L.Maximum()([a, b]), core(a)])
""",
    "recurrent": """
model = keras.Sequential([
    keras.Input((6,), dtype="int32"),
    L.Embedding(7, 4),
    L.LSTM(3, return_sequences=True),
    L.Bidirectional(L.GRU(2, return_sequences=True, reset_after=False)),
    L.TimeDistributed(L.Dense(3)),
    L.RNN([L.LSTMCell(3), L.SimpleRNNCell(2)], return_sequences=True),
    L.SimpleRNN(3),
    L.PReLU(),
    L.RepeatVector(2),
    L.Permute((2, 1)),
    L.Reshape((-1, 2)),
    L.GlobalAveragePooling1D(),
])
""",
}

SAVE = """
for one in model.weights:
    one.assign(abs(one.value) + abs(numbers(one.shape)) * 0.2)
object.__setattr__(model, "user_defined_metadata", {"noted": "here"})
{"files": encoded(keras.saving.layers_model_files(model)), "outputs": outputs_of(model)}
"""

#: Configurations of ours, as TensorFlow.js has these optimizers.
CONFIGURATIONS = {
    "sgd": ("SGD", {"learning_rate": 0.1}),
    "momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    "adam": ("Adam", {"learning_rate": 0.05}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.05, "momentum": 0.5}),
    "adagrad": ("Adagrad", {"learning_rate": 0.1}),
}


@pytest.fixture(scope="module")
def page(tensorflow_page: PlaywrightPythonPage) -> PlaywrightPythonPage:
    """The page with both libraries, and the script above it."""
    tensorflow_page.page.add_script_tag(content=SCRIPT)
    # Their Adam is off by a percent on WebGL.
    tensorflow_page.page.evaluate("async () => { await tf.setBackend('cpu'); }")
    return tensorflow_page


def same(mine: list[Any], theirs: list[Any], tolerance: float = 1e-5) -> None:
    """Check that outputs are alike."""
    assert [weight["shape"] for weight in mine] == [weight["shape"] for weight in theirs]
    for first, second in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(first["values"], second["values"], rtol=1e-4, atol=tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", THEIR_MODELS)
def test_model_of_tensorflow_js_opens_here(page: PlaywrightPythonPage, name: str, backend: str):
    theirs = page.page.evaluate("(name) => savedByTensorflow(name)", name)
    mine = page.run(LOAD, files=theirs["files"], backend=backend)
    same(mine["outputs"], theirs["outputs"])
    assert mine["metadata"] == {"noted": name}


@pytest.mark.parametrize("name", MODELS)
def test_model_from_here_opens_in_tensorflow_js(page: PlaywrightPythonPage, name: str):
    mine = page.run(COMMON + MODELS[name] + SAVE, backend="wasm")
    theirs = page.page.evaluate("(files) => predictedByTensorflow(files)", mine["files"])
    same(mine["outputs"], theirs["outputs"])
    assert theirs["metadata"] == {"noted": "here"}
    again = page.run(LOAD, files=mine["files"], backend="wasm")
    same(mine["outputs"], again["outputs"])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_goes_on_here(page: PlaywrightPythonPage, optimizer: str):
    theirs = page.page.evaluate("(name) => savedWhileTraining(name)", optimizer)
    mine = page.run(GO_ON, files=theirs["files"], backend="wasm")
    for first, second in zip(mine, theirs["weights"], strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_goes_on_in_tensorflow_js(page: PlaywrightPythonPage, optimizer: str):
    kind, config = CONFIGURATIONS[optimizer]
    mine = page.run(TRAIN, optimizer={"class_name": kind, "config": config}, backend="wasm")
    theirs = page.page.evaluate("(files) => trainedOnByTensorflow(files)", mine["files"])
    for first, second in zip(mine["weights"], theirs, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-4)


def test_indexed_db_is_shared(page: PlaywrightPythonPage):
    script = """async () => {
        const model = TFJS_MODELS.functional();
        await model.save("indexeddb://theirs");
        return predictionsOf(model, inputsOf(model));
    }"""
    theirs = page.page.evaluate(script)
    load = 'model = await keras.saving.load_layers_model_async("indexeddb://theirs")'
    same(page.run(f"{COMMON}\n{load}\noutputs_of(model)", backend="wasm"), theirs)
    save = 'await keras.saving.save_layers_model_async(model, "indexeddb://mine")'
    mine = page.run(f"{COMMON}{MODELS['functional']}\n{save}\noutputs_of(model)", backend="wasm")
    script = """async () => {
        const model = await tf.loadLayersModel("indexeddb://mine");
        const known = Object.keys(await tf.io.listModels()).sort();
        return { known, outputs: predictionsOf(model, inputsOf(model)) };
    }"""
    result = page.page.evaluate(script)
    assert result["known"] == ["indexeddb://mine", "indexeddb://theirs"]
    same(mine, result["outputs"])
    load = 'model = keras.saving.load_model("indexeddb://mine")'
    same(page.run(f"{COMMON}\n{load}\noutputs_of(model)", backend="wasm"), mine)
    managed = """
from pyodide.ffi import can_run_sync
from webtensor import keras
assert can_run_sync()
model = keras.saving.load_model("indexeddb://mine")
model.save("indexeddb://saved")
await keras.saving.copy_model_async("indexeddb://saved", "indexeddb://copied")
await keras.saving.move_model_async("indexeddb://saved", "indexeddb://moved")
await keras.saving.remove_model_async("indexeddb://theirs")
listed = await keras.saving.list_models_async()
model = keras.saving.load_model("indexeddb://moved")
errors = []
for call in (
    lambda: keras.saving.remove_model_async("indexeddb://theirs"),
    lambda: keras.saving.copy_model_async("indexeddb://theirs", "indexeddb://a"),
    lambda: keras.saving.move_model_async("moved", "indexeddb://a"),
):
    try:
        await call()
    except ValueError as error:
        errors.append(str(error))
{"listed": listed, "errors": errors, "outputs": outputs_of(model)}
"""
    answer = page.run(f"{COMMON}\n{managed}", backend="wasm")
    assert sorted(answer["listed"]) == [
        f"indexeddb://{name}" for name in ("copied", "mine", "moved")
    ]
    assert answer["errors"] == [
        "remove_model_async: there is no model 'indexeddb://theirs'",
        "indexeddb://theirs: there is no such model",
        "move_model_async: an address begins with 'indexeddb://' or 'localstorage://', but got "
        "'moved'",
    ]
    same(answer["outputs"], mine)
    script = """async () => {
        const model = await tf.loadLayersModel("indexeddb://copied");
        return { listed: await tf.io.listModels(), outputs: predictionsOf(model, inputsOf(model)) };
    }"""
    theirs = page.page.evaluate(script)
    same(theirs["outputs"], mine)
    sizes = ("modelTopologyBytes", "weightSpecsBytes", "weightDataBytes", "modelTopologyType")
    for address, facts in theirs["listed"].items():
        assert {name: facts[name] for name in sizes} == {
            name: answer["listed"][address][name] for name in sizes
        }
    swapped = """
    from webtensor import keras
    try:
        await keras.saving.save_layers_model_async("indexeddb://mine", keras.Sequential())
    except TypeError as error:
        message = str(error)
    message
    """
    assert "save_layers_model_async(model, path)" in page.run(swapped)
    missing = """
    from webtensor import keras
    try:
        await keras.saving.load_layers_model_async("indexeddb://nothing")
    except ValueError as error:
        message = str(error)
    message
    """
    assert page.run(missing) == "indexeddb://nothing: there is no such model"


def test_model_from_the_web(page: PlaywrightPythonPage):
    theirs = page.page.evaluate("(name) => savedByTensorflow(name)", "functional")

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        if name in theirs["files"]:
            route.fulfill(body=base64.b64decode(theirs["files"][name]))
        else:
            route.fulfill(status=404, body="")

    page.page.route("**/served/*", answer)
    for load in (
        'await keras.saving.load_layers_model_async("/served/model.json")',
        'keras.saving.load_model("/served/model.json")',
        'keras.saving.load_layers_model("/served/model.json")',
    ):
        source = f"{COMMON}\nmodel = {load}\noutputs_of(model)"
        same(page.run(source, backend="wasm"), theirs["outputs"])
    missing = """
    from webtensor import keras
    try:
        await keras.saving.load_layers_model_async("/served/missing.json")
    except OSError as error:
        message = str(error)
    message
    """
    assert page.run(missing) == "/served/missing.json: the server answered 404"
    page.page.unroute("**/served/*")
