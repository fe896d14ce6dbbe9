"""Layers that vary images, and boxes in them: Keras's and ours, given the same transformations."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras import image_cases
from tests_py.keras.image_cases import (
    BOXES,
    BYTES,
    FUNCTIONS,
    IMAGES,
    LABELS,
    LAYERS,
    MOVING,
    NUMBERS,
    UNIT,
    Config,
    in_format,
    of_values,
)
from tests_py.keras.layer_cases import plain
from webtensor import keras as ours
from webtensor.keras.layers.preprocessing.images.base import BaseImagePreprocessingLayer
from webtensor.keras.utils import bounding_boxes

FORMATS = ("channels_last", "channels_first")
WHOLE = np.random.default_rng(1).integers(0, 256, (2, 6, 8, 3)).astype("int32")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What Keras returns for each case."""
    file = tmp_path_factory.mktemp("images") / "results"
    script = str(Path(image_cases.__file__))
    environment = {**os.environ, "KERAS_BACKEND": "numpy", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, script, str(file)], env=environment, check=True)
    results: dict[str, list[Any]] = pickle.loads(file.read_bytes())
    return results


def same(mine: Any, theirs: Any, atol: float = 1e-5) -> None:
    """Check shape and elements, also of dictionaries."""
    if isinstance(theirs, dict):
        assert {*mine} == {*theirs}
        for key, array in theirs.items():
            same(mine[key], array, atol)
        return
    assert np.shape(mine) == np.shape(theirs)
    np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-5, atol=atol)


def identity(value: Any) -> str:
    return f"{value[0]}-{value[1:]}" if isinstance(value, tuple) else str(value)


# -- as in Keras -------------------------------------------------------------------------------

#: Where Keras takes the extremes of axes 1 and 2, wherever the channels are.
BY_EXTREMES = ("AutoContrast", "AugMix", "RandAugment")


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(
    "number", range(len(LAYERS)), ids=lambda index: f"{index}-{LAYERS[index][0]}"
)
def test_images_and_labels(
    number: int, data_format: str, backend: str, expected: dict[str, list[Any]]
) -> None:
    name, config, bounds = LAYERS[number]
    layer = getattr(ours.layers, name)(**config, data_format=data_format)
    drawn, images, labels = expected["layers"][2 * number + FORMATS.index(data_format)]
    x = wt.tensor(of_values(bounds, data_format))
    transformed = layer.transform_images(x, drawn)
    if data_format == "channels_last" or name not in BY_EXTREMES:
        same(transformed, images, 3e-5 * bounds[1])
    same(layer.transform_labels(wt.tensor(LABELS), drawn), labels)
    own = layer.get_random_transformation(x, seed=3)
    if isinstance(drawn, dict):
        assert {*own} == {*drawn}


@pytest.mark.parametrize(
    "number", range(len(MOVING)), ids=lambda index: f"{index}-{MOVING[index][0]}"
)
def test_boxes(number: int, backend: str, expected: dict[str, list[Any]]) -> None:
    name, config = MOVING[number]
    layer = getattr(ours.layers, name)(**config)
    drawn, boxes = expected["boxes"][number]
    format = config["bounding_box_format"]
    converted = in_format(BOXES, format, bounding_boxes.convert_format)
    result = layer.transform_bounding_boxes(converted, drawn)
    same(result, boxes, 1e-4)
    data = {"images": IMAGES, "bounding_boxes": converted}
    assert np.shape(layer(data)["bounding_boxes"]["boxes"]) == np.shape(boxes["boxes"])
    assert converted["labels"] is NUMBERS
    single = {key: value[0] for key, value in converted.items()}
    alone = layer({"images": IMAGES[0], "bounding_boxes": single})["bounding_boxes"]
    assert np.shape(alone["boxes"]) == np.shape(boxes["boxes"])[1:]


@pytest.mark.parametrize(
    "number", range(len(FUNCTIONS)), ids=lambda index: f"{index}-{FUNCTIONS[index][0]}"
)
def test_functions_of_boxes(number: int, expected: dict[str, list[Any]]) -> None:
    name, args, options = FUNCTIONS[number]
    result = getattr(ours.utils.bounding_boxes, name)(*args, **options)
    same(result, expected["functions"][number], 2e-5)


