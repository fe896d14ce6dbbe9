"""Geometry for kernels: shapes, strides and windows in linear memory.

A program calls its kernels with the same few geometries over and over. Each is written once to a
slot in linear memory, and kernels get its address: one argument in place of dozens.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence

from webtensor.backends.wasm.host import Host
from webtensor.errors import BackendError
from webtensor.shapes import Shape, contiguous_strides
from webtensor.views import broadcast_strides, collapse

__all__ = [
    "ParameterSlots",
    "broadcast_parameters",
    "spread_parameters",
    "strided_parameters",
]

#: As in ``wasm_build/source/allocator.c``.
_SLOTS = 512
_SLOT_BYTES = 512


class ParameterSlots:
    """Addresses of geometries by key; when all slots are full, the oldest is overwritten."""

    def __init__(self, host: Host, on_reuse: Callable[[], None]) -> None:
        """Find the area of slots; ``on_reuse`` is called before a geometry is overwritten."""
        self._host = host
        self._on_reuse = on_reuse
        self._base: int = host.function("parameter_area")()
        self._addresses: dict[Hashable, int] = {}
        self._keys: list[Hashable] = [None] * _SLOTS
        self._next = 0

    def address(self, key: Hashable, make: Callable[..., Sequence[int]], *arguments: object) -> int:
        """Return the address of the integers ``make(*arguments)``, which ``key`` identifies.

        Raises:
            BackendError: they do not fit into a slot.
        """
        address = self._addresses.get(key)
        return self._fill(key, make(*arguments)) if address is None else address

    def integers(self, values: tuple[int, ...]) -> int:
        """Return the address of a slot that contains ``values``."""
        address = self._addresses.get(values)
        return self._fill(values, values) if address is None else address

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


def broadcast_parameters(shape: Shape, *operands: Shape) -> list[int]:
    """Return the parameters of an elementwise kernel (``wasm_build/source/elementwise.h``)."""
    sizes, views = collapse(shape, *(broadcast_strides(operand, shape) for operand in operands))
    return [len(sizes), *sizes, *(stride for strides in views for stride in strides)]


def strided_parameters(shape: Shape, strides: Shape, offset: int) -> list[int]:
    """Return the parameters of a strided copy (``wasm_build/source/movement.c``)."""
    sizes, (collapsed_strides,) = collapse(shape, strides)
    return [offset, len(sizes), *sizes, *collapsed_strides]


def spread_parameters(x_shape: Shape, shape: Shape, low: Shape, step: Shape) -> list[int]:
    """Return the parameters of the strided copy that writes ``x`` into a padded result.

    Along each axis, element ``i`` of ``x`` goes to index ``low + i * step``.
    """
    strides = contiguous_strides(shape)
    offset = sum(start * stride for start, stride in zip(low, strides, strict=True))
    spread_strides = tuple(
        axis_step * stride for axis_step, stride in zip(step, strides, strict=True)
    )
    return strided_parameters(x_shape, spread_strides, offset)
