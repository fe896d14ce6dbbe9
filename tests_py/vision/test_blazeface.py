"""BlazeFace on predictions that are known."""

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from webtensor.vision import BlazeFace, Face

SIDE = 128
LANDMARKS = ("right_eye", "left_eye", "nose", "mouth", "right_ear", "left_ear")
#: Rows of predictions: two anchors in each cell of 16 × 16, then six in each of 8 × 8.
LOWER_GRID = 16 * 16 * 2


def predictions(faces: Mapping[int, tuple[float, ...]]) -> np.ndarray:
    """A logit, an offset and a size for each anchor; landmarks at multiples of (1, 2)."""
    rows = np.zeros((896, 17), np.float32)
    rows[:, 0] = -5
    for anchor, numbers in faces.items():
        rows[anchor, :5] = numbers
        rows[anchor, 5::2], rows[anchor, 6::2] = np.arange(6), 2 * np.arange(6)
    return rows[None]


#: In row 3, column 5 of the first grid, whose cells are 8 pixels; the same face with a lower score;
#: and in row 6, column 1 of the second, whose cells are 16 pixels.
FACES = {
    2 * (3 * 16 + 5): (2.0, 4.0, -2.0, 20.0, 30.0),
    2 * (3 * 16 + 5) + 1: (1.5, 4.0, -2.0, 20.0, 28.0),
    LOWER_GRID + 6 * (6 * 8 + 1) + 3: (3.0, 0.0, 0.0, 40.0, 40.0),
}


def outputs_of(rows: np.ndarray, layout: str) -> dict[str, np.ndarray]:
    upper, lower = rows[:, :LOWER_GRID], rows[:, LOWER_GRID:]
    return {
        "one": {"y": rows},
        "two": {"numbers": rows[:, :, 1:], "logits": rows[:, :, :1]},
        "four": {
            "a": upper[:, :, :1],
            "b": upper[:, :, 1:],
            "c": lower[:, :, 1:],
            "d": lower[:, :, :1],
        },
    }[layout]


def face_model(layout: str = "one", **options: Any) -> BlazeFace:
    outputs = outputs_of(predictions(FACES), layout)
    return BlazeFace(constant_model((1, SIDE, SIDE, 3), outputs), **options)


def corners(face: Face) -> tuple[float, ...]:
    box = face.box
    return box.x_min, box.y_min, box.x_max, box.y_max


@pytest.mark.parametrize("layout", ["one", "two", "four"])
def test_faces_are_in_pixels_of_the_image(backend: str, layout: str) -> None:
    lower, upper = face_model(layout).estimate_faces(wt.zeros((SIDE, 2 * SIDE, 3)))
    assert lower.score == pytest.approx(1 / (1 + np.exp(-3)))
    assert upper.score == pytest.approx(1 / (1 + np.exp(-2)))
    assert corners(lower) == pytest.approx((2 * (24 - 20), 104 - 20, 2 * (24 + 20), 104 + 20))
    assert corners(upper) == pytest.approx((2 * (48 - 10), 26 - 15, 2 * (48 + 10), 26 + 15))
    assert tuple(point.name for point in upper.landmarks) == LANDMARKS
    positions = [(point.x, point.y) for point in upper.landmarks]
    expected = [(2 * (44 + index), 28 + 2 * index) for index in range(6)]
    np.testing.assert_allclose(positions, expected, rtol=1e-6)
    assert upper.landmarks[0].score is None


def test_results_of_a_mirrored_image() -> None:
    model, image = face_model(), wt.zeros((SIDE, SIDE, 3))
    face, mirrored = (model.estimate_faces(image, flip)[0] for flip in (False, True))
    assert mirrored.box.x_min == SIDE - 1 - face.box.x_max
    assert mirrored.box.width == face.box.width
    assert mirrored.box.y_min == face.box.y_min
    for point, other in zip(face.landmarks, mirrored.landmarks, strict=True):
        assert other.x == SIDE - 1 - point.x
        assert (other.y, other.name) == (point.y, point.name)


def test_options_say_which_faces_are_returned() -> None:
    image = wt.zeros((SIDE, SIDE, 3))
    assert len(face_model(max_faces=1).estimate_faces(image)) == 1
    assert len(face_model(iou_threshold=1).estimate_faces(image)) == 3
    assert len(face_model(score_threshold=0.9).estimate_faces(image)) == 1
    assert face_model(score_threshold=0.99).estimate_faces(image) == []


def test_the_model_gets_numbers_between_minus_one_and_one() -> None:
    seen = []

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(predictions(FACES))

    model = BlazeFace(computing_model((1, SIDE, SIDE, 3), (1, 896, 17), keep))
    image = np.zeros((50, 60, 3), np.uint8)
    image[:, 30:] = 255
    model.estimate_faces(image)
    assert seen[0].shape == (1, SIDE, SIDE, 3)
    assert seen[0][0, 0, 0, 0] == -1
    assert seen[0][0, -1, -1, 2] == 1


def test_no_tensor_is_left(backend: str, no_leak: None) -> None:
    model = face_model()
    model.estimate_faces(wt.zeros((20, 20, 3)))
    model.dispose()


def test_the_asynchronous_form_finds_the_same() -> None:
    model, image = face_model(), wt.zeros((30, 60, 3))
    assert asyncio.run(model.estimate_faces_async(image, True)) == model.estimate_faces(image, True)


@pytest.mark.parametrize("shape", [(1, 128, 96, 3), (1, 100, 100, 3), (1, None, None, 3)])
def test_models_of_other_inputs_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="BlazeFace: expected a graph model with an input"):
        BlazeFace(constant_model(shape, {"y": np.zeros((1, 896, 17))}))


@pytest.mark.parametrize(
    "shapes", [[(1, 896, 16)], [(1, 900, 17)], [(1, 896, 1), (1, 512, 16)], [(1, 896, 17)] * 2]
)
def test_models_of_other_outputs_are_refused(shapes: Any) -> None:
    outputs = {f"y{index}": np.zeros(shape) for index, shape in enumerate(shapes)}
    model = BlazeFace(constant_model((1, SIDE, SIDE, 3), outputs))
    with pytest.raises(ValueError, match=r"up to \(1, 896, 17\), but this one has .* y0 \(1, "):
        model.estimate_faces(wt.zeros((SIDE, SIDE, 3)))


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"max_faces": 0}, ValueError, "max_faces must be positive, but got 0"),
        ({"max_faces": 1.5}, TypeError, "max_faces must be an integer, but got 1.5"),
        ({"iou_threshold": -0.1}, ValueError, r"iou_threshold must lie in \[0, 1\], but got -0.1"),
        ({"score_threshold": 75}, ValueError, r"score_threshold must lie in \[0, 1\], but got 75"),
    ],
)
def test_options_are_checked(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        face_model(**options)