OTHERS: list[tuple[str, Config]] = [
    ("RandomColorJitter", {}),
    ("RandomColorJitter", {"brightness_factor": 0.2, "hue_factor": (0.1, 0.2), "seed": 3}),
    ("RandomElasticTransform", {}),
    ("RandomElasticTransform", {"scale": 0.4, "fill_mode": "mirror", "fill_value": 3.0}),
    *((name, {"seed": 4}) for name in ("CutMix", "MixUp", "RandAugment", "RandomErasing")),
]


@pytest.mark.parametrize(
    "name, config",
    [*((name, config) for name, config, _ in LAYERS), *MOVING, *OTHERS],
)
def test_configurations(name: str, config: Config) -> None:
    theirs, layer = (getattr(module.layers, name)(**config, name="a") for module in (keras, ours))
    assert plain(layer.get_config()) == plain(theirs.get_config())
    again = type(layer).from_config(plain(theirs.get_config()))
    assert plain(again.get_config()) == plain(theirs.get_config())
    if name != "RandomShear":  # Keras takes no negative factors back
        back = type(theirs).from_config(plain(layer.get_config()))
        assert plain(back.get_config()) == plain(theirs.get_config())
    assert layer.compute_output_shape((None, 9, 9, 3)) == theirs.compute_output_shape(
        (None, 9, 9, 3)
    )


# -- what is drawn -----------------------------------------------------------------------------

RANGES: list[tuple[str, Config, str, float, float]] = [
    ("Solarization", {"addition_factor": 0.5}, "additions", 0, 127.5),
    ("Solarization", {"threshold_factor": (0, 0.2)}, "thresholds", 0, 51),
    ("RandomColorDegeneration", {"factor": 0.5}, "factor", -0.5, 0.5),
    ("RandomHue", {"factor": 0.6}, "factor", -0.3, 0.3),
    ("RandomSaturation", {"factor": (0.2, 0.5)}, "factor", 0.25, 1),
    ("RandomSharpness", {"factor": 0.4}, "factor", 0, 0.4),
    ("RandomShear", {"x_factor": 0.4, "y_factor": 0.4}, "shear_factor", -0.4, 0.4),
    ("MixUp", {"alpha": 1.0}, "mix_weight", 0, 1),
]


@pytest.mark.parametrize("name, config, key, low, high", RANGES)
def test_numbers_are_drawn_from_their_ranges(
    name: str, config: Config, key: str, low: float, high: float
) -> None:
    layer = getattr(ours.layers, name)(**config, seed=3)
    drawn = np.asarray(layer.get_random_transformation(wt.zeros((500, 4, 4, 3)))[key]).flatten()
    assert len(set(drawn.tolist())) > 450
    assert low <= drawn.min() < low + 0.05 * (high - low)
    assert high >= drawn.max() > high - 0.05 * (high - low)


def test_calls_differ_whatever_the_seed() -> None:
    for seed in range(1, 6):
        layer: Any = ours.layers.RandomBrightness(0.5, seed=seed)
        drawn = [layer.get_random_transformation(IMAGES)["rgb_delta"] for _ in range(8)]
        assert len({repr(values.tolist()) for values in drawn}) == 8


@pytest.mark.parametrize(
    "name, config, key",
    [
        ("RandomInvert", {}, "apply_inversion"),
        ("RandomGaussianBlur", {}, "should_apply_blur"),
        ("RandomErasing", {"fill_value": 0}, "apply_erasing"),
        ("RandomPerspective", {}, "apply_perspective"),
        ("RandomElasticTransform", {}, "apply_transform"),
    ],
)
def test_images_are_chosen_with_a_probability(name: str, config: Config, key: str) -> None:
    for factor, share in (((0.2, 0.4), 0.3), (1.0, 0.5), ((1, 1), 1.0), (0.0, 0.0)):
        layer = getattr(ours.layers, name)(factor, **config, seed=3)
        drawn = layer.get_random_transformation(wt.zeros((1000, 4, 4, 3)))
        chosen = np.zeros(1) if drawn is None else np.asarray(drawn[key])
        assert abs(chosen.mean() - share) < 0.07


