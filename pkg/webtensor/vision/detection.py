"""Detectors of objects: CenterNet, NanoDet and SSD, which know the 80 classes of COCO.

CenterNet and NanoDet see the image in a letterbox, SSD as it is. What they predict becomes rows of
(x_min, y_min, x_max, y_max, score, class) on the device, in pixels of the input, of SSD as parts of
the image; overlapping boxes are left out on the host.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import isqrt

from webtensor.arguments import as_fraction
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ops import (
    add,
    arange,
    argmax,
    astype,
    concat,
    divide,
    expand_dims,
    flip,
    floor_divide,
    matmul,
    max as _max,
    multiply,
    permute_dims,
    remainder,
    reshape,
    softmax,
    split,
    squeeze,
    subtract,
    take,
    tensor,
)
from webtensor.vision.boxes import Letterbox, letterbox, suppress
from webtensor.vision.images import ImageLike, read_image, read_image_async
from webtensor.vision.labels import COCO_LABELS
from webtensor.vision.model import VisionModel
from webtensor.vision.results import Box, DetectedObject

__all__ = ["CenterNet", "CocoSSD", "NanoDet", "ObjectDetector"]


class ObjectDetector(VisionModel, ABC):
    """The base class of detectors of objects.

    Args:
        model: the graph model; ``load`` loads it from its files.
        iou_threshold: of two boxes whose intersection over union is this or more, the one of the
            lower score is left out.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: it is another graph model, or ``iou_threshold`` lies outside [0, 1].
    """

    def __init__(self, model: GraphModel, *, iou_threshold: float = 0.5) -> None:
        super().__init__(model)
        self._iou_threshold = as_fraction(type(self).__name__, "iou_threshold", iou_threshold)
        self._size = self._checked_size()

    def detect(
        self, image: ImageLike, max_num_boxes: int = 20, min_score: float = 0.5
    ) -> list[DetectedObject]:
        """Find objects.

        Args:
            image: as of ``wt.vision.read_image``.
            max_num_boxes: the largest number of objects.
            min_score: objects of a lower score are left out.

        Returns:
            The objects, best first.

        Raises:
            ImportError, OSError, TypeError: as of ``wt.vision.read_image``.
            ValueError: ``max_num_boxes`` is negative; as of ``wt.vision.read_image``.
        """
        pixels, _ = read_image(image)
        scaled, placement = self._view(pixels)
        rows = self._execute(self._inputs(scaled), self._rows)
        return self._objects(rows, placement, max_num_boxes, min_score)

    async def detect_async(
        self, image: ImageLike, max_num_boxes: int = 20, min_score: float = 0.5
    ) -> list[DetectedObject]:
        """Find objects as ``detect`` does, without blocking the page.

        Example:
            In a page::

                objects = await model.detect_async(document.querySelector("video"))
        """
        pixels, _ = await read_image_async(image)
        scaled, placement = self._view(pixels)
        rows = await self._execute_async(self._inputs(scaled), self._rows)
        return self._objects(rows, placement, max_num_boxes, min_score)

    @abstractmethod
    def _checked_size(self) -> tuple[int, int]:
        """Return the height and width of the input; refuse other models."""

    def _view(self, pixels: Tensor) -> tuple[Tensor, Letterbox]:
        """Return what the model sees of an image, and where the image lies in it."""
        return letterbox(pixels, *self._size)

    @abstractmethod
    def _inputs(self, scaled: Tensor) -> Tensor:
        """Return the input for pixels of the right size, which lie between 0 and 255."""

    @abstractmethod
    def _rows(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return the boxes, scores and classes, (count, 6)."""

    def _objects(
        self,
        rows: Sequence[Sequence[float]],
        placement: Letterbox,
        max_num_boxes: int,
        min_score: float,
    ) -> list[DetectedObject]:
        candidates = []
        for x_min, y_min, x_max, y_max, score, label in rows:
            if score >= min_score:
                corners = *placement.to_image(x_min, y_min), *placement.to_image(x_max, y_max)
                candidates.append(DetectedObject(Box(*corners), COCO_LABELS[round(label)], score))
        boxes, scores = [item.box for item in candidates], [item.score for item in candidates]
        chosen = suppress(boxes, scores, max_num_boxes, self._iou_threshold)
        return [candidates[index] for index in chosen]


class CenterNet(ObjectDetector):
    """CenterNet (Zhou et al. 2019): objects as the points in their middle.

    The arguments and errors are those of ``ObjectDetector``. The model's output (1, count, 6) has
    for each object the corners of its box, its score and the number of its class.

    Example:
        With the files of the model in a folder::

            from webtensor.vision import CenterNet

            model = CenterNet.load("centernet/model.json")
            for item in model.detect("photo.jpg"):
                print(item.label, item.score, item.box)
    """

    _expected = "an input (1, height, width, 3) and an output (1, count, 6)"

    def _checked_size(self) -> tuple[int, int]:
        _, height, width, channels = self._input_shape
        if not height or not width or channels != 3 or len(self._output_names()) != 1:
            raise self._misfit()
        return height, width

    def _output_names(self) -> list[str]:
        outputs = self.model.outputs
        return [output.name for output in outputs if (output.shape or ())[2:] == (6,)]

    def _inputs(self, scaled: Tensor) -> Tensor:
        return expand_dims(scaled, 0)

    def _rows(self, outputs: Sequence[Tensor]) -> Tensor:
        (output,) = outputs
        return squeeze(output, 0)


#: The numbers of classes that SSD predicts but that COCO does not use.
_UNUSED = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
_SSD_CLASSES = len(COCO_LABELS) + len(_UNUSED)
#: The columns of SSD's scores, which begin with class 1, in the order of ``COCO_LABELS``.
_COLUMNS = [number - 1 for number in range(1, _SSD_CLASSES + 1) if number not in _UNUSED]


