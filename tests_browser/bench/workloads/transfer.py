"""Between host and device."""

from __future__ import annotations

from typing import Any

import webtensor as wt
from tests_browser.bench.workload import Input, Timed, Workload

__all__ = ["TRANSFERS"]

FLOATS = Input((1_000_000,))


def upload(x: Any) -> wt.Tensor:
    """Make a tensor from host data, and use it: uploads happen at first use."""
    return wt.slice(wt.tensor(x), (0,), (1,))


TRANSFERS = [
    Workload(
        "upload",
        upload,
        "tf.tidy(() => tf.slice(tf.tensor1d(x), [0], [1]))",
        {"x": FLOATS},
        from_host=True,
    ),
    Workload(
        "read_back", lambda x: wt.add(x, 1.0), "tf.add(x, 1)", {"x": FLOATS}, timed=Timed.READ
    ),
]
