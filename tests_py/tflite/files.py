"""Models of TensorFlow Lite of a few operators, written by our tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from struct import pack
from typing import Any, NamedTuple

import numpy as np

import webtensor as wt
from tests_py.formats.flatbuffer_files import encode
from webtensor.formats.tflite_tables import IDENTIFIER, OPERATORS, SCHEMA

__all__ = ["Array", "Operator", "Tensor", "file", "opened", "subgraph"]

Array = np.ndarray[Any, Any]


class Tensor(NamedTuple):
    """A tensor of a subgraph.

    Attributes:
        name: its name.
        shape: its shape, in which None is an unknown size.
        dtype: its dtype.
        data: the elements of a constant, or None.
        fields: other fields of its table, such as ``quantization``.
    """

    name: str
    shape: Sequence[int | None] = ()
    dtype: str = "float32"
    data: Array | bytes | None = None
    fields: Mapping[str, Any] = {}

    @classmethod
    def constant(cls, name: str, array: Any, **fields: Any) -> Tensor:
        """A constant."""
        array = np.asarray(array)
        dtype = "string" if array.dtype.kind in "OUS" else str(array.dtype)
        return cls(name, array.shape, dtype, array, fields)

    def bytes(self) -> bytes:
        """The bytes of a constant."""
        if self.data is None or isinstance(self.data, bytes):
            return self.data or b""
        if self.dtype != "string":
            return self.data.tobytes()
        texts = [str(text).encode() for text in self.data.ravel()]
        ends = np.cumsum([4 * (len(texts) + 2), *map(len, texts)])
        return pack(f"<{len(texts) + 2}I", len(texts), *map(int, ends)) + b"".join(texts)

    def row(self, buffer: int) -> dict[str, Any]:
        """The values of its table."""
        return {
            "name": self.name,
            "shape": [1 if size is None else size for size in self.shape],
            "shape_signature": [-1 if size is None else size for size in self.shape],
            "type": self.dtype,
            "buffer": buffer,
            **self.fields,
        }


class Operator(NamedTuple):
    """An operator, whose inputs and outputs are names of tensors; "" is a missing one."""

    op: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    options: tuple[str, Mapping[str, Any]] | None = None
    custom_options: bytes = b""
    version: int = 1


def subgraph(
    tensors: Iterable[Tensor],
    operators: Iterable[Operator],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> dict[str, Any]:
    """The parts of a subgraph."""
    return {
        "tensors": list(tensors),
        "operators": list(operators),
        "inputs": inputs,
        "outputs": outputs,
    }


def file(*subgraphs: Mapping[str, Any], **fields: Any) -> bytes:
    """The bytes of a model."""
    buffers: list[dict[str, Any]] = [{}]
    codes: list[tuple[str, int]] = []
    rows = []
    for graph in subgraphs:
        indices = {tensor.name: index for index, tensor in enumerate(graph["tensors"])} | {"": -1}
        tensors = []
        for tensor in graph["tensors"]:
            if tensor.data is not None:
                buffers.append({"data": tensor.bytes()})
            tensors.append(tensor.row(0 if tensor.data is None else len(buffers) - 1))
        operators = []
        for operator in graph["operators"]:
            code = operator.op, operator.version
            if code not in codes:
                codes.append(code)
            row: dict[str, Any] = {
                "opcode_index": codes.index(code),
                "inputs": [indices[name] for name in operator.inputs],
                "outputs": [indices[name] for name in operator.outputs],
            }
            if operator.options is not None:
                row["builtin_options"] = operator.options
            if operator.custom_options:
                row["custom_options"] = operator.custom_options
            operators.append(row)
        rows.append(
            {
                "tensors": tensors,
                "operators": operators,
                "inputs": [indices[name] for name in graph["inputs"]],
                "outputs": [indices[name] for name in graph["outputs"]],
            }
        )
    values = {
        "version": 3,
        "operator_codes": [_code(*code) for code in codes],
        "subgraphs": rows,
        "buffers": buffers,
        **fields,
    }
    return encode(SCHEMA, "Model", values, IDENTIFIER)


def opened(data: bytes, **options: Any) -> Any:
    """The model of a file; its results are one tensor where one is wanted."""
    return wt.load_tflite(data, **options)


def _code(op: str, version: int) -> dict[str, Any]:
    """The code of an operator, which older readers take from a field of a byte."""
    number = OPERATORS.index(op if op in OPERATORS else "CUSTOM")
    custom = {} if op in OPERATORS else {"custom_code": op}
    numbers = {"builtin_code": number, "deprecated_builtin_code": min(number, 127)}
    return {**numbers, "version": version, **custom}
