"""Reductions, scans, and what normalizes by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import webtensor as wt
from tests_browser.bench.workload import AND_NUMPY, Input, Workload

__all__ = ["REDUCTIONS"]

MILLION = Input((1000, 1000))
POSITIVE = Input((1000, 1000), 0.5, 1.5)
BOOLS = Input((1000, 1000), 0, 2, "bool")
NEAR_ONE = Input((1000, 1000), 0.99, 1.01)
ACTIVATIONS = Input((16, 32, 32, 64))
CHANNELS = Input((64,), 0.5, 1.5)


def reduction(
    name: str,
    function: Callable[..., wt.Tensor],
    theirs: str,
    axis: int | None = None,
    x: Input = POSITIVE,
    **options: Any,
) -> Workload:
    """Time a reduction over all elements or along one axis."""
    return Workload(
        f"reduction.{name}",
        lambda x: function(x, axis=axis),
        f"tf.{theirs}(x, {'null' if axis is None else axis})",
        {"x": x},
        described=f"{x} {'all axes' if axis is None else f'axis {axis}'}",
        tolerance=1e-3,
        **options,
    )


def scan(name: str, x: Input, axis: int) -> Workload:
    """Time a running sum or product."""
    return Workload(
        f"scan.{name}",
        lambda x: getattr(wt, name)(x, axis),
        f"tf.{name}(x, {axis})",
        {"x": x},
        described=f"{x} axis {axis}",
    )


REDUCTIONS = [
    reduction("sum", wt.sum, "sum", peers=AND_NUMPY, numpy=lambda np, x: np.sum(x)),
    reduction("sum", wt.sum, "sum", axis=0),
    reduction("sum", wt.sum, "sum", axis=1),
    reduction("mean", wt.mean, "mean"),
    reduction("max", wt.max, "max"),
    reduction("min", wt.min, "min", axis=0),
    reduction("prod", wt.prod, "prod", x=Input((1000, 1000), 0.999, 1.001)),
    reduction("any", wt.any, "any", axis=1, x=BOOLS),
    reduction("all", wt.all, "all", axis=0, x=BOOLS),
    reduction("argmax", wt.argmax, "argMax", axis=0),
    reduction("argmax", wt.argmax, "argMax", axis=1),
    reduction("all", wt.all, "all", axis=1, x=Input((20_000, 5), 0, 2, "bool")),
    reduction("argmax", wt.argmax, "argMax", axis=1, x=Input((20_000, 5), 0, 100, "int32")),
    reduction("mean", wt.mean, "mean", axis=1, x=Input((31, 33, 35), 0.5, 1.5)),
    reduction("log_sum_exp", wt.log_sum_exp, "logSumExp", axis=1),
    Workload("reduction.norm", wt.norm, "tf.norm(x)", {"x": MILLION}, tolerance=1e-3),
    Workload(
        "reduction.moments",
        lambda x: wt.moments(x, 0).variance,
        "tf.tidy(() => tf.moments(x, 0).variance)",
        {"x": MILLION},
    ),
    scan("cumsum", MILLION, 1),
    scan("cumsum", MILLION, 0),
    scan("cumprod", NEAR_ONE, 1),
    Workload("normalizing.softmax", wt.softmax, "tf.softmax(x)", {"x": MILLION}),
    Workload("normalizing.log_softmax", wt.log_softmax, "tf.logSoftmax(x)", {"x": MILLION}),
    Workload(
        "normalizing.batch_norm",
        wt.batch_norm,
        "tf.batchNorm(x, mean, variance, offset, scale)",
        {
            "x": ACTIVATIONS,
            "mean": CHANNELS,
            "variance": CHANNELS,
            "offset": CHANNELS,
            "scale": CHANNELS,
        },
    ),
    Workload(
        "normalizing.local_response_normalization",
        wt.local_response_normalization,
        "tf.localResponseNormalization(x)",
        {"x": ACTIVATIONS},
    ),
]
