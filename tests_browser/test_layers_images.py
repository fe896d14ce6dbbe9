"""Layers that vary images in pages: on the GPU, they do what they do elsewhere, without NumPy."""

import pytest

from tests_browser.python_page import PythonPage
from tests_py.keras.image_cases import LAYERS

RUN = """
import sys
import webtensor as wt
from webtensor import keras

values = [(place * 7919 % 256) * high / 255 for place in range(2 * 6 * 8 * 3)]
found = []
for name, config in cases:
    config = {key: tuple(one) if isinstance(one, list) else one for key, one in config.items()}
    layer = getattr(keras.layers, name)(**config)
    wt.set_backend("wasm")
    x = wt.tensor(values, (2, 6, 8, 3))
    drawn = layer.get_random_transformation(x, seed=5)
    results = []
    for backend in ("wasm", "webgl"):
        wt.set_backend(backend)
        images = wt.tensor(values, (2, 6, 8, 3)) + 0.0
        results.append(layer.transform_images(images, drawn).flatten().tolist())
    found.append(max(abs(one - two) for one, two in zip(*results)) / high)
["numpy" in sys.modules, found]
"""


@pytest.mark.parametrize("high", [255, 1])
def test_images_change_alike_on_the_gpu(chromium_python: PythonPage, high: int) -> None:
    cases = [
        (name, config)
        for name, config, bounds in [*LAYERS, ("RandomElasticTransform", {}, (0, 255))]
        if bounds[1] == high
    ]
    has_numpy, errors = chromium_python.run(RUN, cases=cases, high=high)
    assert not has_numpy
    wrong = [(case, error) for case, error in zip(cases, errors, strict=True) if error > 1e-4]
    assert not wrong
