"""Backends: ``api`` is the interface; ``numpy``, ``wasm`` and ``webgl`` are siblings behind it.

All have the same inner layout: ``__init__`` describes a tensor's memory layout, ``backend`` has the
class, and one module per kernel family fills its table.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from webtensor.backends.api import (
    Backend,
    Elementwise,
    Handle,
    Kernel,
    KernelTable,
    Operand,
    Priority,
)
from webtensor.backends.wasm import flags as _wasm_flags
from webtensor.backends.webgl import flags as _webgl_flags
from webtensor.environment import IN_BROWSER

__all__ = [
    "Backend",
    "Elementwise",
    "Handle",
    "Kernel",
    "KernelTable",
    "Operand",
    "Priority",
    "builtin_backends",
]


def _lazily(name: str) -> Callable[[], Backend]:
    """Import a backend only when it is started."""

    def create() -> Backend:
        module = import_module(f"webtensor.backends.{name}")
        return module.create_backend()  # type: ignore[no-any-return]

    return create


def _webgl_priority() -> Priority:
    from webtensor.backends.webgl import priority

    return priority()


def builtin_backends() -> list[tuple[str, Callable[[], Backend], int | Callable[[], Priority]]]:
    """Name, factory and priority of the backends that come with the library."""
    return [
        ("webgl", _lazily("webgl"), _webgl_priority),
        ("wasm", _lazily("wasm"), 2),
        ("numpy", _lazily("numpy"), 1 if IN_BROWSER else 4),
    ]
