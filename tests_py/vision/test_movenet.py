"""MoveNet on outputs that are known."""

import asyncio
from itertools import cycle
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from webtensor.vision import COCO_KEYPOINTS, MoveNet, Pose

RANDOM = np.random.default_rng(0)
ONE, SEVERAL = (1, 1, 17, 3), (1, 6, 56)
#: y, x and score of each keypoint.
POINTS = np.concatenate(
    [RANDOM.uniform(0.1, 0.9, (17, 2)), RANDOM.uniform(0.5, 1, (17, 1))], 1
).astype(np.float32)


def one_person(points: Any = POINTS, **options: Any) -> MoveNet:
    output = {"y": np.reshape(points, ONE)}
    return MoveNet(constant_model((1, 16, 16, 3), output, "int32"), **options)


def coordinates(pose: Pose) -> np.ndarray:
    return np.array([(point.y, point.x) for point in pose.keypoints])


@pytest.mark.parametrize("height, width", [(40, 40), (30, 60), (60, 30)])
def test_an_image_is_seen_as_a_whole(backend: str, no_leak: None, height: int, width: int) -> None:
    (pose,) = one_person().estimate_poses(wt.zeros((height, width, 3)))
    side = max(height, width)
    expected = POINTS[:, :2] * side - [(side - height) / 2, (side - width) / 2]
    np.testing.assert_allclose(coordinates(pose), expected, rtol=1e-5, atol=1e-4)
    assert tuple(point.name for point in pose.keypoints) == COCO_KEYPOINTS
    scores = np.array([point.score for point in pose.keypoints], np.float32)
    np.testing.assert_array_equal(scores, POINTS[:, 2])
    assert pose.score == pytest.approx(POINTS[:, 2].mean())
    assert (pose.box.y_min, pose.box.x_min) == pytest.approx(tuple(expected.min(0)), abs=1e-3)
    assert (pose.box.y_max, pose.box.x_max) == pytest.approx(tuple(expected.max(0)), abs=1e-3)


def test_the_model_gets_the_image_with_a_border(backend: str) -> None:
    seen = []

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(POINTS.reshape(ONE))

    model = MoveNet(computing_model((1, 16, 16, 3), ONE, keep, "int32"))
    model.estimate_poses(np.full((20, 40, 3), 200, np.uint8))
    assert seen[0].dtype == np.int32
    np.testing.assert_array_equal(seen[0][0, 5:11], 200)
    np.testing.assert_array_equal(seen[0][0, [0, 1, 2, 13, 14, 15]], 0)


def test_keypoints_of_low_scores_do_not_count() -> None:
    points = POINTS.copy()
    points[4:, 2] = 0.1
    (pose,) = one_person(points).estimate_poses(wt.zeros((10, 10, 3)))
    assert pose.score == pytest.approx(points[:4, 2].mean())
    assert pose.box.x_max == pytest.approx(10 * points[:4, 1].max())
    points[:, 2] = 0.1
    assert one_person(points).estimate_poses(wt.zeros((10, 10, 3))) == []
    (pose,) = one_person(points, min_pose_score=0).estimate_poses(wt.zeros((10, 10, 3)))
    assert pose.score == 0
    assert pose.box.x_max == pytest.approx(10 * points[:, 1].max())


def test_the_first_frame_of_a_video_is_cropped_to_its_middle() -> None:
    model = one_person(enable_smoothing=False)
    for _ in range(2):
        (pose,) = model.estimate_poses(wt.zeros((30, 60, 3)), timestamp=40)
        expected = POINTS[:, :2] * 30 + [0, 15]
        np.testing.assert_allclose(coordinates(pose), expected, rtol=1e-5, atol=1e-4)
        model.reset()