def test_bits_that_are_kept() -> None:
    def kept(factor: Any) -> set[int]:
        layer: Any = ours.layers.RandomPosterization(factor)
        drawn = layer.get_random_transformation(wt.zeros((200, 4, 4, 3)))["shift_factor"]
        return {8 - shift for shift in drawn.tolist()}

    assert kept(4) == {1, 2, 3}
    assert kept((6, 8)) == {6, 7}
    assert kept((5, 5)) == {5}


def test_rectangles_have_the_area_and_the_labels_their_shares() -> None:
    x = wt.zeros((300, 40, 50, 3))
    layer = ours.layers.RandomErasing((1, 1), scale=(0.25, 0.25), fill_value=1, seed=1)
    images = np.asarray(layer(x))
    area = images[..., 0].mean((1, 2))
    assert abs(area.mean() - 0.25) < 0.01
    assert area.std() < 0.02
    assert images[:, 1].max() == images[:, -1].max() == 1
    drawn: Any = ours.layers.CutMix(seed=1).get_random_transformation(x)
    area = np.asarray(drawn["batch_masks"]).mean((1, 2, 3))
    np.testing.assert_allclose(1 - area, np.asarray(drawn["mix_weight"]).flatten(), atol=0.06)
    assert sorted(drawn["permutation_order"].tolist()) == list(range(300))


def test_fields_of_moves_are_smooth_and_differ(backend: str) -> None:
    ramp = np.broadcast_to(np.arange(40, dtype="float32")[:, None, None], (2, 40, 40, 1))
    layer = ours.layers.RandomElasticTransform((1, 1), scale=(1, 1), fill_mode="nearest", seed=2)
    first, second = (np.asarray(layer(ramp)) for _ in range(2))
    assert not np.allclose(first, second)
    assert not np.allclose(first[0], first[1])
    moves = first - ramp
    assert 0.3 < moves.std() < 4
    assert np.abs(np.diff(moves, axis=2)).mean() < 0.5 * np.abs(moves).mean()
    again = type(layer).from_config(layer.get_config())
    np.testing.assert_allclose(np.asarray(again(ramp)), first, atol=1e-4)


# -- what all of them do -----------------------------------------------------------------------

KINDS: list[tuple[str, Config]] = [
    *{name: (name, config) for name, config, _ in reversed(LAYERS)}.values(),
    *OTHERS[1:4:2],
]
ALWAYS = ("AutoContrast", "ContrastLimitedAdaptiveHistogramEqualization")
#: Where images of a batch are counted, or mixed, together.
TOGETHER = ("AugMix", "CutMix", "Equalization", "MixUp", "RandAugment")


@pytest.mark.parametrize("name, config", KINDS)
def test_calls(name: str, config: Config, backend: str) -> None:
    bounds = UNIT if tuple(config.get("value_range", BYTES))[1] == 1 else BYTES
    x = of_values(bounds)
    first, second = (getattr(ours.layers, name)(**config) for _ in range(2))
    if name not in ALWAYS:
        np.testing.assert_array_equal(np.asarray(first(x, training=False)), x)
        np.testing.assert_array_equal(np.asarray(first(WHOLE, training=False)), WHOLE)
    if hasattr(first, "generator"):
        first.generator = ours.random.SeedGenerator(7)
        second.generator = ours.random.SeedGenerator(7)
    data = {"images": x, "labels": LABELS, "segmentation_masks": WHOLE}
    outputs, images = first(data), np.asarray(second(x))
    np.testing.assert_allclose(np.asarray(outputs["images"]), images, atol=1e-4)
    assert {*outputs} == {*data}
    assert outputs["segmentation_masks"].shape == WHOLE.shape
    assert images.shape == x.shape
    assert np.isfinite(images).all()
    single = np.asarray(first(x[0]))
    assert single.shape == x[0].shape
    if name not in TOGETHER:
        alone = first({"images": x[0], "labels": LABELS[0], "segmentation_masks": WHOLE[0]})
        assert alone["labels"].tolist() == LABELS[0].tolist()
        assert alone["segmentation_masks"].shape == WHOLE[0].shape
    model = ours.Sequential([ours.Input((6, 8, 3)), first])
    assert model.output_shape == (None, 6, 8, 3)


