"""Kernels of pooling."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Describing, Description, Geometry, one_call
from webtensor.geometry import Window

__all__: list[str] = []


def _pooling(name: str) -> Describing:
    """Make a kernel that slides a window over one operand, or two."""
    # The other kernels write to the same elements if windows overlap.
    is_shared = name in ("max_pool", "avg_pool", "dilation2d")

    def pool(of: Signature, window: Window) -> Description:
        work = of.size * window.filter_height * window.filter_width / 2 if is_shared else 0
        return one_call(of, (name,), Geometry(window.numbers), work=work, is_shared=is_shared)

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
