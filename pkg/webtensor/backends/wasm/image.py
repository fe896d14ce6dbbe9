"""Kernels that resample images, and that choose among boxes in them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor.backends.api import Handle, Kernel, Operand
from webtensor.backends.wasm.backend import WasmBackend, kernel
from webtensor.dtypes import DType
from webtensor.geometry import Resize, Sampling
from webtensor.shapes import Shape

__all__: list[str] = []


def _resizing(name: str) -> Kernel:
    """Make a kernel that resizes images, or transposes that."""

    def resize(
        backend: WasmBackend,
        inputs: Sequence[Operand],
        shape: Shape,
        dtype: DType,
        sizes: Resize,
    ) -> Handle:
        run = backend.functions[(name,)]
        geometry = backend.parameters.integers(sizes)
        out = backend.allocate(prod(shape) * 4)
        run(inputs[0].storage.handle, out, geometry)
        return out

    return resize


for _method in ("bilinear", "nearest"):
    for _transpose in ("", "_gradient"):
        kernel(f"resize_{_method}{_transpose}")(_resizing(f"resize_{_method}{_transpose}"))


@kernel("sample")
def sample(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    sizes: Sampling,
    fill: float,
) -> Handle:
    """Read images at projected coordinates."""
    run = backend.functions[("sample",)]
    geometry = backend.parameters.integers(sizes)
    out = backend.allocate(prod(shape) * 4)
    run(*(operand.storage.handle for operand in inputs), out, fill, geometry)
    return out


@kernel("non_max_suppression")
def non_max_suppression(
    backend: WasmBackend,
    inputs: Sequence[Operand],
    shape: Shape,
    dtype: DType,
    most: int,
    iou_threshold: float,
    score_threshold: float,
) -> Handle:
    """Choose boxes: how many, then their numbers."""
    boxes, scores = inputs
    run = backend.functions[("non_max_suppression",)]
    waiting = backend.allocate(scores.size * 4)
    try:
        out = backend.allocate(prod(shape) * 4)
        run(
            *(boxes.storage.handle, scores.storage.handle, out, waiting, scores.size, most),
            *(float(iou_threshold), float(score_threshold)),
        )
    finally:
        backend.release(waiting)
    return out