def test_masks_follow_the_pixels(backend: str) -> None:
    masks = WHOLE[..., :1]
    layer: Any = ours.layers.RandomShear((0.5, 0.5), interpolation="nearest", seed=1)
    result = layer({"images": masks, "segmentation_masks": masks})
    np.testing.assert_array_equal(
        np.asarray(result["images"]), np.asarray(result["segmentation_masks"])
    )
    for layer in (ours.layers.RandAugment(seed=1), ours.layers.RandomInvert((1, 1))):
        assert layer({"images": IMAGES, "segmentation_masks": masks})["segmentation_masks"].shape
    kept = ours.layers.RandomInvert((1, 1))({"images": IMAGES, "segmentation_masks": masks})
    np.testing.assert_array_equal(np.asarray(kept["segmentation_masks"]), masks)


def test_gradients_reach_images(backend: str) -> None:
    for layer in (
        ours.layers.RandomHue((0.5, 0.5), seed=1),
        ours.layers.RandomSharpness((0.2, 0.2)),
        ours.layers.RandomElasticTransform((1, 1), seed=1),
    ):

        def total(x: Any, layer: Any = layer) -> Any:
            return wt.sum(layer(x))

        dx = np.asarray(wt.grad(total)(wt.tensor(IMAGES)))
        assert np.isfinite(dx).all()
        assert np.abs(dx).max() > 0


def test_a_layer_of_ones_own() -> None:
    class Half(BaseImagePreprocessingLayer[float]):
        def get_random_transformation(
            self, data: Any, training: Any = True, seed: Any = None
        ) -> Any:
            return 0.5 if training else 1.0

        def transform_images(  # type: ignore[override]
            self, images: Any, transformation: Any, training: Any = True
        ) -> Any:
            return images * transformation

        def transform_labels(self, labels: Any, transformation: Any, training: Any = True) -> Any:
            return labels * 2

    data = {"images": IMAGES, "labels": LABELS}
    result = Half()(data)
    np.testing.assert_allclose(np.asarray(result["images"]), IMAGES / 2)
    np.testing.assert_allclose(np.asarray(result["labels"]), LABELS * 2)
    np.testing.assert_allclose(np.asarray(Half()(IMAGES[0], training=False)), IMAGES[0])
    single = Half()({"images": IMAGES[0], "labels": LABELS[0]})
    np.testing.assert_allclose(np.asarray(single["labels"]), LABELS[0] * 2)


