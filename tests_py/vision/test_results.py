"""What models return."""

from dataclasses import FrozenInstanceError

import pytest

from webtensor.vision import COCO_KEYPOINTS, SKELETON, Box, Keypoint
from webtensor.vision.results import box_around


def test_the_skeleton_connects_keypoints_of_coco() -> None:
    assert len(COCO_KEYPOINTS) == len(set(COCO_KEYPOINTS)) == 17
    assert {name for pair in SKELETON for name in pair} == set(COCO_KEYPOINTS)


def test_results_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Box(0, 0, 1, 1).x_min = 5  # type: ignore[misc]


def test_points_without_a_score_count() -> None:
    points = [Keypoint(1, 2, None, "a"), Keypoint(3, 5, 0.0, "b")]
    assert box_around(points) == Box(1, 2, 1, 2)
