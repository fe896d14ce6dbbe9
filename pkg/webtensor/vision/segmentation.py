"""Segmentation of persons: which pixels of an image show a person, and other backgrounds for them.

The graph models are MediaPipe's Selfie Segmentation, whose output (1, height, width, 1) has
probabilities, and its segmentation for Google Meet, whose output (1, height, width, 2) has logits
of background and person. Masks stay on the device: nothing here reads an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

from webtensor.arguments import as_fraction
from webtensor.dtypes import bool_, float32
from webtensor.engine import Tensor, tidy
from webtensor.graph import GraphModel
from webtensor.ops import (
    arange,
    astype,
    clip_by_value,
    concat,
    depthwise_conv2d,
    divide,
    exp,
    expand_dims,
    flip,
    greater_equal,
    maximum,
    multiply,
    reshape,
    softmax,
    split,
    square,
    squeeze,
    subtract,
    sum as _sum,
    tile,
)
from webtensor.ops.image import resize_bilinear
from webtensor.vision.images import ImageLike, ImageSize, read_image, read_image_async
from webtensor.vision.model import VisionModel

__all__ = ["PersonSegmenter", "Segmentation", "blur_background", "replace_background"]

#: How many standard deviations of a Gaussian its filter reaches; beyond are 0.3 % of its weight.
_REACH = 3
#: The least weight that colours are divided by; background so far away is covered by the person.
_MIN_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class Segmentation:
    """Which pixels of an image show a person.

    Attributes:
        mask: the probability that a pixel shows a person, a tensor float32 (height, width) on the
            device. Whoever gets it disposes it, or computes in a ``wt.tidy`` block.
        threshold: the probability from which on ``to_mask`` counts a pixel as a person's.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.vision import Segmentation
        >>> Segmentation(wt.tensor([[0.2, 0.9]]), threshold=0.5).to_mask().tolist()
        [[False, True]]
    """

    mask: Tensor
    threshold: float = 0.5

    def to_mask(self) -> Tensor:
        """Return whether a pixel shows a person, a tensor bool (height, width) on the device."""
        return greater_equal(self.mask, self.threshold)


#: A segmentation, or a tensor (height, width), bool or float32 from 0 to 1.
Mask: TypeAlias = Segmentation | Tensor


class PersonSegmenter(VisionModel):
    """Selfie Segmentation, or the segmentation for Google Meet: the persons of an image.

    The models were trained on persons in front of a camera, up to two metres away.

    Args:
        model: the graph model; ``PersonSegmenter.load`` loads it from its files.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: it is another graph model.

    Example:
        With the files of the model in a folder::

            import webtensor as wt
            from webtensor.vision import PersonSegmenter, blur_background

            model = PersonSegmenter.load("selfie/model.json")
            with wt.tidy():
                segmentation = model.segment_people("photo.jpg")
                picture = blur_background("photo.jpg", segmentation, radius=8).numpy()
    """

    _expected = "an input (1, height, width, 3) and an output (1, height, width, 1 or 2)"

    def __init__(self, model: GraphModel) -> None:
        super().__init__(model)
        _, height, width, channels = self._input_shape
        if not height or not width or channels != 3 or len(model.outputs) != 1:
            raise self._misfit()
        self._size = height, width

    def segment_people(
        self,
        image: ImageLike,
        flip_horizontal: bool = False,
        segmentation_threshold: float = 0.5,
    ) -> Segmentation:
        """Find the pixels that show persons.

        Args:
            image: as of ``wt.vision.read_image``.
            flip_horizontal: whether the mask is that of the mirrored image, as for the picture of a
                webcam that is shown like a mirror.
            segmentation_threshold: the probability from which on ``Segmentation.to_mask`` counts a
                pixel as a person's.

        Returns:
            The segmentation, whose mask has the height and width of the image. It is not read.

        Raises:
            ImportError, OSError, TypeError: as of ``wt.vision.read_image``.
            ValueError: ``segmentation_threshold`` lies outside [0, 1]; as of
                ``wt.vision.read_image``.
        """
        as_fraction("segment_people", "segmentation_threshold", segmentation_threshold)
        with tidy() as scope:
            pixels, size = read_image(image)
            outputs = self.model.execute(self._inputs(pixels), self._output_names())
            mask = scope.keep(self._mask(outputs, size, flip_horizontal))
        return Segmentation(mask, segmentation_threshold)

    async def segment_people_async(
        self,
        image: ImageLike,
        flip_horizontal: bool = False,
        segmentation_threshold: float = 0.5,
    ) -> Segmentation:
        """Find persons as ``segment_people`` does, without blocking the page.

        Example:
            In a page::

                video = document.querySelector("video")
                segmentation = await model.segment_people_async(video)
        """
        as_fraction("segment_people", "segmentation_threshold", segmentation_threshold)
        with tidy() as scope:
            pixels, size = await read_image_async(image)
            outputs = await self.model.execute_async(self._inputs(pixels), self._output_names())
            mask = scope.keep(self._mask(outputs, size, flip_horizontal))
        return Segmentation(mask, segmentation_threshold)

    def _inputs(self, pixels: Tensor) -> Tensor:
        scaled = resize_bilinear(expand_dims(pixels, 0), self._size, half_pixel_centers=True)
        return divide(scaled, 255.0)

    def _mask(
        self, outputs: Tensor | Sequence[Tensor], size: ImageSize, flip_horizontal: bool
    ) -> Tensor:
        """Return the probabilities of persons, (height, width) of the image."""
        output = outputs if isinstance(outputs, Tensor) else outputs[0]
        if output.shape == (1, *self._size, 2):
            _, probabilities = split(softmax(output, -1), 2, -1)
        elif output.shape == (1, *self._size, 1):
            probabilities = output
        else:
            raise self._misfit([output])
        scaled = resize_bilinear(probabilities, size, half_pixel_centers=True)
        mask = squeeze(scaled, (0, 3))
        return flip(mask, 1) if flip_horizontal else mask


def blur_background(image: ImageLike, mask: Mask, radius: float) -> Tensor:
    """Blur what is not a person, as a lens does with what is out of focus.

    Colours of the person do not bleed into the background: each pixel is weighted by how surely it
    is background, and the weights are divided out again (Knutsson and Westin 1993, Normalized
    convolution).

    Args:
        image: as of ``wt.vision.read_image``.
        mask: the segmentation of the image, or a mask (height, width) of its size: bool, or
            probabilities.
        radius: the standard deviation of the Gaussian, in pixels of the image, as of CSS's
            ``blur``; 0 leaves the image as it is.

    Returns:
        The picture, float32 from 0 to 1, (height, width, 3), on the device.

    Raises:
        ImportError, OSError: as of ``wt.vision.read_image``.
        TypeError: ``mask`` is something else; as of ``wt.vision.read_image``.
        ValueError: ``radius`` is negative, or the mask has another size; as of
            ``wt.vision.read_image``.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.vision import blur_background
        >>> image = wt.tensor([[[0.0] * 3, [1.0] * 3, [0.0] * 3, [1.0] * 3]])
        >>> person = wt.tensor([[False, False, False, True]])
        >>> picture = blur_background(image, person, radius=1.0)
        >>> [round(value, 3) for value in picture[0, :, 0].tolist()]
        [0.348, 0.452, 0.348, 1.0]
    """
    name = "blur_background"
    if not radius >= 0:
        raise ValueError(f"{name}: radius must not be negative, but got {radius!r}")
    with tidy() as scope:
        pixels, size = read_image(image)
        person, colors = _person(name, mask, size), divide(pixels, 255.0)
        if not radius:
            scope.keep(colors)
            return colors
        weights = subtract(1.0, person)
        # Four channels: the weighted colours and the weights.
        blurred = _gaussian_blur(concat([multiply(colors, weights), weights], 2), radius)
        sums, weight_sums = split(blurred, [3, 1], 2)
        background = divide(sums, maximum(weight_sums, _MIN_WEIGHT))
        picture = _blended(person, colors, background)
        scope.keep(picture)
    return picture


def replace_background(image: ImageLike, mask: Mask, background: ImageLike) -> Tensor:
    """Show the persons of an image in front of another background.

    Args:
        image: as of ``wt.vision.read_image``.
        mask: the segmentation of the image, or a mask (height, width) of its size: bool, or
            probabilities.
        background: an image, too, which is scaled to the size of the first; an image of one pixel
            is a colour.

    Returns:
        The picture, float32 from 0 to 1, (height, width, 3), on the device.

    Raises:
        ImportError, OSError: as of ``wt.vision.read_image``.
        TypeError: ``mask`` is something else; as of ``wt.vision.read_image``.
        ValueError: the mask has another size than the image; as of ``wt.vision.read_image``.

    Example:
        >>> import webtensor as wt
        >>> from webtensor.vision import replace_background
        >>> image, mask = wt.ones((1, 3, 3)), wt.tensor([[1.0, 0.5, 0.0]])
        >>> green = [[[0.0, 1.0, 0.0]]]
        >>> replace_background(image, mask, green).tolist()
        [[[1.0, 1.0, 1.0], [0.5, 1.0, 0.5], [0.0, 1.0, 0.0]]]
    """
    with tidy() as scope:
        pixels, size = read_image(image)
        person = _person("replace_background", mask, size)
        behind, behind_size = read_image(background)
        if behind_size != size:
            behind = resize_bilinear(behind, size, half_pixel_centers=True)
        picture = _blended(person, divide(pixels, 255.0), divide(behind, 255.0))
        scope.keep(picture)
    return picture


def _person(name: str, mask: Mask, size: ImageSize) -> Tensor:
    """Return a mask as float32 (height, width, 1)."""
    tensor = mask.mask if isinstance(mask, Segmentation) else mask
    if not isinstance(tensor, Tensor) or tensor.dtype not in (bool_, float32):
        kind = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise TypeError(
            f"{name}: mask must be a Segmentation or a tensor, bool or float32, but got {kind}"
        )
    if tensor.shape != size:
        raise ValueError(
            f"{name}: mask must have the image's shape (height, width) {tuple(size)}, but got "
            f"{tensor.shape}"
        )
    return astype(expand_dims(tensor, 2), float32)


def _blended(person: Tensor, colors: Tensor, background: Tensor) -> Tensor:
    """Return the colours where the person is, and the background elsewhere."""
    blended = background + multiply(person, colors - background)
    # Rounding may leave the range, which would be no image.
    return clip_by_value(blended, 0.0, 1.0)


def _gaussian_blur(channels: Tensor, deviation: float) -> Tensor:
    """Blur (height, width, channels) along each axis; beyond the edges is zero."""
    reach = ceil(_REACH * deviation)
    distances = divide(arange(float(-reach), reach + 1.0), deviation)
    bell = exp(multiply(square(distances), -0.5))
    count = channels.shape[2]
    column = tile(reshape(divide(bell, _sum(bell)), (-1, 1, 1, 1)), (1, 1, count, 1))
    row = reshape(column, (1, -1, count, 1))
    blurred = depthwise_conv2d(expand_dims(channels, 0), column, pad="same")
    return squeeze(depthwise_conv2d(blurred, row, pad="same"), 0)
