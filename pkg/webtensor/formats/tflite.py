"""TensorFlow Lite: models as plain data, of subgraphs, tensors and operators.

``read_tflite`` reads a model's bytes, of which constants are views. Indices, which stand for
tensors, buffers and subgraphs, are checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import ITEM_SIZES, Buffer, Elements
from webtensor.formats.flatbuffers import Record
from webtensor.formats.tflite_tables import IDENTIFIER, OPERATORS, SCHEMA

__all__ = [
    "Model",
    "Operator",
    "OptionValue",
    "Quantization",
    "Signature",
    "SparseDimension",
    "Sparsity",
    "Subgraph",
    "Tensor",
    "read_tflite",
]

_VERSION = 3
#: The builtin operator that stands for those with names of their own.
_CUSTOM = "CUSTOM"
#: The kind of quantization whose scales are in another tensor.
_BLOCKWISE = 2
_BITS = {
    **{name: 8 * size for name, size in ITEM_SIZES.items()},
    "complex128": 128,
    **dict.fromkeys(("int4", "uint4"), 4),
    "int2": 2,
}
OptionValue: TypeAlias = int | float | bool | str | tuple[int | float, ...]
#: Options that are subgraphs by their index.
_SUBGRAPH_OPTIONS = (
    "subgraph",
    "then_subgraph_index",
    "else_subgraph_index",
    "cond_subgraph_index",
    "body_subgraph_index",
    "init_subgraph_index",
)


@dataclass(frozen=True, slots=True)
class Quantization:
    """How integers stand for numbers: as ``(integer - zero_point) * scale``.

    Attributes:
        scales: one for the tensor, or one for each index along a dimension.
        zero_points: one for each scale.
        dimension: that dimension.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    dimension: int


@dataclass(frozen=True, slots=True)
class SparseDimension:
    """A dimension of a sparse tensor.

    Attributes:
        format: "DENSE", or "SPARSE_CSR".
        size: the size of a dense one.
        segments: of a sparse one, where in ``indices`` the indices of each position above begin.
        indices: of a sparse one, the indices that are stored.
    """

    format: str
    size: int
    segments: Sequence[int]
    indices: Sequence[int]


