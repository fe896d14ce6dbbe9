"""Tensors of the weights in a model's files, and the other way round."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from webtensor.dtypes import as_dtype, float32, int32, string_
from webtensor.engine import Tensor, TensorLike
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.composite_buffers import CompositeArrayBuffer
from webtensor.formats.element_types import ITEM_SIZES, Buffer, Elements
from webtensor.formats.model_artifacts import ModelArtifacts, WeightData
from webtensor.formats.quantization import dequantized, float32_of_float16, quantized
from webtensor.formats.weights_manifest import (
    QUANTIZED_DTYPES,
    StoredWeight,
    WeightSpec,
    encoded_texts,
    parse_specs,
    stored_weights,
)
from webtensor.io.stored_tensors import elements_of, tensor_of, tensor_on
from webtensor.ops import tensor

__all__ = [
    "EncodedWeights",
    "QuantizationPatterns",
    "Weight",
    "check_patterns",
    "decode_weights",
    "decode_weights_stream",
    "decoded",
    "encode_weights",
    "encode_weights_async",
    "encoded",
    "weights_of",
]

#: For each dtype in files, patterns of the names of weights that are stored so; True stands for all
#: weights whose names match none.
QuantizationPatterns: TypeAlias = Mapping[str, str | Sequence[str] | bool]
_LABEL = "the weights"
#: The dtypes of tensors that are in memory what they are in files.
_AS_STORED = {"float32": float32, "int32": int32}


class Weight(NamedTuple):
    """A weight; ``group`` is "optimizer" for the variables of an optimizer."""

    name: str
    value: Tensor
    group: str = ""


class EncodedWeights(NamedTuple):
    """Weights as bytes, one after another, and the list of their names, shapes and dtypes."""

    data: bytes
    specs: list[dict[str, Any]]


# -- decoding ----------------------------------------------------------------------------------


def weights_of(artifacts: ModelArtifacts, budget: Budget) -> list[Weight]:
    """Return the weights of a model's files.

    Raises:
        ModelFormatError: there are too few or too many bytes, or their list is malformed.
    """
    label, specs = artifacts.label, artifacts.weight_specs or []
    source, parsed = artifacts.parsed_specs or (None, ())
    if source is not specs:
        parsed = parse_specs(specs, label, budget)
    return decoded(parsed, artifacts.weight_data or b"", label, budget)


def decoded(
    specs: Sequence[WeightSpec], data: WeightData, where: str, budget: Budget
) -> list[Weight]:
    """Return the weights in some bytes.

    Raises:
        ModelFormatError: there are too few or too many bytes.
    """
    stored = [*stored_weights(specs, data, where, budget)]
    widened = _widened([weight.data for weight in stored if _is_half(weight.spec)])
    return [
        Weight(
            weight.spec.name,
            tensor_on(next(widened), weight.spec.shape, float32)
            if _is_half(weight.spec)
            else _value(weight, where),
            weight.spec.group,
        )
        for weight in stored
    ]


def _is_half(spec: WeightSpec) -> bool:
    return spec.quantization is not None and spec.quantization.dtype == "float16"


def _widened(halves: Sequence[Any]) -> Iterator[memoryview]:
    """Yield arrays of half precision as float32.

    They are widened at once, because a call of JavaScript takes as long as thousands of numbers.
    """
    joined = array("B")
    for half in halves:
        joined.frombytes(half)
    numbers = float32_of_float16(memoryview(joined)).toreadonly()
    ends = [*accumulate(len(half) // ITEM_SIZES["float16"] for half in halves)]
    return (numbers[start:end] for start, end in zip([0, *ends], ends, strict=False))


def _value(weight: StoredWeight, where: str) -> Tensor:
    spec, data = weight
    if isinstance(data, list):
        return tensor(data, shape=spec.shape, dtype=string_)
    if spec.quantization is None and spec.dtype in _AS_STORED:
        return tensor_on(data, spec.shape, _AS_STORED[spec.dtype])
    label = f"{where}: weight {spec.name!r}"
    if spec.quantization is None:
        return tensor_of(Elements(spec.shape, spec.dtype, data), label)
    with reading(label):
        numbers = dequantized(data, spec.quantization, spec.dtype)
    return tensor_on(numbers.toreadonly(), spec.shape, as_dtype(spec.dtype))


def decode_weights(
    weight_data: WeightData, specs: Sequence[Mapping[str, Any]]
) -> dict[str, Tensor]:
    """Return the tensors of weights in bytes, by their names.

    Numbers that were quantized become float32 or int32 again.

    Args:
        weight_data: the bytes of the weights, one after another, which may be in pieces.
        specs: the name, the shape, the dtype and the quantization of each weight, as in
            ``model.json``.

    Raises:
        ModelFormatError: there are too few or too many bytes, or ``specs`` is malformed.

    Example:
        >>> import webtensor as wt
        >>> quantization = {"dtype": "uint8", "scale": 0.5, "min": -1.0}
        >>> spec = {"name": "w", "shape": [3], "dtype": "float32", "quantization": quantization}
        >>> wt.io.decode_weights(bytes([0, 1, 4]), [spec])["w"].tolist()
        [-1.0, -0.5, 1.0]
    """
    budget = Budget(_LABEL, CompositeArrayBuffer(weight_data).byte_length)
    weights = decoded(parse_specs(list(specs), _LABEL, budget), weight_data, _LABEL, budget)
    return {weight.name: weight.value for weight in weights}


async def decode_weights_stream(
    weight_stream: AsyncIterable[Buffer] | Iterable[Buffer], specs: Sequence[Mapping[str, Any]]
) -> dict[str, Tensor]:
    """Return the tensors of weights whose bytes arrive in chunks, by their names.

    Each weight is decoded when its last byte has arrived, and its bytes are then dropped.

    Args:
        weight_stream: chunks of the bytes of all weights.
        specs: as of ``decode_weights``.

    Raises:
        ModelFormatError: as of ``decode_weights``.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> spec = {"name": "w", "shape": [4], "dtype": "bool"}
        >>> weights = wt.io.decode_weights_stream([bytes([1, 0]), bytes([0, 1])], [spec])
        >>> asyncio.run(weights)["w"].tolist()
        [True, False, False, True]
    """
    budget = Budget(_LABEL)
    waiting = parse_specs(list(specs), _LABEL, budget)
    sizes = [spec.stored_bytes for spec in waiting]
    weights: dict[str, Tensor] = {}
    chunks: list[Buffer] = []
    arrived = 0
    async for chunk in _chunks(weight_stream):
        budget.add_file(len(chunk))
        chunks.append(chunk)
        arrived += len(chunk)
        # Texts may have any size, so they wait for the end, with what follows them.
        count, size = _complete(sizes, arrived)
        if count:
            composite = CompositeArrayBuffer(chunks)
            complete = decoded(waiting[:count], composite.view(0, size), _LABEL, budget)
            weights |= {weight.name: weight.value for weight in complete}
            del waiting[:count], sizes[:count]
            chunks, arrived = [bytes(composite.view(size))], arrived - size
    rest = decoded(waiting, chunks, _LABEL, budget)
    return {**weights, **{weight.name: weight.value for weight in rest}}


def _complete(sizes: Iterable[int | None], arrived: int) -> tuple[int, int]:
    """Return how many weights are complete, and the number of their bytes."""
    count = end = 0
    for size in sizes:
        if size is None or end + size > arrived:
            break
        count, end = count + 1, end + size
    return count, end


async def _chunks(stream: AsyncIterable[Buffer] | Iterable[Buffer]) -> AsyncIterable[Buffer]:
    if isinstance(stream, AsyncIterable):
        async for chunk in stream:
            yield chunk
    else:
        for chunk in stream:
            yield chunk


# -- encoding ----------------------------------------------------------------------------------


def encoded(
    weights: Iterable[Weight], quantization: QuantizationPatterns | None = None
) -> tuple[list[dict[str, Any]], list[Buffer]]:
    """Return the list of weights, and their bytes in pieces.

    Args:
        weights: the weights.
        quantization: which of them are stored in fewer bytes.

    Raises:
        ValueError: a weight is to be stored in two ways, or in one that its numbers do not allow.
    """
    choose = _chooser(quantization)
    specs: list[dict[str, Any]] = []
    pieces: list[Buffer] = []
    for name, value, group in weights:
        spec, data = _encoded(name, elements_of(value), choose(name))
        specs.append({**spec, "group": group} if group else spec)
        pieces.append(data)
    return specs, pieces


def _encoded(name: str, elements: Elements, target: str | None) -> tuple[dict[str, Any], Buffer]:
    shape, dtype, data = elements
    spec: dict[str, Any] = {"name": name, "shape": list(shape), "dtype": dtype}
    if dtype == "string":
        return spec, encoded_texts(data)
    if target is None or dtype not in QUANTIZED_DTYPES[target]:
        return spec, data
    try:
        data, quantization = quantized(data, dtype, target)
    except ValueError as error:
        raise ValueError(f"quantization: weight {name!r}: {error}") from None
    spec["quantization"] = {"dtype": quantization.dtype}
    if target != "float16":
        spec["quantization"] |= {"scale": quantization.scale, "min": quantization.minimum}
    return spec, data


def check_patterns(weights: Iterable[Weight], quantization: QuantizationPatterns | None) -> None:
    """Refuse patterns that match no weight, which are mistakes.

    Raises:
        ValueError: no weight that can be stored in a dtype matches a pattern, or it is no dtype.
    """
    if not quantization:
        return
    _check_dtypes(quantization)
    dtypes = {weight.name: str(weight.value.dtype) for weight in weights}
    for target, patterns in quantization.items():
        names = [name for name, dtype in dtypes.items() if dtype in QUANTIZED_DTYPES[target]]
        for pattern in _listed(patterns):
            if not any(fnmatchcase(name, pattern) for name in names):
                raise ValueError(
                    f"quantization: no weight that can be stored as {target!r} has a name like "
                    f"{pattern!r:.200}"
                )


def _check_dtypes(patterns: QuantizationPatterns) -> None:
    unknown = {*patterns} - {*QUANTIZED_DTYPES}
    if unknown:
        raise ValueError(
            f"quantization: the dtypes are {', '.join(map(repr, QUANTIZED_DTYPES))}, but got "
            f"{min(unknown)!r}"
        )


def _chooser(patterns: QuantizationPatterns | None) -> Any:
    """Return a function that returns the dtype in the file for a weight's name, or None."""
    _check_dtypes(patterns or {})
    lists = {dtype: [*_listed(value)] for dtype, value in (patterns or {}).items()}
    others = [dtype for dtype, value in (patterns or {}).items() if value is True]
    if len(others) > 1:
        raise ValueError(f"quantization: only one dtype can be True, but {others} are")

    def choose(name: str) -> str | None:
        dtypes = [
            dtype
            for dtype, listed in lists.items()
            if any(fnmatchcase(name, pattern) for pattern in listed)
        ]
        if len(dtypes) > 1:
            raise ValueError(
                f"quantization: weight {name!r} is to be stored as {dtypes[0]!r} and as "
                f"{dtypes[1]!r}"
            )
        return next(iter([*dtypes, *others]), None)

    return choose


