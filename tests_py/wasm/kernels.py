"""Calling a kernel with NumPy arrays, as the engine would with tensors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from webtensor.backends.wasm.backend import WasmBackend
from webtensor.dtypes import as_dtype
from webtensor.shapes import Shape

Array = np.ndarray[Any, Any]


class Operand:
    """An array uploaded to the backend; it is its own storage."""

    def __init__(self, backend: WasmBackend, array: Array) -> None:
        self.shape = array.shape
        self.size = array.size
        self.dtype = as_dtype(array.dtype.name)
        self.handle = backend.upload(np.ascontiguousarray(array).reshape(-1).data, self.dtype)

    @property
    def storage(self) -> "Operand":
        return self


def call(
    backend: WasmBackend,
    name: str,
    arrays: Sequence[Array],
    shape: Shape,
    dtype: str,
    *attributes: Any,
    times: int = 1,
) -> Array:
    """Run a kernel a number of times and return its last result, leaving nothing behind."""
    result_dtype = as_dtype(dtype)
    before = backend.memory()["blocks"]
    operands = [Operand(backend, array) for array in arrays]
    for _ in range(times - 1):
        backend.release(backend.kernels[name](operands, shape, result_dtype, *attributes))
    handle = backend.kernels[name](operands, shape, result_dtype, *attributes)
    result = np.array(backend.read(handle, result_dtype, int(np.prod(shape)))).reshape(shape)
    while operands:
        backend.release(operands.pop().handle)
    backend.release(handle)
    assert backend.memory()["blocks"] == before
    return result
