"""MoveNet: the poses of one person, or of up to six.

The model for one person sees a square of 192 pixels (Lightning) or 256 pixels (Thunder), and
returns (1, 1, 17, 3): for each keypoint y, x and score. The model for several sees an image whose
sides are multiples of 32, and returns (1, 6, 56): for each person the same numbers, then the box
(y_min, x_min, y_max, x_max) and its score. Coordinates are parts of the input's height and width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from math import ceil, floor
from typing import Any, Literal, NamedTuple

from webtensor.arguments import as_fraction, check_choice
from webtensor.dtypes import DType, float32, int32
from webtensor.engine import Tensor
from webtensor.graph import GraphModel
from webtensor.ops import astype, expand_dims, pad, reshape
from webtensor.ops.image import crop_and_resize, resize_bilinear
from webtensor.vision.images import (
    ImageLike,
    ImageSize,
    read_image,
    read_image_async,
    video_time,
)
from webtensor.vision.model import VisionModel
from webtensor.vision.results import COCO_KEYPOINTS, Box, Keypoint, Pose, box_around
from webtensor.vision.smoothing import LowPassFilter, OneEuroFilter
from webtensor.vision.tracking import TRACKERS, Tracker

__all__ = ["MoveNet"]

_COUNT = len(COCO_KEYPOINTS)
_ONE_PERSON, _SEVERAL_PERSONS = (1, 1, _COUNT, 3), (1, 6, 3 * _COUNT + 5)
#: Keypoints of a lower score count neither in a pose's score nor in the next frame's crop.
_MIN_KEYPOINT_SCORE = 0.2
#: The sides of the input for several persons are multiples of this.
_MULTIPLE = 32
_CROP_ALPHA = 0.9
#: How far a crop reaches from the hips: beyond the torso, and beyond the whole body.
_TORSO_MARGIN, _BODY_MARGIN = 1.9, 1.2
_SHOULDERS, _HIPS = ("left_shoulder", "right_shoulder"), ("left_hip", "right_hip")

#: The numbers of each person.
_Rows = Sequence[Sequence[float]]


class MoveNet(VisionModel):
    """MoveNet: 17 keypoints of one person, or of up to six, depending on the graph model.

    Images with a timestamp are frames of a video. The model for one person looks at the square in
    the middle of the first frame, and later at a square around the person of the frame before. With
    the model for several persons, ``Pose.id`` says who is who. Keypoints are smoothed over time.
    ``reset`` begins a new video. An image without a timestamp is seen as a whole, whatever came
    before it.

    Args:
        model: the graph model; ``MoveNet.load`` loads it from its files.
        enable_smoothing: whether the keypoints of a person are smoothed over the frames of a video;
            with the model for several, those of persons who are tracked.
        min_pose_score: poses of a lower score are left out.
        multi_pose_max_dimension: the size in pixels of the longer side of what the model for
            several persons sees. More finds smaller persons, and takes longer.
        enable_tracking: whether the model for several persons recognizes them in the next frames.
        tracker_type: what persons are recognized by: ``"bounding_box"``, the intersection over
            union of their boxes, or ``"keypoint"``, the distances of their keypoints.
        tracker_config: options of the tracker, by default ``max_tracks=18``, the maximum number of
            persons that are remembered; ``max_age=1000``, how long they are remembered after they
            were seen last, in milliseconds; ``min_similarity``, the similarity from which on a
            person is the same, 0.15 for boxes and 0.2 for keypoints; and of keypoints
            ``keypoint_confidence_threshold=0.3``, ``keypoint_falloff``, how far away each counts,
            and ``min_number_of_keypoints=4``.

    Raises:
        TypeError: ``model`` is no graph model; an option of the tracker is unknown.
        ValueError: it is another graph model; ``multi_pose_max_dimension`` is no multiple of 32;
            another argument is out of range.

    Example:
        With the files of the model in a folder::

            from webtensor.vision import MoveNet

            model = MoveNet.load("movenet/model.json")
            for pose in model.estimate_poses("photo.jpg"):
                print(pose.score, pose.keypoints[0])
    """

    _expected = (
        f"an input (1, height, width, 3) and an output {_ONE_PERSON} for one person, or "
        f"{_SEVERAL_PERSONS} for several"
    )

    def __init__(
        self,
        model: GraphModel,
        *,
        enable_smoothing: bool = True,
        min_pose_score: float = 0.25,
        multi_pose_max_dimension: int = 256,
        enable_tracking: bool = True,
        tracker_type: Literal["bounding_box", "keypoint"] = "bounding_box",
        tracker_config: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(model)
        size = multi_pose_max_dimension
        if not isinstance(size, int) or size < _MULTIPLE or size % _MULTIPLE:
            raise ValueError(
                "MoveNet: multi_pose_max_dimension must be a positive multiple of "
                f"{_MULTIPLE}, but got {size!r}"
            )
        outputs = [value.shape for value in model.outputs]
        _, height, width, channels = self._input_shape
        dtype = int32 if model.inputs[0].dtype == "int32" else float32
        self._decoder: _OnePerson | _SeveralPersons
        if channels == 3 and outputs == [_ONE_PERSON] and height and width:
            self._decoder = _OnePerson((height, width), dtype, enable_smoothing)
        elif channels == 3 and outputs == [_SEVERAL_PERSONS]:
            tracker = _tracker(tracker_type, tracker_config) if enable_tracking else None
            self._decoder = _SeveralPersons(size, dtype, tracker, enable_smoothing)
        else:
            raise self._misfit()
        self._min_pose_score = as_fraction("MoveNet", "min_pose_score", min_pose_score)

    def reset(self) -> None:
        """Forget the frames of a video: the next one begins a new video."""
        self._decoder.reset()

    def estimate_poses(self, image: ImageLike, timestamp: float | None = None) -> list[Pose]:
        """Find persons and their keypoints.

        Args:
            image: as of ``wt.vision.read_image``.
            timestamp: when the frame of a video was taken, in milliseconds. A video of the page
                tells its own.

        Returns:
            The poses; empty if there are none.

        Raises:
            ImportError, OSError, TypeError, ValueError: as of ``wt.vision.read_image``.
        """
        time = video_time(image) if timestamp is None else timestamp
        pixels, size = read_image(image)
        view = self._decoder.view(size, time)
        rows = self._execute(self._decoder.inputs(pixels, view), _persons)
        return self._poses(rows, view, size, time)

    async def estimate_poses_async(
        self, image: ImageLike, timestamp: float | None = None
    ) -> list[Pose]:
        """Find poses as ``estimate_poses`` does, without blocking the page.

        Example:
            In a page::

                poses = await model.estimate_poses_async(document.querySelector("video"))
        """
        time = video_time(image) if timestamp is None else timestamp
        pixels, size = await read_image_async(image)
        view = self._decoder.view(size, time)
        rows = await self._execute_async(self._decoder.inputs(pixels, view), _persons)
        return self._poses(rows, view, size, time)

    def _poses(self, rows: _Rows, view: _View, size: ImageSize, time: float | None) -> list[Pose]:
        poses = self._decoder.poses(rows, view, size)
        likely = [pose for pose in poses if pose.score >= self._min_pose_score]
        if time is None:
            return likely
        return self._decoder.follow(likely, size, time)


class _View(NamedTuple):
    """The part of an image that the model sees, in parts of the image's height and width.

    It may reach beyond the image.
    """

    y_min: float
    x_min: float
    y_max: float
    x_max: float


def _square(size: ImageSize, side: float, y_center: float, x_center: float) -> _View:
    """Return the view of a square, given in pixels."""
    height, width = size
    return _View(
        (y_center - side / 2) / height,
        (x_center - side / 2) / width,
        (y_center + side / 2) / height,
        (x_center + side / 2) / width,
    )


def _keypoints(points: Sequence[float], view: _View, size: ImageSize) -> tuple[Keypoint, ...]:
    """Return the keypoints of one person: y, x and score of each, in parts of the view."""
    return tuple(
        Keypoint(
            x=(view.x_min + x * (view.x_max - view.x_min)) * size.width,
            y=(view.y_min + y * (view.y_max - view.y_min)) * size.height,
            score=score,
            name=name,
        )
        for name, y, x, score in zip(
            COCO_KEYPOINTS, points[0::3], points[1::3], points[2::3], strict=True
        )
    )


def _persons(outputs: Sequence[Tensor]) -> Tensor:
    """Return the only output with a row for each person."""
    (output,) = outputs
    return reshape(output, (output.shape[1], -1))


def _tracker(tracker_type: str, config: Mapping[str, Any] | None) -> Tracker:
    check_choice("MoveNet", "tracker_type", tracker_type, TRACKERS)
    tracker_class, options = TRACKERS[tracker_type], config or {}
    names = [*signature(tracker_class).parameters]
    unknown = [name for name in options if name not in names]
    if unknown:
        raise TypeError(
            f"MoveNet: tracker_config: unknown option {unknown[0]!r}; there are {', '.join(names)}"
        )
    return tracker_class(**options)


class _KeypointFilters:
    """What smooths the keypoints of a person."""

    def __init__(self) -> None:
        self._filters = [(OneEuroFilter(), OneEuroFilter()) for _ in COCO_KEYPOINTS]

    def __call__(
        self, keypoints: Sequence[Keypoint], size: ImageSize, time: float
    ) -> tuple[Keypoint, ...]:
        # The filter's constants are those for coordinates as parts of the image.
        return tuple(
            replace(
                point,
                x=x_filter(point.x / size.width, time) * size.width,
                y=y_filter(point.y / size.height, time) * size.height,
            )
            for point, (x_filter, y_filter) in zip(keypoints, self._filters, strict=True)
        )


class _OnePerson:
    """The inputs and the results of the model for one person."""

    def __init__(self, input_size: tuple[int, int], dtype: DType, smooths: bool) -> None:
        self._input_size = input_size
        self._dtype = dtype
        self._smooths = smooths
        self.reset()

    def reset(self) -> None:
        self._next_view: _View | None = None
        self._view_filters = [LowPassFilter(_CROP_ALPHA) for _ in _View._fields]
        self._smooth = _KeypointFilters()

    def view(self, size: ImageSize, time: float | None) -> _View:
        if time is None:
            return _square(size, max(size), size.height / 2, size.width / 2)
        return self._next_view or _square(size, min(size), size.height / 2, size.width / 2)

    def inputs(self, pixels: Tensor, view: _View) -> Tensor:
        crop = crop_and_resize(expand_dims(pixels, 0), [list(view)], [0], self._input_size)
        return astype(crop, self._dtype)

    def poses(self, rows: _Rows, view: _View, size: ImageSize) -> list[Pose]:
        (points,) = rows
        keypoints = _keypoints(points, view, size)
        scores = [score for score in points[2::3] if score > _MIN_KEYPOINT_SCORE]
        return [Pose(keypoints, sum(scores) / max(len(scores), 1), box_around(keypoints))]

    def follow(self, poses: list[Pose], size: ImageSize, time: float) -> list[Pose]:
        """Smooth the pose of a frame, and choose what is seen of the next one."""
        if not poses:
            self.reset()
            return []
        (pose,) = poses
        if self._smooths:
            keypoints = self._smooth(pose.keypoints, size, time)
            pose = Pose(keypoints, pose.score, box_around(keypoints))
        next_view = _view_around(pose.keypoints, size)
        self._next_view = _View(
            *(smooth(edge) for smooth, edge in zip(self._view_filters, next_view, strict=True))
        )
        return [pose]


def _view_around(keypoints: Sequence[Keypoint], size: ImageSize) -> _View:
    """Return the square around a person's hips; the whole image if the torso is not visible."""
    points = {point.name: point for point in keypoints}
    scores = {point.name: point.score or 0.0 for point in keypoints}
    image_square = _square(size, max(size), size.height / 2, size.width / 2)
    if not all(
        any(scores[name] > _MIN_KEYPOINT_SCORE for name in names) for names in (_SHOULDERS, _HIPS)
    ):
        return image_square
    y = sum(points[name].y for name in _HIPS) / 2
    x = sum(points[name].x for name in _HIPS) / 2
    torso = [_distance(points[name], x, y) for name in (*_SHOULDERS, *_HIPS)]
    body = [
        _distance(points[name], x, y)
        for name, score in scores.items()
        if score >= _MIN_KEYPOINT_SCORE
    ]
    reach = max(_TORSO_MARGIN * max(torso), _BODY_MARGIN * max(body))
    reach = min(reach, max(x, size.width - x, y, size.height - y))
    return _square(size, 2 * reach, y, x) if 0 < reach <= max(size) / 2 else image_square


