"""TensorFlow's graphs, from bytes and from JSON, which must give the same data."""

import json
import math
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pytest

from tests_py.mutations import mutated_json
from webtensor import ModelFormatError
from webtensor.formats import protobuf_json
from webtensor.formats.budgets import Budget
from webtensor.formats.graph_def import (
    Argument,
    ElementType,
    FunctionName,
    Graph,
    NodeDef,
    Placeholder,
    Signature,
    TensorInfo,
    TensorValue,
    graph_of_json,
    graph_of_message,
    read_graph,
    signature_of_json,
)
from webtensor.formats.graph_writing import graph_bytes, graph_json, signature_json
from webtensor.formats.protobuf_json import to_json
from webtensor.formats.tensorflow_messages import DTYPES, SCHEMA

FLOAT, INT32, STRING, INT64, HALF = 1, 3, 7, 9, 19

MATRIX_SHAPE = {"dim": [{"size": -1, "name": "batch"}, {"size": 3}]}
ATTRIBUTES: Mapping[str, tuple[Any, Any]] = {
    "text": ({"s": b"SAME"}, "SAME"),
    "bytes": ({"s": b"\xff\x00"}, b"\xff\x00"),
    "integer": ({"i": -(2**40)}, -(2**40)),
    "float": ({"f": 0.25}, 0.25),
    "infinity": ({"f": math.inf}, math.inf),
    "flag": ({"b": True}, True),
    "dtype": ({"type": FLOAT}, ElementType("float32")),
    "reference": ({"type": 101}, ElementType("float32_ref")),
    "shape": ({"shape": MATRIX_SHAPE}, (None, 3)),
    "scalar": ({"shape": {}}, ()),
    "any_rank": ({"shape": {"unknown_rank": True}}, None),
    "tensor": (
        {"tensor": {"dtype": INT32, "tensor_shape": {"dim": [{"size": 2}]}, "int_val": [4, 5]}},
        TensorValue((2,), "int32", np.array([4, 5], "int32").tobytes()),
    ),
    "function": (
        {"func": {"name": "body", "attr": {"T": {"type": HALF}}}},
        FunctionName("body", {"T": ElementType("float16")}),
    ),
    "placeholder": ({"placeholder": "T"}, Placeholder("T")),
    "texts": ({"list": {"s": [b"a", b"\xff"]}}, ["a", b"\xff"]),
    "integers": ({"list": {"i": [1, -2, 3]}}, [1, -2, 3]),
    "floats": ({"list": {"f": [0.5, -1.0]}}, [0.5, -1.0]),
    "flags": ({"list": {"b": [True, False]}}, [True, False]),
    "dtypes": ({"list": {"type": [FLOAT, STRING]}}, ["float32", "string"]),
    "shapes": ({"list": {"shape": [MATRIX_SHAPE, {}]}}, [(None, 3), ()]),
    "functions": ({"list": {"func": [{"name": "f"}]}}, [FunctionName("f", {})]),
    "empty": ({"list": {}}, []),
}

GRAPH = {
    "node": [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": FLOAT}}, "device": "/cpu:0"},
        {"name": "y", "op": "Custom", "input": ["x", "x:1", "^x"]}
        | {"attr": {name: message for name, (message, _) in ATTRIBUTES.items()}},
    ],
    "library": {
        "function": [
            {
                "signature": {
                    "name": "body",
                    "input_arg": [
                        {"name": "a", "type": FLOAT},
                        {"name": "b", "type_attr": "T", "number_attr": "N"},
                    ],
                    "output_arg": [{"name": "c", "type": INT32}],
                    "is_stateful": True,
                },
                "node_def": [{"name": "x", "op": "Relu", "input": ["a"]}],
                "ret": {"c": "x:activations:0"},
                "control_ret": {"done": "x"},
                "attr": {"_noinline": {"b": False}},
                "arg_attr": {1: {"attr": {"_user_specified_name": {"s": b"b"}}}},
            }
        ],
        "gradient": [{"function_name": "body", "gradient_func": "body_gradient"}],
    },
    "versions": {"producer": 1882, "min_consumer": 12, "bad_consumers": [3]},
}


def from_bytes(values: Mapping[str, Any]) -> Graph:
    return read_graph(SCHEMA.encode("GraphDef", values), "g.pb")


