"""The host in Pyodide: the page's (or worker's) own WebAssembly.

Crossing from Python to JavaScript costs about 2 µs a call and 0.4 µs an argument, so exports are
bound once and called with plain numbers, and bulk data moves through typed arrays. Calls of small
kernels wait until somebody looks at memory, or many wait, and cross together (``calls.js``).

Where the page is cross-origin isolated the memory is shared, so that workers can run parts of
kernels (``threads.js``). The compiled module is the same, see ``binary``; it needs no atomic
instructions, because threads meet in JavaScript.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final

import js
import pyodide_js
from pyodide.code import run_js
from pyodide.ffi import JsException

from webtensor.backends.wasm.binary import shareable, shared
from webtensor.backends.wasm.host import INITIAL_PAGES, MAXIMUM_PAGES, Host, module_bytes
from webtensor.environment import env
from webtensor.errors import BackendUnavailableError

__all__ = ["JavascriptHost", "memory_can_be_shared", "require_simd", "validates"]

#: The smallest modules that use a feature: () -> v128 by ``i8x16.popcnt`` and by
#: ``i8x16.relaxed_swizzle``.
_PROBES: Final = {
    "simd": "0061736d010000000105016000017b03020100"
    "0a0a010800" "4100fd0ffd620b",
    "relaxed": "0061736d010000000105016000017b03020100"
    "0a0f010d00" "4101fd0f4102fd0ffd80020b",
}  # fmt: skip


def _to_javascript(data: bytes | memoryview) -> Any:
    array = js.Uint8Array.new(len(data))
    array.assign(data)
    return array


def validates(feature: str) -> bool:
    """Whether this engine accepts modules that use a feature: "simd" or "relaxed"."""
    web_assembly = getattr(js, "WebAssembly", None)
    if web_assembly is None:
        return False
    return bool(web_assembly.validate(_to_javascript(bytes.fromhex(_PROBES[feature]))))


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


def _load(name: str) -> Any:
    """Evaluate a file of JavaScript beside this module."""
    return run_js(files("webtensor.backends.wasm").joinpath(name).read_text("utf-8"))


def _processors() -> int:
    """How many threads the machine runs at once, as far as the browser tells."""
    return int(getattr(js.navigator, "hardwareConcurrency", 1) or 1)


class JavascriptHost(Host):
    """The kernels in the JavaScript engine that Pyodide itself runs in."""

    defers = True

    def __init__(self, variant: str) -> None:
        """Compile the kernels, which takes the engine some milliseconds, and start them."""
        super().__init__()
        self.variant = variant
        self.most_threads = _processors() if env().get_bool("WASM_HAS_MULTITHREAD_SUPPORT") else 1
        self._memory = _make_memory(self.most_threads > 1)
        compiled = module_bytes(variant)
        data: list[tuple[int, bytes]] = []
        if self.most_threads > 1:
            compiled, data = shareable(compiled)
        imports = js.Object.new()
        imports.env = js.Object.new()
        imports.env.memory = self._memory
        try:
            self._module = js.WebAssembly.Module.new(_to_javascript(compiled))
            self._exports = js.WebAssembly.Instance.new(self._module, imports).exports
        except JsException as error:
            raise BackendUnavailableError(
                f"the wasm backend's kernels-{variant}.wasm failed to load: {error}"
            ) from error
        self.memory_grew()
        self._calls = _load("calls.js")(self._module, self._exports, pyodide_js._module)
        for address, content in data:
            self.write(address, memoryview(content))

    def function(self, name: str) -> Callable[..., Any]:
        """Return an export; it is bound to nothing, so calling it only crosses once."""
        exported: Callable[..., Any] | None = getattr(self._exports, name, None)
        if exported is None:
            raise KeyError(name)
        return self._in_order(exported)

    def _in_order(self, exported: Callable[..., Any]) -> Callable[..., Any]:
        waiting, run_waiting = self.waiting, self.run_waiting

        def call(*arguments: float) -> Any:
            if waiting:
                run_waiting()
            return exported(*arguments)

        return call

    def number(self, name: str) -> int:
        """Return the number by which calls that wait know an export."""
        number: int = self._calls.kernel(name)
        if number < 0:
            raise KeyError(name)
        return number

    def run_waiting(self) -> None:
        """Run the calls that wait, in order, in one crossing."""
        if not self.waiting:
            return
        words = array("d", self.waiting)
        self.waiting.clear()
        self._calls.run(*words.buffer_info())

    def write(self, address: int, data: memoryview) -> None:
        """Copy contiguous bytes into memory."""
        self.run_waiting()
        self._subarray(address, address + len(data)).assign(data)

    def read(self, address: int, count: int) -> bytearray:
        """Copy bytes out of memory."""
        self.run_waiting()
        result = bytearray(count)
        self._subarray(address, address + count).assign_to(result)
        return result

    def memory_grew(self) -> None:
        """View the memory anew."""
        self._subarray = js.Uint8Array.new(self._memory.buffer).subarray

    def instantiate(self, module: bytes) -> Callable[[str], Callable[..., Any] | None]:
        """Start a user's module on the same memory."""
        imports = js.Object.new()
        imports.env = js.Object.new()
        imports.env.memory = self._memory
        fitting = shared(module) if self.most_threads > 1 else module
        try:
            compiled = js.WebAssembly.Module.new(_to_javascript(fitting))
            exports = js.WebAssembly.Instance.new(compiled, imports).exports
        except JsException as error:
            raise ValueError(f"the module cannot be started: {error}") from error

        def find(name: str) -> Callable[..., Any] | None:
            exported = getattr(exports, name, None)
            return None if exported is None else self._in_order(exported)

        return find

    def make_threads(self) -> Any:
        """Return the object that ``threads.js`` makes."""
        return _load("threads.js")(self._module, self._memory, self._exports)

    def close(self) -> None:
        """Drop the proxies, and with them the module and its memory."""
        self.waiting.clear()
        del self._calls, self._subarray, self._exports, self._memory, self._module
