"""Threads of the WASM backend: ``wt.wasm``."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from webtensor.engine import find_backend, unavailable_reason
from webtensor.errors import BackendUnavailableError

if TYPE_CHECKING:
    from webtensor.backends.wasm.backend import WasmBackend

__all__ = ["get_threads_count", "set_threads_count"]


def _backend() -> WasmBackend:
    found = find_backend("wasm")
    if found is None:
        raise BackendUnavailableError(unavailable_reason("wasm"))
    return cast("WasmBackend", found)


def get_threads_count() -> int:
    """Return how many threads share the work of a large kernel: 1 where they cannot be had."""
    return _backend().threads.count


def set_threads_count(count: int) -> None:
    """Let so many threads share the work of a large kernel, the calling one included.

    There are never more than the machine has processors, and one where the page is not cross-origin
    isolated, or outside browsers. Threads that are no longer wanted end.

    Raises:
        ValueError: the count is not a positive integer.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"set_threads_count: count must be a positive integer, but got {count!r}")
    _backend().threads.count = count
