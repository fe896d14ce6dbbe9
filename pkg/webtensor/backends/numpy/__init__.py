"""The NumPy backend: the reference, for CPython and for Pyodide with NumPy loaded.

A handle is a NumPy array with the tensor's elements in row-major order; its own shape is that of
the tensor that made it, and kernels reshape operands (which copies nothing) before they use them.
"""

from __future__ import annotations

from webtensor.backends.api import Backend
from webtensor.errors import BackendUnavailableError

__all__ = ["create_backend"]


def create_backend() -> Backend:
    """Start the backend.

    Raises:
        BackendUnavailableError: NumPy is not installed.
    """
    try:
        import numpy
    except ImportError as error:
        raise BackendUnavailableError("the numpy backend needs NumPy, which is not here") from error
    from webtensor.backends.numpy.backend import NumpyBackend

    return NumpyBackend()
