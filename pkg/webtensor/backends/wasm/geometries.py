"""Geometry for kernels: shapes, strides and windows in linear memory.

A program calls its kernels with the same few geometries over and over. Each is written once to a
slot in linear memory, and kernels get its address: one argument in place of dozens.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from webtensor.backends.wasm.descriptions import Geometry
from webtensor.backends.wasm.host import Host
from webtensor.errors import BackendError
from webtensor.shapes import Shape, contiguous_strides
from webtensor.views import broadcast_strides, collapse

__all__ = ["GeometrySlots", "broadcast_geometry", "spread_geometry", "strided_geometry"]

#: As in ``wasm_build/source/allocator.c``.
_SLOTS = 512
_SLOT_BYTES = 512


class GeometrySlots:
    """Addresses of geometries; when all slots are full, the oldest is overwritten."""

    def __init__(self, host: Host, on_reuse: Callable[[], None]) -> None:
        """Find the area of slots; ``on_reuse`` is called before a geometry is overwritten."""
        self._host = host
        self._on_reuse = on_reuse
        self._base: int = host.function("parameter_area")()
        self._addresses: dict[tuple[int, ...], int] = {}
        self._integers: list[tuple[int, ...] | None] = [None] * _SLOTS
        self._next = 0

    def address(self, integers: tuple[int, ...]) -> int:
        """Return the address of a slot that contains integers.

        Raises:
            BackendError: they do not fit into a slot.
        """
        address = self._addresses.get(integers)
        return self._fill(integers) if address is None else address

    def _fill(self, integers: tuple[int, ...]) -> int:
        if len(integers) * 4 > _SLOT_BYTES:
            raise BackendError(
                f"the wasm backend holds geometries of at most {_SLOT_BYTES // 4} numbers, but "
                f"this one has {len(integers)}: the tensor has too many axes"
            )
        data = memoryview(array("i", integers)).cast("B")  # raises for what is no int32
        slot = self._next
        self._next = (slot + 1) % _SLOTS
        replaced = self._integers[slot]
        if replaced is not None:
            del self._addresses[replaced]
            self._on_reuse()
        self._integers[slot] = integers
        address = self._base + slot * _SLOT_BYTES
        self._host.write(address, data)
        self._addresses[integers] = address
        return address


def broadcast_geometry(shape: Shape, *operands: Shape) -> Geometry:
    """Return the geometry of an elementwise kernel (``wasm_build/source/elementwise.h``)."""
    sizes, views = collapse(shape, *(broadcast_strides(operand, shape) for operand in operands))
    return Geometry((len(sizes), *sizes, *(stride for strides in views for stride in strides)))


def strided_geometry(shape: Shape, strides: Shape, offset: int) -> Geometry:
    """Return the geometry of a strided copy (``wasm_build/source/movement.c``)."""
    sizes, (collapsed_strides,) = collapse(shape, strides)
    return Geometry((offset, len(sizes), *sizes, *collapsed_strides))


def spread_geometry(x_shape: Shape, shape: Shape, low: Shape, step: Shape) -> Geometry:
    """Return the geometry of the strided copy that writes ``x`` into a padded result.

    Along each axis, element ``i`` of ``x`` goes to index ``low + i * step``.
    """
    strides = contiguous_strides(shape)
    offset = sum(start * stride for start, stride in zip(low, strides, strict=True))
    spread_strides = tuple(
        axis_step * stride for axis_step, stride in zip(step, strides, strict=True)
    )
    return strided_geometry(x_shape, spread_strides, offset)
