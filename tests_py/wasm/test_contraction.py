"""Matrix products and convolutions, against NumPy in double precision."""

import numpy as np
import pytest

import webtensor as wt
from tests_py.wasm.kernels import Array, call
from tests_py.wasm.windows import WINDOWS, make, patches, shapes, taps
from webtensor.backends.wasm import packed_weights
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.geometry import Padding, Window
from webtensor.matmul_sizes import MatmulSizes
from webtensor.ops.elementwise import ROWS

#: Weights are packed when they are used for the second time.
PACKED = 2


def normal(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(got: Array, expected: Array, terms: int) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=2e-6 * terms**0.5)


@pytest.fixture(autouse=True)
def small_weights_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_weights, "_MIN_SIZE", 1)


def multiply(wasm: WasmBackend, sizes: MatmulSizes, dtype: str = "float32", times: int = 1) -> None:
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
        expected = np.broadcast_to(left @ right, (batch, m, n))
    got = call(wasm, "matmul", [a, b], (batch, m, n), dtype, sizes, times=times)
    if dtype == "int32":
        np.testing.assert_array_equal(got, expected)
    else:
        check(got, expected, k)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("times", [1, PACKED])
@pytest.mark.parametrize("seed", range(4))
def test_matmul_of_odd_sizes(
    wasm: WasmBackend, transpose_a: bool, transpose_b: bool, times: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    for _ in range(12):
        m, k, n = (int(size) for size in random.integers(1, 68, 3))
        sizes = MatmulSizes(1, m, k, n, transpose_a, transpose_b, False, False)
        multiply(wasm, sizes, times=times)


@pytest.mark.parametrize("times", [1, PACKED])
@pytest.mark.parametrize("size", range(1, 68))
def test_matmul_of_every_size(wasm: WasmBackend, size: int, times: int) -> None:
    multiply(wasm, MatmulSizes(1, size, 19, 13, False, False, False, False), times=times)
    multiply(wasm, MatmulSizes(1, 7, size, 9, False, True, False, False), times=times)
    multiply(wasm, MatmulSizes(1, 11, 5, size, True, False, False, False), times=times)


@pytest.mark.parametrize(
    "shape",
    [(1, 1024, 100), (100, 1024, 1), (97, 257, 1030), (200, 513, 40), (1, 5, 3000), (700, 20, 30)],
    ids=str,
)
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("times", [1, PACKED])
def test_matmul_across_cache_blocks(
    wasm: WasmBackend,
    shape: tuple[int, int, int],
    transpose_a: bool,
    transpose_b: bool,
    times: int,
) -> None:
    sizes = MatmulSizes(1, *shape, transpose_a, transpose_b, False, False)
    multiply(wasm, sizes, times=times)


@pytest.mark.parametrize("columns", [2, 3, 4, 9, 10, 11, 12])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("times", [1, PACKED])
def test_matmul_with_a_narrow_rest(
    wasm: WasmBackend, columns: int, transpose_b: bool, times: int
) -> None:
    for rows in (15, 16, 17, 18, 98):
        for depth in (31, 32, 33, 34, 255, 256, 257, 1030):
            sizes = MatmulSizes(1, rows, depth, columns, False, transpose_b, False, False)
            multiply(wasm, sizes, times=times)


def test_matmul_with_a_narrow_rest_reads_no_other_row(wasm: WasmBackend) -> None:
    a, b = normal((20, 33), 1), normal((33, 3), 2)
    a[::2] = np.nan
    got = call(wasm, "matmul", [a, b], (20, 3), "float32", MatmulSizes(1, 20, 33, 3, *[False] * 4))
    assert np.isnan(got[::2]).all()
    np.testing.assert_allclose(got[1::2], a[1::2] @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("a_batched", [False, True])
@pytest.mark.parametrize("b_batched", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_batched_matmul(wasm: WasmBackend, a_batched: bool, b_batched: bool, dtype: str) -> None:
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            sizes = MatmulSizes(3, 5, 22, 23, transpose_a, transpose_b, a_batched, b_batched)
            multiply(wasm, sizes, dtype)


def test_matmul_carries_nan_and_infinity(wasm: WasmBackend) -> None:
    a, b = normal((5, 6), 1), normal((6, 9), 2)
    a[1, 2], a[3, 3] = np.nan, np.inf
    sizes = MatmulSizes(1, 5, 6, 9, False, False, False, False)
    got = call(wasm, "matmul", [a, b], (5, 9), "float32", sizes)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, a @ b, rtol=1e-4, atol=1e-5)


def convolve(wasm: WasmBackend, window: Window, times: int = 1) -> None:
    x_shape, filter_shape, y_shape = shapes(window)
    x, filter = normal(x_shape, 1), normal(filter_shape, 2)
    taken, _ = patches(x.astype(np.float64), window)
    got = call(wasm, "conv2d", [x, filter], y_shape, "float32", window, times=times)
    check(got, np.einsum("bijhwc,hwco->bijo", taken, filter), filter[..., 0].size)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_conv2d_with_a_packed_filter(wasm: WasmBackend, window: Window) -> None:
    convolve(wasm, window, PACKED)


@pytest.mark.parametrize("times", [1, PACKED])
@pytest.mark.parametrize("size", range(1, 68))
def test_conv2d_of_every_size(wasm: WasmBackend, size: int, times: int) -> None:
    stride = 1 + size % 2
    convolve(wasm, make((1, 4, size, 3), 1 + size % 9, (3, 3), stride), times)
    convolve(wasm, make((1, 3, 5, 3), size, (2, 3), stride, "valid"), times)
    convolve(wasm, make((2, 3, 3, size), 5, (1, 1)), times)
    convolve(wasm, make((1, 3, 3, size), 21, (3, 3), 1, "valid"), times)


GROUPED = [*WINDOWS, make((2, 9, 10, 16), 20, (3, 3)), make((1, 5, 6, 17), 9, (1, 1))]


@pytest.mark.parametrize("window", GROUPED, ids=str)
@pytest.mark.parametrize("times", [1, PACKED])
def test_conv2d_in_groups(wasm: WasmBackend, window: Window, times: int) -> None:
    groups, depth, width = 3, window.in_channels, window.out_channels
    window = window._replace(in_channels=groups * depth, out_channels=groups * width)
    x_shape, (*size, _, channels), y_shape = shapes(window)
    filter_shape = (*size, depth, channels)
    x, filter, dy = normal(x_shape, 1), normal(filter_shape, 2), normal(y_shape, 3)
    taken, give = patches(x.astype(np.float64), window)
    taken = taken.reshape(*taken.shape[:5], groups, depth)
    filters = filter.reshape(*filter_shape[:3], groups, width)
    of_groups = dy.reshape(*y_shape[:3], groups, width)

    got = call(wasm, "conv2d", [x, filter], y_shape, "float32", window, times=times)
    y = np.einsum("bijhwgc,hwcgo->bijgo", taken, filters).reshape(y_shape)
    check(got, y, filter[..., 0].size)

    got = call(wasm, "conv2d_input_gradient", [dy, filter], x_shape, "float32", window)
    dx = np.einsum("bijgo,hwcgo->bijhwgc", of_groups, filters)
    check(got, give(dx.reshape(*dx.shape[:5], groups * depth)), filter[:, :, 0].size)

    got = call(wasm, "conv2d_filter_gradient", [x, dy], filter_shape, "float32", window)
    weights = np.einsum("bijhwgc,bijgo->hwcgo", taken, of_groups)
    check(got, weights.reshape(filter_shape), dy[..., 0].size)


def test_filters_are_packed_anew_for_groups() -> None:
    wt.set_backend("wasm")
    x, filter = normal((1, 4, 4, 8), 1), normal((1, 1, 4, 24), 2)
    tensors = wt.tensor(x), wt.tensor(x[..., :4]), wt.tensor(filter)
    for _ in range(PACKED + 1):
        np.testing.assert_allclose(
            wt.conv2d(tensors[1], tensors[2]).numpy(), x[..., :4] @ filter[0, 0], rtol=1e-4
        )
        halves = np.concatenate(
            [x[..., :4] @ filter[0, 0, :, :12], x[..., 4:] @ filter[0, 0, :, 12:]], -1
        )
        np.testing.assert_allclose(wt.conv2d(tensors[0], tensors[2]).numpy(), halves, rtol=1e-4)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_conv2d_and_its_transposes(wasm: WasmBackend, window: Window) -> None:
    x_shape, filter_shape, y_shape = shapes(window)
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
    expected = np.einsum("bijhwc,hwcm->bijcm", taken, filter).reshape(y_shape)
    check(got, expected, filter[:, :, 0, 0].size)

    got = call(wasm, "depthwise_conv2d_input_gradient", [dy, filter], x_shape, "float32", window)
    check(got, give(np.einsum("bijcm,hwcm->bijhwc", split, filter)), filter[:, :, 0].size)

    got = call(wasm, "depthwise_conv2d_filter_gradient", [x, dy], filter_shape, "float32", window)
    check(got, np.einsum("bijhwc,bijcm->hwcm", taken, split), dy[..., 0].size)


# Three, five and seven columns have loops of their own.
@pytest.mark.parametrize("filter", [(3, 3), (5, 5), (7, 7), (1, 5), (4, 7)], ids=str)
@pytest.mark.parametrize(
    "stride, dilation",
    [(1, 1), (2, 1), (1, 2), (1, 3), ((2, 1), 1), ((1, 2), 1), (1, (2, 1))],
    ids=str,
)
@pytest.mark.parametrize("padding", ["same", "valid", 2, [(0, 0), (0, 1), (3, 0), (0, 0)]], ids=str)
def test_depthwise_conv2d_by_frequent_filters(
    variants: dict[str, WasmBackend],
    filter: tuple[int, int],
    stride: tuple[int, int] | int,
    dilation: tuple[int, int] | int,
    padding: Padding,
) -> None:
    dilations = (dilation, dilation) if isinstance(dilation, int) else dilation
    more_rows, more_columns = ((k - 1) * d for k, d in zip(filter, dilations, strict=True))
    sizes = [(1, 1, channels) for channels in range(1, 18)]
    sizes += [(width, width % 4, 4 + width % 5) for width in range(1, 12)]
    # So many channels that they are computed in several turns. Those of 512 are copied with stride
    # 1 and computed by two pixels with stride 2, those of 1024 are copied with either.
    sizes += [(5, 3, 300), (11, 5, 256), (7, 7, 512), (7, 3, 1024)]
    for width, height, channels in sizes:
        x_shape = (2, height + more_rows + 1, width + more_columns, channels)
        window = make(x_shape, channels, filter, stride, padding, dilation)
        y_shape = (2, window.out_height, window.out_width, channels)
        x, weights = normal(x_shape, 1), normal((*filter, channels, 1), 2)
        expected = np.zeros(y_shape)
        for h, w, outputs, inputs in taps(window):
            expected[:, *outputs] += x[:, *inputs] * weights[h, w, :, 0].astype(np.float64)
        for wasm in variants.values():
            got = call(wasm, "depthwise_conv2d", [x, weights], y_shape, "float32", window)
            check(got, expected, filter[0] * filter[1])


@pytest.mark.parametrize("name", [None, "relu", "relu6", "elu", "sigmoid", "leaky_relu"])
@pytest.mark.parametrize("width, channels", [(3, 9), (13, 8), (20, 512)], ids=str)
def test_products_end_with_a_bias_and_an_activation(
    wasm: WasmBackend, name: str | None, width: int, channels: int
) -> None:
    row = ROWS[name] if name else None
    x = 4 * normal((1, 2, width, channels), 1)
    x[0, 0, 1, :3] = np.nan, np.inf, -np.inf
    bias = normal((channels,), 3)
    flat = {"conv2d": (1, 1, channels, channels), "depthwise_conv2d": (3, 3, channels, 1)}
    for op, filter_shape in flat.items():
        filter = np.abs(normal(filter_shape, 2))
        window = make(x.shape, channels, filter_shape[:2])
        plain = call(wasm, op, [x, filter], x.shape, "float32", window)
        with np.errstate(all="ignore"):
            expected = plain + bias
            if row:
                expected = row.numpy(
                    np, expected, *([0.25] if name in ("elu", "leaky_relu") else [])
                )
        for times in (1, PACKED):
            arrays = [x, filter, bias]
            got = call(
                wasm, f"fused_{op}", arrays, x.shape, "float32", window, row, 0.25, times=times
            )
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2e-5)


# Each SMALL is lost that is added to LARGE.
LARGE, SMALL = 2.0**24, 1.0


@pytest.mark.parametrize("rows", [2, 6, 13])
@pytest.mark.parametrize("depth", [300, 1500])
def test_only_the_first_terms_are_rounded_beside_a_large_one(
    wasm: WasmBackend, rows: int, depth: int
) -> None:
    a, b = np.full((1, rows, depth), SMALL, np.float32), np.ones((1, depth, 9), np.float32)
    a[:, :, 0] = LARGE
    sizes = MatmulSizes(1, rows, depth, 9, False, False, True, True)
    got = call(wasm, "matmul", [a, b], (1, rows, 9), "float32", sizes)
    assert np.all(np.abs(got - (LARGE + depth - 1)) <= 128)


def test_a_large_bias_is_added_last() -> None:
    wt.set_backend("wasm")
    x, filter = wt.ones((1, 4, 4, 10)), wt.ones((1, 1, 10, 8))
    y = wt.fused.conv2d(x, filter, 1, "valid", bias=wt.full((8,), LARGE), activation="relu")
    assert np.all(y.numpy() == LARGE + 10)
