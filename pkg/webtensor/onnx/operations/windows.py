"""Windows over the axes after batch and channels, which convolutions and pools share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webtensor import ops
from webtensor.engine import Tensor

__all__ = ["Windows", "channels_first", "channels_last", "filters_last", "windows_of"]


#: The names in ``webtensor.geometry`` of paddings that depend on the size.
_NAMES = {"SAME_UPPER": "same", "SAME_LOWER": "same_lower"}


class Windows(NamedTuple):
    """Windows, by a number for each axis.

    Attributes:
        shape: the elements of a window.
        strides: from one window to the next.
        dilations: from one element of a window to the next.
        begins: the padding before the first element.
        ends: that behind the last.
        ceil_padding: that behind the ends for windows that are only partly inside.
        counts: how many windows there are.
        name: that of a padding that depends on the size, "same" or "same_lower", or "".
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    ceil_padding: tuple[int, ...]
    counts: tuple[int, ...]
    name: str

    def padding(self) -> str | list[list[int]]:
        """Return the padding as ``webtensor.ops`` takes it, by its name if it has one."""
        return self.name or self.pairs()

    def pairs(self) -> list[list[int]]:
        """Return the padding of each axis, batch and channels last included."""
        inner = [
            [begin, end + ceil_padding]
            for begin, end, ceil_padding in zip(
                self.begins, self.ends, self.ceil_padding, strict=True
            )
        ]
        return [[0, 0], *inner, [0, 0]]


def _check(
    rank: int,
    shape: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
) -> None:
    for name, values, count in (
        ("kernel_shape", shape, rank),
        ("strides", strides, rank),
        ("dilations", dilations, rank),
        ("pads", pads, 2 * rank),
    ):
        if len(values) != count:
            raise ValueError(f"{name} must have {count} numbers, but is {list(values)}")
    if min((*strides, *dilations, *shape), default=1) < 1:
        raise ValueError("the numbers of kernel_shape, strides and dilations must be positive")


def windows_of(
    sizes: Sequence[int],
    shape: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str,
    ceil_mode: int = 0,
) -> Windows:
    """Return the windows over axes of these sizes.

    Raises:
        ValueError: there is not a number for each axis, or ``auto_pad`` is unknown.
    """
    rank = len(sizes)
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    if auto_pad not in ("NOTSET", "", "SAME_LOWER", "SAME_UPPER", "VALID"):
        raise ValueError(f"auto_pad is {auto_pad!r:.200}")
    explicit = (pads or [0] * 2 * rank) if auto_pad in ("NOTSET", "") else [0] * 2 * rank
    _check(rank, shape, strides, dilations, explicit)
    begins, ends = list(explicit[:rank]), list(explicit[rank:])
    ceil_padding, counts = [0] * rank, [0] * rank
    for axis, size in enumerate(sizes):
        extent = (shape[axis] - 1) * dilations[axis] + 1
        if auto_pad.startswith("SAME"):
            padding = max((-(-size // strides[axis]) - 1) * strides[axis] + extent - size, 0)
            begins[axis] = padding // 2 if auto_pad == "SAME_UPPER" else padding - padding // 2
            ends[axis] = padding - begins[axis]
        room = size + begins[axis] + ends[axis] - extent
        if room < 0:
            raise ValueError(
                f"windows of {extent} do not fit into {size} elements padded by {begins[axis]} "
                f"and {ends[axis]}"
            )
        if ceil_mode:  # and a window must not begin in the padding behind all elements
            ceil_padding[axis] = max(min(strides[axis], extent - ends[axis]) - 1, 0)
        counts[axis] = (room + ceil_padding[axis]) // strides[axis] + 1
    return Windows(
        tuple(shape),
        tuple(strides),
        tuple(dilations),
        tuple(begins),
        tuple(ends),
        tuple(ceil_padding),
        tuple(counts),
        _NAMES.get(auto_pad, ""),
    )


def channels_last(x: Tensor) -> Tensor:
    """Move the axis of channels behind those of space."""
    return ops.permute_dims(x, (0, *range(2, len(x.shape)), 1))


def channels_first(x: Tensor) -> Tensor:
    """Move the axis of channels before those of space."""
    rank = len(x.shape)
    return ops.permute_dims(x, (0, rank - 1, *range(1, rank - 1)))


def filters_last(filter: Tensor) -> Tensor:
    """Move the first two axes of a filter to the end, in reverse order."""
    return ops.permute_dims(filter, (*range(2, len(filter.shape)), 1, 0))
