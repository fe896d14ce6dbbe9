"""The WebGL backend on WebGL 1: reads, pixels, integers, what runs elsewhere, when it is used."""

from collections.abc import Iterator

import pytest

from tests_browser.python_page import UNTIL, PythonPage
from tests_browser.test_half_float import TRAINING

START = (
    UNTIL
    + """
import gc
import webtensor as wt
from js import document
wt.set_backend("webgl")
def held():
    return wt.memory()["backends"]["webgl"]
"""
)


@pytest.fixture(scope="module")
def version_1(shared_chromium_python: PythonPage) -> Iterator[None]:
    """Have Chromium's page compute on WebGL 1; load it anew afterwards."""
    with shared_chromium_python.loaded_with("?wtflags=WEBGL_VERSION:1"):
        yield


@pytest.fixture
def page(version_1: None, chromium_python: PythonPage) -> PythonPage:
    """The page, watched for errors."""
    return chromium_python


def test_flags_and_explanations_tell(page: PythonPage):
    code = """
flags = [wt.env().get("WEBGL_VERSION"), wt.env().get("WEBGL_RENDER_FLOAT32_ENABLED")]
seen = wt.webgl.explain(lambda x: wt.astype(x + 1, "bool"), wt.arange(64))
[flags, [str(draw) for draw in seen.draws], seen.glsl()]
"""
    flags, (add, cast), glsl = page.run(START + code)
    assert flags == [1, True]
    assert add.endswith("4×4 RGBA32F, 1×1 RGBA32F -> 4×4 RGBA32F")
    assert cast.endswith("4×4 RGBA32F -> 4×4 RGBA8")
    assert "gl_FragColor" in glsl
    assert "#version" not in glsl


