"""Meshes of faces on predictions that are known."""

import asyncio
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from tests_py.vision.test_blazeface import FACES, predictions
from webtensor.graph import GraphModel
from webtensor.vision import FACE_CONTOURS, BlazeFace, FaceMesh, IrisModel, MeshFace

RANDOM = np.random.default_rng(0)
SIDE, EYE_SIDE = 192, 64
INPUT = (1, SIDE, SIDE, 3)
IMAGE = wt.zeros((128, 128, 3))
#: A mesh with the right eye at the left, as crops have it.
MESH = RANDOM.uniform(60, 130, (468, 3)).astype(np.float32)
MESH[33], MESH[133], MESH[362], MESH[263] = (60, 80, 1), (80, 80, 2), (110, 80, 3), (130, 80, 4)
MESH[10], MESH[152], MESH[234], MESH[454] = (96, 32, 0), (96, 160, 0), (32, 96, 0), (150, 96, 0)
LIPS, EYES = RANDOM.uniform(70, 120, (80, 2)), RANDOM.uniform(0, 20, (2, 71, 2)) + 60
IRISES = RANDOM.uniform(0, 10, (2, 5, 2)) + 65
EYES[1, :, 0] += 50
IRISES[1, :, 0] += 50
#: What a detector with one face finds: a box of 20 × 20 pixels around (48, 26), with level eyes.
DETECTED = {2 * (3 * 16 + 5): (2.0, 4.0, -2.0, 20.0, 20.0)}


def detector(faces: Any = DETECTED, turned: bool = False) -> BlazeFace:
    rows = predictions(faces)
    if not turned:
        rows[0, :, 6::2] = 0
    return BlazeFace(constant_model((1, 128, 128, 3), {"y": rows}))


def mesh_model(score: float = 0.9, **outputs: np.ndarray) -> GraphModel:
    constants = {"mesh": MESH.reshape(1, -1), "score": np.array([[score]]), **outputs}
    return constant_model(INPUT, constants)


def attention_model(first: int = 0) -> GraphModel:
    """A model with outputs for lips, eyes and irises, in either order of the eyes."""
    second = 1 - first
    return mesh_model(
        lips=LIPS.reshape(1, 1, 1, -1),
        eye_a=EYES[first].reshape(1, -1),
        eye_b=EYES[second].reshape(1, -1),
        iris_a=IRISES[second].reshape(1, -1),
        iris_b=IRISES[first].reshape(1, -1),
    )


def numbers(face: MeshFace) -> np.ndarray:
    return np.array([(point.x, point.y, point.z) for point in face.landmarks])


def in_image(points: np.ndarray) -> np.ndarray:
    """Points of the crop around the detected face, whose side is 30 pixels, in the image."""
    scaled = points * 30 / SIDE
    scaled[..., 0] += 48 - 15
    scaled[..., 1] += 26 - 15
    return scaled


def test_landmarks_are_in_pixels_of_the_image(backend: str) -> None:
    (face,) = FaceMesh(mesh_model(), detector=detector()).estimate_faces(IMAGE)
    np.testing.assert_allclose(numbers(face), in_image(MESH), rtol=1e-5)
    assert face.score == pytest.approx(0.9)
    assert face.box.x_min == min(point.x for point in face.landmarks)
    assert face.box.y_max == max(point.y for point in face.landmarks)
    assert face.landmarks[33].name == "right_eye"
    assert face.landmarks[13].name == "lips_inner"
    assert face.landmarks[1].name == ""
    assert face.landmarks[0].score is None


def test_the_crop_is_turned_so_that_the_eyes_are_level() -> None:
    # The left eye is one pixel right of the right one, and two below.
    (face,) = FaceMesh(mesh_model(), detector=detector(turned=True)).estimate_faces(IMAGE)
    angle = np.arctan2(2, 1)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    expected = (MESH[:, :2] / SIDE - 0.5) * 30 @ turn + [48, 26]
    np.testing.assert_allclose(numbers(face)[:, :2], expected, rtol=1e-4)


