"""The elementwise table: rounding to the numbers that integers of a few bits stand for.

For models whose tensors are quantized: ``x`` is a float32 tensor, and the parameters are floats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webtensor.ops.elementwise import joint

if TYPE_CHECKING:
    from webtensor.engine import Tensor

__all__ = ["rounded_steps"]


@joint(
    1,
    numpy=lambda np, x, factor, low, high, scale: np.clip(np.round(x * factor), low, high) * scale,
    glsl="min(max(roundEven(x * factor), low), high) * scale",
    c="vmin(vmax(vround(x * factor), vset(low)), vset(high)) * scale",
    steady=True,
)
def rounded_steps(x: Tensor, factor: float, low: float, high: float, scale: float) -> Tensor:
    """``clip(round(x * factor), low, high) * scale``."""
