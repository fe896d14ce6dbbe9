"""The NumPy backend's class, and the table that the kernel modules fill."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from webtensor.backends.api import (
    Backend,
    DescribedKernel,
    Handle,
    KernelTable,
    Operand,
    PreparedKernel,
)
from webtensor.backends.signatures import Signature
from webtensor.dtypes import DType

__all__ = ["Array", "Arrays", "NumpyBackend", "kernel"]

Array = np.ndarray[Any, Any]
#: Operands in their shapes.
Arrays = Sequence[Array]

#: Registers a function of the signature, the operands and the primitive's attributes; it need not
#: make its result dense, or of the signature's dtype: ``@kernel("name")``.
kernel = KernelTable(
    __package__,
    without=[
        "chain",
        "chain_multiply",
        "chain_reduce",
        "non_max_suppression",
        "separable_conv2d",
    ],
)


def _array_of(operand: Operand) -> Array:
    """Return an operand's elements in its shape."""
    array: Array = operand.storage.handle
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

    def _bound(self, function: Callable[..., Array]) -> DescribedKernel:
        return DescribedKernel(self, lambda of, *attributes: (function, attributes))

    def dispatched(
        self, of: Signature, description: tuple[Callable[..., Array], tuple[Any, ...]]
    ) -> PreparedKernel:
        """Return a function that calls the kernel, makes its result dense and counts the bytes."""
        function, attributes = description
        name = of.dtype.name

        def run(inputs: Sequence[Operand]) -> Handle:
            with np.errstate(all="ignore"):
                result = function(of, [*map(_array_of, inputs)], *attributes)
                array = np.ascontiguousarray(result, dtype=name)
            self._bytes += array.nbytes
            return array

        return run

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
