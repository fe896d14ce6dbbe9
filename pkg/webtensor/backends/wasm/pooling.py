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
    key = (name,)
    # The other kernels write to the same elements if windows overlap.
    shared = name in ("max_pool", "avg_pool", "dilation2d")

    def pool(
        backend: WasmBackend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        window: Window,
    ) -> Handle:
        geometry = backend.parameters.integers(window)
        size = prod(shape)
        out = backend.allocate(size * 4)
        work = size * window.filter_height * window.filter_width / 2 if shared else 0
        backend.compute(key, work, *(operand.storage.handle for operand in inputs), out, geometry)
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