def _distance(point: Keypoint, x: float, y: float) -> float:
    return max(abs(point.x - x), abs(point.y - y))


class _SeveralPersons:
    """The inputs and the results of the model for several persons."""

    def __init__(
        self, max_dimension: int, dtype: DType, tracker: Tracker | None, smooths: bool
    ) -> None:
        self._max_dimension = max_dimension
        self._dtype = dtype
        self._tracker = tracker
        self._smooths = smooths
        #: The filters of the persons who are tracked, by their numbers.
        self._filters: dict[int, _KeypointFilters] = {}

    def reset(self) -> None:
        if self._tracker is not None:
            self._tracker.reset()

    def view(self, size: ImageSize, time: float | None) -> _View:
        """Return the image with the border that makes its sides multiples of 32."""
        height, width = self._scaled(size)
        return _View(0.0, 0.0, _rounded_up(height) / height, _rounded_up(width) / width)

    def inputs(self, pixels: Tensor, view: _View) -> Tensor:
        height, width = self._scaled(ImageSize(*pixels.shape[:2]))
        scaled = resize_bilinear(expand_dims(pixels, 0), (height, width))
        bottom, right = _rounded_up(height) - height, _rounded_up(width) - width
        padded = pad(scaled, [[0, 0], [0, bottom], [0, right], [0, 0]])
        return astype(padded, self._dtype)

    def poses(self, rows: _Rows, view: _View, size: ImageSize) -> list[Pose]:
        poses = []
        for *points, y_min, x_min, y_max, x_max, score in rows:
            height, width = view.y_max * size.height, view.x_max * size.width
            box = Box(x_min * width, y_min * height, x_max * width, y_max * height)
            poses.append(Pose(_keypoints(points, view, size), score, box))
        return poses

    def follow(self, poses: list[Pose], size: ImageSize, time: float) -> list[Pose]:
        """Recognize the persons of earlier frames, and smooth their poses."""
        if self._tracker is None:
            return poses
        ids = self._tracker.track(poses, size, time)
        if not self._smooths:
            return [replace(pose, id=number) for pose, number in zip(poses, ids, strict=True)]
        self._filters = {
            number: self._filters.get(number) or _KeypointFilters()
            for number in self._tracker.ids.union(ids)
        }
        return [
            replace(pose, keypoints=self._filters[number](pose.keypoints, size, time), id=number)
            for pose, number in zip(poses, ids, strict=True)
        ]

    def _scaled(self, size: ImageSize) -> tuple[int, int]:
        longer = max(size)
        height, width = (
            max(1, floor(self._max_dimension * length / longer + 0.5)) for length in size
        )
        return height, width


def _rounded_up(length: int) -> int:
    return ceil(length / _MULTIPLE) * _MULTIPLE