def from_json(values: Mapping[str, Any]) -> Graph:
    text = json.dumps(to_json(SCHEMA, "GraphDef", values))
    return graph_of_json(json.loads(text), "model.json")


both_forms = pytest.mark.parametrize("read", [from_bytes, from_json])


@both_forms
def test_nodes(read: Any):
    graph = read(GRAPH)
    assert (graph.producer, graph.min_consumer) == (1882, 12)
    assert graph.nodes[0] == NodeDef(
        "x", "Placeholder", (), {"dtype": ElementType("float32")}, "/cpu:0"
    )
    assert graph.nodes[1][:3] == ("y", "Custom", ("x", "x:1", "^x"))


@both_forms
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(read: Any, name: str):
    value, expected = read(GRAPH).nodes[1].attributes[name], ATTRIBUTES[name][1]
    assert value == expected
    assert type(value) is type(expected)


@both_forms
def test_attributes_without_a_value_are_left_out(read: Any):
    graph = read({"node": [{"name": "n", "op": "Op", "attr": {"a": {}, "b": {"i": 0}}}]})
    assert graph.nodes[0].attributes == {"b": 0}


@both_forms
def test_functions(read: Any):
    graph = read(GRAPH)
    assert graph.gradients == {"body": "body_gradient"}
    function = graph.functions["body"]
    assert function.inputs == (Argument("a", "float32"), Argument("b", "", "T", "N"))
    assert function.outputs == (Argument("c", "int32"),)
    assert function.nodes == (NodeDef("x", "Relu", ("a",), {}, ""),)
    assert function.returns == {"c": "x:activations:0"}
    assert function.control_returns == {"done": "x"}
    assert function.attributes == {"_noinline": False}
    assert function.input_attributes == {1: {"_user_specified_name": "b"}}
    assert function.is_stateful


def test_the_empty_graph():
    assert graph_of_json({}, "model.json") == Graph((), {}, {}) == read_graph(b"", "g.pb")


# -- tensors -----------------------------------------------------------------------------------


def constant(tensor: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"node": [{"name": "c", "op": "Const", "attr": {"value": {"tensor": tensor}}}]}


def shaped(number: int, *sizes: int) -> dict[str, Any]:
    return {"dtype": number, "tensor_shape": {"dim": [{"size": size} for size in sizes]}}


def complete(read: Any, tensor: Mapping[str, Any]) -> Any:
    value = read(constant(tensor)).nodes[0].attributes["value"]
    return value.complete("c", Budget("file"))


@both_forms
@pytest.mark.parametrize(
    "number, field, values, expected",
    [
        (1, "float_val", [0.5, -1.5], np.array([0.5, -1.5], "float32")),
        (2, "double_val", [0.1, 1e300], np.array([0.1, 1e300], "float64")),
        (3, "int_val", [-1, 2**31 - 1], np.array([-1, 2**31 - 1], "int32")),
        (4, "int_val", [0, 255], np.array([0, 255], "uint8")),
        (5, "int_val", [-5, 300], np.array([-5, 300], "int16")),
        (6, "int_val", [-5, 100], np.array([-5, 100], "int8")),
        (8, "scomplex_val", [1.0, 2.0, 3.0, 4.0], np.array([1 + 2j, 3 + 4j], "complex64")),
        (9, "int64_val", [-(2**63), 5], np.array([-(2**63), 5], "int64")),
        (10, "bool_val", [True, False], np.array([True, False], "bool")),
        (17, "int_val", [0, 65535], np.array([0, 65535], "uint16")),
        (18, "dcomplex_val", [1.0, 2.0, 3.0, 4.0], np.array([1 + 2j, 3 + 4j], "complex128")),
        (19, "half_val", [0x3C00, 0xC000], np.array([1, -2], "float16")),
        (22, "uint32_val", [0, 2**32 - 1], np.array([0, 2**32 - 1], "uint32")),
        (23, "uint64_val", [0, 2**64 - 1], np.array([0, 2**64 - 1], "uint64")),
        (11, "int_val", [-128, 127], np.array([-128, 127], "int8")),
    ],
)
def test_tensors(read: Any, number: int, field: str, values: list[Any], expected: Any):
    for tensor in ({field: values}, {"tensor_content": expected.tobytes()}):
        elements = complete(read, shaped(number, 2) | tensor)
        assert elements.shape == (2,)
        assert elements.dtype == DTYPES[number]
        assert bytes(elements.data) == expected.tobytes()


