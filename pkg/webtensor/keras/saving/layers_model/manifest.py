"""Weights of layers-models: a list of names, shapes and dtypes, and their bytes one after another.

Quantized weights are integers, with a scale and a minimum, and become float32 again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from math import floor
from typing import NamedTuple, TypeGuard

from webtensor.dtypes import string_
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget
from webtensor.keras.saving.element_types import (
    ITEM_SIZES,
    Buffer,
    Elements,
    elements_of,
    float16_numbers,
    tensor_of,
)
from webtensor.ops import tensor

__all__ = ["Weight", "decoded", "encoded"]

_DTYPES = frozenset({"float32", "int32", "bool", "complex64", "string"})
_QUANTIZED = frozenset({"uint8", "uint16"})
#: The size in bytes of the integer before each text, which is the text's length.
_LENGTH_BYTES = 4


class Weight(NamedTuple):
    """A weight; ``group`` is "optimizer" for the variables of an optimizer."""

    name: str
    value: Tensor
    group: str = ""


class _Spec(NamedTuple):
    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Mapping[str, object] | None
    group: str

    #: Number of elements.
    size: int

    @property
    def stored_dtype(self) -> str:
        return self.dtype if self.quantization is None else str(self.quantization.get("dtype"))


def _specs(specs: object, where: str, budget: Budget) -> list[_Spec]:
    if not isinstance(specs, list):
        raise ModelFormatError(f"{where}: the list of weights is malformed")
    return [_spec(fields, where, budget) for fields in specs]


def _spec(fields: object, where: str, budget: Budget) -> _Spec:
    if not isinstance(fields, Mapping) or not isinstance(fields.get("name"), str):
        raise ModelFormatError(f"{where}: a weight is malformed: {fields!r:.200}")
    name, shape = fields["name"], fields.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise ModelFormatError(f"{where}: weight {name!r} has shape {shape!r:.200}")
    quantization = fields.get("quantization")
    if quantization is not None and not isinstance(quantization, Mapping):
        raise ModelFormatError(f"{where}: weight {name!r} is quantized in an unknown way")
    spec = _Spec(
        name,
        tuple(shape),
        str(fields.get("dtype")),
        quantization,
        str(fields.get("group", "")),
        budget.size_of(shape, f"{where}: weight {name!r}"),
    )
    stored_dtypes = _DTYPES if quantization is None else _QUANTIZED | {"float16"}
    if spec.dtype not in _DTYPES or spec.stored_dtype not in stored_dtypes:
        raise ModelFormatError(
            f"{where}: weight {name!r} has dtype {spec.dtype!r}, as {spec.stored_dtype!r}"
        )
    return spec


def decoded(specs: object, data: Buffer, where: str, budget: Budget) -> list[Weight]:
    """Return the weights in some bytes.

    Raises:
        ModelFormatError: there are too few or too many bytes, or the list is malformed.
    """
    rest = memoryview(data).cast("B")
    weights = []
    for spec in _specs(specs, where, budget):
        label = f"{where}: weight {spec.name!r}"
        if spec.dtype == "string":
            texts, rest = _texts(spec, rest, label, budget)
            value = tensor(texts, shape=spec.shape, dtype=string_)
        else:
            size = spec.size * ITEM_SIZES[spec.stored_dtype]
            if size > len(rest):
                raise ModelFormatError(f"{label} needs {size} bytes, but {len(rest)} are left")
            budget.spend(spec.size * ITEM_SIZES[spec.dtype], label)
            value = _value(spec, rest[:size], label)
            rest = rest[size:]
        weights.append(Weight(spec.name, value, spec.group))
    if len(rest):
        raise ModelFormatError(f"{where}: {len(rest)} bytes belong to no weight")
    return weights


def _texts(
    spec: _Spec, rest: memoryview, label: str, budget: Budget
) -> tuple[list[bytes], memoryview]:
    if spec.size * _LENGTH_BYTES > len(rest):
        raise ModelFormatError(f"{label} needs {spec.size} texts, which the file is too short for")
    budget.spend_items(spec.size, label)
    texts = []
    for _ in range(spec.size):
        length = int.from_bytes(rest[:_LENGTH_BYTES], "little")
        end = _LENGTH_BYTES + length
        if end > len(rest):
            raise ModelFormatError(f"{label} ends too early")
        texts.append(bytes(rest[_LENGTH_BYTES:end]))
        rest = rest[end:]
    return texts, rest


def _value(spec: _Spec, data: memoryview, label: str) -> Tensor:
    if spec.quantization is None:
        return tensor_of(Elements(spec.shape, spec.dtype, data), label)
    if spec.stored_dtype == "float16":
        return tensor(float16_numbers(data), shape=spec.shape)
    scale, minimum = spec.quantization.get("scale", 1), spec.quantization.get("min", 0)
    if not _is_number(scale) or not _is_number(minimum):
        raise ModelFormatError(f"{label} has scale {scale!r} and min {minimum!r}")
    steps = data.cast("H") if spec.stored_dtype == "uint16" else data
    values = _dequantized(steps, 1 << 8 * ITEM_SIZES[spec.stored_dtype], scale, minimum)
    if spec.dtype == "float32":
        return tensor(array("f", values), shape=spec.shape)
    return tensor([floor(value + 0.5) for value in values], shape=spec.shape, dtype=spec.dtype)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _dequantized(steps: memoryview, count: int, scale: float, minimum: float) -> Iterable[float]:
    """Return the numbers for quantized ones, of which there are ``count`` different ones.

    Where there are more elements than that, a table of all numbers is computed first.
    """
    if len(steps) < count:
        return (step * scale + minimum for step in steps)
    table = [step * scale + minimum for step in range(count)]
    return map(table.__getitem__, steps)


def encoded(weights: Iterable[Weight]) -> tuple[list[dict[str, object]], list[Buffer]]:
    """Return the list of weights, and their bytes in pieces."""
    specs: list[dict[str, object]] = []
    pieces: list[Buffer] = []
    for name, value, group in weights:
        shape, dtype, data = elements_of(value)
        spec: dict[str, object] = {"name": name, "shape": list(shape), "dtype": dtype}
        specs.append({**spec, "group": group} if group else spec)
        if dtype == "string":
            data = b"".join(len(text).to_bytes(_LENGTH_BYTES, "little") + text for text in data)
        pieces.append(data)
    return specs, pieces
