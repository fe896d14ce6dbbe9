"""Images and neighbours, against the NumPy backend, in each variant of the kernels."""

from typing import Any

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, call
from tests_py.wasm.test_pooling import few_values, same_channels
from tests_py.wasm.windows import WINDOWS
from webtensor.backends.numpy.backend import NumpyBackend
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.dtypes import as_dtype
from webtensor.geometry import Sampling, Window, make_resize


class _Stored:
    """An array as an operand of the NumPy backend."""

    def __init__(self, array: Array) -> None:
        self.shape, self.size, self.handle = array.shape, array.size, array
        self.dtype = as_dtype(array.dtype.name)

    @property
    def storage(self) -> "_Stored":
        return self


def compare(
    wasm: WasmBackend, name: str, arrays: list[Array], shape: tuple[int, ...], *attributes: Any
) -> None:
    """Run a kernel on both backends; one may fuse products and sums, the other not."""
    dtype = arrays[0].dtype.name
    operands = [_Stored(array) for array in arrays]
    expected = NumpyBackend().kernels[name](operands, shape, as_dtype(dtype), *attributes)
    got = call(wasm, name, arrays, shape, dtype, *attributes)
    np.testing.assert_allclose(got, expected.reshape(shape), rtol=1e-5, atol=1e-5)


def randomly(*shape: int) -> Array:
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("channels", [1, 3, 4, 6])
@pytest.mark.parametrize("size", [(1, 1), (4, 9), (11, 3), (2, 1500)])
@pytest.mark.parametrize("corners, centers", [(False, False), (True, False), (False, True)])
def test_resizing(
    wasm: WasmBackend, channels: int, size: tuple[int, int], corners: bool, centers: bool
) -> None:
    shape = (2, 5, 6, channels)
    out = (2, *size, channels)
    for method in ("bilinear", "nearest"):
        sizes = make_resize(shape, size, method == "nearest", corners, centers)
        compare(wasm, f"resize_{method}", [randomly(*shape)], out, sizes)
        compare(wasm, f"resize_{method}_gradient", [randomly(*out)], shape, sizes)


@pytest.mark.parametrize("channels", [1, 3, 4, 6])
@pytest.mark.parametrize("bilinear", [0, 1])
@pytest.mark.parametrize("mode", range(5))
def test_sampling(wasm: WasmBackend, channels: int, bilinear: int, mode: int) -> None:
    transforms = np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32) + 0.37 * randomly(3, 8)
    indices = np.array([1, 0, 7], np.int32)
    sizes = Sampling(2, 5, 6, channels, 3, 4, 7, bilinear, mode)
    arrays = [randomly(2, 5, 6, channels), transforms, indices]
    compare(wasm, "sample", arrays, (3, 4, 7, channels), sizes, 0.5)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_dilation(wasm: WasmBackend, window: Window) -> None:
    window, x_shape, y_shape = same_channels(window)
    filter = randomly(window.filter_height, window.filter_width, window.in_channels)
    compare(wasm, "dilation2d", [few_values(x_shape), filter], y_shape, window)


@pytest.mark.parametrize("length", [1, 3, 4, 9, 40])
@pytest.mark.parametrize("radius", [0, 1, 3, 12])
def test_window_sum(wasm: WasmBackend, length: int, radius: int) -> None:
    compare(wasm, "window_sum", [randomly(3, length)], (3, length), 3, length, radius)


@pytest.mark.parametrize("channels", [1, 3, 4, 9])
def test_normalize(wasm: WasmBackend, channels: int) -> None:
    parameters = [randomly(channels) + number for number in range(3)]
    arrays = [randomly(5, channels), *parameters]
    compare(wasm, "normalize", arrays, (5, channels), 5, channels)
