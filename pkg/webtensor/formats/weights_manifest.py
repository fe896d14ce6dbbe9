"""Weights manifests of TensorFlow.js: the names, shapes and dtypes of weights, and their bytes.

The bytes of all weights lie one after another. Quantized weights are integers with a scale and a
minimum, or halves of floats; text is UTF-8 after its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.composite_buffers import CompositeArrayBuffer
from webtensor.formats.element_types import ITEM_SIZES
from webtensor.formats.model_artifacts import WeightData

__all__ = [
    "QUANTIZED_DTYPES",
    "Quantization",
    "StoredWeight",
    "WeightSpec",
    "check_size",
    "declared_size",
    "encoded_texts",
    "parse_specs",
    "stored_weights",
]

_DTYPES = frozenset({"float32", "int32", "bool", "complex64", "string"})
#: The dtypes of weights that each dtype in files stands for.
QUANTIZED_DTYPES = {
    "float16": ("float32",),
    "uint8": ("float32", "int32"),
    "uint16": ("float32", "int32"),
}
#: The size in bytes of the integer before each text, which is the text's length.
_LENGTH_BYTES = 4


class Quantization(NamedTuple):
    """How a weight is stored: as ``dtype``; an integer ``q`` stands for ``q * scale + minimum``."""

    dtype: str
    scale: float = 1.0
    minimum: float = 0.0


class WeightSpec(NamedTuple):
    """What a manifest says of a weight."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Quantization | None
    group: str
    #: Number of elements.
    size: int
    #: Number of bytes in the file; None for text, whose length is in the file.
    stored_bytes: int | None


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
    if not isinstance(fields, (dict, Mapping)) or not isinstance(fields.get("name"), str):
        raise ModelFormatError(f"{where}: a weight is malformed: {fields!r:.200}")
    name, shape = fields["name"], fields.get("shape")
    label = f"{where}: weight {name!r}"
    if (
        not isinstance(shape, (list, tuple))
        or not {*map(type, shape)} <= {int}
        or min(shape, default=0) < 0
    ):
        raise ModelFormatError(f"{label} has shape {shape!r:.200}")
    dtype = str(fields.get("dtype"))
    quantization = _quantization(fields.get("quantization"), label)
    stands_for = _DTYPES if quantization is None else QUANTIZED_DTYPES.get(quantization.dtype, ())
    if dtype not in _DTYPES or dtype not in stands_for:
        stored = "" if quantization is None else f", stored as {quantization.dtype!r}"
        raise ModelFormatError(f"{label} has dtype {dtype!r}{stored}")
    size = budget.size_of(shape, label)
    stored_dtype = dtype if quantization is None else quantization.dtype
    stored_bytes = None if dtype == "string" else size * ITEM_SIZES[stored_dtype]
    group = str(fields.get("group", ""))
    return WeightSpec(name, tuple(shape), dtype, quantization, group, size, stored_bytes)


def _quantization(fields: object, label: str) -> Quantization | None:
    if fields is None:
        return None
    if not isinstance(fields, (dict, Mapping)):
        raise ModelFormatError(f"{label} is quantized in an unknown way")
    dtype = str(fields.get("dtype"))
    if dtype in ("uint8", "uint16") and not {"scale", "min"} <= fields.keys():
        raise ModelFormatError(f"{label} is quantized as {dtype!r:.50} without scale and min")
    scale, minimum = fields.get("scale", 1), fields.get("min", 0)
    if not (_is_float(scale) and _is_float(minimum)):
        raise ModelFormatError(f"{label} has scale {scale!r:.50} and min {minimum!r:.50}")
    return Quantization(dtype, float(scale), float(minimum))


def _is_float(number: object) -> bool:
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        return False
    try:
        return isfinite(number)
    except OverflowError:  # an integer of hundreds of digits
        return False


def declared_size(specs: Iterable[WeightSpec]) -> int | None:
    """Return the number of bytes of weights; None if there is text, whose lengths are in the file.

    Example:
        >>> specs = [{"name": "w", "shape": [2, 3], "dtype": "float32"}]
        >>> declared_size(parse_specs(specs, "model.json", Budget("model.json")))
        24
    """
    sizes = [spec.stored_bytes for spec in specs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def check_size(specs: Sequence[WeightSpec], count: int, where: str) -> None:
    """Compare a number of bytes with what weights need; those of texts are not known before.

    Raises:
        ModelFormatError: there are too few or too many.
    """
    if declared_size(specs) == count:
        return
    remaining = count
    has_text = False
    for spec in specs:
        size = spec.stored_bytes
        if size is None:
            has_text = True
            size = spec.size * _LENGTH_BYTES
        if size > remaining:
            raise ModelFormatError(
                f"{where}: weight {spec.name!r} needs {size} bytes, but {remaining} are left"
            )
        remaining -= size
    if remaining and not has_text:
        raise ModelFormatError(f"{where}: {remaining} bytes belong to no weight")


def stored_weights(
    specs: Sequence[WeightSpec], data: WeightData, where: str, budget: Budget
) -> Iterator[StoredWeight]:
    """Yield the weights of a manifest with their parts of the bytes.

    Args:
        specs: the list of weights.
        data: the bytes of all weights, which may be in pieces.
        where: what errors call the file.
        budget: limits what reading the file may cost.

    Raises:
        ModelFormatError: there are too few or too many bytes.
    """
    composite = CompositeArrayBuffer(data)
    byte_length = composite.byte_length
    check_size(specs, byte_length, where)
    offset = 0
    for spec in specs:
        size = spec.stored_bytes
        if size is None:
            label = f"{where}: weight {spec.name!r}"
            budget.spend_items(spec.size, label)
            texts, offset = _texts(spec.size, composite, offset, label)
            yield StoredWeight(spec, texts)
            continue
        if size > byte_length - offset:
            raise ModelFormatError(
                f"{where}: weight {spec.name!r} needs {size} bytes, but {byte_length - offset} are "
                "left"
            )
        budget.spend(spec.size * ITEM_SIZES[spec.dtype], where)
        yield StoredWeight(spec, composite.view(offset, offset + size))
        offset += size
    if offset < byte_length:
        raise ModelFormatError(f"{where}: {byte_length - offset} bytes belong to no weight")


def _texts(
    count: int, composite: CompositeArrayBuffer, offset: int, label: str
) -> tuple[list[bytes], int]:
    """Return texts from an offset on, and the offset after them."""
    texts = []
    for _ in range(count):
        start = offset + _LENGTH_BYTES
        length = int.from_bytes(composite.view(offset, start), "little")
        if start + length > composite.byte_length:
            raise ModelFormatError(f"{label} ends too early")
        texts.append(bytes(composite.view(start, start + length)))
        offset = start + length
    return texts, offset


def encoded_texts(texts: Sequence[bytes]) -> bytes:
    r"""Return the bytes of a weight of texts.

    Example:
        >>> encoded_texts([b"ab"])
        b'\x02\x00\x00\x00ab'
    """
    return b"".join(len(text).to_bytes(_LENGTH_BYTES, "little") + text for text in texts)