@both_forms
@pytest.mark.parametrize(
    "tensor, expected",
    [
        (
            shaped(FLOAT, 2, 2) | {"float_val": [1.0, 2.0]},
            np.array([1, 2, 2, 2], "float32").tobytes(),
        ),
        (shaped(FLOAT, 3), bytes(12)),
        (shaped(FLOAT, 0), b""),
        (shaped(25, 4) | {"float8_val": b"ab"}, b"abbb"),
        (shaped(14) | {"half_val": [0x3F80]}, b"\x80\x3f"),
        (shaped(STRING, 3) | {"string_val": [b"a", b"\xff"]}, (b"a", b"\xff", b"\xff")),
        (shaped(STRING, 2), (b"", b"")),
    ],
)
def test_the_last_element_is_repeated(read: Any, tensor: Mapping[str, Any], expected: Any):
    data = complete(read, tensor).data
    assert (data if isinstance(data, tuple) else bytes(data)) == expected


def test_contents_are_a_view_of_the_file():
    data = SCHEMA.encode("GraphDef", constant(shaped(FLOAT, 25) | {"tensor_content": bytes(100)}))
    value = read_graph(data, "g.pb").nodes[0].attributes["value"]
    assert isinstance(value, TensorValue)
    assert isinstance(value.data, memoryview)
    assert value.data.obj is data


@both_forms
@pytest.mark.parametrize(
    "tensor, message",
    [
        (shaped(FLOAT, -1), r"has the shape \(None,\)"),
        ({"dtype": FLOAT, "tensor_shape": {"unknown_rank": True}}, "has the shape None"),
        (shaped(20), "tensors of dtype 'resource' have no elements"),
        (shaped(FLOAT, 10**9) | {"float_val": [1.0]}, "would become 4000000000 bytes"),
        (shaped(STRING, 10**9), "would become 8000000000 bytes"),
        (shaped(FLOAT, 2**40, 2**40), "too many elements"),
    ],
)
def test_tensors_without_elements(read: Any, tensor: Mapping[str, Any], message: str):
    with pytest.raises(ModelFormatError, match=message):
        complete(read, tensor)


# -- writing -----------------------------------------------------------------------------------


def written(graph: Graph) -> tuple[Graph, Graph]:
    """A graph that was written and read again, as bytes and as JSON."""
    text = json.dumps(graph_json(graph))
    return read_graph(graph_bytes(graph), "g.pb"), graph_of_json(json.loads(text), "model.json")


@both_forms
def test_graphs_that_are_written(read: Any):
    graph = read(GRAPH)
    assert written(graph) == (graph, graph)


@pytest.mark.parametrize(
    "tensor",
    [
        TensorValue((2,), "float32", bytes(8)),
        TensorValue((2, 2), "float32", np.array([0.5], "float32").tobytes()),
        TensorValue((3,), "float16", b"\x00\x3c"),
        TensorValue((3,), "int8", b"\xff"),
        TensorValue((3,), "bool", b"\x01\x00"),
        TensorValue((3,), "complex64", bytes(16)),
        TensorValue((3,), "float8_e5m2", b"\x01"),
        TensorValue((3,), "int64", b""),
        TensorValue((), "string", (b"\xff",)),
        TensorValue((3,), "string", ()),
        TensorValue((None,), "int32", bytes(4)),
        TensorValue(None, "uint64", b"\xff" * 8),
        TensorValue((2,), "resource", b""),
    ],
)
def test_tensors_that_are_written(tensor: TensorValue):
    graph = Graph((NodeDef("c", "Const", (), {"value": tensor}, ""),), {}, {})
    assert written(graph) == (graph, graph)


@pytest.mark.parametrize("value", [{}, 1j, [1, "a"], [[1]]])
def test_attributes_that_cannot_be_written(value: Any):
    with pytest.raises(TypeError, match=r"several kinds|no attribute can be"):
        graph_bytes(Graph((NodeDef("n", "Op", (), {"a": value}, ""),), {}, {}))


# -- what is refused ---------------------------------------------------------------------------


def node(**attributes: Any) -> Mapping[str, Any]:
    return {"node": [{"name": "n", "op": "Op", "attr": attributes}]}


