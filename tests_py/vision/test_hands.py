"""Hands on predictions that are known."""

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from webtensor.graph import GraphModel
from webtensor.vision import HAND_KEYPOINTS, Hand, HandPose, Keypoint3D, PalmDetector

RANDOM = np.random.default_rng(0)
SIDE, CROP_SIDE = 256, 224
INPUT = (1, CROP_SIDE, CROP_SIDE, 3)
IMAGE = wt.zeros((SIDE, SIDE, 3))
POINTS = RANDOM.uniform(40, 180, (21, 3)).astype(np.float32)
WORLD_POINTS = RANDOM.uniform(-0.1, 0.1, (21, 3)).astype(np.float32)

Palms = Mapping[int, tuple[float, ...]]


def predictions(palms: Palms, count: int = 2944, direction: Any = (0, -20)) -> np.ndarray:
    """A logit, an offset and a size for each anchor; the hands point in one direction."""
    rows = np.zeros((count, 19), np.float32)
    rows[:, 0] = -5
    for anchor, numbers in palms.items():
        rows[anchor, :5] = numbers
        rows[anchor, 9:11] = direction
    return rows[None]


#: In row 10, column 4 of the first grid, whose cells are 8 pixels; the same palm with a lower
#: score; and in row 3, column 6 of the third, whose cells are 32 pixels.
PALMS = {
    2 * (10 * 32 + 4): (2.0, 4.0, -4.0, 20.0, 20.0),
    2 * (10 * 32 + 4) + 1: (1.5, 4.0, -4.0, 20.0, 18.0),
    2 * 32 * 32 + 2 * 16 * 16 + 6 * (3 * 8 + 6): (3.0, 0.0, 0.0, 30.0, 40.0),
}
PALM = {2 * (10 * 32 + 4): PALMS[2 * (10 * 32 + 4)]}
#: Its centre, and the side of the crop around the hand, which lies half a palm further up.
CENTER, CROP = np.array([40.0, 80.0]), 2.6 * 20


def detector(palms: Palms = PALM, direction: Any = (0, -20), **options: Any) -> PalmDetector:
    rows = predictions(palms, direction=direction)
    return PalmDetector(constant_model((1, SIDE, SIDE, 3), {"y": rows}), **options)


def outputs_of(score: float = 0.9, is_left: float = 0.2) -> dict[str, np.ndarray]:
    return {
        "Identity_3": WORLD_POINTS.reshape(1, -1),
        "Identity": POINTS.reshape(1, -1),
        "Identity_2": np.array([[is_left]]),
        "Identity_1": np.array([[score]]),
    }


def hand_model(**numbers: float) -> GraphModel:
    return constant_model(INPUT, outputs_of(**numbers))


def values(points: tuple[Keypoint3D, ...] | None) -> np.ndarray:
    assert points is not None
    return np.array([(point.x, point.y, point.z) for point in points])


def in_image(points: np.ndarray) -> np.ndarray:
    """Points of the crop around the only palm, in the image."""
    scaled = points * CROP / CROP_SIDE
    scaled[:, :2] += CENTER - [0, 10] - CROP / 2
    scaled[:, 2] /= 0.4
    return scaled


def test_landmarks_are_in_pixels_of_the_image(backend: str) -> None:
    (hand,) = HandPose(hand_model(), detector=detector()).estimate_hands(IMAGE)
    np.testing.assert_allclose(values(hand.landmarks), in_image(POINTS), rtol=1e-5)
    np.testing.assert_allclose(values(hand.world_landmarks), WORLD_POINTS, rtol=1e-5)
    assert tuple(point.name for point in hand.landmarks) == HAND_KEYPOINTS
    assert hand.landmarks[0].score is None
    assert hand.score == pytest.approx(0.9)
    assert hand.box.y_min == min(point.y for point in hand.landmarks)


@pytest.mark.parametrize("is_left, handedness", [(0.2, "right"), (0.5, "left"), (0.9, "left")])
def test_handedness_is_the_likelier(is_left: float, handedness: str) -> None:
    model = HandPose(hand_model(is_left=is_left), detector=detector())
    assert model.estimate_hands(IMAGE)[0].handedness == handedness


