"""The WebGL backend's class: uploads, draws, reads."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from math import isnan
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

from webtensor.backends.api import (
    Backend,
    CompiledProgram,
    DescribedKernel,
    Handle,
    Kernel,
    KernelTable,
    Operand,
    PreparedKernel,
    Stopwatch,
)
from webtensor.backends.families import FAMILIES
from webtensor.backends.signatures import Signature
from webtensor.backends.webgl import compiler
from webtensor.backends.webgl.compiler import Shader
from webtensor.backends.webgl.context import is_emulated, reads_too_early
from webtensor.backends.webgl.dispatch import dispatched
from webtensor.backends.webgl.draws import Capabilities, Description, Draws, Value
from webtensor.backends.webgl.flags import DELETE_THRESHOLD, MAX_TEXTURE_SIZE
from webtensor.backends.webgl.paging import Pager
from webtensor.backends.webgl.pixels import handed_out_shader, shown_shader, taken_shader
from webtensor.backends.webgl.precision_modes import FULL, Mode
from webtensor.backends.webgl.programs import LinkedProgram, ProgramCache
from webtensor.backends.webgl.queue import COPY, COPY_RECORDS, DrawQueue
from webtensor.backends.webgl.textures import Texture, TextureManager, texel_count
from webtensor.backends.webgl.tracing import Draw, copied, traced
from webtensor.dtypes import DType, bool_, float32, typed_view
from webtensor.environment import env
from webtensor.errors import BackendError, ContextLostError, KernelNotFoundError
from webtensor.javascript import function_of
from webtensor.shapes import Shape, prod
from webtensor.transfer import address_of, javascript_text, zero_bytes

if TYPE_CHECKING:
    from webtensor.backends.programs import Program

__all__ = ["WebGLBackend", "kernel"]

#: Registers a kernel: ``@kernel("name")``.
kernel = KernelTable(
    __package__,
    without=[
        *FAMILIES["linalg"],
        "chain_multiply",
        "filled_rows",
        "moments",
        "non_max_suppression",
        "ragged_sequence",
        "row_counts",
        "separable_conv2d",
    ],
)

_BYTES_PER_TEXEL_READ = 16
#: The maximum of elements that are read at once where the GPU is idle.
_READ_AT_ONCE = 1 << 16

#: Smallest number that is safe to divide by among 16-bit floats, as in TensorFlow.js.
_HALF_EPSILON = 1e-4

_LOST = (
    "webgl: the context was lost{}, and with it this tensor, which only the GPU had. Tensors that "
    "were made from the host's values, or read before, go on by themselves: compute this one again "
    "from them. Give variables that training has changed the values of a tensor that was read."
)


class WebGLBackend(Backend):
    """Textures on the GPU, computed by fragment shaders."""

    name = "webgl"

    def __init__(self, gl: Any, mode: Mode = FULL, *, is_shared: bool = False) -> None:
        from pyodide.ffi import create_proxy

        super().__init__(kernel)
        if mode.version == 1:
            gl = function_of("backends/webgl/webgl1.js")(gl, mode.is_half)
        self.gl = gl
        self.mode = mode
        self.float_format = "e" if mode.is_half else "f"
        self._is_shared = is_shared
        self._device = self._make_device()
        self.programs = ProgramCache(
            self._device, partial(self._language().fragment_source, mode=mode), self._refuse
        )
        self._failure: BackendError | None = None
        self._is_lost = False
        self._lose_proxy = create_proxy(self._lose)
        self._device.whenLost(self._lose_proxy)
        self.has_timer = bool(self._device.hasTimer)
        self._is_timing = False
        self._settling = 0
        #: Collects descriptions of draws during ``explain``, else None.
        self.trace: list[Draw] | None = None
        self._queue = DrawQueue(
            self._device, self.programs.pending, self._note_failure, self._refuse
        )
        #: Queues a draw, until the context is lost.
        self.push: Callable[..., None] = self._queue.push
        #: Queues draws that are packed already, until the context is lost.
        self.push_words: Callable[[memoryview[int]], None] = self._queue.push_words
        limit = min(env().get_number(MAX_TEXTURE_SIZE), gl.getParameter(gl.MAX_TEXTURE_SIZE))
        self.textures = TextureManager(self._device, self._queue.flush, mode, int(limit))
        env().on_set(DELETE_THRESHOLD, self.textures.compare_with_threshold)
        self.most_elements = self.textures.most_elements
        self._pager = Pager(self.textures, self._queue.flush, self._read_whole, self._fill)
        most_targets = int(gl.getParameter(gl.MAX_DRAW_BUFFERS))
        #: Descriptions of kernels depend on them, beside signatures.
        self.capabilities = Capabilities(
            most_targets, mode.version == 2, mode.is_half, is_emulated(gl)
        )

    def _make_device(self) -> Any:
        """Return what ``device.js`` makes of the context, which a page may draw with, too."""
        import pyodide_js

        make = partial(function_of("backends/webgl/device.js"), self.gl)
        if self._is_shared:
            make = partial(function_of("backends/webgl/sharing.js"), self.gl, make.func)
        vertex_source = javascript_text(self._language().VERTEX_SOURCE)
        return make(pyodide_js._module, vertex_source, reads_too_early(self.gl))

    def _language(self) -> Any:
        """The module that writes shaders."""
        return compiler

    def _bound(self, function: Callable[..., Value]) -> DescribedKernel:
        def describe(of: Signature, *attributes: Any) -> Description:
            draws = Draws(of, self.capabilities)
            return draws.description(function(draws, *attributes))

        return DescribedKernel(self, describe)

    def dispatched(self, of: Signature, description: Description) -> PreparedKernel:
        """Return a function that draws a description for operands of its signature."""
        return dispatched(self, len(of.inputs), description)

    def compiled(self, program: Program) -> CompiledProgram:
        """Return a function that computes a program; on WebGL 2, each chain is one draw."""
        # Most pages need no program at first.
        from webtensor.backends.chains import with_chains
        from webtensor.backends.joining import with_joined_calls
        from webtensor.backends.webgl.prepared_draws import PreparedDraws

        program = with_joined_calls(program)
        if self.mode.version == 2:
            program = with_chains(
                program, lambda row, of: True, lambda call: call.kernel == "reduce"
            )
        one_by_one = super().compiled(program)
        kernels = [self.kernel(call.kernel) for call in program.calls]
        if all(isinstance(kernel, DescribedKernel) for kernel in kernels):
            return PreparedDraws(self, program, one_by_one)
        return one_by_one

    # -- drawing ------------------------------------------------------------------------------

    def draw(
        self,
        program: LinkedProgram,
        inputs: Sequence[Texture],
        size: int,
        dtype: DType,
        *uniforms: float,
    ) -> Texture:
        """Queue one draw into a new texture of ``size`` elements, and return the texture."""
        if self.textures.may_be_short:
            self.use(inputs)
        output = self.textures.allocate(size, dtype)
        self.push(
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
        program: LinkedProgram,
        count: int,
        inputs: Sequence[Texture],
        size: int,
        dtype: DType,
        *uniforms: float,
    ) -> list[Texture]:
        """Queue one draw into ``count`` new textures of ``size`` elements each."""
        return self._draw_on(
            program, count, inputs, lambda: self.textures.allocate(size, dtype), uniforms
        )

    def draw_parts(
        self,
        program: LinkedProgram,
        count: int,
        inputs: Sequence[Texture],
        part: int,
        size: int,
        *uniforms: float,
    ) -> Texture:
        """Queue one draw into ``count`` textures of ``part`` float32 elements, and join these.

        Returns a new texture of ``size`` elements: the parts, one after the other. ``part`` is a
        multiple of four; elements past ``size`` are left out.
        """
        output = self.textures.allocate(size, float32)
        width = output.width
        try:
            parts = self._draw_on(
                program, count, inputs, lambda: self.textures.allocate_wide(part, width), uniforms
            )
        except BackendError:
            self.release(output)
            raise
        ids = [texture.id for texture in parts]
        self.push(COPY_RECORDS[count], COPY, output.id, count, part >> 2, *ids)
        if self.trace is not None:
            self.trace.append(copied(parts, output))
        for texture in parts:
            self.release(texture)
        return output

    def _draw_on(
        self,
        program: LinkedProgram,
        count: int,
        inputs: Sequence[Texture],
        allocate: Callable[[], Texture],
        uniforms: Sequence[float],
    ) -> list[Texture]:
        if self.textures.may_be_short:
            self.use(inputs)
        outputs: list[Texture] = []
        try:
            for _ in range(count):
                outputs.append(allocate())  # noqa: PERF401
        except BackendError:
            for output in outputs:
                self.release(output)
            raise
        self.push(
            program.record,
            program.id,
            *[texture.id for texture in outputs],
            *[texture.id for texture in inputs],
            *uniforms,
        )
        if self.trace is not None:
            self.trace.append(traced(program, inputs, outputs, tuple(uniforms)))
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
        return self.draw(self.programs.get(key, make), textures, size, dtype, *uniforms)

    # -- the backend's interface --------------------------------------------------------------

    def upload(self, host: memoryview[Any], dtype: DType) -> Texture:
        start = perf_counter()
        if self.programs.pending:
            # Flushing would wait for the programs.
            texture = self.textures.allocate_new(len(host), dtype)
        else:
            texture = self.textures.allocate(len(host), dtype)
            # Queued draws may still read the recycled texture's former elements.
            self._queue.flush()
        try:
            self._fill(texture, host)
        except MemoryError:
            self.release(texture)
            raise
        texture.host = host
        if self.textures.may_be_short and not self._is_lost:
            self._pager.use([texture])
        self.upload_ms += (perf_counter() - start) * 1000
        return texture

    def _fill(self, texture: Texture, host: memoryview[Any]) -> None:
        address, _owner = address_of(host)
        if not self._device.upload(texture.id, address, len(host)):
            self._lose()  # draws with the texture will be refused

    def use(self, textures: Collection[Texture]) -> None:
        """Move textures to the GPU, which may be short of memory."""
        if self._is_lost or self.gl.isContextLost():
            self._refuse()
        self._pager.use(textures)

    def _read_whole(self, texture: Texture) -> memoryview[Any]:
        size = texture.width * texture.height * 4
        return self._read(texture, texture.dtype, size)

    def _read(self, texture: Texture, dtype: DType, size: int) -> memoryview[Any]:
        rows = self._rows(texture, size)
        pixels = zero_bytes(texture.width * rows * _BYTES_PER_TEXEL_READ)
        self._device.read(texture.id, rows, pixels.buffer_info()[0])
        return _elements(pixels, dtype, size)

    def add_kernel(self, name: str, kernel: Kernel) -> None:
        # Errors in a user's shader must be raised by its op, not by a later read.
        def checked(backend: WebGLBackend, *arguments: Any) -> Handle:
            handle = kernel(backend, *arguments)
            try:
                backend.programs.check()
            except BackendError:
                backend.release(handle)
                backend.epoch = object()
                raise
            return handle

        super().add_kernel(name, checked)

    def read(self, handle: Texture, dtype: DType, size: int) -> memoryview[Any]:
        if handle.is_paged:
            return _host_elements(handle, size)
        start = perf_counter()
        self._flush_for_read()
        handle.host = self._read(handle, dtype, size)
        self.download_ms += (perf_counter() - start) * 1000
        return handle.host

    async def read_async(self, handle: Texture, dtype: DType, size: int) -> memoryview[Any]:
        start = perf_counter()
        device = self._device
        during = "" if self._is_lost else " during a read"
        await self._settle()
        if handle.is_paged:
            return _host_elements(handle, size)
        self._flush_for_read(during)
        if size <= _READ_AT_ONCE and device.isIdle():
            # A browser says only milliseconds later that a fence was passed.
            elements = self._read(handle, dtype, size)
            self._check_context(during)
            self.download_ms += (perf_counter() - start) * 1000
            return elements
        rows = self._rows(handle, size)
        ticket = device.beginRead(handle.id, rows)
        try:
            if not await device.passed(ticket):
                self._lose()
                raise ContextLostError(_LOST.format(during))
            pixels = zero_bytes(handle.width * rows * _BYTES_PER_TEXEL_READ)
        except BaseException:
            device.cancelRead(ticket)
            raise
        device.endRead(ticket, *pixels.buffer_info())
        self.download_ms += (perf_counter() - start) * 1000
        return _elements(pixels, dtype, size)

    def take_pixels(self, source: Any, shape: Shape, dtype: DType) -> Texture | None:
        height, width, channels = shape
        if self._is_lost or not self.textures.fits(width, height):
            return None
        is_compiling = bool(self.programs.pending)  # flushing would wait
        pixels = self.textures.allocate_pixels(width, height, new=is_compiling)
        try:
            if not is_compiling:
                self._queue.flush()
            if not self._device.uploadPixels(pixels.id, source):
                self._refuse()
            key = ("from_pixels", channels, dtype)
            program = self.programs.get(key, lambda: taken_shader(channels, dtype))
            uniforms = (width, channels)[: 1 + (channels < 4)]
            return self.draw(program, [pixels], prod(shape), dtype, *uniforms)
        except KernelNotFoundError:
            return None
        finally:
            self.release(pixels)

    def show_pixels(self, image: Operand, opacity: float) -> Any:
        height, width, channels = (*image.shape, 1)[:3]
        if self._is_lost or self._is_shared or not self.textures.fits(width, height):
            return None  # a shared canvas shows what others draw
        canvas = self._device.resizeCanvas(width, height)
        if canvas < 0:
            return None
        dtype = image.dtype
        key = ("draw", channels, dtype)
        try:
            if image.storage.handle.is_paged:
                self.use([image.storage.handle])
            program = self.programs.get(key, lambda: shown_shader(channels, dtype))
            uniforms = (height, opacity)[: 1 + (channels < 4)]
            self.push(program.record, program.id, canvas, image.storage.handle.id, *uniforms)
        except KernelNotFoundError:
            return None
        self._flush_for_read()
        return self.gl.canvas

    def hand_out(
        self, x: Operand, shape: tuple[int, int] | None
    ) -> tuple[Any, tuple[int, int], Texture] | None:
        if self.mode.version == 1:
            return None
        _, width, height, _ = self.textures.layout(x.size, float32)
        if shape is not None:
            height, width = shape
        if not self.textures.fits(width, height):
            raise ValueError(
                f"data_to_gpu: this device has textures of up to {self.textures.largest} texels in "
                f"a row or column, but custom_tex_shape is {(height, width)}"
            )
        source, dtype = x.storage.handle, x.dtype
        self.use([source])
        program = self.programs.get(("hand_out", dtype), lambda: handed_out_shader(dtype))
        texture = self.textures.allocate_for_page(width, height)
        try:
            self.push(program.record, program.id, texture.id, source.id, x.size)
            self._flush_for_read()
        except BackendError:
            self.release(texture)
            raise
        return self._device.textureOf(texture.id), (height, width), texture

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
            "paged_textures": textures.paged_count,
            "paged_bytes": textures.paged_bytes,
            "programs": len(self.programs),
            "pending_reads": self._device.pendingReads(),
        }

    def epsilon(self) -> float:
        return _HALF_EPSILON if self.mode.is_half else super().epsilon()

    def close(self) -> None:
        if self._is_lost:
            return
        self._end()
        if self._is_shared:
            self._device.free()
            return
        lose = self.gl.getExtension("WEBGL_lose_context")
        if lose:
            lose.loseContext()

    @staticmethod
    def _rows(texture: Texture, size: int) -> int:
        """Return the number of the texture's rows that have elements."""
        return -(-texel_count(size) // texture.width)

    def _note_failure(self) -> None:
        """Keep the error of a failed program for the next call that waits for a result."""
        try:
            self.programs.check()
        except BackendError as error:
            self._failure = error
            self.epoch = object()  # the failed program is compiled again when it is next wanted

    async def _settle(self) -> None:
        """Wait for programs that are compiling; waiting calls continue in order."""
        if self.programs.pending or self._settling:
            self._settling += 1
            try:
                await self._device.settle()
            finally:
                self._settling -= 1

    def _flush_for_read(self, during: str = "") -> None:
        self._queue.flush()
        self._check_context(during)
        if self._failure is not None:
            failure, self._failure = self._failure, None
            try:
                raise failure
            finally:
                del failure  # otherwise it would refer to this frame, which refers to it

    def _check_context(self, during: str) -> None:
        if self.gl.isContextLost():
            self._lose()
            raise ContextLostError(_LOST.format(during))

    # -- when the context is lost -------------------------------------------------------------

    def _lose(self) -> None:
        """End, and notify those who can replace this backend by another."""
        if not self._is_lost:
            self._end()
            if self.on_lost is not None:
                self.on_lost()

    def _refuse(self, *_: Any) -> NoReturn:
        """Let dispatch run a kernel on another backend, such as the successor of this one."""
        self._lose()
        raise KernelNotFoundError("webgl: the context was lost")

    def _end(self) -> None:
        """Stop drawing and calling back."""
        self._is_lost = True
        self.push = self.push_words = self._refuse
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


def _host_elements(texture: Texture, size: int) -> memoryview[Any]:
    """Return elements of a texture on the host, possibly with the padding of its last texels."""
    assert texture.host is not None
    return texture.host[:size]


def _elements(pixels: array[int], dtype: DType, size: int) -> memoryview[Any]:
    """Read the elements of the pixels; bool comes as 32-bit integers, 0 or 1."""
    if dtype is bool_:
        return memoryview(pixels[: size * 4 : 4]).cast("?")
    return typed_view(memoryview(pixels)[: size * dtype.itemsize], dtype)
