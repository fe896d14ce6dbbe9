"""The elementwise table: what optimizers do at each step, in one pass over their tensors.

These functions are for ``keras.optimizers``: operands are float32 tensors of one shape, which is
not checked, and parameters are floats. On WASM, what decays becomes 0 when it is subnormal: it
would never get there by rounding, and arithmetic with subnormal numbers takes many times as long.
GPUs do the same by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.ops.elementwise import joint

if TYPE_CHECKING:
    from webtensor.engine import Tensor

__all__ = [
    "clipping_factor",
    "decayed_maximum",
    "follow_regularized_leader",
    "global_clipping_factor",
    "linear_of_leader",
    "moved_against",
    "moved_against_mixed_ratio",
    "moved_against_quotient",
    "moved_against_ratio",
    "moved_against_sign",
    "moved_along",
    "moved_by_centered_ratio",
    "moved_by_root_ratio",
    "moved_towards",
    "moved_towards_square",
    "plus_square",
    "ratio_of_roots",
    "ratio_to_root",
    "trust_ratio",
    "weighted_sum",
]


@joint(2, numpy=lambda np, x, y, rate: x - y * rate, glsl="x - y * rate", c="x - y * rate")
def moved_against(x: Tensor, y: Tensor, rate: float) -> Tensor:
    """``x - y * rate``."""


@joint(
    2,
    numpy=lambda np, x, y, share: x + (y - x) * share,
    glsl="x + (y - x) * share",
    c="vnormal(x + (y - x) * share)",
    steady=True,
)
def moved_towards(x: Tensor, y: Tensor, share: float) -> Tensor:
    """The decaying mean ``x + (y - x) * share``."""


@joint(
    2,
    numpy=lambda np, x, y, share: x + (y * y - x) * share,
    glsl="x + (y * y - x) * share",
    c="vnormal(x + (y * y - x) * share)",
    steady=True,
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
    numpy=lambda np, x, y, z, decay, epsilon, rate: x * decay + y / np.sqrt(z + epsilon) * rate,
    glsl="x * decay + y / sqrt(z + epsilon) * rate",
    c="vnormal(x * decay + y / vsqrt(z + epsilon) * rate)",
)
def moved_by_root_ratio(
    x: Tensor, y: Tensor, z: Tensor, decay: float, epsilon: float, rate: float
) -> Tensor:
    """``x * decay + y / sqrt(z + epsilon) * rate``."""


@joint(
    4,
    # Rounding alone can make a variance negative.
    numpy=lambda np, x, y, z, w, decay, epsilon, rate: (
        x * decay + y / np.sqrt(np.maximum(z - w * w, 0) + epsilon) * rate
    ),
    glsl="x * decay + y / sqrt(max(z - w * w, 0.0) + epsilon) * rate",
    c="vnormal(x * decay + y / vsqrt(vmax(z - w * w, vset(0.f)) + epsilon) * rate)",
)
def moved_by_centered_ratio(
    x: Tensor, y: Tensor, z: Tensor, w: Tensor, decay: float, epsilon: float, rate: float
) -> Tensor:
    """``x * decay + y / sqrt(z - w**2 + epsilon) * rate``."""


@joint(
    2,
    numpy=lambda np, x, y, first, second: x * first + y * second,
    glsl="x * first + y * second",
    c="vnormal(x * first + y * second)",
)
def weighted_sum(x: Tensor, y: Tensor, first: float, second: float) -> Tensor:
    """``x * first + y * second``."""


@joint(2, numpy=lambda np, x, y: x + y * y, glsl="x + y * y", c="x + y * y", steady=True)
def plus_square(x: Tensor, y: Tensor) -> Tensor:
    """``x + y**2``."""


@joint(
    3,
    numpy=lambda np, x, y, z, share, rate: x + y * share - z * rate,
    glsl="x + y * share - z * rate",
    c="x + y * share - z * rate",
)
def moved_along(x: Tensor, y: Tensor, z: Tensor, share: float, rate: float) -> Tensor:
    """``x + y * share - z * rate``."""


@joint(
    2,
    numpy=lambda np, x, y, decay: np.maximum(x * decay, np.abs(y)),
    glsl="float_max(x * decay, abs(y))",
    c="vmax(vnormal(x * decay), vabs(y))",
    steady=True,
)
def decayed_maximum(x: Tensor, y: Tensor, decay: float) -> Tensor:
    """``max(x * decay, abs(y))``."""


@joint(
    3,
    numpy=lambda np, x, y, z, epsilon, rate: x - y / (z + epsilon) * rate,
    glsl="x - y / (z + epsilon) * rate",
    c="x - y / (z + epsilon) * rate",
)
def moved_against_quotient(x: Tensor, y: Tensor, z: Tensor, epsilon: float, rate: float) -> Tensor:
    """``x - y / (z + epsilon) * rate``."""


@joint(
    4,
    numpy=lambda np, x, y, z, w, first, second, epsilon: (
        x - (y * first + z * second) / (np.sqrt(w) + epsilon)
    ),
    glsl="x - (y * first + z * second) / (sqrt(w) + epsilon)",
    c="x - (y * first + z * second) / (vsqrt(w) + epsilon)",
)
def moved_against_mixed_ratio(
    x: Tensor, y: Tensor, z: Tensor, w: Tensor, first: float, second: float, epsilon: float
) -> Tensor:
    """``x - (y * first + z * second) / (sqrt(w) + epsilon)``."""


@joint(
    3,
    numpy=lambda np, x, y, z, first, second, rate: x - np.sign(y * first + z * second) * rate,
    glsl="x - sign(y * first + z * second) * rate",
    c="x - vsel(y * first + z * second > 0, vset(rate), "
    "vsel(y * first + z * second < 0, vset(-rate), y * first + z * second))",
)
def moved_against_sign(
    x: Tensor, y: Tensor, z: Tensor, first: float, second: float, rate: float
) -> Tensor:
    """``x - sign(y * first + z * second) * rate``."""


@joint(
    3,
    numpy=lambda np, x, y, z, epsilon: np.sqrt(x + epsilon) / np.sqrt(y + epsilon) * z,
    glsl="sqrt(x + epsilon) / sqrt(y + epsilon) * z",
    c="vsqrt(x + epsilon) / vsqrt(y + epsilon) * z",
)
def ratio_of_roots(x: Tensor, y: Tensor, z: Tensor, epsilon: float) -> Tensor:
    """``sqrt(x + epsilon) / sqrt(y + epsilon) * z``."""


@joint(
    2,
    numpy=lambda np, x, y, epsilon, rate: x / (np.sqrt(y) + epsilon) * rate,
    glsl="x / (sqrt(y) + epsilon) * rate",
    c="x / (vsqrt(y) + epsilon) * rate",
)
def ratio_to_root(x: Tensor, y: Tensor, epsilon: float, rate: float) -> Tensor:
    """``x / (sqrt(y) + epsilon) * rate``."""


@joint(
    2,
    numpy=lambda np, x, y, rate: (
        np.where((x > 0) & (y > 0), np.sqrt(x) / np.sqrt(np.where(y > 0, y, 1)), 1).astype(x.dtype)
        * rate
    ),
    glsl="(x > 0.0 && y > 0.0 ? sqrt(x) / sqrt(y) : 1.0) * rate",
    c="vsel((x > 0) & (y > 0), vsqrt(x) / vsqrt(y), vset(1.f)) * rate",
)
def trust_ratio(x: Tensor, y: Tensor, rate: float) -> Tensor:
    """``sqrt(x) / sqrt(y) * rate`` where both are positive, else ``rate``."""


@joint(
    1,
    numpy=lambda np, x, limit: limit / np.maximum(np.sqrt(x), limit),
    glsl="limit / float_max(sqrt(x), limit)",
    c="limit / vmax(vsqrt(x), vset(limit))",
)
def clipping_factor(x: Tensor, limit: float) -> Tensor:
    """``limit / max(sqrt(x), limit)``: what makes vectors of squared length ``x`` short enough."""


@joint(
    1,
    numpy=lambda np, x, limit: np.where(
        x < np.inf, limit / np.maximum(np.sqrt(x), limit), np.nan
    ).astype(x.dtype),
    glsl="is_finite(x) ? limit / max(sqrt(x), limit) : nan()",
    c="vsel(x < VINF, limit / vmax(vsqrt(x), vset(limit)), vset(VNAN))",
)
def global_clipping_factor(x: Tensor, limit: float) -> Tensor:
    """The clipping factor, but NaN where ``x`` is not finite."""


@joint(
    4,
    numpy=lambda np, x, y, z, w, power, rate, shrinkage: (
        x + (y + w * shrinkage) - (np.power(z + y * y, power) - np.power(z, power)) * rate * w
    ),
    glsl="x + (y + w * shrinkage) - (float_pow(z + y * y, power) - float_pow(z, power)) * rate * w",
    c="x + (y + w * shrinkage) - (vpow(z + y * y, vset(power)) - vpow(z, vset(power))) * rate * w",
)
def linear_of_leader(
    x: Tensor, y: Tensor, z: Tensor, w: Tensor, power: float, rate: float, shrinkage: float
) -> Tensor:
    """``x + y + w * shrinkage - ((z + y**2)**power - z**power) * rate * w``."""


@joint(
    2,
    numpy=lambda np, x, y, power, rate, first, second: (
        (np.clip(x, -first, first) - x) / (np.power(y, power) * rate + second)
    ),
    glsl="(clamp(x, -first, first) - x) / (float_pow(y, power) * rate + second)",
    c="(vclamp(x, -first, first) - x) / (vpow(y, vset(power)) * rate + second)",
)
def follow_regularized_leader(
    x: Tensor, y: Tensor, power: float, rate: float, first: float, second: float
) -> Tensor:
    """``(clip(x, -first, first) - x) / (y**power * rate + second)``."""