def test_the_crop_is_turned_so_that_the_hand_points_up() -> None:
    # The hand points to the right.
    model = HandPose(hand_model(), detector=detector(direction=(30, 0)))
    (hand,) = model.estimate_hands(IMAGE)
    turn = np.array([[0, 1], [-1, 0]])
    expected = (POINTS[:, :2] / CROP_SIDE - 0.5) * CROP @ turn + CENTER + [10, 0]
    np.testing.assert_allclose(values(hand.landmarks)[:, :2], expected, rtol=1e-4)
    world = values(hand.world_landmarks)
    np.testing.assert_allclose(world[:, :2], WORLD_POINTS[:, :2] @ turn, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(world[:, 2], WORLD_POINTS[:, 2], rtol=1e-5)


def test_images_of_other_shapes_are_letterboxed() -> None:
    model = HandPose(hand_model(), detector=detector())
    (hand,) = model.estimate_hands(wt.zeros((SIDE, 2 * SIDE, 3)))
    points = POINTS * 2 * CROP / CROP_SIDE
    expected = points[:, :2] + 2 * (CENTER - [0, 10]) - CROP - [0, SIDE / 2]
    np.testing.assert_allclose(values(hand.landmarks)[:, :2], expected, rtol=1e-4)


@pytest.mark.parametrize(
    "names, has_handedness",
    [
        ({"Identity_1": "score", "Identity_2": "points", "Identity_3": "world"}, True),
        ({"Identity": "points", "Identity_1": "score"}, False),
    ],
)
def test_other_layouts_of_outputs(names: Any, has_handedness: bool) -> None:
    arrays = {"score": np.array([[0.9]]), "points": POINTS, "world": WORLD_POINTS}
    outputs = {name: arrays[kind].reshape(1, -1) for name, kind in names.items()}
    if has_handedness:
        outputs["Identity"] = np.array([[0.8]])
    (hand,) = HandPose(constant_model(INPUT, outputs), detector=detector()).estimate_hands(IMAGE)
    np.testing.assert_allclose(values(hand.landmarks), in_image(POINTS), rtol=1e-5)
    assert hand.handedness == ("left" if has_handedness else None)
    assert (hand.world_landmarks is None) is not has_handedness


def test_results_of_a_mirrored_image() -> None:
    model = HandPose(hand_model(), detector=detector())
    (hand,), (flipped,) = (model.estimate_hands(IMAGE, flip) for flip in (False, True))
    width = [-1, 1, 1], [SIDE - 1, 0, 0]
    np.testing.assert_allclose(
        values(flipped.landmarks), values(hand.landmarks) * width[0] + width[1]
    )
    np.testing.assert_allclose(
        values(flipped.world_landmarks), values(hand.world_landmarks) * [-1, 1, 1]
    )
    assert flipped.box.x_min == SIDE - 1 - hand.box.x_max
    assert flipped.handedness == hand.handedness


def test_options_say_which_hands_are_returned() -> None:
    def count(max_hands: int = 5, **options: Any) -> int:
        model = HandPose(hand_model(), detector=detector(PALMS, **options))
        return len(model.estimate_hands(IMAGE, max_hands=max_hands))

    assert count() == 2
    assert count(max_hands=1) == 1
    assert count(iou_threshold=1) == 3
    assert count(score_threshold=0.9) == 1
    assert count(score_threshold=0.99) == 0
    assert HandPose(hand_model(score=0.4), detector=detector()).estimate_hands(IMAGE) == []
    likely = HandPose(hand_model(score=0.4), detector=detector(), min_score=0.3)
    assert len(likely.estimate_hands(IMAGE)) == 1


@pytest.mark.parametrize("side, count", [(256, 2944), (192, 2016)])
@pytest.mark.parametrize("is_joined", [True, False])
def test_detectors_of_either_size(side: int, count: int, is_joined: bool) -> None:
    rows = predictions({0: (2.0, 0.0, 0.0, 20.0, 20.0)}, count)
    parts = {"y": rows} if is_joined else {"a": rows[:, :, 1:], "b": rows[:, :, :1]}
    palms = PalmDetector(constant_model((1, side, side, 3), parts))
    (hand,) = HandPose(hand_model(), detector=palms).estimate_hands(wt.zeros((side, side, 3)))
    expected = POINTS[:, :2] * CROP / CROP_SIDE + [4, 4 - 10] - CROP / 2
    np.testing.assert_allclose(values(hand.landmarks)[:, :2], expected, rtol=1e-4, atol=1e-4)


def test_models_get_numbers_between_zero_and_one() -> None:
    seen = []

    def seeing(results: np.ndarray, constants: Any = None) -> GraphModel:
        def keep(image: wt.Tensor) -> wt.Tensor:
            seen.append(image.numpy())
            return wt.tensor(results)

        side = CROP_SIDE if constants else SIDE
        shape = (1, side, side, 3)
        return computing_model(shape, results.shape, keep, constants=constants)

    palms = PalmDetector(seeing(predictions(PALM)))
    # The output of the name "y" is the first by length.
    others = {"Identity": np.array([[0.9]])}
    HandPose(seeing(POINTS.reshape(1, -1), others), detector=palms).estimate_hands(
        np.full((SIDE, SIDE, 3), 255, np.uint8)
    )
    for inputs in seen:
        np.testing.assert_allclose(inputs, np.ones_like(inputs), rtol=1e-6)
    assert [inputs.shape[1] for inputs in seen] == [SIDE, CROP_SIDE]


def test_the_asynchronous_form_finds_the_same() -> None:
    model = HandPose(hand_model(), detector=detector(PALMS))
    hands: list[Hand] = asyncio.run(model.estimate_hands_async(IMAGE, True, 1))
    assert hands == model.estimate_hands(IMAGE, True, 1)


def test_no_tensor_is_left(backend: str, no_leak: None) -> None:
    palms = detector()
    model = HandPose(hand_model(), detector=palms)
    model.estimate_hands(wt.zeros((SIDE, SIDE, 3)))
    model.dispose()
    palms.dispose()


@pytest.mark.parametrize("shape", [(1, 192, 190, 3), (1, 192, 192, 1), (1, None, None, 3)])
def test_models_of_other_inputs_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="HandPose: expected a graph model with an input"):
        HandPose(constant_model(shape, outputs_of()), detector=detector())
    with pytest.raises(ValueError, match="PalmDetector: expected a graph model with an input"):
        PalmDetector(constant_model(shape, {"y": predictions(PALM)}))


