"""What can be wrong with memory, pictures and values on the GPU: errors are clear, nothing leaks.

Shaders with mistakes are in `test_compilation`, lost contexts in `test_context_loss`, devices that
lack something in `test_bad_input` and `test_webgl1`.
"""

import math
from collections.abc import Iterator

import pytest

from tests_browser.python_page import PythonPage

START = """
import gc
from array import array
import js
from pyodide.code import run_js
import webtensor as wt

wt.set_backend("webgl")

def held():
    gc.collect()
    memory = wt.memory()
    names = ("num_tensors", "num_storages", "num_bytes", "num_bytes_in_gpu")
    return [*(memory[name] for name in names), memory["backends"]["webgl"]["textures"]]

def said(function):
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
"""


@pytest.fixture
def page(python_page: PythonPage) -> Iterator[PythonPage]:
    """A page of Chromium and one of Firefox, loaded anew after a test has spoilt it."""
    yield python_page
    python_page.spoil()


# -- out of memory --------------------------------------------------------------------------------

#: A device with room for a number of texels, of whatever kind. Beyond them, textures get no
#: memory, and the context says so, once, when it is asked.
ROOM = """
room = run_js('''(room) => {
  const context = WebGL2RenderingContext.prototype;
  const { bindTexture, texStorage2D, deleteTexture, getError } = context;
  const texels = new Map();
  let bound = null;
  let failed = false;
  context.bindTexture = function (target, texture) {
    bound = texture;
    bindTexture.call(this, target, texture);
  };
  context.texStorage2D = function (target, levels, format, width, height) {
    const held = [...texels.values()].reduce((sum, one) => sum + one, 0);
    if (held + width * height > room) {
      failed = true;
    } else {
      texels.set(bound, width * height);
      texStorage2D.call(this, target, levels, format, width, height);
    }
  };
  context.deleteTexture = function (texture) {
    texels.delete(texture);
    deleteTexture.call(this, texture);
  };
  context.getError = function () {
    const error = failed ? this.OUT_OF_MEMORY : getError.call(this);
    failed = false;
    return error;
  };
}''')
room(3_500_000)
"""

OUT_OF_MEMORY = """
MEBI = 1 << 20
side = 2048

def full(value):
    return wt.full((side, side), value)  # of a mebi of texels

wt.matmul(wt.ones((4, 4)), wt.ones((4, 4))).tolist()
a, b, c = full(1.0), full(2.0), full(3.0)
column, row = wt.ones((side, 256)), wt.ones((256, side))
host = wt.tensor(array("f", bytes(16 * MEBI)))
held()
before = held()
errors = [said(lambda: function()) for function in (
    lambda: a + b,
    lambda: host * 2,
    lambda: wt.sort(a),
    lambda: wt.matmul(column, row),
    lambda: wt.concat([a, b]),
    lambda: wt.grad(lambda x: wt.sum(x * x * x))(a),
)]
try:
    a + b
except wt.OutOfMemoryError as error:
    kinds = [isinstance(error, kind) for kind in (MemoryError, wt.BackendError)]
after = held()
unharmed = [float(wt.max(one)) for one in (a, b, c)] + wt.matmul(column[:4], row).tolist()[3][-2:]
del c
recycled = float(wt.max(a + b))  # in the place of what was there
del b
free = wt.memory()["num_bytes_in_gpu_free"]
other = wt.full((1500, 1500, 2), 7.0)  # of another size: what waits for reuse makes room
trimmed = wt.memory()["num_bytes_in_gpu_free"] < free
[errors, kinds, before, after, unharmed, recycled, trimmed, float(wt.max(other))]
"""


def test_out_of_memory(page: PythonPage):
    page.reload()  # textures that other tests left could be freed during this one
    errors, kinds, before, after, unharmed, recycled, trimmed, other = page.run(
        START + ROOM + OUT_OF_MEMORY
    )
    add, multiply, *_ = errors
    assert add.startswith(
        "OutOfMemoryError: add: no room for a float32 tensor of shape (2048, 2048): the GPU has no "
        "room for a texture of 256 × 4096 texels, 16,777,216 bytes: "
    )
    assert "bytes are in use by" in add
    assert multiply.startswith(
        "OutOfMemoryError: multiply: no room for an operand of 4,194,304 float32 elements: the GPU "
        "has no room for a texture"
    )
    assert all(error.count("the GPU has no room for a texture") == 1 for error in errors)
    assert kinds == [True, True]
    assert after == before
    assert unharmed == [1, 2, 3, 256, 256]
    assert recycled == 3
    assert trimmed
    assert other == 7


# -- pictures -------------------------------------------------------------------------------------

