"""Factorizations against LAPACK, and their invariants, for real and complex matrices."""

from typing import Any

import numpy as np
import pytest

from tests_py.wasm.kernels import Array, call
from webtensor.backends.wasm.backend import WasmBackend

EPSILON = 2.0**-23
BATCH = 3


@pytest.fixture(params=[1, 2], ids=["real", "complex"])
def words(request: pytest.FixtureRequest) -> int:
    """Floats of an element."""
    number: int = request.param
    return number


def numbers(words: int, *shape: int, seed: int = 0) -> Array:
    random = np.random.default_rng([seed, *shape])
    x = random.standard_normal(shape).astype(np.float32)
    if words == 1:
        return x
    return (x + 1j * random.standard_normal(shape)).astype(np.complex64)


def adjoint(x: Array) -> Array:
    return np.conj(np.swapaxes(x, -1, -2))


def wide(x: Array) -> Array:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def packed(
    backend: WasmBackend, name: str, inputs: list[Array], parts: list[Any], *attributes: int
) -> list[Array]:
    """Run a kernel and part its result: each part is a shape, and whether it is real."""
    words = 2 if inputs[0].dtype.kind == "c" else 1
    sizes = [int(np.prod(shape)) * (1 if real else words) for shape, real in parts]
    stored = [np.ascontiguousarray(x).view(np.float32) for x in inputs]
    batch = len(inputs[0])
    shape = (batch, sum(sizes))
    result = call(backend, name, stored, shape, "float32", words, batch, *attributes)
    results = []
    for part, (shape, real) in zip(np.split(result, np.cumsum(sizes)[:-1], 1), parts, strict=True):
        dense = np.ascontiguousarray(part)
        matrices = dense if real or words == 1 else dense.view(np.complex64)
        results.append(matrices.reshape(batch, *shape))
    return results


def distance(got: Array, expected: Array) -> float:
    """Largest error over the largest element."""
    return float(np.abs(got - expected).max() / np.abs(expected).max())


def off_unitary(x: Array) -> float:
    return float(np.abs(adjoint(x) @ x - np.eye(x.shape[-1])).max())


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 17, 40])
def test_square_matrices(wasm: WasmBackend, words: int, n: int) -> None:
    a, b = numbers(words, BATCH, n, n), numbers(words, BATCH, n, 4, seed=1)
    (x,) = packed(wasm, "solve", [a, b], [((n, 4), False)], n, 4)
    assert distance(x, np.linalg.solve(wide(a), wide(b))) < EPSILON
    (value,) = packed(wasm, "determinant", [a], [((), False)], n, False)
    exact = np.linalg.det(wide(a))
    assert np.abs(value / exact - 1).max() < EPSILON
    sign, size = packed(wasm, "determinant", [a], [((), False), ((), True)], n, True)
    np.testing.assert_allclose(sign * np.exp(size.astype(np.float64)), exact, rtol=1e-5)
    definite = (a @ adjoint(a) + np.eye(n)).astype(a.dtype)
    (lower,) = packed(wasm, "cholesky", [definite], [((n, n), False)], n)
    assert distance(lower, np.linalg.cholesky(wide(definite))) < EPSILON
    hermitian = (a + adjoint(a)) / 2
    values, vectors = packed(wasm, "eigh", [hermitian], [((n,), True), ((n, n), False)], n)
    assert distance(values, np.linalg.eigvalsh(wide(hermitian))) < EPSILON
    assert distance(vectors * values[:, None] @ adjoint(vectors), hermitian) < 8 * EPSILON
    assert off_unitary(vectors) < 8 * EPSILON


@pytest.mark.parametrize("rank", [None, 1])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "m, n", [(1, 1), (3, 3), (5, 2), (2, 5), (1, 4), (4, 1), (20, 13), (13, 20)]
)
def test_any_matrices(
    wasm: WasmBackend, words: int, m: int, n: int, full: bool, rank: int | None
) -> None:
    a = numbers(words, BATCH, m, n)
    if rank:
        a = a[:, :, :1] @ numbers(words, BATCH, 1, n, seed=1)
    k = min(m, n)
    rows, columns = (m, n) if full else (k, k)
    q, r = packed(wasm, "qr", [a], [((m, rows), False), ((rows, n), False)], m, n, full)
    exact = np.linalg.qr(wide(a), "complete" if full else "reduced")
    assert distance(q, exact[0]) < 8 * EPSILON
    assert distance(r, exact[1]) < 2 * EPSILON
    parts = [((k,), True), ((m, rows), False), ((columns, n), False)]
    values, u, vh = packed(wasm, "svd", [a], parts, m, n, full)
    assert distance(values, np.linalg.svd(wide(a), compute_uv=False)) < EPSILON
    assert distance(u[..., :k] * values[:, None] @ vh[:, :k], a) < 8 * EPSILON
    assert max(off_unitary(u), off_unitary(adjoint(vh))) < 8 * EPSILON
    assert (np.diff(values) <= 0).all()


