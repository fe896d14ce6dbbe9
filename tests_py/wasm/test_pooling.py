"""Pooling, against plain indexing."""

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, call
from tests_py.wasm.windows import WINDOWS, patches
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.geometry import Window

pytestmark = pytest.mark.parametrize("window", WINDOWS, ids=str)


def same_channels(window: Window) -> tuple[Window, tuple[int, ...], tuple[int, ...]]:
    """The window for pooling, and the shapes of its input and output."""
    window = window._replace(out_channels=window.in_channels)
    return window, (*window[:4],), (window.batch, *window[4:7])


def few_values(shape: tuple[int, ...], special: bool = False) -> Array:
    """Small integers, so that many are equal; NaN and infinities among them if wanted."""
    random = np.random.default_rng(1)
    x = random.integers(-3, 4, shape).astype(np.float32)
    if special:
        flat = x.reshape(-1)
        for value in (np.nan, np.inf, -np.inf):
            flat[random.integers(0, x.size, max(1, x.size // 8))] = value
    return x


def first_greatest(x: Array, window: Window) -> tuple[Array, Array]:
    """One-hot (…, filter_height, filter_width, channels) of the first maximum, and patches."""
    taken, _ = patches(x, window, -np.inf)
    inside, _ = patches(np.ones_like(x), window)
    ranks = np.where(np.isnan(taken), np.inf, np.clip(taken, -1e30, 1e30))
    ranks = np.where(inside == 0, -np.inf, ranks)
    flat = ranks.reshape(*ranks.shape[:3], -1, ranks.shape[5])
    hot = np.arange(flat.shape[3])[:, None] == flat.argmax(axis=3)[:, :, :, None]
    hot &= inside.reshape(flat.shape) > 0
    return hot.reshape(taken.shape), taken


@pytest.mark.parametrize("special", [False, True])
def test_max_pool(wasm: WasmBackend, window: Window, special: bool) -> None:
    window, x_shape, y_shape = same_channels(window)
    x = few_values(x_shape, special)
    got = call(wasm, "max_pool", [x], y_shape, "float32", window)
    taken, _ = patches(x, window, -np.inf)
    np.testing.assert_array_equal(got, taken.max(axis=(3, 4)))


@pytest.mark.parametrize("special", [False, True])
def test_max_pool_scatter_and_pick(wasm: WasmBackend, window: Window, special: bool) -> None:
    window, x_shape, y_shape = same_channels(window)
    x = few_values(x_shape, special)
    random = np.random.default_rng(2)
    dy = random.standard_normal(y_shape).astype(np.float32)
    values = random.standard_normal(x_shape).astype(np.float32)
    hot, _ = first_greatest(x, window)
    cells, give = patches(values, window)

    got = call(wasm, "max_pool_scatter", [dy, x], x_shape, "float32", window)
    np.testing.assert_allclose(got, give(hot * dy[:, :, :, None, None]), rtol=1e-5, atol=1e-6)
    got = call(wasm, "max_pool_pick", [values, x], y_shape, "float32", window)
    np.testing.assert_allclose(got, np.where(hot, cells, 0).sum(axis=(3, 4)), rtol=1e-6)


def test_avg_pool_and_its_transpose(wasm: WasmBackend, window: Window) -> None:
    window, x_shape, y_shape = same_channels(window)
    random = np.random.default_rng(3)
    x = random.standard_normal(x_shape).astype(np.float32)
    dy = random.standard_normal(y_shape).astype(np.float32)
    taken, give = patches(x, window)
    inside, _ = patches(np.ones_like(x), window)
    with np.errstate(all="ignore"):
        count = inside.sum(axis=(3, 4))
        mean = taken.sum(axis=(3, 4)) / count
        share = inside * (dy / count)[:, :, :, None, None]

    got = call(wasm, "avg_pool", [x], y_shape, "float32", window)
    np.testing.assert_allclose(got, mean, rtol=1e-5, atol=1e-6)
    got = call(wasm, "avg_pool_gradient", [dy], x_shape, "float32", window)
    np.testing.assert_allclose(got, give(np.nan_to_num(share)), rtol=1e-5, atol=1e-6)
