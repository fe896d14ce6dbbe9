"""Reductions and normalizations, against NumPy."""

import numpy as np
import pytest

import webtensor as wt
from tests_py.wasm.kernels import Array, call
from webtensor.backends.wasm.backend import WasmBackend

GROUPS = [
    (1, 1, 1), (1, 2, 1), (1, 7, 1), (3, 4, 1), (2, 67, 1), (5, 16, 1), (2, 1000, 1),
    (1, 3, 2), (2, 5, 3), (1, 4, 4), (3, 9, 5), (2, 600, 7), (1, 2, 16), (2, 3, 17), (1, 33, 67),
]  # fmt: skip


def numbers(group: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    if dtype == "int32":
        return random.integers(-9, 10, group, dtype=np.int32)
    if dtype == "bool":
        return random.random(group) < 0.5
    return random.standard_normal(group).astype(np.float32)


@pytest.mark.parametrize("group", GROUPS, ids=str)
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_reduce(wasm: WasmBackend, group: tuple[int, int, int], kind: str, dtype: str) -> None:
    x = numbers(group, dtype)
    outer, _, inner = group
    got = call(wasm, "reduce", [x], (outer, inner), dtype, kind, *group)
    if dtype == "int32":
        with np.errstate(all="ignore"):
            expected = getattr(np, kind)(
                x, axis=1, **({"dtype": np.int32} if kind in ("sum", "prod") else {})
            )
        np.testing.assert_array_equal(got, expected)
    else:
        expected = getattr(np, kind)(x.astype(np.float64), axis=1)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 if kind == "sum" else 1e-37)


@pytest.mark.parametrize("group", GROUPS, ids=str)
@pytest.mark.parametrize("kind", ["any", "all"])
def test_reduce_truth_values(wasm: WasmBackend, group: tuple[int, int, int], kind: str) -> None:
    for chance in (0.02, 0.98):
        x = np.random.default_rng(1).random(group) < chance
        got = call(wasm, "reduce", [x], (group[0], group[2]), "bool", kind, *group)
        np.testing.assert_array_equal(got, getattr(np, kind)(x, axis=1))


@pytest.mark.parametrize("group", GROUPS, ids=str)
@pytest.mark.parametrize("kind", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_arg_reduce_finds_the_first(
    wasm: WasmBackend, group: tuple[int, int, int], kind: str, dtype: str
) -> None:
    x = np.random.default_rng(2).integers(0, 4, group).astype(dtype)
    got = call(wasm, "arg_reduce", [x], (group[0], group[2]), "int32", kind, *group)
    np.testing.assert_array_equal(got, getattr(np, kind)(x, axis=1))


@pytest.mark.parametrize("group", [(1, 37, 1), (3, 9, 5), (1, 3, 2)], ids=str)
@pytest.mark.parametrize("kind", ["max", "min", "argmax", "argmin", "sum"])
def test_nan_and_infinities(wasm: WasmBackend, group: tuple[int, int, int], kind: str) -> None:
    random = np.random.default_rng(3)
    for special in (np.nan, np.inf, -np.inf):
        for _ in range(8):
            x = numbers(group, "float32", 4)
            x.ravel()[random.integers(0, x.size, 3)] = special
            name = "arg_reduce" if kind.startswith("arg") else "reduce"
            dtype = "int32" if kind.startswith("arg") else "float32"
            got = call(wasm, name, [x], (group[0], group[2]), dtype, kind, *group)
            with np.errstate(all="ignore"):
                expected = getattr(np, kind)(x, axis=1)
            np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_extrema_of_only_infinities(wasm: WasmBackend) -> None:
    x = np.full((1, 9, 1), -np.inf, np.float32)
    assert call(wasm, "reduce", [x], (1,), "float32", "max", 1, 9, 1)[0] == -np.inf
    assert call(wasm, "arg_reduce", [x], (1,), "int32", "argmax", 1, 9, 1)[0] == 0


@pytest.mark.parametrize("inner", [1, 3])
def test_sums_of_a_million_stay_accurate(wasm: WasmBackend, inner: int) -> None:
    """Naive summation in float32 would be off by 1 %."""
    x = np.full((1, 1_000_000, inner), 0.1, np.float32)
    got = call(wasm, "reduce", [x], (inner,), "float32", "sum", *x.shape)
    np.testing.assert_allclose(got, x.astype(np.float64).sum(axis=(0, 1)), rtol=2e-6)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 5), (4, 10), (1, 1000), (7, 67)], ids=str)
@pytest.mark.parametrize("scale", [1, 100])
def test_softmax(wasm: WasmBackend, shape: tuple[int, int], scale: float) -> None:
    x = numbers(shape, "float32") * np.float32(scale)
    wide = x.astype(np.float64)
    shifted = wide - wide.max(axis=1, keepdims=True)
    expected = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    got = call(wasm, "softmax", [x], shape, "float32", *shape)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-37)
    got = call(wasm, "log_softmax", [x], shape, "float32", *shape)
    expected = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_softmax_of_special_rows(wasm: WasmBackend) -> None:
    inf = np.inf
    x = np.array([[0, np.nan, 1], [inf, 0, 1], [-inf, 0, 0], [-inf, -inf, -inf]], np.float32)
    got = call(wasm, "softmax", [x], x.shape, "float32", *x.shape)
    np.testing.assert_array_equal(np.isnan(got), np.array([[1], [1], [0], [1]]) * np.ones((4, 3)))
    np.testing.assert_array_equal(got[2], [0, 0.5, 0.5])


def test_average_pooling_of_a_whole_image_adds_pairwise() -> None:
    wt.set_backend("wasm")
    x = np.ones((1, 128, 128, 16), np.float32)
    x[:, 0, 0] = 2.0**24  # added to which each of the others is lost
    mean = wt.avg_pool(wt.tensor(x), 128).numpy()
    np.testing.assert_allclose(mean, x.mean(axis=(1, 2), keepdims=True, dtype=float), rtol=1e-5)
