"""The sizes of matrix products, as the op and the kernels see them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MatmulSizes"]


class MatmulSizes(NamedTuple):
    """Sizes of ``batch`` products of (m, k) by (k, n) matrices.

    A transposed operand has the layout (k, m) or (n, k). An operand that is not batched is one
    matrix, used in every product.
    """

    batch: int
    m: int
    k: int
    n: int
    transpose_a: bool
    transpose_b: bool
    a_batched: bool
    b_batched: bool
