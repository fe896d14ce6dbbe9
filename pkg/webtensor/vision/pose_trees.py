"""Following the tree of a body through PoseNet's predictions (Papandreou et al. 2018, section 3.2).

A pose begins at the likeliest keypoint that belongs to no earlier pose. From there displacements
lead along the tree's edges to all other keypoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, hypot
from typing import NamedTuple, Self

from webtensor.arguments import as_fraction, as_positive_integer
from webtensor.vision.results import COCO_KEYPOINTS

__all__ = [
    "EDGES",
    "Cells",
    "DecodedPoint",
    "DecodedPose",
    "SearchOptions",
    "decode_poses",
    "strides",
]

_COUNT = len(COCO_KEYPOINTS)
#: The edges of the tree, from its root: pairs of indices of keypoints.
EDGES = tuple(
    (COCO_KEYPOINTS.index(parent), COCO_KEYPOINTS.index(child))
    for parent, child in (
        ("nose", "left_eye"),
        ("left_eye", "left_ear"),
        ("nose", "right_eye"),
        ("right_eye", "right_ear"),
        ("nose", "left_shoulder"),
        ("left_shoulder", "left_elbow"),
        ("left_elbow", "left_wrist"),
        ("left_shoulder", "left_hip"),
        ("left_hip", "left_knee"),
        ("left_knee", "left_ankle"),
        ("nose", "right_shoulder"),
        ("right_shoulder", "right_elbow"),
        ("right_elbow", "right_wrist"),
        ("right_shoulder", "right_hip"),
        ("right_hip", "right_knee"),
        ("right_knee", "right_ankle"),
    )
)
#: How often a keypoint is moved by the offset of the cell that it lies in.
_REFINEMENTS = 2

#: The numbers of each cell, by rows and columns: for each keypoint its score where that is the
#: largest among the cells around it, else -1; the scores; the offsets along y, along x; for each
#: edge the displacements forward along y, along x, and backward along y, along x.
Cells = Sequence[Sequence[Sequence[float]]]
_SCORES = _COUNT
_OFFSETS = _SCORES + _COUNT
_FORWARD = _OFFSETS + 2 * _COUNT
_BACKWARD = _FORWARD + 2 * len(EDGES)


class DecodedPoint(NamedTuple):
    """A keypoint, in pixels of the model's input."""

    y: float
    x: float
    score: float


class DecodedPose(NamedTuple):
    """The keypoints of a person in COCO's order, and the score of the pose."""

    points: Sequence[DecodedPoint]
    score: float


class SearchOptions(NamedTuple):
    """Options of the search, which ``PoseNet.estimate_poses`` documents."""

    max_detections: int
    score_threshold: float
    nms_radius: float

    def checked(self) -> Self:
        """Return the options themselves.

        Raises:
            TypeError: ``max_detections`` is no integer.
            ValueError: one of them is out of range.
        """
        as_positive_integer("estimate_poses", "max_detections", self.max_detections)
        as_fraction("estimate_poses", "score_threshold", self.score_threshold)
        if not self.nms_radius > 0:
            raise ValueError(
                f"estimate_poses: nms_radius must be positive, but got {self.nms_radius!r}"
            )
        return self


def strides(input_size: tuple[int, int], grid_size: tuple[int, int]) -> tuple[float, float]:
    """Return how many pixels of the input lie between cells, along y and x."""
    y_stride, x_stride = (
        (size - 1) / max(cells - 1, 1) for size, cells in zip(input_size, grid_size, strict=True)
    )
    return y_stride, x_stride


def decode_poses(
    cells: Cells, input_size: tuple[int, int], options: SearchOptions
) -> list[DecodedPose]:
    """Return the poses, in the order of the scores of the keypoints that they were begun with."""
    grid = _Grid(cells, input_size)
    poses: list[DecodedPose] = []
    for row, column, keypoint in grid.peaks(options.score_threshold):
        root = grid.keypoint_at(row, column, keypoint)
        if _is_taken(root, keypoint, poses, options.nms_radius):
            continue
        points = grid.follow(root, keypoint)
        scores = [
            point.score
            for keypoint, point in enumerate(points)
            if not _is_taken(point, keypoint, poses, options.nms_radius)
        ]
        poses.append(DecodedPose(points, sum(scores) / _COUNT))
        if len(poses) == options.max_detections:
            break
    return poses


def _is_taken(
    point: DecodedPoint, keypoint: int, poses: Sequence[DecodedPose], radius: float
) -> bool:
    """Return whether a pose has the same keypoint at most ``radius`` away."""
    others = (pose.points[keypoint] for pose in poses)
    return any(hypot(other.y - point.y, other.x - point.x) <= radius for other in others)


class _Grid:
    """The cells, with what is computed of them."""

    def __init__(self, cells: Cells, input_size: tuple[int, int]) -> None:
        self._cells = cells
        self._last_row, self._last_column = len(cells) - 1, len(cells[0]) - 1
        self._y_stride, self._x_stride = strides(input_size, (len(cells), len(cells[0])))

    def peaks(self, threshold: float) -> list[tuple[int, int, int]]:
        """Return the row, the column and the keypoint of likely keypoints, likeliest first."""
        peaks = [
            (score, row, column, keypoint)
            for row, cells in enumerate(self._cells)
            for column, numbers in enumerate(cells)
            for keypoint, score in enumerate(numbers[:_COUNT])
            if score >= threshold
        ]
        peaks.sort(key=lambda peak: -peak[0])
        return [(row, column, keypoint) for _, row, column, keypoint in peaks]

    def keypoint_at(self, row: int, column: int, keypoint: int) -> DecodedPoint:
        """Return where a cell says that a keypoint is, with the score of the cell."""
        numbers = self._cells[row][column]
        return DecodedPoint(
            row * self._y_stride + numbers[_OFFSETS + keypoint],
            column * self._x_stride + numbers[_OFFSETS + _COUNT + keypoint],
            numbers[_SCORES + keypoint],
        )

    def follow(self, root: DecodedPoint, keypoint: int) -> list[DecodedPoint]:
        """Return all keypoints of the person that has this one: up the tree, then down."""
        points = {keypoint: root}
        for index, (parent, child) in reversed([*enumerate(EDGES)]):
            if child in points and parent not in points:
                points[parent] = self._step(points[child], _BACKWARD + index, parent)
        for index, (parent, child) in enumerate(EDGES):
            if parent in points and child not in points:
                points[child] = self._step(points[parent], _FORWARD + index, child)
        return [points[keypoint] for keypoint in range(_COUNT)]

    def _step(self, start: DecodedPoint, displacement: int, keypoint: int) -> DecodedPoint:
        """Return the keypoint at the other end of an edge."""
        row, column = self._nearest(start.y, start.x)
        numbers = self._cells[row][column]
        y, x = start.y + numbers[displacement], start.x + numbers[displacement + len(EDGES)]
        for _ in range(_REFINEMENTS):
            y, x, _ = self.keypoint_at(*self._nearest(y, x), keypoint)
        row, column = self._nearest(y, x)
        return DecodedPoint(y, x, self._cells[row][column][_SCORES + keypoint])

    def _nearest(self, y: float, x: float) -> tuple[int, int]:
        """Return the row and the column of the cell that is nearest to a point."""
        row, column = floor(y / self._y_stride + 0.5), floor(x / self._x_stride + 0.5)
        return min(max(row, 0), self._last_row), min(max(column, 0), self._last_column)
