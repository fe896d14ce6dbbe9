"""What makes tensors of numbers alone: sequences, windows, the identity."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import webtensor as wt
from tests_browser.bench.workload import CPU_FOR_WASM, SINES, Workload

__all__ = ["CREATION"]

MILLION = 1_000_000
#: Theirs adds the step up in float32, a million times.
ADDED_UP = 0.02


def creation(
    name: str,
    ours: Callable[[], wt.Tensor],
    theirs: str,
    size: str = str(MILLION),
    **options: Any,
) -> Workload:
    """Time a function that takes no tensors."""
    return Workload(name, ours, theirs, {}, described=size, **options)


CREATION = [
    creation("arange", lambda: wt.arange(0.0, MILLION), f"tf.range(0, {MILLION})", "float32"),
    creation("arange", lambda: wt.arange(MILLION), f"tf.range(0, {MILLION}, 1, 'int32')", "int32"),
    creation(
        "linspace",
        lambda: wt.linspace(-pi, pi, MILLION),
        f"tf.linspace({-pi}, {pi}, {MILLION})",
        tolerance=ADDED_UP,
    ),
    creation("eye", lambda: wt.eye(1000), "tf.eye(1000)", "1000x1000"),
    creation(
        "hann_window",
        lambda: wt.signal.hann_window(MILLION),
        f"tf.signal.hannWindow({MILLION})",
        tolerance=SINES,
    ),
    creation(
        "ragged_range",
        lambda: wt.ragged_range(0.0, [1000.0] * 1000, 1.0).rt_dense_values,
        "tf.raggedRange(tf.scalar(0), tf.fill([1000], 1000), tf.scalar(1)).rtDenseValues",
        "1000 rows of 1000",
        peers=CPU_FOR_WASM,
    ),
]
