"""The NumPy backend's class, and the table that the kernel modules fill."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from webtensor.backends.api import Backend, Handle, Kernel, KernelTable, Operand
from webtensor.dtypes import DType

__all__ = ["NumpyBackend", "array_of", "kernel"]

#: Registers a kernel: ``@kernel("name")``.
kernel = KernelTable(__package__, without=["non_max_suppression"])


def array_of(operand: Operand) -> np.ndarray[Any, Any]:
    """Return an operand's elements in its shape."""
    array: np.ndarray[Any, Any] = operand.storage.handle
    return array if array.shape == operand.shape else array.reshape(operand.shape)


class NumpyBackend(Backend):
    """Arrays in host memory."""

    name = "numpy"
    reads_are_copies = False
    computes_on_host = True
    #: NumPy has no shape for arrays of more bytes than an index can count, and elements take at
    #: most eight, those of temporaries included.
    most_elements: float = sys.maxsize // 8
    others_may_have_room = False

    def __init__(self) -> None:
        super().__init__(kernel)
        self._bytes = 0

    def _bound(self, function: Kernel) -> Callable[..., Handle]:
        """Return a kernel that makes its result dense and counts its bytes."""

        def call(inputs: Any, shape: Any, dtype: DType, *attributes: Any) -> Handle:
            with np.errstate(all="ignore"):
                result = function(self, inputs, shape, dtype, *attributes)
            array = np.ascontiguousarray(result, dtype=dtype.name)
            self._bytes += array.nbytes
            return array

        return call

    def upload(self, host: memoryview[Any], dtype: DType) -> Handle:
        array = np.array(host, dtype=dtype.name)
        self._bytes += array.nbytes
        return array

    def read(self, handle: Handle, dtype: DType, size: int) -> memoryview[Any]:
        return memoryview(handle.reshape(-1))

    def release(self, handle: Handle) -> None:
        self._bytes -= handle.nbytes

    def memory(self) -> dict[str, int]:
        return {"bytes": self._bytes}
