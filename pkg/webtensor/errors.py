"""Exceptions that callers may want to catch by name."""

from __future__ import annotations

__all__ = [
    "BackendError",
    "BackendUnavailableError",
    "ContextLostError",
    "KernelNotFoundError",
    "OutOfMemoryError",
]


class BackendError(RuntimeError):
    """A backend failed while it held resources or ran a kernel."""


class BackendUnavailableError(BackendError):
    """A backend cannot start here; the message says what is missing."""


class KernelNotFoundError(BackendError):
    """A backend has no kernel for the operation; dispatch then tries the next backend."""


class OutOfMemoryError(BackendError, MemoryError):
    """A backend has no memory left for a tensor."""


class ContextLostError(BackendError):
    """The WebGL context was lost, and what lived only on the GPU went with it."""
