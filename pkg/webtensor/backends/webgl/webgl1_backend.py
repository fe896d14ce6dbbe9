"""The backend on WebGL 1.

It has no fences and no pixel-pack buffers, so a read waits until the GPU has executed all draws,
and then copies; until then its texture is not reused.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from webtensor.backends.webgl import webgl1_compiler
from webtensor.backends.webgl.backend import WebGLBackend
from webtensor.backends.webgl.textures import Texture
from webtensor.dtypes import DType

__all__ = ["WebGL1Backend"]


class WebGL1Backend(WebGLBackend):
    """Textures of floats, computed by shaders in GLSL ES 1.00."""

    integers_are_whole = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._reading = Counter[Texture]()
        self._left: set[Texture] = set()
        super().__init__(*arguments, **options)

    def _language(self) -> Any:
        return webgl1_compiler

    async def read_async(self, handle: Texture, dtype: DType, size: int) -> memoryview[Any]:
        self._reading[handle] += 1
        try:
            await self.finish()
            return self.read(handle, dtype, size)
        finally:
            self._reading[handle] -= 1
            if not self._reading[handle]:
                del self._reading[handle]
                if handle in self._left:
                    self._left.remove(handle)
                    super().release(handle)

    def release(self, handle: Texture) -> None:
        if handle in self._reading:
            self._left.add(handle)
        else:
            super().release(handle)