def test_images_of_other_shapes_are_letterboxed_for_the_detector() -> None:
    model = FaceMesh(mesh_model(), detector=detector())
    (face,) = model.estimate_faces(wt.zeros((128, 256, 3)))
    expected = in_image(MESH) * 2 - [0, 64, 0]
    np.testing.assert_allclose(numbers(face), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("first", [0, 1])
def test_attention_moves_lips_and_eyes_and_adds_irises(first: int) -> None:
    (face,) = FaceMesh(attention_model(first), detector=detector()).estimate_faces(IMAGE)
    points, mesh = numbers(face), in_image(MESH)
    assert points.shape == (478, 3)
    for indices, expected in (
        ([61, 146, 91], LIPS[:3]),
        ([312, 311, 310, 415], LIPS[36:40]),
        ([33, 7, 163], EYES[0, :3]),
        ([55, 193], EYES[0, -2:]),
        ([263, 249, 390], EYES[1, :3]),
        ([285, 417], EYES[1, -2:]),
        (range(468, 473), IRISES[0]),
        (range(473, 478), IRISES[1]),
    ):
        np.testing.assert_allclose(points[indices, :2], in_image(expected), rtol=1e-5)
    np.testing.assert_allclose(points[:468, 2], mesh[:, 2], rtol=1e-5)
    lids = [*FACE_CONTOURS["right_eye"]]
    np.testing.assert_allclose(points[468:473, 2], mesh[lids, 2].mean(), rtol=1e-5)
    unmoved = [1, 10, 152, 454]
    np.testing.assert_allclose(points[unmoved], mesh[unmoved], rtol=1e-5)


def test_the_iris_model_sees_right_eyes(backend: str) -> None:
    seen = []
    eye = RANDOM.uniform(0, EYE_SIDE, (76, 3)).astype(np.float32)

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(eye.reshape(1, 1, 1, -1))

    iris = IrisModel(computing_model((1, EYE_SIDE, EYE_SIDE, 3), (1, 1, 1, 228), keep))
    columns = np.tile(np.arange(128, dtype=np.float32)[None, :, None] / 128, (128, 1, 3))
    model = FaceMesh(mesh_model(), detector=detector(), iris=iris)
    (face,) = model.estimate_faces(wt.tensor(columns))
    points = numbers(face)
    side = 2.3 * 20 * 30 / SIDE
    starts = in_image(np.array([(70.0, 80.0), (120.0, 80.0)])) - side / 2
    right = eye[:, :2] / EYE_SIDE * side + starts[0]
    left = eye[:, :2] * [-1, 1] / EYE_SIDE * side + starts[1] + [side, 0]
    np.testing.assert_allclose(points[[33, 7, 163], :2], right[:3], rtol=1e-5)
    np.testing.assert_allclose(points[[263, 249, 390], :2], left[:3], rtol=1e-5)
    np.testing.assert_allclose(points[468:473, :2], right[71:], rtol=1e-5)
    # The edges of the iris are in the order right, top, left, bottom of the image for both eyes.
    np.testing.assert_allclose(points[473:478, :2], left[[71, 74, 73, 72, 75]], rtol=1e-5)
    assert (np.diff(seen[0][0, 0, :, 0]) > 0).all()
    assert (np.diff(seen[1][0, 0, :, 0]) < 0).all()


def test_results_of_a_mirrored_image() -> None:
    model = FaceMesh(mesh_model(), detector=detector())
    (face,), (flipped,) = (model.estimate_faces(IMAGE, flip) for flip in (False, True))
    np.testing.assert_allclose(numbers(flipped), numbers(face) * [-1, 1, 1] + [127, 0, 0])
    assert flipped.box.x_min == 127 - face.box.x_max
    assert [point.name for point in flipped.landmarks] == [point.name for point in face.landmarks]


def test_frames_of_a_video_are_seen_where_the_face_was() -> None:
    model = FaceMesh(mesh_model(), detector=detector())
    (first,) = model.estimate_faces(IMAGE, timestamp=0)
    (second,) = model.estimate_faces(IMAGE, timestamp=40)
    size, center = max(first.box.width, first.box.height) * 1.5, first.box
    start = np.array([center.x_min + center.x_max, center.y_min + center.y_max]) / 2 - size / 2
    expected = MESH[:, :2] * size / SIDE + start
    np.testing.assert_allclose(numbers(second)[:, :2], expected, rtol=1e-5)
    assert model.estimate_faces(IMAGE) == [first]
    model.estimate_faces(IMAGE, timestamp=0)
    model.reset()
    assert model.estimate_faces(IMAGE, timestamp=40) == [first]


def test_a_tracked_face_is_not_found_twice() -> None:
    model = FaceMesh(mesh_model(), detector=detector(), max_faces=3)
    assert len(model.estimate_faces(IMAGE, timestamp=0)) == 1
    assert len(model.estimate_faces(IMAGE, timestamp=40)) == 1


def test_there_are_at_most_max_faces() -> None:
    for count, expected in ((1, 1), (2, 2), (5, 2)):
        model = FaceMesh(mesh_model(), detector=detector(FACES), max_faces=count)
        assert len(model.estimate_faces(IMAGE)) == expected


def test_unlikely_faces_are_left_out_and_not_followed() -> None:
    model = FaceMesh(mesh_model(score=0.4), detector=detector())
    assert model.estimate_faces(IMAGE, timestamp=0) == []
    likely = FaceMesh(mesh_model(score=0.4), detector=detector(), min_score=0.3)
    assert len(likely.estimate_faces(IMAGE)) == 1
    assert FaceMesh(mesh_model(), detector=detector({})).estimate_faces(IMAGE) == []


def test_the_model_gets_numbers_between_zero_and_one_and_the_nearest_pixels_beyond() -> None:
    seen = []

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(MESH.reshape(1, -1))

    mesh = computing_model(INPUT, (1, 1404), keep, constants={"score": np.array([[0.9]])})
    face = {0: (2.0, 0.0, 0.0, 60.0, 60.0)}
    FaceMesh(mesh, detector=detector(face)).estimate_faces(np.full((128, 128, 3), 255, np.uint8))
    np.testing.assert_allclose(seen[0], np.ones(INPUT), rtol=1e-6)


def test_the_asynchronous_form_finds_the_same() -> None:
    iris = IrisModel(constant_model((1, EYE_SIDE, EYE_SIDE, 3), {"y": np.ones((1, 228))}))
    model = FaceMesh(mesh_model(), detector=detector(), iris=iris)
    faces = asyncio.run(model.estimate_faces_async(IMAGE, True))
    assert faces == model.estimate_faces(IMAGE, True)


def test_no_tensor_is_left(backend: str, no_leak: None) -> None:
    detecting = detector()
    iris = IrisModel(constant_model((1, EYE_SIDE, EYE_SIDE, 3), {"y": np.ones((1, 228))}))
    model = FaceMesh(mesh_model(), detector=detecting, iris=iris)
    model.estimate_faces(wt.zeros((128, 128, 3)))
    for each in (model, iris, detecting):
        each.dispose()


def test_contours_are_closed_lines_of_neighbours() -> None:
    for contour in FACE_CONTOURS.values():
        assert len(set(contour)) == len(contour)
        assert all(0 <= index < 478 for index in contour)
    assert len(FACE_CONTOURS["face_oval"]) == 36
    assert len(FACE_CONTOURS["lips_outer"]) == len(FACE_CONTOURS["lips_inner"]) == 20
    assert len(FACE_CONTOURS["left_eye"]) == len(FACE_CONTOURS["right_eye"]) == 16


@pytest.mark.parametrize("shape", [(1, 192, 190, 3), (1, 192, 192, 1), (1, None, None, 3)])
def test_models_of_other_inputs_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="FaceMesh: expected a graph model with an input"):
        FaceMesh(constant_model(shape, {"y": np.zeros((1, 1404))}), detector=detector())
    with pytest.raises(ValueError, match="IrisModel: expected a graph model with an input"):
        IrisModel(constant_model(shape, {"y": np.zeros((1, 228))}))


