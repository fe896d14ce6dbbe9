"""The library in a page where everything that Python still allocates lies above 2 GiB.

There addresses are negative as signed integers, and many of Pyodide's functions copy other bytes
(see `webtensor.transfer`), those that return a test's answer among them.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests_browser.python_page import PlaywrightPythonPage

#: What Python holds in the page, with what the browser takes beside it.
NEEDED = 4 << 30

#: Backends start on both sides of 2 GiB: `wasm` before, `webgl` after.
GROW = """
import sys

import webtensor as wt

wt.set_backend("wasm")
(wt.tensor([1.0, 2.0]) * 2.0).tolist()
sys.modules["held"] = [bytearray(100 << 20) for _ in range(22)]  # names end with their run
"""

#: What has become free below is taken before each test.
START = """
import json
import sys
from array import array
from traceback import format_exc

import js
import webtensor as wt
from webtensor.transfer import javascript_bytes, javascript_text, python_bytes

for power in range(20, 3, -1):
    while (block := array("b", bytes(1 << power))).buffer_info()[0] < 1 << 31:
        sys.modules["held"].append(block)
wt.set_backend(backend)
floats = array("f", [number % 7 for number in range(100_000)])
"""

ANSWER = """
try:
    answer = await work()
except BaseException:
    answer = format_exc()
js.answer = javascript_text(json.dumps(answer))
0
"""


def free_memory() -> int:
    """Bytes that the machine has free, or more than enough where it does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 1 << 40
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def upper_page(request: pytest.FixtureRequest, site_url: str) -> Iterator[PlaywrightPythonPage]:
    """A page of its own, which gives its memory back when it is closed."""
    if free_memory() < NEEDED:
        pytest.skip(f"Python in the page needs {NEEDED >> 30} GiB of free memory")
    browser: Browser = request.getfixturevalue(request.param)
    page = PlaywrightPythonPage(request.param, site_url, browser.new_page())
    page.run(GROW)
    yield page
    page.page.close()


