"""The WASM backend's class, and the table that the kernel modules fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.backends.api import Backend, Handle, KernelTable
from webtensor.backends.wasm.host import Host
from webtensor.backends.wasm.memory import BlockPool
from webtensor.backends.wasm.parameters import ParameterSlots
from webtensor.backends.wasm.threads import Threads
from webtensor.dtypes import DType
from webtensor.errors import KernelNotFoundError

__all__ = ["Functions", "WasmBackend", "kernel"]

#: Registers a kernel: ``@kernel("name")``.
kernel = KernelTable()


class Functions(dict[tuple[str, ...], Callable[..., Any]]):
    """The module's exports, bound at first use. The key is the name's parts, such as
    ``("add", "float32")``, so that the hot path joins no strings.
    """

    def __init__(self, host: Host) -> None:
        """Bind nothing yet."""
        super().__init__()
        self._host = host

    def __missing__(self, key: tuple[str, ...]) -> Callable[..., Any]:
        """Bind an export."""
        name = "_".join(key)
        try:
            function = self._host.function(name)
        except KeyError:
            raise KernelNotFoundError(f"the wasm backend has no kernel {name}") from None
        self[key] = function
        return function


class WasmBackend(Backend):
    """Tensors in the linear memory of a WebAssembly module."""

    name = "wasm"
    computes_on_host = True

    def __init__(self, host: Host) -> None:
        """Take over a host that was started."""
        from webtensor.backends.wasm import families

        super().__init__(families.TABLE)
        self.host = host
        self.functions = Functions(host)
        self.parameters = ParameterSlots(host)
        self._pool = BlockPool(host)
        #: Bound once: kernels call it for every result.
        self.allocate = self._pool.allocate
        self.release = self._pool.release  # type: ignore[method-assign]
        self.threads = Threads(host, self.allocate, self.release)

    def compute(self, key: tuple[str, ...], work: float, *arguments: float) -> None:
        """Call a kernel that threads can share; ``work`` is about how many instructions it takes.

        Such kernels take a part and the number of parts last (see ``wasm_build/source/vector.h``).
        """
        if work < self.threads.least_work:
            self.functions[key](*arguments)
        else:
            self.threads.run(key, work, *arguments)

    def upload(self, host: memoryview[Any], dtype: DType) -> Handle:
        """Copy a host buffer into a new block."""
        data = host.cast("B") if host.format != "B" else host
        address = self.allocate(len(data))
        self.host.write(address, data)
        return address

    def read(self, handle: Handle, dtype: DType, size: int) -> memoryview[Any]:
        """Copy a block out."""
        data = memoryview(self.host.read(handle, size * dtype.itemsize))
        elements: memoryview[Any] = data.cast(dtype.format)  # type: ignore[call-overload]
        return elements

    def release(self, handle: Handle) -> None:
        """Take a block back (an instance calls its pool directly)."""
        self._pool.release(handle)

    def memory(self) -> dict[str, int]:
        """Bytes and blocks in use, and the size of the linear memory."""
        return self._pool.counts()

    def close(self) -> None:
        """Let go of the module and its memory."""
        self.threads.close()
        self.functions.clear()
        self.host.close()
