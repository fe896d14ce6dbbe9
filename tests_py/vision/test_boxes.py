"""Rectangles: overlaps, letterboxes, rotated crops, anchors."""

from math import pi

import numpy as np
import pytest

import webtensor as wt
from webtensor.vision import Box, boxes

RANDOM = np.random.default_rng(0)


def random_corners(count: int) -> np.ndarray:
    starts, sizes = RANDOM.uniform(0, 10, (2, count, 2))
    return np.concatenate([starts, starts + sizes], 1).astype(np.float32)


def overlap(first: np.ndarray, second: np.ndarray) -> float:
    sides = np.minimum(first[2:], second[2:]) - np.maximum(first[:2], second[:2])
    shared = np.prod(np.maximum(sides, 0))
    return float(
        shared / (np.prod(first[2:] - first[:2]) + np.prod(second[2:] - second[:2]) - shared)
    )


def test_intersection_over_union_of_all_pairs(backend: str, no_leak: None) -> None:
    first, second = random_corners(5), random_corners(7)
    expected = [[overlap(box, other) for other in second] for box in first]
    results = boxes.intersection_over_union(first, second)
    np.testing.assert_allclose(results.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_areas_of_integer_boxes_may_exceed_integers(backend: str) -> None:
    whole, half = [0, 0, 60_000, 60_000], [0, 0, 60_000, 30_000]
    assert boxes.intersection_over_union([whole], [half]).tolist() == [[0.5]]


def test_boxes_without_an_area_overlap_nothing() -> None:
    assert boxes.intersection_over_union([[1, 1, 1, 1]], [[1, 1, 1, 1]]).tolist() == [[0.0]]


def test_centers_and_corners_are_inverse() -> None:
    corners = random_corners(6).reshape(2, 3, 4)
    centers = boxes.corners_to_centers(corners)
    np.testing.assert_allclose(
        centers.numpy()[..., 2], corners[..., 2] - corners[..., 0], rtol=1e-5
    )
    np.testing.assert_allclose(boxes.centers_to_corners(centers).numpy(), corners, rtol=1e-5)


@pytest.mark.parametrize("name", ["centers_to_corners", "corners_to_centers"])
def test_a_box_has_four_numbers(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name}: boxes must have shape \(…, 4\), .* \(2, 3\)"):
        getattr(boxes, name)(wt.zeros((2, 3)))


def test_suppression_keeps_the_best_of_overlapping_boxes(backend: str) -> None:
    candidates = [Box(0, 0, 10, 10), Box(1, 0, 11, 10), Box(40, 0, 50, 10), Box(0, 8, 10, 18)]
    scores = [0.6, 0.9, 0.7, 0.8]
    assert boxes.suppress(candidates, scores, 10, 0.3) == [1, 3, 2]
    assert boxes.suppress(candidates, scores, 2, 0.3) == [1, 3]
    assert boxes.suppress([], [], 2, 0.3) == []


@pytest.mark.parametrize("shape", [(30, 60, 3), (60, 30, 3), (31, 47, 3), (20, 20, 3)])
def test_a_letterbox_keeps_the_aspect_ratio(shape: tuple[int, int, int]) -> None:
    image = wt.ones(shape)
    scaled, placement = boxes.letterbox(image, 40, 40)
    assert scaled.shape == (40, 40, 3)
    assert placement.x_scale == pytest.approx(placement.y_scale, rel=0.05)
    inside = scaled.numpy()[:, :, 0] > 0.5
    rows, columns = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
    left, top = placement.to_image(columns[0], rows[0])
    right, bottom = placement.to_image(columns[-1] + 1, rows[-1] + 1)
    assert (top, left) == pytest.approx((0, 0), abs=1.6)
    assert (bottom, right) == pytest.approx(shape[:2], abs=1.6)


def test_a_region_is_cut_out_and_turned_upright(backend: str) -> None:
    image = RANDOM.uniform(0, 1, (9, 11, 2)).astype(np.float32)
    upright = boxes.Region(x_center=5, y_center=4, width=4, height=6)
    crop = boxes.crop_region(wt.tensor(image), upright, 6, 4)
    np.testing.assert_allclose(crop.numpy(), image[1:7, 3:7], atol=1e-6)
    turned = boxes.Region(x_center=5, y_center=4, width=6, height=4, rotation=pi / 2)
    crop = boxes.crop_region(wt.tensor(image), turned, 4, 6)
    np.testing.assert_allclose(crop.numpy(), np.rot90(image[1:7, 3:7]), atol=1e-5)


def test_pixels_beyond_the_image_are_zero() -> None:
    region = boxes.Region(x_center=0, y_center=0, width=4, height=4)
    crop = boxes.crop_region(wt.ones((4, 4, 1)), region, 4, 4).numpy()[:, :, 0]
    np.testing.assert_array_equal(crop, np.kron([[0, 0], [0, 1]], np.ones((2, 2))))


def test_pixels_beyond_the_image_may_be_the_nearest() -> None:
    image = RANDOM.uniform(0, 1, (4, 4, 1)).astype(np.float32)
    region = boxes.Region(x_center=0, y_center=2, width=4, height=4)
    crop = boxes.crop_region(wt.tensor(image), region, 4, 4, fill_mode="nearest").numpy()
    np.testing.assert_allclose(crop, image[:, [0, 0, 0, 1]], atol=1e-6)


def test_a_square_region_is_shifted_along_its_own_axis() -> None:
    region = boxes.square_region(Box(10, 10, 20, 30), rotation=pi / 2, scale=2.0, y_shift=-0.5)
    assert (region.x_center, region.y_center) == pytest.approx((25, 20))
    assert (region.width, region.height) == (40, 40)


def test_points_of_a_region_are_where_its_pixels_come_from() -> None:
    image = np.zeros((40, 40, 1), np.float32)
    image[11, 27] = 1
    region = boxes.Region(x_center=22, y_center=15, width=20, height=30, rotation=0.4)
    crop = boxes.crop_region(wt.tensor(image), region, 60, 40).numpy()[:, :, 0]
    y, x = np.unravel_index(crop.argmax(), crop.shape)
    assert region.to_image((x + 0.5) / 40, (y + 0.5) / 60) == pytest.approx((27.5, 11.5), abs=0.5)


def test_anchors_of_two_layers_of_one_stride_share_a_grid() -> None:
    anchors = boxes.ssd_anchors((32, 48), (16, 16))
    assert len(anchors) == 2 * 3 * 4
    assert anchors[:4] == [(0.25, 1 / 6, 1.0, 1.0)] * 4
    assert anchors[4][:2] == pytest.approx((0.25, 0.5))
    assert anchors[12][:2] == pytest.approx((0.75, 1 / 6))


def test_sizes_of_anchors_follow_scales_and_ratios() -> None:
    anchors = boxes.ssd_anchors(
        (64, 64),
        (32, 64),
        min_scale=0.2,
        max_scale=0.8,
        aspect_ratios=(1.0, 4.0),
        interpolated_scale_aspect_ratio=1.0,
        fixed_size=False,
    )
    sizes = [(0.2, 0.2), (0.1, 0.4), (0.4, 0.4)]
    last_sizes = [(0.8, 0.8), (0.4, 1.6), (0.8**0.5, 0.8**0.5)]
    assert len(anchors) == 4 * 3 + 3
    for anchor, size in zip([*anchors[:3], *anchors[-3:]], sizes + last_sizes, strict=True):
        assert anchor[2:] == pytest.approx(size)


@pytest.mark.parametrize("strides", [(), (8, 0), (-1,)])
def test_strides_are_positive(strides: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="ssd_anchors: strides must be positive"):
        boxes.ssd_anchors((64, 64), strides)
