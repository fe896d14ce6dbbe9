"""Paging: textures that the GPU has no room for are moved to the host.

When the textures in use take more bytes than the flag ``WEBGL_DELETE_TEXTURE_THRESHOLD``, the least
recently used ones are deleted, and uploaded again when they are next used. If the host has a copy
of the elements, as of weights, deleting costs nothing; other textures are read first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from webtensor.backends.webgl.flags import DELETE_THRESHOLD
from webtensor.backends.webgl.textures import Texture, TextureManager
from webtensor.environment import env

__all__ = ["Pager"]


class Pager:
    """Keeps the textures in use below the threshold, except those that one draw needs.

    ``flush`` executes the queued draws, ``read`` returns all elements of a texture, ``upload``
    fills one.
    """

    def __init__(
        self,
        textures: TextureManager,
        flush: Callable[[], None],
        read: Callable[[Texture], memoryview[Any]],
        upload: Callable[[Texture, memoryview[Any]], None],
    ) -> None:
        self._textures = textures
        self._flush = flush
        self._read = read
        self._upload = upload

    def use(self, needed: Collection[Texture]) -> None:
        """Upload textures that a draw needs, and make room by moving others to the host."""
        textures = self._textures
        textures.clock += 1
        for texture in needed:
            texture.used = textures.clock
            if texture.host is not None and texture.is_paged:
                textures.restore(texture)
                self._upload(texture, texture.host)
        limit = env().get_number(DELETE_THRESHOLD)
        if 0 <= limit < textures.bytes:
            self._make_room(limit, needed)

    def _make_room(self, limit: float, needed: Collection[Texture]) -> None:
        self._flush()
        textures = self._textures
        for texture in textures.in_use():
            if textures.bytes <= limit:
                break
            if texture in needed:
                continue
            if texture.host is None:
                texture.host = self._read(texture)
            textures.evict(texture)
