"""The WASM backend's class, and the table that the kernel modules fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from webtensor.backends.api import (
    Backend,
    DescribedKernel,
    Handle,
    KernelTable,
    Operand,
    PreparedKernel,
)
from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.descriptions import Description
from webtensor.backends.wasm.dispatch import dispatched
from webtensor.backends.wasm.geometries import GeometrySlots
from webtensor.backends.wasm.host import Host
from webtensor.backends.wasm.memory import LARGEST_BLOCK, BlockPool
from webtensor.backends.wasm.packed_weights import PackedWeights
from webtensor.backends.wasm.threads import Threads
from webtensor.dtypes import DType, bool_
from webtensor.errors import KernelNotFoundError
from webtensor.shapes import Shape, prod

if TYPE_CHECKING:
    from webtensor.backends.programs import Program
    from webtensor.backends.wasm.chain_functions import ChainFunctions
    from webtensor.backends.wasm.programs import WasmProgram
    from webtensor.backends.wasm.temporary_memory import TemporaryBlock

__all__ = ["WasmBackend", "kernel"]

#: Registers a kernel: ``@kernel("name")``.
kernel = KernelTable(__package__)

Export = TypeVar("Export")


class _Exports(dict[tuple[str, ...], Export]):
    """What a function of the host returns for the module's exports, kept from the first use on.

    The key is the name's parts, such as ``("add", "float32")``, so that the hot path joins no
    strings.
    """

    def __init__(self, find: Callable[[str], Export]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: tuple[str, ...]) -> Export:
        name = "_".join(key)
        try:
            export = self[key] = self._find(name)
        except KeyError:
            raise KernelNotFoundError(f"the wasm backend has no kernel {name}") from None
        return export


class WasmBackend(Backend):
    """Tensors in the linear memory of a WebAssembly module."""

    name = "wasm"
    computes_on_host = True
    #: Elements of bool, which are bytes.
    most_elements = LARGEST_BLOCK
    others_may_have_room = False

    def __init__(self, host: Host) -> None:
        """Take a started host."""
        super().__init__(kernel)
        self.host = host
        #: Held from the choice of addresses to the end of the calls that take them.
        self.lock = host.lock or nullcontext()
        self.functions = _Exports(host.function)
        self.geometries = GeometrySlots(host, self.begin_epoch)
        self.pool = BlockPool(host)
        #: Bound once: kernels call it for every result.
        self.allocate = self.pool.allocate
        self.release = self.pool.release  # type: ignore[method-assign]
        self.threads = Threads(host, self.allocate, self.release, self.begin_epoch)
        #: The numbers by which queued calls know exports.
        self.numbers = _Exports(host.number)
        self.packed_weights = PackedWeights(self).address

    def _bound(self, function: Callable[..., Description]) -> DescribedKernel:
        return DescribedKernel(self, function)

    def dispatched(self, of: Signature, description: Description) -> PreparedKernel:
        """Return a function that computes a description for operands of its signature."""
        lock = self.host.lock
        if lock is None:
            return dispatched(self, of, description)
        with lock:
            run, epoch = dispatched(self, of, description), self.epoch

        def locked(inputs: Sequence[Operand]) -> Handle:
            with lock:
                if self.epoch is epoch:
                    return run(inputs)
                # Another thread has begun an epoch since this call was chosen.
                return dispatched(self, of, description)(inputs)

        return locked

    def compiled(self, program: Program) -> WasmProgram:
        """Return a function that computes a program's results in as few crossings as can be."""
        # Most pages need no program at first.
        from webtensor.backends.wasm.programs import WasmProgram

        return WasmProgram(self, program)

    @cached_property
    def temporary_block(self) -> TemporaryBlock:
        """The memory of the temporary values of programs."""
        from webtensor.backends.wasm.temporary_memory import TemporaryBlock

        return TemporaryBlock(self)

    @cached_property
    def chain_functions(self) -> ChainFunctions:
        """The functions of the chains of programs."""
        from webtensor.backends.wasm.chain_functions import ChainFunctions

        return ChainFunctions(self.host)

    def begin_epoch(self) -> None:
        """Dispatch all descriptions anew."""
        self.epoch = object()

    def upload(self, host: memoryview[Any], dtype: DType) -> Handle:
        """Copy a host buffer into a new block."""
        data = host.cast("B") if host.format != "B" else host
        with self.lock:
            address = self.allocate(len(data))
        try:
            self.host.write(address, data)
        except MemoryError:
            self.release(address)
            raise
        return address

    def expand_pixels(self, rgba: memoryview[int], shape: Shape, dtype: DType) -> Handle | None:
        """Copy the bytes of pixels, and convert the first channels to numbers."""
        height, width, channels = shape
        try:
            source = self.upload(rgba, bool_)
            try:
                with self.lock:
                    address = self.allocate(prod(shape) * dtype.itemsize)
                expand = self.functions["expand_pixels", dtype.name]
                expand(source, address, height * width, channels)
            finally:
                self.release(source)
        except MemoryError:
            return None  # there may be room on another backend
        return address

    def read(self, handle: Handle, dtype: DType, size: int) -> memoryview[Any]:
        """Copy a block out."""
        data = memoryview(self.host.read(handle, size * dtype.itemsize))
        elements: memoryview[Any] = data.cast(dtype.format)  # type: ignore[call-overload]
        return elements

    def release(self, handle: Handle) -> None:
        """Free a block (an instance calls its pool directly)."""
        self.pool.release(handle)

    def flush(self) -> None:
        """Run the queued calls."""
        if self.host.defers:
            self.host.run_queue()

    def memory(self) -> dict[str, int]:
        """Bytes and blocks in use, and the size of the linear memory."""
        return self.pool.counts()

    def close(self) -> None:
        """Release the module and its memory."""
        self.threads.close()
        self.functions.clear()
        self.host.close()
