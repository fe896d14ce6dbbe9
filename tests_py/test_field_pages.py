"""The pure parts of the pages that draw fields: grids, and points of two classes."""

import numpy as np
import pytest

import webtensor as wt
from web.playground.point_sets import POINT_SETS
from web.shared.fields import flat, grid

pytestmark = pytest.mark.usefixtures("backend")


def test_grid_goes_row_by_row_from_the_top() -> None:
    points = grid(4, 1.0).numpy()
    assert points.shape == (16, 2)
    steps = np.array([-0.75, -0.25, 0.25, 0.75])
    assert np.allclose(points[:4], np.stack([steps, np.full(4, 0.75)], axis=1))
    assert np.allclose(points[::4, 1], steps[::-1])


def test_flat_joins_all_elements() -> None:
    joined = flat(wt.tensor(1.0), wt.tensor([[2.0, 3.0], [4.0, 5.0]]), wt.tensor([6.0]))
    assert joined.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("name", POINT_SETS)
def test_points_have_both_classes_and_lie_on_the_square(name: str) -> None:
    points, labels = (tensor.numpy() for tensor in POINT_SETS[name](400, 0.0))
    assert points.shape == (400, 2)
    assert set(labels.tolist()) == {-1.0, 1.0}
    assert 120 < np.sum(labels > 0) < 280
    assert np.max(np.abs(points)) <= 1.05


@pytest.mark.parametrize("name", POINT_SETS)
def test_noise_moves_points(name: str) -> None:
    def with_noise(noise: float) -> np.ndarray:
        wt.set_random_seed(3)
        return POINT_SETS[name](400, noise)[0].numpy()

    moved = with_noise(0.5) - with_noise(0.0)
    assert np.isclose(np.std(moved), 0.2, rtol=0.1)


def test_a_radius_parts_the_circle() -> None:
    points, labels = (tensor.numpy() for tensor in POINT_SETS["circle"](400, 0.0))
    assert np.array_equal(np.hypot(*points.T) < 0.5, labels > 0)


def test_signs_part_the_quadrants() -> None:
    points, labels = (tensor.numpy() for tensor in POINT_SETS["xor"](400, 0.0))
    assert np.array_equal(points[:, 0] * points[:, 1] > 0, labels > 0)


def test_the_diagonal_parts_the_gaussians() -> None:
    points, labels = (tensor.numpy() for tensor in POINT_SETS["gauss"](400, 0.0))
    assert np.mean((points.sum(axis=1) > 0) == (labels > 0)) > 0.98


def test_neighbours_on_a_spiral_are_of_its_class() -> None:
    points, labels = (tensor.numpy() for tensor in POINT_SETS["spiral"](400, 0.0))
    distances = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    np.fill_diagonal(distances, np.inf)
    same = labels[np.argmin(distances, axis=1)] == labels
    assert np.mean(same) > 0.95
    # A line cannot part them.
    plane, *_ = np.linalg.lstsq(np.c_[points, np.ones(400)], labels, rcond=None)
    assert np.mean((np.c_[points, np.ones(400)] @ plane > 0) == (labels > 0)) < 0.75