def test_integers_are_exact_to_24_bits(page: PythonPage):
    code = """
x = wt.tensor([2**24, -(2**24), 2**24 - 1, 7, -7])
[(x - 1).tolist(), (x % 5).tolist(), (x // 3).tolist(), (x >> 1).tolist(), (-x).tolist()]
"""
    numbers = [2**24, -(2**24), 2**24 - 1, 7, -7]
    less, remainders, parts, shifted, negative = page.run(START + code)
    assert less[0] == 2**24 - 1
    assert remainders == [number % 5 for number in numbers]
    assert parts == [number // 3 for number in numbers]
    assert shifted == [number >> 1 for number in numbers]
    assert negative == [-number for number in numbers]


def test_what_needs_bits_runs_on_another_backend_and_is_counted(page: PythonPage):
    code = """
def draw():
    return [wt.random_normal((5,), seed=3), wt.random_uniform_int((5,), 0, 1000, seed=4),
            wt.bitwise_xor([12, 10], [10, 7])]
seen = wt.profile(draw)
here = [one.tolist() for one in seen.result]
wt.set_backend("wasm")
there = [one.tolist() for one in draw()]
[here, there, sorted({name for name, _, _ in seen.fallbacks})]
"""
    here, there, fallbacks = page.run(START + code)
    assert here[0] == pytest.approx(there[0], rel=1e-5)
    assert here[1:] == there[1:]
    assert fallbacks == ["binary", "random_bits", "random_uniform_int", "unary"]


def test_reads_in_flight_are_right_though_their_tensors_are_gone(page: PythonPage):
    code = """
before = held()["textures"]
async def read(number):
    x = wt.full((50, 3), number) * 2
    reading = asyncio.ensure_future(x.data())
    await asyncio.sleep(0)
    del x
    return reading
order = []
async def finish(number, reading):
    data = await reading
    order.append(number)
    return [len(data), data[0], data[149]]
readings = [await read(number) for number in range(8)]
others = [wt.full((50, 3), -1.0) * 3 for _ in range(8)]
read_all = await asyncio.gather(*(finish(n, one) for n, one in enumerate(readings)))
del others, readings
[list(map(list, read_all)), order, held()["textures"] - before, held()["pending_reads"]]
"""
    reads, order, left, pending = page.run(START + code)
    assert reads == [[150, 2 * number, 2 * number] for number in range(8)]
    assert order == list(range(8))
    assert left <= 2  # constants that the library keeps
    assert pending == 0


def test_a_cancelled_read_leaves_nothing(page: PythonPage):
    code = """
async def rest():
    await until(lambda: not held()["pending_reads"])  # what polls notices that nobody waits
    gc.collect()
    return held()["textures"]
x = wt.ones((40,)) * 3
before = await rest()
reading = asyncio.ensure_future(x.data())
await asyncio.sleep(0)
reading.cancel()
try:
    await reading
    ended = "read"
except asyncio.CancelledError:
    ended = "cancelled"
del x, reading
left = await rest()
[ended, left - before, held()["pending_reads"], wt.ones((40,)).tolist()[:2]]
"""
    ended, change, pending, after = page.run(START + code)
    assert ended == "cancelled"
    assert change == -1
    assert pending == 0
    assert after == [1, 1]


def test_pixels_come_and_go_on_the_gpu(page: PythonPage):
    code = """
canvas = document.createElement("canvas")
canvas.width, canvas.height = 5, 3
context = canvas.getContext("2d")
for number, color in enumerate(("red", "lime", "blue", "#804020")):
    context.fillStyle = color
    context.fillRect(number, 0, 1, 3)
image = wt.browser.from_pixels(canvas)
grey = wt.browser.from_pixels(canvas, 1)
shown = document.createElement("canvas")
wt.browser.draw(image, shown)
again = wt.browser.from_pixels(shown)
[image.device, image.tolist()[1], grey.tolist()[0], bool(wt.all(wt.equal(image, again)))]
"""
    device, row, grey, same = page.run(START + code)
    assert device == "webgl"
    assert row == [[255, 0, 0], [0, 255, 0], [0, 0, 255], [128, 64, 32], [0, 0, 0]]
    assert grey == [[255], [0], [0], [128], [0]]
    assert same


def test_a_network_learns(page: PythonPage):
    losses = page.run(START + TRAINING)
    assert losses[-1] < 0.05 * losses[0]


def test_tensors_whose_places_floats_do_not_count_are_elsewhere(page: PythonPage):
    code = """
size = 2**24 + 4
seen = wt.profile(lambda: wt.sum(wt.reshape(wt.ones((size,)), (4, -1)), 1) * 2)
[seen.result.tolist(), seen.result.device, wt.backend().most_elements,
 sorted({used for _, _, used in seen.fallbacks})]
"""
    total, device, most, used = page.run(START + code)
    assert total == [2**23 + 2] * 4
    assert [device, most, used] == ["webgl", 2**24, ["wasm"]]


# -- several targets of a draw ---------------------------------------------------------------------

CONTRACTIONS = """
backend = wt.backend()
capabilities = backend.capabilities
backend.capabilities = capabilities._replace(most_targets=targets)
backend.epoch = object()

def contractions():
    a, b = wt.random_normal((136, 100), seed=1), wt.random_normal((100, 132), seed=2)
    images = wt.random_normal((2, 24, 24, 16), seed=3)
    filter = wt.random_normal((3, 3, 16, 32), seed=4)
    dy = wt.random_normal((2, 24, 24, 32), seed=5)
    bias = wt.random_normal((132,), seed=6)
    convolved = wt.grads(lambda x, f: wt.sum(wt.conv2d(x, f, 1, "same") * dy))
    return [wt.matmul(a, b), wt.fused.mat_mul(a, b, bias=bias, activation="relu"),
            wt.grad(lambda a: wt.sum(wt.square(wt.matmul(a, b))))(a),
            wt.conv2d(images, filter, 1, "same"), *convolved(images, filter)]

seen = wt.webgl.explain(contractions)
written = sorted({len(draw.outputs) for draw in seen.draws})
drawn = {draw.name for draw in seen.draws if len(draw.outputs) > 1}
before = [held()["textures"], wt.memory()["num_tensors"]]
found = [one.flatten().tolist() for one in contractions()]
left = [held()["textures"], wt.memory()["num_tensors"]]
backend.capabilities, backend.epoch = capabilities, object()
wt.set_backend("wasm")
expected = [one.flatten().tolist() for one in contractions()]
worst = max(
    max(abs(p - q) for p, q in zip(ours, theirs, strict=True)) / max(map(abs, theirs))
    for ours, theirs in zip(found, expected, strict=True)
)
[capabilities.most_targets, written, sorted(drawn), worst, before == left]
"""
TILED = ["conv2d", "conv2d_filter_gradient", "conv2d_input_gradient", "matmul"]


@pytest.mark.parametrize("targets", [8, 4, 1])
def test_large_products_are_drawn_in_tiles(page: PythonPage, targets: int):
    most, written, drawn, worst, freed = page.run(START + CONTRACTIONS, targets=targets)
    assert most == 8
    assert written == sorted({1, targets})
    assert drawn == (TILED if targets > 1 else [])
    assert worst < 1e-5
    assert freed


#: A lesser device: it has the extension or not, and framebuffers are complete with a maximum of
#: textures.
LESSER = """
from pyodide.code import run_js
from webtensor.backends.webgl import create_backend

imitate = run_js('''() => {
  const context = WebGLRenderingContext.prototype;
  const { getExtension, framebufferTexture2D, checkFramebufferStatus } = context;
  return (hasExtension, complete) => {
    let attached = 0;
    context.getExtension = function (name) {
      return name === "WEBGL_draw_buffers" && !hasExtension ? null : getExtension.call(this, name);
    };
    context.framebufferTexture2D = function (target, attachment, ...rest) {
      attached = attachment - this.COLOR_ATTACHMENT0 + 1;
      framebufferTexture2D.call(this, target, attachment, ...rest);
    };
    context.checkFramebufferStatus = function (target) {
      const status = checkFramebufferStatus.call(this, target);
      return attached > complete ? this.FRAMEBUFFER_UNSUPPORTED : status;
    };
  };
}''')()
found = []
for device in devices:
    imitate(*device)
    backend = create_backend()
    found.append(backend.capabilities.most_targets)
    backend.close()
imitate(True, 8)
found
"""


def test_there_are_as_many_targets_as_the_device_completes(page: PythonPage):
    devices = {(False, 8): 1, (True, 0): 1, (True, 1): 1, (True, 5): 5, (True, 8): 8}
    assert page.run(LESSER, devices=list(devices)) == list(devices.values())


# -- which context is used -------------------------------------------------------------------------

HIDE = """
from pyodide.code import run_js
run_js('''(version, names) => {
  for (const Canvas of [OffscreenCanvas, HTMLCanvasElement]) {
    const { getContext } = Canvas.prototype;
    Canvas.prototype.getContext = function (kind, ...options) {
      return kind === version ? null : getContext.call(this, kind, ...options);
    };
  }
  for (const Context of [WebGLRenderingContext, WebGL2RenderingContext]) {
    const { getExtension } = Context.prototype;
    Context.prototype.getExtension = function (name) {
      return names.includes(name) ? null : getExtension.call(this, name);
    };
  }
}''')(hidden, ",".join(extensions))
import webtensor as wt

why = wt.unavailable_reason("webgl")
if why is None:
    wt.set_backend("webgl")
[why, why or (wt.backend().mode + (float(wt.sum(wt.ones((3, 3)) / 2)),))]
"""


@pytest.fixture
def fresh(chromium_python: PythonPage) -> Iterator[PythonPage]:
    """The page, loaded anew before and after."""
    with chromium_python.loaded_with() as page:
        yield page


@pytest.mark.parametrize(
    "hidden, extensions, mode",
    [
        ("webgl2", [], [1, False]),
        ("webgl2", ["WEBGL_color_buffer_float"], [1, True]),
        ("", ["EXT_color_buffer_float"], [2, True]),
    ],
)
def test_the_best_that_there_is_serves(
    fresh: PythonPage, hidden: str, extensions: list[str], mode: list[int]
):
    why, answers = fresh.run(HIDE, hidden=hidden, extensions=extensions)
    assert why is None
    assert answers == [*mode, 4.5]


def test_a_device_without_float_targets_is_refused(fresh: PythonPage):
    names = ["EXT_color_buffer_float", "EXT_color_buffer_half_float"]
    why, _ = fresh.run(HIDE, hidden="", extensions=names)
    assert "can render neither to float32 textures" in why
