"""BlazeFace (Bazarevsky et al. 2019): boxes of faces, and six points of each.

The model sees a square, and predicts for each of 896 anchors a logit, and 16 numbers in pixels of
the square: the box's centre, relative to the anchor's, as (x, y), its width and height, and six
points, relative to the anchor's centre, too. They are one output (1, 896, 17), or separate outputs
for logits and numbers, which may again be separate for the two grids of anchors.
"""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.arguments import as_fraction, as_positive_integer
from webtensor.engine import Tensor, keep
from webtensor.graph import GraphModel
from webtensor.ops import add, concat, expand_dims, sigmoid, split, squeeze, subtract, tensor
from webtensor.ops.image import resize_bilinear
from webtensor.vision.boxes import ssd_anchors, suppress
from webtensor.vision.images import ImageLike, ImageSize, read_image, read_image_async
from webtensor.vision.model import VisionModel
from webtensor.vision.results import Box, Face, Keypoint, mirrored, mirrored_box

__all__ = ["LANDMARKS", "BlazeFace"]

#: The names of a face's landmarks. Left is the person's left.
LANDMARKS = ("right_eye", "left_eye", "nose", "mouth", "right_ear", "left_ear")
#: The cells along a side of the grid of each layer; the last three layers share a grid.
_GRID_SIZES = (16, 8, 8, 8)
_ANCHORS, _NUMBERS = 896, 16


class BlazeFace(VisionModel):
    """BlazeFace: the faces of an image, with eyes, nose, mouth and ears.

    Args:
        model: the graph model; ``BlazeFace.load`` loads it from its files.
        max_faces: the largest number of faces.
        iou_threshold: of two boxes whose intersection over union is this or more, the one of the
            lower score is left out.
        score_threshold: faces whose score is not above it are left out.

    Raises:
        TypeError: ``model`` is no graph model, or ``max_faces`` no integer.
        ValueError: ``model`` is another graph model, ``max_faces`` is not positive, or a threshold
            lies outside [0, 1].

    Example:
        With the files of the model in a folder::

            from webtensor.vision import BlazeFace

            model = BlazeFace.load("blazeface/model.json")
            for face in model.estimate_faces("photo.jpg"):
                print(face.box, face.landmarks[2].name)
    """

    _expected = (
        "an input (1, size, size, 3) whose size is a multiple of 16, and outputs whose shapes add "
        f"up to (1, {_ANCHORS}, {1 + _NUMBERS})"
    )

    def __init__(
        self,
        model: GraphModel,
        *,
        max_faces: int = 10,
        iou_threshold: float = 0.3,
        score_threshold: float = 0.75,
    ) -> None:
        super().__init__(model)
        _, height, width, channels = self._input_shape
        if not height or height != width or height % _GRID_SIZES[0] or channels != 3:
            raise self._misfit()
        #: The side of the square that the model sees, in pixels.
        self.size = height
        self._max_faces = as_positive_integer("BlazeFace", "max_faces", max_faces)
        self._iou_threshold = as_fraction("BlazeFace", "iou_threshold", iou_threshold)
        self._score_threshold = as_fraction("BlazeFace", "score_threshold", score_threshold)
        centers = [
            (anchor.x_center * height, anchor.y_center * height)
            for anchor in ssd_anchors((height, height), [height // cells for cells in _GRID_SIZES])
        ]
        origins = [[x, y, 0.0, 0.0, *(x, y) * len(LANDMARKS)] for x, y in centers]
        self._origins = keep(tensor(origins))

    def estimate_faces(self, image: ImageLike, flip_horizontal: bool = False) -> list[Face]:
        """Find faces.

        Args:
            image: as of ``wt.vision.read_image``.
            flip_horizontal: whether results are those of the mirrored image, as for the picture of
                a webcam that is shown like a mirror.

        Returns:
            The faces, best first; each has the landmarks ``right_eye``, ``left_eye``, ``nose``,
            ``mouth``, ``right_ear`` and ``left_ear``, whose score is None.

        Raises:
            ImportError, OSError, TypeError, ValueError: as of ``wt.vision.read_image``.
        """
        pixels, size = read_image(image)
        rows = self._execute(self._inputs(pixels), self._predictions)
        return self._faces(rows, size, flip_horizontal)

    async def estimate_faces_async(
        self, image: ImageLike, flip_horizontal: bool = False
    ) -> list[Face]:
        """Find faces as ``estimate_faces`` does, without blocking the page.

        Example:
            In a page::

                faces = await model.estimate_faces_async(document.querySelector("video"))
        """
        pixels, size = await read_image_async(image)
        rows = await self._execute_async(self._inputs(pixels), self._predictions)
        return self._faces(rows, size, flip_horizontal)

    def dispose(self) -> None:
        """Give back the memory of the weights; the model cannot be used any more."""
        super().dispose()
        self._origins.dispose()

    def _inputs(self, pixels: Tensor) -> Tensor:
        scaled = resize_bilinear(expand_dims(pixels, 0), (self.size, self.size))
        return subtract(scaled / 127.5, 1.0)

    def _predictions(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return (896, 17): the score, the centre, the size and the landmarks of each box."""
        ordered = sorted(outputs, key=lambda output: output.shape, reverse=True)
        whole = [output for output in ordered if output.shape[2:] == (1 + _NUMBERS,)]
        logits = [output for output in ordered if output.shape[2:] == (1,)]
        numbers = [output for output in ordered if output.shape[2:] == (_NUMBERS,)]
        if len(whole) == 1:
            parts = split(whole[0], [1, _NUMBERS], 2)
        elif logits and len(logits) == len(numbers):
            parts = [concat(logits, 1), concat(numbers, 1)]
        else:
            raise self._misfit(outputs)
        if [part.shape[:2] for part in parts] != [(1, _ANCHORS)] * 2:
            raise self._misfit(outputs)
        scores, offsets = (squeeze(part, 0) for part in parts)
        return concat([sigmoid(scores), add(offsets, self._origins)], 1)

    def _faces(
        self, rows: Sequence[Sequence[float]], size: ImageSize, flip_horizontal: bool
    ) -> list[Face]:
        x_scale, y_scale = size.width / self.size, size.height / self.size
        candidates = []
        for score, x, y, width, height, *points in rows:
            if score > self._score_threshold:
                box = Box(
                    (x - width / 2) * x_scale,
                    (y - height / 2) * y_scale,
                    (x + width / 2) * x_scale,
                    (y + height / 2) * y_scale,
                )
                landmarks = tuple(
                    Keypoint(x * x_scale, y * y_scale, None, name)
                    for name, x, y in zip(LANDMARKS, points[0::2], points[1::2], strict=True)
                )
                candidates.append(Face(box, landmarks, score))
        boxes, scores = [face.box for face in candidates], [face.score for face in candidates]
        faces = [
            candidates[index]
            for index in suppress(boxes, scores, self._max_faces, self._iou_threshold)
        ]
        return [_mirrored_face(face, size.width) for face in faces] if flip_horizontal else faces


def _mirrored_face(face: Face, width: int) -> Face:
    return Face(mirrored_box(face.box, width), mirrored(face.landmarks, width), face.score)