def test_the_next_frame_is_cropped_around_the_person() -> None:
    points = np.full((17, 3), 0.5)
    points[:, 2] = 0.9
    for name, position in {
        "left_shoulder": (0.4, 0.55),
        "right_shoulder": (0.4, 0.45),
        "left_hip": (0.5, 0.55),
        "right_hip": (0.5, 0.45),
        "nose": (0.3, 0.5),
        "left_ankle": (0.6, 0.52),
    }.items():
        points[COCO_KEYPOINTS.index(name), :2] = position
    model = one_person(points, enable_smoothing=False)
    image = wt.zeros((100, 200, 3))
    (first,) = model.estimate_poses(image, timestamp=40)
    assert first.keypoints[0].y == pytest.approx(30)
    assert first.keypoints[0].x == pytest.approx(100)
    # The nose is 20 pixels above the hips, a shoulder 10: the crop reaches 1.2 × 20 pixels.
    (second,) = model.estimate_poses(image, timestamp=80)
    assert second.keypoints[0].y == pytest.approx(50 - 24 + 0.3 * 48, abs=1e-3)
    assert second.keypoints[0].x == pytest.approx(100, abs=1e-3)


def test_the_whole_image_follows_if_the_torso_is_not_visible() -> None:
    points = POINTS.copy()
    for name in ("left_hip", "right_hip"):
        points[COCO_KEYPOINTS.index(name), 2] = 0.1
    model = one_person(points, enable_smoothing=False)
    image = wt.zeros((30, 60, 3))
    model.estimate_poses(image, timestamp=40)
    (pose,) = model.estimate_poses(image, timestamp=80)
    np.testing.assert_allclose(coordinates(pose), POINTS[:, :2] * 60 - [15, 0], atol=1e-3)


def test_the_whole_image_follows_if_the_crop_would_be_larger() -> None:
    points = np.full((17, 3), 0.5)
    points[:, 2] = 0.9
    for name, x in {"shoulder": 0.1, "hip": 0.9}.items():
        for side in ("left", "right"):
            points[COCO_KEYPOINTS.index(f"{side}_{name}"), 1] = x
    model = one_person(points, enable_smoothing=False)
    image = wt.zeros((100, 200, 3))
    model.estimate_poses(image, timestamp=40)
    # The shoulders are 80 pixels beside the hips, 1.9 times of which is more than half the image.
    (pose,) = model.estimate_poses(image, timestamp=80)
    np.testing.assert_allclose(coordinates(pose), points[:, :2] * 200 - [50, 0], atol=1e-3)


def test_the_whole_image_follows_if_all_keypoints_are_one_point() -> None:
    points = np.full((17, 3), 0.5)
    points[0, 0] = 0.25
    points[0, 2] = 0.1
    model = one_person(points, enable_smoothing=False)
    image = wt.zeros((30, 60, 3))
    model.estimate_poses(image, timestamp=40)
    (pose,) = model.estimate_poses(image, timestamp=80)
    assert pose.keypoints[0].y == pytest.approx(0.25 * 60 - 15, abs=1e-3)


def test_a_frame_without_a_person_begins_a_new_video() -> None:
    scores = iter([0.9, 0.0, 0.9])

    def answer(image: wt.Tensor) -> wt.Tensor:
        return wt.tensor(
            np.concatenate([POINTS[:, :2], np.full((17, 1), next(scores))], 1)
        ).reshape(ONE)

    model = MoveNet(computing_model((1, 16, 16, 3), ONE, answer, "int32"), enable_smoothing=False)
    image = wt.zeros((30, 60, 3))
    (first,) = model.estimate_poses(image, timestamp=40)
    assert model.estimate_poses(image, timestamp=80) == []
    (last,) = model.estimate_poses(image, timestamp=120)
    assert last == first


def test_images_without_a_timestamp_have_nothing_to_do_with_others() -> None:
    model = one_person()
    image = wt.zeros((30, 60, 3))
    (pose,) = model.estimate_poses(image)
    model.estimate_poses(image, timestamp=40)
    assert model.estimate_poses(image) == [pose]


