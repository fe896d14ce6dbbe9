"""Ready-made models on what a page shows."""

import pytest

from tests_browser.python_page import PythonPage

#: A canvas of 2 × 3 pixels, other objects with the same pixels, and a model whose output they are.
MAKE = """
import json

import js
import webtensor as wt
from webtensor.vision.images import video_time

wt.set_backend(backend)
EXPECTED = [[[10, 20, 30], [40, 50, 60]], [[70, 80, 90], [1, 2, 3]], [[255, 0, 128], [0, 255, 64]]]
flat = bytes(number for row in EXPECTED for pixel in row for number in (*pixel, 255))
data = js.Uint8ClampedArray.new(len(flat))
data.assign(flat)
image_data = js.ImageData.new(data, 2, 3)
canvas = js.document.createElement("canvas")
canvas.width, canvas.height = 2, 3
canvas.getContext("2d").putImageData(image_data, 0, 0)
image = js.Image.new()
image.src = canvas.toDataURL()
sources = {"canvas": canvas, "image data": image_data, "image": image}
sources["bitmap"] = await js.createImageBitmap(image_data)

shape = {"dim": [{"size": size} for size in (1, 3, 2, 3)]}
x = {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": 1}, "shape": {"shape": shape}}}
y = {"name": "y", "op": "Relu", "input": ["x"], "attr": {"T": {"type": 1}}}
model_json = {"modelTopology": {"node": [x, y]}, "weightsManifest": []}
files = {"model.json": json.dumps(model_json).encode()}
"""


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
@pytest.mark.parametrize("source", ["canvas", "image data", "image", "bitmap"])
def test_what_a_page_shows_is_read(chromium_python: PythonPage, source: str, backend: str):
    program = """
pixels, size = await wt.vision.read_image_async(sources[source])
assert await pixels.array() == EXPECTED
tuple(size)
"""
    assert chromium_python.run(MAKE + program, source=source, backend=backend) == [3, 2]


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_models_look_at_elements(chromium_python: PythonPage, backend: str):
    program = """
extractor = await wt.vision.FeatureExtractor.load_async(files, node="y", pooling=None)
features = await extractor.extract_async(image)
levels = [[[(2 * level / 255 - 1) for level in pixel] for pixel in row] for row in EXPECTED]
expected = wt.relu(wt.tensor(levels))
difference = await wt.max(wt.abs(features - expected)).data()
classifier = wt.vision.KNNClassifier()
classifier.add_example(features, "this")
classifier.add_example(wt.ones((3, 2, 3)), "other")
prediction = await classifier.predict_class_async(features, k=1)
[difference[0], prediction.label]
"""
    difference, label = chromium_python.run(MAKE + program, backend=backend)
    assert difference < 1e-5
    assert label == "this"


def test_videos_tell_their_time(chromium_python: PythonPage):
    program = """
video = js.document.createElement("video")
[video_time(video), video_time(canvas), video_time(wt.zeros((2, 2)))]
"""
    assert chromium_python.run(MAKE + program, backend="wasm") == [0, None, None]