@pytest.mark.parametrize("sizes", [(1404,), (1, 1401), (1, 160, 142, 10), (1, 160, 142, 142, 10)])
def test_models_of_other_outputs_are_refused(sizes: Any) -> None:
    outputs = {f"y{index}": np.zeros((1, size)) for index, size in enumerate(sizes)}
    model = FaceMesh(constant_model(INPUT, outputs), detector=detector())
    with pytest.raises(ValueError, match=r"FaceMesh: .* outputs of 1 and 1404 numbers, with atten"):
        model.estimate_faces(IMAGE)


def test_iris_models_of_other_outputs_are_refused() -> None:
    iris = IrisModel(constant_model((1, EYE_SIDE, EYE_SIDE, 3), {"y": np.ones((1, 213))}))
    with pytest.raises(ValueError, match=r"IrisModel: .* an output of 228 numbers, but this one"):
        FaceMesh(mesh_model(), detector=detector(), iris=iris).estimate_faces(IMAGE)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"detector": "blazeface"}, TypeError, "detector must be a BlazeFace, but got str"),
        ({"iris": "iris"}, TypeError, "iris must be an IrisModel, but got str"),
        ({"max_faces": 0}, ValueError, "max_faces must be positive, but got 0"),
        ({"min_score": 2}, ValueError, r"min_score must lie in \[0, 1\], but got 2"),
    ],
)
def test_options_are_checked(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"FaceMesh: {message}"):
        FaceMesh(mesh_model(), **{"detector": detector(), **options})
