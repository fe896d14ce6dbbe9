"""The Layers API in pages: the examples learn, nothing is left behind, and the page goes on."""

from pathlib import Path

import pytest

from tests_browser.python_page import PythonPage

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples" / "keras"

#: What the examples are run with here, and what their results must be better than.
RUNS: dict[str, tuple[dict[str, int], str]] = {
    "functional_multi_input": ({"samples": 640, "epochs": 3}, "min(found) > 0.7"),
    "mnist_convnet": ({"samples": 256, "epochs": 1, "batch_size": 16}, "found > 0.5"),
    "text_attention": ({"samples": 320, "epochs": 2}, "found > 0.5"),
    "text_lstm": ({"samples": 160, "epochs": 2}, "found > 0.5"),
    "timeseries": ({"samples": 200, "epochs": 3}, "found < 0.6"),
    "transfer_learning": ({"samples": 200, "epochs": 3}, "found[0] > 0.7 and found[1]"),
    "vae": ({"samples": 200, "epochs": 4}, "found[1] < 0.9 * found[0]"),
}

RUN = """
import webtensor as wt
wt.set_backend(backend)
names = {"__name__": "example"}
exec(compile(source, "example.py", "exec"), names)
found = names["main"](**options)
result = [found, eval(mark)]
names.clear()
result
"""


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
@pytest.mark.parametrize("name", RUNS)
def test_examples_learn(chromium_python: PythonPage, name: str, backend: str):
    options, mark = RUNS[name]
    source = (EXAMPLES / f"{name}.py").read_text("utf-8")
    result, is_better = chromium_python.run(
        RUN, backend=backend, source=source, options=options, mark=mark
    )
    assert is_better, result


LOOPS = """
import gc
import webtensor as wt
from webtensor import keras
from pyodide_js import _module as module

wt.set_backend(backend)
module.enable_pyproxy_allocation_tracing()
x = wt.random_normal((96, 8, 8, 1), seed=1)
y = wt.random_uniform((96,), 0, 5, dtype="int32", seed=2)
model = keras.Sequential([
    keras.Input((8, 8, 1)),
    keras.layers.Conv2D(4, 3),
    keras.layers.BatchNormalization(),
    keras.layers.ReLU(),
    keras.layers.Flatten(),
    keras.layers.Dropout(0.2),
    keras.layers.Dense(5, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

def counts():
    gc.collect()
    memory = wt.memory()
    return {
        **{name: memory[name] for name in ("num_tensors", "num_storages", "num_bytes")},
        **{name: value for name, value in memory["backends"][backend].items()
           if name in ("bytes", "textures", "programs")},
        "JavaScript objects held by Python": module._hiwire_num_refs(),
        "Python objects held by JavaScript": module.pyproxy_alloc_map.size,
    }

async def loops(times):
    for _ in range(times):
        await model.fit_async(x, y, epochs=2, batch_size=16, verbose=0)
        model.fit(x, y, batch_size=16, verbose=0, validation_split=0.25)
        await model.predict_async(x, verbose=0)
        model.evaluate(x, y, verbose=0)

try:
    await loops(12)
    before = counts()
    await loops(5)
    result = [before, counts()]
finally:
    module.disable_pyproxy_allocation_tracing()
result
"""


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
def test_loops_leave_nothing_behind(chromium_python: PythonPage, backend: str):
    before, after = chromium_python.run(LOOPS, backend=backend)
    assert after == before


GOES_ON = """
import js
import webtensor as wt
from pyodide.ffi import can_run_sync, create_proxy
from webtensor import keras

wt.set_backend("webgl")
place = js.document.createElement("div")
js.document.body.appendChild(place)
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(50), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x, y = wt.random_normal((640, 20), seed=1), wt.random_normal((640, 1), seed=2)
bar = keras.callbacks.ProgbarLogger(place)
ticks = []
tick = create_proxy(lambda: ticks.append(1))
timer = js.setInterval(tick, 1)
model.fit(x, y, epochs=5, callbacks=[bar])
sync = len(ticks)
await model.fit_async(x, y, epochs=5, callbacks=[bar])
js.clearInterval(timer)
tick.destroy()
progress = place.querySelector("progress")
told = [progress.value, progress.max, place.innerText]
result = [sync > 0, len(ticks) > sync, can_run_sync(), *told]
place.remove()
result
"""


def test_the_page_goes_on_and_sees_a_bar(python_page: PythonPage):
    in_fit, in_fit_async, can_suspend, value, most, text = python_page.run(GOES_ON)
    assert in_fit == can_suspend
    assert in_fit_async
    assert value == most == 20
    assert "Epoch 5/5" in text
    assert "loss" in text


CHECKPOINT = """
import webtensor as wt
from webtensor import keras

wt.set_backend("wasm")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])
model.compile("adam", "mse")
x, y = wt.random_normal((64, 3), seed=1), wt.random_normal((64, 1), seed=2)
keep = keras.callbacks.ModelCheckpoint("indexeddb://kept", monitor="loss", save_best_only=True)
await model.fit_async(x, y, epochs=3, verbose=0, callbacks=[keep])
again = await keras.saving.load_layers_model_async("indexeddb://kept")
[model(x).tolist(), again(x).tolist()]
"""


def test_checkpoints_in_the_browser(python_page: PythonPage):
    before, after = python_page.run(CHECKPOINT)
    assert after == before
