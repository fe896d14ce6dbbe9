"""The WASM backend's own functions, ``wt.wasm``: threads, and modules with users' kernels."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from webtensor.arguments import as_positive_integer
from webtensor.backends.wasm import flags  # noqa: F401  (registers them)
from webtensor.engine.backend_registry import start_backend

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["KernelModule", "get_threads_count", "load_module", "set_threads_count"]


def _backend() -> WasmBackend:
    return cast("WasmBackend", start_backend("wasm"))


# -- threads ------------------------------------------------------------------------------------


def get_threads_count() -> int:
    """Return how many threads share the work of a large kernel: 1 where they cannot be had.

    Example:
        >>> import webtensor as wt
        >>> wt.wasm.get_threads_count() >= 1
        True
    """
    return _backend().threads.count


def set_threads_count(count: int) -> None:
    """Set the number of threads that share a large kernel, including the calling one.

    There are never more than the machine has processors, and one where the page is not cross-origin
    isolated, or outside browsers. That maximum is the default, except in workers of Firefox, where
    it is one: such a worker may hang if it starts threads while developer tools are open or
    WebDriver drives the browser. Threads that are no longer wanted end.

    Raises:
        TypeError: the count is no integer.
        ValueError: the count is not positive.

    Example:
        >>> import webtensor as wt
        >>> wt.wasm.set_threads_count(1)
        >>> wt.wasm.get_threads_count()
        1
    """
    _backend().threads.count = as_positive_integer("set_threads_count", "count", count)


# -- modules ------------------------------------------------------------------------------------


class KernelModule:
    """A user's module on the memory of the tensors; use it as a context manager, or close it.

    ``module.function("name")`` returns an export, which is called with numbers: addresses of
    tensors, as ``operand.storage.handle`` gives them to a kernel, sizes, and parameters.
    """

    def __init__(self, find: Callable[[str], Callable[..., Any] | None]) -> None:
        self._find: Callable[[str], Callable[..., Any] | None] | None = find

    def function(self, name: str) -> Callable[..., Any]:
        """Return an export.

        Raises:
            ValueError: the module exports no function of that name, or was closed.
        """
        if self._find is None:
            raise ValueError(f"function: the module was closed, so it has no {name!r}")
        export = self._find(name)
        if export is None:
            raise ValueError(f"function: the module exports no function {name!r}")
        return export

    def close(self) -> None:
        """Release the module; its memory is the library's, so tensors are not affected."""
        self._find = None

    def __enter__(self) -> KernelModule:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load_module(source: bytes | str | PathLike[str]) -> KernelModule:
    """Start a compiled WebAssembly module on the memory of the WASM backend.

    ``source`` is the module, or the path of its file. It must import its memory and bring no data
    of its own; the guide to ops of your own shows how to compile one. Its code runs with the same
    rights as the library's: load only modules that you trust.

    Raises:
        BackendUnavailableError: the WASM backend cannot start here.
        ValueError: this is no module, or one that does not fit.

    Example:
        >>> from pathlib import Path
        >>> import webtensor as wt
        >>> path = Path("kernels.wasm")
        >>> if path.exists():
        ...     scale = wt.wasm.load_module(path).function("scale")
    """
    from webtensor.backends.wasm.user_modules import check_user_module

    if not isinstance(source, (bytes, str, PathLike)):
        raise TypeError(f"load_module: source must be bytes or a path, but got {source!r}")
    module = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        check_user_module(module)
        return KernelModule(_backend().host.instantiate(module))
    except ValueError as error:
        raise ValueError(f"load_module: {error}") from None
