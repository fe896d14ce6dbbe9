"""ONNX: models as plain data, of graphs, nodes, tensors, types and functions.

``read_onnx`` reads a model's bytes. Attributes have Python's own values, and tensors are views of
the bytes. Tensors that lie in other files have an ``ExternalData`` in place of the bytes;
``Model.external_files`` names these files, and ``Tensor.elements`` takes their contents.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer, Elements, text_or_bytes
from webtensor.formats.onnx_messages import ATTRIBUTE_KINDS, DATA_TYPES, SCHEMA, DataType
from webtensor.formats.paths import path_beside
from webtensor.formats.protobuf import Message

__all__ = [
    "AttributeReference",
    "AttributeValue",
    "Dimension",
    "ExternalData",
    "Function",
    "Graph",
    "MapType",
    "Model",
    "Node",
    "OpaqueType",
    "OptionalType",
    "SequenceType",
    "SparseTensor",
    "SparseTensorType",
    "Tensor",
    "TensorType",
    "Type",
    "ValueInfo",
    "read_onnx",
    "read_onnx_tensor",
]

#: A size, the name of a size that several dimensions share, or None for an unknown one.
Dimension: TypeAlias = int | str | None

#: What PaddlePaddle writes for an unknown size, which the standard leaves out.
_UNKNOWN_SIZE = -1


@dataclass(frozen=True, slots=True)
class ExternalData:
    """Where the bytes of a tensor are in another file; without a size they end with the file."""

    path: str
    offset: int
    size: int | None


@dataclass(frozen=True, slots=True)
class Tensor:
    """A constant tensor.

    Attributes:
        name: its name, or "".
        shape: its shape.
        dtype: its dtype; elements of less than a byte are packed, beginning with the lowest bits.
        data: the bytes of its elements, a tuple of strings, or where the bytes are.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    data: Buffer | tuple[bytes, ...] | ExternalData

    def elements(self, where: str, files: Mapping[str, Buffer] | None = None) -> Elements:
        """Return the elements.

        Args:
            where: what errors call the tensor.
            files: the contents of ``Model.external_files``.

        Raises:
            ModelFormatError: the file is missing, or of another size than it must be.
        """
        if not isinstance(self.data, ExternalData):
            return Elements(self.shape, self.dtype, self.data)
        path, offset, size = self.data.path, self.data.offset, self.data.size
        if files is None or path not in files:
            raise ModelFormatError(f"{where}: its elements are in {path!r:.200}, which is missing")
        contents = memoryview(files[path]).cast("B")[offset:]
        needed = _byte_count(self.shape, _BITS[self.dtype])
        if size is None:
            size = len(contents)
        if size != needed or len(contents) < size:
            raise ModelFormatError(
                f"{where}: {needed} bytes are needed, but {min(size, len(contents))} are in "
                f"{path!r:.200} from byte {offset}"
            )
        return Elements(self.shape, self.dtype, contents[:size])


@dataclass(frozen=True, slots=True)
class SparseTensor:
    """A tensor of zeros, with a few other elements.

    Attributes:
        shape: its shape.
        values: the other elements, of shape (count,).
        indices: their indices, of shape (count,) in row-major order, or (count, rank).
    """

    shape: tuple[int, ...]
    values: Tensor
    indices: Tensor


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor of a dtype; its shape is None where even the rank is unknown."""

    dtype: str
    shape: tuple[Dimension, ...] | None


@dataclass(frozen=True, slots=True)
class SparseTensorType:
    """A sparse tensor of a dtype; its shape is None where even the rank is unknown."""

    dtype: str
    shape: tuple[Dimension, ...] | None


@dataclass(frozen=True, slots=True)
class SequenceType:
    """A list of values of one type."""

    element: Type


@dataclass(frozen=True, slots=True)
class OptionalType:
    """A value, or none."""

    element: Type


@dataclass(frozen=True, slots=True)
class MapType:
    """Values by keys, which have a dtype."""

    key: str
    value: Type


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type that a domain defines."""

    domain: str
    name: str


