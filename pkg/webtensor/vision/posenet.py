"""PoseNet (Papandreou et al. 2018): the keypoints of one person, or of several.

The model sees an image whose sides are a multiple of its stride plus 1, and predicts on a grid, one
cell a stride:

- heat maps, (height, width, 17): logits that a keypoint is there;
- offsets, (height, width, 34): from the cell to the keypoint, along y for each, then along x;
- displacements, (height, width, 32), forward and backward along the 16 edges of the body's tree:
  from the keypoint at one end of an edge to that at the other, along y for each edge, then along x.

Displacements are named by "fwd" and "bwd". Offsets and displacements are in pixels of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor
from webtensor.geometry import pair
from webtensor.graph import GraphModel
from webtensor.ops import (
    arange,
    argmax,
    astype,
    concat,
    expand_dims,
    floor_divide,
    greater_equal,
    max_pool,
    remainder,
    reshape,
    sigmoid,
    squeeze,
    stack,
    subtract,
    take,
    tensor,
    where,
)
from webtensor.vision.boxes import Letterbox, letterbox
from webtensor.vision.images import ImageLike, ImageSize, read_image, read_image_async
from webtensor.vision.model import VisionModel
from webtensor.vision.pose_trees import (
    EDGES,
    DecodedPoint,
    DecodedPose,
    SearchOptions,
    decode_poses,
    strides,
)
from webtensor.vision.results import COCO_KEYPOINTS, Keypoint, Pose, box_around, mirrored

__all__ = ["PoseNet"]

_COUNT = len(COCO_KEYPOINTS)
#: The names of maps, by their number of channels.
_KINDS = {_COUNT: "scores", 2 * _COUNT: "offsets"}
_STRIDES = {8.0, 16.0, 32.0}
#: The mean colour that ResNet50 was trained to have subtracted.
_RESNET_MEAN = (123.15, 115.90, 103.06)

Architecture = Literal["MobileNetV1", "ResNet50"]


class _Maps(NamedTuple):
    """The predictions of the model, on the device: tensors (1, height, width, channels)."""

    scores: Tensor
    offsets: Tensor
    forward: Tensor
    backward: Tensor


class PoseNet(VisionModel):
    """PoseNet: 17 keypoints of one person, or of several.

    Args:
        model: the graph model; ``PoseNet.load`` loads it from its files.
        architecture: the network, ``"MobileNetV1"`` or ``"ResNet50"``, on which depends how pixels
            become numbers.
        input_resolution: the side of what the model sees, in pixels, or its height and width, where
            the graph model leaves it open: multiples of the stride plus 1. More is more exact, and
            takes longer.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: it is another graph model; ``architecture`` or ``input_resolution`` is invalid.

    Example:
        With the files of the model in a folder::

            from webtensor.vision import PoseNet

            model = PoseNet.load("posenet/model.json")
            for pose in model.estimate_poses("photo.jpg"):
                print(pose.score, pose.keypoints[0])
    """

    _expected = (
        "an input (1, height, width, 3) and four outputs: (1, h, w, 17), (1, h, w, 34), and two "
        "(1, h, w, 32) whose names have 'fwd' and 'bwd'"
    )

    def __init__(
        self,
        model: GraphModel,
        *,
        architecture: Architecture = "MobileNetV1",
        input_resolution: int | tuple[int, int] = 257,
    ) -> None:
        super().__init__(model)
        check_choice("PoseNet", "architecture", architecture, ("MobileNetV1", "ResNet50"))
        sides = pair("PoseNet", "input_resolution", input_resolution)
        _, height, width, channels = self._input_shape
        if channels not in (3, None) or len(model.outputs) != 4:
            raise self._misfit()
        self._architecture = architecture
        self._size = height or sides[0], width or sides[1]

    def estimate_poses(
        self,
        image: ImageLike,
        flip_horizontal: bool = False,
        max_detections: int = 5,
        score_threshold: float = 0.5,
        nms_radius: float = 20,
    ) -> list[Pose]:
        """Find persons and their keypoints, by following the body's tree from likely keypoints.

        Args:
            image: as of ``wt.vision.read_image``.
            flip_horizontal: whether results are those of the mirrored image, as for the picture of
                a webcam that is shown like a mirror.
            max_detections: the largest number of persons.
            score_threshold: the lowest score of a keypoint that a person is followed from.
            nms_radius: two keypoints of one name belong to one person if they are not farther apart
                than this, in pixels of the model's input.

        Returns:
            The poses. The score of a pose is the mean of its keypoints' scores, in which those that
            an earlier pose has as well count as 0.

        Raises:
            ImportError, OSError, TypeError: as of ``wt.vision.read_image``.
            ValueError: an option is out of range; as of ``wt.vision.read_image``.
        """
        options = SearchOptions(max_detections, score_threshold, nms_radius).checked()
        pixels, size = read_image(image)
        inputs, placement = self._inputs(pixels)
        cells = self._execute(inputs, self._cells)
        return self._poses_in_pixels(
            decode_poses(cells, self._size, options), placement, size, flip_horizontal
        )

    async def estimate_poses_async(
        self,
        image: ImageLike,
        flip_horizontal: bool = False,
        max_detections: int = 5,
        score_threshold: float = 0.5,
        nms_radius: float = 20,
    ) -> list[Pose]:
        """Find poses as ``estimate_poses`` does, without blocking the page.

        Example:
            In a page::

                poses = await model.estimate_poses_async(document.querySelector("video"))
        """
        options = SearchOptions(max_detections, score_threshold, nms_radius).checked()
        pixels, size = await read_image_async(image)
        inputs, placement = self._inputs(pixels)
        cells = await self._execute_async(inputs, self._cells)
        return self._poses_in_pixels(
            decode_poses(cells, self._size, options), placement, size, flip_horizontal
        )

    def estimate_single_pose(self, image: ImageLike, flip_horizontal: bool = False) -> Pose:
        """Find the most likely keypoints, of whichever person: quick, for images of one.

        Args:
            image: as of ``wt.vision.read_image``.
            flip_horizontal: as of ``estimate_poses``.

        Returns:
            A pose, even if there is no person; its score is the mean of its keypoints'.

        Raises:
            ImportError, OSError, TypeError, ValueError: as of ``wt.vision.read_image``.
        """
        pixels, size = read_image(image)
        inputs, placement = self._inputs(pixels)
        rows = self._execute(inputs, self._peaks)
        (pose,) = self._poses_in_pixels([_single_pose(rows)], placement, size, flip_horizontal)
        return pose

    async def estimate_single_pose_async(
        self, image: ImageLike, flip_horizontal: bool = False
    ) -> Pose:
        """Find a pose as ``estimate_single_pose`` does, without blocking the page.

        Example:
            In a page::

                pose = await model.estimate_single_pose_async(document.querySelector("video"))
        """
        pixels, size = await read_image_async(image)
        inputs, placement = self._inputs(pixels)
        rows = await self._execute_async(inputs, self._peaks)
        (pose,) = self._poses_in_pixels([_single_pose(rows)], placement, size, flip_horizontal)
        return pose

    def _inputs(self, pixels: Tensor) -> tuple[Tensor, Letterbox]:
        scaled, placement = letterbox(pixels, *self._size)
        if self._architecture == "ResNet50":
            numbers = subtract(scaled, tensor(_RESNET_MEAN))
        else:
            numbers = subtract(scaled / 127.5, 1.0)
        return expand_dims(numbers, 0), placement

    def _maps(self, outputs: Sequence[Tensor]) -> _Maps:
        """Return what the outputs are, with probabilities for logits."""
        maps: dict[str, Tensor] = {}
        for name, output in zip(self.model.output_nodes, outputs, strict=True):
            channels = output.shape[-1] if len(output.shape) == 4 else 0
            kind = _KINDS.get(channels, "")
            if channels == 2 * len(EDGES):
                kind = "forward" if "fwd" in name else "backward" if "bwd" in name else ""
            maps[kind] = output
        grids = {output.shape[:3] for output in outputs}
        if maps.keys() != set(_Maps._fields) or len(grids) != 1 or min(grids)[0] != 1:
            raise self._misfit(outputs)
        rows, columns = min(grids)[1:]
        if not {*strides(self._size, (rows, columns))} <= _STRIDES:
            raise ValueError(
                "PoseNet: the sides of the input must be a multiple of the stride (8, 16 or 32) "
                f"plus 1, but they are {self._size} for {rows} × {columns} cells; choose another "
                "input_resolution"
            )
        return _Maps(**{**maps, "scores": sigmoid(maps["scores"])})

    def _cells(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return all that is predicted for each cell of the grid: see ``Cells``."""
        maps = self._maps(outputs)
        is_peak = greater_equal(maps.scores, max_pool(maps.scores, 3, 1, "same"))
        peaks = where(is_peak, maps.scores, -1.0)
        return squeeze(concat([peaks, *maps], -1), 0)

    def _peaks(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return (17, 3): y and x in pixels of the input, and score of the likeliest keypoints."""
        maps = self._maps(outputs)
        _, rows, columns, _ = maps.scores.shape
        scores, offsets = reshape(maps.scores, (-1,)), reshape(maps.offsets, (-1,))
        cells = argmax(reshape(scores, (-1, _COUNT)), 0)
        keypoints = arange(_COUNT)
        y_offsets, x_offsets = (
            take(offsets, cells * (2 * _COUNT) + keypoints + first) for first in (0, _COUNT)
        )
        y_stride, x_stride = strides(self._size, (rows, columns))
        y = astype(floor_divide(cells, columns), float32) * y_stride + y_offsets
        x = astype(remainder(cells, columns), float32) * x_stride + x_offsets
        return stack([y, x, take(scores, cells * _COUNT + keypoints)], 1)

    def _poses_in_pixels(
        self,
        poses: Sequence[DecodedPose],
        placement: Letterbox,
        size: ImageSize,
        flip_horizontal: bool,
    ) -> list[Pose]:
        """Return poses in pixels of the image."""
        poses_in_pixels = []
        for points, score in poses:
            keypoints: tuple[Keypoint, ...] = tuple(
                Keypoint(*placement.to_image(point.x, point.y), point.score, name)
                for name, point in zip(COCO_KEYPOINTS, points, strict=True)
            )
            if flip_horizontal:
                keypoints = mirrored(keypoints, size.width)
            poses_in_pixels.append(Pose(keypoints, score, box_around(keypoints)))
        return poses_in_pixels


def _single_pose(rows: Sequence[Sequence[float]]) -> DecodedPose:
    points = [DecodedPoint(*row) for row in rows]
    return DecodedPose(points, sum(point.score for point in points) / _COUNT)