@both_forms
@pytest.mark.parametrize(
    "values, message",
    [
        (node(T={"type": 77}), "node 'n': attribute 'T': there is no dtype of number 77"),
        (node(s={"shape": {"dim": [{"size": -2}]}}), "attribute 's': a shape has the size -2"),
        (node(v={"tensor": shaped(FLOAT, 1) | {"float_val": [1.0, 2.0]}}), "has 8 bytes"),
        (node(v={"tensor": shaped(FLOAT, 2) | {"tensor_content": b"abcd"}}), "has 4 bytes"),
        (node(v={"tensor": shaped(FLOAT, 2) | {"tensor_content": b"abc"}}), "has 3 bytes"),
        (node(v={"tensor": shaped(STRING, 1) | {"string_val": [b"", b""]}}), "has 2 strings"),
        (node(v={"tensor": shaped(4, 1) | {"int_val": [256]}}), "attribute 'v': "),
        (node(v={"tensor": shaped(FLOAT, *[1] * 65)}), "a shape has 65 axes"),
        ({"node": [{"name": "a"}, {"name": "a"}]}, "nodes: two have the name 'a'"),
        (
            {"library": {"function": [{"signature": {"name": "f"}}] * 2}},
            "functions: two have the name 'f'",
        ),
    ],
)
def test_broken_graphs(read: Any, values: Mapping[str, Any], message: str):
    with pytest.raises(ModelFormatError, match=message) as info:
        read(values)
    assert str(info.value).startswith("g.pb" if read is from_bytes else "model.json")


def test_functions_as_attributes_are_nested_at_most_100_levels_deep():
    value: dict[str, Any] = {}
    for _ in range(60):
        value = {"func": {"attr": {"f": value}}}
    for read in (from_bytes, from_json):
        with pytest.raises(ModelFormatError, match="nested more than 100 levels deep"):
            read(node(f=value))


def test_json_without_nodes():
    with pytest.raises(ModelFormatError, match=r"model\.json\.node must be a list, but is 'x'"):
        graph_of_json({"node": "x"}, "model.json")


def outcome(read: Any, value: Any) -> Graph | str:
    """Return the graph that is read, or the error in place of it."""
    try:
        return read(value, "model.json", Budget("model.json"))
    except ModelFormatError as error:
        return str(error)


def node_by_node(value: Any, where: str, budget: Budget) -> Graph:
    message = protobuf_json.from_json(SCHEMA, "GraphDef", value, where, budget)
    return graph_of_message(message, where, budget)


def test_json_is_read_by_columns_as_node_by_node():
    data, random = json.dumps(to_json(SCHEMA, "GraphDef", GRAPH)).encode(), Random(0)
    for value in [json.loads(mutated_json(data, random)) for _ in range(300)]:
        assert outcome(graph_of_json, value) == outcome(node_by_node, value)


# -- signatures --------------------------------------------------------------------------------


def test_signatures():
    signature = signature_of_json(
        {
            "inputs": {
                "x": {
                    "name": "x:0",
                    "dtype": "DT_FLOAT",
                    "tensorShape": {"dim": [{"size": "-1"}, {"size": "32"}]},
                },
                "table": {"name": "t:0", "dtype": "DT_RESOURCE", "resourceId": 7},
            },
            "outputs": {
                "y": {"name": "y"},
                "sparse": {
                    "cooSparse": {
                        "valuesTensorName": "v:0",
                        "indicesTensorName": "i:0",
                        "denseShapeTensorName": "s:0",
                    }
                },
                "ragged": {"compositeTensor": {"components": [{"name": "v:0"}, {"name": "r:0"}]}},
            },
            "methodName": "tensorflow/serving/predict",
        },
        "model.json: signature",
    )
    assert signature.inputs == {
        "x": TensorInfo(("x:0",), "float32", (None, 32)),
        "table": TensorInfo(("t:0",), "resource", None, 7),
    }
    assert signature.outputs == {
        "y": TensorInfo(("y",), "", None),
        "sparse": TensorInfo(("v:0", "i:0", "s:0"), "", None),
        "ragged": TensorInfo(("v:0", "r:0"), "", None),
    }
    assert signature.method == "tensorflow/serving/predict"
    inputs = Signature(signature.inputs, {"y": signature.outputs["y"]}, signature.method)
    assert signature_of_json(signature_json(inputs), "model.json") == inputs
