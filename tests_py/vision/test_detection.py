"""Detectors of objects on predictions that are known."""

import asyncio
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from webtensor.vision import COCO_LABELS, Box, CenterNet, CocoSSD, DetectedObject, NanoDet

CAT, CUP = COCO_LABELS.index("cat"), COCO_LABELS.index("cup")
#: The corners of boxes in pixels of the input, the score and the class.
ROWS = np.array(
    [
        [10, 20, 30, 50, 0.6, CUP],
        [8, 4, 40, 60, 0.75, CAT],
        [9, 5, 41, 61, 0.7, CUP],
        [50, 50, 60, 60, 0.25, CAT],
    ],
    np.float32,
)


def center_net(**options: Any) -> CenterNet:
    outputs = {"sizes": np.zeros((1, 8, 8, 4)), "detections": ROWS[None]}
    return CenterNet(constant_model((1, 64, 64, 3), outputs), **options)


def corners(item: DetectedObject) -> tuple[float, ...]:
    box = item.box
    return box.x_min, box.y_min, box.x_max, box.y_max


def test_center_net_returns_boxes_in_pixels_of_the_image(backend: str, no_leak: None) -> None:
    cat, cup = center_net().detect(wt.zeros((64, 128, 3)))
    assert (cat.label, cup.label) == ("cat", "cup")
    assert (cat.score, cup.score) == pytest.approx((0.75, 0.6))
    # The letterbox has 32 rows of zeros above and below the image, and half its size.
    assert corners(cat) == (16, 8 - 32, 80, 120 - 32)
    assert corners(cup) == (20, 40 - 32, 60, 100 - 32)


def test_options_say_which_objects_are_returned() -> None:
    image = wt.zeros((64, 64, 3))
    assert [item.label for item in center_net().detect(image, max_num_boxes=1)] == ["cat"]
    assert len(center_net().detect(image, min_score=0.2)) == 3
    assert len(center_net(iou_threshold=1).detect(image)) == 3
    assert len(center_net(iou_threshold=0).detect(image)) == 1
    assert center_net().detect(image, min_score=0.9) == []


def test_center_net_gets_pixels() -> None:
    seen = []

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(ROWS[None])

    model = CenterNet(computing_model((1, 64, 64, 3), (1, 4, 6), keep))
    model.detect(np.full((20, 40, 3), 200, np.uint8))
    np.testing.assert_array_equal(seen[0][0, 20:44], 200)
    np.testing.assert_array_equal(seen[0][0, :14], 0)


HEIGHT, WIDTH, BINS = 32, 64, 5


def nano_det_outputs() -> dict[str, np.ndarray]:
    """Predictions of two grids, of 8 and 16 pixels a cell; each of them sees one object."""
    outputs = {}
    for name, stride, cell, label, distances in (
        ("fine", 8, 2 * 8 + 3, CUP, (1, 2, 3, 0)),
        ("coarse", 16, 1 * 4 + 2, CAT, (2, 1, 1, 0.5)),
    ):
        cells = (HEIGHT // stride) * (WIDTH // stride)
        scores = np.full((1, cells, 80), 0.1)
        scores[0, cell, label] = 0.9 if label == CAT else 0.8
        logits = np.zeros((1, cells, 4, BINS))
        for side, distance in enumerate(distances):
            # The mean of the two bins beside the distance.
            logits[0, cell, side, [int(np.floor(distance)), int(np.ceil(distance))]] = 50
        outputs[f"{name}_logits"] = logits.reshape(1, cells, 4 * BINS)
        outputs[f"{name}_scores"] = scores
    return outputs


def nano_det(**options: Any) -> NanoDet:
    return NanoDet(constant_model((1, 3, HEIGHT, WIDTH), nano_det_outputs()), **options)


def test_nano_det_decodes_distances_to_sides(backend: str, no_leak: None) -> None:
    cat, cup = nano_det(iou_threshold=1).detect(wt.zeros((HEIGHT, WIDTH, 3)))
    assert (cat.label, cup.label) == ("cat", "cup")
    assert (cat.score, cup.score) == pytest.approx((0.9, 0.8))
    assert corners(cat) == pytest.approx((40 - 32, 24 - 16, 40 + 16, 24 + 8))
    assert corners(cup) == pytest.approx((28 - 8, 20 - 16, 28 + 24, 20 + 0))


def test_nano_det_gets_colors_that_are_normalized() -> None:
    seen = []
    constants = nano_det_outputs()
    scores = constants.pop("fine_scores")

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(scores.astype(np.float32))

    graph = computing_model((1, 3, HEIGHT, WIDTH), scores.shape, keep, constants=constants)
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    image[:, :] = 200, 100, 50
    assert len(NanoDet(graph, iou_threshold=1).detect(image)) == 2
    assert seen[0].shape == (1, 3, HEIGHT, WIDTH)
    expected = [(50 - 103.53) / 57.375, (100 - 116.28) / 57.12, (200 - 123.675) / 58.395]
    np.testing.assert_allclose(seen[0][0, :, 5, 6], expected, rtol=1e-5)


#: The numbers of some classes of COCO, which begin with 1 and have gaps.
NUMBERS = {"person": 1, "stop sign": 13, "umbrella": 28, "toilet": 70, "toothbrush": 90}
OUTPUTS = ("scores", "boxes")


def ssd_outputs() -> dict[str, np.ndarray]:
    """Five boxes beside each other, each a fifth of the image wide."""
    scores, boxes = np.zeros((1, 5, 90)), np.zeros((1, 5, 1, 4))
    for index, number in enumerate(NUMBERS.values()):
        scores[0, index, number - 1] = 0.9 - 0.1 * index
        boxes[0, index, 0] = 0.25, 0.2 * index, 0.75, 0.2 * (index + 1)
    return {"scores": scores, "boxes": boxes}


def ssd(shape: Any = (1, None, None, 3), **changes: np.ndarray) -> CocoSSD:
    return CocoSSD(constant_model(shape, {**ssd_outputs(), **changes}, "int32"))


@pytest.mark.parametrize("order", [OUTPUTS, OUTPUTS[::-1]])
def test_ssd_returns_boxes_in_pixels_of_the_image(backend: str, no_leak: None, order: Any) -> None:
    graph = constant_model((1, None, None, 3), {name: ssd_outputs()[name] for name in order})
    items = CocoSSD(graph).detect(wt.zeros((40, 100, 3)), min_score=0.45)
    assert [item.label for item in items] == list(NUMBERS)
    assert [item.score for item in items] == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5])
    for index, item in enumerate(items):
        assert corners(item) == pytest.approx((20 * index, 10, 20 * (index + 1), 30))


