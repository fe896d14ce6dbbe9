"""Kernels that resample images, and that choose among boxes in them."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Describing, Description, Geometry, one_call
from webtensor.geometry import Sampling

__all__: list[str] = []


def _resizing(name: str) -> Describing:
    """Make a kernel that resizes images, or transposes that."""
    return lambda of, sizes: one_call(of, (name,), Geometry(sizes), work=4 * of.size)


for _name in ("resize_bilinear", "resize_nearest"):
    for _transpose in ("", "_gradient"):
        kernel(_name + _transpose)(_resizing(_name + _transpose))


@kernel("sample")
def sample(of: Signature, sizes: Sampling, fill: float) -> Description:
    """Read images at projected coordinates."""
    return one_call(of, ("sample",), fill, Geometry(sizes))


@kernel("non_max_suppression")
def non_max_suppression(
    of: Signature, max_output_size: int, iou_threshold: float, score_threshold: float
) -> Description:
    """Return the number of chosen boxes, then their indices."""
    count = of.inputs[1].size
    numbers = (count, max_output_size, float(iou_threshold), float(score_threshold))
    return one_call(of, ("non_max_suppression",), *numbers, scratch_bytes=count * 4)
