"""Captured functions in a page: a selection of op cases, replayed, and what crosses to JavaScript.

`test_ops` captures the whole table on WebGL in Chromium.
"""

import pytest

from tests_browser.draw_counts import COUNTED_DRAWS
from tests_browser.python_page import UNTIL, PythonPage, importing
from tests_py.cases import FAMILIES, Case, runner, selected
from tests_py.test_programs import wrong_answers

RUN = importing(runner, "run_captured") + "await run_captured(cases, backend)"

SELECTION = [case for family in FAMILIES.values() for case in selected(family)]
#: On WebGL a part of it is enough here.
SELECTIONS = {"wasm": SELECTION, "webgl": SELECTION[::4]}


def wrong_captures(page: PythonPage, cases: list[Case], backend: str) -> list[str]:
    """Record and replay cases in a page, and return a line for each that is wrong."""
    answer = page.run(RUN, cases=[case.encoded() for case in cases], backend=backend)
    return wrong_answers(cases, answer, backend)


def test_selection_in_chromium(chromium_python: PythonPage):
    assert wrong_captures(chromium_python, SELECTION, "wasm") == []


@pytest.mark.parametrize("backend", SELECTIONS)
def test_selection_in_firefox(firefox_python: PythonPage, backend: str):
    assert wrong_captures(firefox_python, SELECTIONS[backend], backend) == []


THREADS = """
import webtensor as wt

wt.set_backend("wasm")
threads = wt.backend().threads
grain, threads.grain = threads.grain, 0.01
try:
    x = wt.random_normal((2, 16, 16, 16), seed=1)
    filters = wt.random_normal((5, 5, 16, 16), seed=2)
    of_three = wt.random_normal((3, 3, 16, 16), seed=3)

    def f(x):
        y = wt.conv2d(wt.conv2d(x, filters, 1, "same"), of_three, 1, "same")
        return wt.softmax(wt.relu(y) + 1.0), wt.matmul(y, y, transpose_b=True)

    captured = wt.function(f)
    replays = [[part.tolist() for part in captured(x)] for _ in range(3)]
    results = [part.tolist() for part in f(x)]
    captured.clear()
finally:
    threads.grain = grain
[threads.count, all(replay == results for replay in replays)]
"""


def test_threads_share_large_kernels_of_a_replay(python_page: PythonPage):
    count, agree = python_page.run(THREADS)
    assert count > 1
    assert agree


JOINED = f"""
import webtensor as wt
{COUNTED_DRAWS}
wt.set_backend("webgl")
images = wt.random_normal((2, 9, 8, 3), seed=1)
filters, bias = wt.random_normal((3, 3, 3, 4), seed=2), wt.random_normal((4,), seed=3)
table, row = wt.random_normal((5, 4), seed=4), wt.random_normal((5,), seed=5)

def f(x):
    y = wt.pad(x, [(0, 0), (1, 2), (2, 1), (0, 0)])
    y = wt.relu(wt.conv2d(y, filters, 2, "valid") + bias)
    rows = wt.reshape(y, (-1, 4))
    return wt.relu(rows @ wt.transpose(table) + wt.exp(row))

captured = wt.function(f)
expected = f(images)
captured(images)
push, wt.backend().push = wt.backend().push, None  # all draws were packed before
try:
    with counted_draws() as draws:
        replayed = captured(images)
finally:
    wt.backend().push = push
captured.clear()
[len(draws), wt.max(wt.abs(replayed - expected)).item() / wt.max(wt.abs(expected)).item()]
"""


def test_joined_calls_draw_less_and_compute_the_same(chromium_python: PythonPage):
    draws, difference = chromium_python.run(JOINED)
    assert draws == 2
    assert difference < 1e-5


REPLAYS = """
import webtensor as wt

wt.set_backend("webgl")
weight, noise = wt.Variable(wt.random_normal((40, 40), seed=1)), wt.Variable(wt.zeros((40, 40)))

@wt.function
def step(x):
    y = wt.softmax(wt.matmul(x, weight)) @ wt.transpose(wt.tanh(x) + 1.0)
    noise.assign(wt.random_uniform((40, 40)))
    weight.assign_sub(0.01 * y)
    return wt.sum(y), wt.sort(y)

def counts():
    memory = wt.memory()["backends"]["webgl"]
    return [memory["textures"], memory["free_textures"], memory["bytes"], memory["programs"]]

x = wt.random_normal((40, 40), seed=2)
seen = set()
for _ in range(10):
    step(x)
before = counts()
for _ in range(100):
    step(x)
    seen.add(wt.sum(noise).item())
after = counts()
start = weight.value
step(x)
prepared = weight.tolist()
weight.assign(start)
wt.env().set("WEBGL_DELETE_TEXTURE_THRESHOLD", 0)  # memory is short from now on
step(x)
[before, after, len(seen), prepared == weight.tolist()]
"""


def test_replays_leave_nothing_and_compute_the_same_where_memory_is_short(
    chromium_python: PythonPage,
):
    with chromium_python.loaded_with():
        before, after, count, are_equal = chromium_python.run(REPLAYS)
    assert before == after
    assert count == 100
    assert are_equal


LOST_CONTEXT = (
    UNTIL
    + """
import webtensor as wt

wt.set_backend("webgl")
table = wt.tensor([1.0, 2.0, 3.0])
weight = wt.Variable([2.0])
runs = []

@wt.function
def f(x):
    runs.append(x.shape)
    return wt.exp(x * weight) + table

x = wt.tensor([0.0, 0.5, 1.0])
before = [f(x).tolist() for _ in range(2)]
lost = wt.backend()
lost.gl.getExtension("WEBGL_lose_context").loseContext()
await until(lambda: wt.backend() is not lost)
after = [f(x).tolist() for _ in range(2)]
[before + after, len(runs)]
"""
)


def test_a_function_goes_on_after_its_context_was_lost(chromium_python: PythonPage):
    try:
        (first, *others), runs = chromium_python.run(LOST_CONTEXT)
    finally:
        chromium_python.spoil()
    assert others == [first] * 3
    assert runs >= 2


FLAT = """
import gc
import webtensor as wt

wt.set_backend(backend)
weight = wt.Variable([[1.0, 2.0], [3.0, 4.0]])

@wt.function
def step(x):
    y = wt.tanh(wt.matmul(x, weight)) + wt.random_uniform((2, 2))
    weight.assign(weight * 0.5 + y * 0.5)
    return wt.sum(y)

def counts():
    gc.collect()
    memory = wt.memory()
    own = memory["backends"][backend]
    names = ("num_tensors", "num_storages", "num_bytes")
    return [*map(memory.get, names), own["bytes"], own.get("textures")]

x = wt.ones((2, 2))
for _ in range(50):
    loss = step(x)
loss.tolist()
before = counts()
for number in range(replays):
    loss = step(x)
    if number % 100 == 0:
        loss.tolist()
loss.tolist()
[before, counts()]
"""


@pytest.mark.parametrize("backend, replays", [("wasm", 3000), ("webgl", 500)])
def test_memory_stays_flat(chromium_python: PythonPage, backend: str, replays: int):
    before, after = chromium_python.run(FLAT, backend=backend, replays=replays)
    assert after == before
