"""Patches of images and volumes, flattened into channels."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import int32
from webtensor.engine import Tensor
from webtensor.geometry import positive_integers

__all__ = ["windows"]


def windows(
    name: str,
    x: Tensor,
    size: int | Sequence[int],
    strides: int | Sequence[int] | None,
    dilation_rate: int | Sequence[int],
    padding: str,
) -> Tensor:
    """Return the windows of (batch, spatial…, channels).

    The result has shape (batch, windows…, window size × channels).
    """
    rank = len(x.shape) - 2
    sizes = positive_integers(name, "size", size, rank)
    steps = sizes if strides is None else positive_integers(name, "strides", strides, rank)
    dilations = positive_integers(name, "dilation_rate", dilation_rate, rank)
    check_choice(name, "padding", padding, ("same", "valid"))
    counts = []
    for number, (window_size, step, dilation) in enumerate(
        zip(sizes, steps, dilations, strict=True)
    ):
        # Each axis before this one has become two: the windows, and the elements of a window.
        axis = 1 + 2 * number
        axis_size = x.shape[axis]
        span = (window_size - 1) * dilation + 1
        count = max((axis_size - span) // step + 1, 0)
        if padding == "same":
            count = -(-axis_size // step)
            missing = max((count - 1) * step + span - axis_size, 0)
            paddings = [[0, 0] for _ in x.shape]
            paddings[axis] = [missing // 2, missing - missing // 2]
            x = wt.pad(x, paddings)
        indices = [
            [start * step + offset * dilation for offset in range(window_size)]
            for start in range(count)
        ]
        x = wt.gather(x, wt.tensor(indices, (count, window_size), int32), axis)
        counts.append(count)
    outer = [1 + 2 * number for number in range(rank)]
    inner = [2 + 2 * number for number in range(rank)]
    x = wt.permute_dims(x, [0, *outer, *inner, 1 + 2 * rank])
    return wt.reshape(x, (x.shape[0], *counts, prod(sizes) * x.shape[-1]))
