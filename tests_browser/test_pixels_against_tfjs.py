"""Random pixels pass through our ``browser`` functions and through TensorFlow.js's alike.

Both read the same objects of one page, and draw on canvases of their own, which are compared.
"""

from random import Random
from typing import Any

import numpy as np
import pytest

from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.test_ops import BACKENDS

#: Objects with pixels, of which `window.sources` has one each.
MAKE_SOURCES = """async ([rgba, width, height]) => {
  const data = Uint8ClampedArray.from(rgba);
  const imageData = new ImageData(data, width, height);
  const painted = (canvas) => {
    [canvas.width, canvas.height] = [width, height];
    canvas.getContext("2d", { willReadFrequently: true }).putImageData(imageData, 0, 0);
    return canvas;
  };
  const canvas = painted(document.createElement("canvas"));
  const image = new Image();
  image.src = canvas.toDataURL();
  await image.decode();
  const bytes = new Uint8Array(rgba);
  window.sources = {
    "ImageData": imageData,
    canvas,
    "OffscreenCanvas": painted(new OffscreenCanvas(width, height)),
    "ImageBitmap": await createImageBitmap(canvas),
    image,
    "object with bytes": { data: bytes, width, height },
  };
}"""
SOURCES = ("ImageData", "canvas", "OffscreenCanvas", "ImageBitmap", "image", "object with bytes")

#: Our functions, and theirs.
READERS = (("from_pixels", "fromPixels"), ("from_pixels_async", "fromPixelsAsync"))
READ_THEIRS = """async ([source, channels, how]) => {
  await tf.setBackend("cpu");
  const x = await tf.browser[how](window.sources[source], channels);
  return [x.shape, x.dtype, Array.from(await x.data())];
}"""
READ_OURS = """
import js
import webtensor as wt
wt.set_backend(backend)
x = getattr(wt.browser, how)(js.sources.to_py(depth=1)[source], channels)
x = await x if how.endswith("async") else x
[list(x.shape), str(x.dtype), x.flatten().tolist()]
"""

SHOW_THEIRS = """async ([values, shape, dtype, how, options]) => {
  await tf.setBackend("cpu");
  const canvas = document.createElement("canvas");
  const image = tf.tensor(values, shape, dtype);
  const made = how === "draw" ? tf.browser.draw(image, canvas, options ?? undefined)
    : await tf.browser.toPixels(image, canvas);
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  return [made ? Array.from(made) : null, [width, height], Array.from(data)];
}"""
SHOW_OURS = """
import js
import webtensor as wt
wt.set_backend(backend)
canvas = js.document.createElement("canvas")
image = wt.tensor(values, shape=shape, dtype=dtype)
if how == "draw":
    made = wt.browser.draw(image, canvas, options and {"image_options": options["imageOptions"]})
else:
    made = list(await wt.browser.to_pixels(image, canvas))
size = canvas.width, canvas.height
[made, size, canvas.getContext("2d").getImageData(0, 0, *size).data.to_py().tolist()]
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("source", SOURCES)
def test_pixels_that_are_read(tensorflow_page: PlaywrightPythonPage, source: str, backend: str):
    random = Random(source)
    for channels in (1, 2, 3, 4):
        width, height = random.randint(1, 7), random.randint(1, 7)
        rgba = [random.randint(0, 255) for _ in range(4 * width * height)]
        tensorflow_page.page.evaluate(MAKE_SOURCES, [rgba, width, height])
        for ours, theirs in READERS:
            expected = tensorflow_page.page.evaluate(READ_THEIRS, [source, channels, theirs])
            arguments = {"backend": backend, "source": source, "channels": channels, "how": ours}
            assert tensorflow_page.run(READ_OURS, **arguments) == expected


def image(random: Random, dtype: str, shape: list[int]) -> list[float]:
    """Values whose bytes are clear: none is near the middle between two."""
    levels: list[float] = [random.randint(0, 255) for _ in range(int(np.prod(shape)))]
    if dtype == "int32":
        return levels
    return [min(max((n + random.uniform(-0.4, 0.4)) / 255, 0.0), 1.0) for n in levels]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("how", ["to_pixels", "draw"])
def test_images_that_are_shown(
    tensorflow_page: PlaywrightPythonPage, how: str, dtype: str, backend: str
):
    random = Random(f"{how} {dtype}")
    for channels in ((), (1,), (3,), (4,)):
        shape = [random.randint(1, 7), random.randint(1, 7), *channels]
        values = image(random, dtype, shape)
        choices: list[Any] = [None]
        if how == "draw":
            choices.append({"imageOptions": {"alpha": random.randint(1, 254) / 255}})
        for options in choices:
            name = {"to_pixels": "toPixels"}.get(how, how)
            expected = tensorflow_page.page.evaluate(
                SHOW_THEIRS, [values, shape, dtype, name, options]
            )
            arguments = {"values": values, "shape": shape, "dtype": dtype, "options": options}
            assert tensorflow_page.run(SHOW_OURS, backend=backend, how=how, **arguments) == expected