def test_singular_values_over_eight_orders_of_magnitude(wasm: WasmBackend, words: int) -> None:
    sizes = 10.0 ** -np.arange(9)
    left, right = (np.linalg.qr(wide(numbers(words, 1, 9, 9, seed=n)))[0] for n in range(2))
    a = (left * sizes @ right).astype(numbers(words, 1).dtype)
    values, u, vh = packed(
        wasm, "svd", [a], [((9,), True), ((9, 9), False), ((9, 9), False)], 9, 9, 0
    )
    exact = np.linalg.svd(wide(a), compute_uv=False)
    np.testing.assert_allclose(values, exact, atol=EPSILON)
    assert max(off_unitary(u), off_unitary(adjoint(vh))) < 8 * EPSILON


@pytest.mark.parametrize("size", [1e-30, 1e-10, 1e10, 1e30])
def test_scales(wasm: WasmBackend, words: int, size: float) -> None:
    a = (numbers(words, BATCH, 4, 4) * np.float32(size)).astype(numbers(words, 1).dtype)
    values = packed(wasm, "svd", [a], [((4,), True), ((4, 4), False), ((4, 4), False)], 4, 4, 0)[0]
    assert distance(values, np.linalg.svd(wide(a), compute_uv=False)) < EPSILON
    hermitian = (a + adjoint(a)) / 2
    result = packed(wasm, "eigh", [hermitian], [((4,), True), ((4, 4), False)], 4)[0]
    assert distance(result, np.linalg.eigvalsh(wide(hermitian))) < EPSILON
    sign, logarithm = packed(wasm, "determinant", [a], [((), False), ((), True)], 4, True)
    exact = np.linalg.slogdet(wide(a))
    np.testing.assert_allclose(sign, exact[0], atol=1e-5)
    np.testing.assert_allclose(logarithm, exact[1], rtol=1e-5)


def test_what_cannot_be_factored_is_nan_and_leaves_the_others(
    wasm: WasmBackend, words: int
) -> None:
    x = np.stack([np.eye(3), np.full((3, 3), np.nan), np.zeros((3, 3))])
    x = x.astype(numbers(words, 1).dtype)
    square = [((3, 3), False)]
    (lower,) = packed(wasm, "cholesky", [x], square, 3)
    (inverse,) = packed(wasm, "solve", [x, np.stack([x[0]] * 3)], square, 3, 3)
    for result in (lower, inverse):
        np.testing.assert_array_equal(result[0], x[0])
        assert np.isnan(result[1:]).all()
    for name, parts, sizes in (
        ("eigh", [((3,), True), *square], (3,)),
        ("svd", [((3,), True), *square, *square], (3, 3, 0)),
    ):
        values = packed(wasm, name, [x], parts, *sizes)[0]
        np.testing.assert_array_equal(values, [[1] * 3, [np.nan] * 3, [0] * 3])
    (value,) = packed(wasm, "determinant", [x], [((), False)], 3, False)
    np.testing.assert_array_equal(value, np.array([1, np.nan, 0]))


def test_determinants_beyond_float32(wasm: WasmBackend) -> None:
    x = np.stack([np.eye(60) * 1e3, np.eye(60) * 1e-3, -np.eye(60)]).astype(np.float32)
    (value,) = packed(wasm, "determinant", [x], [((), False)], 60, False)
    np.testing.assert_array_equal(value, np.array([np.inf, 0, 1], np.float32))
    sign, size = packed(wasm, "determinant", [x], [((), False), ((), True)], 60, True)
    np.testing.assert_array_equal(sign, [1, 1, 1])
    np.testing.assert_allclose(size, [60 * np.log(1e3), -60 * np.log(1e3), 0], rtol=1e-6)
