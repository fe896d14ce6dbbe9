"""Models in IndexedDB: reloads and killed workers amid training, quotas, parallel tabs."""

import json
from typing import Any

from tests_browser.prove.trials import Stage, Trial
from tests_browser.python_page import PlaywrightPythonPage, PythonPage

#: Trains from the epoch that a stored model has reached, and stores it after each.
EPOCHS = """
import asyncio
import hashlib
import json
import webtensor as wt
from webtensor import keras

wt.set_backend(backend)
x = wt.random_normal((96, 6), seed=1)
y = wt.sum(x * x, 1, keepdims=True)

def new_model():
    keras.utils.set_random_seed(4)
    model = keras.Sequential([
        keras.Input((6,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)
    ])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return model

async def stored_model(address):
    '''The model at an address, and how many epochs it was trained for.'''
    try:
        model = await keras.saving.load_layers_model_async(address)
    except ValueError:
        return new_model(), 0
    return model, model.user_defined_metadata["epochs"]

async def train_until(epochs, address):
    '''Train, by default for two epochs more, and store the model after each; return it.'''
    model, done = await stored_model(address)
    for epoch in range(done, epochs or done + 2):
        await model.fit_async(x, y, batch_size=16, shuffle=False, verbose=0)
        model.user_defined_metadata = {"epochs": epoch + 1}
        await keras.saving.save_layers_model_async(model, address, include_optimizer=True)
    return model

async def fingerprint(model):
    '''A short text that is another one for other weights.'''
    values = [await weight.value.array() for weight in model.weights]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]
"""
REMOVE = """
import webtensor as wt
for address in await wt.io.list_models_async():
    if address.startswith("indexeddb://trial-"):
        await wt.io.remove_model_async(address)
"""
WHOLE = EPOCHS + "await fingerprint(await train_until(epochs, 'indexeddb://trial-whole'))"
FINISH = (
    EPOCHS
    + """
model = await train_until(None, "indexeddb://trial-parts")
json.dumps([await fingerprint(model), model.user_defined_metadata["epochs"]])
"""
)
#: Leaves training under way after some epochs more; it has no end of its own.
BEGIN = (
    EPOCHS
    + """
import sys
done = (await stored_model("indexeddb://trial-parts"))[1]
sys.modules["running"] = asyncio.ensure_future(train_until(10**9, "indexeddb://trial-parts"))
while (await stored_model("indexeddb://trial-parts"))[1] < done + 2:
    await asyncio.sleep(0)
"""
)


def reloads_resume_training(stage: Stage, trial: Trial, reloads: int) -> str:
    """Reload the page amid training, which ends with the weights of undisturbed training."""
    page = stage.python(trial.browser)
    page.run(REMOVE)
    for _ in range(reloads):
        page.run(BEGIN, backend=trial.backend)
        page.reload()
    weights, epochs = json.loads(page.run(FINISH, backend=trial.backend))
    assert page.run(WHOLE, backend=trial.backend, epochs=epochs) == weights
    page.run(REMOVE)
    return f"{epochs} epochs, {reloads} reloads; weights are identical"


#: Runs Python in a worker until a text arrives that it posts, and ends the worker.
IN_WORKER = """([source, given]) => new Promise((resolve) => {
  const worker = new Worker("/tests/python_worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    worker.terminate();
    resolve(data);
  };
  worker.postMessage({ source, given });
})"""
TAKE = "import js\nbackend, epochs = js.given.backend, js.given.epochs\n"


def in_worker(page: PythonPage, source: str, backend: str, epochs: int = 0) -> Any:
    """Run Python in a new worker of the page, which is killed as soon as it has answered."""
    variables = {"backend": backend, "epochs": epochs}
    answer = page.evaluate(f"({IN_WORKER})({json.dumps([TAKE + source, variables])})")
    assert "error" not in answer, answer["error"]
    return answer.get("value")


def killed_workers_resume_training(stage: Stage, trial: Trial, kills: int) -> str:
    """Kill the worker that trains; another goes on from what it had stored."""
    page = stage.python(trial.browser)
    page.run(REMOVE)
    for _ in range(kills):
        in_worker(page, BEGIN, trial.backend)
    weights, epochs = json.loads(in_worker(page, FINISH, trial.backend))
    assert page.run(WHOLE, backend=trial.backend, epochs=epochs) == weights
    page.run(REMOVE)
    return f"{epochs} epochs, {kills} workers killed; weights are identical"


