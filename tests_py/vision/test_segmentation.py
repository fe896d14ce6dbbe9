"""Masks of persons, and other backgrounds for them."""

import asyncio
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.vision.models import computing_model, constant_model
from webtensor.vision import PersonSegmenter, Segmentation, blur_background, replace_background

RANDOM = np.random.default_rng(0)
HEIGHT, WIDTH = 4, 6
INPUT = (1, HEIGHT, WIDTH, 3)
PROBABILITIES = RANDOM.uniform(0, 1, (1, HEIGHT, WIDTH, 1)).astype(np.float32)


def segmenter(output: np.ndarray = PROBABILITIES) -> PersonSegmenter:
    return PersonSegmenter(constant_model(INPUT, {"y": output}))


def test_probabilities_are_the_mask(backend: str) -> None:
    segmentation = segmenter().segment_people(wt.zeros((HEIGHT, WIDTH, 3)))
    np.testing.assert_allclose(segmentation.mask.numpy(), PROBABILITIES[0, :, :, 0], rtol=1e-6)


def test_of_two_logits_the_second_is_the_person(backend: str) -> None:
    logits = RANDOM.normal(size=(1, HEIGHT, WIDTH, 2))
    segmentation = segmenter(logits).segment_people(wt.zeros((HEIGHT, WIDTH, 3)))
    expected = 1 / (1 + np.exp(logits[0, :, :, 0] - logits[0, :, :, 1]))
    np.testing.assert_allclose(segmentation.mask.numpy(), expected, rtol=1e-5)


def test_the_mask_has_the_size_of_the_image() -> None:
    output = np.zeros((1, HEIGHT, WIDTH, 1))
    output[:, :, 3:] = 1
    mask = segmenter(output).segment_people(wt.zeros((8, 12, 3))).mask
    np.testing.assert_allclose(mask.numpy(), [[0] * 5 + [0.25, 0.75] + [1] * 5] * 8)


def test_the_mask_of_a_mirrored_image_is_mirrored() -> None:
    model, image = segmenter(), wt.zeros((HEIGHT, WIDTH, 3))
    mask, mirrored = (model.segment_people(image, flip).mask.numpy() for flip in (False, True))
    np.testing.assert_array_equal(mirrored, mask[:, ::-1])


def test_a_threshold_says_which_pixels_count() -> None:
    segmentation = segmenter().segment_people(wt.zeros((HEIGHT, WIDTH, 3)), False, 0.3)
    mask = segmentation.to_mask()
    assert mask.dtype is wt.bool_
    np.testing.assert_array_equal(mask.numpy(), PROBABILITIES[0, :, :, 0] >= 0.3)


def test_the_model_gets_numbers_between_zero_and_one() -> None:
    seen = []

    def keep(image: wt.Tensor) -> wt.Tensor:
        seen.append(image.numpy())
        return wt.tensor(PROBABILITIES)

    image = np.zeros((8, 12, 3), np.uint8)
    image[:, 6:] = 255
    PersonSegmenter(computing_model(INPUT, PROBABILITIES.shape, keep)).segment_people(image)
    np.testing.assert_allclose(seen[0][0, :, :, 1], [[0, 0, 0, 1, 1, 1]] * HEIGHT)


def test_the_asynchronous_form_finds_the_same() -> None:
    model, image = segmenter(), wt.zeros((9, 7, 3))
    segmentation = asyncio.run(model.segment_people_async(image, True, 0.7))
    np.testing.assert_array_equal(
        segmentation.mask.numpy(), model.segment_people(image, True).mask.numpy()
    )
    assert segmentation.threshold == 0.7


def test_only_masks_and_pictures_are_left(backend: str, no_leak: None) -> None:
    model, image = segmenter(), wt.zeros((HEIGHT, WIDTH, 3))
    segmentation = model.segment_people(image)
    pictures = [
        blur_background(image, segmentation, 2.0),
        blur_background(image, segmentation, 0),
        replace_background(image, segmentation, wt.ones((2, 3, 3))),
    ]
    for tensor in (segmentation.mask, *pictures):
        tensor.dispose()
    model.dispose()


@pytest.mark.parametrize("shape", [(1, 4, 6, 1), (1, None, None, 3)])
def test_models_of_other_inputs_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="PersonSegmenter: expected a graph model with an input"):
        PersonSegmenter(constant_model(shape, {"y": PROBABILITIES}))


def test_models_of_several_outputs_are_refused() -> None:
    outputs = {"y": PROBABILITIES, "z": PROBABILITIES}
    with pytest.raises(ValueError, match="PersonSegmenter: expected a graph model with an input"):
        PersonSegmenter(constant_model(INPUT, outputs))


