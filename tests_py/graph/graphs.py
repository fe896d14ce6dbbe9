"""Graph models of a few nodes, as in the ``model.json`` of TensorFlow.js."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from webtensor.engine import Tensor
from webtensor.formats.graph_def import graph_of_json
from webtensor.graph.model import GraphModel
from webtensor.ops import tensor

__all__ = [
    "Array",
    "Dtype",
    "Function",
    "JsonNode",
    "Shape",
    "arrays_of",
    "arrays_of_constants",
    "attribute",
    "constant",
    "function",
    "model_of",
    "node",
    "placeholder",
    "tensor_of",
    "topology",
]

Array = np.ndarray[Any, Any]
JsonNode = dict[str, Any]

_DTYPES = {
    "float32": "DT_FLOAT",
    "int32": "DT_INT32",
    "bool": "DT_BOOL",
    "complex64": "DT_COMPLEX64",
    "object": "DT_STRING",
    "string": "DT_STRING",
    "resource": "DT_RESOURCE",
    "variant": "DT_VARIANT",
    "int64": "DT_INT64",
}


class Dtype(str):
    """An attribute that is a dtype."""

    __slots__ = ()


class Shape(tuple[int, ...]):
    """An attribute that is a shape, in which -1 is an unknown size."""

    __slots__ = ()


class Function(str):
    """An attribute that is the name of a function."""

    __slots__ = ()


def attribute(value: Any) -> dict[str, Any]:
    """The JSON of an attribute, whose kind follows from the type of its value."""
    if isinstance(value, dict):
        return value
    if isinstance(value, bool):
        return {"b": value}
    if isinstance(value, int):
        return {"i": str(value)}
    if isinstance(value, float):
        return {"f": value}
    if isinstance(value, Dtype):
        return {"type": _DTYPES[value]}
    if isinstance(value, Function):
        return {"func": {"name": str(value), "attr": {}}}
    if isinstance(value, Shape):
        return {"shape": {"dim": [{"size": str(size)} for size in value]}}
    if isinstance(value, str):
        return {"s": b64encode(value.encode()).decode()}
    items = [attribute(item) for item in value]
    if not items:
        return {"list": {}}
    ((kind, _),) = items[0].items()
    return {"list": {kind: [item[kind] for item in items]}}


def node(name: str, op: str, inputs: Iterable[str] | str = (), **attributes: Any) -> JsonNode:
    """A node; several inputs may be one text, parted by spaces."""
    inputs = inputs.split() if isinstance(inputs, str) else list(inputs)
    return {
        "name": name,
        "op": op,
        "input": inputs,
        "attr": {key: attribute(value) for key, value in attributes.items()},
    }


def placeholder(name: str, dtype: str = "float32", shape: Sequence[int] | None = None) -> JsonNode:
    """An input of a graph."""
    described = {"shape": {"unknownRank": True}} if shape is None else Shape(shape)
    return node(name, "Placeholder", dtype=Dtype(dtype), shape=described)


def constant(name: str, value: Any, dtype: Any = None, inputs: str = "") -> JsonNode:
    """A constant, whose elements are in the graph itself."""
    array = np.asarray(value, dtype)
    array = array.astype(
        {"float64": "float32", "int64": "int32"}.get(str(array.dtype), array.dtype)
    )
    described: dict[str, Any] = {
        "dtype": _DTYPES[str(array.dtype)],
        "tensorShape": {"dim": [{"size": str(size)} for size in array.shape]},
    }
    if array.dtype == object:
        described["stringVal"] = [b64encode(text).decode() for text in array.ravel()]
    elif array.size:
        described["tensorContent"] = b64encode(array.tobytes()).decode()
    return node(name, "Const", inputs, dtype=Dtype(str(array.dtype)), value={"tensor": described})


def function(
    name: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, tuple[str, str]],
    nodes: Iterable[JsonNode],
) -> dict[str, Any]:
    """A function of a graph's library.

    Args:
        name: its name.
        inputs: the dtypes of its inputs, by their names.
        outputs: the dtype, and the tensor of the body, of each output.
        nodes: the nodes of its body.
    """
    return {
        "signature": {
            "name": name,
            "inputArg": [{"name": key, "type": _DTYPES[dtype]} for key, dtype in inputs.items()],
            "outputArg": [
                {"name": key, "type": _DTYPES[dtype]} for key, (dtype, _) in outputs.items()
            ],
        },
        "nodeDef": list(nodes),
        "ret": {key: reference for key, (_, reference) in outputs.items()},
        "attr": {},
    }


def topology(nodes: Iterable[JsonNode], functions: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    """The ``modelTopology`` of a graph."""
    return {
        "node": list(nodes),
        "library": {"function": list(functions), "gradient": []},
        "versions": {"producer": 1882},
    }


def model_of(
    topology: dict[str, Any], weights: Mapping[str, Tensor] | None = None, where: str = "a model"
) -> GraphModel:
    """The model of a topology."""
    return GraphModel(graph_of_json(topology, where), weights or {}, where)


def tensor_of(array: Any) -> Tensor:
    """A tensor of an array, whose texts are bytes."""
    array = np.asarray(array)
    if array.dtype == object:
        return tensor(list(array.ravel()), shape=array.shape, dtype="string")
    return tensor(array)


def arrays_of(results: Tensor | Sequence[Tensor]) -> list[Array]:
    """The elements of results; texts are bytes."""
    results = [results] if isinstance(results, Tensor) else results
    return [_array(result) for result in results]


def _array(result: Tensor) -> Array:
    if str(result.dtype) != "string":
        return result.numpy()
    array = np.empty(result.size, object)
    array[:] = list(result.bytes_sync())
    return array.reshape(result.shape)


def arrays_of_constants(topology: dict[str, Any]) -> dict[str, Array]:
    """The values of constants in a graph and in its functions, by the names of their nodes."""
    bodies = [function["nodeDef"] for function in topology["library"]["function"]]
    nodes = [node for body in (topology["node"], *bodies) for node in body]
    return {
        node["name"]: _stored(node["attr"]["value"]["tensor"])
        for node in nodes
        if node["op"] == "Const"
    }


def _stored(described: dict[str, Any]) -> Array:
    shape = [int(size["size"]) for size in described["tensorShape"]["dim"]]
    if described["dtype"] == "DT_STRING":
        array = np.empty(len(described["stringVal"]), object)
        array[:] = list(map(b64decode, described["stringVal"]))
        return array.reshape(shape)
    (dtype,) = [name for name, code in _DTYPES.items() if code == described["dtype"]]
    return np.frombuffer(b64decode(described.get("tensorContent", "")), dtype).reshape(shape)
