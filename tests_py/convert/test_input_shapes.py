"""Shapes that the user fixes for the inputs of ONNX models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

import webtensor as wt
from tests_py.convert.node import NodeProcess
from webtensor.convert import convert_model
from webtensor.convert.command import main

FLOAT = onnx.TensorProto.FLOAT


@pytest.fixture
def windows(tmp_path: Path) -> Path:
    """A model whose input must have 8 samples for each row of the state, and rank 2."""
    inputs = [
        make_tensor_value_info("x", FLOAT, ["batch", "samples"]),
        make_tensor_value_info("state", FLOAT, ["batch", 2]),
        make_tensor_value_info("any", FLOAT, None),
        make_tensor_value_info("pair", FLOAT, [2]),
    ]
    nodes = [
        make_node("Reshape", ["x", "shape"], ["rows"]),
        make_node("MatMul", ["rows", "weights"], ["product"]),
        make_node("Add", ["product", "state"], ["sum"]),
        make_node("Add", ["sum", "any"], ["more"]),
        make_node("Mul", ["more", "pair"], ["y"]),
    ]
    weights = {
        "shape": np.array([-1, 8]),
        "weights": np.random.default_rng(1).random((8, 2), np.float32),
    }
    initializers = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    output = make_tensor_value_info("y", FLOAT, None)
    graph = make_graph(nodes, "graph", inputs, [output], initializers)
    path = tmp_path / "model.onnx"
    model = make_model(graph, opset_imports=[make_opsetid("", 15)], ir_version=8)
    onnx.save(model, str(path))
    return path


def test_a_model_that_takes_one_length_is_converted_for_it(
    windows: Path, tmp_path: Path, no_leak: None
) -> None:
    with pytest.raises(wt.ModelFormatError, match="'any' has no known rank; input_shapes can"):
        convert_model(windows, tmp_path / "web")
    with pytest.raises(wt.ModelFormatError, match=r"model\.onnx"):
        convert_model(windows, tmp_path / "web", input_shapes={"any": ()})
    options = ["--input-shape", "x=?,8", "--input-shape", "any=", "--quiet"]
    assert main(["convert", str(windows), str(tmp_path / "web"), *options]) == 0
    model: Any = wt.load_graph_model(tmp_path / "web")
    shapes = {value.name: value.shape for value in model.inputs}
    assert shapes == {"x": (None, 8), "state": (None, 2), "any": (), "pair": (2,)}
    session = onnxruntime.InferenceSession(str(windows))
    draw = np.random.default_rng(2)
    with NodeProcess() as node:
        for batch in (1, 2, 5):
            feeds: dict[str, Any] = {
                "x": draw.random((batch, 8), np.float32),
                "state": draw.random((batch, 2), np.float32),
                "any": np.array(0.5, "float32"),
                "pair": draw.random(2, np.float32),
            }
            (expected,) = session.run(None, feeds)
            np.testing.assert_allclose(model.predict(feeds).numpy(), expected, rtol=1e-5)
            (theirs,) = node.run(tmp_path / "web", feeds)
            np.testing.assert_allclose(theirs, expected, rtol=1e-5)
    model.dispose()


def test_a_named_size_is_that_of_all_inputs(windows: Path, tmp_path: Path) -> None:
    convert_model(windows, tmp_path / "web", input_shapes={"x": (3, 8), "any": (1,)})
    model: Any = wt.load_graph_model(tmp_path / "web")
    assert {value.name: value.shape for value in model.inputs}["state"] == (3, 2)
    model.dispose()


def test_a_branch_that_takes_no_inputs_of_the_shape_is_never_taken(tmp_path: Path) -> None:
    """As in voice detectors for two rates, each of which has windows of its own size."""
    branches, initializers = {}, []
    for name, size in (("then_branch", 8), ("else_branch", 4)):
        weights = np.random.default_rng(size).random((size, 2), np.float32)
        initializers.append(onnx.numpy_helper.from_array(weights, name))
        node = make_node("MatMul", ["x", name], [f"{name} y"])
        output = make_tensor_value_info(f"{name} y", FLOAT, None)
        branches[name] = make_graph([node], name, [], [output])
    inputs = [
        make_tensor_value_info("x", FLOAT, ["batch", "samples"]),
        make_tensor_value_info("is_fast", onnx.TensorProto.BOOL, []),
    ]
    node = make_node("If", ["is_fast"], ["y"], **branches)
    output = make_tensor_value_info("y", FLOAT, None)
    graph = make_graph([node], "graph", inputs, [output], initializers)
    path = tmp_path / "model.onnx"
    model_proto = make_model(graph, opset_imports=[make_opsetid("", 15)], ir_version=8)
    onnx.save(model_proto, str(path))
    with pytest.raises(wt.ModelFormatError):
        convert_model(path, tmp_path / "web", input_shapes={"x": (None, 8)})
    session = onnxruntime.InferenceSession(str(path))
    for size in (8, 4):
        convert_model(path, tmp_path / "web", input_shapes={"x": (3, size)}, overwrite=True)
        model: Any = wt.load_graph_model(tmp_path / "web")
        x = np.random.default_rng(2).random((3, size), np.float32)
        feeds = {"x": x, "is_fast": np.array(size == 8)}
        (expected,) = session.run(None, feeds)
        np.testing.assert_allclose(model.predict(feeds).numpy(), expected, rtol=1e-5)
        model.dispose()


@pytest.mark.parametrize(
    "shapes, error, message",
    [
        ({"z": (1,)}, ValueError, "has no such input; its inputs are 'x', 'state', 'any', 'pair'"),
        ({"x": (1,)}, ValueError, r"the input has rank 2, its shape is \(batch, samples\), but go"),
        ({"x": (1, -8)}, ValueError, r"input_shapes\['x'\]\[1\] must not be negative, but got -8"),
        ({"x": (1, 8.0)}, TypeError, r"input_shapes\['x'\]\[1\] must be an integer, but got 8.0"),
        ({"pair": (3,)}, ValueError, r"size 3 along axis 0 contradicts 2, as the input has shape"),
        ({"x": (1, 8), "state": (2, 2)}, ValueError, "size 2 along axis 0 contradicts 1, as the"),
    ],
)
def test_shapes_that_a_model_cannot_have(
    shapes: dict[str, Any], error: type[Exception], message: str, windows: Path, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        convert_model(windows, tmp_path / "web", input_shapes=shapes)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_other_formats_have_no_such_option(tmp_path: Path) -> None:
    wt.keras.Sequential([wt.keras.Input((2,)), wt.keras.layers.Dense(1)]).save(
        tmp_path / "model.keras"
    )
    with pytest.raises(ValueError, match=r"input_shapes are for onnx, but .* is keras"):
        convert_model(tmp_path / "model.keras", tmp_path / "web", input_shapes={"x": (1, 2)})


@pytest.mark.parametrize("text", ["x", "=1,2", "x=1,a", "x=1.5"])
def test_the_command_explains_shapes(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "model.onnx", "web", "--input-shape", text])
    assert f"'{text}' must be a name and sizes, such as x=1,512" in capsys.readouterr().err