def trembling(enable_smoothing: bool) -> float:
    """The largest step of a keypoint in a video whose keypoints move to and fro."""
    shifts = cycle([0.0, 0.004])

    def answer(image: wt.Tensor) -> wt.Tensor:
        # Without hips, the whole image is seen.
        points = POINTS + np.array([next(shifts), 0, 0])
        points[[COCO_KEYPOINTS.index(name) for name in ("left_hip", "right_hip")], 2] = 0
        return wt.tensor(points.reshape(ONE))

    graph = computing_model((1, 16, 16, 3), ONE, answer, "int32")
    model = MoveNet(graph, enable_smoothing=enable_smoothing)
    image = wt.zeros((100, 100, 3))
    poses = [model.estimate_poses(image, timestamp=33.0 * frame)[0] for frame in range(1, 21)]
    return float(np.abs(np.diff([pose.keypoints[0].y for pose in poses])).max())


def test_what_trembles_is_smoothed() -> None:
    assert trembling(enable_smoothing=False) == pytest.approx(0.4, rel=1e-3)
    assert trembling(enable_smoothing=True) < 0.35


@pytest.mark.parametrize("height, width, shape", [(50, 100, (32, 64)), (100, 60, (64, 64))])
def test_several_persons(
    backend: str, no_leak: None, height: int, width: int, shape: tuple[int, int]
) -> None:
    output = np.zeros(SEVERAL, np.float32)
    output[0, :2, :51] = POINTS.ravel()
    output[0, :2, 51:55] = 0.25, 0.125, 0.75, 0.5
    output[0, :, 55] = 0.9, 0.3, 0.2, 0, 0, 0
    seen = []

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.shape)
        return wt.tensor(output)

    graph = computing_model((1, None, None, 3), SEVERAL, keep, "int32")
    model = MoveNet(graph, multi_pose_max_dimension=64)
    poses = model.estimate_poses(wt.zeros((height, width, 3)))
    assert [pose.score for pose in poses] == pytest.approx([0.9, 0.3])
    assert seen[-1] == (1, *shape, 3)
    scale = max(height, width) / 64
    expected = POINTS[:, :2] * shape * scale
    np.testing.assert_allclose(coordinates(poses[0]), expected, rtol=0.02)
    box = poses[0].box
    corners = np.array([box.y_min, box.x_min, box.y_max, box.x_max]) / scale
    expected = np.array([0.25, 0.125, 0.75, 0.5]) * np.array(shape * 2)
    np.testing.assert_allclose(corners, expected, rtol=0.02)


def test_the_asynchronous_form_finds_the_same() -> None:
    model, image = one_person(), wt.zeros((30, 60, 3))
    assert asyncio.run(model.estimate_poses_async(image)) == model.estimate_poses(image)


@pytest.mark.parametrize(
    "input_shape, output_shape",
    [
        ((1, 16, 16, 1), ONE),
        ((1, None, None, 3), ONE),
        ((1, 16, 16, 3), (1, 17, 3)),
        ((16, 16, 3), ONE),
    ],
)
def test_other_models_are_refused(input_shape: Any, output_shape: Any) -> None:
    graph = constant_model(input_shape, {"y": np.zeros(output_shape)})
    with pytest.raises(ValueError, match=r"MoveNet: expected a graph model with .* y \("):
        MoveNet(graph)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match=r"MoveNet: model must be a GraphModel, but got str; MoveN"):
        MoveNet("model.json")  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 100, -32, 64.0])
def test_the_size_of_what_is_seen_is_a_multiple_of_32(size: Any) -> None:
    with pytest.raises(ValueError, match="multi_pose_max_dimension must be a positive multiple"):
        one_person(multi_pose_max_dimension=size)


def test_a_disposed_model_has_no_weights() -> None:
    before = wt.memory()["num_tensors"]
    model = one_person()
    model.estimate_poses(wt.zeros((10, 10, 3)))
    model.dispose()
    assert wt.memory()["num_tensors"] == before
