"""The host in Pyodide: the page's (or worker's) own WebAssembly.

Crossing from Python to JavaScript costs about 2 µs a call and 0.4 µs an argument, so exports are
bound once and called with plain numbers, and bulk data moves through typed arrays. Calls of small
kernels are queued until memory is accessed or the queue is full, and cross together (``calls.js``).

Where the page is cross-origin isolated the memory is shared, so that workers can run parts of
kernels (``threads.js``). The compiled module is the same, see ``binary``; it needs no atomic
instructions, because threads meet in JavaScript.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from struct import pack
from typing import Any, Final

import js
import pyodide_js
from pyodide.ffi import JsException, create_proxy

from webtensor.backends.wasm.binary import shareable, shared
from webtensor.backends.wasm.host import INITIAL_PAGES, MAXIMUM_PAGES, Host, module_bytes
from webtensor.environment import env
from webtensor.errors import BackendUnavailableError, OutOfMemoryError
from webtensor.javascript import function_of, worker_url
from webtensor.transfer import address_of, javascript_bytes, javascript_text, zero_bytes

__all__ = ["JavascriptHost", "memory_can_be_shared", "require_simd", "validates"]

#: The smallest modules that use a feature: () -> v128 by ``i8x16.popcnt`` and by
#: ``i8x16.relaxed_swizzle``.
_PROBES: Final = {
    "simd": "0061736d010000000105016000017b03020100"
    "0a0a010800" "4100fd0ffd620b",
    "relaxed": "0061736d010000000105016000017b03020100"
    "0a0f010d00" "4101fd0f4102fd0ffd80020b",
}  # fmt: skip

#: Larger buffers, unless they are arrays, are copied in pieces, through an array that fits the
#: cache. Copying all of them to an array first took four times as long.
_STAGING_BYTES: Final = 1 << 18


def validates(feature: str) -> bool:
    """Whether this engine accepts modules that use a feature: "simd" or "relaxed"."""
    web_assembly = getattr(js, "WebAssembly", None)
    if web_assembly is None:
        return False
    return bool(web_assembly.validate(javascript_bytes(bytes.fromhex(_PROBES[feature]))))


def require_simd() -> None:
    """Check that this engine has SIMD.

    Raises:
        BackendUnavailableError: it does not.
    """
    if not env().get_bool("WASM_HAS_SIMD_SUPPORT"):
        raise BackendUnavailableError(
            "the wasm backend needs WebAssembly SIMD, which this browser does not have"
        )


def memory_can_be_shared() -> bool:
    """Whether memory can be shared with workers: the page is cross-origin isolated."""
    isolated = getattr(js, "crossOriginIsolated", False) is True
    return isolated and all(hasattr(js, name) for name in ("SharedArrayBuffer", "Worker"))


def _make_memory(shared: bool) -> Any:
    """Make the linear memory with the largest maximum that this engine will reserve."""
    maximum = MAXIMUM_PAGES
    while True:
        try:
            return js.WebAssembly.Memory.new(initial=INITIAL_PAGES, maximum=maximum, shared=shared)
        except JsException as error:
            if maximum <= INITIAL_PAGES:
                raise BackendUnavailableError(
                    f"the wasm backend cannot get memory for its heap: {error}"
                ) from error
            maximum = max(maximum // 2, INITIAL_PAGES)


def _thread_counts() -> tuple[int, int]:
    """Return the maximum and the default number of threads."""
    shared = env().get_bool("WASM_HAS_MULTITHREAD_SUPPORT") and memory_can_be_shared()
    max_threads = int(getattr(js.navigator, "hardwareConcurrency", 1) or 1) if shared else 1
    if max_threads > 1 and not hasattr(js, "document") and "Firefox/" in js.navigator.userAgent:
        # A worker of Firefox may hang if it starts workers: docs/design/choices.md.
        return max_threads, 1
    return max_threads, max_threads


class JavascriptHost(Host):
    """The kernels in the JavaScript engine that Pyodide itself runs in."""

    defers = True

    def __init__(self, variant: str) -> None:
        """Compile the kernels, which takes the engine some milliseconds, and start them."""
        super().__init__()
        self.variant = variant
        self.most_threads, self.default_threads = _thread_counts()
        self._memory = _make_memory(self.most_threads > 1)
        original = module_bytes("kernels", variant)
        kernels, data = shareable(original) if self.most_threads > 1 else (original, [])
        try:
            self._module, self._exports = self._started(kernels)
        except JsException as error:
            raise BackendUnavailableError(
                f"the wasm backend's kernels-{variant}.wasm failed to load: {error}"
            ) from error
        calls = function_of("backends/wasm/calls.js")
        self._calls = calls(self._module, self._memory, self._exports, pyodide_js._module)
        self._write, self._read, self._run = self._calls.write, self._calls.read, self._calls.run
        self._staging = zero_bytes(_STAGING_BYTES)
        for address, content in data:
            self.write(address, memoryview(content))

    def _started(self, module: bytes) -> tuple[Any, Any]:
        """Compile and start a module on the memory; return it and its exports."""
        imports = js.Object.new()
        imports.env = js.Object.new()
        imports.env.memory = self._memory
        compiled = js.WebAssembly.Module.new(javascript_bytes(module))
        return compiled, js.WebAssembly.Instance.new(compiled, imports).exports

    def _for_memory(self, module: bytes) -> bytes:
        """Return a module that imports the memory as it is, which may be shared."""
        return shared(module) if self.most_threads > 1 else module

    def function(self, name: str) -> Callable[..., Any]:
        """Return an export; it is bound to nothing, so calling it only crosses once."""
        exported: Callable[..., Any] | None = getattr(self._exports, name, None)
        if exported is None:
            raise KeyError(name)
        return self._in_order(exported)

    def _in_order(self, exported: Callable[..., Any]) -> Callable[..., Any]:
        queue, run_queue = self.queue, self.run_queue

        def call(*arguments: float) -> Any:
            if queue:
                run_queue()
            return exported(*arguments)

        return call

    def number(self, name: str) -> int:
        """Return the number by which queued calls know an export."""
        number: int = self._calls.kernel(name)
        if number < 0:
            raise KeyError(name)
        return number

    def run_queue(self) -> None:
        """Run the queued calls, in order, in one crossing."""
        if not self.queue:
            return
        # An array would take twice as long to convert them.
        words = array("d", pack(f"{len(self.queue)}d", *self.queue))
        self.queue.clear()
        self._run(*words.buffer_info())

    def run_words(self, words: array[float]) -> None:
        """Run the queued calls, then those that are written in ``words`` in the same form."""
        self.run_queue()
        self._run(*words.buffer_info())

    def write(self, address: int, data: memoryview) -> None:
        """Copy contiguous bytes into memory."""
        self.run_queue()
        size = len(data)
        if size <= _STAGING_BYTES or isinstance(data.obj, array):
            source, _owner = address_of(data)
            self._write(address, source, size)
            return
        source, staging = self._staging.buffer_info()[0], memoryview(self._staging)
        for start in range(0, size, _STAGING_BYTES):
            piece = data[start : start + _STAGING_BYTES]
            staging[: len(piece)] = piece
            self._write(address + start, source, len(piece))

    def read(self, address: int, count: int) -> array[int]:
        """Copy bytes out of memory."""
        self.run_queue()
        result = zero_bytes(count)
        self._read(address, result.buffer_info()[0], count)
        return result

    def instantiate(self, module: bytes) -> Callable[[str], Callable[..., Any] | None]:
        """Start a user's module on the same memory."""
        try:
            _, exports = self._started(self._for_memory(module))
        except JsException as error:
            raise ValueError(f"the module cannot be started: {error}") from error

        def find(name: str) -> Callable[..., Any] | None:
            exported = getattr(exports, name, None)
            return None if exported is None else self._in_order(exported)

        return find

    def add_functions(self, module: bytes) -> int:
        """Add a module's functions to the function table of the kernels, in all threads."""
        try:
            functions = javascript_bytes(self._for_memory(module))
            first: int = self._calls.addFunctions(functions)
        except JsException as error:
            raise OutOfMemoryError(f"wasm: there is no room for more functions: {error}") from error
        return first

    def make_threads(self, on_failure: Callable[[str], None]) -> Any:
        """Return the object that ``threads.js`` makes."""
        threads = function_of("backends/wasm/threads.js")
        url = javascript_text(worker_url("backends/wasm/thread.js"))
        failed = create_proxy(on_failure)
        started = threads(self._module, self._memory, self._exports, url, failed)
        self._calls.useThreads(started)
        return started

    def close(self) -> None:
        """Drop the proxies, and with them the module and its memory."""
        self.queue.clear()
        del self._write, self._read, self._run, self._calls
        del self._exports, self._memory, self._module