@pytest.fixture(params=["wasm", "webgl"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend of a page."""
    name: str = request.param
    return name


def answer_of(page: PlaywrightPythonPage, work: str, **values: Any) -> Any:
    """Run the coroutine function `work` in the page, and return what it returns."""
    page.run(START + work + ANSWER, **values)
    answer = json.loads(page.evaluate("String(answer)"))
    assert not isinstance(answer, str), answer
    assert page.take_errors() == []
    return answer


def test_operations_and_reads(upper_page: PlaywrightPythonPage, backend: str) -> None:
    work = """
async def work():
    x, y = wt.tensor([[1.0, 2.0], [3.0, 4.0]]), wt.tensor(floats)
    matrix = wt.reshape(y[:90_000], (300, 300))
    doubled = y * 2.0
    return {
        "short": (x * 2.0 + 1.0).tolist(),
        "product": wt.matmul(matrix, matrix)[7, 11:14].tolist(),
        "read": list(doubled.data_sync()) == [2 * number for number in floats],
        "awaited": list(await wt.sqrt(doubled * doubled).data()) == [2 * n for n in floats],
        "int32": (wt.tensor(array("i", range(5000))) + 1).tolist() == list(range(1, 5001)),
        "bool": wt.greater(y, 5.0).tolist() == [number > 5 for number in floats],
        "sorted": wt.sort(y)[-3:].tolist(),
        "picked": wt.gather(y, wt.tensor([6, 99_999, 0])).tolist(),
        "sum": float(wt.sum(y)),
        "gradient": wt.grad(lambda z: wt.sum(z * z))(x).tolist(),
    }
"""
    floats = [number % 7 for number in range(100_000)]
    assert answer_of(upper_page, work, backend=backend) == {
        "short": [[3, 5], [7, 9]],
        "product": [
            sum(floats[7 * 300 + k] * floats[k * 300 + column] for k in range(300))
            for column in (11, 12, 13)
        ],
        "read": True,
        "awaited": True,
        "int32": True,
        "bool": True,
        "sorted": [6, 6, 6],
        "picked": [6, 99_999 % 7, 0],
        "sum": sum(floats),
        "gradient": [[2, 4], [6, 8]],
    }


def test_uploads_of_every_kind_of_buffer(upper_page: PlaywrightPythonPage, backend: str) -> None:
    work = """
async def work():
    raw = floats.tobytes()
    buffers = {
        "array": floats,
        "part of an array": memoryview(floats)[:],
        "bytes": memoryview(raw).cast("f"),
        "bytearray": memoryview(bytearray(raw)).cast("f"),
        "list": list(floats),
    }
    expected = [number + 1 for number in floats[1:]]
    return {
        name: (wt.tensor(buffer)[1:] + 1.0).tolist() == expected for name, buffer in buffers.items()
    }
"""
    answer = answer_of(upper_page, work, backend=backend)
    assert len(answer) == 5
    assert all(answer.values()), answer


def test_random_numbers_are_those_of_any_memory(
    upper_page: PlaywrightPythonPage, chromium_python: PlaywrightPythonPage, backend: str
) -> None:
    draws = "[wt.random_uniform((1000,), seed=5).tolist(), wt.random_normal((9,), seed=6).tolist()]"
    below = chromium_python.run(f"import webtensor as wt; wt.set_backend('wasm'); {draws}")
    work = f"async def work():\n    return {draws}\n"
    uniform, normal = answer_of(upper_page, work, backend=backend)
    assert uniform == below[0]
    assert normal == pytest.approx(below[1], rel=1e-5, abs=1e-6)


def test_pixels(upper_page: PlaywrightPythonPage, backend: str) -> None:
    work = """
async def work():
    width, height = 60, 50
    rgba = bytes(number % 251 if number % 4 < 3 else 255 for number in range(4 * width * height))
    clamped = js.Uint8ClampedArray.new(javascript_bytes(rgba).buffer)
    picture = js.ImageData.new(clamped, width, height)
    canvas = js.OffscreenCanvas.new(width, height)
    canvas.getContext("2d").putImageData(picture, 0, 0)
    drawn = js.OffscreenCanvas.new(1, 1)
    wt.browser.draw(wt.browser.from_pixels(canvas, 4), drawn)
    shown = drawn.getContext("2d").getImageData(0, 0, width, height).data
    put = js.OffscreenCanvas.new(1, 1)
    returned = await wt.browser.to_pixels(wt.browser.from_pixels(canvas, 4), put)
    back = put.getContext("2d").getImageData(0, 0, width, height).data
    mapping = {"data": picture.data, "width": width, "height": height}
    return {
        "ImageData": list(wt.browser.from_pixels(picture, 4).data_sync()) == list(rgba),
        "canvas": list(wt.browser.from_pixels(canvas, 4).data_sync()) == list(rgba),
        "mapping": list(wt.browser.from_pixels(mapping, 4).data_sync()) == list(rgba),
        "draw": python_bytes(shown) == rgba,
        "to_pixels": returned == rgba,
        "put": python_bytes(back) == rgba,
    }
"""
    answer = answer_of(upper_page, work, backend=backend)
    assert len(answer) == 6
    assert all(answer.values()), answer


def test_models_are_saved_and_loaded(upper_page: PlaywrightPythonPage, backend: str) -> None:
    work = """
async def work():
    from webtensor import keras

    keras.utils.set_random_seed(7)
    model = keras.Sequential([
        keras.Input((20,)),
        keras.layers.Dense(300, activation="relu", name="a_layer_with_a_rather_long_name"),
        keras.layers.Dense(2),
    ])
    x = wt.reshape(wt.tensor(floats[:200]), (10, 20))
    expected = model.predict(x, verbose=0).tolist()
    same = lambda other: other.predict(x, verbose=0).tolist() == expected
    answer = {}
    for name in ("model.keras", "model.h5"):
        model.save(f"/tmp/{name}")
        answer[name] = same(keras.saving.load_model(f"/tmp/{name}"))
    model.save_weights("/tmp/model.weights.h5")
    other = keras.models.clone_model(model)
    other.load_weights("/tmp/model.weights.h5")
    answer["weights"] = same(other)
    place = "indexeddb://" + "a-name-of-more-than-sixty-four-characters" * 2
    await keras.saving.save_layers_model_async(model, place)
    answer["indexeddb"] = same(await keras.saving.load_layers_model_async(place))
    await wt.io.remove_model_async(place)
    answer["stored"] = [*await wt.io.list_models_async()]
    files = keras.saving.layers_model_files(model, quantization={"float16": "*/bias"})
    blobs = {
        name: js.URL.createObjectURL(js.Blob.new(js.Array.of(javascript_bytes(data))))
        for name, data in files.items()
    }
    handler = wt.io.http(blobs["model.json"], weight_url_converter=blobs.__getitem__)
    answer["server"] = same(await keras.saving.load_layers_model_async(handler))
    storage = wt.io.browser_local_storage("a-name-of-more-than-sixty-four-characters" * 2)
    await keras.saving.save_layers_model_async(model, storage)
    answer["local storage"] = same(await keras.saving.load_layers_model_async(storage))
    js.localStorage.clear()
    return answer
"""
    assert answer_of(upper_page, work, backend=backend) == {
        "model.keras": True,
        "model.h5": True,
        "weights": True,
        "indexeddb": True,
        "stored": [],
        "server": True,
        "local storage": True,
    }


def test_text_and_files(upper_page: PlaywrightPythonPage, site_url: str, backend: str) -> None:
    work = """
async def work():
    from webtensor.io.fetching import fetch_bytes

    texts = wt.tensor(["a", "b" * 500, "ü" * 80])
    sizes = (1, 63, 64, 1000, 70_000)
    path = f"a/../{'x' * 60}/../tests/blank.html"
    return {
        "tensor": texts.tolist() == ["a", "b" * 500, "ü" * 80],
        "lengths": [js.encodeURI(javascript_text("c" * size)) == "c" * size for size in sizes],
        "bytes": [python_bytes(javascript_bytes(b"bytes" * n)) == b"bytes" * n for n in sizes],
        "words": python_bytes(js.Uint32Array.new(javascript_bytes(b"12345678").buffer)).decode(),
        "fetched": (await fetch_bytes(f"{base}/{path}"))[:15].decode(),
    }
"""
    assert answer_of(upper_page, work, backend=backend, base=site_url) == {
        "tensor": True,
        "lengths": [True] * 5,
        "bytes": [True] * 5,
        "words": "12345678",
        "fetched": "<!doctype html>",
    }


def test_kernels_in_the_upper_half_of_their_memory(upper_page: PlaywrightPythonPage) -> None:
    """Below are blocks that nobody writes to, which cost the machine no memory."""
    work = """
async def work():
    memory = wt.backend()
    memory.threads.close()  # so that stacks lie above, too
    blocks = []
    for power in (30, *range(23, 5, -1)):
        while (block := memory.allocate(1 << power)) < 1 << 31:
            blocks.append(block)
        memory.release(block)
    memory.pool.trim()
    y = wt.tensor(floats)
    matrix = wt.reshape(y[:90_000], (300, 300))
    doubled = y * 2.0
    ones = wt.ones((300, 300))
    answer = {
        "upper": min(one.storage.handle for one in (y, matrix, doubled, ones)) >= 1 << 31,
        "read": list(doubled.data_sync()) == [2 * number for number in floats],
        "product": float(wt.sum(wt.matmul(ones, ones))),
        "threads": memory.threads._helpers is not None,
        "stacks": all(stack >= 1 << 31 for stack in memory.threads._stacks),
        "conv2d": wt.conv2d(wt.reshape(ones, (1, 300, 300, 1)), wt.ones((3, 3, 1, 9)), 1, "valid")
        .data_sync().tolist() == [9.0] * (298 * 298 * 9),
        "sorted": wt.sort(y)[-3:].tolist(),
        "picked": wt.gather(y, wt.tensor([6, 99_999, 0])).tolist(),
        "sum": float(wt.sum(y)),
        "mean": abs(float(wt.mean(wt.random_uniform((10_000,), seed=4))) - 0.5) < 0.02,
        "bool": wt.any(wt.greater(y, 6.0)).tolist(),
    }
    memory.threads.close()
    for block in blocks:
        memory.release(block)
    return answer
"""
    assert answer_of(upper_page, work, backend="wasm") == {
        "upper": True,
        "read": True,
        "product": 300.0**3,
        "threads": True,
        "stacks": True,
        "conv2d": True,
        "sorted": [6, 6, 6],
        "picked": [6, 99_999 % 7, 0],
        "sum": sum(number % 7 for number in range(100_000)),
        "mean": True,
        "bool": False,
    }
