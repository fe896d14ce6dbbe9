"""What a call costs besides arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import webtensor as wt
from tests_browser.bench.workload import AND_CPU, Input, Timed, Workload

__all__ = ["OVERHEAD"]

TINY = Input((4, 4))


def overhead(
    name: str, ours: Callable[..., wt.Tensor], theirs: str, inputs: Mapping[str, Input]
) -> Workload:
    """Time an op on 4×4 tensors until the browser has its commands."""
    return Workload(f"overhead.{name}", ours, theirs, inputs, timed=Timed.ENQUEUE, peers=AND_CPU)


OVERHEAD = [
    overhead("add", wt.add, "tf.add(a, b)", {"a": TINY, "b": TINY}),
    overhead("relu", wt.relu, "tf.relu(x)", {"x": TINY}),
    overhead("matmul", wt.matmul, "tf.matMul(a, b)", {"a": TINY, "b": TINY}),
    overhead("sum", wt.sum, "tf.sum(x)", {"x": TINY}),
    overhead("softmax", wt.softmax, "tf.softmax(x)", {"x": TINY}),
]
