"""Tracking of persons by MoveNet, on poses that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model
from webtensor.vision import MoveNet, Pose

RANDOM = np.random.default_rng(1)
#: y and x of the keypoints of a person, as parts of the box around the person.
BODY = RANDOM.uniform(0, 1, (17, 2))
BODY[:2] = [0, 0], [1, 1]
IMAGE = wt.zeros((64, 64, 3))

#: Where a person is: the upper left corner of a box of a quarter of the image's height and width.
Position = tuple[float, float]
LEFT, MIDDLE, RIGHT = (0.1, 0.05), (0.4, 0.4), (0.6, 0.7)


class Video:
    """A model that finds persons at given positions in each frame."""

    def __init__(self, **options: Any) -> None:
        self._rows = np.zeros((1, 6, 56), np.float32)
        graph = computing_model(
            (1, None, None, 3), self._rows.shape, lambda _: wt.tensor(self._rows), "int32"
        )
        self.model = MoveNet(graph, **options)

    def frame(self, *positions: Position, time: float | None, score: float = 0.9) -> list[Pose]:
        self._rows[:] = 0
        for row, position in zip(self._rows[0], positions, strict=False):
            keypoints = np.array(position) + 0.25 * BODY
            row[:51] = np.concatenate([keypoints, np.full((17, 1), score)], 1).ravel()
            row[51:] = *position, *(np.array(position) + 0.25), 0.8
        return self.model.estimate_poses(IMAGE, time)

    def ids(self, *positions: Position, time: float | None, score: float = 0.9) -> list[int | None]:
        return [pose.id for pose in self.frame(*positions, time=time, score=score)]


def moved(position: Position, step: float) -> Position:
    return position[0] + step, position[1] + step


@pytest.mark.parametrize("tracker_type", ["bounding_box", "keypoint"])
def test_persons_keep_their_numbers(tracker_type: Any) -> None:
    video = Video(tracker_type=tracker_type)
    assert video.ids(LEFT, RIGHT, time=0) == [1, 2]
    assert video.ids(moved(RIGHT, 0.02), moved(LEFT, 0.02), time=40) == [2, 1]
    assert video.ids(MIDDLE, moved(LEFT, 0.04), time=80) == [3, 1]


def test_each_person_is_linked_once() -> None:
    video = Video()
    assert video.ids(LEFT, time=0) == [1]
    assert video.ids(moved(LEFT, 0.01), LEFT, time=40) == [1, 2]


def test_of_several_persons_the_nearest_is_the_same() -> None:
    video = Video()
    assert video.ids(LEFT, moved(LEFT, 0.1), time=0) == [1, 2]
    assert video.ids(moved(LEFT, 0.08), time=40) == [2]


@pytest.mark.parametrize("time, number", [(1000.0, 1), (1001.0, 2)])
def test_persons_who_are_not_seen_are_remembered_for_a_second(time: float, number: int) -> None:
    video = Video()
    video.ids(LEFT, time=0)
    assert video.ids(time=time / 2) == []
    assert video.ids(LEFT, time=time) == [number]


@pytest.mark.parametrize("tracker_type", ["bounding_box", "keypoint"])
@pytest.mark.parametrize("time, number", [(50.0, 1), (51.0, 2)])
def test_persons_may_be_remembered_for_less(tracker_type: Any, time: float, number: int) -> None:
    video = Video(tracker_type=tracker_type, tracker_config={"max_age": 50})
    video.ids(LEFT, time=0)
    assert video.ids(LEFT, time=time) == [number]


@pytest.mark.parametrize("tracker_type", ["bounding_box", "keypoint"])
def test_the_persons_who_were_seen_last_are_remembered(tracker_type: Any) -> None:
    video = Video(tracker_type=tracker_type, tracker_config={"max_tracks": 1})
    video.ids(LEFT, time=0)
    assert video.ids(RIGHT, time=40) == [2]
    assert video.ids(RIGHT, LEFT, time=80) == [2, 3]


@pytest.mark.parametrize("min_similarity, number", [(0.3, 1), (0.6, 2)])
def test_a_similarity_says_who_is_the_same(min_similarity: float, number: int) -> None:
    # Two boxes whose intersection is half of each: a third of their union.
    video = Video(tracker_config={"min_similarity": min_similarity})
    video.ids(LEFT, time=0)
    assert video.ids((LEFT[0], LEFT[1] + 0.125), time=40) == [number]


@pytest.mark.parametrize(
    "config, number",
    [
        ({}, 2),
        ({"keypoint_confidence_threshold": 0.2}, 1),
        ({"keypoint_confidence_threshold": 0.2, "min_number_of_keypoints": 18}, 2),
    ],
)
def test_unlikely_keypoints_do_not_count(config: Any, number: int) -> None:
    video = Video(tracker_type="keypoint", tracker_config=config)
    video.ids(LEFT, time=0, score=0.25)
    assert video.ids(LEFT, time=40, score=0.25) == [number]


def test_keypoints_count_by_their_distance() -> None:
    falloff = [1.0] * 17
    step = 0.05
    similarity = np.exp(-2 * step**2 / (2 * 0.25**2 * 2**2))
    for limit, number in ((similarity - 1e-3, 1), (similarity + 1e-3, 2)):
        config = {"keypoint_falloff": falloff, "min_similarity": float(limit)}
        video = Video(tracker_type="keypoint", tracker_config=config)
        video.ids(LEFT, time=0)
        assert video.ids(moved(LEFT, step), time=40) == [number]


def test_a_new_video_has_new_persons() -> None:
    video = Video()
    video.ids(LEFT, time=0)
    video.model.reset()
    assert video.ids(LEFT, time=0) == [2]


def test_images_and_videos_without_tracking_have_no_numbers() -> None:
    assert Video().ids(LEFT, time=None) == [None]
    assert Video(enable_tracking=False).ids(LEFT, time=0) == [None]


def largest_step(**options: Any) -> float:
    """The largest step of a keypoint of two persons who tremble, and whose order changes."""
    video = Video(**options)
    noses: dict[int, list[float]] = {0: [], 1: []}
    for number in range(1, 21):
        step = 0.004 * (number % 2)
        positions = [moved(LEFT, step), moved(RIGHT, step)]
        order = [0, 1] if number % 3 else [1, 0]
        poses = video.frame(*(positions[index] for index in order), time=33.0 * number)
        for index, pose in zip(order, poses, strict=True):
            noses[index].append(pose.keypoints[0].y)
    return float(max(np.abs(np.diff(values)).max() for values in noses.values()))


def test_persons_who_are_tracked_are_smoothed() -> None:
    step = 0.004 * 64
    assert largest_step(enable_tracking=False) == pytest.approx(step, rel=1e-3)
    assert largest_step(enable_smoothing=False) == pytest.approx(step, rel=1e-3)
    assert largest_step() < 0.9 * step


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"min_pose_score": 1.5}, ValueError, r"min_pose_score must lie in \[0, 1\], but got 1.5"),
        (
            {"tracker_type": "boundingBox"},
            ValueError,
            "must be 'bounding_box' or 'keypoint', but got",
        ),
        ({"tracker_config": {"maxAge": 5}}, TypeError, "unknown option 'maxAge'; there are max_tr"),
        (
            {"tracker_config": {"max_tracks": 0}},
            ValueError,
            "max_tracks must be positive, but got 0",
        ),
        ({"tracker_config": {"max_age": 0}}, ValueError, "max_age must be positive, but got 0"),
        ({"tracker_config": {"max_age": [1]}}, TypeError, "max_age must be a number"),
    ],
)
def test_options_are_checked(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"MoveNet: .*{message}"):
        Video(**options)


@pytest.mark.parametrize(
    "config, message",
    [
        ({"keypoint_confidence_threshold": -0.1}, r"threshold must lie in \[0, 1\], but got -0.1"),
        ({"keypoint_falloff": [0.1]}, "keypoint_falloff must be 17 positive numbers"),
        ({"keypoint_falloff": [0.0] * 17}, "keypoint_falloff must be 17 positive numbers"),
        ({"min_number_of_keypoints": 0}, "min_number_of_keypoints must be positive, but got 0"),
    ],
)
def test_options_of_keypoints_are_checked(config: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"MoveNet: .*{message}"):
        Video(tracker_type="keypoint", tracker_config=config)
