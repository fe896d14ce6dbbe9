"""Textures: physical sizes, allocation, recycling."""

from __future__ import annotations

from typing import Any

from webtensor.backends.webgl.flags import DELETE_THRESHOLD, RECYCLED_LIMIT
from webtensor.backends.webgl.precision_modes import Mode
from webtensor.dtypes import DType, bool_, float32, int32
from webtensor.environment import env
from webtensor.errors import KernelNotFoundError, OutOfMemoryError

__all__ = ["Texture", "TextureLayout", "TextureManager", "texel_count"]

#: The minimum width of textures that have as many texels: the logarithm.
_NARROW = 6

#: Bytes of a texture from which the device is checked for running out of memory; this waits.
_CHECKED_BYTES = 1 << 22

#: Kinds of textures, as ``device.js`` numbers them. One is for pixels of images, from which tensors
#: are made, another for float32 elements as 16-bit floats; the last three are for WebGL 1.
_FLOAT, _INT, _BOOL, _PIXELS, _HALF, _INT_AS_FLOAT, _INT_AS_HALF, _BOOL_AS_BYTE = range(8)
_DTYPES = (float32, int32, bool_, float32, float32, int32, int32, bool_)
_BYTES_PER_TEXEL = (16, 16, 4, 4, 8, 16, 8, 4)
_KINDS = {
    Mode(2, False): {float32: _FLOAT, int32: _INT, bool_: _BOOL},
    Mode(2, True): {float32: _HALF, int32: _INT, bool_: _BOOL},
    Mode(1, False): {float32: _FLOAT, int32: _INT_AS_FLOAT, bool_: _BOOL_AS_BYTE},
    Mode(1, True): {float32: _HALF, int32: _INT_AS_HALF, bool_: _BOOL_AS_BYTE},
}


#: The fourth part of the key of a pool whose textures the page draws with.
_FOR_PAGE = 1


def texel_count(size: int) -> int:
    """Number of texels that hold ``size`` elements."""
    return (size + 3) >> 2


class Texture:
    """A handle: the texture's number on the device, and its physical size.

    ``host`` has the elements if the host has a copy; ``used`` is the time of its last use, by the
    manager's clock, which stands still until memory is short; ``is_for_page`` says whether the page
    draws with it. A texture that was moved to the host has no number.
    """

    __slots__ = ("height", "host", "id", "is_for_page", "kind", "nbytes", "pool", "used", "width")

    def __init__(self, id: int, width: int, height: int, kind: int, pool: list[Texture]) -> None:
        self.id = id
        self.width = width
        self.height = height
        self.kind = kind
        self.nbytes = self.width * height * _BYTES_PER_TEXEL[kind]
        self.pool = pool
        self.host: memoryview[Any] | None = None
        self.used = 0
        self.is_for_page = False

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return _DTYPES[self.kind]

    @property
    def is_paged(self) -> bool:
        """Whether the elements wait on the host."""
        return self.id < 0


#: The pool of textures of one physical size and kind, their width and height, and the kind.
TextureLayout = tuple[list[Texture], int, int, int]


