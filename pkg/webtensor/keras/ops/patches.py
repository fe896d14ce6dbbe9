"""Windows of images and volumes, each as channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import int32

__all__ = ["lengths_of", "windows"]


def lengths_of(name: str, argument: str, value: Any, rank: int) -> tuple[int, ...]:
    """Return a length, or one for each of the axes, as a tuple."""
    if isinstance(value, int):
        return (value,) * rank
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(f"{name}: {argument} must be an integer or {rank}, but got {value!r}")
    if len(value) != rank or not all(isinstance(one, int) for one in value):
        raise ValueError(f"{name}: {argument} must be an integer or {rank}, but got {value!r}")
    return tuple(value)


def windows(name: str, x: Any, size: Any, strides: Any, dilation_rate: Any, padding: str) -> Any:
    """Return the windows of (batch, places…, channels) as (batch, windows…, places × channels)."""
    rank = len(x.shape) - 2
    size = lengths_of(name, "size", size, rank)
    steps = size if strides is None else lengths_of(name, "strides", strides, rank)
    far = lengths_of(name, "dilation_rate", dilation_rate, rank)
    if padding not in ("same", "valid"):
        raise ValueError(f"{name}: padding must be 'same' or 'valid', but got {padding!r}")
    for argument, numbers in (("size", size), ("strides", steps), ("dilation_rate", far)):
        if min(numbers) < 1:
            raise ValueError(f"{name}: {argument} must be positive, but got {numbers}")
    counts = []
    for number in range(rank):
        # Axes before this one are two already: that of windows and that within them.
        axis, length, step = 1 + 2 * number, x.shape[1 + 2 * number], steps[number]
        reach = (size[number] - 1) * far[number] + 1
        before = 0
        count = (length - reach) // step + 1
        if padding == "same":
            count = -(-length // step)
            missing = max((count - 1) * step + reach - length, 0)
            before = missing // 2
            pairs = [[0, 0] for _ in x.shape]
            pairs[axis] = [before, missing - before]
            x = wt.pad(x, pairs)
        places = [
            [start * step + place * far[number] for place in range(size[number])]
            for start in range(max(count, 0))
        ]
        x = wt.gather(x, wt.tensor(places, (max(count, 0), size[number]), int32), axis)
        counts.append(max(count, 0))
    outer = [1 + 2 * number for number in range(rank)]
    inner = [2 + 2 * number for number in range(rank)]
    x = wt.permute_dims(x, [0, *outer, *inner, 1 + 2 * rank])
    depth = x.shape[-1]
    for one in size:
        depth *= one
    return wt.reshape(x, (x.shape[0], *counts, depth))
