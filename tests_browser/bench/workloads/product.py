"""Matrix products, what is made of them, and factorizations."""

from __future__ import annotations

import webtensor as wt
from tests_browser.bench.workload import AND_NUMPY, CPU_FOR_WASM, SAME_BACKEND, Input, Workload

__all__ = ["PRODUCTS"]

SQUARE = Input((256, 256))
ROW = Input((256,))
STACK = Input((16, 128, 64))

#: Rows of the result, products that each number of it sums, columns.
SQUARES = [(n, n, n) for n in (64, 128, 256, 512, 1024)]
SKINNY = [(1, 1024, 1000), (197, 768, 3072)]
BESIDE_NUMPY = [(256, 256, 256), (512, 512, 512)]


def matmul(m: int, k: int, n: int) -> Workload:
    """Time the product of two matrices."""
    return Workload(
        "matmul",
        wt.matmul,
        "tf.matMul(a, b)",
        {"a": Input((m, k)), "b": Input((k, n))},
        peers=AND_NUMPY if (m, k, n) in BESIDE_NUMPY else SAME_BACKEND,
        numpy=lambda np, a, b: np.matmul(a, b),
        multiplications=m * k * n,
    )


PRODUCTS = [
    *(matmul(*sizes) for sizes in (*SQUARES, *SKINNY)),
    Workload(
        "matmul.transposed",
        lambda a, b: wt.matmul(a, b, False, True),
        "tf.matMul(a, b, false, true)",
        {"a": STACK, "b": STACK},
        multiplications=16 * 128 * 64 * 128,
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
        multiplications=256**3,
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
