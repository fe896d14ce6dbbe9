"""TensorFlow's graphs: nodes, functions and signatures as plain data.

``read_graph`` reads a GraphDef's bytes, ``graph_of_json`` the JSON of TensorFlow.js's
``modelTopology``; both return a ``Graph``. Attributes have Python's own values: a dtype is an
``ElementType`` such as "float32", a shape a tuple in which unknown dimensions are None (a shape of
unknown rank is None), a list a list. Tensors stay as they are stored (``TensorValue``), because a
few bytes may stand for many elements.
"""

from __future__ import annotations

import marshal
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer, Elements, text_or_bytes
from webtensor.formats.protobuf import Message
from webtensor.formats.protobuf_json import from_json
from webtensor.formats.tensorflow_messages import ITEM_SIZES, SCHEMA, dtype_name

__all__ = [
    "VALUE_FIELDS",
    "Argument",
    "AttributeValue",
    "ElementType",
    "FunctionDef",
    "FunctionName",
    "Graph",
    "NodeDef",
    "Placeholder",
    "Shape",
    "Signature",
    "TensorInfo",
    "TensorValue",
    "fits",
    "graph_of_json",
    "graph_of_message",
    "read_graph",
    "signature_of_json",
    "signature_of_message",
]

Shape: TypeAlias = tuple[int | None, ...] | None


def fits(shape: Shape, other: Shape) -> bool:
    """Whether two shapes may be the same, as far as their sizes are known.

    Example:
        >>> fits((3, 2), (None, 2)), fits((3, 2), (2, 3))
        (True, False)
    """
    return (
        shape is None
        or other is None
        or (
            len(shape) == len(other)
            and all(
                None in sizes or sizes[0] == sizes[1] for sizes in zip(shape, other, strict=True)
            )
        )
    )


class ElementType(str):
    """The name of a dtype, such as "float32", "string", "resource" or "variant"."""

    __slots__ = ()


class Placeholder(str):
    """The name of the function's attribute whose value an attribute in its body has."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function of the library by its name, with attributes for its body."""

    name: str
    attributes: Mapping[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A constant as it is stored.

    Attributes:
        shape: its shape.
        dtype: its dtype.
        data: the bytes of its elements in row-major order, or a tuple of strings; the last element
            stands for all that follow it, and no element for zeros.
    """

    shape: Shape
    dtype: str
    data: Buffer | tuple[bytes, ...]

    def complete(self, where: str, budget: Budget) -> Elements:
        """Return all elements.

        Raises:
            ModelFormatError: the shape is not known, or there are more elements than the budget
                allows.

        Example:
            >>> tensor = TensorValue((2, 2), "uint8", b"ab")
            >>> tensor.complete("a tensor", Budget("a file")).data
            b'abbb'
        """
        if self.shape is None or None in self.shape:
            raise ModelFormatError(f"{where}: a tensor has the shape {self.shape}")
        shape = tuple(size for size in self.shape if size is not None)
        if self.dtype not in ITEM_SIZES and self.dtype != "string":
            raise ModelFormatError(f"{where}: tensors of dtype {self.dtype!r} have no elements")
        size = budget.size_of(shape, where)
        if isinstance(self.data, tuple):
            missing = size - len(self.data)
            budget.spend(8 * missing, where)
            return Elements(shape, self.dtype, self.data + (self.data[-1:] or (b"",)) * missing)
        item_size = ITEM_SIZES[self.dtype]
        missing = size - len(self.data) // item_size
        if not missing:
            return Elements(shape, self.dtype, self.data)
        budget.spend(size * item_size, where)
        last = bytes(self.data[-item_size:]) or bytes(item_size)
        return Elements(shape, self.dtype, bytes(self.data) + last * missing)


AttributeValue: TypeAlias = (
    "bool | int | float | str | bytes | Shape | TensorValue | FunctionName | list[AttributeValue]"
)


class NodeDef(NamedTuple):
    """A node of a graph.

    Attributes:
        name: its name, which is unique in the graph or function.
        op: the name of its operation, or of a function.
        inputs: names of tensors, such as "a", "a:1", in functions "a:output:0", and of nodes that
            must run before, such as "^a".
        attributes: its attributes; texts are str, or bytes if they are not UTF-8.
        device: where it ought to run, or "".
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, AttributeValue]
    device: str


