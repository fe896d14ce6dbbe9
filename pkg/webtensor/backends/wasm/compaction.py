"""Kernels that list the indices of a mask's true elements."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []


@kernel("true_indices")
def true_indices(of: Signature) -> Description:
    """List the indices of the true elements; the result has as many elements."""
    (mask,) = of.inputs
    # The kernel writes each index before it knows whether the element is true.
    return one_call(of, ("true", "indices"), mask.size)._replace(bytes=(of.shape[0] + 1) * 4)
