"""Kernels along the last axis: softmax, sums of neighbours, normalization by channel."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Describing, Description, one_call

__all__: list[str] = []

#: About how many instructions an element of a softmax takes, mostly those of its exponential.
_SOFTMAX_WORK = 5


def _softmax(name: str) -> Describing:
    """Make the kernel of the softmax of rows, or of its logarithm."""
    return lambda of, outer, length: one_call(
        of, (name,), outer, length, work=of.size * _SOFTMAX_WORK, is_shared=True
    )


for _name in ("softmax", "log_softmax"):
    kernel(_name)(_softmax(_name))


@kernel("window_sum")
def window_sum(of: Signature, outer: int, length: int, radius: int) -> Description:
    """Sum of each element and of up to ``radius`` neighbours on either side."""
    work = of.size * radius
    return one_call(of, ("window", "sum"), outer, length, radius, work=work, is_shared=True)


@kernel("normalize")
def normalize(of: Signature, outer: int, channels: int) -> Description:
    """``(x - mean) * factor + offset``, with a number per channel for each."""
    return one_call(of, ("normalize",), outer, channels, work=of.size, is_shared=True)


@kernel("moments")
def moments(of: Signature, outer: int, reduced: int, inner: int) -> Description:
    """Means, then variances, along the middle axis."""
    work, is_shared = outer * reduced * inner, outer > 1 or inner > 1
    return one_call(of, ("moments",), outer, reduced, inner, work=work, is_shared=is_shared)
