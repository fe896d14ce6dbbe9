"""k-means against scikit-learn."""

import math

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

import webtensor as wt
from docs.examples import kmeans

pytestmark = pytest.mark.usefixtures("backend")


def test_the_program_draws_a_chart(capsys: pytest.CaptureFixture[str]) -> None:
    chart = kmeans.main()
    assert chart.svg.startswith("<svg")
    assert "centre (4.0, 3.9)" in capsys.readouterr().out


@pytest.mark.parametrize("count", [1, 3, 7])
def test_against_scikit_learn(count: int) -> None:
    points = load_iris().data.astype(np.float32)
    first = kmeans.start(wt.tensor(points), count, seed=5).numpy()
    expected = KMeans(count, init=first, n_init=1, tol=0).fit(points)
    actual = kmeans.cluster(wt.tensor(points), count, seed=5)
    assert np.allclose(actual.centres.numpy(), expected.cluster_centers_, atol=1e-4)
    assert math.isclose(actual.inertia, expected.inertia_, rel_tol=1e-4)
    assert np.array_equal(actual.labels.numpy(), expected.labels_)


def test_starts_are_in_separate_groups() -> None:
    groups = wt.repeat(100.0 * wt.eye(6), 20, axis=0)
    points = groups + wt.random_normal(groups.shape, seed=1)
    for seed in range(20):
        centres = kmeans.start(points, 6, seed).numpy()
        assert sorted(np.argmax(centres, axis=1)) == [0, 1, 2, 3, 4, 5]


def test_a_centre_without_points_stays() -> None:
    centres = kmeans.move(wt.tensor([[0.0], [1.0]]), wt.tensor([[0.5], [9.0]]))
    assert centres.tolist() == [[0.5], [9.0]]