class Argument(NamedTuple):
    """An input or output of a function.

    Attributes:
        name: its name.
        dtype: its dtype, or "" if an attribute of the function has it.
        type_attribute: that attribute's name, or "".
        number_attribute: the name of the attribute with the number of tensors in a list, or "".
        type_list_attribute: the name of the attribute with the dtypes of a list, or "".
    """

    name: str
    dtype: str
    type_attribute: str = ""
    number_attribute: str = ""
    type_list_attribute: str = ""


class FunctionDef(NamedTuple):
    """A function of a graph's library.

    Attributes:
        name: its name.
        inputs: its inputs.
        outputs: its outputs.
        nodes: the nodes of its body.
        returns: the tensor of the body for the name of each output.
        control_returns: the node of the body for the name of each control output.
        attributes: its attributes.
        input_attributes: the attributes of some inputs, by the input's index.
        is_stateful: whether it has side effects.
    """

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    nodes: tuple[NodeDef, ...]
    returns: Mapping[str, str]
    control_returns: Mapping[str, str]
    attributes: Mapping[str, AttributeValue]
    input_attributes: Mapping[int, Mapping[str, AttributeValue]]
    is_stateful: bool


class Graph(NamedTuple):
    """A graph.

    Attributes:
        nodes: its nodes, in the order of the file.
        functions: its functions by their name.
        gradients: the name of the gradient function for the name of each function that has one.
        producer: the version of graphs that wrote it.
        min_consumer: the version of graphs that a reader must know.
    """

    nodes: tuple[NodeDef, ...]
    functions: Mapping[str, FunctionDef]
    gradients: Mapping[str, str]
    producer: int = 0
    min_consumer: int = 0


class TensorInfo(NamedTuple):
    """An input or output of a signature.

    Attributes:
        names: the name of the tensor, such as "dense/BiasAdd:0", or the names of those of which a
            sparse (values, indices, shape) or another composite tensor consists.
        dtype: its dtype, or "" if it is not given.
        shape: its shape; None, too, if it is not given.
        resource_id: in models of TensorFlow.js, the number of the resource that the tensor is.
    """

    names: tuple[str, ...]
    dtype: str
    shape: Shape
    resource_id: int | None = None


class Signature(NamedTuple):
    """The inputs and outputs of a graph under the names that its author gave them."""

    inputs: Mapping[str, TensorInfo]
    outputs: Mapping[str, TensorInfo]
    method: str = ""


# -- files -------------------------------------------------------------------------------------


def read_graph(data: Buffer, where: str, budget: Budget | None = None) -> Graph:
    """Return the graph in the bytes of a GraphDef, such as those of a frozen graph.

    Args:
        data: the bytes.
        where: what errors call the file.
        budget: limits what reading may cost; None is that of a file of this size.

    Raises:
        ModelFormatError: the bytes are no graph, or it costs more than the budget.

    Example:
        >>> data = SCHEMA.encode("GraphDef", {"node": [{"name": "x", "op": "Placeholder"}]})
        >>> read_graph(data, "graph.pb").nodes[0].op
        'Placeholder'
    """
    budget = budget or Budget(where, len(data))
    return graph_of_message(SCHEMA.decode("GraphDef", data, where, budget), where, budget)


def graph_of_json(value: object, where: str, budget: Budget | None = None) -> Graph:
    """Return the graph in the ``modelTopology`` of a graph-model of TensorFlow.js.

    Constants have a shape and a dtype, and usually no data, which is with the weights.

    Args:
        value: the decoded JSON.
        where: what errors call it.
        budget: limits what reading may cost.

    Raises:
        ModelFormatError: the value is no graph, or it costs more than the budget.

    Example:
        >>> topology = {"node": [{"name": "y", "op": "Relu", "input": ["x"],
        ...     "attr": {"T": {"type": "DT_FLOAT"}}}]}
        >>> graph_of_json(topology, "model.json").nodes[0]
        NodeDef(name='y', op='Relu', inputs=('x',), attributes={'T': 'float32'}, device='')
    """
    budget = budget or Budget(where)
    nodes = _nodes_by_columns(value, where, budget)
    rest = {**value, "node": []} if isinstance(value, dict) and nodes is not None else value
    graph = graph_of_message(from_json(SCHEMA, "GraphDef", rest, where, budget), where, budget)
    return graph if nodes is None else graph._replace(nodes=nodes)


