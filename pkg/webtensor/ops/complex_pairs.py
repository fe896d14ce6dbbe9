"""Complex tensors as pairs of float32: the same elements with one more axis, of size 2.

Kernels have no complex numbers. Ops that move elements move pairs; ops that compute do so with the
real and imaginary parts (see ``complex_numbers.py``). Gradients follow: the gradient of a real
result with respect to z = x + iy is its derivative by x plus i times its derivative by y.
"""

from __future__ import annotations

from webtensor.dtypes import complex64, float32
from webtensor.engine import Primitive, Tensor, alias

__all__ = ["as_pairs", "from_pairs"]

_AS_PAIRS = Primitive("as_pairs", gradients=(lambda dy, y, x: from_pairs(dy),))
_FROM_PAIRS = Primitive("from_pairs", gradients=(lambda dy, y, x: as_pairs(dy),))


def as_pairs(x: Tensor) -> Tensor:
    """Return a complex tensor as float32 of shape ``(*x.shape, 2)``; nothing is copied."""
    return alias(_AS_PAIRS, x, (*x.shape, 2), dtype=float32)


def from_pairs(x: Tensor) -> Tensor:
    """Undo ``as_pairs``."""
    return alias(_FROM_PAIRS, x, x.shape[:-1], dtype=complex64)
