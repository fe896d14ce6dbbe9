"""Operations on strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from math import prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.formats.regular_expressions import compile_re2
from webtensor.graph.operations.arguments import attribute, boolean, dtype_name, integers, text
from webtensor.graph.operations.rows import Row, Tensors
from webtensor.ops.fingerprint import strong_hashes
from webtensor.ops.string import parts_of_rows
from webtensor.ops.string_elements import text_tensor, texts_of

__all__ = ["ONLY_HERE", "ROWS"]


def split_at_characters(input: Tensor, delimiter: Tensor, skip_empty: bool) -> tuple[Tensor, ...]:
    """Split strings at any of the characters of one string."""
    return ops.string.string_split(input, _only(delimiter).decode("utf-8"), skip_empty)


def split_at_separator(input: Tensor, separator: Tensor, limit: int) -> tuple[Tensor, ...]:
    """Split strings at a separator, or at white space where it is empty."""
    rows = [row.split(_only(separator) or None, limit) for row in texts_of(input)]
    return parts_of_rows([*chain.from_iterable(rows)], [len(row) for row in rows])


def _only(value: Tensor) -> bytes:
    """Return the only string of a tensor."""
    texts = texts_of(value)
    if len(texts) != 1:
        raise ValueError(f"an input must be one string, but has shape {value.shape}")
    return texts[0]


# -- each string by itself ---------------------------------------------------------------------


def changing(change: Callable[[Any], Any]) -> Callable[..., Tensor]:
    """Return what changes each string: its characters, or bytes without an encoding."""

    def changed(x: Tensor, encoding: str = "") -> Tensor:
        if not encoding:
            return text_tensor(map(change, texts_of(x)), x.shape)
        characters = (change(value.decode("utf-8", "replace")) for value in texts_of(x))
        return text_tensor((value.encode() for value in characters), x.shape)

    return changed


def lengths(x: Tensor, unit: str) -> Tensor:
    """Return the numbers of bytes or of characters."""
    return ops.tensor([len(_units(value, unit)) for value in texts_of(x)], x.shape, "int32")


def _units(value: bytes, unit: str) -> Any:
    return value if unit == "BYTE" else value.decode("utf-8", "replace")


def parts(x: Tensor, start: Tensor, length: Tensor, unit: str) -> Tensor:
    """Return a part of each string; a negative start counts from the end."""
    shape = ops.broadcast_shapes(x.shape, start.shape)
    columns = [ops.broadcast_to(value, shape) for value in (x, start, length)]
    results = []
    for value, first, count in zip(
        texts_of(columns[0]), *(column.data_sync() for column in columns[1:]), strict=True
    ):
        units = _units(value, unit)
        if not -len(units) <= first <= len(units):
            raise ValueError(f"Substr: {value!r} has no position {first}")
        part = units[first % len(units) if first < 0 else first :][: max(count, 0)]
        results.append(part if isinstance(part, bytes) else part.encode())
    return text_tensor(results, shape)


def described(
    x: Tensor, precision: int, scientific: bool, shortest: bool, width: int, fill: str
) -> Tensor:
    """Return numbers and truth values as strings."""
    kind = str(x.dtype)
    numbers = [*x.data_sync()]
    if kind == "bool":
        values = ["true" if number else "false" for number in numbers]
    else:
        size = (fill + str(width)) if width >= 0 else ""
        form = "d" if kind == "int32" else "e" if scientific else "g" if shortest else "f"
        digits = f".{precision}" if precision >= 0 and form != "d" else ""
        values = [f"%{size}{digits}{form}" % number for number in numbers]
    return text_tensor(map(str.encode, values), x.shape)


def numbers(x: Tensor, dtype: str) -> Tensor:
    """Return the numbers that strings name."""
    read = int if dtype == "int32" else float
    return ops.tensor([read(value) for value in texts_of(x)], x.shape, dtype)


def strong_buckets(x: Tensor, count: int, key: Sequence[int]) -> Tensor:
    """Number strings by their hashes, which depend on a key."""
    texts = texts_of(x)
    hashes = strong_hashes(texts, key)
    return ops.tensor([hashes[value] % count for value in texts], x.shape, "int32")


def is_match(input: Tensor, pattern: str) -> Tensor:
    """Return whether a regular expression matches whole strings."""
    match = re.compile(pattern).fullmatch
    texts = (value.decode("utf-8", "surrogateescape") for value in texts_of(input))
    return ops.tensor([match(value) is not None for value in texts], input.shape, "bool")


# -- joined strings ----------------------------------------------------------------------------


def joined(operands: Sequence[Tensor], separator: str) -> Tensor:
    """Join the strings of several tensors of one shape, or of none."""
    shape = max((operand.shape for operand in operands), key=len)
    columns = [texts_of(ops.broadcast_to(operand, shape)) for operand in operands]
    return text_tensor(map(separator.encode().join, zip(*columns, strict=True)), shape)


def joined_along(x: Tensor, axes: Sequence[int], keep_dims: bool, separator: str) -> Tensor:
    """Join strings along axes, of which the first one comes first."""
    rank = len(x.shape)
    inner = [axis % rank for axis in axes]
    outer = [axis for axis in range(rank) if axis not in inner]
    texts = texts_of(ops.permute_dims(x, (*outer, *inner[::-1])))
    step = prod(x.shape[axis] for axis in inner)
    shape = tuple(1 if axis in inner else size for axis, size in enumerate(x.shape))
    results = [
        separator.encode().join(texts[index * step : (index + 1) * step])
        for index in range(prod(shape))
    ]
    return text_tensor(results, shape if keep_dims else tuple(shape[axis] for axis in outer))


# -- characters --------------------------------------------------------------------------------


def codes(x: Tensor, errors: str) -> tuple[Tensor, ...]:
    """Return the code points of strings as a ragged tensor: where strings begin, and all codes."""
    rows = [
        value.decode("utf-8", "ignore" if errors == "ignore" else "replace")
        for value in texts_of(x)
    ]
    splits = [0]
    for row in rows:
        splits.append(splits[-1] + len(row))
    points = [ord(character) for row in rows for character in row]
    return ops.tensor(splits, dtype="int32"), ops.tensor(points, (len(points),), "int32")


def strings_of_codes(points: Tensor, splits: Tensor) -> Tensor:
    """Return the strings with these code points."""
    characters = "".join(map(chr, points.data_sync()))
    ends = [*splits.data_sync()]
    texts = [characters[begin:end].encode() for begin, end in pairwise(ends)]
    return text_tensor(texts, (len(texts),))


_PATTERN = attribute("pattern", convert=lambda value: compile_re2(value).pattern)
_UNIT = text("unit", "BYTE")

ROWS = {
    "StaticRegexReplace": Row(
        "string.static_regex_replace",
        0,
        pattern=_PATTERN,
        rewrite=text("rewrite"),
        replace_global=boolean("replace_global", True),
    ),
    "StringNGrams": Row(
        "string.string_n_grams",
        0,
        1,
        separator=text("separator"),
        ngram_widths=attribute("ngram_widths"),
        left_pad=text("left_pad"),
        right_pad=text("right_pad"),
        pad_width=attribute("pad_width"),
        preserve_short_sequences=boolean("preserve_short_sequences"),
    ).dynamic(),
    "StringSplit": Row(split_at_characters, 0, 1, skip_empty=boolean("skip_empty", True)).dynamic(),
    "StringToHashBucketFast": Row(
        "string.string_to_hash_bucket_fast", 0, num_buckets=attribute("num_buckets")
    ),
}

#: Those that TensorFlow.js does not have.
ONLY_HERE = {
    "AsString": Row(
        described,
        0,
        precision=attribute("precision", -1),
        scientific=boolean("scientific"),
        shortest=boolean("shortest"),
        width=attribute("width", -1),
        fill=text("fill", ""),
    ),
    "ReduceJoin": Row(
        joined_along,
        0,
        axes=integers(1),
        keep_dims=boolean("keep_dims"),
        separator=text("separator", ""),
    ),
    "StaticRegexFullMatch": Row(is_match, 0, pattern=_PATTERN),
    "StringJoin": Row(joined, Tensors(), separator=text("separator", "")),
    "StringLength": Row(lengths, 0, unit=_UNIT),
    "StringLower": Row(changing(lambda value: value.lower()), 0, encoding=text("encoding", "")),
    "StringSplitV2": Row(split_at_separator, 0, 1, limit=attribute("maxsplit", -1)).dynamic(),
    "StringStrip": Row(changing(bytes.strip), 0),
    "StringToHashBucketStrong": Row(
        strong_buckets, 0, count=attribute("num_buckets"), key=attribute("key")
    ),
    "StringToNumber": Row(numbers, 0, dtype=attribute("out_type", "float32", dtype_name)),
    "StringUpper": Row(changing(lambda value: value.upper()), 0, encoding=text("encoding", "")),
    "Substr": Row(parts, 0, 1, 2, unit=_UNIT),
    "UnicodeDecode": Row(codes, 0, errors=text("errors", "replace")).dynamic(),
    "UnicodeEncode": Row(strings_of_codes, 0, 1).dynamic(),
}
