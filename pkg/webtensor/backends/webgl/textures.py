"""Textures: physical sizes, allocation, recycling."""

from __future__ import annotations

from typing import Any

from webtensor.dtypes import DType, bool_, float32, int32
from webtensor.environment import env
from webtensor.errors import BackendError

__all__ = ["Texture", "TextureManager", "texel_count"]

_KINDS = {float32: 0, int32: 1, bool_: 2}
_BYTES_PER_TEXEL = (16, 16, 4)


def texel_count(size: int) -> int:
    """Number of texels that hold ``size`` elements."""
    return (size + 3) >> 2


class Texture:
    """A handle: the texture's number on the device, and its physical size."""

    __slots__ = ("height", "id", "kind", "nbytes", "pool", "width")

    def __init__(self, id: int, width: int, height: int, kind: int, pool: list[Texture]) -> None:
        self.id = id
        self.width = width
        self.height = height
        self.kind = kind
        self.nbytes = self.width * height * _BYTES_PER_TEXEL[kind]
        self.pool = pool


class TextureManager:
    """Allocates textures, and keeps freed ones for reuse by tensors of the same physical size."""

    def __init__(self, device: Any, flush: Any) -> None:
        self._create = device.createTexture
        self._delete = device.deleteTexture
        self._flush = flush
        self._pools: dict[tuple[int, int, int], list[Texture]] = {}
        self._by_size: dict[tuple[int, DType], tuple[list[Texture], int, int, int]] = {}
        self._largest = int(env().get_number("WEBGL_MAX_TEXTURE_SIZE"))
        self._recycled_limit = int(env().get_number("WEBGL_RECYCLED_BYTES_LIMIT"))
        self.count = 0
        self.bytes = 0
        self.free_count = 0
        self.free_bytes = 0

    def allocate(self, size: int, dtype: DType) -> Texture:
        """Return a texture for ``size`` elements, recycled where one is free.

        Raises:
            BackendError: the tensor does not fit the largest texture of this device.
        """
        found = self._by_size.get((size, dtype))
        if found is None:
            found = self._plan(size, dtype)
        pool = found[0]
        if not pool:
            return self._make(*found)
        texture = pool.pop()
        self.free_count -= 1
        self.free_bytes -= texture.nbytes
        self.bytes += texture.nbytes
        return texture

    def allocate_new(self, size: int, dtype: DType) -> Texture:
        """Return a texture that no draw has used."""
        return self._make(*(self._by_size.get((size, dtype)) or self._plan(size, dtype)))

    def release(self, texture: Texture) -> None:
        """Keep a texture for reuse; delete some where too many bytes are kept."""
        texture.pool.append(texture)
        self.free_count += 1
        self.free_bytes += texture.nbytes
        self.bytes -= texture.nbytes
        if self.free_bytes > self._recycled_limit:
            self._trim()

    def _make(self, pool: list[Texture], width: int, height: int, kind: int) -> Texture:
        texture = Texture(self._create(width, height, kind), width, height, kind, pool)
        self.count += 1
        self.bytes += texture.nbytes
        return texture

    def _plan(self, size: int, dtype: DType) -> tuple[list[Texture], int, int, int]:
        """Work out the physical size for ``size`` elements; the width is a power of two."""
        texels = texel_count(size)
        width = 1 << ((texels - 1).bit_length() + 1) // 2
        height = -(-texels // width)
        if width > self._largest or height > self._largest:
            raise BackendError(
                f"webgl: a tensor of {size} elements does not fit a texture; the largest here is "
                f"{self._largest} × {self._largest} texels of 4 elements"
            )
        kind = _KINDS[dtype]
        pool = self._pools.setdefault((width, height, kind), [])
        plan = self._by_size[size, dtype] = pool, width, height, kind
        return plan

    def _trim(self) -> None:
        """Delete recycled textures, the largest first, down to half the limit."""
        self._flush()
        for pool in sorted(self._pools.values(), key=lambda one: -one[0].nbytes if one else 0):
            while pool and self.free_bytes > self._recycled_limit // 2:
                texture = pool.pop()
                self._delete(texture.id)
                self.count -= 1
                self.free_count -= 1
                self.free_bytes -= texture.nbytes
