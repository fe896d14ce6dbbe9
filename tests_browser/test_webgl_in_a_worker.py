"""The whole library with WebGL inside a worker, on an OffscreenCanvas: no document, no frames."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page

#: The page makes what is given to the worker, and looks at its canvas once the worker has drawn.
RUN = """async ([source, wanted]) => {
  const [width, height] = [7, 5];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  for (let i = 0; i < width * height; i++) {
    context.fillStyle = `rgb(${i * 7} ${255 - i * 3} ${(i * 50) % 256})`;
    context.fillRect(i % width, Math.floor(i / width), 1, 1);
  }
  const pixels = context.getImageData(0, 0, width, height).data;
  const shown = document.body.appendChild(document.createElement("canvas"));
  const given = { pixels };
  const transferred = [];
  if (wanted.includes("bitmap")) {
    given.bitmap = await createImageBitmap(canvas);
    transferred.push(given.bitmap);
  }
  if (wanted.includes("canvas")) {
    given.canvas = shown.transferControlToOffscreen();
    transferred.push(given.canvas);
  }
  const worker = new Worker("/tests/python_worker.js", { type: "module" });
  const answer = await new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage({ source, given }, transferred);
  });
  const seen = () => {
    const copy = new OffscreenCanvas(width, height).getContext("2d");
    copy.drawImage(shown, 0, 0);
    return String(copy.getImageData(0, 0, width, height).data);
  };
  const until = performance.now() + 120_000;
  while (wanted.includes("shown") && seen() !== String(pixels) && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  worker.terminate();
  return [answer, seen() === String(pixels)];
}"""

START = """
import json
import js
import webtensor as wt

def no_frames(callback):
    raise AssertionError("nothing but next_frame waits for frames")

wt.set_backend("webgl")
gl = wt.backend().gl
"""

COMPUTE = """
js.requestAnimationFrame = no_frames
def results():
    x = wt.random_normal((2, 16, 16, 3), seed=1)
    filter = wt.random_normal((3, 3, 3, 8), seed=2)
    dy = wt.grad(lambda one: wt.sum(wt.relu(wt.conv2d(one, filter, 1, "same"))))(x)
    return wt.sum(dy), wt.max(wt.matmul(x[0, :, :, 0], x[1, :, :, 1])), wt.sort(x[0, 0, 0])

async def read(tensors):
    return [n for one in tensors for n in (await one.flatten().data()).tolist()]

on_gpu = results()
where = {one.storage.backend.name for one in on_gpu}
awaited = await read(on_gpu)
again = [n for one in results() for n in one.flatten().tolist()]
await wt.warm_up(lambda x: wt.exp(x) * 3, (4, 4))
wt.set_backend("wasm")
expected = await read(results())
json.dumps([
    hasattr(js, "document"), str(gl.canvas), list(where), awaited == again,
    max(abs(p - q) for p, q in zip(awaited, expected, strict=True)),
])
"""

BITMAP = """
x = wt.browser.from_pixels(js.given.bitmap, 4)
y = await wt.browser.from_pixels_async(js.given.bitmap, 4, as_float=True)
where = x.storage.backend.name, y.storage.backend.name
levels = list(js.given.pixels.to_bytes())
worst = max(abs(p * 255 - q) for p, q in zip((await y.flatten().data()).tolist(), levels))
json.dumps([where, x.shape, (await x.flatten().data()).tolist() == levels, worst])
"""

SHOW = """
x = wt.tensor(list(js.given.pixels.to_bytes()), shape=(5, 7, 4))
own = js.OffscreenCanvas.new(1, 1)
for canvas in (own, js.given.canvas):
    for opacity in (0.5, 1.0):
        wt.browser.draw(x[:, :, :3] / 255, canvas, {"image_options": {"alpha": opacity}})
json.dumps(wt.browser.from_pixels(own, 4).tolist() == x.tolist())
"""


@pytest.fixture(params=["chromium", "firefox"])
def page(request: pytest.FixtureRequest, site_url: str) -> Page:
    """A page without Python."""
    opened: Page = request.getfixturevalue(f"{request.param}_page")
    opened.goto(f"{site_url}/tests/blank.html")
    return opened


def run(page: Page, source: str, *wanted: str) -> tuple[Any, bool]:
    """Run Python in a worker; its value, and whether the page shows what the worker drew."""
    answer, is_shown = page.evaluate(RUN, [START + source, list(wanted)])
    assert "error" not in answer, answer["error"]
    return json.loads(answer["value"]), is_shown


def test_results_and_reads(page: Page):
    has_document, canvas, where, is_same, worst = run(page, COMPUTE)[0]
    assert not has_document
    assert canvas == "[object OffscreenCanvas]"
    assert where == ["webgl"]
    assert is_same
    assert worst < 1e-3


def test_bitmaps_that_were_transferred(page: Page):
    where, shape, is_same, worst = run(page, BITMAP, "bitmap")[0]
    assert where == ["webgl", "webgl"]
    assert shape == [5, 7, 4]
    assert is_same
    assert worst < 1e-4


def test_drawing_on_canvases(page: Page, request: pytest.FixtureRequest):
    # Firefox does not give the page what was drawn on its canvas to copy.
    shown = [] if "firefox" in request.node.name else ["shown"]
    is_drawn, is_shown = run(page, SHOW, "canvas", *shown)
    assert is_drawn
    assert is_shown or not shown


def test_frames_and_steps_of_training(page: Page):
    source = """
weights = wt.Variable(wt.zeros((3,)))
optimizer = wt.optimizers.SGD(0.1)
before = None
for step in range(30):
    loss = optimizer.minimize(lambda: wt.sum((weights.value - wt.tensor([1.0, 2.0, 3.0])) ** 2))
    await loss.data()
    await wt.next_frame()
    if step == 2:
        before = wt.memory()["backends"]["webgl"]
json.dumps([weights.tolist(), before == wt.memory()["backends"]["webgl"]])
"""
    weights, is_level = run(page, source)[0]
    assert weights == pytest.approx([1, 2, 3], abs=0.01)
    assert is_level
