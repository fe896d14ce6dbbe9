"""Nothing leaks: after 2,000 training steps every count is what it was after a few.

Counted are tensors, storages and bytes of the engine; textures and programs of the WebGL backend;
bytes, blocks and the size of the heap of the WASM backend; JavaScript objects that Python holds,
and Python objects that JavaScript holds.
"""

from typing import Any

import pytest

from tests_browser.python_page import PythonPage

STEPS = 2000
#: Until the engine has as many constants, such as Adam's rates, as it keeps for reuse.
WARM_UP = 150

TRAINING = """
import gc
import webtensor as wt
from pyodide_js import _module as module

wt.set_backend(backend)
module.enable_pyproxy_allocation_tracing()

def variable(shape, seed):
    return wt.Variable(wt.random_normal(shape, stddev=0.3, seed=seed))

filter = variable((3, 3, 1, 4), 1)
filter_bias = wt.Variable(wt.zeros((4,)))
weights = variable((64, 10), 2)
bias = wt.Variable(wt.zeros((10,)))
images = wt.random_uniform((4, 8, 8, 1), seed=3)
labels = wt.one_hot([1, 7, 3, 1], 10, dtype=wt.float32)
optimizer = wt.optimizers.Adam(0.01)

def loss():
    features = wt.relu(wt.conv2d(images, filter, 1, "same") + filter_bias)
    features = wt.reshape(wt.max_pool(features, 2), (4, 64))
    return wt.softmax_cross_entropy(labels, wt.matmul(features, weights) + bias)

def counts():
    gc.collect()
    memory = wt.memory()
    return {
        **{name: memory[name] for name in ("num_tensors", "num_storages", "num_bytes")},
        **memory["backends"][backend],
        "JavaScript objects held by Python": module._hiwire_num_refs(),
        "Python objects held by JavaScript": module.pyproxy_alloc_map.size,
    }

async def train(steps):
    for step in range(steps):
        value = optimizer.minimize(loss)
        if step % 10 == 9:  # as a page does, to show the loss
            (await value.data())[0]
    return float(value)

try:
    first = await train(warm_up)
    before = counts()
    last = await train(steps)
    after = counts()
finally:
    module.disable_pyproxy_allocation_tracing()
[first, last, before, after]
"""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_training_leaves_nothing_behind(python_page: PythonPage, backend: str):
    first, last, before, after = python_page.run(
        TRAINING, backend=backend, steps=STEPS, warm_up=WARM_UP
    )
    assert last < first
    assert grown(before, after) == {}


def grown(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Counts that are not what they were."""
    return {name: (before[name], after[name]) for name in after if after[name] != before[name]}


READS = """
import webtensor as wt
from pyodide_js import _module as module

wt.set_backend(backend)

async def read(times):
    for n in range(times):
        x = wt.ones((n % 7 + 1, 5)) * float(n % 3)
        await x.data()
        (x + 1).data_sync()
        (x + 2).tolist()

def counts():
    memory = wt.memory()
    return {
        **{name: memory[name] for name in ("num_tensors", "num_storages", "num_bytes")},
        **memory["backends"][backend],
        "JavaScript objects held by Python": module._hiwire_num_refs(),
    }

await read(50)
before = counts()
await read(300)
[before, counts()]
"""


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_reading_leaves_nothing_behind(python_page: PythonPage, backend: str):
    before, after = python_page.run(READS, backend=backend)
    assert grown(before, after) == {}


ERRORS = """
import webtensor as wt

wt.set_backend(backend)

def counts():
    memory = wt.memory()
    return {
        **{name: memory[name] for name in ("num_tensors", "num_storages", "num_bytes")},
        **memory["backends"][backend],
    }

def fail():
    x = wt.ones((5, 7)) * 3.0
    for attempt in (
        lambda: wt.matmul(x, x),
        lambda: x + wt.ones((4, 7)),
        lambda: wt.grad(lambda x: wt.exp(x) + wt.ones((3,)))(x),
        lambda: wt.concat([x, wt.ones((5,))]),
        lambda: wt.conv2d(x, x),
    ):
        try:
            attempt()
        except ValueError:
            pass
        else:
            raise AssertionError("did not fail")

fail()
before = counts()
for _ in range(50):
    fail()
[before, counts()]
"""


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_errors_leave_nothing_behind(python_page: PythonPage, backend: str):
    before, after = python_page.run(ERRORS, backend=backend)
    assert grown(before, after) == {}
