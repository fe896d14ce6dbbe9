"""Reads: what they return; they end in the order in which they began, and may be cancelled."""

from tests_browser.python_page import UNTIL, PythonPage

ORDER = """
import asyncio
import webtensor as wt

wt.set_backend("webgl")
slow = wt.ones((256, 256))
done = []

async def read(number):
    x = wt.matmul(slow, slow) if number % 3 == 0 else wt.ones((number + 1,)) * float(number)
    values = await x.data()
    done.append((number, values[0]))

await asyncio.gather(*[read(number) for number in range(30)])
[done, wt.memory()["backends"]["webgl"]["pending_reads"]]
"""


def test_reads_end_in_the_order_in_which_they_began(any_python_page: PythonPage):
    done, pending = any_python_page.run(ORDER)
    assert done == [[number, 256.0 if number % 3 == 0 else number] for number in range(30)]
    assert pending == 0


CANCEL = (
    UNTIL
    + """
import gc
import webtensor as wt
from pyodide_js import _module as module

wt.set_backend("webgl")
module.enable_pyproxy_allocation_tracing()
slow = wt.ones((256, 256))

def counts():
    gc.collect()
    memory = wt.memory()
    return {
        **{name: memory[name] for name in ("num_tensors", "num_storages", "num_bytes")},
        **memory["backends"]["webgl"],
        "JavaScript objects held by Python": module._hiwire_num_refs(),
        "Python objects held by JavaScript": module.pyproxy_alloc_map.size,
    }

async def cancel(times):
    cancelled, most = 0, 0
    for n in range(times):
        # Some are cancelled before they begin, some while the GPU is at it.
        reading = [asyncio.ensure_future(wt.matmul(slow, slow).data()) for _ in range(4)]
        if n % 2:
            await asyncio.sleep(0)
        most = max(most, wt.memory()["backends"]["webgl"]["pending_reads"])
        for task in reading[:3]:
            task.cancel()
        results = await asyncio.gather(*reading, return_exceptions=True)
        cancelled += sum(isinstance(result, asyncio.CancelledError) for result in results)
        assert results[3][0] == 256.0
        del reading, results
        try:
            await asyncio.wait_for(wt.matmul(slow, slow).data(), 0)
        except TimeoutError:
            cancelled += 1
        gc.collect()  # Pyodide's event loop leaves a cancelled task, with its frames, in a cycle
    # What polls notices that nobody waits any more.
    await until(lambda: not wt.memory()["backends"]["webgl"]["pending_reads"])
    return cancelled, most

try:
    await cancel(4)
    before = counts()
    cancelled, most = await cancel(10)
    after = counts()
finally:
    module.disable_pyproxy_allocation_tracing()
[cancelled, most, before, after]
"""
)


def test_cancelled_reads_leave_nothing_behind(python_page: PythonPage):
    cancelled, most, before, after = python_page.run(CANCEL)
    assert cancelled == 40
    assert most == 4
    assert before["pending_reads"] == 0
    assert after == before


#: Counts the calls of a function of WebGL as `js.calls`, until `js.stopCounting()`.
COUNT_CALLS = """
import js
from pyodide.code import run_js

count_calls = run_js('''(name) => {
  const context = WebGL2RenderingContext.prototype;
  const original = context[name];
  window.calls = 0;
  window.stopCounting = () => (context[name] = original);
  context[name] = function (...numbers) {
    window.calls += 1;
    return original.apply(this, numbers);
  };
}''')
"""

PROMPT = """
from time import perf_counter
import webtensor as wt

wt.set_backend("webgl")
count_calls("clientWaitSync")
slow = wt.ones((512, 512))

async def read():
    y = slow
    for _ in range(3):
        y = wt.matmul(y, slow)
    before, start = js.calls, perf_counter()
    await y.data()
    return js.calls - before, (perf_counter() - start) * 1000

try:
    await read()
    measured = [await read() for _ in range(3)]
finally:
    js.stopCounting()
measured
"""


def test_waiting_asks_seldom(python_page: PythonPage):
    for polls, milliseconds in python_page.run(COUNT_CALLS + PROMPT):
        assert 1 <= polls <= 20 + milliseconds / 2


FENCES = """
import asyncio
import webtensor as wt

wt.set_backend("webgl")
count_calls("fenceSync")

async def fences(*tensors):
    before = js.calls
    values = [(await x.data())[0] for x in tensors]
    return js.calls - before, values

try:
    ones = wt.ones((4,))
    *small, last = [ones + number for number in range(5)]
    large = wt.ones((300, 300)) + 3
    counts = [await fences(*small[:3]), await fences(large), await fences(ones + 5, small[3])]
    reads = [x.data() for x in (ones + 6, last)]
    before = js.calls
    await asyncio.gather(*reads)
    counts.append(js.calls - before)
finally:
    js.stopCounting()
counts
"""


def test_reads_of_what_is_done_do_not_wait(python_page: PythonPage):
    several, large, after, together = python_page.run(COUNT_CALLS + FENCES)
    assert several == [1, [1, 2, 3]]
    assert large == [1, [4]]
    assert after == [1, [6, 4]]
    assert together == 2


WAIT = """
import js
import webtensor as wt
from pyodide.ffi import can_run_sync, create_proxy

wt.set_backend("webgl")
ticks = []
tick = create_proxy(lambda: ticks.append(1))
timer = js.setInterval(tick, 1)
x = wt.ones((512, 512))
for _ in range(10):
    x = wt.matmul(x, x) * (1 / 512)
value = float(x[0, 0])
within_tidy = []
with wt.tidy():
    before = len(ticks)
    within_tidy.append(float(wt.matmul(x, x)[0, 0]) / 512)
    during = len(ticks) - before
js.clearInterval(timer)
tick.destroy()
[value, within_tidy[0], before > 0, during > 0, can_run_sync()]
"""


def test_a_page_goes_on_while_values_are_read(any_python_page: PythonPage):
    value, within_tidy, ticked, during, can_suspend = any_python_page.run(WAIT)
    assert value == within_tidy == 1
    assert ticked == can_suspend
    assert during == can_suspend


VALUES = """
import webtensor as wt
from js import Float32Array
from pyodide.ffi import to_js

wt.set_backend(backend)
x = wt.tensor([[1.0, 2.5], [3.0, 4.0]]) + 0.0
values = await x.data()
array = to_js(values)
assigned = Float32Array.new(4)
assigned.assign(values)
{
    "shown": repr(values),
    "numbers": [list(values), values.tolist(), list(values[1:3]), values[3], len(values)],
    "in JavaScript": [array.constructor.name, list(array), list(assigned)],
    "buffer": [memoryview(values).readonly, bytes(values) == values.tobytes()],
    "shape": (await x.flatten().array(), wt.tensor(values).shape),
}
"""


def test_read_elements_show_numbers_and_are_a_buffer(chromium_python: PythonPage):
    for backend in ("wasm", "webgl"):
        answer = chromium_python.run(VALUES, backend=backend)
        numbers = [1.0, 2.5, 3.0, 4.0]
        assert answer == {
            "shown": "Elements([1. , 2.5, 3. , 4. ], dtype=float32)",
            "numbers": [numbers, numbers, [2.5, 3.0], 4.0, 4],
            "in JavaScript": ["Float32Array", numbers, numbers],
            "buffer": [True, True],
            "shape": [numbers, [4]],
        }