def signature_of_json(value: object, where: str, budget: Budget | None = None) -> Signature:
    """Return the signature in the ``signature`` of a graph-model of TensorFlow.js.

    Raises:
        ModelFormatError: the value is no signature.

    Example:
        >>> x = {"name": "x:0", "dtype": "DT_FLOAT",
        ...     "tensorShape": {"dim": [{"size": "-1"}, {"size": "3"}]}}
        >>> signature_of_json({"inputs": {"x": x}}, "model.json").inputs["x"]
        TensorInfo(names=('x:0',), dtype='float32', shape=(None, 3), resource_id=None)
    """
    budget = budget or Budget(where)
    message = from_json(SCHEMA, "SignatureDef", value, where, budget)
    return signature_of_message(message, where, budget)


# -- nodes by columns --------------------------------------------------------------------------

#: The version of ``marshal`` in which equal values are equal bytes.
_WITHOUT_REFERENCES = 2


def _nodes_by_columns(topology: object, where: str, budget: Budget) -> tuple[NodeDef, ...] | None:
    """Return the nodes of a GraphDef in JSON, or None where they are not as converters write them.

    All names are read at once, then all inputs and so on, and equal attributes are decoded once.
    Reading node by node takes three times as long, but tells where a graph is malformed.
    """
    nodes = topology.get("node") if isinstance(topology, dict) else None
    if type(nodes) is not list or {*map(type, nodes)} != {dict}:
        return None
    names, ops, devices = (
        [node.get(field, "") for node in nodes] for field in ("name", "op", "device")
    )
    inputs = [node.get("input", []) for node in nodes]
    messages = [node.get("attr", {}) for node in nodes]
    if {*map(type, inputs)} != {list} or {*map(type, messages)} != {dict}:
        return None
    values = [*chain.from_iterable(map(dict.values, messages))]
    budget.spend_items(len(nodes) + len(values), where)
    try:
        "".join(chain(names, ops, devices, *inputs, *messages)).encode()
        # Of what compares values with their types, this is the quickest; nothing is loaded.
        keys = [*map(marshal.dumps, values, repeat(_WITHOUT_REFERENCES))]
        decoded = _decoded_attributes(dict(zip(keys, values, strict=True)), where, budget)
        in_order = map(decoded.__getitem__, keys)
        # Each node takes as many values as it has names of attributes.
        attributes = [dict(zip(message, in_order)) for message in messages]  # noqa: B905
    except (LookupError, TypeError, ValueError):  # ModelFormatError is a ValueError
        return None
    check_unique(names, f"{where}: nodes")
    return tuple(map(NodeDef, names, ops, map(tuple, inputs), attributes, devices))


def _decoded_attributes(
    values: Mapping[bytes, Any], where: str, budget: Budget
) -> dict[bytes, AttributeValue]:
    """Return the values of attributes in JSON by their keys, without those that have no value."""
    by_number = {str(number): value for number, value in enumerate(values.values())}
    message = from_json(SCHEMA, "NodeDef", {"attr": by_number}, where, budget)
    attributes = _Reader(where, budget).attributes(message["attr"], where)
    return {key: attributes[name] for key, name in zip(values, by_number, strict=True)}


# -- graphs ------------------------------------------------------------------------------------


def graph_of_message(message: Message, where: str, budget: Budget) -> Graph:
    """Return the graph of a decoded GraphDef.

    Raises:
        ModelFormatError: two nodes or functions have the same name, or a value is impossible.
    """
    with reading(where):
        reader = _Reader(where, budget)
        versions, library = message["versions"], message["library"]
        functions = [reader.function(function) for function in library["function"]]
        check_unique((function.name for function in functions), f"{where}: functions")
        return Graph(
            reader.nodes(message["node"], ""),
            {function.name: function for function in functions},
            {row["function_name"]: row["gradient_func"] for row in library["gradient"]},
            versions["producer"],
            versions["min_consumer"],
        )


def check_unique(names: Iterable[str], label: str) -> None:
    """Refuse names of which one occurs twice.

    Raises:
        ModelFormatError: the message begins with ``label``.
    """
    names = list(names)
    if len({*names}) < len(names):
        [(name, _)] = Counter(names).most_common(1)
        raise ModelFormatError(f"{label}: two have the name {name!r:.200}")