def test_ssd_knows_nothing_of_numbers_without_a_class() -> None:
    scores = ssd_outputs()["scores"]
    scores[0, 1:] = 0
    scores[0, 1:, 12 - 1] = 0.95
    (item,) = ssd(scores=scores).detect(wt.zeros((10, 10, 3)))
    assert item.label == "person"


def test_ssd_gets_pixels_in_the_size_of_the_image() -> None:
    seen = []
    constants = ssd_outputs()
    scores = constants.pop("scores").astype(np.float32)

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(scores)

    graph = computing_model((1, None, None, 3), scores.shape, keep, "int32", constants)
    image = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    CocoSSD(graph).detect(image)
    np.testing.assert_array_equal(seen, image[None, None])
    assert seen[0].dtype == np.int32


@pytest.mark.parametrize("shape", [(1, 300, 300, 3), (1, None, None, 1)])
def test_ssd_refuses_other_inputs(shape: Any) -> None:
    with pytest.raises(ValueError, match="CocoSSD: expected a graph model with an input"):
        ssd(shape)


@pytest.mark.parametrize("name, shape", [("scores", (1, 5, 80)), ("boxes", (1, 4, 1, 4))])
def test_ssd_refuses_other_outputs(name: str, shape: Any) -> None:
    model = ssd(**{name: np.zeros(shape)})
    with pytest.raises(ValueError, match=r"CocoSSD: expected a graph model with .* outputs "):
        model.detect(wt.zeros((10, 10, 3)))


@pytest.mark.parametrize("model", [center_net(), nano_det(), ssd()])
def test_the_asynchronous_form_finds_the_same(model: CenterNet | NanoDet | CocoSSD) -> None:
    image = wt.zeros((40, 50, 3))
    assert asyncio.run(model.detect_async(image)) == model.detect(image)


@pytest.mark.parametrize(
    "shape, outputs",
    [
        ((1, 3, 64, 64), [(1, 4, 6)]),
        ((1, None, None, 3), [(1, 4, 6)]),
        ((1, 64, 64, 3), [(1, 4, 7)]),
        ((1, 64, 64, 3), [(1, 4, 6), (1, 5, 6)]),
    ],
)
def test_center_net_refuses_other_models(shape: Any, outputs: Any) -> None:
    arrays = {f"y{index}": np.zeros(shape) for index, shape in enumerate(outputs)}
    with pytest.raises(ValueError, match=r"CenterNet: expected a graph model with an input \(1, h"):
        CenterNet(constant_model(shape, arrays))


@pytest.mark.parametrize("shape", [(1, 32, 64, 3), (1, 3, None, 64)])
def test_nano_det_refuses_other_inputs(shape: Any) -> None:
    with pytest.raises(ValueError, match=r"NanoDet: expected a graph model with an input \(1, 3, "):
        NanoDet(constant_model(shape, nano_det_outputs()))


@pytest.mark.parametrize(
    "name, shape",
    [
        ("fine_scores", (1, 32, 81)),
        ("fine_scores", (1, 31, 80)),
        ("fine_logits", (1, 32, 21)),
        ("fine_logits", (32, 20)),
        ("coarse_logits", (1, 32, 20)),
    ],
)
def test_nano_det_refuses_other_outputs(name: str, shape: Any) -> None:
    outputs = {**nano_det_outputs(), name: np.zeros(shape)}
    model = NanoDet(constant_model((1, 3, HEIGHT, WIDTH), outputs))
    with pytest.raises(ValueError, match=r"NanoDet: expected a graph model with .* outputs "):
        model.detect(wt.zeros((HEIGHT, WIDTH, 3)))


def test_arguments_are_checked() -> None:
    with pytest.raises(
        ValueError, match=r"CenterNet: iou_threshold must lie in \[0, 1\], but got 2"
    ):
        center_net(iou_threshold=2)
    with pytest.raises(ValueError, match="max_output_size must not be negative, but got -1"):
        center_net().detect(wt.zeros((64, 64, 3)), max_num_boxes=-1)


def test_labels_are_those_of_coco() -> None:
    assert len(set(COCO_LABELS)) == len(COCO_LABELS) == 80
    assert COCO_LABELS[0] == "person"
    assert COCO_LABELS[79] == "toothbrush"


def test_boxes_are_plain_values() -> None:
    item = DetectedObject(Box(0, 0, 1, 2), "cat", 0.5)
    assert item == DetectedObject(Box(0, 0, 1, 2), "cat", 0.5)
    assert (item.box.width, item.box.height) == (1, 2)
