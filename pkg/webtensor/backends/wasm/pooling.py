"""Kernels of pooling."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Kernel, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.geometry import Window
from webtensor.shapes import Shape

__all__: list[str] = []


def _pooling(name: str) -> Kernel:
    """Make a kernel that slides a window over one operand, or two."""

    def pool(
        backend: WasmBackend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        window: Window,
    ) -> Handle:
        run = backend.functions[(name,)]
        geometry = backend.parameters.integers(window)
        out = backend.allocate(prod(shape) * 4)
        run(*(operand.storage.handle for operand in inputs), out, geometry)
        return out

    return pool


for _name in (
    "max_pool",
    "max_pool_scatter",
    "max_pool_pick",
    "avg_pool",
    "avg_pool_gradient",
    "dilation2d",
):
    kernel(_name)(_pooling(_name))
