"""Kernels that move elements, against NumPy's views and indexing."""

from itertools import permutations

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, call
from webtensor.backends.wasm.backend import WasmBackend
from webtensor.shapes import contiguous_strides

DTYPES = ["float32", "int32", "bool"]


def numbers(shape: tuple[int, ...], dtype: str) -> Array:
    """All different numbers, or random truth values."""
    size = int(np.prod(shape))
    if dtype == "bool":
        return np.random.default_rng(5).random(shape) < 0.5
    return np.arange(1, size + 1).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(5, 7), (8, 8), (3, 4, 5), (2, 3, 4, 5), (1, 9), (70, 33)], ids=str
)
def test_every_permutation(wasm: WasmBackend, dtype: str, shape: tuple[int, ...]) -> None:
    x = numbers(shape, dtype)
    strides = contiguous_strides(shape)
    for axes in permutations(range(len(shape))):
        expected = x.transpose(axes)
        moved = tuple(strides[axis] for axis in axes)
        got = call(wasm, "strided", [x], expected.shape, dtype, moved, 0, axes)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reversed_stepped_and_repeated_views(wasm: WasmBackend, dtype: str) -> None:
    x = numbers((6, 7), dtype)
    got = call(wasm, "strided", [x], (6, 7), dtype, (-7, -1), 41)
    np.testing.assert_array_equal(got, x[::-1, ::-1])
    got = call(wasm, "strided", [x], (2, 3), dtype, (14, 2), 8)
    np.testing.assert_array_equal(got, x[1:4:2, 1:6:2])
    got = call(wasm, "strided", [x], (3, 6, 7), dtype, (0, 7, 1), 0)
    np.testing.assert_array_equal(got, np.broadcast_to(x, (3, 6, 7)))
    got = call(wasm, "strided", [x[:1, :1]], (4, 5), dtype, (0, 0), 0)
    np.testing.assert_array_equal(got, np.broadcast_to(x[:1, :1], (4, 5)))
    got = call(wasm, "strided", [x], (), dtype, (), 9)
    np.testing.assert_array_equal(got, x[1, 2])


def test_seven_axes(wasm: WasmBackend) -> None:
    x = numbers((2, 3, 2, 3, 2, 3, 2), "float32")
    axes = (6, 4, 2, 0, 1, 3, 5)
    strides = contiguous_strides(x.shape)
    got = call(
        wasm, "strided", [x], x.transpose(axes).shape, "float32", tuple(strides[a] for a in axes), 0
    )
    np.testing.assert_array_equal(got, x.transpose(axes))


@pytest.mark.parametrize("dtype", DTYPES)
def test_pad(wasm: WasmBackend, dtype: str) -> None:
    x = numbers((3, 4), dtype)
    value = {"float32": 0.5, "int32": -3, "bool": True}[dtype]
    got = call(wasm, "pad", [x], (6, 9), dtype, (1, 2), (1, 1), value)
    np.testing.assert_array_equal(
        got,
        np.pad(x, ((1, 2), (2, 3)), constant_values=value),
    )
    got = call(wasm, "pad", [x], (8, 12), dtype, (1, 0), (3, 2), value)
    expected = np.full((8, 12), value, dtype)
    expected[1:8:3, 0:8:2] = x
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concat(wasm: WasmBackend, dtype: str, axis: int) -> None:
    parts = []
    for length in (1, 3, 100):
        shape = [2, 3, 5]
        shape[axis] = length
        parts.append(numbers(tuple(shape), dtype))
    expected = np.concatenate(parts, axis)
    outer = int(np.prod(expected.shape[:axis]))
    lengths = tuple(part.size // outer for part in parts)
    got = call(wasm, "concat", parts, expected.shape, dtype, outer, lengths)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("inner", [1, 3, 70])
def test_gather(wasm: WasmBackend, dtype: str, inner: int) -> None:
    x = numbers((2, 5, inner), dtype)
    indices = np.array([4, 0, -1, 2, -5, 2], np.int32)
    got = call(wasm, "gather", [x, indices], (2, 6, inner), dtype, 2, 5, inner, 6)
    np.testing.assert_array_equal(got, x[:, indices])


def test_gather_gives_zeros_for_indices_out_of_range(wasm: WasmBackend) -> None:
    x = numbers((3, 2), "float32")
    indices = np.array([3, -4, 1, 2**31 - 1, -(2**31)], np.int32)
    got = call(wasm, "gather", [x, indices], (5, 2), "float32", 1, 3, 2, 5)
    np.testing.assert_array_equal(got, [[0, 0], [0, 0], x[1], [0, 0], [0, 0]])


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("inner", [1, 3, 9])
def test_scatter_add(wasm: WasmBackend, dtype: str, inner: int) -> None:
    dy = numbers((2, 6, inner), dtype)
    indices = np.array([4, 0, -1, 2, 17, 2], np.int32)
    got = call(wasm, "scatter_add", [dy, indices], (2, 5, inner), dtype, 2, 5, inner, 6)
    expected = np.zeros((2, 5, inner), dtype)
    for row, index in enumerate(indices):
        if index < 5:
            expected[:, index] += dy[:, row]
    np.testing.assert_array_equal(got, expected)
