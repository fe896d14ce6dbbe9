"""What windows read, as index arrays of any number of dimensions: the oracles' own geometry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tests_py.cases.table import Array

__all__ = ["Windows", "batched", "each"]

ROUNDED_LENGTH = {"floor": math.floor, "ceil": math.ceil, "round": lambda x: math.floor(x + 0.5)}


def each(value: Any, axes: int) -> tuple[int, ...]:
    """A number for each axis, from one for each or one for all."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * axes


def _positions(
    length: int, size: int, stride: int, dilation: int, pad: Any, rounding: str | None
) -> Array:
    """Input coordinate of each (output, tap) along one axis; outside the input is padding."""
    reach = dilation * (size - 1) + 1
    if pad == "same":
        outputs = -(-length // stride)
        before = max(0, (outputs - 1) * stride + reach - length) // 2
    else:
        before, after = (0, 0) if pad == "valid" else pad
        outputs = (
            ROUNDED_LENGTH[rounding or "floor"]((length + before + after - reach) / stride) + 1
        )
    out, tap = np.mgrid[: max(outputs, 0), :size]
    positions: Array = out * stride + tap * dilation - before
    return positions


@cache  # differences compute with the same windows hundreds of times
def _geometry(
    lengths: tuple[int, ...],
    size: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: tuple[Any, ...],
    rounding: str | None,
) -> tuple[tuple[Array, ...], Array]:
    """Indices of what windows read along each axis, and where they lie inside the input."""
    axes = len(lengths)
    index = []
    inside: Array = np.array(True)
    for axis, length in enumerate(lengths):
        stride, dilation = strides[axis], dilations[axis]
        positions = _positions(length, size[axis], stride, dilation, pads[axis], rounding)
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = positions.shape
        positions = positions.reshape(shape)
        inside = inside & (positions >= 0) & (positions < length)
        index.append(np.clip(positions, 0, length - 1))
    return tuple(index), inside


class Windows:
    """The elements that windows read of (batch, *lengths, channels): indices (*outputs, *taps)."""

    def __init__(
        self,
        lengths: Sequence[int],
        size: Sequence[int],
        strides: Any,
        pad: Any,
        dilations: Any,
        rounding: str | None = None,
    ) -> None:
        axes = len(lengths)
        self.lengths, self.size, self.pad = tuple(lengths), tuple(size), pad
        self.strides, self.dilations = each(strides, axes), each(dilations, axes)
        if isinstance(pad, str):
            pads: list[Any] = [pad] * axes
        elif isinstance(pad, int):
            pads = [(pad, pad)] * axes
        else:
            pads = [tuple(pair) for pair in pad[1:-1]]
        self.index, self.inside = _geometry(
            self.lengths, self.size, self.strides, self.dilations, tuple(pads), rounding
        )

    def read(self, x: Array, fill: float = 0.0) -> Array:
        """(batch, *outputs, *taps, channels)."""
        if 0 in x.shape[1:-1]:
            return np.full((x.shape[0], *self.inside.shape, x.shape[-1]), fill)
        index: Any = (slice(None), *self.index)
        return np.where(self.inside[None, ..., None], x[index], fill)

    def oddities(self) -> str:
        """What is odd about the windows, as a note for a case's name."""
        axes = len(self.size)
        reaches = [(n - 1) * d + 1 for n, d in zip(self.size, self.dilations, strict=True)]
        notes = []
        if isinstance(self.pad, int) and len({*zip(reaches, self.strides, strict=True)}) > 1:
            notes.append("one padding of unlike axes")
        if self.has_empty_ones():
            notes.append("empty windows")
        outputs = self.inside.shape[:axes]
        ends = [(n - 1) * s + r for n, s, r in zip(outputs, self.strides, reaches, strict=True)]
        if self.pad == "same" and any(np.less(ends, self.lengths)):
            notes.append("strides past the end")
        return " ".join(["with", " and ".join(notes)]) if notes else ""

    def has_empty_ones(self) -> bool:
        """Whether some window reads nothing but padding."""
        axes = self.inside.ndim // 2
        return not self.inside.any(axis=tuple(range(axes, 2 * axes))).all()

    def add_up(self, parts: Array, shape: Sequence[int]) -> Array:
        """The transpose of ``read``."""
        total = np.zeros(shape)
        if total.size == 0:
            return total
        inside_parts = np.where(self.inside[None, ..., None], parts, 0)
        index: Any = (slice(None), *self.index)
        np.add.at(total, index, inside_parts)
        return total


def batched(x: Array, rank: int) -> tuple[Array, bool]:
    """``x`` with a batch axis, and whether that was added."""
    single = x.ndim == rank - 1
    return (x[None] if single else x) * 1.0, single
