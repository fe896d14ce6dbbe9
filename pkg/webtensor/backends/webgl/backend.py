"""The WebGL backend's class: uploads, draws, reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from importlib.resources import files
from math import isnan
from time import perf_counter
from typing import Any, NoReturn

from webtensor.backends.api import Backend, Handle, Kernel, KernelTable, Operand, Stopwatch
from webtensor.backends.webgl.compiler import Shader
from webtensor.backends.webgl.programs import VERTEX_SOURCE, Program, ProgramCache
from webtensor.backends.webgl.queue import DrawQueue
from webtensor.backends.webgl.textures import Texture, TextureManager, texel_count
from webtensor.backends.webgl.tracing import Draw, traced
from webtensor.dtypes import DType, bool_, typed_view
from webtensor.errors import BackendError, ContextLostError, KernelNotFoundError

__all__ = ["WebGLBackend", "kernel"]

#: Registers a kernel: ``@kernel("name")``.
kernel = KernelTable()

_BYTES_PER_TEXEL_READ = 16

_LOST = (
    "webgl: the context was lost{}, and with it this tensor, which only the GPU had. Tensors that "
    "were made from the host's values, or read before, go on by themselves: compute this one again "
    "from them. Give variables that training has changed the values of a tensor that was read."
)


class WebGLBackend(Backend):
    """Textures on the GPU, computed by fragment shaders."""

    name = "webgl"

    def __init__(self, gl: Any) -> None:
        import pyodide_js
        from pyodide.code import run_js
        from pyodide.ffi import create_proxy

        from webtensor.backends.webgl import families

        super().__init__(families.TABLE)
        source = files("webtensor.backends.webgl").joinpath("device.js").read_text("utf-8")
        self.gl = gl
        self._device = run_js(source)(gl, pyodide_js._module, VERTEX_SOURCE)
        self.programs = ProgramCache(self._device, self._refuse)
        self.program = self.programs.get
        self._failure: BackendError | None = None
        self._is_lost = False
        self._lose_proxy = create_proxy(self._lose)
        self._device.whenLost(self._lose_proxy)
        self.has_timer = bool(self._device.hasTimer)
        self._is_timing = False
        self._settling = 0
        #: Where draws are described while somebody wants to know.
        self.trace: list[Draw] | None = None
        self._queue = DrawQueue(
            self._device, self.programs.pending, self._note_failure, self._refuse
        )
        self._push: Callable[..., None] = self._queue.push
        self.textures = TextureManager(self._device, self._queue.flush)
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
        if self.trace is not None:
            self.trace.append(traced(program, inputs, [output], uniforms))
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
        if self.trace is not None:
            self.trace.append(traced(program, inputs, outputs, uniforms))
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
        start = perf_counter()
        if self.programs.pending:
            # To flush would be to wait for the programs.
            texture = self.textures.allocate_new(len(host), dtype)
        else:
            texture = self.textures.allocate(len(host), dtype)
            # Queued draws may still read what the texture held before it was recycled.
            self._queue.flush()
        if not self._device.upload(texture.id, host):
            self._lose()  # what draws with the texture will be refused
        self.upload_ms += (perf_counter() - start) * 1000
        return texture

    def add_kernel(self, name: str, kernel: Kernel) -> None:
        # A user's shader may have mistakes, which its op must tell, not a read that comes later.
        def checked(backend: WebGLBackend, *arguments: Any) -> Handle:
            handle = kernel(backend, *arguments)
            try:
                backend.programs.check()
            except BackendError:
                backend.release(handle)
                raise
            return handle

        super().add_kernel(name, checked)

    def read(self, handle: Texture, dtype: DType, size: int) -> memoryview[Any]:
        start = perf_counter()
        self._flush_for_read()
        rows = self._rows(handle, size)
        pixels = bytearray(handle.width * rows * _BYTES_PER_TEXEL_READ)
        self._device.read(handle.id, rows, _typed_pixels(pixels, dtype))
        self.download_ms += (perf_counter() - start) * 1000
        return _elements(pixels, dtype, size)

    async def read_async(self, handle: Texture, dtype: DType, size: int) -> memoryview[Any]:
        start = perf_counter()
        device = self._device
        during = "" if self._is_lost else " during a read"
        await self._settle()
        self._flush_for_read(during)
        rows = self._rows(handle, size)
        ticket = device.beginRead(handle.id, rows)
        try:
            if not await device.passed(ticket):
                self._lose()
                raise ContextLostError(_LOST.format(during))
        except BaseException:
            device.cancelRead(ticket)
            raise
        pixels = bytearray(handle.width * rows * _BYTES_PER_TEXEL_READ)
        device.endRead(ticket, pixels)
        self.download_ms += (perf_counter() - start) * 1000
        return _elements(pixels, dtype, size)

    def flush(self) -> None:
        """Draw what waits."""
        self._queue.flush()

    async def finish(self) -> None:
        device = self._device
        await self._settle()
        self._flush_for_read()
        ticket = device.mark()
        try:
            if not await device.passed(ticket):
                self._lose()
                raise ContextLostError(_LOST.format(""))
        finally:
            device.cancelRead(ticket)

    def stopwatch(self) -> Stopwatch | None:
        if not self.has_timer or self._is_timing or self.gl.isContextLost():
            return None
        self._queue.flush()
        self._is_timing = True
        self._device.beginTiming()
        return _Timing(self._end_timing)

    def _end_timing(self) -> Any:
        self._queue.flush()
        self._is_timing = False
        return self._device.endTiming()

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
        if self._is_lost:
            return
        self._end()
        lose = self.gl.getExtension("WEBGL_lose_context")
        if lose:
            lose.loseContext()

    @staticmethod
    def _rows(texture: Texture, size: int) -> int:
        """Rows of the texture that hold elements."""
        return -(-texel_count(size) // texture.width)

    def _note_failure(self) -> None:
        """Keep the error of a program that failed for whoever next waits for a result."""
        try:
            self.programs.check()
        except BackendError as error:
            self._failure = error

    async def _settle(self) -> None:
        """Wait for programs that are compiled; those who wait get their turn in order."""
        if self.programs.pending or self._settling:
            self._settling += 1
            try:
                await self._device.settle()
            finally:
                self._settling -= 1

    def _flush_for_read(self, during: str = "") -> None:
        self._queue.flush()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            try:
                raise failure
            finally:
                del failure  # else it would hold this frame, which holds it
        self._check_context(during)

    def _check_context(self, during: str) -> None:
        if self.gl.isContextLost():
            self._lose()
            raise ContextLostError(_LOST.format(during))

    # -- when the context is lost -------------------------------------------------------------

    def _lose(self) -> None:
        """End, and tell who can put another backend in the place of this one."""
        if not self._is_lost:
            self._end()
            if self.on_lost is not None:
                self.on_lost()

    def _refuse(self, *_: Any) -> NoReturn:
        """Let dispatch run a kernel on another backend, such as the one in the place of this."""
        self._lose()
        raise KernelNotFoundError("webgl: the context was lost")

    def _end(self) -> None:
        """Neither draw nor call back any more."""
        self._is_lost = True
        self._push = self._refuse
        self._device.close()
        self._queue.close()
        self._lose_proxy.destroy()


class _Timing:
    """A stopwatch of the GPU."""

    def __init__(self, end: Callable[[], Any]) -> None:
        self._end = end

    def stop(self) -> None:
        self._promise = self._end()

    async def milliseconds(self) -> float | None:
        measured = float(await self._promise)
        return None if isnan(measured) else measured


def _typed_pixels(pixels: bytearray, dtype: DType) -> memoryview[Any]:
    return memoryview(pixels).cast("I") if dtype is bool_ else typed_view(pixels, dtype)


def _elements(pixels: bytearray, dtype: DType, size: int) -> memoryview[Any]:
    """Cut the elements out of the pixels; bool comes as 32-bit integers, 0 or 1."""
    if dtype is bool_:
        return memoryview(pixels[: size * 4 : 4]).cast("?")
    return typed_view(memoryview(pixels)[: size * dtype.itemsize], dtype)