#: The type of a value, or None where it is not given.
Type: TypeAlias = (
    "TensorType | SparseTensorType | SequenceType | OptionalType | MapType | OpaqueType | None"
)


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """The name and the type of an input, an output or a value between nodes."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class AttributeReference:
    """The name of the function's attribute whose value an attribute in its body has."""

    name: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph.

    Attributes:
        op: the name of its operator.
        domain: that of the operator; "" is ONNX's own.
        name: its name, or "".
        inputs: the names of values; "" where an optional input is missing.
        outputs: the names of values; "" where an optional output is not wanted.
        attributes: its attributes; texts are str, or bytes if they are not UTF-8.
        overload: which of several functions of this name is meant, or "".
    """

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, AttributeValue]
    overload: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph, whose nodes are in an order in which they can run.

    Attributes:
        name: its name.
        nodes: its nodes.
        inputs: its inputs; in old files those that are initializers, too.
        outputs: its outputs.
        values: the types of some of the values between nodes.
        initializers: constants by the name of the value; they are the defaults of inputs.
        sparse_initializers: sparse constants by the name of the value.
        quantization: by the name of a value, which values have its "SCALE_TENSOR" and others.
    """

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    values: tuple[ValueInfo, ...]
    initializers: Mapping[str, Tensor]
    sparse_initializers: Mapping[str, SparseTensor]
    quantization: Mapping[str, Mapping[str, str]]


AttributeValue: TypeAlias = (
    "int | float | str | bytes | Tensor | SparseTensor | Graph | Type | AttributeReference"
    " | list[AttributeValue]"
)


