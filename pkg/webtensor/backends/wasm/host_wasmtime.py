"""The host in CPython: the optional package wasmtime.

Its calls cost tens of microseconds, so it serves tests and servers without NumPy, not speed.
"""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import wasmtime

from webtensor.backends.wasm.host import INITIAL_PAGES, MAXIMUM_PAGES, Host, module_bytes
from webtensor.errors import BackendUnavailableError

__all__ = ["WasmtimeHost"]


class WasmtimeHost(Host):
    """The kernels in wasmtime."""

    def __init__(self, variant: str) -> None:
        """Compile the kernels, or take them from wasmtime's cache, and start them."""
        super().__init__()
        self.variant = variant
        config = wasmtime.Config()
        config.wasm_simd = True
        config.wasm_relaxed_simd = True
        # Without a folder for its cache, wasmtime compiles anew each time, which takes a second.
        with suppress(wasmtime.WasmtimeError):
            config.cache = True
        engine = self._engine = wasmtime.Engine(config)
        self._store = wasmtime.Store(engine)
        limits = wasmtime.Limits(INITIAL_PAGES, MAXIMUM_PAGES)
        self._memory = wasmtime.Memory(self._store, wasmtime.MemoryType(limits))
        try:
            module = wasmtime.Module(engine, module_bytes(variant))
            instance = wasmtime.Instance(self._store, module, [self._memory])
        except wasmtime.WasmtimeError as error:
            raise BackendUnavailableError(
                f"the wasm backend's kernels-{variant}.wasm failed to load: {error}"
            ) from error
        self._exports = instance.exports(self._store)
        # wasmtime's objects complain when they outlive its modules at the interpreter's end.
        atexit.register(self.close)

    def function(self, name: str) -> Callable[..., Any]:
        """Return an export that fills missing last arguments with zeros, as JavaScript does."""
        return self._called(self._exports[name])

    def _called(self, exported: Any) -> Callable[..., Any]:
        count = len(exported.type(self._store).params)
        store = self._store

        def call(*arguments: float) -> Any:
            return exported(store, *arguments, *(0,) * (count - len(arguments)))

        return call

    def instantiate(self, module: bytes) -> Callable[[str], Callable[..., Any] | None]:
        """Start a user's module on the same memory."""
        try:
            compiled = wasmtime.Module(self._engine, module)
            instance = wasmtime.Instance(self._store, compiled, [self._memory])
        except wasmtime.WasmtimeError as error:
            raise ValueError(f"the module cannot be started: {error}") from error
        exports = instance.exports(self._store)

        def find(name: str) -> Callable[..., Any] | None:
            try:
                return self._called(exports[name])
            except KeyError:
                return None

        return find

    def write(self, address: int, data: memoryview) -> None:
        """Copy contiguous bytes into memory."""
        source = (ctypes.c_char * len(data)).from_buffer_copy(data)
        ctypes.memmove(self._base() + address, source, len(data))

    def read(self, address: int, count: int) -> bytearray:
        """Copy bytes out of memory."""
        result = bytearray(count)
        into = (ctypes.c_char * count).from_buffer(result)
        ctypes.memmove(into, self._base() + address, count)
        return result

    def close(self) -> None:
        """Drop the module and its memory."""
        atexit.unregister(self.close)
        del self._exports, self._memory, self._store, self._engine

    def _base(self) -> int:
        pointer = ctypes.cast(self._memory.data_ptr(self._store), ctypes.c_void_p).value
        assert pointer is not None
        return pointer
