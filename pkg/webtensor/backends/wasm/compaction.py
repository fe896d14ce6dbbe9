"""Kernels that list the indices of a mask's true elements."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.backends.api import Handle, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.shapes import Shape

__all__: list[str] = []


@kernel("true_indices")
def true_indices(
    backend: WasmBackend, inputs: Sequence[Operand], shape: Shape, dtype: DType
) -> Handle:
    """List the indices of the true elements; the result has as many elements."""
    (mask,) = inputs
    run = backend.functions["true", "indices"]
    out = backend.allocate((shape[0] + 1) * 4)
    run(mask.storage.handle, out, mask.size)
    return out
