"""The ``light_*`` networks of the package ``onnx``, whose weights are made by ConstantOfShape.

The expected outputs beside them are those of equal weights. Networks with random weights are
compared with the package's own evaluator, as far as that is quick; ``tests_browser.onnx_models``
compares more with onnxruntime-web. Most are a part of ``make test-models``.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

import webtensor as wt
from tests_py.onnx.networks import FOLDER, light
from webtensor.formats.onnx import read_onnx_tensor
from webtensor.onnx.stored_constants import constant_of

IS_WHOLE = "WEBTENSOR_ALL_ONNX" in os.environ
PATHS = sorted(FOLDER.glob("light_*.onnx" if IS_WHOLE else "light_squeezenet.onnx"))


def image() -> Any:
    values = np.random.default_rng(1).standard_normal((1, 3, 224, 224))
    return wt.tensor(values.astype(np.float32))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_light_models_with_equal_weights(path: Path) -> None:
    stored = path.with_name(f"{path.stem}_output_0.pb")
    outputs: Any = constant_of(read_onnx_tensor(stored.read_bytes(), stored.name), stored.name)
    wt.set_backend("wasm")
    model: Any = wt.load_onnx(path)
    name = model.input_names[0]
    shape = model.inputs[0].shape
    x = wt.reshape(wt.arange(3 * 224 * 224, dtype="float32") / (3 * 224 * 224), shape)
    for _ in range(2):
        result = model.predict({name: x})
        np.testing.assert_allclose(result.numpy(), outputs.numpy(), atol=1e-5)
    model.dispose()


@pytest.mark.parametrize("backend", ["numpy", "wasm"] if IS_WHOLE else ["wasm"])
@pytest.mark.parametrize("name", ["squeezenet", "shufflenet"] if IS_WHOLE else ["squeezenet"])
def test_light_models_with_random_weights(name: str, backend: str) -> None:
    wt.set_backend(backend)
    proto = light(name)
    model: Any = wt.load_onnx(bytes(proto.SerializeToString()))
    x = image()
    expected: Any
    (expected,) = ReferenceEvaluator(proto).run(None, {model.input_names[0]: x.numpy()})
    for _ in range(2):
        result = model.predict({model.input_names[0]: x}).numpy()
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_layouts_change_only_at_the_ends() -> None:
    wt.set_backend("wasm")
    model: Any = wt.load_onnx(FOLDER / "light_squeezenet.onnx")
    x = image()
    model.predict({model.input_names[0]: x})
    profile = wt.profile(lambda: model.predict({model.input_names[0]: x}))
    kernels = Counter(record.name for record in profile.kernels)
    assert kernels["fused_conv2d"] == 26
    assert kernels["permute_dims"] <= 2
    assert sum(kernels.values()) < 50
