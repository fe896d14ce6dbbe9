"""The ``light_*`` networks of the package ``onnx``, whose weights are made by ConstantOfShape.

The expected outputs beside them are those of equal weights. Networks with random weights are
compared with the package's own evaluator, as far as that is quick.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import webtensor as wt
from webtensor.formats.onnx import read_onnx_tensor
from webtensor.onnx.stored_constants import constant_of

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
PATHS = sorted(FOLDER.glob("light_*.onnx"))


def image() -> Any:
    values = np.random.default_rng(1).standard_normal((1, 3, 224, 224))
    return wt.tensor(values.astype(np.float32))


@pytest.mark.parametrize("backend", ["numpy", "wasm"])
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_light_models_with_equal_weights(path: Path, backend: str) -> None:
    stored = path.with_name(f"{path.stem}_output_0.pb")
    outputs: Any = constant_of(read_onnx_tensor(stored.read_bytes(), stored.name), stored.name)
    wt.set_backend(backend)
    model: Any = wt.load_onnx(path)
    name = model.input_names[0]
    shape = model.inputs[0].shape
    x = wt.reshape(wt.arange(3 * 224 * 224, dtype="float32") / (3 * 224 * 224), shape)
    result = model.predict({name: x})
    model.dispose()
    # Equal weights make equal logits, which here are so large that rounding tells them apart.
    is_rounded = backend == "numpy" and "squeezenet" in path.name
    np.testing.assert_allclose(result.numpy(), outputs.numpy(), atol=5e-3 if is_rounded else 1e-5)


def randomized(path: Path) -> ModelProto:
    """Return a network with random weights, whose output is what softmax would be computed of."""
    model = onnx.load(path)
    random = np.random.default_rng(0)
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape":
            shape = tuple(map(int, shapes[node.input[0]]))
            weights = random.uniform(0.5, 1.5, shape)
            if len(shape) > 1:
                weights = random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
            array = weights.astype(np.float32)
            model.graph.initializer.append(numpy_helper.from_array(array, node.output[0]))
            continue
        if node.op_type == "BatchNormalization":
            # The evaluator mixes the mean of the batch with a share of 1 - momentum.
            node.attribute.append(helper.make_attribute("momentum", 1.0))
        if node.op_type != "Softmax":
            nodes.append(node)
    del model.graph.node[:], model.graph.output[:]
    model.graph.node.extend(nodes)
    model.graph.output.append(helper.make_tensor_value_info(nodes[-1].output[0], 1, None))
    return model


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet"])
def test_light_models_with_random_weights(name: str) -> None:
    wt.set_backend("numpy")
    proto = randomized(FOLDER / f"light_{name}.onnx")
    model: Any = wt.load_onnx(bytes(proto.SerializeToString()))
    x = image()
    result = model.predict({model.input_names[0]: x}).numpy()
    expected: Any
    (expected,) = ReferenceEvaluator(proto).run(None, {model.input_names[0]: x.numpy()})
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["densenet121", "inception_v2", "resnet50"])
def test_backends_agree_on_random_weights(name: str) -> None:
    data = bytes(randomized(FOLDER / f"light_{name}.onnx").SerializeToString())
    results = []
    for backend in ("numpy", "wasm"):
        wt.set_backend(backend)
        model: Any = wt.load_onnx(data)
        results.append(model.predict({model.input_names[0]: image()}).numpy())
        model.dispose()
    expected, result = results
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-5 * np.abs(expected).max())


def test_layouts_change_only_at_the_ends() -> None:
    wt.set_backend("numpy")
    model: Any = wt.load_onnx(FOLDER / "light_squeezenet.onnx")
    x = image()
    model.predict({model.input_names[0]: x})
    profile = wt.profile(lambda: model.predict({model.input_names[0]: x}))
    kernels = Counter(record.name for record in profile.kernels)
    assert kernels["fused_conv2d"] == 26
    assert kernels["permute_dims"] <= 2
    assert sum(kernels.values()) < 50
