"""Kernels that sort the last axis and search sorted rows. NaN is last in every order."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import Description, one_call

__all__: list[str] = []


@kernel("argsort")
def argsort(of: Signature, descending: bool, outer: int, length: int) -> Description:
    """Return the indices that sort each row, stably."""
    export, numbers = ("argsort", of.inputs[0].dtype), (outer, length, int(descending))
    return one_call(of, export, *numbers, scratch_bytes=length * 3 * 4)


@kernel("topk")
def topk(of: Signature, outer: int, length: int, k: int) -> Description:
    """Return the indices of the k largest elements of each row, in descending order."""
    export = ("topk", of.inputs[0].dtype)
    return one_call(of, export, outer, length, k, scratch_bytes=k * 8)


@kernel("search_sorted")
def search_sorted(of: Signature, right: bool, outer: int, length: int, count: int) -> Description:
    """Return the index at which each value would be inserted into its sorted row."""
    export = ("search_sorted", of.inputs[0].dtype)
    return one_call(of, export, outer, length, count, int(right))
