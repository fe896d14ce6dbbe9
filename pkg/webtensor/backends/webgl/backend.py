"""The WebGL backend's class: uploads, draws, reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from importlib.resources import files
from typing import Any

from webtensor.backends.api import Backend, KernelTable, Operand
from webtensor.backends.webgl.compiler import Shader
from webtensor.backends.webgl.programs import Program, ProgramCache
from webtensor.backends.webgl.queue import DrawQueue
from webtensor.backends.webgl.textures import Texture, TextureManager, texel_count
from webtensor.dtypes import DType, bool_, typed_view
from webtensor.errors import BackendError, ContextLostError

__all__ = ["WebGLBackend", "kernel"]

#: Registers a kernel: ``@kernel("name")``.
kernel = KernelTable()

_BYTES_PER_TEXEL_READ = 16


class WebGLBackend(Backend):
    """Textures on the GPU, computed by fragment shaders."""

    name = "webgl"

    def __init__(self, gl: Any) -> None:
        import pyodide_js
        from pyodide.code import run_js

        from webtensor.backends.webgl import families

        super().__init__(families.TABLE)
        source = files("webtensor.backends.webgl").joinpath("device.js").read_text("utf-8")
        self.gl = gl
        self._device = run_js(source)(gl, pyodide_js._module)
        self._queue = DrawQueue(self._device)
        self._push = self._queue.push
        self.textures = TextureManager(self._device, self._queue.flush)
        self.programs = ProgramCache(gl, self._device)
        self.program = self.programs.get
        self.most_targets = int(gl.getParameter(gl.MAX_DRAW_BUFFERS))

    # -- what kernels call --------------------------------------------------------------------

    def draw(
        self,
        program: Program,
        inputs: Sequence[Texture],
        size: int,
        dtype: DType,
        *uniforms: float,
    ) -> Texture:
        """Queue one draw into a new texture of ``size`` elements, and return the texture."""
        output = self.textures.allocate(size, dtype)
        self._push(
            program.record,
            program.id,
            output.id,
            *[texture.id for texture in inputs],
            *uniforms,
        )
        return output

    def draw_several(
        self,
        program: Program,
        count: int,
        inputs: Sequence[Texture],
        size: int,
        dtype: DType,
        *uniforms: float,
    ) -> list[Texture]:
        """Queue one draw into ``count`` new textures of ``size`` elements each."""
        outputs: list[Texture] = []
        try:
            for _ in range(count):
                outputs.append(self.textures.allocate(size, dtype))  # noqa: PERF401
        except BackendError:
            for output in outputs:
                self.release(output)
            raise
        self._push(
            program.record,
            program.id,
            *[texture.id for texture in outputs],
            *[texture.id for texture in inputs],
            *uniforms,
        )
        return outputs

    def run(
        self,
        key: Hashable,
        make: Callable[[], Shader],
        inputs: Sequence[Operand],
        size: int,
        dtype: DType,
        *uniforms: float,
    ) -> Texture:
        """Draw with the program for ``key``, which ``make`` describes."""
        textures = [operand.storage.handle for operand in inputs]
        return self.draw(self.program(key, make), textures, size, dtype, *uniforms)

    # -- the backend's interface --------------------------------------------------------------

    def upload(self, host: memoryview[Any], dtype: DType) -> Texture:
        texture = self.textures.allocate(len(host), dtype)
        # Queued draws may still read what the texture held before it was recycled.
        self._queue.flush()
        self._device.upload(texture.id, host)
        return texture

    def read(self, handle: Texture, dtype: DType, size: int) -> memoryview[Any]:
        self._queue.flush()
        self._check_context()
        rows = self._rows(handle, size)
        pixels = bytearray(handle.width * rows * _BYTES_PER_TEXEL_READ)
        self._device.read(handle.id, rows, _typed_pixels(pixels, dtype))
        return _elements(pixels, dtype, size)

    async def read_async(self, handle: Texture, dtype: DType, size: int) -> memoryview[Any]:
        self._queue.flush()
        self._check_context()
        device = self._device
        rows = self._rows(handle, size)
        ticket = device.beginRead(handle.id, rows)
        try:
            if not await device.passed(ticket):
                raise ContextLostError("webgl: the context was lost during a read")
        except BaseException:
            device.cancelRead(ticket)
            raise
        pixels = bytearray(handle.width * rows * _BYTES_PER_TEXEL_READ)
        device.endRead(ticket, pixels)
        return _elements(pixels, dtype, size)

    def release(self, handle: Texture) -> None:
        self.textures.release(handle)

    def memory(self) -> dict[str, int]:
        textures = self.textures
        return {
            "bytes": textures.bytes,
            "free_bytes": textures.free_bytes,
            "textures": textures.count - textures.free_count,
            "free_textures": textures.free_count,
            "programs": len(self.programs),
            "pending_reads": self._device.pendingReads(),
        }

    def close(self) -> None:
        self._queue.close()
        lose = self.gl.getExtension("WEBGL_lose_context")
        if lose:
            lose.loseContext()

    @staticmethod
    def _rows(texture: Texture, size: int) -> int:
        """Rows of the texture that hold elements."""
        return -(-texel_count(size) // texture.width)

    def _check_context(self) -> None:
        if self.gl.isContextLost():
            raise ContextLostError("webgl: the context was lost, and the tensor with it")


def _typed_pixels(pixels: bytearray, dtype: DType) -> memoryview[Any]:
    return memoryview(pixels).cast("I") if dtype is bool_ else typed_view(pixels, dtype)


def _elements(pixels: bytearray, dtype: DType, size: int) -> memoryview[Any]:
    """Cut the elements out of the pixels; bool comes as 32-bit integers, 0 or 1."""
    if dtype is bool_:
        return memoryview(pixels[: size * 4 : 4]).cast("?")
    return typed_view(memoryview(pixels)[: size * dtype.itemsize], dtype)
