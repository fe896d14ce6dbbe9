"""Weights manifests of TensorFlow.js: the names, shapes and dtypes of weights, and their bytes.

The bytes of all weights lie one after another. Quantized weights are integers, with a scale and a
minimum, or halves of floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import ITEM_SIZES, Buffer

__all__ = ["StoredWeight", "WeightSpec", "encoded_texts", "parse_specs", "stored_weights"]

_DTYPES = frozenset({"float32", "int32", "bool", "complex64", "string"})
_QUANTIZED = frozenset({"float16", "uint8", "uint16"})
#: The size in bytes of the integer before each text, which is the text's length.
_LENGTH_BYTES = 4


class WeightSpec(NamedTuple):
    """What a manifest says of a weight; ``quantization`` is the mapping in the file, if any."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Mapping[str, object] | None
    group: str
    #: Number of elements.
    size: int

    @property
    def stored_dtype(self) -> str:
        """The dtype of the elements in the file."""
        return self.dtype if self.quantization is None else str(self.quantization.get("dtype"))


class StoredWeight(NamedTuple):
    """A weight as it is in the file: its bytes, or its texts where the dtype is "string"."""

    spec: WeightSpec
    data: memoryview | list[bytes]


def parse_specs(specs: object, where: str, budget: Budget) -> list[WeightSpec]:
    """Return the list of weights in a manifest.

    Raises:
        ModelFormatError: it is malformed.
    """
    if not isinstance(specs, list):
        raise ModelFormatError(f"{where}: the list of weights is malformed")
    return [_spec(fields, where, budget) for fields in specs]


def _spec(fields: object, where: str, budget: Budget) -> WeightSpec:
    if not isinstance(fields, Mapping) or not isinstance(fields.get("name"), str):
        raise ModelFormatError(f"{where}: a weight is malformed: {fields!r:.200}")
    name, shape = fields["name"], fields.get("shape")
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise ModelFormatError(f"{where}: weight {name!r} has shape {shape!r:.200}")
    quantization = fields.get("quantization")
    if quantization is not None and not isinstance(quantization, Mapping):
        raise ModelFormatError(f"{where}: weight {name!r} is quantized in an unknown way")
    spec = WeightSpec(
        name,
        tuple(shape),
        str(fields.get("dtype")),
        quantization,
        str(fields.get("group", "")),
        budget.size_of(shape, f"{where}: weight {name!r}"),
    )
    stored_dtypes = _DTYPES if quantization is None else _QUANTIZED
    if spec.dtype not in _DTYPES or spec.stored_dtype not in stored_dtypes:
        raise ModelFormatError(
            f"{where}: weight {name!r} has dtype {spec.dtype!r}, as {spec.stored_dtype!r}"
        )
    return spec


def stored_weights(
    specs: object, data: Buffer, where: str, budget: Budget
) -> Iterator[StoredWeight]:
    """Yield the weights of a manifest with their parts of the bytes.

    Args:
        specs: the list of weights, as in JSON.
        data: the bytes of all weights.
        where: what errors call the file.
        budget: limits what reading the file may cost.

    Raises:
        ModelFormatError: there are too few or too many bytes, or the list is malformed.
    """
    rest = memoryview(data).cast("B")
    for spec in parse_specs(specs, where, budget):
        label = f"{where}: weight {spec.name!r}"
        if spec.dtype == "string":
            texts, rest = _texts(spec, rest, label, budget)
            yield StoredWeight(spec, texts)
            continue
        size = spec.size * ITEM_SIZES[spec.stored_dtype]
        if size > len(rest):
            raise ModelFormatError(f"{label} needs {size} bytes, but {len(rest)} are left")
        budget.spend(spec.size * ITEM_SIZES[spec.dtype], label)
        yield StoredWeight(spec, rest[:size])
        rest = rest[size:]
    if len(rest):
        raise ModelFormatError(f"{where}: {len(rest)} bytes belong to no weight")


def _texts(
    spec: WeightSpec, rest: memoryview, label: str, budget: Budget
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


def encoded_texts(texts: Sequence[bytes]) -> bytes:
    """Return the bytes of a weight of texts."""
    return b"".join(len(text).to_bytes(_LENGTH_BYTES, "little") + text for text in texts)