@pytest.mark.parametrize("shape", [(1, 4, 6, 3), (1, 2, 3, 1), (4, 6)])
def test_models_of_other_outputs_are_refused(shape: tuple[int, ...]) -> None:
    model = segmenter(np.zeros(shape))
    with pytest.raises(ValueError, match=r"output \(1, height, width, 1 or 2\), but this one has"):
        model.segment_people(wt.zeros((HEIGHT, WIDTH, 3)))


@pytest.mark.parametrize("threshold", [-0.1, 50, float("nan")])
def test_a_threshold_is_a_probability(threshold: float) -> None:
    message = r"segment_people: segmentation_threshold must lie in \[0, 1\], but got"
    image = wt.zeros((HEIGHT, WIDTH, 3))
    with pytest.raises(ValueError, match=message):
        segmenter().segment_people(image, segmentation_threshold=threshold)
    with pytest.raises(ValueError, match=message):
        asyncio.run(segmenter().segment_people_async(image, segmentation_threshold=threshold))


def gaussian_weights(distances: np.ndarray, deviation: float, reach: int) -> np.ndarray:
    return np.exp(-((distances / deviation) ** 2) / 2) * (abs(distances) <= reach)


def test_blurring_weights_pixels_by_how_surely_they_are_background(backend: str) -> None:
    colors = RANDOM.uniform(0, 1, (7, 9, 3)).astype(np.float32)
    mask = RANDOM.uniform(0, 1, (7, 9)).astype(np.float32)
    rows, columns = np.mgrid[:7, :9]
    expected = np.zeros_like(colors)
    for y, x in np.ndindex(7, 9):
        weights = gaussian_weights(rows - y, 1.3, 4) * gaussian_weights(columns - x, 1.3, 4)
        weights *= 1 - mask
        blurred = np.einsum("yx,yxc->c", weights, colors) / weights.sum()
        expected[y, x] = mask[y, x] * colors[y, x] + (1 - mask[y, x]) * blurred
    picture = blur_background(wt.tensor(colors), wt.tensor(mask), 1.3)
    np.testing.assert_allclose(picture.numpy(), expected, rtol=1e-4, atol=1e-6)


def test_blurring_leaves_one_colour_as_it_is() -> None:
    image = wt.full((20, 30, 3), 0.6)
    picture = blur_background(image, Segmentation(wt.zeros((20, 30))), radius=5)
    np.testing.assert_allclose(picture.numpy(), 0.6, rtol=1e-5)


def test_blurred_pictures_are_images(backend: str) -> None:
    mask = RANDOM.uniform(0, 1, (40, 50)).astype(np.float32)
    picture = blur_background(wt.ones((40, 50, 3)), wt.tensor(mask), 3.3).numpy()
    assert picture.min() > 1 - 1e-5
    assert picture.max() <= 1


def test_a_radius_of_zero_leaves_the_image_as_it_is() -> None:
    image = RANDOM.uniform(0, 1, (5, 6, 3)).astype(np.float32)
    picture = blur_background(image, wt.zeros((5, 6)), 0)
    np.testing.assert_allclose(picture.numpy(), image, rtol=1e-6)


def test_a_picture_without_background_stays_finite() -> None:
    image = RANDOM.uniform(0, 1, (5, 6, 3)).astype(np.float32)
    picture = blur_background(image, wt.ones((5, 6)), 2)
    np.testing.assert_allclose(picture.numpy(), image, rtol=1e-5)


def test_backgrounds_are_scaled_to_the_image(backend: str) -> None:
    background = np.zeros((1, 2, 3), np.uint8)
    background[0, 1] = 255
    mask = wt.tensor([[True, False, False, False]])
    picture = replace_background(wt.full((1, 4, 3), 0.5), mask, background)
    np.testing.assert_allclose(picture.numpy()[0, :, 2], [0.5, 0.25, 0.75, 1], atol=1e-6)


HELPERS: list[Any] = [
    lambda mask: blur_background(wt.zeros((2, 3, 3)), mask, 1),
    lambda mask: replace_background(wt.zeros((2, 3, 3)), mask, wt.ones((2, 3, 3))),
]


@pytest.mark.parametrize("helper", HELPERS)
def test_masks_are_checked(helper: Any) -> None:
    with pytest.raises(ValueError, match=r"the image's shape \(height, width\) \(2, 3\), but got"):
        helper(wt.zeros((3, 2)))
    with pytest.raises(TypeError, match=r"mask must be a Segmentation or a tensor, .* got ndarray"):
        helper(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="bool or float32, but got int32"):
        helper(wt.zeros((2, 3), "int32"))


@pytest.mark.parametrize("radius", [-1, float("nan")])
def test_a_radius_is_not_negative(radius: float) -> None:
    with pytest.raises(ValueError, match="blur_background: radius must not be negative, but got"):
        blur_background(wt.zeros((2, 3, 3)), wt.zeros((2, 3)), radius)
