"""Matrix products, what is made of them, and factorizations."""

from __future__ import annotations

import webtensor as wt
from tests_browser.bench.workload import CPU_FOR_WASM, Input, Workload

__all__ = ["PRODUCTS"]

SQUARE = Input((256, 256))
ROW = Input((256,))
STACK = Input((16, 128, 64))

PRODUCTS = [
    *(
        Workload("matmul", wt.matmul, "tf.matMul(a, b)", {"a": Input((n, n)), "b": Input((n, n))})
        for n in (128, 256, 512, 1024)
    ),
    Workload(
        "matmul.transposed",
        lambda a, b: wt.matmul(a, b, False, True),
        "tf.matMul(a, b, false, true)",
        {"a": STACK, "b": STACK},
    ),
    Workload(
        "matmul.vector",
        wt.matmul,
        "tf.matMul(a, b)",
        {"a": Input((1, 1000)), "b": Input((1000, 1000))},
    ),
    Workload(
        "matmul.gradient",
        lambda a, b: wt.grads(wt.matmul)(a, b)[1],
        "tf.tidy(() => tf.grads((a, b) => tf.matMul(a, b))([a, b])[1])",
        {"a": SQUARE, "b": SQUARE},
    ),
    Workload(
        "matmul.fused",
        lambda a, b, bias: wt.fused.mat_mul(a, b, bias=bias, activation="relu"),
        "tf.fused.matMul({ a, b, bias, activation: 'relu' })",
        {"a": SQUARE, "b": SQUARE, "bias": ROW},
    ),
    Workload(
        "einsum",
        lambda a, b: wt.einsum("bij,bkj->bik", a, b),
        "tf.einsum('bij,bkj->bik', a, b)",
        {"a": STACK, "b": STACK},
        peers=CPU_FOR_WASM,
    ),
    Workload(
        "linalg.qr",
        lambda x: wt.abs(wt.linalg.qr(x).R),
        "tf.tidy(() => tf.abs(tf.linalg.qr(x)[1]))",
        {"x": Input((24, 16))},
    ),
    Workload(
        "linalg.band_part",
        lambda x: wt.linalg.band_part(x, 10, 10),
        "tf.linalg.bandPart(x, 10, 10)",
        {"x": Input((1000, 1000))},
    ),
]
