"""Graph models from files: what they take and return, and what is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.graph.graphs import (
    Dtype,
    JsonNode,
    Shape,
    arrays_of,
    constant,
    model_of,
    node,
    placeholder,
    topology,
)
from web.serve import serve
from webtensor.errors import ModelFormatError
from webtensor.graph import GraphNode
from webtensor.io import routers

WEIGHTS = np.arange(6, dtype="float32").reshape(2, 3)
X = np.array([[1, -2]], "float32")


def stored(name: str, dtype: str = "float32") -> JsonNode:
    """A constant whose value is among the weights."""
    return node(name, "Const", dtype=Dtype(dtype))


NODES = [
    *(placeholder("x", shape=(-1, 2)), stored("weights"), node("y", "MatMul", "x weights")),
    *(node("positive", "Relu", "y"), node("negative", "Neg", "y")),
]


def tensor_info(name: str) -> dict[str, Any]:
    return {"name": name, "dtype": "DT_FLOAT", "tensorShape": {"unknownRank": True}}


def files(**changes: Any) -> dict[str, bytes]:
    """The files of a model with one weight, quantized to float16 and in two shards."""
    data = WEIGHTS.astype("float16").tobytes()
    quantization = {"dtype": "float16", "original_dtype": "float32"}
    spec = {"name": "weights", "shape": [2, 3], "dtype": "float32", "quantization": quantization}
    model_json = {
        "format": "graph-model",
        "modelTopology": topology(NODES),
        "weightsManifest": [{"paths": ["a.bin", "b.bin"], "weights": [spec]}],
        **changes,
    }
    return {"model.json": json.dumps(model_json).encode(), "a.bin": data[:5], "b.bin": data[5:]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in files().items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with serve(folder) as url:
        yield f"{url}/model.json"


def test_places_of_models(folder: Path, address: str):
    fractions: list[float] = []
    for source in (folder, folder / "model.json", files(), address):
        model = wt.load_graph_model(source, on_progress=fractions.append)
        positive, negative = arrays_of(model.execute(X))
        np.testing.assert_allclose(positive, np.maximum(X @ WEIGHTS, 0))
        np.testing.assert_allclose(negative, -(X @ WEIGHTS))
        assert fractions[-1] == 1
    assert model.input_nodes == ["x"]
    assert model.output_nodes == ["positive", "negative"]
    assert (model.inputs[0].shape, model.inputs[0].dtype) == ((None, 2), "float32")
    assert [value.shape for value in model.weights["weights"]] == [(2, 3)]


def test_models_load_and_compute_without_blocking(address: str):
    async def predicted() -> Any:
        model = await wt.load_graph_model_async(address)
        return await model.predict_async([X])

    positive, _ = arrays_of(asyncio.run(predicted()))
    np.testing.assert_allclose(positive, np.maximum(X @ WEIGHTS, 0))


@pytest.mark.parametrize("page", ["far://hub/m/1", "far://hub/m/1/"])
def test_models_of_tensorflow_hub(page: str, monkeypatch: pytest.MonkeyPatch):
    fetched = []

    def fetch(url: str, options: Any) -> bytes:
        fetched.append(url)
        return files()[url.removeprefix("far://hub/m/1/").removesuffix("?tfjs-format=file")]

    monkeypatch.setattr(routers, "_load_routers", [lambda url, options: wt.io.http(url, **options)])
    model = wt.load_graph_model(page, from_tf_hub=True, fetch_func=fetch)
    positive, _ = arrays_of(model.execute(X))
    np.testing.assert_allclose(positive, np.maximum(X @ WEIGHTS, 0))
    asyncio.run(wt.load_graph_model_async(page, from_tf_hub=True, fetch_func=fetch))
    assert fetched[0] == "far://hub/m/1/model.json?tfjs-format=file"
    assert len(fetched) == 6


def test_graphs_are_read_before_weights_have_come():
    broken = files(modelTopology={"node": [{"op": 3}]})
    weights_asked = []

    async def fetch(url: str, options: Any) -> bytes:
        if url.endswith("json"):
            return broken["model.json"]
        weights_asked.append(url)
        return await asyncio.get_running_loop().create_future()  # never comes

    async def load() -> None:
        handler = wt.io.http("far://m/model.json", fetch_func=fetch)
        with pytest.raises(ModelFormatError, match=r"node\[0\].op must be a text"):
            await asyncio.wait_for(wt.load_graph_model_async(handler), timeout=120)

    asyncio.run(load())
    assert weights_asked


def test_nodes_with_equal_attributes_do_not_share_what_changes():
    names = [f"n{index}" for index in range(3)]
    nodes = [
        placeholder("x", shape=(2, 2)),
        *(node(name, "Sum", f"{previous} axis", keep_dims=True)
          for previous, name in zip(["x", *names], names, strict=False)),
        constant("axis", [1]),
        node("whole", "Sum", "n2 axis", keep_dims=False),
    ]  # fmt: skip
    model = model_of(topology(nodes))
    result = model.predict(np.array([[1, 2], [3, 4]], "float32"))
    np.testing.assert_array_equal(result, [3, 7])


def test_names_of_the_signature_and_of_the_graph():
    signature = {
        "inputs": {"image": tensor_info("x:0")},
        "outputs": {"scores": tensor_info("positive:0")},
    }
    model = wt.load_graph_model(files(signature=signature))
    expected = np.maximum(X @ WEIGHTS, 0)
    for inputs in ({"image": X}, {"x": X}, {"x:0": X}, X, [X]):
        np.testing.assert_allclose(arrays_of(model.execute(inputs))[0], expected)
    for name in ("scores", "positive", "positive:0"):
        np.testing.assert_allclose(arrays_of(model.execute(X, name))[0], expected)
    assert isinstance(model(X), wt.Tensor)


def test_outputs_have_the_keys_of_the_metadata():
    metadata = {"structuredOutputKeys": ["up", "down"]}
    model = wt.load_graph_model(files(userDefinedMetadata=metadata))
    predicted = model.predict(X)
    assert isinstance(predicted, dict)
    assert list(predicted) == ["up", "down"]
    assert model.metadata == metadata


def test_signatures_in_the_metadata_of_older_files():
    signature = {
        "inputs": {"image": {"name": "x:0"}},
        "outputs": {"down": {"name": "negative:0"}, "up": {"name": "positive:0"}},
    }
    other = {"outputs": {"up": tensor_info("positive:0")}}
    metadata = {"signature": signature}
    model = wt.load_graph_model(files(userDefinedMetadata=metadata, signature=other))
    negative, positive = arrays_of(model.execute({"image": X}))
    np.testing.assert_allclose(positive, np.maximum(X @ WEIGHTS, 0))
    np.testing.assert_allclose(negative, -(X @ WEIGHTS))
    assert model.metadata == metadata
    for unrelated in ("me", {"by": "me"}):
        model = wt.load_graph_model(files(userDefinedMetadata={"signature": unrelated}))
        assert model.output_nodes == ["positive", "negative"]


def test_tables_are_filled_by_the_initializer():
    table = node("table", "HashTableV2", key_dtype=Dtype("int32"), value_dtype=Dtype("float32"))
    filled = node("filled", "LookupTableImportV2", "table keys values")
    initializer = [table, constant("keys", [3, 5]), constant("values", [0.5, 1.5]), filled]
    graph = [
        *(placeholder("x", "int32"), placeholder("table", "resource"), constant("other", -1.0)),
        node("out", "LookupTableFindV2", "table x other"),
    ]
    info = {**tensor_info("table:0"), "dtype": "DT_RESOURCE", "resourceId": 7}
    changes = {
        "modelTopology": topology(graph),
        "modelInitializer": topology(initializer),
        "initializerSignature": {"outputs": {"table": {**info, "name": "filled:0"}}},
        "signature": {
            "inputs": {"x": {**tensor_info("x:0"), "dtype": "DT_INT32"}, "table": info},
            "outputs": {"out": tensor_info("out:0")},
        },
    }
    model = wt.load_graph_model(files(**changes))
    (power,) = arrays_of(model.execute(wt.tensor([5, 4, 3], dtype="int32")))
    assert power.tolist() == [1.5, -1.0, 0.5]


def test_registered_operations():
    graph = topology([placeholder("x"), node("out", "Power", "x", exponent=3.0)])
    wt.register_graph_op("Power", lambda node: node.inputs[0] ** node.attributes["exponent"])
    model = model_of(graph)
    wt.deregister_graph_op("Power")
    assert arrays_of(model.execute(wt.tensor([2.0])))[0].tolist() == [8.0]
    with pytest.raises(ModelFormatError, match="Power"):
        model_of(graph)
    with pytest.raises(KeyError, match="Power"):
        wt.deregister_graph_op("Power")


def test_registered_coroutine_functions():
    async def power(given: GraphNode) -> wt.Tensor:
        (base,) = given.inputs
        await base.data()
        return base ** given.attributes["exponent"]

    graph = topology(
        [placeholder("x"), node("y", "Power", "x", exponent=3.0), node("out", "Neg", "y")]
    )
    wt.register_graph_op("Power", power)
    model = model_of(graph)
    wt.deregister_graph_op("Power")
    for base in (2.0, 3.0, 4.0):
        (result,) = arrays_of(asyncio.run(model.execute_async(wt.tensor([base]))))
        assert result.tolist() == [-(base**3)]
        assert arrays_of(model.execute(wt.tensor([base])))[0].tolist() == [-(base**3)]


def test_inputs_with_defaults():
    """They are the inputs of a model that has no others, as in TensorFlow.js."""
    default = constant("default", [1.0, 2.0])
    optional = node(
        "x", "PlaceholderWithDefault", "default", dtype=Dtype("float32"), shape=Shape((2,))
    )
    graph = topology([default, optional, node("y", "Neg", "x", T=Dtype("float32"))])
    model = model_of(graph)
    assert model.inputs == [("x", (2,), "float32")]
    assert arrays_of(model.execute([3.0, 4.0]))[0].tolist() == [-3, -4]
    assert arrays_of(model.execute({}))[0].tolist() == [-1, -2]
    other = model_of({**graph, "node": [placeholder("z"), *graph["node"]]})
    assert other.input_nodes == ["z"]


def test_other_names_of_the_format():
    model = wt.load_graph_model(files(format="tfjs-graph-model"))
    assert model.output_nodes == wt.load_graph_model(files()).output_nodes


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"format": "layers-model"}, "'layers-model', which is no graph-model"),
        ({"modelTopology": None}, "no modelTopology"),
        (
            {"modelTopology": topology([node("a", "Foo"), node("b", "Bar"), node("c", "Foo")])},
            "unknown: Bar, Foo",
        ),
        ({"modelTopology": topology([node("a", "NoOp"), node("a", "NoOp")])}, "'a'"),
        ({"weightsManifest": [{"paths": ["c.bin"], "weights": []}]}, "c.bin"),
        ({"weightsManifest": [{"paths": ["../a.bin"], "weights": []}]}, r"\.\./a\.bin"),
    ],
)
def test_models_that_are_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ModelFormatError, match=message):
        wt.load_graph_model(files(**changes))


def test_constants_without_a_value_are_named():
    model = wt.load_graph_model(files(modelTopology=topology([*NODES, stored("lost")])))
    assert len(arrays_of(model.execute(X, ["positive"]))) == 1
    with pytest.raises(ModelFormatError, match="'lost' has no value"):
        model.execute(X, "lost")


@pytest.mark.parametrize(
    "inputs, message",
    [
        (np.ones((1, 3), "float32"), r"'x' must have shape \(None, 2\), but has \(1, 3\)"),
        (np.ones((1, 2), "int32"), "'x' must have dtype float32, but has int32"),
        ([X, X], "1 inputs"),
        ({"z": X}, "no tensor 'z'"),
        ({}, "'x' is missing"),
    ],
)
def test_inputs_that_do_not_fit(inputs: Any, message: str):
    model = wt.load_graph_model(files())
    if not isinstance(inputs, (list, dict)):
        inputs = wt.tensor(inputs)
    with pytest.raises(ValueError, match=message):
        model.predict(inputs)


def test_disposed_models_give_their_memory_back(no_leak: None):
    model = wt.load_graph_model(files())
    for _ in range(3):
        model.predict(X)
    model.dispose()
    assert model.weights == {}


def test_inputs_and_outputs_have_the_names_of_tensorflow_js():
    """Nodes are called by their keys in the signature, tensors by their nodes."""
    described = {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "2"}]}}
    signature = {
        "inputs": {"a": {"name": "x:0", **described}},
        "outputs": {"b": {"name": "y:0", **described}},
    }
    nodes = [{"name": "x", "op": "Placeholder"}, {"name": "y", "op": "Relu", "input": ["x"]}]
    fields = {"modelTopology": {"node": nodes}, "weightsManifest": [], "signature": signature}
    model = wt.load_graph_model({"model.json": json.dumps(fields).encode()})
    assert (model.input_nodes, model.output_nodes) == (["a"], ["b"])
    assert [value.name for value in (*model.inputs, *model.outputs)] == ["x", "y"]
    for name in ("a", "x", "x:0"):
        result: Any = model.predict({name: wt.tensor([1.0, -2.0])})
        assert result.tolist() == [1, 0]
