"""``wt.string``: splitting, hashing and rewriting text, which is computed on the host.

String tensors hold UTF-8 bytes. They are made from ``str`` or ``bytes`` by ``wt.tensor``, and move
and compare like others: reshape, slice, concat, gather, tile, equal, where, unique and so on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from webtensor.arguments import as_integer, as_integers, as_positive_integer
from webtensor.dtypes import int32, string_
from webtensor.engine import Tensor, TensorLike, from_host, near_its_operands
from webtensor.engine.convert import pack
from webtensor.ops.coordinates import to_coordinates
from webtensor.ops.fingerprint import fingerprints64
from webtensor.ops.movement import as_indices, reshape, stack
from webtensor.ops.sequences import arange, ragged_sequence, row_numbers
from webtensor.ops.string_elements import as_text, text_tensor, texts_of
from webtensor.shapes import check_size

__all__ = [
    "static_regex_replace",
    "string_n_grams",
    "string_split",
    "string_to_hash_bucket_fast",
]


class NGrams(NamedTuple):
    """n-grams of all rows one after the other, and where each row's begin and end."""

    n_grams: Tensor
    n_grams_splits: Tensor


class Split(NamedTuple):
    """A sparse matrix of parts: (row, number) of each, the parts, and the matrix's shape."""

    indices: Tensor
    values: Tensor
    shape: Tensor


def static_regex_replace(
    input: TensorLike, pattern: str, rewrite: str, replace_global: bool = True
) -> Tensor:
    r"""Replace what matches a regular expression in each text of a tensor.

    Pattern and rewrite are as in Python's ``re.sub``, and ``\0`` in the rewrite is the whole match.
    Without ``replace_global``, only the first match in each text is replaced. The
    result has the shape of ``input`` and dtype string.

    Raises:
        TypeError: ``input`` is not string.
        ValueError: the pattern or the rewrite is malformed.

    Example:
        >>> import webtensor as wt
        >>> wt.string.static_regex_replace(["format   this", "a  b"], " +", "_").tolist()
        ['format_this', 'a_b']
    """
    name = "static_regex_replace"
    operand = as_text(name, "input", input)
    for argument, value in (("pattern", pattern), ("rewrite", rewrite)):
        if not isinstance(value, str):
            raise TypeError(f"{name}: {argument} must be text, but got {value!r}")
    count = 0 if replace_global else 1
    python_rewrite = re.sub(r"(\\\\)|\\0(?![0-7])", lambda match: match[1] or r"\g<0>", rewrite)
    try:
        expression = re.compile(pattern)
        changed = [
            expression.sub(python_rewrite, text.decode("utf-8", "surrogateescape"), count)
            for text in texts_of(operand)
        ]
    except re.error as error:
        raise ValueError(
            f"{name}: pattern {pattern!r} with rewrite {rewrite!r} is malformed: {error}"
        ) from None
    return text_tensor(pack(name, changed, string_), operand.shape)


def string_n_grams(
    data: TensorLike,
    data_splits: TensorLike,
    separator: str,
    ngram_widths: Sequence[int],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
) -> NGrams:
    """Join each ``n`` neighbours in the rows of a ragged tensor of words, for each width ``n``.

    Row ``i`` is ``data[data_splits[i]:data_splits[i + 1]]``. Rows are padded at both ends with
    ``pad_width`` pads, or as many as make every word the first and the last of an n-gram where
    ``pad_width`` is -1, but never more than ``n - 1``. ``preserve_short_sequences`` makes one
    n-gram of a row that is too short for any.

    Raises:
        TypeError: ``data`` is not string, or ``data_splits`` not int32.
        ValueError: another rank than 1, splits that do not rise from 0 to the number of words, a
            width below 1, or too many n-grams.

    Example:
        >>> import webtensor as wt
        >>> words = ["a", "b", "c"]
        >>> result = wt.string.string_n_grams(words, [0, 2, 3], "|", [2], "<", ">", -1, False)
        >>> result.n_grams.tolist(), result.n_grams_splits.tolist()
        (['<|a', 'a|b', 'b|>', '<|c', 'c|>'], [0, 3, 5])
    """
    name = "string_n_grams"
    operand = as_text(name, "data", data)
    split_tensor = as_indices(name, data_splits, "data_splits")
    for argument, tensor in (("data", operand), ("data_splits", split_tensor)):
        if len(tensor.shape) != 1:
            raise ValueError(
                f"{name}: {argument} must have rank 1, but its shape is {tensor.shape}"
            )
    widths = as_integers(name, "ngram_widths", ngram_widths)
    pad_width = as_integer(name, "pad_width", pad_width)
    if min(widths, default=1) < 1:
        raise ValueError(f"{name}: ngram_widths must be positive integers, but got {ngram_widths}")
    words, splits = texts_of(operand), list(split_tensor.data_sync())
    if splits and (splits[0] != 0 or splits[-1] != len(words) or splits != sorted(splits)):
        raise ValueError(
            f"{name}: data_splits must rise from 0 to the {len(words)} elements of data, but got "
            f"{splits}"
        )
    rows = [(end - begin, width) for begin, end in pairwise(splits) for width in widths]
    check_size(name, "ngram_widths", ngram_widths, sum(_pieces(*row, pad_width) for row in rows))
    middle, left, right = pack(name, [separator, left_pad, right_pad], string_)
    n_grams: list[bytes] = []
    output_splits = splits[:1]
    for begin, end in pairwise(splits):
        row = words[begin:end]
        for width in widths:
            pads = _pads(width, pad_width)
            padded = [left] * pads + list(row) + [right] * pads
            n_grams += [
                middle.join(padded[start : start + width])
                for start in range(len(padded) - width + 1)
            ]
        if preserve_short_sequences and row and len(n_grams) == output_splits[-1]:
            pads = max(pad_width, 0)
            n_grams.append(middle.join([left] * pads + list(row) + [right] * pads))
        output_splits.append(len(n_grams))
    return NGrams(text_tensor(n_grams, (len(n_grams),)), from_host(name, output_splits, int32))


