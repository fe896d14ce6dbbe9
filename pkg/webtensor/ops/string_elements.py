"""Rearranging and comparing the elements of string tensors, which are on the host.

Backends have no text. The few primitives through which every op moves elements are implemented for
text here, on tuples of bytes; all others raise ``TypeError``. No gradient flows through text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from webtensor.dtypes import DType, bool_, string_
from webtensor.engine import Tensor, TensorLike, as_operand, from_host
from webtensor.engine.storage import StringStorage
from webtensor.shapes import Shape
from webtensor.views import broadcast_strides

__all__ = [
    "as_text",
    "check_all_text",
    "chosen_texts",
    "compared_texts",
    "gathered_texts",
    "joined_texts",
    "put_texts",
    "text_tensor",
    "texts_of",
    "viewed_texts",
]


def text_tensor(elements: Iterable[bytes], shape: Shape) -> Tensor:
    """Make a string tensor."""
    return Tensor(StringStorage(tuple(elements)), shape, string_)


def texts_of(x: Tensor) -> tuple[bytes, ...]:
    """Elements of a string tensor."""
    texts: Any = x.storage.read()
    return texts  # type: ignore[no-any-return]


def as_text(name: str, argument: str, value: TensorLike) -> Tensor:
    """Return ``value`` as a string tensor.

    Raises:
        TypeError: it holds something else than text.
    """
    operand = as_operand(name, value, string_)
    if operand.dtype is not string_:
        raise TypeError(f"{name}: {argument} must be string, but got {operand.dtype}")
    return operand


def check_all_text(name: str, dtypes: Sequence[DType]) -> None:
    """Check that operands to be joined are all text, or that none is.

    Raises:
        TypeError: text beside numbers.
    """
    if string_ in dtypes and any(dtype is not string_ for dtype in dtypes):
        raise TypeError(
            f"{name}: text and numbers do not mix, but got {[str(dtype) for dtype in dtypes]}"
        )


def viewed_texts(x: Tensor, shape: Shape, strides: Sequence[int], offset: int) -> Tensor:
    """Copy a strided view out."""
    offsets = [offset]
    for length, stride in zip(shape, strides, strict=True):
        offsets = [start + index * stride for start in offsets for index in range(length)]
    texts = texts_of(x)
    return text_tensor((texts[start] for start in offsets), shape)


def joined_texts(tensors: Sequence[Tensor], shape: Shape, outer: int) -> Tensor:
    """Join rows side by side."""
    rows = []
    for tensor in tensors:
        texts = texts_of(tensor)
        width = len(texts) // outer if outer else 0
        rows.append([texts[row * width : (row + 1) * width] for row in range(outer)])
    parts = chain.from_iterable(zip(*rows, strict=True))
    return text_tensor(chain.from_iterable(parts), shape)


def gathered_texts(
    x: Tensor, indices: Tensor, shape: Shape, outer: int, length: int, inner: int, count: int
) -> Tensor:
    """Pick slices by index; out of range picks empty text."""
    texts = texts_of(x)
    empty = (b"",) * inner
    picked: list[bytes] = []
    positions = [index + length if index < 0 else index for index in indices.data_sync()]
    for row in range(outer):
        for index in positions:
            start = (row * length + index) * inner
            picked += texts[start : start + inner] if 0 <= index < length else empty
    return text_tensor(picked, shape)


def put_texts(x: Tensor, indices: Tensor, updates: Tensor, length: int, inner: int) -> Tensor:
    """Replace slices of a copy at their indices; those out of range are left out."""
    texts = list(texts_of(x))
    new_texts = texts_of(updates)
    for number, index in enumerate(indices.data_sync()):
        if 0 <= index < length:
            part = new_texts[number * inner : (number + 1) * inner]
            texts[index * inner : (index + 1) * inner] = part
    return text_tensor(texts, x.shape)


def _broadcast_texts(x: Tensor, shape: Shape) -> Sequence[bytes]:
    return texts_of(viewed_texts(x, shape, broadcast_strides(x.shape, shape), 0))


def compared_texts(
    x: Tensor, y: Tensor, shape: Shape, comparison: Callable[[bytes, bytes], bool]
) -> Tensor:
    """Compare the elements of two tensors, with broadcasting."""
    results = list(map(comparison, _broadcast_texts(x, shape), _broadcast_texts(y, shape)))
    return Tensor(from_host("equal", results, bool_).storage, shape, bool_)


def chosen_texts(condition: Tensor, x: Tensor, y: Tensor, shape: Shape) -> Tensor:
    """Take text of ``x`` where the condition holds, else of ``y``, with broadcasting."""
    elements = zip(
        condition.broadcast_to(shape).data_sync(),
        _broadcast_texts(x, shape),
        _broadcast_texts(y, shape),
        strict=True,
    )
    return text_tensor((first if holds else second for holds, first, second in elements), shape)