# -- wrong arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, error, match",
    [
        *(
            (lambda k, name=name: getattr(k, name)(9), ValueError, "factor")
            for name in (
                *("CutMix", "RandomColorDegeneration", "RandomGaussianBlur", "RandomGrayscale"),
                *("RandomHue", "RandomInvert", "RandomPerspective", "RandomPosterization"),
                *("RandomSaturation", "RandomSharpness", "RandomElasticTransform", "RandomErasing"),
            )
        ),
        (lambda k: k.RandomHue((0.1, 0.2, 0.3)), ValueError, "factor"),
        (lambda k: k.Solarization(addition_factor=-0.1), ValueError, "factor"),
        (lambda k: k.Solarization(threshold_factor="a"), ValueError, "factor"),
        (lambda k: k.Solarization(value_range=3), ValueError, "value_range"),
        (lambda k: k.AutoContrast((1, 2, 3)), ValueError, "value_range"),
        (lambda k: k.RandomShear(-0.5), ValueError, "factor"),
        (lambda k: k.RandomShear(fill_mode="edge"), NotImplementedError, "fill_mode"),
        (lambda k: k.RandomPerspective(scale=2), ValueError, "scale"),
        (
            lambda k: k.RandomPerspective(interpolation="cubic"),
            NotImplementedError,
            "interpolation",
        ),
        (lambda k: k.RandomElasticTransform(fill_mode="edge"), NotImplementedError, "fill_mode"),
        (lambda k: k.RandomGaussianBlur(kernel_size=4), ValueError, "kernel_size"),
        (lambda k: k.RandomGaussianBlur(sigma=2), ValueError, "sigma"),
        (lambda k: k.RandomInvert()(IMAGES[0, 0]), ValueError, "rank"),
    ],
)
def test_errors_as_in_keras(make: Any, error: type[Exception], match: str) -> None:
    for module in (keras, ours):
        with pytest.raises(error, match=match):
            make(module.layers)


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda b: b.convert_format(BOXES, "xyxy", "corners"), ValueError, "format"),
        (lambda b: b.convert_format(BOXES[..., :3], "xyxy", "xywh"), ValueError, "boxes"),
        (lambda b: b.convert_format(BOXES, "xyxy", "rel_xyxy"), ValueError, "height"),
        (lambda b: b.clip_to_image_size({"boxes": BOXES}), ValueError, "height"),
        (lambda b: b.crop(BOXES, 1, 1, 1, 1, "xywh"), NotImplementedError, "^"),
        (lambda b: b.pad(BOXES, 1, 1, 1, 1, "xywh"), NotImplementedError, "^"),
        (lambda b: b.compute_iou(BOXES[0, 0], BOXES, "xyxy"), ValueError, "boxes1"),
        (lambda b: b.compute_iou(BOXES, BOXES, "rel_xyxy"), ValueError, "image_shape"),
        (lambda b: b.compute_ciou(BOXES, BOXES, "rel_xyxy"), ValueError, "relative"),
        (
            lambda b: b.encode_box_to_deltas(BOXES, BOXES, "xyxy", "xyxy", "xywh"),
            ValueError,
            "encoding_format",
        ),
        (
            lambda b: b.decode_deltas_to_boxes(BOXES, BOXES, "xyxy", "xyxy", variance=[1.0]),
            ValueError,
            "variance",
        ),
    ],
)
def test_errors_of_boxes_as_in_keras(make: Any, error: type[Exception], match: str) -> None:
    for module in (keras, ours):
        with pytest.raises(error, match=match):
            make(module.utils.bounding_boxes)


@pytest.mark.parametrize("alpha", [np.nan, np.inf])
def test_proportions_of_mixed_images_are_finite(alpha: float) -> None:
    with pytest.raises(ValueError, match=f"MixUp: alpha must be a positive number.*{alpha}"):
        ours.layers.MixUp(alpha)


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda k: k.MixUp(0), ValueError, "alpha"),
        (lambda k: k.RandomHue(0.5)(IMAGES[..., :2]), ValueError, "channels"),
        (lambda k: k.RandomGrayscale(0.5)(IMAGES[..., :2]), ValueError, "channels"),
        (lambda k: k.RandomErasing(fill_value=(1, 2))(IMAGES), ValueError, "fill_value"),
        (lambda k: k.Equalization((1, 2, 3)), ValueError, "value_range"),
        (lambda k: k.RandomFlip()({"labels": LABELS}), ValueError, "images"),
        (
            lambda k: k.RandomFlip()({"images": IMAGES, "bounding_boxes": {}}),
            ValueError,
            "bounding_box_format",
        ),
        (
            lambda k: k.RandomFlip(bounding_box_format="xyxy")(
                {"images": IMAGES, "bounding_boxes": {"boxes": BOXES}}
            ),
            ValueError,
            "labels",
        ),
        (
            lambda k: k.RandomFlip(bounding_box_format="xyxy")(
                {"images": IMAGES, "bounding_boxes": {"boxes": BOXES[0, 0], "labels": NUMBERS}}
            ),
            ValueError,
            "shape",
        ),
        (
            lambda k: k.CutMix(bounding_box_format="xyxy")(
                {"images": IMAGES, "bounding_boxes": {"boxes": BOXES, "labels": NUMBERS}}
            ),
            NotImplementedError,
            "CutMix",
        ),
    ],
)
def test_other_errors(make: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make(ours.layers)