class TextureManager:
    """Allocates textures, and keeps freed ones for reuse by tensors of the same physical size."""

    def __init__(self, device: Any, flush: Any, mode: Mode, largest: int) -> None:
        """Make textures of up to ``largest`` texels in a row or column."""
        self._create = device.createTexture
        self._delete = device.deleteTexture
        self._flush = flush
        self._kinds = _KINDS[mode]
        #: All textures on the device, by their numbers.
        self._all: dict[int, Texture] = {}
        self._pools: dict[tuple[int, ...], list[Texture]] = {}
        self._by_size: dict[tuple[int, DType], TextureLayout] = {}
        self.largest = largest
        #: How many elements fit the largest texture whose width is a power of two, and have indices
        #: that WebGL 1, which computes them as floats, can distinguish.
        self.most_elements = 4 << 2 * (self.largest.bit_length() - 1)
        if mode.version == 1:
            self.most_elements = min(self.most_elements, 1 << 24)
        self._recycled_limit = int(env().get_number(RECYCLED_LIMIT))
        self.count = 0
        self.bytes = 0
        self.free_count = 0
        self.free_bytes = 0
        self.paged_count = 0
        self.paged_bytes = 0
        self.clock = 0
        #: Whether the bytes ever exceeded the threshold; before that uses are not timed.
        self.may_be_short = False

    def allocate(self, size: int, dtype: DType) -> Texture:
        """Return a texture for ``size`` elements, recycled where one is free.

        Raises:
            KernelNotFoundError: the tensor does not fit the largest texture of this device.
            OutOfMemoryError: the device has no memory for it.
        """
        return self.take(self.layout(size, dtype))

    def layout(self, size: int, dtype: DType) -> TextureLayout:
        """Return where textures for ``size`` elements are kept for reuse, and how they are made.

        Raises:
            KernelNotFoundError: the tensor does not fit the largest texture of this device.
        """
        return self._by_size.get((size, dtype)) or self._plan(size, dtype)

    def take(self, layout: TextureLayout) -> Texture:
        """Return a texture of a layout, recycled where one is free."""
        return self._recycle(layout[0]) if layout[0] else self._make(*layout)

    def allocate_new(self, size: int, dtype: DType) -> Texture:
        """Return a texture that no draw has used."""
        return self._make(*self.layout(size, dtype))

    def allocate_wide(self, size: int, width: int) -> Texture:
        """Return a texture for ``size`` float32 elements with ``width`` texels in a row."""
        return self.take(self.wide_layout(size, width))

    def wide_layout(self, size: int, width: int) -> TextureLayout:
        """Return where textures for ``size`` float32 elements are kept, of this width in texels."""
        kind = self._kinds[float32]
        height = -(-texel_count(size) // width)
        pool = self._pools.setdefault((width, height, kind), [])
        return pool, width, height, kind

    def allocate_pixels(self, width: int, height: int, *, new: bool) -> Texture:
        """Return a texture for the pixels of an image; a ``new`` one was used by no draw."""
        pool = self._pools.setdefault((width, height, _PIXELS), [])
        if new or not pool:
            return self._make(pool, width, height, _PIXELS)
        return self._recycle(pool)

    def allocate_for_page(self, width: int, height: int) -> Texture:
        """Return a texture for float32 elements that the page draws with, so that it must stay."""
        kind = self._kinds[float32]
        pool = self._pools.setdefault((width, height, kind, _FOR_PAGE), [])
        texture = self._recycle(pool) if pool else self._make(pool, width, height, kind)
        texture.is_for_page = True
        return texture

    def fits(self, width: int, height: int) -> bool:
        """Whether this device has textures of that size."""
        return max(width, height) <= self.largest

    def release(self, texture: Texture) -> None:
        """Keep a texture for reuse; delete some if they exceed the limit of bytes."""
        texture.host = None
        if texture.id < 0:  # not the property, as this runs for every result
            self.paged_count -= 1
            self.paged_bytes -= texture.nbytes
            return
        texture.pool.append(texture)
        self.free_count += 1
        self.free_bytes += texture.nbytes
        self.bytes -= texture.nbytes
        if self.free_bytes > self._recycled_limit:
            self._trim(self._recycled_limit // 2)

    def _recycle(self, pool: list[Texture]) -> Texture:
        texture = pool.pop()
        self.free_count -= 1
        self.free_bytes -= texture.nbytes
        self.bytes += texture.nbytes
        texture.used = self.clock
        return texture

    def compare_with_threshold(self, *_: Any) -> None:
        """Note whether there are more bytes than the threshold."""
        if not self.may_be_short:
            limit = env().get_number(DELETE_THRESHOLD)
            self.may_be_short = 0 <= limit < self.bytes + self.free_bytes

    def in_use(self) -> list[Texture]:
        """The textures that hold elements and may be moved away, the longest unused first."""
        free = {texture.id for pool in self._pools.values() for texture in pool}
        in_use = [
            texture
            for texture in self._all.values()
            if not (texture.kind == _PIXELS or texture.is_for_page or texture.id in free)
        ]
        return sorted(in_use, key=lambda texture: texture.used)

    def evict(self, texture: Texture) -> None:
        """Delete a texture whose elements are on the host, too; no queued draw may need it."""
        self._forget(texture)
        self.bytes -= texture.nbytes
        texture.id = -1
        self.paged_count += 1
        self.paged_bytes += texture.nbytes

    def restore(self, texture: Texture) -> None:
        """Give an evicted texture memory on the device again."""
        self._create_for(texture)
        self.paged_count -= 1
        self.paged_bytes -= texture.nbytes

    def _create_for(self, texture: Texture) -> None:
        described = texture.width, texture.height, texture.kind, texture.nbytes >= _CHECKED_BYTES
        id = self._create(*described)
        if id < 0:
            self._trim(0)
            id = self._create(*described)
        if id < 0:
            raise OutOfMemoryError(
                f"the GPU has no room for a texture of {texture.width} × {texture.height} texels, "
                f"{texture.nbytes:,} bytes: {self.bytes:,} bytes are in use by "
                f"{self.count - self.free_count:,} textures"
            )
        texture.id = id
        self._all[texture.id] = texture
        self.count += 1
        self.bytes += texture.nbytes

    def _forget(self, texture: Texture) -> None:
        del self._all[texture.id]
        self._delete(texture.id)
        self.count -= 1

    def _make(self, pool: list[Texture], width: int, height: int, kind: int) -> Texture:
        texture = Texture(-1, width, height, kind, pool)
        self._create_for(texture)
        texture.used = self.clock
        self.compare_with_threshold()
        return texture

    def _plan(self, size: int, dtype: DType) -> TextureLayout:
        """Work out the physical size for ``size`` elements; the width is a power of two."""
        if size > self.most_elements:
            raise KernelNotFoundError(
                f"webgl: a tensor of {size:,} elements does not fit a texture, which has room for "
                f"{self.most_elements:,} here"
            )
        texels = texel_count(size)
        # High rather than wide: emulated devices divide rows among processors.
        square = ((texels - 1).bit_length() + 1) // 2
        width = 1 << max(square - 2, min(square, _NARROW))
        while width * self.largest < texels:
            width *= 2
        height = -(-texels // width)
        kind = self._kinds[dtype]
        pool = self._pools.setdefault((width, height, kind), [])
        plan = self._by_size[size, dtype] = pool, width, height, kind
        return plan

    def _trim(self, limit: int) -> None:
        """Delete textures kept for reuse, the largest first, down to ``limit`` bytes."""
        self._flush()
        for pool in sorted(
            self._pools.values(), key=lambda textures: -textures[0].nbytes if textures else 0
        ):
            while pool and self.free_bytes > limit:
                texture = pool.pop()
                self._forget(texture)
                self.free_count -= 1
                self.free_bytes -= texture.nbytes
