"""Which weights are packed, and how long they stay so."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import webtensor as wt


@pytest.fixture(autouse=True)
def wasm() -> Iterator[None]:
    wt.set_backend("wasm")
    gc.collect()
    yield
    wt.set_backend("numpy")


def weights(*shape: int) -> wt.Tensor:
    return wt.tensor(np.random.default_rng(shape).standard_normal(shape).astype(np.float32))


def blocks() -> int:
    backend: Any = wt.backend()
    count: int = backend.memory()["blocks"]
    return count


def packed_by(use: Any, times: int) -> int:
    """Return how many blocks a number of uses adds."""
    use()  # puts the operands on the device
    before = blocks()
    for _ in range(times - 1):
        use()
    return blocks() - before


def test_weights_are_packed_at_their_second_use() -> None:
    x, filter = weights(1, 6, 6, 8), weights(3, 3, 8, 16)
    assert packed_by(lambda: wt.conv2d(x, filter, 1, "same"), 1) == 0
    assert packed_by(lambda: wt.conv2d(x, filter, 1, "same"), 1) == 0
    a, b = weights(6, 32), weights(32, 40)
    assert packed_by(lambda: wt.matmul(a, b), 2) == 1
    assert packed_by(lambda: wt.matmul(a, b), 5) == 0


def test_what_was_packed_is_freed_with_the_weights() -> None:
    a = weights(6, 32)
    b: wt.Tensor | None = weights(32, 40)
    assert packed_by(lambda: wt.matmul(a, b), 2) == 1
    before = blocks()
    b = None
    assert blocks() == before - 2


def test_disposed_weights_leave_nothing_behind() -> None:
    a, b = weights(6, 32), weights(32, 40)
    assert packed_by(lambda: wt.matmul(a, b), 2) == 1
    before = blocks()
    b.dispose()
    assert blocks() == before - 2


@pytest.mark.parametrize("transposed", [False, True])
def test_each_form_is_packed_for_itself(transposed: bool) -> None:
    a, b = weights(5, 32), weights(32, 32)

    def both() -> None:
        wt.matmul(a, b, transpose_b=transposed)
        wt.matmul(a, b, transpose_b=not transposed)

    assert packed_by(both, 3) == 2


def test_reshaped_weights_are_packed_anew() -> None:
    x, b = weights(5, 16), weights(16, 64)
    wide = wt.matmul(x, b).numpy()
    assert np.array_equal(wt.matmul(x, b).numpy(), wide)
    narrow = wt.reshape(b, (32, 32))
    y = weights(7, 32)
    for _ in range(3):
        np.testing.assert_allclose(
            wt.matmul(y, narrow).numpy(), y.numpy() @ narrow.numpy(), atol=1e-4
        )
    np.testing.assert_allclose(wt.matmul(x, b).numpy(), wide, atol=1e-5)


@pytest.mark.parametrize("times", [1, 2])
def test_a_program_packs_weights_at_once_that_it_uses_several_times(times: int) -> None:
    x = weights(6, 32)
    captured = wt.function(lambda b: [(x + number) @ b for number in range(times)])
    captured(weights(32, 40))
    b = weights(32, 40) + 0
    before = blocks()
    results = captured(b)
    assert blocks() - before == len(results) + times - 1


def test_a_program_may_reshape_the_weights_that_it_packs() -> None:
    x, y = weights(5, 16), weights(7, 32)

    def products(b: wt.Tensor) -> list[wt.Tensor]:
        narrow = wt.reshape(b, (32, 32))
        return [x @ b, (x + 1) @ b, y @ narrow, (y + 1) @ narrow]

    captured = wt.function(products)
    for _ in range(3):
        b = weights(16, 64)
        for ours, eager in zip(captured(b), products(b), strict=True):
            assert np.array_equal(ours.numpy(), eager.numpy())


@pytest.mark.parametrize(
    "a, b",
    [((6, 4), (4, 5)), ((1, 64), (64, 64)), ((64, 64), (64, 1)), ((2, 8, 32), (2, 32, 40))],
    ids=["few weights", "one row", "one column", "a batch"],
)
def test_these_are_never_packed(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    left, right = weights(*a), weights(*b)
    assert packed_by(lambda: wt.matmul(left, right), 4) == 0


@pytest.mark.parametrize("m, k, n", [(300, 300, 300), (7, 1030, 61), (50, 600, 9)])
def test_packing_changes_no_digit(m: int, k: int, n: int) -> None:
    a, b = weights(m, k), weights(k, n)
    first = wt.matmul(a, b).numpy()
    for _ in range(2):
        assert np.array_equal(wt.matmul(a, b).numpy(), first)


def test_a_single_patch_needs_no_packed_filter() -> None:
    x, filter = weights(1, 3, 3, 16), weights(3, 3, 16, 24)
    assert packed_by(lambda: wt.conv2d(x, filter, 1, "valid"), 4) == 0


def test_weights_that_change_are_not_packed() -> None:
    x, target = weights(8, 32), weights(8, 40)
    variable = wt.Variable(weights(32, 40))
    optimizer = wt.optimizers.SGD(0.01)

    def loss() -> wt.Tensor:
        return wt.mean(wt.square(wt.matmul(x, variable) - target))

    optimizer.minimize(loss)
    before = blocks()
    for _ in range(3):
        optimizer.minimize(loss)
    assert blocks() == before