# -- quotas ----------------------------------------------------------------------------------------

FILL = """
import webtensor as wt
from webtensor import keras

wt.set_backend("wasm")

def model(units):
    return keras.Sequential([keras.Input((64,)), keras.layers.Dense(units)])

small = model(4)
await keras.saving.save_layers_model_async(small, "indexeddb://trial-small")
errors = []
for number in range(count):
    try:
        await keras.saving.save_layers_model_async(model(40_000), "indexeddb://trial-small")
    except OSError as error:
        errors.append(str(error))
again = await keras.saving.load_layers_model_async("indexeddb://trial-small")
is_same = [w.tolist() for w in (v.value for v in again.weights)] == [
    w.tolist() for w in (v.value for v in small.weights)
]
[len(errors), sorted(set(errors)), is_same]
"""
QUOTA_BYTES = 4_000_000


def full_storage_keeps_what_it_has(stage: Stage, trial: Trial, attempts: int) -> str:
    """Save models that are larger than the origin's quota: an error each, and nothing is lost."""
    context = stage.browser(trial.browser).new_context()
    page = context.new_page()
    python = PlaywrightPythonPage(trial.browser, stage.site_url, page)
    session = context.new_cdp_session(page)
    session.send(
        "Storage.overrideQuotaForOrigin", {"origin": stage.site_url, "quotaSize": QUOTA_BYTES}
    )
    count, errors, is_same = python.run(FILL, count=attempts)
    context.close()
    assert count == attempts
    assert len(errors) == 1
    assert "indexeddb://trial-small: " in errors[0]
    assert "storage" in errors[0]
    assert is_same, "the model that was there is lost"
    return f"{attempts} attempts; the model that was there is intact"


# -- parallel tabs ---------------------------------------------------------------------------------

START_TAB = (
    EPOCHS
    + """
import sys
sys.modules["running"] = asyncio.ensure_future(train_until(epochs, address))
None
"""
)


def tabs_train_at_once(stage: Stage, trial: Trial, epochs: int) -> str:
    """Train in two tabs at once, whose models lie in the same database."""
    context = stage.browser(trial.browser).new_context()
    tabs = [
        PlaywrightPythonPage(trial.browser, stage.site_url, context.new_page()) for _ in range(2)
    ]
    variables = {"backend": trial.backend, "epochs": epochs}
    addresses = [f"indexeddb://trial-tab{number}" for number in range(2)]
    for tab, address in zip(tabs, addresses, strict=True):
        tab.run(START_TAB, address=address, **variables)
    read = EPOCHS + "import sys\nawait fingerprint(await sys.modules.pop('running'))"
    trained = [tab.run(read, **variables) for tab in tabs]
    alone = tabs[0].run(
        EPOCHS + "await fingerprint(await train_until(epochs, 'indexeddb://trial-alone'))",
        **variables,
    )
    stored = tabs[0].run(
        EPOCHS + "[await fingerprint((await stored_model(a))[0]) for a in addresses]",
        addresses=addresses,
        **variables,
    )
    errors = [error for tab in tabs for error in tab.take_errors()]
    context.close()
    assert errors == []
    assert trained == stored == [alone, alone]
    return f"{epochs} epochs in each tab; weights are those of training alone"


STORAGE_TRIALS = [
    *(
        Trial("reload", reloads_resume_training, "reloads", 20, browser, backend)
        for browser in ("chromium", "firefox", "webkit")
        for backend in ("wasm", "webgl")
    ),
    *(
        Trial("worker", killed_workers_resume_training, "kills", 20, browser, backend)
        for browser, backend in (
            ("chromium", "wasm"),
            ("chromium", "webgl"),
            ("firefox", "wasm"),
            ("firefox", "webgl"),
            ("webkit", "wasm"),  # WebKitGTK has no WebGL in workers
        )
    ),
    Trial("quota", full_storage_keeps_what_it_has, "attempts", 100, "chromium", "wasm"),
    *(
        Trial("tabs", tabs_train_at_once, "epochs", 500, browser, backend)
        for browser in ("chromium", "firefox")
        for backend in ("wasm", "webgl")
    ),
]