@pytest.mark.parametrize("sizes", [(63,), (63, 1, 1), (1, 63), (63, 1, 63, 1)])
def test_models_of_other_outputs_are_refused(sizes: Any) -> None:
    outputs = {f"y{index}": np.zeros((1, size)) for index, size in enumerate(sizes)}
    model = HandPose(constant_model(INPUT, outputs), detector=detector())
    with pytest.raises(ValueError, match=r"outputs of 63 and 1, or of 63, 1, 1 and 63, or of 1"):
        model.estimate_hands(IMAGE)


@pytest.mark.parametrize(
    "shapes",
    [
        [(1, 2944, 18)],
        [(1, 2943, 19)],
        [(1, 2016, 19)],
        [(1, 2944, 19)] * 2,
        [(1, 2944, 1), (1, 2016, 18)],
    ],
)
def test_detectors_of_other_outputs_are_refused(shapes: Any) -> None:
    outputs = {f"y{index}": np.zeros(shape) for index, shape in enumerate(shapes)}
    palms = PalmDetector(constant_model((1, SIDE, SIDE, 3), outputs))
    message = r"PalmDetector: .* add up to \(1, anchors, 19\) with 2944 or 2016 anchors, but this"
    with pytest.raises(ValueError, match=message):
        HandPose(hand_model(), detector=palms).estimate_hands(IMAGE)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"detector": "palms"}, TypeError, "detector must be a PalmDetector, but got str"),
        ({"min_score": -1}, ValueError, r"min_score must lie in \[0, 1\], but got -1"),
    ],
)
def test_options_are_checked(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"HandPose: {message}"):
        HandPose(hand_model(), **{"detector": detector(), **options})


@pytest.mark.parametrize("argument", ["iou_threshold", "score_threshold"])
def test_thresholds_are_checked(argument: str) -> None:
    message = rf"PalmDetector: {argument} must lie in \[0, 1\], but got 75"
    options: dict[str, Any] = {argument: 75}
    with pytest.raises(ValueError, match=message):
        detector(**options)


@pytest.mark.parametrize(
    "max_hands, error, message",
    [
        (0, ValueError, "max_hands must be positive, but got 0"),
        (1.5, TypeError, "max_hands must be an integer, but got 1.5"),
    ],
)
def test_the_number_of_hands_is_checked(
    max_hands: Any, error: type[Exception], message: str
) -> None:
    model = HandPose(hand_model(), detector=detector())
    with pytest.raises(error, match=f"estimate_hands: {message}"):
        model.estimate_hands(IMAGE, max_hands=max_hands)
    with pytest.raises(error, match=f"estimate_hands: {message}"):
        asyncio.run(model.estimate_hands_async(IMAGE, max_hands=max_hands))