@dataclass(frozen=True, slots=True)
class Sparsity:
    """Which elements of a sparse tensor are stored.

    Attributes:
        traversal_order: the tensor's dimensions in the order of storage; those from the rank on are
            dimensions of blocks.
        block_map: the dimension of the tensor that each dimension of blocks divides.
        dimensions: the dimensions in the order of storage.
    """

    traversal_order: tuple[int, ...]
    block_map: tuple[int, ...]
    dimensions: tuple[SparseDimension, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a subgraph.

    Attributes:
        name: its name.
        shape: its shape, in which dimensions that are not known have the size 1.
        signature: its shape with None for dimensions that are not known.
        dtype: its dtype.
        data: the bytes of a constant, or None.
        quantization: how its integers stand for numbers, or None.
        sparsity: which elements of a constant are stored, or None for all.
        is_variable: whether it keeps its value between runs.
    """

    name: str
    shape: tuple[int, ...]
    signature: tuple[int | None, ...]
    dtype: str
    data: Buffer | None
    quantization: Quantization | None
    sparsity: Sparsity | None
    is_variable: bool

    def elements(self, where: str, budget: Budget) -> Elements:
        """Return the elements of a constant.

        Raises:
            ModelFormatError: it is none, is sparse, or its bytes are of another number.
        """
        where = f"{where}: tensor {self.name!r:.200}"
        if self.data is None or self.sparsity is not None:
            raise ModelFormatError(f"{where} is {'no constant' if self.data is None else 'sparse'}")
        size = budget.size_of(self.shape, where)
        if self.dtype == "string":
            return Elements(self.shape, "string", _strings(self.data, size, where, budget))
        needed = -(-size * _BITS.get(self.dtype, 0) // 8)
        if self.dtype not in _BITS or len(self.data) != needed:
            raise ModelFormatError(
                f"{where} of dtype {self.dtype} and shape {self.shape} has {len(self.data)} bytes"
            )
        return Elements(self.shape, self.dtype, self.data)


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a subgraph.

    Attributes:
        op: its name, such as "CONV_2D", or that of a custom operator.
        is_custom: whether it is a custom one.
        version: its version.
        inputs: the indices of tensors; -1 where an optional input is missing.
        outputs: the indices of tensors.
        intermediates: the indices of tensors that only it uses.
        options: its options by their names; the values of enumerations are names.
        custom_options: the bytes of a custom operator's options.
    """

    op: str
    is_custom: bool
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    intermediates: tuple[int, ...]
    options: Mapping[str, OptionValue]
    custom_options: Buffer


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A subgraph, whose operators are in an order in which they can run."""

    name: str
    tensors: tuple[Tensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """The inputs and outputs of a subgraph, as indices of tensors by names."""

    key: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    subgraph: int


@dataclass(frozen=True, slots=True)
class Model:
    """A model, of which the first subgraph is the main one."""

    description: str
    subgraphs: tuple[Subgraph, ...]
    signatures: tuple[Signature, ...]
    metadata: Mapping[str, Buffer]


def read_tflite(data: Buffer, where: str, budget: Budget | None = None) -> Model:
    """Return the model in the bytes of a file.

    Args:
        data: the bytes.
        where: what errors call the file.
        budget: limits what reading may cost; None is that of a file of this size.

    Raises:
        ModelFormatError: the bytes are no model, or it costs more than the budget.

    Example:
        >>> read_tflite(b"something else", "model.tflite")
        Traceback (most recent call last):
        webtensor.errors.ModelFormatError: model.tflite is no file of the format TFL3
    """
    view = memoryview(data).cast("B")
    budget = budget or Budget(where, len(view))
    record = SCHEMA.decode("Model", view, IDENTIFIER, where, budget)
    with reading(where):
        return _Reader(record, view, where, budget).model()


class _Reader:
    def __init__(self, record: Record, data: memoryview, where: str, budget: Budget) -> None:
        self.record, self.data, self.where, self.budget = record, data, where, budget
        self.buffers = [self.buffer(buffer) for buffer in record["buffers"]]

    def broken(self, reason: str) -> ModelFormatError:
        return ModelFormatError(f"{self.where}: {reason}")

    def model(self) -> Model:
        if self.record["version"] != _VERSION:
            raise self.broken(f"its format is of version {self.record['version']}, not {_VERSION}")
        subgraphs = tuple(
            self.subgraph(subgraph, f"subgraph {index}")
            for index, subgraph in enumerate(self.record["subgraphs"])
        )
        if not subgraphs:
            raise self.broken("it has no subgraph")
        return Model(
            self.record["description"],
            subgraphs,
            tuple(self.signature(row, subgraphs) for row in self.record["signature_defs"]),
            {
                row["name"]: self.buffer_at(row["buffer"], f"metadata {row['name']!r:.200}")
                for row in self.record["metadata"]
            },
        )

    def index(self, index: int, count: int, label: str) -> int:
        """Return an index, if it is that of one of ``count`` things."""
        if not 0 <= index < count:
            raise self.broken(f"{label} is {index}, but there are {count}")
        return index

    def buffer(self, record: Record) -> memoryview:
        """Return the contents of a buffer, which large files have outside of tables."""
        if record["offset"] > 1:
            return self.span(record["offset"], record["size"])
        data: Buffer = record["data"] or b""
        return memoryview(data)

    def span(self, offset: int, size: int) -> memoryview:
        if offset + size > len(self.data):
            raise self.broken(f"{size} bytes at {offset} are needed, but it has {len(self.data)}")
        return self.data[offset : offset + size]

    def buffer_at(self, index: int, label: str) -> memoryview:
        return self.buffers[self.index(index, len(self.buffers), f"{label}: its buffer")]

    def signature(self, record: Record, subgraphs: tuple[Subgraph, ...]) -> Signature:
        where = f"signature {record['signature_key']!r:.200}"
        subgraph = self.index(record["subgraph_index"], len(subgraphs), f"{where}: its subgraph")
        count = len(subgraphs[subgraph].tensors)

        def tensors(rows: Iterable[Record]) -> dict[str, int]:
            return {
                row["name"]: self.index(row["tensor_index"], count, f"{where}: a tensor")
                for row in rows
            }

        inputs, outputs = tensors(record["inputs"]), tensors(record["outputs"])
        return Signature(record["signature_key"], inputs, outputs, subgraph)

    # -- subgraphs -----------------------------------------------------------------------------

    def subgraph(self, record: Record, where: str) -> Subgraph:
        tensors = tuple(
            self.tensor(tensor, f"{where}: tensor {index}")
            for index, tensor in enumerate(record["tensors"])
        )
        count = len(tensors)
        return Subgraph(
            record["name"],
            tensors,
            self.tensor_indices(record["inputs"], count, f"{where}: an input"),
            self.tensor_indices(record["outputs"], count, f"{where}: an output"),
            tuple(
                self.operator(operator, count, f"{where}: operator {index}")
                for index, operator in enumerate(record["operators"])
            ),
        )

    def tensor_indices(
        self, indices: Sequence[int], count: int, label: str, *, optional: bool = False
    ) -> tuple[int, ...]:
        self.budget.spend_items(len(indices), self.where)
        return tuple(
            index if optional and index == -1 else self.index(index, count, label)
            for index in indices
        )

    def operator(self, record: Record, count: int, where: str) -> Operator:
        codes = self.record["operator_codes"]
        code = codes[self.index(record["opcode_index"], len(codes), f"{where}: its code")]
        op = _operator_name(code)
        is_custom = op == _CUSTOM
        if is_custom:
            op = code["custom_code"]
        where = f"{where}, {op}"
        options = self.options(record["builtin_options"])
        for name in _SUBGRAPH_OPTIONS:
            index = options.get(name)
            if isinstance(index, int):
                self.index(index, len(self.record["subgraphs"]), f"{where}: {name}")
        offset, size = record["large_custom_options_offset"], record["large_custom_options_size"]
        custom_options = self.span(offset, size) if offset > 1 else record["custom_options"] or b""
        return Operator(
            op,
            is_custom,
            code["version"],
            self.tensor_indices(record["inputs"], count, f"{where}: an input", optional=True),
            self.tensor_indices(record["outputs"], count, f"{where}: an output"),
            self.tensor_indices(record["intermediates"], count, f"{where}: an intermediate"),
            options,
            custom_options,
        )

    def options(self, record: Record | None) -> dict[str, OptionValue]:
        """Return all options of an operator, also those that have their default."""
        if record is None:
            return {}
        options = {}
        for name, field in record.type.fields.items():
            value = record[name]
            if field.is_vector:
                self.budget.spend_items(len(value), self.where)
                value = tuple(value)
            options[name] = value
        return options

    # -- tensors -------------------------------------------------------------------------------

    def tensor(self, record: Record, where: str) -> Tensor:
        name, shape = record["name"], tuple(record["shape"])
        where = f"{where}, {name!r:.200}"
        if min(shape, default=0) < 0:
            raise self.broken(f"{where} has the shape {shape}")
        self.budget.size_of(shape, f"{self.where}: {where}")
        signature = tuple(record["shape_signature"]) or shape
        if len(signature) != len(shape) or min(signature, default=0) < -1:
            raise self.broken(f"{where} has the shape {shape}, but the signature {signature}")
        if record["external_buffer"]:
            raise self.broken(f"{where} is in another file, which is not supported")
        data = self.buffer_at(record["buffer"], where)
        is_constant = len(data) > 0 or (record["buffer"] > 0 and prod(shape) == 0)
        return Tensor(
            name,
            shape,
            tuple(None if size == -1 else size for size in signature),
            record["type"],
            data if is_constant else None,
            self.quantization(record["quantization"], shape, where),
            self.sparsity(record["sparsity"], len(shape), where),
            record["is_variable"],
        )

    def quantization(
        self, record: Record | None, shape: tuple[int, ...], where: str
    ) -> Quantization | None:
        if record is None:
            return None
        if record["details_type"] == _BLOCKWISE:
            raise self.broken(f"{where} is quantized in blocks, which is not supported")
        scales, zero_points = record["scale"], record["zero_point"]
        if not len(scales):
            return None
        dimension = record["quantized_dimension"]
        self.budget.spend_items(len(scales) + len(zero_points), self.where)
        is_fit = len(scales) == 1 or (
            0 <= dimension < len(shape) and len(scales) == shape[dimension]
        )
        if not is_fit or len(zero_points) not in (0, 1, len(scales)):
            raise self.broken(
                f"{where} of shape {shape} has {len(scales)} scales and {len(zero_points)} zero "
                f"points along dimension {dimension}"
            )
        zeros = tuple(zero_points) or (0,)
        if len(zeros) < len(scales):
            zeros *= len(scales)
        return Quantization(tuple(scales), zeros, dimension)

    def sparsity(self, record: Record | None, rank: int, where: str) -> Sparsity | None:
        if record is None:
            return None
        order, block_map = tuple(record["traversal_order"]), tuple(record["block_map"])
        dimensions = record["dim_metadata"]
        levels = rank + len(block_map)
        are_blocks_fit = all(0 <= dimension < rank for dimension in block_map)
        if sorted(order) != list(range(levels)) or len(dimensions) != levels or not are_blocks_fit:
            raise self.broken(f"{where} of rank {rank} is sparse in an impossible way")
        return Sparsity(order, block_map, tuple(map(_sparse_dimension, dimensions)))


def _operator_name(code: Record) -> str:
    """Return the name of the builtin operator of a code; the older of two fields has a byte."""
    number = max(code["deprecated_builtin_code"], code["builtin_code"])
    return OPERATORS[number] if 0 <= number < len(OPERATORS) else f"BUILTIN_{number}"


def _sparse_dimension(record: Record) -> SparseDimension:
    segments, indices = record["array_segments"], record["array_indices"]
    return SparseDimension(
        record["format"],
        record["dense_size"],
        segments["values"] if segments is not None else (),
        indices["values"] if indices is not None else (),
    )


def _strings(data: Buffer, size: int, where: str, budget: Budget) -> tuple[bytes, ...]:
    """Return strings, before which stand their number, their offsets and the end of the last."""
    view = memoryview(data)
    begin = 4 * (size + 2)
    count = int.from_bytes(view[:4], "little")
    if count != size or begin > len(view):
        raise ModelFormatError(f"{where} needs {size} strings, but has {count}")
    budget.spend_items(size, where)
    budget.spend(len(view), where)
    offsets = [
        int.from_bytes(view[position : position + 4], "little") for position in range(4, begin, 4)
    ]
    if offsets[0] < begin or offsets[-1] > len(view) or sorted(offsets) != offsets:
        raise ModelFormatError(f"{where} has strings outside of its bytes")
    return tuple(bytes(view[start:end]) for start, end in pairwise(offsets))
