"""Pixels of a page into tensors and back: every source, every number of channels, canvases."""

import pytest

from tests_browser.python_page import PythonPage

#: A canvas of 2 × 3 opaque pixels, and what `from_pixels` must give for it.
MAKE = """
import js
import webtensor as wt
from pyodide.ffi import to_js

wt.set_backend(backend)
EXPECTED = [[[10, 20, 30, 255], [40, 50, 60, 255]], [[70, 80, 90, 255], [1, 2, 3, 255]],
            [[255, 0, 128, 255], [0, 255, 64, 255]]]
flat = bytes(number for row in EXPECTED for pixel in row for number in pixel)

def image_data():
    data = js.Uint8ClampedArray.new(len(flat))
    data.assign(flat)
    return js.ImageData.new(data, 2, 3)

def canvas():
    made = js.document.createElement("canvas")
    made.width, made.height = 2, 3
    made.getContext("2d").putImageData(image_data(), 0, 0)
    return made

def offscreen_canvas():
    made = js.OffscreenCanvas.new(2, 3)
    made.getContext("2d").putImageData(image_data(), 0, 0)
    return made

async def image_bitmap():
    return await js.createImageBitmap(image_data())

def image():
    made = js.Image.new()
    made.src = canvas().toDataURL()
    return made

def bitmap_canvas():
    made = js.OffscreenCanvas.new(2, 3)
    made.getContext("bitmaprenderer").transferFromImageBitmap(offscreen_canvas().transferToImageBitmap())
    return made
"""

SOURCES = {
    "ImageData": "image_data()",
    "canvas": "canvas()",
    "OffscreenCanvas": "offscreen_canvas()",
    "ImageBitmap": "await image_bitmap()",
    "image": "image()",
    "canvas with another context": "bitmap_canvas()",
    "typed array in a mapping": "{'data': image_data().data, 'width': 2, 'height': 3}",
    "object with data": "to_js({'data': to_js(flat), 'width': 2, 'height': 3}, "
    "dict_converter=js.Object.fromEntries)",
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_from_pixels(python_page: PythonPage, backend: str, source: str, channels: int):
    code = f"""
source = {SOURCES[source]}
x = await wt.browser.from_pixels_async(source, channels)
again = wt.browser.from_pixels(source, channels)
await x.array() == await again.array() == [[p[:channels] for p in row] for row in EXPECTED]
"""
    assert python_page.run(MAKE + code, backend=backend, channels=channels)


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_from_pixels_leaves_nothing_behind(python_page: PythonPage, backend: str):
    code = """
source = canvas()
before = wt.memory()
for _ in range(5):
    x = wt.browser.from_pixels(source)
    y = (x + 1).data_sync()
    del x, y
after = wt.memory()
[after[name] - before[name] for name in ("num_tensors", "num_storages", "num_bytes")]
"""
    assert python_page.run(MAKE + code, backend=backend) == [0, 0, 0]


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
@pytest.mark.parametrize(
    "canvas", ["js.document.createElement('canvas')", "js.OffscreenCanvas.new(9, 9)"]
)
def test_to_pixels_puts_them_on_a_canvas(python_page: PythonPage, backend: str, canvas: str):
    code = f"""
target = {canvas}
rgba = await wt.browser.to_pixels(wt.tensor(EXPECTED), target)
read = wt.browser.from_pixels(target, 4)
[rgba == flat, target.width, target.height, await read.array() == EXPECTED]
"""
    assert python_page.run(MAKE + code, backend=backend) == [True, 2, 3, True]


def test_to_pixels_of_fractions_computed_on_the_gpu(python_page: PythonPage):
    code = """
x = wt.tensor([[0.0, 0.25], [0.5, 1.0]]) * 1.0
list(await wt.browser.to_pixels(x))
"""
    greys = [0, 64, 128, 255]
    expected = [number for grey in greys for number in (grey, grey, grey, 255)]
    assert python_page.run(MAKE + code, backend="webgl") == expected


def test_draw_sizes_the_canvas_and_sets_the_opacity(python_page: PythonPage):
    code = """
target = js.document.createElement("canvas")
colors = wt.tensor([[p[:3] for p in row] for row in EXPECTED])
options = {"context_options": {"context_attributes": {"willReadFrequently": True}}}
wt.browser.draw(colors, target, options)
opaque = await wt.browser.from_pixels(target, 4).array() == EXPECTED
wt.browser.draw(colors, target, {"image_options": {"alpha": 0.0}})
clear = await wt.browser.from_pixels(target, 4).array()
[opaque, target.width, target.height, [p[3] for row in clear for p in row]]
"""
    assert python_page.run(MAKE + code, backend="webgl") == [True, 2, 3, [0] * 6]


BAD = {
    "an element that has no pixels": (
        "wt.browser.from_pixels(js.document.createElement('div'))",
        "TypeError: from_pixels: pixels must be an ImageData, a canvas",
    ),
    "an empty canvas": (
        "wt.browser.from_pixels(js.OffscreenCanvas.new(0, 3))",
        "ValueError: from_pixels: the OffscreenCanvas has no pixels (yet): it is 0 × 3",
    ),
    "an image that is not loaded": (
        "wt.browser.from_pixels(js.Image.new())",
        "ValueError: from_pixels: the HTMLImageElement has no pixels (yet)",
    ),
    "drawing on an element": (
        "wt.browser.draw([[1.0]], js.document.createElement('div'))",
        "TypeError: draw: canvas must be a canvas",
    ),
    "drawing on a canvas with another context": (
        "wt.browser.draw([[1.0]], bitmap_canvas())",
        "ValueError: draw: the canvas has a context of another type than '2d'",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_pixels(python_page: PythonPage, what: str):
    source, message = BAD[what]
    code = f"""
try:
    {source}
    said = "nothing"
except Exception as error:
    said = f"{{type(error).__name__}}: {{error}}"
said
"""
    assert python_page.run(MAKE + code, backend="wasm").startswith(message)
