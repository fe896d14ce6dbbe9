"""Tensors of the constants in ONNX models: initializers, and attributes of Constant nodes.

Tensors have fewer dtypes than files. Integers of 64 bits that do not fit become the closest ones
that do, as models write the end of a slice as the largest integer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats import onnx as format_
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import ITEM_SIZES, Buffer
from webtensor.io.stored_integers import INT32_MAX, INT32_MIN, clamped, unpacked
from webtensor.io.stored_tensors import tensor_of

__all__ = ["constant_of", "dense_of", "listed"]

_MAX_ELEMENTS = 1 << 28


def constant_of(
    stored: format_.Tensor, where: str, files: Mapping[str, Buffer] | None = None
) -> Tensor:
    """Return a tensor of a file.

    Raises:
        ModelFormatError: it has a dtype that tensors do not have, or its file is missing.
    """
    with reading(where):
        elements = clamped(unpacked(stored.elements(where, files)))
        if elements.dtype not in ITEM_SIZES and elements.dtype != "string":
            raise ModelFormatError(f"{where} has dtype {elements.dtype}, which tensors do not have")
        return tensor_of(elements, where)


def dense_of(
    stored: format_.SparseTensor, where: str, files: Mapping[str, Buffer] | None = None
) -> Tensor:
    """Return a sparse tensor of a file with all its zeros."""
    values = constant_of(stored.values, where, files)
    indices = constant_of(stored.indices, where, files)
    size = 1
    for extent in stored.shape:
        size *= extent
    if size > _MAX_ELEMENTS:
        raise ModelFormatError(f"{where} has the shape {stored.shape}, which is too large")
    with reading(where):
        if len(indices.shape) == 1:
            flat = ops.scatter_nd(ops.expand_dims(indices, 1), values, (size,))
            return ops.reshape(flat, stored.shape)
        return ops.scatter_nd(indices, values, stored.shape)


def listed(
    attributes: Mapping[str, Any], where: str, files: Mapping[str, Buffer] | None = None
) -> Tensor:
    """Return the value of a Constant node."""
    for name, value in attributes.items():
        if name == "value" and isinstance(value, format_.Tensor):
            return constant_of(value, where, files)
        if name == "sparse_value" and isinstance(value, format_.SparseTensor):
            return dense_of(value, where, files)
        if name in _DTYPES:
            with reading(where):
                return ops.tensor(_saturated(value), dtype=_DTYPES[name])
    raise ModelFormatError(f"{where} has no value")


_DTYPES = {
    "value_float": "float32",
    "value_floats": "float32",
    "value_int": "int32",
    "value_ints": "int32",
    "value_string": "string",
    "value_strings": "string",
}


def _saturated(value: Any) -> Any:
    if isinstance(value, list):
        return [_saturated(item) for item in value]
    return min(max(value, INT32_MIN), INT32_MAX) if isinstance(value, int) else value
