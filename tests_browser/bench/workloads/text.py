"""Text, which both libraries keep on the host, and sparse tensors."""

from __future__ import annotations

from functools import partial

import webtensor as wt
from tests_browser.bench.workload import ONLY_WASM, Input, Workload

__all__ = ["TEXT"]

WORDS = 1000
#: The same words in Python and in JavaScript.
OUR_WORDS = [f"word {number} of {WORDS}" for number in range(WORDS)]
THEIR_WORDS = f"Array.from({{ length: {WORDS} }}, (_, place) => `word ${{place}} of {WORDS}`)"
ENTRIES = 10_000


def entries() -> wt.Tensor:
    """Return the indices of ones along the diagonal of a matrix, without every third."""
    rows = wt.arange(ENTRIES) * 3
    return wt.stack((rows, rows), 1)


TEXT = [
    Workload(
        "string.to_hash_bucket_fast",
        lambda: partial(wt.string.string_to_hash_bucket_fast, wt.tensor(OUR_WORDS), 1000),
        f"((words) => () => tf.string.stringToHashBucketFast(words, 1000))"
        f"(tf.tensor1d({THEIR_WORDS}))",
        {},
        described=f"{WORDS} texts",
        makes_step=True,
    ),
    Workload(
        "string.split",
        lambda: (lambda words: lambda: wt.string.string_split(words, " ").indices)(
            wt.tensor(OUR_WORDS)
        ),
        f"((words) => () => tf.tidy(() => tf.string.stringSplit(words, ' ').indices))"
        f"(tf.tensor1d({THEIR_WORDS}))",
        {},
        described=f"{WORDS} texts",
        makes_step=True,
    ),
    Workload(
        "string.n_grams",
        lambda: (
            lambda words, ends: (
                lambda: (
                    wt.string.string_n_grams(
                        words, ends, "|", (2, 3), "<", ">", -1, False
                    ).n_grams_splits
                )
            )
        )(wt.tensor(OUR_WORDS), wt.tensor([0, WORDS])),
        f"((words, ends) => () => tf.tidy(() => tf.string.stringNGrams("
        f"words, ends, '|', [2, 3], '<', '>', -1, false).nGramsSplits))"
        f"(tf.tensor1d({THEIR_WORDS}), tf.tensor1d([0, {WORDS}], 'int32'))",
        {},
        described=f"{WORDS} texts",
        makes_step=True,
    ),
    Workload(
        "sparse.segment_sum",
        lambda x, i: (lambda segments: lambda: wt.sparse.sparse_segment_sum(x, i, segments))(
            wt.floor_divide(wt.arange(1000), 10)
        ),
        "((segments) => () => tf.sparse.sparseSegmentSum(x, i, segments))"
        "(tf.tidy(() => tf.cast(tf.floorDiv(tf.range(0, 1000, 1, 'int32'), 10), 'int32')))",
        {"x": Input((1000, 1000)), "i": Input((1000,), 0, 1000, "int32")},
        makes_step=True,
    ),
    Workload(
        "sparse.to_dense",
        lambda x: (lambda indices: lambda: wt.sparse_to_dense(indices, x, (1_000_000,)))(
            wt.arange(ENTRIES) * 3
        ),
        f"((indices) => () => tf.sparseToDense(indices, x, [1000000]))"
        f"(tf.range(0, {3 * ENTRIES}, 3, 'int32'))",
        {"x": Input((ENTRIES,))},
        makes_step=True,
        peers=ONLY_WASM,
    ),
    Workload(
        "sparse.reshape",
        lambda: (
            lambda indices, old, new: (
                lambda: wt.sparse.sparse_reshape(indices, old, new).output_indices
            )
        )(entries(), wt.tensor([30_000, 30_000]), wt.tensor([15_000, 60_000])),
        f"((indices, old, shape) => () => tf.tidy(() => "
        f"tf.sparse.sparseReshape(indices, old, shape).outputIndices))"
        f"(tf.tidy(() => {{ const rows = tf.range(0, {3 * ENTRIES}, 3, 'int32');"
        f" return tf.stack([rows, rows], 1); }}),"
        f" tf.tensor1d([30000, 30000], 'int32'), tf.tensor1d([15000, 60000], 'int32'))",
        {},
        described=f"{ENTRIES} entries",
        makes_step=True,
    ),
    Workload(
        "sparse.fill_empty_rows",
        lambda x: (
            lambda indices, shape, filler: (
                lambda: wt.sparse.sparse_fill_empty_rows(indices, x, shape, filler).output_values
            )
        )(entries(), wt.tensor([30_000, 30_000]), wt.tensor(0.5)),
        f"((indices, shape, filler) => () => tf.tidy(() => "
        f"tf.sparse.sparseFillEmptyRows(indices, x, shape, filler).outputValues))"
        f"(tf.tidy(() => {{ const rows = tf.range(0, {3 * ENTRIES}, 3, 'int32');"
        f" return tf.stack([rows, rows], 1); }}),"
        f" tf.tensor1d([30000, 30000], 'int32'), tf.scalar(0.5))",
        {"x": Input((ENTRIES,))},
        makes_step=True,
    ),
]
