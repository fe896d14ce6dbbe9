"""Exceptions that callers may want to catch by name."""

from __future__ import annotations

__all__ = [
    "AxisError",
    "BackendError",
    "BackendUnavailableError",
    "CaptureError",
    "ContextLostError",
    "KernelNotFoundError",
    "ModelFormatError",
    "OutOfMemoryError",
    "TensorSizeError",
]

#: Messages about files are cut in their middle beyond this many characters.
_LONGEST_MESSAGE = 500


class AxisError(ValueError, IndexError):
    """An axis is out of range where the array API standard requires an ``IndexError``."""


class BackendError(RuntimeError):
    """A backend failed while it managed resources or ran a kernel."""


class BackendUnavailableError(BackendError):
    """A backend cannot start here; the message says what is missing."""


class CaptureError(RuntimeError):
    """A function that ``wt.function`` captures does what cannot be replayed."""


class KernelNotFoundError(BackendError):
    """A backend has no kernel for the operation; dispatch then tries the next backend."""


class OutOfMemoryError(BackendError, MemoryError):
    """A backend has no memory left for a tensor."""


class TensorSizeError(OutOfMemoryError, ValueError):
    """The arguments of an operation ask for a tensor of too many elements."""


class ContextLostError(BackendError):
    """The WebGL context was lost, and what lived only on the GPU went with it."""


class ModelFormatError(ValueError):
    """A file is broken, hostile or unknown; the message names the file and the position in it."""

    def __init__(self, message: str = "") -> None:
        if len(message) > _LONGEST_MESSAGE:
            half = (_LONGEST_MESSAGE - 5) // 2
            message = f"{message[:half]} ... {message[-half:]}"
        super().__init__(message)
