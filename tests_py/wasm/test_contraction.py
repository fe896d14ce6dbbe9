"""Matrix products and convolutions, against NumPy in double precision."""

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, call
from tests_py.wasm.windows import WINDOWS, patches
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.geometry import MatmulSizes, Window


def normal(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(got: Array, want: Array, terms: int) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-6 * terms**0.5)


def multiply(wasm: WasmBackend, sizes: MatmulSizes, dtype: str = "float32") -> None:
    batch, m, k, n, transpose_a, transpose_b, a_batched, b_batched = sizes
    a = normal((batch if a_batched else 1, *((k, m) if transpose_a else (m, k))), 1)
    b = normal((batch if b_batched else 1, *((n, k) if transpose_b else (k, n))), 2)
    if dtype == "int32":
        a, b = (a * 2**20).astype(np.int32), (b * 2**20).astype(np.int32)
        left, right = a, b
    else:
        left, right = a.astype(np.float64), b.astype(np.float64)
    left = left.swapaxes(1, 2) if transpose_a else left
    right = right.swapaxes(1, 2) if transpose_b else right
    with np.errstate(all="ignore"):
        want = np.broadcast_to(left @ right, (batch, m, n))
    got = call(wasm, "matmul", [a, b], (batch, m, n), dtype, sizes)
    if dtype == "int32":
        np.testing.assert_array_equal(got, want)
    else:
        check(got, want, k)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_matmul_of_odd_sizes(
    wasm: WasmBackend, transpose_a: bool, transpose_b: bool, seed: int
) -> None:
    random = np.random.default_rng(seed)
    for _ in range(12):
        m, k, n = (int(size) for size in random.integers(1, 68, 3))
        multiply(wasm, MatmulSizes(1, m, k, n, transpose_a, transpose_b, False, False))


@pytest.mark.parametrize("size", range(1, 68))
def test_matmul_of_every_size(wasm: WasmBackend, size: int) -> None:
    multiply(wasm, MatmulSizes(1, size, 19, 13, False, False, False, False))
    multiply(wasm, MatmulSizes(1, 7, size, 9, False, True, False, False))
    multiply(wasm, MatmulSizes(1, 11, 5, size, True, False, False, False))


@pytest.mark.parametrize(
    "shape",
    [(1, 1024, 100), (100, 1024, 1), (97, 257, 1030), (200, 513, 40), (1, 5, 3000)],
    ids=str,
)
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_matmul_across_cache_blocks(
    wasm: WasmBackend, shape: tuple[int, int, int], transpose_a: bool, transpose_b: bool
) -> None:
    multiply(wasm, MatmulSizes(1, *shape, transpose_a, transpose_b, False, False))


@pytest.mark.parametrize("a_batched", [False, True])
@pytest.mark.parametrize("b_batched", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_batched_matmul(wasm: WasmBackend, a_batched: bool, b_batched: bool, dtype: str) -> None:
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            sizes = MatmulSizes(3, 5, 6, 7, transpose_a, transpose_b, a_batched, b_batched)
            multiply(wasm, sizes, dtype)


def test_matmul_carries_nan_and_infinity(wasm: WasmBackend) -> None:
    a, b = normal((5, 6), 1), normal((6, 9), 2)
    a[1, 2], a[3, 3] = np.nan, np.inf
    sizes = MatmulSizes(1, 5, 6, 9, False, False, False, False)
    got = call(wasm, "matmul", [a, b], (5, 9), "float32", sizes)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_conv2d_and_its_transposes(wasm: WasmBackend, window: Window) -> None:
    x_shape = (window.batch, window.in_height, window.in_width, window.in_channels)
    y_shape = (window.batch, window.out_height, window.out_width, window.out_channels)
    filter_shape = (*window[7:9], window.in_channels, window.out_channels)
    x, filter, dy = normal(x_shape, 1), normal(filter_shape, 2), normal(y_shape, 3)
    taken, give = patches(x.astype(np.float64), window)

    got = call(wasm, "conv2d", [x, filter], y_shape, "float32", window)
    check(got, np.einsum("bijhwc,hwco->bijo", taken, filter), filter[..., 0].size)

    got = call(wasm, "conv2d_input_gradient", [dy, filter], x_shape, "float32", window)
    check(got, give(np.einsum("bijo,hwco->bijhwc", dy, filter)), filter[:, :, 0].size)

    got = call(wasm, "conv2d_filter_gradient", [x, dy], filter_shape, "float32", window)
    check(got, np.einsum("bijhwc,bijo->hwco", taken, dy), dy[..., 0].size)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("multiplier", [1, 2, 3])
def test_depthwise_conv2d_and_its_transposes(
    wasm: WasmBackend, window: Window, multiplier: int
) -> None:
    window = window._replace(out_channels=window.in_channels * multiplier)
    x_shape = (window.batch, window.in_height, window.in_width, window.in_channels)
    y_shape = (window.batch, window.out_height, window.out_width, window.out_channels)
    filter_shape = (*window[7:9], window.in_channels, multiplier)
    x, filter, dy = normal(x_shape, 1), normal(filter_shape, 2), normal(y_shape, 3)
    split = dy.reshape(*y_shape[:3], window.in_channels, multiplier)
    taken, give = patches(x.astype(np.float64), window)

    got = call(wasm, "depthwise_conv2d", [x, filter], y_shape, "float32", window)
    want = np.einsum("bijhwc,hwcm->bijcm", taken, filter).reshape(y_shape)
    check(got, want, filter[:, :, 0, 0].size)

    got = call(wasm, "depthwise_conv2d_input_gradient", [dy, filter], x_shape, "float32", window)
    check(got, give(np.einsum("bijcm,hwcm->bijhwc", split, filter)), filter[:, :, 0].size)

    got = call(wasm, "depthwise_conv2d_filter_gradient", [x, dy], filter_shape, "float32", window)
    check(got, np.einsum("bijhwc,bijcm->hwcm", taken, split), dy[..., 0].size)
