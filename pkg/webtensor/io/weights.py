"""Tensors of the weights in a model file, and the other way round."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import floor
from typing import NamedTuple, TypeGuard

from webtensor.dtypes import string_
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import ITEM_SIZES, Buffer, Elements
from webtensor.formats.weights_manifest import (
    StoredWeight,
    WeightSpec,
    encoded_texts,
    stored_weights,
)
from webtensor.io.stored_tensors import elements_of, float16_numbers, tensor_of
from webtensor.ops import tensor

__all__ = ["Weight", "decoded", "dequantized_numbers", "encoded"]


class Weight(NamedTuple):
    """A weight; ``group`` is "optimizer" for the variables of an optimizer."""

    name: str
    value: Tensor
    group: str = ""


def decoded(specs: object, data: Buffer, where: str, budget: Budget) -> list[Weight]:
    """Return the weights in some bytes.

    Raises:
        ModelFormatError: there are too few or too many bytes, or the list is malformed.
    """
    weights = stored_weights(specs, data, where, budget)
    return [
        Weight(weight.spec.name, _value(weight, where), weight.spec.group) for weight in weights
    ]


def _value(weight: StoredWeight, where: str) -> Tensor:
    spec, data = weight
    label = f"{where}: weight {spec.name!r}"
    if isinstance(data, list):
        return tensor(data, shape=spec.shape, dtype=string_)
    if spec.quantization is None:
        return tensor_of(Elements(spec.shape, spec.dtype, data), label)
    if spec.stored_dtype == "float16":
        return tensor(float16_numbers(data), shape=spec.shape)
    return _dequantized(spec, data, label)


def _dequantized(spec: WeightSpec, data: memoryview, label: str) -> Tensor:
    assert spec.quantization is not None
    scale, minimum = spec.quantization.get("scale", 1), spec.quantization.get("min", 0)
    if not _is_number(scale) or not _is_number(minimum):
        raise ModelFormatError(f"{label} has scale {scale!r} and min {minimum!r}")
    steps = data.cast("H") if spec.stored_dtype == "uint16" else data
    values = dequantized_numbers(steps, 1 << 8 * ITEM_SIZES[spec.stored_dtype], scale, minimum)
    if spec.dtype == "float32":
        return tensor(array("f", values), shape=spec.shape)
    return tensor([floor(value + 0.5) for value in values], shape=spec.shape, dtype=spec.dtype)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def dequantized_numbers(
    steps: memoryview, count: int, scale: float, minimum: float
) -> Iterable[float]:
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
        pieces.append(encoded_texts(data) if dtype == "string" else data)
    return specs, pieces