class _Reader:
    def __init__(self, where: str, budget: Budget) -> None:
        self.where, self.budget = where, budget
        #: Attributes, and the values of single ones, by the identities of their messages, which
        #: nodes may share.
        self._attributes: dict[int, dict[str, AttributeValue]] = {}
        self._values: dict[int, AttributeValue] = {}

    def function(self, message: Message) -> FunctionDef:
        signature = message["signature"]
        name = signature["name"]
        where = f"function {name!r:.200}"
        return FunctionDef(
            name,
            tuple(_argument(argument) for argument in signature["input_arg"]),
            tuple(_argument(argument) for argument in signature["output_arg"]),
            self.nodes(message["node_def"], f"{where}: "),
            message["ret"],
            message["control_ret"],
            self.attributes(message["attr"], where),
            {
                index: self.attributes(attributes["attr"], where)
                for index, attributes in message["arg_attr"].items()
            },
            signature["is_stateful"],
        )

    def nodes(self, messages: Iterable[Message], where: str) -> tuple[NodeDef, ...]:
        messages = list(messages)
        self.budget.spend_items(len(messages), self.where)
        nodes = tuple(self.node(message, where) for message in messages)
        check_unique((node.name for node in nodes), f"{self.where}: {where}nodes")
        return nodes

    def node(self, message: Message, where: str) -> NodeDef:
        name = message["name"]
        return NodeDef(
            name,
            message["op"],
            tuple(message["input"]),
            self.attributes(message["attr"], f"{where}node {name!r:.200}"),
            message.get("device", ""),
        )

    # -- attributes ----------------------------------------------------------------------------

    def attributes(self, messages: Mapping[str, Message], where: str) -> dict[str, AttributeValue]:
        if not messages:
            return {}
        if id(messages) in self._attributes:
            return self._attributes[id(messages)]
        attributes = self._attributes[id(messages)] = {}
        for name, message in messages.items():
            identity = id(message)
            if identity in self._values:
                attributes[name] = self._values[identity]
                continue
            kind = message.which("value")
            if kind:
                try:
                    value = self.attribute(kind, message[kind], where)
                except ModelFormatError:
                    raise
                except (ValueError, OverflowError) as error:
                    label = f"{self.where}: {where}: attribute {name!r:.200}"
                    raise ModelFormatError(f"{label}: {error}") from None
                attributes[name] = self._values[identity] = value
        return attributes

    def attribute(self, kind: str, value: Any, where: str) -> AttributeValue:
        return self.list(value, where) if kind == "list" else self.value(kind, value, where)

    def list(self, message: Message, where: str) -> list[AttributeValue]:
        for kind, values in message.items():
            self.budget.spend_items(len(values), self.where)
            return [self.value(kind, value, where) for value in values]
        return []

    def value(self, kind: str, value: Any, where: str) -> AttributeValue:
        """Return the value of an attribute, or of an item of its list."""
        if kind == "s":
            self.budget.spend(len(value), self.where)
            return text_or_bytes(value)
        if kind == "b":
            return bool(value)
        if kind == "type":
            return ElementType(dtype_name(value))
        if kind == "shape":
            return shape_of(value)
        if kind == "tensor":
            return tensor_of(value, self.budget)
        if kind == "func":
            return FunctionName(value["name"], self.attributes(value["attr"], where))
        if kind == "placeholder":
            return Placeholder(value)
        number: int | float = value
        return number


def _argument(message: Message) -> Argument:
    return Argument(
        message["name"],
        dtype_name(message["type"]),
        message["type_attr"],
        message["number_attr"],
        message["type_list_attr"],
    )


def shape_of(message: Message) -> Shape:
    """Return the shape of a decoded TensorShapeProto.

    Raises:
        ValueError: a size is negative.
    """
    if message["unknown_rank"]:
        return None
    sizes = [dimension["size"] for dimension in message["dim"]]
    if min(sizes, default=0) < -1:
        raise ValueError(f"a shape has the size {min(sizes)}")
    return tuple(None if size == -1 else size for size in sizes)


# -- tensors -----------------------------------------------------------------------------------

