"""The WASM backend: C kernels with SIMD, in Pyodide and in CPython.

A handle is the address of the tensor's elements in the module's linear memory: dense, row-major,
four bytes each (float32, int32) or one (bool: 0 or 1). The address is a multiple of 16, and the
block belongs to the tensor up to the next multiple of 16: kernels may work on whole vectors.

``memory`` allocates blocks and keeps freed ones for reuse; ``geometries`` caches the numbers of
kernels that recur in many calls; ``host_javascript`` and ``host_wasmtime`` run the module.
The kernels themselves are in ``wasm_build/source``; the modules beside this one call them.
"""

from __future__ import annotations

from webtensor.backends.api import Backend

__all__ = ["create_backend"]


def create_backend() -> Backend:
    """Start the backend.

    Raises:
        BackendUnavailableError: there is no host for WebAssembly with SIMD here, or the compiled
            kernels are missing or broken.
    """
    from webtensor.backends.wasm.backend import WasmBackend
    from webtensor.backends.wasm.host import start_host

    return WasmBackend(start_host())
