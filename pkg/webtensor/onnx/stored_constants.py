"""Tensors of the constants in ONNX models: initializers, and attributes of Constant nodes.

Tensors have fewer dtypes than files. Integers of 64 bits that do not fit become the closest ones
that do, as models write the end of a slice as the largest integer.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats import onnx as format_
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import ITEM_SIZES, Buffer
from webtensor.io.stored_integers import INT32_MAX, INT32_MIN, clamped, unpacked
from webtensor.io.stored_tensors import tensor_of

__all__ = ["StoredConstants", "constant_of"]

#: The maximum number of elements of all constants of a small model: 1 GiB.
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


class StoredConstants:
    """The constants of a model, as tensors that nodes share if they share what is stored.

    Args:
        where: what errors call the model.
        files: the contents of the model's external files.
    """

    def __init__(self, where: str, files: Mapping[str, Buffer] | None) -> None:
        self._files = files or {}
        self._budget = Budget(where, floor=4 * _MAX_ELEMENTS)
        for file in self._files.values():
            self._budget.add_file(memoryview(file).nbytes)
        #: By the identity of what is stored: that itself, so that nothing else gets its identity,
        #: and its value.
        self._tensors: dict[int, tuple[object, Tensor]] = {}

    def tensor(self, stored: object, where: str, kind: str = "") -> Tensor:
        """Return the value of a tensor, a sparse tensor, or an attribute of this kind.

        Raises:
            ModelFormatError: it has a dtype that tensors do not have, its file is missing, or all
                constants are much larger than the files.
        """
        if id(stored) not in self._tensors:
            with reading(where):
                self._tensors[id(stored)] = stored, self._read(stored, where, kind)
        return self._tensors[id(stored)][1]

    def _read(self, stored: object, where: str, kind: str) -> Tensor:
        if isinstance(stored, format_.SparseTensor):
            self._budget.spend(4 * prod(stored.shape), where)
            return self._dense(stored, where)
        if isinstance(stored, format_.Tensor):
            if isinstance(stored.data, (bytes, memoryview)):
                self._budget.add_file(memoryview(stored.data).nbytes)
            value = constant_of(stored, where, self._files)
        else:
            value = ops.tensor(_saturated(stored), dtype=_DTYPES[kind])
        self._budget.spend(4 * value.size, where)
        return value

    def _dense(self, stored: format_.SparseTensor, where: str) -> Tensor:
        """Return a sparse tensor with all its zeros."""
        values, indices = self.tensor(stored.values, where), self.tensor(stored.indices, where)
        if len(indices.shape) == 1:
            flat = ops.scatter_nd(ops.expand_dims(indices, 1), values, (prod(stored.shape),))
            return ops.reshape(flat, stored.shape)
        return ops.scatter_nd(indices, values, stored.shape)

    def of_attributes(self, attributes: Mapping[str, Any], where: str) -> Tensor:
        """Return the value of a Constant node.

        Raises:
            ModelFormatError: it has no value, or as of ``tensor``.
        """
        for name, value in attributes.items():
            if name in _DTYPES or isinstance(value, (format_.Tensor, format_.SparseTensor)):
                return self.tensor(value, where, name)
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