class CocoSSD(ObjectDetector):
    """SSD (Liu et al. 2016) with MobileNet, as in TensorFlow.js's package ``coco-ssd``.

    The arguments and errors are those of ``ObjectDetector``. The model sees the image in its own
    size. It has for each box the scores of 90 numbers of classes, (1, count, 90), and the corners
    (y_min, x_min, y_max, x_max) as parts of the image, (1, count, 1, 4).

    Example:
        With the files of the model in a folder::

            from webtensor.vision import CocoSSD

            model = CocoSSD.load("coco-ssd/model.json")
            for item in model.detect("photo.jpg"):
                print(item.label, item.score, item.box)
    """

    _expected = (
        "an input (1, height, width, 3) of any height and width, and outputs (1, count, "
        f"{_SSD_CLASSES}) and (1, count, 1, 4)"
    )

    def _checked_size(self) -> tuple[int, int]:
        _, height, width, channels = self._input_shape
        if height or width or channels != 3 or len(self.model.outputs) != 2:
            raise self._misfit()
        return 1, 1

    def _view(self, pixels: Tensor) -> tuple[Tensor, Letterbox]:
        height, width, _ = pixels.shape
        return pixels, Letterbox(0, 0, height, width)

    def _inputs(self, scaled: Tensor) -> Tensor:
        dtype = int32 if self.model.inputs[0].dtype == "int32" else float32
        return astype(expand_dims(scaled, 0), dtype)

    def _rows(self, outputs: Sequence[Tensor]) -> Tensor:
        by_size = {output.shape[-1]: output for output in outputs}
        if by_size.keys() != {_SSD_CLASSES, 4}:
            raise self._misfit(outputs)
        all_scores, corners = (reshape(by_size[size], (-1, size)) for size in (_SSD_CLASSES, 4))
        if all_scores.shape[0] != corners.shape[0]:
            raise self._misfit(outputs)
        scores = take(all_scores, _COLUMNS, axis=1)
        boxes = take(corners, [1, 0, 3, 2], axis=1)
        return concat([boxes, *_best(scores)], 1)


#: The mean and the deviation of colours that NanoDet was trained with, as (blue, green, red).
_MEAN, _DEVIATION = (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)


class NanoDet(ObjectDetector):
    """NanoDet: small and quick; each side of a box is a distribution of distances.

    The arguments and errors are those of ``ObjectDetector``. The model has for each of its grids
    two outputs: (1, cells, 80), the scores of classes, and (1, cells, 4 × bins), the logits of
    distances to the left, upper, right and lower side, in cells (Li et al. 2020, Generalized Focal
    Loss).

    Example:
        With the files of the model in a folder::

            from webtensor.vision import NanoDet

            model = NanoDet.load("nanodet/model.json")
            print([item.label for item in model.detect("photo.jpg", min_score=0.4)])
    """

    _expected = (
        f"an input (1, 3, height, width) and for each grid outputs (1, cells, {len(COCO_LABELS)}) "
        "and (1, cells, 4 × bins)"
    )

    def _checked_size(self) -> tuple[int, int]:
        _, channels, height, width = self._input_shape
        if not height or not width or channels != 3 or len(self.model.outputs) % 2:
            raise self._misfit()
        return height, width

    def _inputs(self, scaled: Tensor) -> Tensor:
        colors = divide(subtract(flip(scaled, -1), tensor(_MEAN)), tensor(_DEVIATION))
        return expand_dims(permute_dims(colors, (2, 0, 1)), 0)

    def _rows(self, outputs: Sequence[Tensor]) -> Tensor:
        return concat([self._grid_rows(*grid) for grid in self._grids(outputs)], 0)

    def _grids(self, outputs: Sequence[Tensor]) -> Iterator[tuple[Tensor, Tensor, int]]:
        """Yield the scores, (cells, 80), the logits, (cells, 4 × bins), and the stride of grids."""
        height, width = self._size
        scores, logits = (
            {
                output.shape[1]: squeeze(output, 0)
                for output in outputs
                if len(output.shape) == 3 and (output.shape[2] == len(COCO_LABELS)) is is_score
            }
            for is_score in (True, False)
        )
        if len(scores) + len(logits) != len(outputs) or scores.keys() != logits.keys():
            raise self._misfit(outputs)
        for cells in sorted(scores, reverse=True):
            stride = isqrt(height * width // cells)
            if (height // stride) * (width // stride) != cells or logits[cells].shape[1] % 4:
                raise self._misfit(outputs)
            yield scores[cells], logits[cells], stride

    def _grid_rows(self, scores: Tensor, logits: Tensor, stride: int) -> Tensor:
        cells, bins = scores.shape[0], logits.shape[1] // 4
        parts = softmax(reshape(logits, (cells, 4, bins)), -1)
        mean_bins = matmul(parts, reshape(arange(float(bins)), (bins, 1)))
        left, upper, right, lower = split(reshape(mean_bins, (cells, 4)), 4, 1)
        columns = self._size[1] // stride
        indices = reshape(arange(cells), (cells, 1))
        x = add(remainder(indices, columns), 0.5)
        y = add(floor_divide(indices, columns), 0.5)
        boxes = concat([x - left, y - upper, x + right, y + lower], 1)
        return concat([multiply(boxes, float(stride)), *_best(scores)], 1)


def _best(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the best score of each box and the number of its class, both (count, 1)."""
    labels = astype(expand_dims(argmax(scores, 1), 1), float32)
    return _max(scores, 1, keepdims=True), labels