PICTURES = """
image = wt.ones((2, 3, 3)) * 0.5
image.data_sync()

def canvas(width, height):
    made = js.document.createElement("canvas")
    made.width, made.height = width, height
    return made

def gone():
    '''A canvas whose control is elsewhere.'''
    made = canvas(4, 4)
    made.transferControlToOffscreen()
    return made

def closed():
    '''A canvas whose picture was taken away.'''
    made = js.OffscreenCanvas.new(4, 4)
    made.getContext("2d")
    return made.transferToImageBitmap()

bitmap = closed()
bitmap.close()
kept = gone()
before = held()
errors = [
    said(lambda: wt.browser.from_pixels(canvas(0, 5))),
    said(lambda: wt.browser.from_pixels(bitmap)),
    said(lambda: wt.browser.draw(image, kept)),
]
after = held()
detached = canvas(1, 1)  # in no document
wt.browser.draw(image, detached)
[errors, before, after, list(wt.browser.from_pixels(detached).shape)]
"""


def test_canvases_without_pixels_or_control(page: PythonPage):
    errors, before, after, shape = page.run(START + PICTURES)
    assert "it is 0 × 5" in errors[0]
    assert "it is 0 × 0" in errors[1]
    assert errors[2] is not None
    assert after == before
    assert shape == [2, 3, 3]


GIVEN = """
import gc
import js
import webtensor as wt

canvas = js.document.createElement("canvas")
js.document.body.appendChild(canvas)
wt.webgl.set_context(canvas.getContext("webgl2"))
wt.set_backend("webgl")
canvas.width = canvas.height = 0
first = (wt.ones((3, 2)) * 2).tolist()
canvas.remove()
del canvas
gc.collect()
x = wt.ones((130, 130)) * 3
[first, float(wt.sum(wt.matmul(x, x))), list(await x.data())[-1]]
"""


def test_computing_on_the_context_of_a_canvas_of_no_size(page: PythonPage):
    page.reload()
    first, total, last = page.run(GIVEN)
    assert first == [[2, 2]] * 3
    assert total == 9 * 130**3
    assert last == 3


# -- values ---------------------------------------------------------------------------------------


def test_nan_and_infinities_are_uploaded_as_they_are(python_page: PythonPage):
    code = """
values = [math.nan, math.inf, -math.inf, -0.0, 3.0e38, 1.5, -math.nan]
x = wt.tensor(values)
on_gpu = wt.reshape(x, (7, 1)).to_device("webgl")
moved = on_gpu.storage.backend.read(on_gpu.storage.handle, on_gpu.dtype, 7).tolist()
computed = [(x + 0).tolist(), list(await wt.concat([x, x]).data())[7:], wt.isnan(x).tolist()]
before = held()
errors = [said(lambda: wt.tensor([1.0, value], dtype="int32")) for value in values[:2]]
[moved, *computed, errors, before == held(), float(wt.sum(wt.where(wt.isnan(x), 0.0, 1.0)))]
"""
    moved, added, joined, is_nan, errors, freed, others = python_page.run(
        START + "import math\n" + code
    )
    values = [math.nan, math.inf, -math.inf, -0.0, pytest.approx(3.0e38), 1.5, math.nan]
    for results in (moved, added, joined):
        assert [math.isnan(result) for result in results] == [True, *[False] * 5, True]
        assert results[1:6] == values[1:6]
    assert math.copysign(1, moved[3]) == math.copysign(1, joined[3]) == -1
    assert is_nan == [True, *[False] * 5, True]
    assert [error.partition(":")[2].partition("(")[0].strip() for error in errors] == [
        "tensor: the values do not fit dtype int32",
        "tensor: inf does not fit dtype int32",
    ]
    assert freed
    assert others == 5


def test_tensors_of_nothing_take_no_texture(python_page: PythonPage):
    code = """
before = held()[-1]
empty = wt.ones((0, 3)) * 2
row = wt.zeros((3, 0))
made = [
    empty, wt.exp(empty), wt.matmul(empty, row), wt.concat([empty, empty]), wt.sum(empty, 1),
    wt.sort(empty), wt.conv2d(wt.zeros((0, 5, 5, 1)), wt.zeros((3, 3, 1, 2)), 1, "same"),
    wt.grad(lambda x: wt.sum(wt.exp(x)))(empty), wt.gather(empty, wt.zeros((0,), "int32")),
]
shapes = [list(one.shape) for one in made]
read = [list(await one.data()) for one in made]
after = held()[-1]
product, total = wt.matmul(row, empty).tolist(), wt.sum(empty).tolist()
mean = wt.mean(empty, 0).tolist()
[shapes, read, after - before, product, total, mean, said(lambda: wt.max(empty, 0))]
"""
    shapes, read, textures, product, total, mean, refused = python_page.run(START + code)
    assert shapes == [
        *([0, 3], [0, 3], [0, 0], [0, 3], [0]),
        *([0, 3], [0, 5, 5, 2], [0, 3], [0, 3]),
    ]
    assert read == [[]] * len(shapes)
    assert textures <= 1  # a constant that the library keeps
    assert product == [[0, 0, 0]] * 3
    assert total == 0
    assert all(map(math.isnan, mean))
    assert "no elements to reduce" in refused