def _listed(patterns: str | Sequence[str] | bool) -> Iterator[str]:
    if isinstance(patterns, str):
        yield patterns
    elif not isinstance(patterns, bool):
        yield from patterns


def encode_weights(
    tensors: Mapping[str, TensorLike] | Sequence[Mapping[str, Any]],
    group: str | None = None,
    quantization: QuantizationPatterns | None = None,
) -> EncodedWeights:
    """Return tensors as bytes, as in a model's files of weights, and the list of them.

    Args:
        tensors: the tensors by their names, or a list of mappings with ``name`` and ``tensor``.
        group: "optimizer" if they are variables of an optimizer.
        quantization: which weights are stored in fewer bytes: for "float16", "uint8" or "uint16" a
            pattern of names such as ``"*/kernel"``, a list of patterns, or True for all weights of
            numbers whose names match no pattern.

    Raises:
        ValueError: a weight matches the patterns of two dtypes, or its numbers are not finite or
            too large.

    Example:
        >>> import webtensor as wt
        >>> encoded = wt.io.encode_weights({"w": [1.0, 2.0]}, quantization={"float16": "w"})
        >>> encoded.specs[0]["quantization"], len(encoded.data)
        ({'dtype': 'float16'}, 4)
        >>> wt.io.decode_weights(encoded.data, encoded.specs)["w"].tolist()
        [1.0, 2.0]
    """
    specs, pieces = encoded(_named(tensors, group), quantization)
    return EncodedWeights(b"".join(pieces), specs)


async def encode_weights_async(
    tensors: Mapping[str, TensorLike] | Sequence[Mapping[str, Any]],
    group: str | None = None,
    quantization: QuantizationPatterns | None = None,
) -> EncodedWeights:
    """Return what ``encode_weights`` does, reading tensors without blocking the page.

    Example:
        >>> import asyncio
        >>> import webtensor as wt
        >>> encoded = asyncio.run(wt.io.encode_weights_async({"w": [1.0, 2.0]}))
        >>> encoded.specs
        [{'name': 'w', 'shape': [2], 'dtype': 'float32'}]
    """
    weights = list(_named(tensors, group))
    for weight in weights:
        await weight.value.bytes()  # from now on the host has a copy
    specs, pieces = encoded(weights, quantization)
    return EncodedWeights(b"".join(pieces), specs)


def _named(
    tensors: Mapping[str, TensorLike] | Sequence[Mapping[str, Any]], group: str | None
) -> Iterator[Weight]:
    pairs = (
        tensors.items()
        if isinstance(tensors, Mapping)
        else ((entry["name"], entry["tensor"]) for entry in tensors)
    )
    for name, value in pairs:
        yield Weight(name, value if isinstance(value, Tensor) else tensor(value), group or "")
