"""Writing TensorFlow's graphs: the bytes of a GraphDef, and the JSON of TensorFlow.js's models.

This is the inverse of ``graph_def``: the type of an attribute's value says of which kind it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from webtensor.formats.graph_def import (
    VALUE_FIELDS,
    Argument,
    AttributeValue,
    ElementType,
    FunctionDef,
    FunctionName,
    Graph,
    NodeDef,
    Placeholder,
    Shape,
    Signature,
    TensorInfo,
    TensorValue,
)
from webtensor.formats.protobuf_json import to_json
from webtensor.formats.tensorflow_messages import DTYPES, ITEM_SIZES, SCHEMA

__all__ = ["graph_bytes", "graph_json", "signature_json"]

#: An empty name is that of no dtype.
_NUMBERS = {"": 0, **{name: number for number, name in DTYPES.items()}}


def graph_bytes(graph: Graph) -> bytes:
    """Return a graph as the bytes of a GraphDef.

    Raises:
        TypeError: an attribute has a value of an unknown type.

    Example:
        >>> graph = Graph((NodeDef("x", "Placeholder", (), {}, ""),), {}, {})
        >>> len(graph_bytes(graph))
        18
    """
    return SCHEMA.encode("GraphDef", _graph(graph))


def graph_json(graph: Graph) -> dict[str, Any]:
    """Return a graph as the ``modelTopology`` of a graph-model of TensorFlow.js.

    Raises:
        TypeError: an attribute has a value of an unknown type.

    Example:
        >>> node = NodeDef("y", "Relu", ("x",), {"T": ElementType("float32")}, "")
        >>> graph_json(Graph((node,), {}, {}))["node"]
        [{'name': 'y', 'op': 'Relu', 'input': ['x'], 'attr': {'T': {'type': 'DT_FLOAT'}}}]
    """
    return to_json(SCHEMA, "GraphDef", _graph(graph))


def signature_json(signature: Signature) -> dict[str, Any]:
    """Return a signature as the ``signature`` of a graph-model of TensorFlow.js.

    Example:
        >>> x = TensorInfo(("x:0",), "float32", (None, 3))
        >>> signature_json(Signature({"x": x}, {}))["inputs"]["x"]["tensorShape"]
        {'dim': [{'size': '-1'}, {'size': '3'}]}
    """
    message = {
        "inputs": {name: _tensor_info(info) for name, info in signature.inputs.items()},
        "outputs": {name: _tensor_info(info) for name, info in signature.outputs.items()},
        "method_name": signature.method,
    }
    return to_json(SCHEMA, "SignatureDef", _present(message))


def _present(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a message that are not empty."""
    return {name: value for name, value in message.items() if value not in ("", 0, {}, [], ())}


# -- graphs ------------------------------------------------------------------------------------


def _graph(graph: Graph) -> dict[str, Any]:
    gradients = [
        {"function_name": name, "gradient_func": gradient}
        for name, gradient in graph.gradients.items()
    ]
    functions = [_function(function) for function in graph.functions.values()]
    versions = {"producer": graph.producer, "min_consumer": graph.min_consumer}
    message = {
        "node": [_node(node) for node in graph.nodes],
        "library": _present({"function": functions, "gradient": gradients}),
        "versions": _present(versions),
    }
    return _present(message)


def _node(node: NodeDef) -> dict[str, Any]:
    message = {
        "name": node.name,
        "op": node.op,
        "input": list(node.inputs),
        "attr": _attributes(node.attributes),
        "device": node.device,
    }
    return _present(message)


def _function(function: FunctionDef) -> dict[str, Any]:
    signature = {
        "name": function.name,
        "input_arg": [_argument(argument) for argument in function.inputs],
        "output_arg": [_argument(argument) for argument in function.outputs],
        "is_stateful": function.is_stateful,
        "control_output": list(function.control_returns),
    }
    message = {
        "signature": _present(signature),
        "node_def": [_node(node) for node in function.nodes],
        "ret": function.returns,
        "control_ret": function.control_returns,
        "attr": _attributes(function.attributes),
        "arg_attr": {
            index: {"attr": _attributes(attributes)}
            for index, attributes in function.input_attributes.items()
        },
    }
    return _present(message)


def _argument(argument: Argument) -> dict[str, Any]:
    message = {
        "name": argument.name,
        "type": _NUMBERS.get(argument.dtype, 0),
        "type_attr": argument.type_attribute,
        "number_attr": argument.number_attribute,
        "type_list_attr": argument.type_list_attribute,
    }
    return _present(message)


# -- attributes --------------------------------------------------------------------------------


def _attributes(attributes: Mapping[str, AttributeValue]) -> dict[str, dict[str, Any]]:
    return {name: _attribute(value) for name, value in attributes.items()}


def _attribute(value: AttributeValue) -> dict[str, Any]:
    if not isinstance(value, list):
        kind, message = _value(value)
        return {kind: message}
    values = [_value(item) for item in value]
    kinds = {kind for kind, _ in values}
    if len(kinds) > 1:
        raise TypeError(f"a list has values of several kinds: {value!r:.200}")
    return {"list": {kind: [message for _, message in values] for kind in kinds}}


def _value(value: AttributeValue) -> tuple[str, Any]:
    """Return the kind of a value, and the value as in a message."""
    match value:
        case bool():
            return "b", value
        case int():
            return "i", value
        case float():
            return "f", value
        case ElementType():
            return "type", _NUMBERS[value]
        case Placeholder():
            return "placeholder", str(value)
        case str():
            return "s", value.encode()
        case bytes():
            return "s", value
        case TensorValue():
            return "tensor", _tensor(value)
        case FunctionName():
            return "func", _present({"name": value.name, "attr": _attributes(value.attributes)})
        case None | tuple():
            return "shape", _shape(value)
    raise TypeError(f"no attribute can be {value!r:.200}")


def _shape(shape: Shape) -> dict[str, Any]:
    if shape is None:
        return {"unknown_rank": True}
    return _present({"dim": [{"size": -1 if size is None else size} for size in shape]})


def _tensor(tensor: TensorValue) -> dict[str, Any]:
    message = {"dtype": _NUMBERS[tensor.dtype], "tensor_shape": _shape(tensor.shape)}
    data = tensor.data
    if isinstance(data, tuple):
        return {**message, "string_val": data} if data else message
    if not len(data):
        return message
    if len(data) == _byte_count(tensor):
        return {**message, "tensor_content": data}
    if tensor.dtype.startswith("float8"):
        return {**message, "float8_val": data}
    field, code = VALUE_FIELDS[tensor.dtype]
    return {**message, field: array(code, bytes(data))}


def _byte_count(tensor: TensorValue) -> int:
    """Return the number of bytes of all elements, or -1 if the shape is not known."""
    if tensor.shape is None:
        return -1
    count = ITEM_SIZES.get(tensor.dtype, 0)
    for size in tensor.shape:
        count = -1 if size is None or count < 0 else count * size
    return count


def _tensor_info(info: TensorInfo) -> dict[str, Any]:
    message: dict[str, Any] = _names(info.names)
    if info.dtype:
        message["dtype"] = _NUMBERS[info.dtype]
    if info.shape is not None:
        message["tensor_shape"] = _shape(info.shape)
    if info.resource_id is not None:
        message["resource_id"] = info.resource_id
    return message


def _names(names: Sequence[str]) -> dict[str, Any]:
    if len(names) == 1:
        return {"name": names[0]}
    return {"composite_tensor": {"components": [{"name": name} for name in names]}}