#: The field with the elements of a dtype, and the type code of arrays of what is stored.
VALUE_FIELDS = {
    "float32": ("float_val", "f"),
    "float64": ("double_val", "d"),
    "complex64": ("scomplex_val", "f"),
    "complex128": ("dcomplex_val", "d"),
    "float16": ("half_val", "H"),
    "bfloat16": ("half_val", "H"),
    "int64": ("int64_val", "q"),
    "uint32": ("uint32_val", "I"),
    "uint64": ("uint64_val", "Q"),
    "bool": ("bool_val", "B"),
    "int8": ("int_val", "b"),
    "uint8": ("int_val", "B"),
    "int16": ("int_val", "h"),
    "uint16": ("int_val", "H"),
    "int32": ("int_val", "i"),
    "qint8": ("int_val", "b"),
    "quint8": ("int_val", "B"),
    "qint16": ("int_val", "h"),
    "quint16": ("int_val", "H"),
    "qint32": ("int_val", "i"),
    "int4": ("int_val", "b"),
    "uint4": ("int_val", "B"),
    "int2": ("int_val", "b"),
    "uint2": ("int_val", "B"),
}

#: The fields of tensors whose elements are elsewhere, or zeros.
_WITHOUT_ELEMENTS = frozenset({"dtype", "tensor_shape"})


def tensor_of(message: Message, budget: Budget) -> TensorValue:
    """Return the tensor of a decoded TensorProto.

    Raises:
        ValueError: there are more elements than the shape has, or a part of one.
    """
    dtype, shape = dtype_name(message["dtype"]), shape_of(message["tensor_shape"])
    data: Buffer | tuple[bytes, ...]
    if message.keys() <= _WITHOUT_ELEMENTS:  # as in model.json, whose elements are with the weights
        data = () if dtype == "string" else b""
    else:
        data = _strings(message, budget) if dtype == "string" else _bytes(message, dtype, budget)
    if shape is None or None in shape:
        return TensorValue(shape, dtype, data)
    size = budget.size_of([length for length in shape if length is not None])
    item_size = 1 if isinstance(data, tuple) else ITEM_SIZES.get(dtype, 1)
    is_complete = not message["tensor_content"] or len(data) == size * item_size
    if len(data) % item_size or len(data) > size * item_size or not is_complete:
        raise ValueError(
            f"a tensor of dtype {dtype!r} and shape {shape} has {len(data)} "
            + ("strings" if isinstance(data, tuple) else "bytes")
        )
    return TensorValue(shape, dtype, data)


def _strings(message: Message, budget: Budget) -> tuple[bytes, ...]:
    strings = message["string_val"]
    budget.spend_items(len(strings))
    budget.spend(sum(len(string) for string in strings))
    return tuple(bytes(string) for string in strings)


def _bytes(message: Message, dtype: str, budget: Budget) -> Buffer:
    content: Buffer = message["tensor_content"]
    if content:
        return content
    if dtype.startswith("float8"):
        values: Buffer = message["float8_val"]
        return values
    if dtype not in VALUE_FIELDS:
        return b""
    field, code = VALUE_FIELDS[dtype]
    numbers = message[field]
    if isinstance(numbers, (array, memoryview)):
        stored_code = numbers.typecode if isinstance(numbers, array) else numbers.format
        if stored_code == code:
            return memoryview(numbers).cast("B")
    budget.spend(8 * len(numbers))
    return memoryview(array(code, numbers)).cast("B")


# -- signatures --------------------------------------------------------------------------------


def signature_of_message(message: Message, where: str, budget: Budget) -> Signature:
    """Return the signature of a decoded SignatureDef.

    Raises:
        ModelFormatError: a dtype or a shape is impossible.
    """
    with reading(where):
        budget.spend_items(len(message["inputs"]) + len(message["outputs"]), where)
        return Signature(
            {name: tensor_info_of(info) for name, info in message["inputs"].items()},
            {name: tensor_info_of(info) for name, info in message["outputs"].items()},
            message["method_name"],
        )


def tensor_info_of(message: Message) -> TensorInfo:
    """Return the tensor of a decoded TensorInfo."""
    encoding = message.which("encoding")
    names = (message["name"],)
    if encoding == "coo_sparse":
        sparse = message["coo_sparse"]
        parts = ("values", "indices", "dense_shape")
        names = tuple(sparse[f"{part}_tensor_name"] for part in parts)
    elif encoding == "composite_tensor":
        components = message["composite_tensor"]["components"]
        names = tuple(component["name"] for component in components)
    shape = shape_of(message["tensor_shape"]) if "tensor_shape" in message else None
    return TensorInfo(names, dtype_name(message["dtype"]), shape, message.get("resource_id"))
