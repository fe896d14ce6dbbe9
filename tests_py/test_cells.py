"""Cells of recurrent networks: formulas on blocks, and gradients put together at the end."""

import numpy as np
import pytest

import webtensor as wt
from webtensor.ops import cells
from webtensor.ops.blocks import BLOCK_ROWS, BlockRow

#: Rows that others' gradients are made of, beside those with rules.
ROWS = sorted(BLOCK_ROWS.values(), key=lambda row: row.name)
RULED = [row for row in ROWS if isinstance(row.gradients, tuple)]


def operands(row: BlockRow, rows: tuple[int, ...], units: int) -> list[wt.Tensor]:
    random = np.random.default_rng(units)
    return [
        wt.tensor(random.normal(size=(*rows, count * units)).astype("float32"))
        for count in row.counts
    ]


def call(row: BlockRow, *tensors: wt.Tensor) -> wt.Tensor:
    return getattr(cells, row.name)(*tensors)


@pytest.mark.parametrize("units", [1, 3, 4, 6, 13])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_is_its_formula(backend: str, row: BlockRow, units: int) -> None:
    tensors = operands(row, (5,), units)
    result, expected = call(row, *tensors), row.composed(*tensors)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=2e-6, atol=1e-6)


def test_rows_may_have_more_axes(backend: str) -> None:
    gates, state = operands(BLOCK_ROWS["lstm_state"], (2, 3, 2), 4)
    result = cells.lstm_state(gates, state)
    flat = cells.lstm_state(gates.reshape((12, 16)), state.reshape((12, 8)))
    np.testing.assert_array_equal(result.numpy().reshape(12, 8), flat.numpy())


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("row", RULED, ids=lambda row: row.name)
def test_gradient_is_that_of_the_formula(backend: str, row: BlockRow, index: int) -> None:
    if index >= len(row.counts):
        return
    tensors = operands(row, (3,), 5)
    weights = wt.random_normal((3, row.results * 5), seed=3)

    def loss(function, chosen):
        others = [*tensors[:index], chosen, *tensors[index + 1 :]]
        return wt.sum(function(*others) * weights)

    result = wt.grad(lambda x: loss(lambda *xs: call(row, *xs), x))(tensors[index])
    expected = wt.grad(lambda x: loss(row.composed, x))(tensors[index])
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_second_derivative_is_that_of_the_formula(backend: str) -> None:
    row = BLOCK_ROWS["lstm_state"]
    gates, state = operands(row, (2,), 3)

    def slope(function):
        gradient = wt.grad(lambda x: wt.sum(wt.square(function(x, state))))
        return wt.grad(lambda x: wt.sum(wt.square(gradient(x))))(gates)

    np.testing.assert_allclose(
        slope(cells.lstm_state).numpy(), slope(row.composed).numpy(), rtol=1e-5, atol=1e-5
    )


def test_slices_of_one_tensor_get_their_gradients_together(backend: str) -> None:
    """A hundred slices cost one joining, not a hundred sums of mostly zeros."""
    x = wt.random_normal((3, 100, 4), seed=1)

    def loss(x):
        return sum((wt.sum(wt.square(part)) for part in wt.unstack(x, 1)), start=wt.tensor(0.0))

    profile = wt.profile(lambda: wt.grad(loss)(x))
    np.testing.assert_allclose(profile.result.numpy(), 2 * x.numpy(), rtol=1e-6)
    names = [kernel.name for kernel in profile.kernels]
    assert names.count("concat") == 1
    assert "pad" not in names


def test_slices_with_gaps_and_overlaps(backend: str) -> None:
    x = wt.random_normal((4, 7), seed=1)
    weights = np.arange(28, dtype="float32").reshape(4, 7)

    def check(function, expected):
        np.testing.assert_allclose(wt.grad(function)(x).numpy(), expected, rtol=1e-6)

    first, last = np.zeros((4, 7)), np.zeros((4, 7))
    first[:, 1:3], last[:, 5:] = weights[:, 1:3], weights[:, 5:]
    check(
        lambda x: wt.sum(x[:, 1:3] * weights[:, 1:3]) + wt.sum(x[:, 5:] * weights[:, 5:]),
        first + last,
    )
    check(lambda x: wt.sum(x[:, 1:3] * weights[:, 1:3]) * 2 + wt.sum(x), 2 * first + 1)
    overlap = np.ones((4, 7))
    overlap[:, 3:5] = 2
    check(lambda x: wt.sum(x[:, :5]) + wt.sum(x[:, 3:]), overlap)
    empty = np.repeat(np.arange(7) % 6 != 0, 4).reshape(7, 4).T
    check(lambda x: wt.sum(x[:, 0:0]) + wt.sum(x[:, 1:2]) + wt.sum(x[:, 2:6]), empty)
    corner = np.zeros((4, 7))
    corner[:2, :2] += 1
    corner[::2, ::3] += 1
    check(lambda x: wt.sum(x[:2, :2]) + wt.sum(x[::2, ::3]), corner)
    check(lambda x: wt.sum(x[:, 2]) + wt.sum(x[:, 2]), 2.0 * (np.arange(7) == np.full((4, 1), 2)))


def test_products_with_one_matrix_get_its_gradient_together(backend: str) -> None:
    rows = [wt.random_normal((3, 4), seed=seed) for seed in range(5)]
    matrix, bias = wt.random_normal((4, 2), seed=9), wt.random_normal((2,), seed=8)

    def loss(matrix, bias):
        products = [wt.fused.mat_mul(row, matrix, bias=bias) for row in rows]
        return sum(
            (wt.sum(wt.square(product)) for product in products),
            start=wt.sum(matrix) + wt.sum(bias),
        )

    profile = wt.profile(lambda: wt.grads(loss)(matrix, bias))
    whole = np.concatenate([row.numpy() for row in rows])
    dy = 2 * (whole @ matrix.numpy() + bias.numpy())
    results = [tensor.numpy() for tensor in profile.result]
    np.testing.assert_allclose(results[0], whole.T @ dy + 1, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(results[1], dy.sum(0) + 1, rtol=1e-4, atol=1e-4)
    assert [kernel.name for kernel in profile.kernels].count("matmul") == 1
