"""Random numbers: shapes, statistics and seeds are those of Keras; the bits are not."""

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours

SHAPE = (200, 150)

#: Function, arguments after the shape.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("beta", {"alpha": 0.5, "beta": 2.0}),
    ("beta", {"alpha": np.linspace(0.5, 3, 3, dtype="float32")[:, None, None], "beta": 2.0}),
    ("binomial", {"counts": 12, "probabilities": 0.3}),
    ("binomial", {"counts": 1000, "probabilities": 0.9}),
    (
        "binomial",
        {
            "counts": np.array([3.0, 20.0, 0.0], "float32")[:, None, None],
            "probabilities": np.array([0.2, 0.5, 0.5], "float32")[:, None, None],
        },
    ),
    ("gamma", {"alpha": 0.5}),
    ("gamma", {"alpha": 7.0}),
    ("gamma", {"alpha": np.array([0.5, 3.0, 3.0], "float32")[:, None, None]}),
    ("normal", {}),
    ("normal", {"mean": 3.0, "stddev": 2.0}),
    ("randint", {"minval": -3, "maxval": 9}),
    ("truncated_normal", {}),
    ("truncated_normal", {"mean": 3.0, "stddev": 2.0}),
    ("uniform", {}),
    ("uniform", {"minval": -3.0, "maxval": 9.0}),
]


def drawn(k: Any, name: str, options: dict[str, Any], seed: int) -> Any:
    """Return what a library draws, (parameters, numbers)."""
    shape = (3, *SHAPE) if any(np.ndim(value) for value in options.values()) else SHAPE
    return np.asarray(getattr(k.random, name)(shape, seed=seed, **options))


@pytest.mark.parametrize("name, options", CASES)
def test_statistics(name: str, options: dict[str, Any], backends: Iterator[str]) -> None:
    theirs = drawn(keras, name, options, seed=1)
    for backend in backends:
        mine = drawn(ours, name, options, seed=2)
        assert mine.shape == theirs.shape, backend
        assert mine.dtype == theirs.dtype, backend
        for value, other in zip(
            mine.reshape(-1, 30_000).astype("float64"), theirs.reshape(-1, 30_000), strict=True
        ):
            deviation = float(other.std())
            mean = pytest.approx(float(other.mean()), abs=0.04 * deviation)
            assert value.mean() == mean, backend
            assert value.std() == pytest.approx(deviation, rel=0.04), backend
            for share in (0.1, 0.5, 0.9):
                expected = float(np.quantile(other, share))
                near = 1 if name in ("binomial", "randint") else 0.06 * deviation
                quantile = float(np.quantile(value, share))
                assert quantile == pytest.approx(expected, abs=near), backend


def test_rows_that_differ_only_in_place_differ() -> None:
    mine = drawn(ours, "gamma", CASES[7][1], seed=2)
    assert (mine[1] != mine[2]).mean() > 0.99


def test_bounds(backend: str) -> None:
    draws = ours.random
    assert set(np.asarray(draws.randint((500,), 2, 5)).tolist()) == {2, 3, 4}
    assert draws.randint((2,), 5, 5).tolist() == [5, 5]
    cut = np.asarray(draws.truncated_normal((5000,), 1.0, 2.0))
    assert np.abs(cut - 1).max() <= 4
    even = np.asarray(draws.uniform((5000,), 3.0, 4.0))
    assert even.min() >= 3
    assert even.max() < 4
    assert draws.binomial((2,), 7, 1.0).tolist() == [7.0, 7.0]
    assert draws.binomial((2,), 7, 0.0).tolist() == [0.0, 0.0]


def test_categorical(backend: str) -> None:
    logits = np.log(np.array([[0.1, 0.2, 0.7], [0.6, 0.4, 1e-9]], "float32"))
    mine = ours.random.categorical(logits, 20_000, seed=3)
    assert mine.shape == (2, 20_000)
    assert mine.dtype == "int32"
    for row, expected in zip(np.asarray(mine), np.exp(logits), strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / row.size, expected, atol=0.01)
    assert ours.random.categorical(logits, 3, dtype="float32").dtype == "float32"


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_shuffle(axis: int, backend: str) -> None:
    x = np.arange(60).reshape(4, 5, 3)
    result = np.asarray(ours.random.shuffle(x, axis, seed=2))
    order = [np.take(result, k, axis).tolist() for k in range(result.shape[axis])]
    expected = [np.take(x, k, axis).tolist() for k in range(x.shape[axis])]
    assert order != expected
    assert sorted(order) == sorted(expected)


