"""The elementwise table: what optimizers do at each step, in one pass over their tensors.

These functions are for ``webtensor.optimizers``: operands are float32 tensors of one shape, which
is not checked, and parameters are floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.ops.rows import joint

if TYPE_CHECKING:
    from webtensor.engine import Tensor

__all__ = [
    "moved_against",
    "moved_against_ratio",
    "moved_against_root_ratio",
    "moved_towards",
    "moved_towards_square",
]


@joint(2, numpy=lambda np, x, y, rate: x - y * rate, glsl="x - y * rate", c="x - y * rate")
def moved_against(x: Tensor, y: Tensor, rate: float) -> Tensor:
    """``x - y * rate``."""


@joint(
    2,
    numpy=lambda np, x, y, share: x + (y - x) * share,
    glsl="x + (y - x) * share",
    c="x + (y - x) * share",
)
def moved_towards(x: Tensor, y: Tensor, share: float) -> Tensor:
    """The decaying mean ``x + (y - x) * share``."""


@joint(
    2,
    numpy=lambda np, x, y, share: x + (y * y - x) * share,
    glsl="x + (y * y - x) * share",
    c="x + (y * y - x) * share",
)
def moved_towards_square(x: Tensor, y: Tensor, share: float) -> Tensor:
    """The decaying mean of squares ``x + (y**2 - x) * share``."""


@joint(
    3,
    numpy=lambda np, x, y, z, epsilon, rate: x - y / (np.sqrt(z) + epsilon) * rate,
    glsl="x - y / (sqrt(z) + epsilon) * rate",
    c="x - y / (vsqrt(z) + epsilon) * rate",
)
def moved_against_ratio(x: Tensor, y: Tensor, z: Tensor, epsilon: float, rate: float) -> Tensor:
    """``x - y / (sqrt(z) + epsilon) * rate``."""


@joint(
    3,
    numpy=lambda np, x, y, z, epsilon, rate: x - y / np.sqrt(z + epsilon) * rate,
    glsl="x - y / sqrt(z + epsilon) * rate",
    c="x - y / vsqrt(z + epsilon) * rate",
)
def moved_against_root_ratio(
    x: Tensor, y: Tensor, z: Tensor, epsilon: float, rate: float
) -> Tensor:
    """``x - y / sqrt(z + epsilon) * rate``."""
