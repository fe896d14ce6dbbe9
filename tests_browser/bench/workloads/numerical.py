"""Steps of the documentation's programs, beside the same steps with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import webtensor as wt
from docs.examples import tsne
from tests_browser.bench.workload import ONLY_NUMPY, Input, Workload

__all__ = ["NUMERICAL"]

PERPLEXITY = 30.0
#: More than are ever timed, so that all are in the first quarter: one exaggeration, one momentum.
STEPS = 10**6
MOMENTUM = 0.5
DIGITS = Input((1797, 64), 0.0, 1.0)


def in_groups(x: wt.Tensor) -> wt.Tensor:
    """Return points that form ten groups, as digits do.

    Points without groups collapse, until their differences are subnormal numbers, which are slow.
    """
    points, features = x.shape
    return x + 3.0 * wt.one_hot(wt.arange(points) % 10, features)


def tsne_step(x: wt.Tensor) -> Callable[[], wt.Tensor]:
    """Return a step of t-SNE, whose result are the positions."""
    return partial(next, tsne.descend(in_groups(x), PERPLEXITY, STEPS))


def tsne_step_of_numpy(np: Any, x: Any) -> Callable[[], Any]:
    """Return the same step, written as one would with NumPy."""
    points = len(x)
    p = tsne.EXAGGERATION * tsne.affinities(in_groups(wt.tensor(x)), PERPLEXITY).numpy()
    positions = wt.random_normal((points, 2), stddev=1e-4, seed=0).numpy()
    velocities, gains = np.zeros_like(positions), np.ones_like(positions)
    rate = np.float32(max(points / (4 * tsne.EXAGGERATION), 50))

    def gradient() -> Any:
        squares = np.sum(positions**2, axis=1, keepdims=True)
        distances = np.maximum(squares + squares.T - 2 * positions @ positions.T, 0)
        similarities = 1 / (1 + distances)
        q = similarities / (np.sum(similarities) - points)
        forces = (p - q) * similarities
        return 4 * (np.sum(forces, axis=1, keepdims=True) * positions - forces @ positions)

    def step() -> Any:
        nonlocal positions, velocities, gains
        slopes = gradient()
        gains = np.where(slopes * velocities < 0, gains + 0.2, np.maximum(gains * 0.8, 0.01))
        velocities = MOMENTUM * velocities - rate * gains * slopes
        positions = positions + velocities
        positions -= np.mean(positions, axis=0)
        return positions

    return step


NUMERICAL = [
    Workload(
        "tsne.step",
        tsne_step,
        "",
        {"x": DIGITS},
        peers=ONLY_NUMPY,
        makes_step=True,
        numpy=tsne_step_of_numpy,
        threads=threads,
        calls_before_comparing=5,
        tolerance=1e-3,
    )
    for threads in (1, 2)
]