@dataclass(frozen=True, slots=True)
class Function:
    """An operator that is a graph of others.

    Attributes:
        name: its name.
        domain: its domain.
        overload: which of several functions of this name it is, or "".
        inputs: the names of its inputs.
        outputs: the names of its outputs.
        attributes: the names of the attributes that nodes must give.
        defaults: the values of the attributes that nodes may give.
        nodes: the nodes of its body.
        opsets: the version of the operators of each domain that its body uses.
        values: the types of some of the values between nodes.
    """

    name: str
    domain: str
    overload: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[str, ...]
    defaults: Mapping[str, AttributeValue]
    nodes: tuple[Node, ...]
    opsets: Mapping[str, int]
    values: tuple[ValueInfo, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A model.

    Attributes:
        ir_version: the version of the format.
        opsets: the version of the operators of each domain; "" is ONNX's own.
        graph: its graph.
        functions: its functions.
        producer: the name and the version of what wrote it.
        domain: its domain.
        version: its version.
        description: a text for people.
        metadata: texts by their name.
        external_files: the paths of the files with further tensors, beside the model's.
    """

    ir_version: int
    opsets: Mapping[str, int]
    graph: Graph
    functions: tuple[Function, ...]
    producer: tuple[str, str]
    domain: str
    version: int
    description: str
    metadata: Mapping[str, str]
    external_files: tuple[str, ...]


# -- files -------------------------------------------------------------------------------------


def read_onnx(data: Buffer, where: str, budget: Budget | None = None) -> Model:
    """Return the model in the bytes of a file.

    Args:
        data: the bytes.
        where: what errors call the file.
        budget: limits what reading may cost; None is that of a file of this size.

    Raises:
        ModelFormatError: the bytes are no model, or it costs more than the budget.

    Example:
        >>> node = {"op_type": "Relu", "input": ["x"], "output": ["y"]}
        >>> graph = {"node": [node], "input": [{"name": "x"}], "output": [{"name": "y"}]}
        >>> values = {"ir_version": 8, "opset_import": [{"version": 17}], "graph": graph}
        >>> model = read_onnx(SCHEMA.encode("ModelProto", values), "model.onnx")
        >>> model.graph.nodes[0].op, model.opsets
        ('Relu', {'': 17})
    """
    budget = budget or Budget(where, len(data))
    message = SCHEMA.decode("ModelProto", data, where, budget)
    with reading(where):
        if "graph" not in message or not message["ir_version"]:
            raise ModelFormatError(f"{where} is no model of ONNX")
        return _Reader(where, budget).model(message)


def read_onnx_tensor(data: Buffer, where: str, budget: Budget | None = None) -> Tensor:
    """Return the tensor in the bytes of a TensorProto, such as those of test data.

    Raises:
        ModelFormatError: the bytes are no tensor, or it costs more than the budget.
    """
    budget = budget or Budget(where, len(data))
    message = SCHEMA.decode("TensorProto", data, where, budget)
    with reading(where):
        return _Reader(where, budget).tensor(message, "the tensor")


# -- models ------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, where: str, budget: Budget) -> None:
        self.where, self.budget = where, budget
        self.external_files: dict[str, None] = {}

    def broken(self, reason: str) -> ModelFormatError:
        return ModelFormatError(f"{self.where}: {reason}")

    def model(self, message: Message) -> Model:
        graph = self.graph(message["graph"], "")
        functions = tuple(self.function(function) for function in message["functions"])
        keys = [(function.domain, function.name, function.overload) for function in functions]
        if len(set(keys)) < len(keys):
            raise self.broken("two functions have the same name")
        return Model(
            message["ir_version"],
            self.opsets(message["opset_import"]),
            graph,
            functions,
            (message["producer_name"], message["producer_version"]),
            message["domain"],
            message["model_version"],
            message["doc_string"],
            _texts(message["metadata_props"]),
            tuple(self.external_files),
        )

    def opsets(self, messages: Iterable[Message]) -> dict[str, int]:
        opsets: dict[str, int] = {}
        for message in messages:
            domain = _domain(message)
            if opsets.setdefault(domain, message["version"]) != message["version"]:
                raise self.broken(f"two versions of the operators of {domain!r:.200} are imported")
        return opsets

    def function(self, message: Message) -> Function:
        where = f"function {message['name']!r:.200}: "
        return Function(
            message["name"],
            _domain(message),
            message["overload"],
            tuple(message["input"]),
            tuple(message["output"]),
            tuple(message["attribute"]),
            self.attributes(message["attribute_proto"], where),
            self.nodes(message["node"], where),
            self.opsets(message["opset_import"]),
            self.values(message["value_info"], where),
        )

    def graph(self, message: Message, where: str) -> Graph:
        initializers: dict[str, Tensor] = {}
        for index, initializer in enumerate(message["initializer"]):
            name = initializer["name"]
            label = f"{where}initializer {index}, {name!r:.200}"
            if name in initializers:
                raise self.broken(f"{label}: another one has this name")
            initializers[name] = self.tensor(initializer, label)
        sparse = [
            self.sparse_tensor(tensor, f"{where}sparse initializer {index}")
            for index, tensor in enumerate(message["sparse_initializer"])
        ]
        return Graph(
            message["name"],
            self.nodes(message["node"], where),
            self.values(message["input"], where),
            self.values(message["output"], where),
            self.values(message["value_info"], where),
            initializers,
            {tensor.values.name: tensor for tensor in sparse},
            {
                annotation["tensor_name"]: _texts(annotation["quant_parameter_tensor_names"])
                for annotation in message["quantization_annotation"]
            },
        )

    def nodes(self, messages: Iterable[Message], where: str) -> tuple[Node, ...]:
        return tuple(
            self.node(message, f"{where}node {index}") for index, message in enumerate(messages)
        )

    def node(self, message: Message, where: str) -> Node:
        where = f"{where}, {message['name'] or message['op_type']!r:.200}"
        return Node(
            message["op_type"],
            _domain(message),
            message["name"],
            tuple(message["input"]),
            tuple(message["output"]),
            self.attributes(message["attribute"], f"{where}: "),
            message["overload"],
        )

    # -- attributes ----------------------------------------------------------------------------

    def attributes(self, messages: Iterable[Message], where: str) -> dict[str, AttributeValue]:
        attributes: dict[str, AttributeValue] = {}
        for message in messages:
            name = message["name"]
            label = f"{where}attribute {name!r:.200}"
            if name in attributes:
                raise self.broken(f"{label} is given twice")
            attributes[name] = self.attribute(message, label)
        return attributes

    def attribute(self, message: Message, where: str) -> AttributeValue:
        if message["ref_attr_name"]:
            return AttributeReference(message["ref_attr_name"])
        kind = ATTRIBUTE_KINDS.get(message["type"])
        if not message["type"]:
            # Files of version 1 do not say the kind.
            kind = next((field for field in message if field in _FIELDS), None)
        if kind is None:
            raise self.broken(f"{where} is of the unknown kind {message['type']}")
        value = message[kind]
        if kind not in _LISTS:
            return self.value(kind, value, where)
        self.budget.spend_items(len(value), self.where)
        return [
            self.value(_LISTS[kind], item, f"{where}[{index}]") for index, item in enumerate(value)
        ]

    def value(self, kind: str, value: Any, where: str) -> AttributeValue:
        """Return the value of an attribute, or of an item of its list."""
        if kind == "s":
            self.budget.spend(len(value), self.where)
            return text_or_bytes(value)
        if kind == "t":
            return self.tensor(value, where)
        if kind == "g":
            return self.graph(value, f"{where}: ")
        if kind == "sparse_tensor":
            return self.sparse_tensor(value, where)
        if kind == "tp":
            return self.type(value, where)
        number: int | float = value
        return number

    # -- types ---------------------------------------------------------------------------------

    def values(self, messages: Iterable[Message], where: str) -> tuple[ValueInfo, ...]:
        return tuple(self.value_info(message, where) for message in messages)

    def value_info(self, message: Message, where: str) -> ValueInfo:
        name = message["name"]
        return ValueInfo(name, self.type(message["type"], f"{where}value {name!r:.200}"))

    def type(self, message: Message, where: str) -> Type:
        kind = message.which("value")
        if not kind:
            return None
        value = message[kind]
        if kind == "tensor_type":
            return TensorType(self.dtype(value["elem_type"], where), self.shape(value, where))
        if kind == "sparse_tensor_type":
            return SparseTensorType(self.dtype(value["elem_type"], where), self.shape(value, where))
        if kind == "sequence_type":
            return SequenceType(self.type(value["elem_type"], where))
        if kind == "optional_type":
            return OptionalType(self.type(value["elem_type"], where))
        if kind == "map_type":
            key = self.dtype(value["key_type"], where)
            return MapType(key, self.type(value["value_type"], where))
        return OpaqueType(value["domain"], value["name"])

    def dtype(self, number: int, where: str) -> str:
        """Return a dtype, or "" if it is not given."""
        return self.data_type(number, where).name if number else ""

    def data_type(self, number: int, where: str) -> DataType:
        if number not in DATA_TYPES:
            raise self.broken(f"{where} has a dtype of the unknown number {number}")
        return DATA_TYPES[number]

    def shape(self, message: Message, where: str) -> tuple[Dimension, ...] | None:
        """Return the shape in the type of a tensor."""
        if "shape" not in message:
            return None
        dimensions = message["shape"]["dim"]
        shape = tuple(
            dimension[kind] if (kind := dimension.which("value")) else None
            for dimension in dimensions
        )
        sizes = [size for size in shape if isinstance(size, int) and size != _UNKNOWN_SIZE]
        if min(sizes, default=0) < 0:
            raise self.broken(f"{where} has a shape with the size {min(sizes)}")
        self.budget.size_of(sizes, f"{self.where}: {where}")
        return tuple(None if size in ("", _UNKNOWN_SIZE) else size for size in shape)

    # -- tensors -------------------------------------------------------------------------------

    def tensor(self, message: Message, where: str) -> Tensor:
        data_type = self.data_type(message["data_type"], where)
        shape, size = self.dimensions(message, where)
        name, dtype = message["name"], data_type.name
        if "segment" in message:
            raise self.broken(f"{where} is a part of a tensor, which is not supported")
        if message["data_location"] == 1:
            return Tensor(name, shape, dtype, self.external_data(message, data_type, where))
        if dtype == "string":
            strings = message["string_data"]
            self.budget.spend_items(size, self.where)
            self.budget.spend(sum(len(string) for string in strings), self.where)
            if "raw_data" in message or len(strings) != size:
                raise self.broken(f"{where} needs {size} strings, but has {len(strings)}")
            return Tensor(name, shape, dtype, tuple(bytes(string) for string in strings))
        data = self.bytes(message, data_type, size)
        if len(data) != _byte_count(shape, data_type.bits):
            raise self.broken(
                f"{where} of dtype {dtype} and shape {shape} needs "
                f"{_byte_count(shape, data_type.bits)} bytes, but has {len(data)}"
            )
        return Tensor(name, shape, dtype, data)

    def dimensions(self, message: Message, where: str) -> tuple[tuple[int, ...], int]:
        """Return the shape of a tensor, and its number of elements."""
        shape = tuple(message["dims"])
        if min(shape, default=0) < 0:
            raise self.broken(f"{where} has the shape {shape}")
        return shape, self.budget.size_of(shape, f"{self.where}: {where}")

    def bytes(self, message: Message, data_type: DataType, size: int) -> Buffer:
        """Return the bytes of the elements of a tensor."""
        if "raw_data" in message:
            raw_data: memoryview = message["raw_data"]
            return raw_data
        numbers = message[data_type.field]
        if isinstance(numbers, array) and numbers.typecode == data_type.code:
            return memoryview(numbers).cast("B")
        if isinstance(numbers, memoryview) and numbers.format == data_type.code:
            return numbers.cast("B")
        self.budget.spend(8 * len(numbers), self.where)
        code, mask = data_type.code, _MASKS.get(data_type.code)
        if mask is not None:
            # Files have signed numbers as well as unsigned ones here.
            code, numbers = code.upper(), (number & mask for number in numbers)
        codes = array(code, numbers)
        return _packed_6_bits(codes) if data_type.bits == 6 else memoryview(codes).cast("B")

    def external_data(self, message: Message, data_type: DataType, where: str) -> ExternalData:
        entries = _texts(message["external_data"])
        if data_type.name == "string":
            raise self.broken(f"{where} has strings in another file")
        path = path_beside(entries.get("location", ""), f"{self.where}: {where}")
        for name in ("offset", "length"):
            if not _COUNT.fullmatch(entries.get(name, "0")):
                raise self.broken(f"{where} has the {name} {entries[name]!r:.200}")
        self.external_files[path] = None
        size = int(entries["length"]) if "length" in entries else None
        return ExternalData(path, int(entries.get("offset", 0)), size)

    def sparse_tensor(self, message: Message, where: str) -> SparseTensor:
        shape, _ = self.dimensions(message, where)
        values = self.tensor(message["values"], f"{where}: values")
        indices = self.tensor(message["indices"], f"{where}: indices")
        count = values.shape[0] if len(values.shape) == 1 else -1
        if indices.dtype != "int64" or indices.shape not in ((count,), (count, len(shape))):
            raise self.broken(
                f"{where} of shape {shape} has values of shape {values.shape}, and indices of "
                f"dtype {indices.dtype} and shape {indices.shape}"
            )
        return SparseTensor(shape, values, indices)


#: The fields with values of attributes, and the kind of the items of each list.
_FIELDS = frozenset(ATTRIBUTE_KINDS.values())
_LISTS = {
    "floats": "f",
    "ints": "i",
    "strings": "s",
    "tensors": "t",
    "graphs": "g",
    "sparse_tensors": "sparse_tensor",
    "type_protos": "tp",
}
_BITS = {data_type.name: data_type.bits for data_type in DATA_TYPES.values()}
_MASKS = {"b": 0xFF, "B": 0xFF, "h": 0xFFFF, "H": 0xFFFF, "I": 0xFFFFFFFF}
_COUNT = re.compile(r"\d{1,18}", re.ASCII)


def _domain(message: Message) -> str:
    """Return the domain of operators; ONNX's own has two names."""
    domain: str = message["domain"]
    return "" if domain == "ai.onnx" else domain


def _texts(messages: Iterable[Message]) -> dict[str, str]:
    return {message["key"]: message["value"] for message in messages}


def _byte_count(shape: Iterable[int], bits: int) -> int:
    """Return the number of bytes of a tensor whose elements have a number of bits."""
    return -(-prod(shape) * bits // 8)


def _packed_6_bits(codes: array[int]) -> bytes:
    """Return codes of 6 bits, of which four take three bytes."""
    packed = bytearray()
    for start in range(0, len(codes), 4):
        group = codes[start : start + 4]
        bits = sum((code & 63) << 6 * index for index, code in enumerate(group))
        packed += bits.to_bytes(3, "little")[: -(-len(group) * 6 // 8)]
    return bytes(packed)
