"""Weights of layers-models: a list of names, shapes and dtypes, and their bytes one after another.

Quantized ones are few bits each, with a scale and a least value, and become float32 again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from math import floor
from typing import Any, NamedTuple

from webtensor.dtypes import string_
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.keras.budgets import Budget
from webtensor.keras.saving.element_types import (
    ITEM_SIZES,
    Elements,
    elements_of,
    float16_numbers,
    tensor_of,
)
from webtensor.ops import tensor

__all__ = ["Weight", "decoded", "encoded"]

_DTYPES = frozenset({"float32", "int32", "bool", "complex64", "string"})
_QUANTIZED = frozenset({"uint8", "uint16"})
#: Text is as long as four bytes before it say.
_LENGTH = 4


class Weight(NamedTuple):
    """A weight; ``group`` is "optimizer" where an optimizer remembers it."""

    name: str
    value: Tensor
    group: str = ""


class _Spec(NamedTuple):
    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Mapping[str, Any] | None
    group: str

    #: Number of elements.
    size: int

    @property
    def stored(self) -> str:
        return self.dtype if self.quantization is None else str(self.quantization.get("dtype"))


def _specs(specs: Any, where: str, budget: Budget) -> list[_Spec]:
    if not isinstance(specs, list):
        raise ModelFormatError(f"{where}: the list of weights is malformed")
    return [_spec(spec, where, budget) for spec in specs]


def _spec(given: Any, where: str, budget: Budget) -> _Spec:
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise ModelFormatError(f"{where}: a weight is malformed: {given!r:.200}")
    name, shape = given["name"], given.get("shape")
    if not isinstance(shape, list) or not all(type(one) is int and one >= 0 for one in shape):
        raise ModelFormatError(f"{where}: weight {name!r} has shape {shape!r:.200}")
    quantization = given.get("quantization")
    if quantization is not None and not isinstance(quantization, Mapping):
        raise ModelFormatError(f"{where}: weight {name!r} is quantized in an unknown way")
    made = _Spec(
        name,
        tuple(shape),
        str(given.get("dtype")),
        quantization,
        str(given.get("group", "")),
        budget.size_of(shape, f"{where}: weight {name!r}"),
    )
    known = _DTYPES if quantization is None else _QUANTIZED | {"float16"}
    if made.dtype not in _DTYPES or made.stored not in known:
        raise ModelFormatError(
            f"{where}: weight {name!r} has dtype {made.dtype!r}, as {made.stored!r}"
        )
    return made


def decoded(specs: Any, data: Any, where: str, budget: Budget) -> list[Weight]:
    """Return the weights that bytes hold.

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
            size = spec.size * ITEM_SIZES[spec.stored]
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
    if spec.size * _LENGTH > len(rest):
        raise ModelFormatError(f"{label} needs {spec.size} texts, which the file is too short for")
    budget.spend_items(spec.size, label)
    texts = []
    for _ in range(spec.size):
        length = int.from_bytes(rest[:_LENGTH], "little")
        if _LENGTH + length > len(rest):
            raise ModelFormatError(f"{label} ends too early")
        texts.append(bytes(rest[_LENGTH : _LENGTH + length]))
        rest = rest[_LENGTH + length :]
    return texts, rest


def _value(spec: _Spec, data: memoryview, label: str) -> Tensor:
    if spec.quantization is None:
        return tensor_of(Elements(spec.shape, spec.dtype, data), label)
    if spec.stored == "float16":
        return tensor(float16_numbers(data), shape=spec.shape)
    scale, least = (
        spec.quantization.get(key, default) for key, default in (("scale", 1), ("min", 0))
    )
    if not all(
        isinstance(one, (int, float)) and not isinstance(one, bool) for one in (scale, least)
    ):
        raise ModelFormatError(f"{label} has scale {scale!r} and min {least!r}")
    steps = data.cast("H") if spec.stored == "uint16" else data
    values = _dequantized(steps, 1 << 8 * ITEM_SIZES[spec.stored], scale, least)
    if spec.dtype == "float32":
        return tensor(array("f", values), shape=spec.shape)
    return tensor([floor(value + 0.5) for value in values], shape=spec.shape, dtype=spec.dtype)


def _dequantized(steps: memoryview, count: int, scale: float, least: float) -> Iterable[float]:
    """What steps stand for; each of the possible ones is computed once where there are more."""
    if len(steps) < count:
        return (step * scale + least for step in steps)
    table = [step * scale + least for step in range(count)]
    return map(table.__getitem__, steps)


def encoded(weights: Iterable[Weight]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the list of weights, and their bytes, piece by piece."""
    specs, pieces = [], []
    for name, value, group in weights:
        shape, dtype, data = elements_of(value)
        spec = {"name": name, "shape": list(shape), "dtype": dtype}
        specs.append({**spec, "group": group} if group else spec)
        if dtype == "string":
            data = b"".join(len(one).to_bytes(_LENGTH, "little") + one for one in data)
        pieces.append(data)
    return specs, pieces
