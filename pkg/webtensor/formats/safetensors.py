"""Safetensors: a header in JSON, with the shape, the dtype and the position of each tensor.

The format's specification forbids what readers could understand in two ways: names given twice,
tensors that overlap, bytes that belong to none, and bytes before the header's brace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json, reading
from webtensor.formats.element_types import Buffer, Elements
from webtensor.formats.paths import path_beside

__all__ = ["Safetensors", "read_safetensors", "read_safetensors_index"]

#: The size of the header is in the first bytes.
_SIZE_BYTES = 8
#: The largest size of a header, as in the library of the format's authors.
_MAX_HEADER_BYTES = 100_000_000
_METADATA = "__metadata__"


#: Where the bytes of a tensor begin and end.
_Span: TypeAlias = tuple[int, int]


class _DType(NamedTuple):
    name: str
    bits: int


_DTYPES = {
    "BOOL": _DType("bool", 8),
    "U8": _DType("uint8", 8),
    "I8": _DType("int8", 8),
    "U16": _DType("uint16", 16),
    "I16": _DType("int16", 16),
    "U32": _DType("uint32", 32),
    "I32": _DType("int32", 32),
    "U64": _DType("uint64", 64),
    "I64": _DType("int64", 64),
    "F16": _DType("float16", 16),
    "BF16": _DType("bfloat16", 16),
    "F32": _DType("float32", 32),
    "F64": _DType("float64", 64),
    "C64": _DType("complex64", 64),
    "F8_E4M3": _DType("float8_e4m3fn", 8),
    "F8_E5M2": _DType("float8_e5m2", 8),
    "F8_E4M3FNUZ": _DType("float8_e4m3fnuz", 8),
    "F8_E5M2FNUZ": _DType("float8_e5m2fnuz", 8),
    "F8_E8M0": _DType("float8_e8m0fnu", 8),
    "F6_E2M3": _DType("float6_e2m3fn", 6),
    "F6_E3M2": _DType("float6_e3m2fn", 6),
    "F4": _DType("float4_e2m1fn", 4),
}


class Safetensors(NamedTuple):
    """The tensors of a file by their names, and texts that its writer added."""

    tensors: Mapping[str, Elements]
    metadata: Mapping[str, str]


def read_safetensors(data: Buffer, where: str, budget: Budget | None = None) -> Safetensors:
    """Return the tensors of a file, which are views of its bytes.

    Args:
        data: the bytes of the file.
        where: what errors call it.
        budget: limits what reading may cost; None is that of a file of this size.

    Raises:
        ModelFormatError: the file is not as the format's specification asks.

    Example:
        >>> header = b'{"x": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}'
        >>> data = len(header).to_bytes(8, "little") + header + b"ab"
        >>> read_safetensors(data, "model.safetensors").tensors["x"].shape
        (2,)
    """
    view = memoryview(data).cast("B")
    budget = budget or Budget(where, len(view))
    size = int.from_bytes(view[:_SIZE_BYTES], "little")
    begin = _SIZE_BYTES + size
    if len(view) < _SIZE_BYTES or size > _MAX_HEADER_BYTES or begin > len(view):
        raise ModelFormatError(
            f"{where} has {len(view)} bytes, but its header would end at byte {begin}"
        )
    header = _header(bytes(view[_SIZE_BYTES:begin]), where, budget)
    metadata = header.pop(_METADATA, None) or {}
    if not _is_texts(metadata):
        raise ModelFormatError(f"{where}: {_METADATA} must be texts, but is {metadata!r:.200}")
    payload = view[begin:]
    tensors: dict[str, Elements] = {}
    spans: list[tuple[_Span, str]] = []
    for name, description in header.items():
        label = f"{where}: tensor {name!r:.200}"
        tensors[name], span = _tensor(description, payload, label, budget)
        spans.append((span, label))
    _check_spans(spans, len(payload), where)
    return Safetensors(tensors, metadata)


def _check_spans(spans: Sequence[tuple[_Span, str]], size: int, where: str) -> None:
    """Refuse tensors that overlap, and bytes that belong to none."""
    end = 0
    for (start, stop), label in sorted(spans):
        if start != end:
            raise ModelFormatError(
                f"{label} begins at byte {start}, but the last one ends at {end}"
            )
        end = stop
    if end != size:
        raise ModelFormatError(f"{where}: {size - end} bytes belong to no tensor")


def _header(data: bytes, where: str, budget: Budget) -> dict[str, Any]:
    if data[:1] != b"{":
        raise ModelFormatError(f"{where} has a header that does not begin with a brace")
    parse_json(data, where, budget)
    with reading(f"{where}: its header"):
        header: dict[str, Any] = json.loads(data.decode(), object_pairs_hook=_unique)
    return header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON in which no name is given twice."""
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"{name!r:.200} is given twice")
        result[name] = value
    return result


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _tensor(
    description: object, payload: memoryview, label: str, budget: Budget
) -> tuple[Elements, _Span]:
    """Return a tensor, and where its bytes begin and end."""
    budget.spend_items(3, label)
    if not isinstance(description, dict):
        raise ModelFormatError(f"{label} is described by {description!r:.200}")
    shape, span = description.get("shape"), description.get("data_offsets")
    name = description.get("dtype")
    dtype = _DTYPES.get(name) if isinstance(name, str) else None
    if dtype is None:
        raise ModelFormatError(f"{label} has the dtype {name!r:.200}")
    if not _is_sizes(shape):
        raise ModelFormatError(f"{label} has the shape {shape!r:.200}")
    if not _is_sizes(span) or len(span) != 2 or not span[0] <= span[1] <= len(payload):
        raise ModelFormatError(
            f"{label} has the offsets {span!r:.200}, but there are {len(payload)} bytes"
        )
    begin, end = span
    bits = budget.size_of(shape, label) * dtype.bits
    if bits != 8 * (end - begin):
        raise ModelFormatError(
            f"{label} of dtype {name} and shape {shape} needs {bits} bits, but has {end - begin} "
            "bytes"
        )
    return Elements(tuple(shape), dtype.name, payload[begin:end]), (begin, end)


def _is_sizes(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(size) is int and size >= 0 for size in value)


def read_safetensors_index(
    data: Buffer, where: str, budget: Budget | None = None
) -> dict[str, str]:
    """Return the path of the file for the name of each tensor of a model in several files.

    Args:
        data: the bytes of the index, such as ``model.safetensors.index.json``.
        where: what errors call it.
        budget: limits what reading may cost; None is that of a file of this size.

    Raises:
        ModelFormatError: it is malformed, or names files that lie elsewhere.

    Example:
        >>> read_safetensors_index(b'{"weight_map": {"x": "model-1.safetensors"}}', "index.json")
        {'x': 'model-1.safetensors'}
    """
    index = parse_json(bytes(data), where, budget)
    paths = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(paths, dict) or not _is_texts(paths):
        raise ModelFormatError(f"{where} has no weight_map, or a malformed one")
    return {name: path_beside(path, where) for name, path in paths.items()}
