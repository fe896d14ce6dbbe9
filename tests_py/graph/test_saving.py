"""Graph models that are saved: what was loaded is what is written."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.graphs import (
    Dtype,
    constant,
    function,
    model_of,
    node,
    placeholder,
    topology,
)
from tests_py.tflite.files import Operator, Tensor, file, opened, subgraph
from webtensor.formats.graph_def import graph_of_json
from webtensor.formats.model_artifacts import ModelArtifacts

X = np.array([[1, -2]], "float32")


def tensor_info(name: str) -> dict[str, Any]:
    return {"name": name, "dtype": "DT_FLOAT", "tensorShape": {"unknownRank": True}}


def files(**changes: Any) -> dict[str, bytes]:
    """A model with a signature, metadata, and a weight in 16 bits."""
    graph = [
        *(placeholder("x", shape=(-1, 2)), node("weights", "Const", dtype=Dtype("float32"))),
        *(node("y", "MatMul", "x weights"), node("z", "Relu", "y")),
    ]
    quantization = {"dtype": "float16", "original_dtype": "float32"}
    spec = {"name": "weights", "shape": [2, 3], "dtype": "float32", "quantization": quantization}
    model_json = {
        "format": "graph-model",
        "generatedBy": "2.15.0",
        "convertedBy": "TensorFlow.js Converter v4.22.0",
        "modelTopology": topology(graph),
        "signature": {"inputs": {"x": tensor_info("x:0")}, "outputs": {"z": tensor_info("z:0")}},
        "userDefinedMetadata": {"author": "me"},
        "weightsManifest": [{"paths": ["a.bin"], "weights": [spec]}],
        **changes,
    }
    weights = np.arange(6, dtype="float16").tobytes()
    return {"model.json": json.dumps(model_json).encode(), "a.bin": weights}


def saved(model: Any) -> ModelArtifacts:
    """What a model hands to a handler."""
    artifacts: list[ModelArtifacts] = []
    model.save(wt.io.with_save_handler_sync(artifacts.append))
    return artifacts[0]


def test_everything_that_was_loaded_is_saved():
    table = node("table", "HashTableV2", key_dtype=Dtype("int32"), value_dtype=Dtype("float32"))
    filled = node("filled", "LookupTableImportV2", "table keys values")
    initializer = [table, constant("keys", [3, 5]), constant("values", [0.5, 1.5]), filled]
    loaded = files(modelInitializer=topology(initializer))
    expected = json.loads(loaded["model.json"])
    model = wt.load_graph_model(loaded)
    model.predict(X)  # which makes a shorter list of steps
    parts = saved(model)
    for name, part in (
        ("modelTopology", parts.model_topology),
        ("modelInitializer", parts.model_initializer),
    ):
        assert graph_of_json(part, name) == graph_of_json(expected[name], name)
    assert parts.signature == expected["signature"]
    assert parts.user_defined_metadata == {"author": "me"}
    assert (parts.format, parts.generated_by) == ("graph-model", "2.15.0")
    assert parts.converted_by == "TensorFlow.js Converter v4.22.0"
    assert parts.weight_specs == expected["weightsManifest"][0]["weights"]
    assert wt.io.CompositeArrayBuffer.join(parts.weight_data or b"") == files()["a.bin"]


def test_folders(tmp_path: Path):
    model: Any = wt.load_graph_model(files())
    result = model.save(tmp_path / "sync")
    assert result.model_artifacts_info.weight_data_bytes == 12
    asyncio.run(model.save_async(tmp_path / "async"))
    for name in ("sync", "async"):
        again: Any = wt.load_graph_model(tmp_path / name)
        assert again.predict(X).tolist() == model.predict(X).tolist()
        assert again.metadata == {"author": "me"}


def test_addresses_that_nothing_is_saved_to():
    model: Any = wt.load_graph_model(files())
    with pytest.raises(ValueError, match="somewhere://x: models cannot be saved to this address"):
        model.save("somewhere://x")


def test_models_that_are_disposed_are_not_saved():
    model: Any = wt.load_graph_model(files())
    model.dispose()
    with pytest.raises(ValueError, match="disposed"):
        saved(model)


def test_models_without_files(tmp_path: Path):
    nodes = [placeholder("x"), constant("two", 2.0), node("y", "Mul", "x two")]
    model = model_of(topology(nodes))
    model.save(tmp_path)
    again: Any = wt.load_graph_model(tmp_path)
    assert again.predict(3.0).item() == 6


def test_constants_of_functions_are_weights(tmp_path: Path):
    body = [constant("two", 2.0), node("product", "Mul", "a two", T=Dtype("float32"))]
    twice = function("twice", {"a": "float32"}, {"r": ("float32", "product:z:0")}, body)
    model = model_of(topology([placeholder("x"), node("y", "twice", "x")], [twice]))
    parts = saved(model)
    assert [spec["name"] for spec in parts.weight_specs or []] == ["two"]
    assert "tensorContent" not in json.dumps(parts.model_topology)
    model.save(tmp_path)
    again: Any = wt.load_graph_model(tmp_path)
    assert again.predict(3.0).item() == 6


# -- TensorFlow Lite ---------------------------------------------------------------------------


def of_tflite(op: str, options: tuple[str, dict[str, Any]] | None = None) -> Any:
    tensors = [Tensor("x", (None, 2)), Tensor("y", (None, 2))]
    operator = Operator(op, ["x"], ["y"], options)
    return opened(file(subgraph(tensors, [operator], ["x"], ["y"])))


def test_models_of_tensorflow_lite(tmp_path: Path):
    model = of_tflite("NEG")
    model.save(tmp_path)
    again: Any = wt.load_graph_model(tmp_path)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.input_nodes == model.input_nodes


def test_operations_that_graph_models_do_not_have():
    with pytest.raises(ValueError, match="cannot be saved: graph models have no Gelu"):
        saved(of_tflite("GELU", ("GeluOptions", {"approximate": False})))