def _pads(width: int, pad_width: int) -> int:
    """Return the number of pads on each side of a row for n-grams of a width."""
    return min(width - 1 if pad_width < 0 else pad_width, width - 1)


def _pieces(length: int, width: int, pad_width: int) -> int:
    """Return how many words and pads all n-grams of one width have together."""
    return max(length + 2 * _pads(width, pad_width) - width + 1, 0) * width


def string_split(input: TensorLike, delimiter: str, skip_empty: bool = True) -> Split:
    """Split each text of a tensor of rank 1 into parts, as a sparse matrix.

    A text is split at each byte that is one of the delimiter's, or into single bytes where the
    delimiter is empty. The indices and the shape are int32.

    Raises:
        TypeError: ``input`` is not string.
        ValueError: another rank.

    Example:
        >>> import webtensor as wt
        >>> parts = wt.string.string_split(["hello world", "a b c"], " ")
        >>> parts.values.tolist(), parts.indices.tolist(), parts.shape.tolist()
        (['hello', 'world', 'a', 'b', 'c'], [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [2, 3])
    """
    name = "string_split"
    operand = as_text(name, "input", input)
    delimiter_tensor = as_text(name, "delimiter", delimiter)
    if len(operand.shape) != 1:
        raise ValueError(f"{name}: input must have rank 1, but its shape is {operand.shape}")
    if delimiter_tensor.shape:
        raise ValueError(
            f"{name}: delimiter must be a scalar, but its shape is {delimiter_tensor.shape}"
        )
    (delimiters,) = texts_of(delimiter_tensor)
    return parts_of_rows(*_split(texts_of(operand), delimiters, skip_empty))


@near_its_operands
def parts_of_rows(values: Sequence[bytes], counts: Sequence[int]) -> Split:
    """Return texts as a sparse matrix with ``counts`` of them in its rows."""
    name = "string_split"
    rows, width = len(counts), max(counts, default=0)
    if len(values) == rows * width:
        indices = to_coordinates(arange(rows * width), (rows, width))
    else:
        columns = ragged_sequence(name, [0] * rows, [1] * rows, list(accumulate(counts)), int32)
        indices = stack([row_numbers(name, counts), columns], 1)
    shape = from_host(name, [rows, width], int32)
    return Split(indices, text_tensor(values, (len(values),)), shape)


def _split(
    texts: Sequence[bytes], delimiters: bytes, skip_empty: bool
) -> tuple[list[bytes], list[int]]:
    """Return the parts of all texts, and how many each has."""
    if not delimiters:
        single_bytes: Any = memoryview(b"".join(texts)).cast("c")
        return single_bytes.tolist(), list(map(len, texts))
    mark = delimiters[:1]
    if len(delimiters) > 1:
        table = bytes.maketrans(delimiters, mark * len(delimiters))
        texts = [text.translate(table) for text in texts]
    joined = mark.join(texts)
    if 2 * mark not in mark + joined + mark:  # no part is empty: all at once, which is quicker
        return joined.split(mark), [text.count(mark) + 1 for text in texts]
    rows = [text.split(mark) if text else [] for text in texts]
    if skip_empty:
        rows = [[part for part in row if part] for row in rows]
    return list(chain.from_iterable(rows)), list(map(len, rows))


def string_to_hash_bucket_fast(input: TensorLike, num_buckets: int) -> Tensor:
    """Number each text of a tensor by its hash, FarmHash's Fingerprint64, modulo ``num_buckets``.

    Returns int32 numbers in the shape of ``input``: the same as TensorFlow gives.

    Raises:
        TypeError: ``input`` is not string, or ``num_buckets`` no integer.
        ValueError: ``num_buckets`` is not positive.

    Example:
        >>> import webtensor as wt
        >>> wt.string.string_to_hash_bucket_fast(["a", "b", "c", "d"], 10).tolist()
        [9, 2, 2, 5]
    """
    name = "string_to_hash_bucket_fast"
    operand = as_text(name, "input", input)
    num_buckets = as_positive_integer(name, "num_buckets", num_buckets)
    texts = texts_of(operand)
    buckets = {text: number % num_buckets for text, number in fingerprints64(texts).items()}
    numbers = pack(name, list(map(buckets.__getitem__, texts)), int32)
    return reshape(from_host(name, numbers, int32), operand.shape)
