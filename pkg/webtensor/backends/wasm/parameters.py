"""Geometry for kernels: shapes, strides, windows, written once and kept.

A program calls its kernels with the same few geometries over and over. Each is written once to a
slot in linear memory, and kernels get its address, one argument in place of dozens.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence

from webtensor.backends.wasm.host import Host
from webtensor.errors import BackendError
from webtensor.shapes import Shape, contiguous_strides

__all__ = [
    "ParameterSlots",
    "broadcast_parameters",
    "collapse",
    "spread_parameters",
    "strided_parameters",
]

#: As in ``wasm_build/source/allocator.c``.
_SLOTS = 512
_SLOT_BYTES = 512


class ParameterSlots:
    """Addresses of geometries by key; the slot longest ago filled is used again."""

    def __init__(self, host: Host, on_reuse: Callable[[], None]) -> None:
        """Find the area of slots; ``on_reuse`` hears when an address gets another geometry."""
        self._host = host
        self._on_reuse = on_reuse
        self._base: int = host.function("parameter_area")()
        self._addresses: dict[Hashable, int] = {}
        self._keys: list[Hashable] = [None] * _SLOTS
        self._next = 0

    def address(self, key: Hashable, make: Callable[..., Sequence[int]], *arguments: object) -> int:
        """Return where the integers ``make(*arguments)``, known by ``key``, lie.

        Raises:
            BackendError: they do not fit into a slot.
        """
        found = self._addresses.get(key)
        return self._fill(key, make(*arguments)) if found is None else found

    def integers(self, values: tuple[int, ...]) -> int:
        """Return where the given integers lie."""
        found = self._addresses.get(values)
        return self._fill(values, values) if found is None else found

    def _fill(self, key: Hashable, values: Sequence[int]) -> int:
        if len(values) * 4 > _SLOT_BYTES:
            raise BackendError(
                f"the wasm backend holds geometries of at most {_SLOT_BYTES // 4} numbers, but "
                f"this one has {len(values)}: the tensor has too many axes"
            )
        slot = self._next
        self._next = (slot + 1) % _SLOTS
        if self._addresses.pop(self._keys[slot], None) is not None:
            self._on_reuse()
        self._keys[slot] = key
        address = self._base + slot * _SLOT_BYTES
        self._host.write(address, memoryview(array("i", values)).cast("B"))
        self._addresses[key] = address
        return address


def collapse(lengths: Shape, *strides: Shape) -> tuple[list[int], list[list[int]]]:
    """Join axes that all operands step through as through one, and drop those of length 1.

    Returns the lengths and the strides of each operand; at least one axis remains.
    """
    joined: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, length in enumerate(lengths):
        if length == 1:
            continue
        if joined and all(
            own[-1] == one[axis] * length for own, one in zip(steps, strides, strict=True)
        ):
            joined[-1] *= length
            for own, one in zip(steps, strides, strict=True):
                own[-1] = one[axis]
        else:
            joined.append(length)
            for own, one in zip(steps, strides, strict=True):
                own.append(one[axis])
    if not joined:
        return [1], [[1] for _ in strides]
    return joined, steps


def _broadcast_strides(shape: Shape, rank: int) -> Shape:
    """Strides of an operand along the axes of a result of ``rank``: 0 where it is repeated."""
    strides = contiguous_strides(shape)
    own = tuple(0 if length == 1 else by for length, by in zip(shape, strides, strict=True))
    return (0,) * (rank - len(shape)) + own


def broadcast_parameters(shape: Shape, *operands: Shape) -> list[int]:
    """Parameters of an elementwise kernel (see ``wasm_build/source/elementwise.h``)."""
    strides = (_broadcast_strides(operand, len(shape)) for operand in operands)
    lengths, steps = collapse(shape, *strides)
    return [len(lengths), *lengths, *(step for own in steps for step in own)]


def strided_parameters(shape: Shape, strides: Shape, offset: int) -> list[int]:
    """Parameters of a strided copy (see ``wasm_build/source/movement.c``)."""
    lengths, (steps,) = collapse(shape, strides)
    return [offset, len(lengths), *lengths, *steps]


def spread_parameters(x_shape: Shape, shape: Shape, low: Shape, step: Shape) -> list[int]:
    """Parameters of the strided copy that pads: where the elements of ``x`` go in the result."""
    strides = contiguous_strides(shape)
    offset = sum(start * stride for start, stride in zip(low, strides, strict=True))
    return strided_parameters(
        x_shape, tuple(by * one for by, one in zip(step, strides, strict=True)), offset
    )
