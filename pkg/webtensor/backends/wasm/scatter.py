"""Kernels that put or add slices at their indices."""

from __future__ import annotations

from webtensor.backends.signatures import Signature
from webtensor.backends.wasm.backend import kernel
from webtensor.backends.wasm.descriptions import RESULT, Address, Call, Description, one_call

__all__: list[str] = []


@kernel("scatter_set")
def scatter_set(of: Signature, length: int, inner: int, count: int) -> Description:
    """Replace slices of a copy; the last of equal indices wins, others out of range are ignored."""
    x, indices, updates = Address(0), Address(1), Address(2)
    width = inner * of.dtype.itemsize
    step = of.dtype.itemsize if of.inputs[0].size < length * inner else 0  # that of a scalar
    arguments = (x, step, indices, updates, RESULT, length, width, count)
    return Description(length * width, (Call(("scatter", "set"), arguments),))


@kernel("sum_picked")
def sum_picked(of: Signature, length: int, inner: int, count: int) -> Description:
    """Pick slices at the second operand's indices, and add them up at the third's."""
    return one_call(of, ("sum_picked", of.dtype), length, inner, count)


@kernel("one_hot")
def one_hot(of: Signature, depth: int, on: float, off: float) -> Description:
    """Rows of one number, with another at each row's index."""
    count = of.inputs[0].size
    fill = Call(("fill", of.dtype), (RESULT, of.size, off), of.size)
    put = Call(("put_hot", of.dtype), (Address(0), RESULT, count, depth, on), count)
    return Description(of.bytes, (fill, put))


@kernel("scatter_add")
def scatter_add(of: Signature, outer: int, length: int, inner: int, count: int) -> Description:
    """Add slices up at their indices; those out of range are left out."""
    return one_call(of, ("scatter_add", of.dtype), outer, length, inner, count)


@kernel("row_counts")
def row_counts(of: Signature) -> Description:
    """Count elements of rows, empty rows, and elements outside of all rows."""
    count, rank = of.inputs[0].shape
    return one_call(of, ("row_counts",), of.size - 2, rank, count)


@kernel("filled_rows")
def filled_rows(of: Signature, size: int) -> Description:
    """Sort elements by their rows, with one for each empty row."""
    indices, counts = of.inputs
    count, rank = indices.shape
    numbers = (counts.size - 2, rank, count, size)
    return one_call(of, ("filled_rows",), *numbers, scratch_bytes=4 * counts.size)
