"""Data pipelines in a page: files of servers and visitors, and training on them."""

import pytest

from tests_browser.python_page import PythonPage

START = """
import asyncio, gc
import webtensor as wt
from js import Blob, File, Uint8Array
from pyodide.ffi import to_js
from pyodide_js import _module as module

def blob(data, name=None):
    parts = to_js([Uint8Array.new(to_js(data))])
    return File.new(parts, name) if name else Blob.new(parts)
"""


@pytest.fixture(params=["wasm", "webgl"])
def page(request: pytest.FixtureRequest, python_page: PythonPage) -> PythonPage:
    """A page that computes on a backend."""
    python_page.run("import webtensor as wt; wt.set_backend(name)", name=request.param)
    return python_page


def test_a_pipeline(page: PythonPage):
    code = """
x = wt.reshape(wt.arange(40, dtype="float32"), (20, 2))
data = wt.data.Dataset.from_tensor_slices((x, list(range(20)))).shuffle(20, seed=1).batch(8)
rows = []
async for batch, labels in data.map(lambda x, y: (x * 2, y)).prefetch(2):
    rows += [[*row, label] for row, label in zip(await batch.array(), await labels.data())]
sorted(rows, key=lambda row: row[2])
"""
    assert page.run(START + code) == [[4.0 * n, 4.0 * n + 2, n] for n in range(20)]


def test_training_on_what_has_to_be_waited_for(page: PythonPage):
    code = """
table = "x,y\\n" + "".join(f"{n / 10},{n / 5 + 1}\\n" for n in range(40))
houses = wt.data.csv(blob(table.encode()), column_configs={"y": {"is_label": True}})
data = houses.map(lambda x, y: ([x["x"]], [y["y"]])).batch(10).cache()
wt.keras.utils.set_random_seed(0)
model = wt.Sequential([wt.Input((1,)), wt.layers.Dense(1)])
model.compile(wt.keras.optimizers.Adam(0.3), "mse")
history = await model.fit_async(data, epochs=40, verbose=0)
[data.is_async, history.history["loss"][0], history.history["loss"][-1]]
"""
    is_async, first, last = page.run(START + code)
    assert is_async
    assert last < 0.01 * first


def test_files_of_a_visitor(python_page: PythonPage):
    code = """
text = "a,b\\n" + "1,ä\\n" * 100_000
file = blob(text.encode(), "table.csv")
table = wt.data.csv(file)
names = await table.column_names_async()
count = 0
async for row in table:
    count += 1
lines = await wt.data.TextLineDataset([blob(b"x\\ny"), blob(b"z")]).to_list_async()
source = wt.data.FileDataSource(file, offset=4 + 5 * 99_999)
rest = await wt.data.TextLineDataset(source).to_list_async()
[names, count, row, lines, source.label, rest]
"""
    assert python_page.run(START + code) == [
        ["a", "b"],
        100_000,
        {"a": 1, "b": "ä"},
        ["x", "y", "z"],
        "table.csv",
        ["1,ä"],
    ]


def test_a_file_of_a_server(python_page: PythonPage):
    code = """
first = None
async for line in wt.data.TextLineDataset(wt.data.URLDataSource("/tests/blank.html")):
    first = first or line
try:
    await wt.data.csv(wt.data.URLDataSource("/no/such.csv")).to_list_async()
except OSError as error:
    missing = str(error)
try:
    await wt.data.csv("http://127.0.0.1:9/x.csv").to_list_async()
except OSError as error:
    unreachable = str(error)
[first, missing, unreachable]
"""
    first, missing, unreachable = python_page.run(START + code)
    assert first.lower() == "<!doctype html>"
    assert missing == "/no/such.csv: the server answered 404"
    assert "http://127.0.0.1:9/x.csv: the server cannot be reached" in unreachable
    python_page.take_errors()


def test_a_synchronous_loop_waits_where_python_can_be_suspended(chromium_python: PythonPage):
    code = """
wt.data.TextLineDataset(blob(b"x\\ny")).to_list()
"""
    assert chromium_python.run(START + code) == ["x", "y"]


def test_nothing_leaks(python_page: PythonPage):
    code = """
file = blob(b"a,b\\n" + b"1,2\\n" * 200_000)

async def first_rows():
    async for row in wt.data.csv(file).prefetch(2):
        break
    await asyncio.sleep(0)
    async for batch in wt.data.TextLineDataset(file).batch(50).take(2):
        pass

def counts():
    gc.collect()
    return [module._hiwire_num_refs(), module.pyproxy_alloc_map.size, wt.memory()["num_tensors"]]

async def settled():
    # Streams end in tasks of the browser's own, which a busy machine delays.
    readings = [counts()]
    while len(readings) < 100 and readings[-6:] != 6 * readings[-1:]:
        await asyncio.sleep(0.1)
        readings.append(counts())
    return readings[-1]

module.enable_pyproxy_allocation_tracing()
for _ in range(3):
    await first_rows()
before = await settled()
for _ in range(20):
    await first_rows()
[before, await settled()]
"""
    before, after = python_page.run(START + code)
    assert after == before
