"""t-SNE against its definitions, and the trustworthiness of its maps."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

import webtensor as wt
from docs.examples import tsne

pytestmark = pytest.mark.usefixtures("backend")


def test_the_program_draws_a_chart() -> None:
    chart = tsne.main()
    assert chart.svg.startswith("<svg")
    assert "group 5: 40 points" in repr(chart)


def digits(count: int) -> np.ndarray:
    return load_digits().data[:count].astype(np.float32)


@pytest.mark.parametrize("perplexity", [5.0, 30.0])
def test_rows_have_the_perplexity(perplexity: float) -> None:
    distances = tsne.squared_distances(wt.tensor(digits(100)))
    p = tsne.neighbour_probabilities(distances, perplexity).numpy().astype(np.float64)
    assert np.allclose(np.diag(p), 0)
    entropies = -np.sum(p * np.log(np.maximum(p, 1e-30)), axis=1)
    assert np.allclose(np.exp(entropies), perplexity, rtol=1e-3)


def divergence(p: np.ndarray, positions: np.ndarray) -> float:
    differences = positions[:, None] - positions[None]
    similarities = 1 / (1 + np.sum(differences**2, axis=2))
    np.fill_diagonal(similarities, 0)
    q = similarities / similarities.sum()
    pairs = p > 0
    return float(np.sum(p[pairs] * np.log(p[pairs] / q[pairs])))


def test_gradient_against_differences_of_the_divergence() -> None:
    p = tsne.affinities(wt.tensor(digits(20)), 5.0)
    assert math.isclose(wt.sum(p).item(), 1.0, rel_tol=1e-5)
    exact = p.numpy().astype(np.float64)
    positions = np.random.default_rng(1).normal(size=(20, 2))
    expected = np.zeros_like(positions)
    for index in np.ndindex(positions.shape):
        step = np.zeros_like(positions)
        step[index] = 1e-5
        change = divergence(exact, positions + step) - divergence(exact, positions - step)
        expected[index] = change / 2e-5
    actual = tsne.gradient(p, wt.tensor(positions, dtype="float32")).numpy()
    assert np.allclose(actual, expected, atol=1e-5)


def test_neighbours_of_digits_stay_neighbours() -> None:
    x = digits(300)
    calls: list[int] = []
    positions = tsne.embed(
        wt.tensor(x), steps=250, on_step=lambda step, positions: calls.append(step)
    )
    assert calls == list(range(1, 251))
    assert trustworthiness(x, positions.numpy()) > 0.97
    scattered = np.random.default_rng(1).normal(size=(300, 2))
    assert trustworthiness(x, scattered) < 0.6


@pytest.mark.parametrize("backend", ["wasm"], indirect=True)
def test_neighbours_of_all_digits_stay_neighbours_at_few_steps(backend: str) -> None:
    x = digits(1797)
    positions = tsne.embed(wt.tensor(x), steps=200)
    assert trustworthiness(x, positions.numpy()) >= 0.95


def test_positions_of_equal_points_are_finite() -> None:
    positions = tsne.embed(wt.ones((10, 3)), perplexity=3.0, steps=20)
    assert np.all(np.isfinite(positions.numpy()))


def test_too_great_a_perplexity_is_refused() -> None:
    with pytest.raises(ValueError, match=r"less than the number of other points, 9, but got 30"):
        tsne.embed(wt.ones((10, 3)))