def test_dropout(backend: str) -> None:
    x = np.ones((200, 100), "float32")
    result = np.asarray(ours.random.dropout(x, 0.3, seed=1))
    assert (result == 0).mean() == pytest.approx(0.3, abs=0.02)
    assert set(result.ravel().tolist()) == {0.0, float(np.float32(1 / 0.7))}
    rows = np.asarray(ours.random.dropout(x, 0.5, noise_shape=(None, 1), seed=1))
    assert (rows == rows[:, :1]).all()
    assert np.asarray(ours.random.dropout(x, 0)).tolist() == x.tolist()
    assert not np.asarray(ours.random.dropout(x, 1.0)).any()


# -- seeds -------------------------------------------------------------------------------------

DRAWS: list[Callable[[Any], Any]] = [
    lambda seed: ours.random.beta((5,), 0.5, 2.0, seed=seed),
    lambda seed: ours.random.binomial((20,), 100, 0.5, seed=seed),
    lambda seed: ours.random.categorical(np.zeros((1, 100)), 9, seed=seed),
    lambda seed: ours.random.dropout(np.ones(50, "float32"), 0.5, seed=seed),
    lambda seed: ours.random.gamma((5,), 0.5, seed=seed),
    lambda seed: ours.random.normal((5,), seed=seed),
    lambda seed: ours.random.randint((5,), 0, 1000, seed=seed),
    lambda seed: ours.random.shuffle(np.arange(50), seed=seed),
    lambda seed: ours.random.truncated_normal((5,), seed=seed),
    lambda seed: ours.random.uniform((5,), seed=seed),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_seeds(draw: Callable[[Any], Any]) -> None:
    def values(seed: Any) -> Any:
        return np.asarray(draw(seed)).tolist()

    assert values(7) == values(7)
    assert values(7) != values(8)
    assert values(None) != values(None)
    generator = ours.random.SeedGenerator(7)
    first, second = values(generator), values(generator)
    assert first != second
    again = ours.random.SeedGenerator(7)
    assert [values(again), values(again)] == [first, second]
    wt.set_random_seed(4)
    once = values(None)
    wt.set_random_seed(4)
    assert values(None) == once
    with pytest.raises(ValueError, match="seed must be an integer, a SeedGenerator or None"):
        draw("a")


def test_state_of_a_seed_generator() -> None:
    theirs, mine = keras.random.SeedGenerator(5), ours.random.SeedGenerator(5)
    for _ in range(3):
        theirs.next()
        mine.next()
    assert mine.state.tolist() == np.asarray(theirs.state).tolist()
    assert mine.state.path.split("/")[1] == theirs.state.path.split("/")[1]
    assert not mine.state.trainable
    other = ours.random.SeedGenerator(9)
    other.state.assign(mine.state)
    assert other.next() == mine.next()


def test_seeds_of_32_bits() -> None:
    mine = ours.random.SeedGenerator(2**32 - 1)
    assert mine.next() == 2**32 - 1
    assert mine.next() == 2**33 - 1


def test_configurations() -> None:
    theirs, mine = keras.random.SeedGenerator(5, "own"), ours.random.SeedGenerator(5, "own")
    assert mine.get_config() == theirs.get_config()
    assert ours.random.SeedGenerator.from_config(mine.get_config()).next() == mine.next()
    assert ours.random.SeedGenerator().get_config()["seed"] is None
    assert ours.random.SeedGenerator().next() != ours.random.SeedGenerator().next()


def test_every_name_of_keras_is_there() -> None:
    theirs = {name for name in dir(keras.random) if not name.startswith("_")}
    assert theirs == set(ours.random.__all__)


def test_wrong_arguments() -> None:
    draws = ours.random
    for call, message in (
        (lambda: draws.normal((2,), dtype="int32"), "normal: dtype must be one of floats, but"),
        (lambda: draws.uniform((2,), dtype="int32"), "uniform: dtype must be one of floats"),
        (
            lambda: draws.randint((2,), 0, 2, dtype="float32"),
            "randint: dtype must be one of integers",
        ),
        (lambda: draws.categorical([0.0, 1.0], 3), r"logits must be \(batch, classes\)"),
        (lambda: draws.binomial((2,), -1, 0.5), "counts must not be negative"),
        (lambda: draws.binomial((2,), 3, 1.5), r"probabilities must lie in \[0, 1\]"),
        (lambda: draws.gamma((2,), 0.0), "must be positive"),
        (lambda: draws.gamma((2,), [1.0, 2.0, 3.0]), "gamma"),
        (lambda: draws.dropout([1.0], -1), "rate must lie in"),
        (lambda: draws.SeedGenerator("a"), "SeedGenerator: seed must be an integer or None"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=message):
            call()
