"""Random numbers: known answers, the same everywhere, and distributed as they say."""

import math
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.cases.creation import threefry

# The test vectors of Random123, the reference implementation by the paper's authors.
KNOWN_ANSWERS = (
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
)
SHARED = np.random.default_rng(4)


@pytest.mark.parametrize("key, counter, words", KNOWN_ANSWERS)
def test_the_oracle_is_threefry(
    key: tuple[int, int], counter: tuple[int, int], words: tuple[int, int]
) -> None:
    assert threefry(key, counter) == words


def test_uniform_numbers_are_the_upper_bits_of_threefry(backend: str) -> None:
    expected = [(word >> 8) / 2**24 for word in KNOWN_ANSWERS[0][2]]
    assert wt.random_uniform((2,), seed=0).tolist() == expected


@pytest.mark.parametrize("make", [wt.random_uniform, wt.random_normal, wt.truncated_normal])
def test_a_seed_gives_the_same_numbers_on_every_backend(make: object) -> None:
    results: list[np.ndarray[Any, Any]] = []
    for name in ("numpy", "wasm"):
        wt.set_backend(name)
        results.append(make((1001,), seed=123).numpy())  # type: ignore[operator]
    # Normal numbers agree to the rounding of the inverse error function.
    assert np.allclose(results[0], results[1], rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("make", [wt.random_uniform, wt.random_normal, wt.truncated_normal])
def test_seeds_matter_and_numbers_follow_the_global_seed(make: object) -> None:
    def draw(seed: int | None = None) -> list[float]:
        return make((20,), seed=seed).tolist()  # type: ignore[operator]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert draw(1) != draw(1 + 2**32)
    assert draw() != draw()
    wt.set_random_seed(5)
    first = [draw(), draw()]
    wt.set_random_seed(5)
    assert [draw(), draw()] == first
    assert first[0] != first[1]


def test_a_shorter_draw_is_the_start_of_a_longer_one(backend: str) -> None:
    long = wt.random_uniform((1000,), seed=3).tolist()
    for length in (1, 2, 3, 7, 100, 999):
        assert wt.random_uniform((length,), seed=3).tolist() == long[:length]


def test_uniform_numbers_are_uniform(backend: str) -> None:
    x = wt.random_uniform((200_000,), seed=11).numpy()
    assert x.min() >= 0
    assert x.max() < 1
    # Counts of 20 cells: chi-square with 19 degrees of freedom exceeds 43.8 once in a thousand.
    counts, _ = np.histogram(x, 20, (0, 1))
    assert np.sum((counts - 10_000) ** 2 / 10_000) < 43.8
    # Neighbours are independent: a correlation of 4 standard deviations.
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 4 / math.sqrt(x.size)


def test_uniform_bounds(backend: str) -> None:
    x = wt.random_uniform((10_000,), -3.0, 5.0, seed=1).numpy()
    assert -3 <= x.min() < -2.99
    assert 4.99 < x.max() < 5
    whole = wt.random_uniform((10_000,), 0, 6, "int32", seed=1)
    assert whole.dtype == "int32"
    assert set(whole.tolist()) == set(range(6))


#: A seed whose first number is the largest that there is, 1 - 2**-24.
SEED_OF_THE_GREATEST = 17_762_771


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("low, high", [(0, 1), (1, 3), (5, 6), (-1, 1), (-2, -1), (-1, 0), (0, 9)])
def test_the_upper_bound_is_never_reached(backend: str, low: int, high: int, dtype: str) -> None:
    # Doubled, with 1 added, it rounds up to 3.
    assert np.float32(np.float32(2 * (1 - 2.0**-24)) + np.float32(1)) == 3
    assert wt.random_uniform((1,), seed=SEED_OF_THE_GREATEST).item() == 1 - 2.0**-24
    x = wt.random_uniform((1,), low, high, dtype, seed=SEED_OF_THE_GREATEST).item()
    assert low <= x < high
    assert x > high - 1.001


def test_normal_numbers_are_normal(backend: str) -> None:
    x = wt.random_normal((200_000,), seed=12).numpy().astype(np.float64)
    # Moments within 4 standard deviations of their estimates.
    n = x.size
    assert abs(x.mean()) < 4 / math.sqrt(n)
    assert abs(x.var() - 1) < 4 * math.sqrt(2 / n)
    assert abs((x**3).mean()) < 4 * math.sqrt(15 / n)
    assert abs((x**4).mean() - 3) < 4 * math.sqrt(96 / n)
    assert np.isfinite(x).all()
    for z in (-2, -1, 0, 1, 2):
        share = (1 + math.erf(z / math.sqrt(2))) / 2
        assert abs((x < z).mean() - share) < 4 * math.sqrt(share * (1 - share) / n)


def test_normal_mean_and_deviation(backend: str) -> None:
    x = wt.random_normal((100_000,), 5.0, 0.5, seed=2).numpy()
    assert abs(x.mean() - 5) < 0.01
    assert abs(x.std() - 0.5) < 0.01


def test_truncated_normal_numbers_stay_within_two_deviations(backend: str) -> None:
    x = wt.truncated_normal((200_000,), 1.0, 2.0, seed=13).numpy()
    assert x.min() >= -3
    assert x.max() <= 5
    assert x.min() < -2.99
    assert x.max() > 4.99
    # The deviation of a standard normal variable cut at ±2 is 0.8796.
    assert abs(x.mean() - 1) < 0.02
    assert abs(x.std() / 2 - 0.8796) < 0.005


def test_random_numbers_take_a_dtype(backend: str) -> None:
    assert wt.random_uniform((3,), 0, 2, "bool", seed=1).dtype == "bool"
    assert wt.random_normal((3,), 0, 100, "int32", seed=1).dtype == "int32"


@pytest.mark.parametrize(
    "draw",
    [
        lambda **options: wt.random_normal((100_000,), 0, 0.5, **options),
        lambda **options: wt.truncated_normal((100_000,), 0, 0.5, **options),
        lambda **options: wt.random_standard_normal((100_000,), **options),
        lambda **options: wt.random_gamma((100_000,), 2.0, 2.0, **options),
    ],
    ids=["random_normal", "truncated_normal", "random_standard_normal", "random_gamma"],
)
def test_integers_are_rounded_as_tensorflow_js_does(draw: Any, backend: str) -> None:
    integers, floats = draw(dtype="int32", seed=3), draw(dtype=None, seed=3)
    assert (integers.dtype, floats.dtype) == ("int32", "float32")
    assert np.array_equal(integers.numpy(), np.round(floats.numpy()))


def test_no_dtype_is_float32(backend: str) -> None:
    assert wt.random_uniform((3,), dtype=None).dtype == "float32"
    assert wt.rand((3,), lambda: 0.5, dtype=None).dtype == "float32"


def test_a_seed_may_be_any_number(backend: str) -> None:
    logits = [0.0, 0.0]
    for draw in (
        lambda seed: wt.random_normal((9,), seed=seed),
        lambda seed: wt.multinomial(logits, 99, seed),
        lambda seed: wt.dropout(wt.ones((99,)), 0.5, seed=seed),
    ):
        assert draw(3.14).tolist() == draw(3.14).tolist()
        assert draw(3.14).tolist() != draw(3.15).tolist()


def test_what_dropout_drops_is_zero_whatever_it_was(backend: str) -> None:
    x = np.full((200,), np.inf, np.float32)
    x[::2] = np.nan
    y = wt.dropout(x, 0.5, seed=3).numpy()
    dropped = y == 0
    assert 60 < dropped.sum() < 140
    np.testing.assert_array_equal(y[~dropped], x[~dropped])


@pytest.mark.parametrize("round", range(2))
def test_tests_draw_the_same_numbers_whichever_ran_before(round: int) -> None:
    assert SHARED.random() == np.random.default_rng(4).random()
