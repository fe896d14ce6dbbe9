"""PoseNet on maps that are known."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from webtensor.vision import COCO_KEYPOINTS, Pose, PoseNet
from webtensor.vision.pose_trees import EDGES

STRIDE, CELLS = 16, 9
SIDE = STRIDE * (CELLS - 1) + 1
RANDOM = np.random.default_rng(0)
#: Keypoints of two persons, as (y, x) in pixels of the input, in two halves of it.
LEFT = np.stack([RANDOM.uniform(5, 120, 17), RANDOM.uniform(5, 45, 17)], 1)
RIGHT = np.stack([RANDOM.uniform(5, 120, 17), RANDOM.uniform(85, 120, 17)], 1)
LIKELY, SURE = 2.0, 4.0


def probability(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit)))


def maps(persons: Sequence[tuple[np.ndarray, float]]) -> dict[str, np.ndarray]:
    """What the model predicts of persons: keypoints, and the logit of all of them."""
    heat = np.full((CELLS, CELLS, 17), -9.0)
    offsets = np.zeros((CELLS, CELLS, 2, 17))
    forward, backward = np.zeros((2, CELLS, CELLS, 2, 16))
    for points, logit in persons:
        cells = np.rint(points / STRIDE).astype(int)
        for keypoint, (row, column) in enumerate(cells):
            heat[row, column, keypoint] = logit
            offsets[row, column, :, keypoint] = points[keypoint] - STRIDE * cells[keypoint]
        for edge, (parent, child) in enumerate(EDGES):
            step = points[child] - points[parent]
            forward[(*cells[parent], slice(None), edge)] = step
            backward[(*cells[child], slice(None), edge)] = -step
    return {
        "displacement_fwd": forward.reshape(1, CELLS, CELLS, 32),
        "heatmap": heat[None],
        "displacement_bwd": backward.reshape(1, CELLS, CELLS, 32),
        "offset": offsets.reshape(1, CELLS, CELLS, 34),
    }


def pose_net(persons: Sequence[tuple[np.ndarray, float]], **options: Any) -> PoseNet:
    return PoseNet(constant_model((1, SIDE, SIDE, 3), maps(persons)), **options)


def coordinates(pose: Pose) -> np.ndarray:
    return np.array([(point.y, point.x) for point in pose.keypoints])


IMAGE = wt.zeros((SIDE, SIDE, 3))


def test_persons_are_told_apart(backend: str) -> None:
    model = pose_net([(LEFT, LIKELY), (RIGHT, SURE)])
    right, left = model.estimate_poses(IMAGE)
    np.testing.assert_allclose(coordinates(right), RIGHT, atol=1e-3)
    np.testing.assert_allclose(coordinates(left), LEFT, atol=1e-3)
    assert right.score == pytest.approx(probability(SURE))
    assert left.score == pytest.approx(probability(LIKELY))
    assert tuple(point.name for point in left.keypoints) == COCO_KEYPOINTS
    assert [point.score for point in left.keypoints] == pytest.approx([left.score] * 17)
    assert (left.box.y_min, left.box.x_min) == pytest.approx(tuple(LEFT.min(0)), abs=1e-3)
    assert (left.box.y_max, left.box.x_max) == pytest.approx(tuple(LEFT.max(0)), abs=1e-3)


@pytest.mark.parametrize("visible", COCO_KEYPOINTS)
def test_a_pose_begins_at_any_keypoint(visible: str) -> None:
    outputs = maps([(LEFT, LIKELY)])
    for keypoint, name in enumerate(COCO_KEYPOINTS):
        if name != visible:
            outputs["heatmap"][..., keypoint] -= 3
    (pose,) = PoseNet(constant_model((1, SIDE, SIDE, 3), outputs)).estimate_poses(IMAGE)
    np.testing.assert_allclose(coordinates(pose), LEFT, atol=1e-3)


def test_options_say_which_poses_are_returned() -> None:
    model = pose_net([(LEFT, LIKELY), (RIGHT, SURE)])
    assert len(model.estimate_poses(IMAGE, max_detections=1)) == 1
    assert len(model.estimate_poses(IMAGE, score_threshold=0.9)) == 1
    assert model.estimate_poses(IMAGE, score_threshold=0.99) == []
    assert len(model.estimate_poses(IMAGE, nms_radius=200)) == 1


def test_keypoints_of_an_earlier_pose_do_not_count() -> None:
    other = RIGHT.copy()
    for name in ("left_ankle", "right_ankle", "left_wrist"):
        keypoint = COCO_KEYPOINTS.index(name)
        other[keypoint] = LEFT[keypoint]
    _, pose = pose_net([(other, LIKELY), (LEFT, SURE)]).estimate_poses(IMAGE)
    assert pose.score == pytest.approx(probability(LIKELY) * 14 / 17)


@pytest.mark.parametrize("persons", [[(LEFT, SURE)], [(RIGHT, SURE), (LEFT, LIKELY)]])
def test_the_likeliest_keypoints_of_one_person(backend: str, persons: Any) -> None:
    pose = pose_net(persons).estimate_single_pose(IMAGE)
    np.testing.assert_allclose(coordinates(pose), persons[0][0], atol=1e-3)
    assert pose.score == pytest.approx(probability(SURE))


@pytest.mark.parametrize("height, width", [(2 * SIDE, SIDE), (SIDE, 2 * SIDE)])
def test_images_are_seen_with_a_border(height: int, width: int) -> None:
    model, image = pose_net([(LEFT, SURE)]), wt.zeros((height, width, 3))
    expected = 2 * LEFT - [(2 * SIDE - height) / 2, (2 * SIDE - width) / 2]
    for pose in (model.estimate_single_pose(image), *model.estimate_poses(image)):
        np.testing.assert_allclose(coordinates(pose), expected, atol=1)


def test_results_of_a_mirrored_image() -> None:
    model = pose_net([(LEFT, SURE)])
    expected = [0, SIDE - 1] + LEFT * [1, -1]
    np.testing.assert_allclose(
        coordinates(model.estimate_single_pose(IMAGE, flip_horizontal=True)), expected, atol=1e-3
    )
    (pose,) = model.estimate_poses(IMAGE, flip_horizontal=True)
    np.testing.assert_allclose(coordinates(pose), expected, atol=1e-3)


@pytest.mark.parametrize(
    "architecture, expected",
    [("MobileNetV1", [-1, 1, -1]), ("ResNet50", [-123.15, 255 - 115.9, -103.06])],
)
def test_what_the_model_gets(architecture: Any, expected: list[float]) -> None:
    seen = []
    constants = maps([(LEFT, SURE)])
    heat = constants.pop("heatmap")

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(heat.astype(np.float32))

    graph = computing_model((1, None, None, 3), heat.shape, keep, constants=constants)
    model = PoseNet(graph, architecture=architecture, input_resolution=SIDE)
    image = np.zeros((20, 20, 3), np.uint8)
    image[:, :, 1] = 255
    (pose,) = model.estimate_poses(image)
    np.testing.assert_allclose(coordinates(pose), LEFT * 20 / SIDE, atol=1e-3)
    assert seen[0].shape == (1, SIDE, SIDE, 3)
    np.testing.assert_allclose(seen[0][0, 30, 30], expected, rtol=1e-5)


def test_what_the_model_sees_has_a_height_and_a_width() -> None:
    wide = {name: array[:, :5] for name, array in maps([(LEFT, SURE)]).items()}
    heat = wide.pop("heatmap")
    seen = []

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.shape)
        return wt.tensor(heat.astype(np.float32))

    graph = computing_model((1, None, None, 3), heat.shape, keep, constants=wide)
    PoseNet(graph, input_resolution=(4 * STRIDE + 1, SIDE)).estimate_poses(IMAGE)
    assert seen == [(1, 4 * STRIDE + 1, SIDE, 3)]


def test_no_tensor_is_left(backend: str, no_leak: None) -> None:
    model = pose_net([(LEFT, SURE)])
    model.estimate_poses(wt.zeros((20, 30, 3)))
    model.estimate_single_pose(wt.zeros((20, 30, 3)))
    model.dispose()


def test_the_asynchronous_forms_find_the_same() -> None:
    model = pose_net([(LEFT, LIKELY), (RIGHT, SURE)])
    assert asyncio.run(model.estimate_poses_async(IMAGE)) == model.estimate_poses(IMAGE)
    pose = asyncio.run(model.estimate_single_pose_async(IMAGE))
    assert pose == model.estimate_single_pose(IMAGE)


@pytest.mark.parametrize(
    "changes",
    [
        {"displacement_fwd": "displacement_1"},
        {"heatmap": np.zeros((1, CELLS, CELLS, 18))},
        {"heatmap": np.zeros((1, CELLS, CELLS + 1, 17))},
        {"offset": np.zeros((CELLS, CELLS, 34))},
    ],
)
def test_models_of_other_outputs_are_refused(changes: Any) -> None:
    outputs = maps([])
    for name, change in changes.items():
        if isinstance(change, str):
            outputs[change] = outputs.pop(name)
        else:
            outputs[name] = change
    model = PoseNet(constant_model((1, SIDE, SIDE, 3), outputs))
    with pytest.raises(ValueError, match=r"PoseNet: expected a graph model with .*'fwd' and 'bwd'"):
        model.estimate_poses(IMAGE)


@pytest.mark.parametrize("side", [SIDE - 1, 1])
def test_the_size_of_the_input_fits_the_stride(side: int) -> None:
    model = PoseNet(constant_model((1, None, None, 3), maps([])), input_resolution=side)
    with pytest.raises(ValueError, match=rf"{side}\) for 9 × 9 cells; choose another input_res"):
        model.estimate_single_pose(IMAGE)


@pytest.mark.parametrize("channels, outputs", [(4, 4), (3, 3)])
def test_other_models_are_refused(channels: int, outputs: int) -> None:
    named = dict(list(maps([]).items())[:outputs])
    with pytest.raises(ValueError, match="PoseNet: expected a graph model with an input"):
        PoseNet(constant_model((1, SIDE, SIDE, channels), named))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"architecture": "VGG"}, "architecture must be 'MobileNetV1' or 'ResNet50', but got 'VGG"),
        ({"input_resolution": 0}, "PoseNet: input_resolution must be a positive integer .* got 0"),
        ({"input_resolution": (129, 0)}, r"input_resolution must be .* 2 of them.* got \(129, 0\)"),
        ({"input_resolution": (129, 97, 3)}, "resolution must be a positive integer or 2 of them"),
        ({"input_resolution": 257.0}, "input_resolution must be a positive integer .* got 257.0"),
    ],
)
def test_arguments_are_checked(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pose_net([], **options)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"max_detections": 0}, "max_detections must be positive, but got 0"),
        ({"score_threshold": 1.5}, r"score_threshold must lie in \[0, 1\], but got 1.5"),
        ({"nms_radius": 0}, "nms_radius must be positive, but got 0"),
    ],
)
def test_options_are_checked(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"estimate_poses: {message}"):
        pose_net([]).estimate_poses(IMAGE, **options)
