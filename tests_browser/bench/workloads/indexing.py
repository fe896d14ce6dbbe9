"""What finds, picks, puts and counts elements."""

from __future__ import annotations

from functools import partial

import webtensor as wt
from tests_browser.bench.workload import CPU_FOR_WASM, ONLY_NUMPY, ONLY_WASM, Input, Workload

__all__ = ["INDEXING"]

MILLION = Input((1000, 1000))
ROWS = Input((1000,), 0, 1000, "int32")
PAIRS = Input((100_000, 2), 0, 1000, "int32")
MANY = Input((100_000,))
FEW = Input((100_000,), 0, 1000, "int32")
MASK = Input((1000,), 0, 2, "bool")


async def first_of_difference(x: wt.Tensor, y: wt.Tensor) -> wt.Tensor:
    """Return what is in x and not in y, without the indices."""
    return (await wt.setdiff1d_async(x, y))[0]


INDEXING = [
    Workload("gather", wt.gather, "tf.gather(x, i)", {"x": MILLION, "i": ROWS}),
    Workload(
        "gather",
        lambda x, i: wt.gather(x, i, 1),
        "tf.gather(x, i, 1)",
        {"x": MILLION, "i": ROWS},
        described=f"{MILLION} {ROWS} axis 1",
    ),
    Workload("gather_nd", wt.gather_nd, "tf.gatherND(x, i)", {"x": MILLION, "i": PAIRS}),
    Workload(
        "scatter_nd",
        lambda i, x: wt.scatter_nd(i, x, (1000, 1000)),
        "tf.scatterND(i, x, [1000, 1000])",
        {"i": PAIRS, "x": MANY},
        peers=ONLY_WASM,
    ),
    Workload(
        "scatter_nd",
        lambda i, x: wt.scatter_nd(i, x, (300, 300)),
        "tf.scatterND(i, x, [300, 300])",
        {"i": Input((500, 2), 0, 300, "int32"), "x": Input((500,))},
    ),
    Workload(
        "tensor_scatter_update",
        wt.tensor_scatter_update,
        "tf.tensorScatterUpdate(x, i, y)",
        {"x": MILLION, "i": Input((1, 1), 7, 8, "int32"), "y": Input((1, 1000))},
    ),
    Workload(
        "unsorted_segment_sum",
        lambda x, i: wt.unsorted_segment_sum(x, i, 100),
        "tf.unsortedSegmentSum(x, i, 100)",
        {"x": MILLION, "i": Input((1000,), 0, 100, "int32")},
        peers=CPU_FOR_WASM,
    ),
    Workload(
        "one_hot",
        lambda i: wt.one_hot(i, 1000),
        "tf.oneHot(i, 1000)",
        {"i": ROWS},
    ),
    Workload(
        "topk",
        lambda x: wt.topk(x, 10).values,
        "tf.tidy(() => tf.topk(x, 10).values)",
        {"x": MILLION},
        described=f"{MILLION} 10 of each row",
    ),
    Workload(
        "topk",
        lambda x: wt.topk(x, 100_000).values,
        "tf.tidy(() => tf.topk(x, 100000).values)",
        {"x": MANY},
        described=f"{MANY} all, which sorts",
    ),
    Workload(
        "sort",
        wt.sort,
        "",  # theirs has no such function
        {"x": Input((1_000_000,))},
        peers=ONLY_NUMPY,
        numpy=lambda np, x: np.sort(x),
    ),
    Workload(
        "unique", lambda x: wt.unique(x).values, "tf.tidy(() => tf.unique(x).values)", {"x": FEW}
    ),
    Workload(
        "bincount",
        lambda i, w: wt.bincount(i, w, 1000),
        "tf.bincount(i, w, 1000)",
        {"i": FEW, "w": Input((100_000,), 1, 2)},
    ),
    Workload(
        "lower_bound",
        lambda x: partial(wt.lower_bound, wt.arange(100_000, dtype="float32"), x),
        "((steps) => () => tf.lowerBound(steps, x))(tf.range(0, 100000, 1, 'float32'))",
        {"x": Input((100_000,), 0, 100_000)},
        makes_step=True,
    ),
    Workload(
        "in_top_k",
        lambda x, i: wt.in_top_k_async(x, i, 5),
        "tf.inTopKAsync(x, i, 5)",
        {"x": MILLION, "i": ROWS},
        awaited=True,
    ),
    Workload(
        "where_async",
        wt.where_async,
        "tf.whereAsync(x)",
        {"x": Input((300, 1000), 0, 2, "bool")},
        awaited=True,
    ),
    Workload(
        "boolean_mask",
        wt.boolean_mask_async,
        "tf.booleanMaskAsync(x, mask)",
        {"x": MILLION, "mask": MASK},
        awaited=True,
    ),
    Workload(
        "setdiff1d",
        first_of_difference,
        "tf.setdiff1dAsync(x, y).then(([values, indices]) => (indices.dispose(), values))",
        {"x": FEW, "y": Input((1000,), 0, 500, "int32")},
        awaited=True,
    ),
]
