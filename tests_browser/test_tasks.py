"""What belongs to a task stays with it, also where a read suspends Python in the middle of it."""

import json

import pytest

from tests_browser.python_page import PythonPage

TASKS = """
import asyncio
import gc
import webtensor as wt
from pyodide.ffi import can_run_sync
from webtensor.engine.state import state

wt.set_backend(backend)
w = wt.Variable(3.0)

async def tidying(number):
    with wt.tidy() as scope:
        x = wt.ones((64, 64)) * float(number)
        await asyncio.sleep(0.002 * (number % 3))
        total = wt.sum(wt.matmul(x, x))
        read = float(total)  # which lets other tasks run, where Python can be suspended
        await total.data()
        kept = scope.keep(total + 1)
    return x.is_disposed and total.is_disposed, read, float(kept)

async def taping(number):
    with wt.GradientTape() as tape:
        y = w * number
        await asyncio.sleep(0.001)
        y = y * w
    return float(tape.gradient(y, w))

async def free():
    tensors = []
    for number in range(20):
        tensors.append(wt.ones((3,)) * float(number))
        await asyncio.sleep(0.001)
    return [not tensor.is_disposed for tensor in tensors]

def steps():
    with wt.tidy():
        yield wt.ones((2,))

first, second = steps(), steps()
x, y = next(first), next(second)
first.close()
second.close()
late = [x.is_disposed, y.is_disposed, state.scopes is None]

results = await asyncio.gather(*map(tidying, range(6)), *map(taping, (1.0, 2.0)), free())
gc.collect()
before = wt.memory()["num_tensors"]
with wt.tidy() as scope:
    for _ in range(300):
        for _ in range(100):
            wt.add(w, 1.0)
    noted = len(scope._tensors)
[results[:6], results[6:8], all(results[8]), late, noted, wt.memory()["num_tensors"] - before,
 state.scopes is None, len(state.observers)]
"""


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_scopes_and_tapes_belong_to_tasks(any_python_page: PythonPage, backend: str):
    tidied, taped, free, late, noted, left, no_scopes, observers = any_python_page.run(
        TASKS, backend=backend
    )
    sums = [64.0**3 * number**2 for number in range(6)]
    assert tidied == [[True, total, total + 1] for total in sums]
    assert taped == [6.0, 12.0]
    assert free
    assert late == [True, True, True]
    assert noted < 1000
    assert left <= 0
    assert [no_scopes, observers] == [True, 0]


#: One call is suspended in deep frames, whose memory another one overwrites. Functions that are
#: called from C, as `__getattr__` is, put frames there.
SUSPENDED_CALLS = """
import asyncio
import gc
from webtensor.engine.jspi import suspended

class Deep:
    def __init__(self, depth, call):
        self.depth, self.call = depth, call

    def __getattr__(self, name):
        return self.call() if self.depth == 0 else getattr(Deep(self.depth - 1, self.call), name)

def wait(ms):
    suspended(asyncio.sleep(ms / 1000))
    return ms

def waiting(ms):
    return Deep(30, lambda: wait(ms)).x

def allocate():
    gc.set_threshold(2000)
    lists = [[number] for number in range(30_000)]
    gc.set_threshold(10**9)
    return len(lists)

def going_deeper(ms):
    wait(ms)
    return Deep(60, allocate).x

thresholds = gc.get_threshold()
gc.set_threshold(10**9)  # frames that a collection has seen are not looked at again
"""
IN_TURNS = """
(async (source) => {
  const names = pyodide.toPy({});
  pyodide.runPython(source, { globals: names });
  const [deeper, waiting] = ["going_deeper", "waiting"].map((name) => names.get(name));
  const results = [];
  for (let round = 0; round < 5; round += 1) {
    results.push(
      await Promise.all([
        deeper.callPromising(20),
        deeper.callPromising(21),
        waiting.callPromising(30),
        deeper.callPromising(5),
        waiting.callPromising(10),
        deeper.callPromising(1),
      ]),
    );
  }
  const end = "gc.set_threshold(*thresholds); gc.isenabled()";
  const collects = pyodide.runPython(end, { globals: names });
  for (const value of [deeper, waiting, names]) value.destroy();
  return [results, collects];
})
"""


def test_garbage_is_not_collected_while_calls_are_suspended(python_page: PythonPage):
    script = f"{IN_TURNS}({json.dumps(SUSPENDED_CALLS)})"
    results, collects = python_page.evaluate(script)
    assert results == [[30_000, 30_000, 30, 30_000, 10, 30_000]] * 5
    assert collects
