"""The host in CPython: the optional package wasmtime, for tests and for servers without NumPy.

A store of wasmtime serves one thread at a time, and calls release Python's global lock. So all that
uses the store holds a lock of the host's.
"""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable
from contextlib import suppress
from struct import Struct, error as StructError
from threading import RLock
from typing import Any

import wasmtime
from wasmtime._ffi import wasmtime_func_call_unchecked, wasmtime_val_raw_t
from wasmtime._func import enter_wasm

from webtensor.backends.wasm.host import INITIAL_PAGES, MAXIMUM_PAGES, Host, module_bytes
from webtensor.errors import BackendUnavailableError

__all__ = ["WasmtimeHost"]


#: Formats, as in the module ``struct``, of the 16 bytes of each argument and result. The engine
#: reads the lower four bytes of an i32, which may be signed or unsigned.
_ARGUMENTS = {"i32": "q8x", "i64": "q8x", "f32": "f12x", "f64": "d8x"}
_RESULTS = {**_ARGUMENTS, "i32": "i12x"}


class _Export:
    """A function of a module; missing last arguments are zeros, as in JavaScript.

    ``wasmtime.Func`` looks up the types at each call and makes an object of each number, which
    takes 120 µs. Here the types are looked up once, and a call takes 4 µs.
    """

    def __init__(self, store: wasmtime.Store, function: wasmtime.Func, lock: Any) -> None:
        kind = function.type(store)
        self._types = [str(parameter) for parameter in kind.params]
        results = [str(result) for result in kind.results]
        if not {*self._types, *results} <= _ARGUMENTS.keys() or len(results) > 1:
            raise ValueError(
                "a function must take numbers and return one or none, but this one takes "
                f"{self._types} and returns {results}"
            )
        self._pack = Struct("<" + "".join(map(_ARGUMENTS.__getitem__, self._types))).pack_into
        self._unpack = Struct("<" + "".join(map(_RESULTS.__getitem__, results))).unpack_from
        self._count = max(len(self._types), len(results))
        self._values = (wasmtime_val_raw_t * self._count)()
        self._zeros = (0,) * len(self._types)
        self._store = store
        self._lock = lock
        self._function = function._func

    def __call__(self, *arguments: float) -> Any:
        with self._lock:
            try:
                self._pack(self._values, 0, *arguments, *self._zeros[len(arguments) :])
            except StructError:
                raise TypeError(
                    f"the function takes {', '.join(self._types)}, but got {arguments}"
                ) from None
            with enter_wasm(self._store) as trap:
                error = wasmtime_func_call_unchecked(
                    self._store._context(), self._function, self._values, self._count, trap
                )
                if error:
                    raise wasmtime.WasmtimeError._from_ptr(error)
            results = self._unpack(self._values)
        return results[0] if results else None


class WasmtimeHost(Host):
    """The kernels in wasmtime."""

    def __init__(self, variant: str) -> None:
        """Compile the kernels, or take them from wasmtime's cache, and start them."""
        super().__init__()
        self.variant = variant
        self.lock: RLock = RLock()
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
            module = wasmtime.Module(engine, module_bytes("kernels", variant))
            instance = wasmtime.Instance(self._store, module, [self._memory])
        except wasmtime.WasmtimeError as error:
            raise BackendUnavailableError(
                f"the wasm backend's kernels-{variant}.wasm failed to load: {error}"
            ) from error
        self._exports = instance.exports(self._store)
        # wasmtime's objects complain when they outlive its modules at the interpreter's end.
        atexit.register(self.close)

    def function(self, name: str) -> Callable[..., Any]:
        """Return an export."""
        with self.lock:
            return _Export(self._store, self._exports[name], self.lock)

    def instantiate(self, module: bytes) -> Callable[[str], Callable[..., Any] | None]:
        """Start a user's module on the same memory."""
        try:
            compiled = wasmtime.Module(self._engine, module)
            with self.lock:
                instance = wasmtime.Instance(self._store, compiled, [self._memory])
                exports = instance.exports(self._store)
        except wasmtime.WasmtimeError as error:
            raise ValueError(f"the module cannot be started: {error}") from error

        def find(name: str) -> Callable[..., Any] | None:
            export = exports.get(name)
            if not isinstance(export, wasmtime.Func):
                return None
            return _Export(self._store, export, self.lock)

        return find

    def add_functions(self, module: bytes) -> int:
        """Add a module's functions to the function table of the kernels."""
        imports = [self._memory, self._exports["huge_angle"]]
        instance = wasmtime.Instance(self._store, wasmtime.Module(self._engine, module), imports)
        functions = instance.exports(self._store).values()
        table = self._exports["__indirect_function_table"]
        first: int = table.grow(self._store, len(functions), None)
        for index, function in enumerate(functions, first):
            table.set(self._store, index, function)
        return first

    def write(self, address: int, data: memoryview) -> None:
        """Copy contiguous bytes into memory."""
        source = (ctypes.c_char * len(data)).from_buffer_copy(data)
        with self.lock:
            ctypes.memmove(self._base() + address, source, len(data))

    def read(self, address: int, count: int) -> bytearray:
        """Copy bytes out of memory."""
        result = bytearray(count)
        into = (ctypes.c_char * count).from_buffer(result)
        with self.lock:
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
