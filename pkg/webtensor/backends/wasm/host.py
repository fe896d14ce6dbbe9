"""Hosts, which run the compiled module, and the choice of its variant.

A host owns the linear memory and calls the module's exports with numbers. The rest of the backend
is the same on both hosts.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from pkgutil import get_data
from typing import Any, Final

from webtensor.environment import IN_BROWSER, env
from webtensor.errors import BackendUnavailableError

__all__ = [
    "INITIAL_PAGES",
    "MAXIMUM_PAGES",
    "MAX_WORDS",
    "PAGE",
    "Host",
    "module_bytes",
    "patched",
    "start_host",
]

PAGE: Final = 65536
#: As the module was linked (``wasm_build/build.py``).
INITIAL_PAGES: Final = (16 << 20) // PAGE
MAXIMUM_PAGES: Final = (4 << 30) // PAGE - 1
#: Queued calls are run when they have this many words.
MAX_WORDS: Final = 3000


class Host(ABC):
    """A running module with its memory."""

    #: The variant of the kernels: "simd" or "relaxed".
    variant: str
    #: How many threads can compute at once, and how many do by default; more than one only if
    #: memory can be shared.
    most_threads: int = 1
    default_threads: int = 1
    #: Whether calls can wait in ``queue``, because crossing to the module costs more than small
    #: kernels do.
    defers: bool = False
    #: Held while the module runs, where threads of Python may use it at the same time.
    lock: AbstractContextManager[Any] | None = None

    def __init__(self) -> None:
        """Start with an empty queue."""
        #: The queued calls, one after another: the kernel's number, the number of its arguments,
        #: and these. Everything else that touches memory runs them before.
        self.queue: list[float] = []

    @abstractmethod
    def function(self, name: str) -> Callable[..., Any]:
        """Return an exported function, which takes zeros for missing last arguments.

        Raises:
            KeyError: the module exports no such function.
        """

    def number(self, name: str) -> int:
        """Return the number by which queued calls know an export.

        Raises:
            KeyError: the module exports no such function.
        """
        raise NotImplementedError

    def run_queue(self) -> None:
        """Run the queued calls, in order."""
        raise NotImplementedError

    def run_words(self, words: array[float]) -> None:
        """Run the queued calls, then those that are written in ``words`` in the same form."""
        raise NotImplementedError

    @abstractmethod
    def write(self, address: int, data: memoryview) -> None:
        """Copy contiguous bytes (format "B") into memory."""

    @abstractmethod
    def read(self, address: int, count: int) -> bytearray | array[int]:
        """Copy bytes out of memory."""

    @abstractmethod
    def instantiate(self, module: bytes) -> Callable[[str], Callable[..., Any] | None]:
        """Start a user's module on the same memory; returns what finds its exports by name.

        Raises:
            ValueError: the engine refuses the module.
        """

    @abstractmethod
    def add_functions(self, module: bytes) -> int:
        """Add a module's exports, which are functions, to the function table of the kernels.

        The module imports the memory, and ``huge_angle`` of the kernels. Returns the index of the
        first function in the table, which is the same in all threads.

        Raises:
            OutOfMemoryError: there is no room for more functions.
        """

    def make_threads(self, on_failure: Callable[[str], None]) -> Any:
        """Return the object that starts threads and runs kernels on them, if there may be several.

        ``on_failure`` is called with the reason when threads cannot be started.
        """
        raise NotImplementedError

    @abstractmethod
    def close(self) -> None:
        """Release the module and its memory."""


def patched(module: bytes, patch: bytes) -> bytes:
    """Return the module that a patch makes of another one.

    A patch has the number of its steps, three numbers for each, and the bytes that steps add. A
    step copies from the first number to the second, and adds as many bytes as the third says. All
    numbers are little-endian and have 32 bits.
    """
    view = memoryview(patch)
    position = 4 + 12 * int.from_bytes(view[:4], "little")
    parts: list[bytes | memoryview] = []
    for start, end, size in struct.iter_unpack("<3I", view[4:position]):
        parts += module[start:end], view[position : position + size]
        position += size
    return b"".join(parts)


@cache
def module_bytes(kind: str, variant: str) -> bytes:
    """Return the compiled ``"kernels"`` or ``"rows"`` of one variant.

    The package has the variant "relaxed" as a patch of the other one.

    Raises:
        BackendUnavailableError: the package came without them, or with a broken patch.
    """
    name = f"{kind}-{variant}.{'wasm' if variant == 'simd' else 'patch'}"
    try:
        content = get_data("webtensor.backends.wasm", f"kernels/{name}")
    except OSError:
        content = None
    if content is None:
        raise BackendUnavailableError(
            f"the wasm backend needs its compiled kernels, but {name} is missing from the package "
            "(`make kernels` compiles them)"
        )
    if variant == "simd":
        return content
    try:
        simd = module_bytes.__wrapped__(kind, "simd")  # needed once: not worth keeping
        return patched(simd, content)
    except struct.error as error:
        raise BackendUnavailableError(f"the wasm backend's {name} is cut off: {error}") from error


def start_host() -> Host:
    """Start the host that this Python has, with the best variant it runs.

    Raises:
        BackendUnavailableError: no host, no SIMD, or kernels that are missing or broken.
    """
    make: Callable[[str], Host]
    if IN_BROWSER:
        from webtensor.backends.wasm.host_javascript import JavascriptHost, require_simd

        require_simd()
        make = JavascriptHost
    else:
        try:
            from webtensor.backends.wasm.host_wasmtime import WasmtimeHost
        except ImportError as error:
            raise BackendUnavailableError(
                "the wasm backend needs the package wasmtime outside the browser, which is not "
                "here (pip install webtensor[wasm])"
            ) from error
        make = WasmtimeHost
    return make("relaxed" if env().get_bool("WASM_RELAXED_SIMD") else "simd")
