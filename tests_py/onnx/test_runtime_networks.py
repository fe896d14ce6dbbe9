"""Networks that ONNX Runtime has optimized or quantized compute here what they compute there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    QuantFormat,
    quantize_dynamic,
    quantize_static as quantize_with,
)

import webtensor as wt
from tests_py.onnx import networks

_Feeds = dict[str, NDArray[Any]]
OWN = "com.microsoft"


def session_of(path: Path, optimized: Path | None = None) -> onnxruntime.InferenceSession:
    """Return a session, which may write the model that it runs."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if optimized is not None:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = str(optimized)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def own_operators(path: Path) -> set[str]:
    return {node.op_type for node in onnx.load(path).graph.node if node.domain == OWN}


def written(model: ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(model, path)
    return path


def feeds_of(path: Path, count: int = 1) -> list[_Feeds]:
    """Return random inputs of a model; sizes that it does not say are 2."""
    draw = np.random.default_rng(3)
    all_feeds = []
    for _ in range(count):
        feeds: _Feeds = {}
        for value in onnx.load(path).graph.input:
            shape = [axis.dim_value or 2 for axis in value.type.tensor_type.shape.dim]
            feeds[value.name] = draw.standard_normal(shape).astype(np.float32)
        all_feeds.append(feeds)
    return all_feeds


def relative_difference(path: Path, session: onnxruntime.InferenceSession) -> float:
    """Return how much the first output differs, relative to its maximum magnitude."""
    (feeds,) = feeds_of(path)
    expected = session.run(None, feeds)[0]
    loaded = wt.load_onnx(path)
    difference = 0.0
    for _ in range(2):  # the second run computes with fewer nodes
        tensors = {name: wt.tensor(value) for name, value in feeds.items()}
        (result,) = loaded.execute(tensors, loaded.output_names[:1])
        difference = max(difference, float(np.abs(result.numpy() - expected).max()))
    return difference / float(np.abs(expected).max())


class _Calibration:
    """What ONNX Runtime takes the ranges of values from."""

    def __init__(self, path: Path) -> None:
        self._feeds = iter(feeds_of(path, 4))

    def get_next(self) -> _Feeds | None:
        return next(self._feeds, None)


def recurrent() -> ModelProto:
    """Return an LSTM of both directions, and a dense layer."""
    draw = np.random.default_rng(0)
    weights = {
        name: numpy_helper.from_array((draw.standard_normal(shape) * 0.3).astype(np.float32), name)
        for name, shape in (
            *(("w", (2, 32, 6)), ("r", (2, 32, 8)), ("b", (2, 64))),
            *(("m", (8, 5)), ("c", (5,))),
        )
    }
    nodes = [
        helper.make_node(
            "LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=8, direction="bidirectional"
        ),
        helper.make_node("MatMul", ["y", "m"], ["product"]),
        helper.make_node("Add", ["product", "c"], ["result"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [7, 2, 6])
    result = helper.make_tensor_value_info("result", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "recurrent", [x], [result], [*weights.values()])
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.mark.parametrize(
    "model, operators",
    [
        (networks.mobilenet(32, 0.25, 10), {"FusedConv"}),
        (networks.encoder(2, 16, 2), {"BiasGelu", "FusedMatMul"}),
    ],
    ids=["convolutions", "encoder"],
)
def test_optimized_networks(
    backend: str, model: ModelProto, operators: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "optimized.onnx"
    session_of(written(model, tmp_path), path)
    assert operators <= own_operators(path)
    assert relative_difference(path, session_of(path)) < 1e-5


def test_quantized_convolutions(backend: str, tmp_path: Path) -> None:
    """Sums of quantized numbers are whole numbers, and round alike but for ties."""
    path = tmp_path / "quantized.onnx"
    source = written(networks.mobilenet(32, 0.25, 10), tmp_path)
    quantize_with(source, path, _Calibration(source), quant_format=QuantFormat.QOperator)
    assert {"QGemm", "QLinearAdd"} <= own_operators(path)
    assert relative_difference(path, session_of(path)) < 0.02


@pytest.mark.parametrize(
    "model, operators, tolerance",
    [
        (networks.encoder(2, 16, 2), {"DynamicQuantizeMatMul"}, 1e-4),
        (recurrent(), {"DynamicQuantizeLSTM"}, 0.02),
    ],
    ids=["encoder", "recurrent"],
)
def test_dynamically_quantized_networks(
    backend: str, model: ModelProto, operators: set[str], tolerance: float, tmp_path: Path
) -> None:
    """A recurrent network's values are not quantized here, but its weights are."""
    quantized, path = tmp_path / "quantized.onnx", tmp_path / "optimized.onnx"
    quantize_dynamic(
        written(model, tmp_path),
        quantized,
        op_types_to_quantize=["MatMul", "LSTM"],
        reduce_range=True,  # else ONNX Runtime's sums of pairs are limited to 16 bits on x86
    )
    session_of(quantized, path)
    assert operators <= own_operators(path)
    assert relative_difference(path, session_of(path)) < tolerance
