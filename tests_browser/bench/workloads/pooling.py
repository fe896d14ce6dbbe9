"""Pools and their gradients."""

from __future__ import annotations

import webtensor as wt
from tests_browser.bench.workload import Input, Workload

__all__ = ["POOLING"]

# Their pools of volumes and gradients of pools take 0 for less than any number.
IMAGES = Input((4, 64, 64, 64), 0.0, 1.0)
VOLUME = Input((1, 32, 64, 64, 8), 0.0, 1.0)


def pool(name: str, theirs: str, x: Input, size: int, stride: int) -> Workload:
    """Time a pooling of windows of one length along each axis."""
    function = getattr(wt, name)
    return Workload(
        f"pooling.{name}",
        lambda x: function(x, size, stride, "same"),
        f"tf.{theirs}(x, {size}, {stride}, 'same')",
        {"x": x},
        described=f"{x} window {size} stride {stride}",
    )


def gradient(name: str, theirs: str, x: Input) -> Workload:
    """Time a pooling of windows of length 2 and its gradient."""
    function = getattr(wt, name)
    return Workload(
        f"pooling.{name}.gradient",
        wt.grad(lambda x: function(x, 2, 2, "valid")),
        f"tf.tidy(() => tf.grad((x) => tf.{theirs}(x, 2, 2, 'valid'))(x))",
        {"x": x},
    )


POOLING = [
    pool("max_pool", "maxPool", IMAGES, 2, 2),
    pool("max_pool", "maxPool", IMAGES, 3, 2),
    pool("avg_pool", "avgPool", IMAGES, 2, 2),
    pool("avg_pool", "avgPool", IMAGES, 3, 1),
    pool("max_pool3d", "maxPool3d", VOLUME, 2, 2),
    pool("avg_pool3d", "avgPool3d", VOLUME, 2, 2),
    gradient("max_pool", "maxPool", IMAGES),
    gradient("avg_pool", "avgPool", IMAGES),
    gradient("max_pool3d", "maxPool3d", VOLUME),
    gradient("avg_pool3d", "avgPool3d", VOLUME),
]
