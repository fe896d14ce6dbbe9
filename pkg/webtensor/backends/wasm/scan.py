"""Kernels of running sums, products and recurrences along the middle axis of three."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []


@kernel("scan")
def scan(
    of: Signature, kind: str, exclusive: bool, reverse: bool, outer: int, length: int, inner: int
) -> Description:
    """Combine each element with all before it, and with itself unless exclusive."""
    return one_call(of, (kind, of.dtype), outer, length, inner, int(exclusive), int(reverse))


@kernel("recurrence")
def recurrence(of: Signature, reverse: bool, outer: int, length: int, inner: int) -> Description:
    """``y[k] = a[k] * y[k - 1] + b[k]``, from the other end if reverse."""
    return one_call(of, ("recurrence",), outer, length, inner, int(reverse))
