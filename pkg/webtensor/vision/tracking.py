"""Tracking: which person of a frame is which person of the frames before.

A track is what was seen last of a person. The poses of a frame are linked to tracks greedily, the
first pose first: each to the track that is most similar to it. Trackers differ in what similar is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import ClassVar

from webtensor.arguments import as_fraction, as_number, as_positive_integer
from webtensor.vision.images import ImageSize
from webtensor.vision.results import Keypoint, Pose

__all__ = ["TRACKERS", "BoxTracker", "KeypointTracker", "Tracker"]

#: How far the keypoints of COCO are marked from each other by different people (Ronchi and Perona
#: 2017), as parts of the person's size.
_FALLOFF = (
    *(0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072),
    *(0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089, 0.089),
)
#: Keeps the area of a person from being 0.
_EPSILON = 1e-6


@dataclass(slots=True)
class _Track:
    """A person.

    Attributes:
        id: the number of the person.
        pose: the last pose.
        time: the timestamp of its frame, in milliseconds.
    """

    id: int
    pose: Pose
    time: float


class Tracker(ABC):
    """The base class of trackers.

    Args:
        max_tracks: the maximum number of persons that are remembered: those who were seen last.
        max_age: how long a person is remembered after the last sight, in milliseconds.
        min_similarity: the similarity from which on a pose is that of an earlier person; by
            default what suits the tracker.

    Raises:
        TypeError: an argument is no number.
        ValueError: an argument is out of range.
    """

    _min_similarity: ClassVar[float]

    def __init__(
        self,
        *,
        max_tracks: int = 18,
        max_age: float = 1000.0,
        min_similarity: float | None = None,
    ) -> None:
        self._max_tracks = as_positive_integer("MoveNet", "max_tracks", max_tracks)
        self._max_age = as_number("MoveNet", "max_age", max_age)
        if not self._max_age > 0:
            raise ValueError(f"MoveNet: max_age must be positive, but got {max_age}")
        limit = self._min_similarity if min_similarity is None else min_similarity
        self._limit = as_number("MoveNet", "min_similarity", limit)
        self._tracks: list[_Track] = []
        self._count = 0

    @property
    def ids(self) -> set[int]:
        """The numbers of the persons that are remembered."""
        return {track.id for track in self._tracks}

    def reset(self) -> None:
        """Forget all persons; their numbers are not used again."""
        self._tracks = []

    def track(self, poses: Sequence[Pose], size: ImageSize, time: float) -> list[int]:
        """Return the number of each person in a frame.

        Args:
            poses: the poses, the surest first.
            size: the size of the frame, in pixels.
            time: its timestamp, in milliseconds.
        """
        tracks = [track for track in self._tracks if time - track.time <= self._max_age]
        unmatched = list(tracks)
        ids = []
        for pose in poses:
            similarities = [self._similarity(pose, track.pose, size) for track in unmatched]
            best = max(similarities, default=0.0)
            if similarities and best >= self._limit:
                track = unmatched.pop(similarities.index(best))
                track.pose, track.time = pose, time
            else:
                self._count += 1
                track = _Track(self._count, pose, time)
                tracks.append(track)
            ids.append(track.id)
        tracks.sort(key=lambda track: -track.time)
        self._tracks = tracks[: self._max_tracks]
        return ids

    @abstractmethod
    def _similarity(self, pose: Pose, earlier_pose: Pose, size: ImageSize) -> float:
        """Return how similar a pose is to an earlier one, from 0 to 1."""


class BoxTracker(Tracker):
    """Poses are similar whose boxes overlap: by intersection over union."""

    _min_similarity = 0.15

    def _similarity(self, pose: Pose, earlier_pose: Pose, size: ImageSize) -> float:
        box, other = pose.box, earlier_pose.box
        width = min(box.x_max, other.x_max) - max(box.x_min, other.x_min)
        height = min(box.y_max, other.y_max) - max(box.y_min, other.y_min)
        if width <= 0 or height <= 0:
            return 0.0
        intersection = width * height
        areas = box.width * box.height + other.width * other.height
        return intersection / (areas - intersection)


class KeypointTracker(Tracker):
    """Poses are similar whose keypoints are near to each other: COCO's object keypoint similarity.

    Args:
        keypoint_confidence_threshold: keypoints of a lower score do not count.
        keypoint_falloff: for each keypoint, how far away it counts, as a part of the person's size.
        min_number_of_keypoints: poses that have fewer likely keypoints in common are not similar.
        **options: those of ``Tracker``.

    Raises:
        TypeError, ValueError: as of ``Tracker``.
    """

    _min_similarity = 0.2

    def __init__(
        self,
        *,
        keypoint_confidence_threshold: float = 0.3,
        keypoint_falloff: Sequence[float] = _FALLOFF,
        min_number_of_keypoints: int = 4,
        max_tracks: int = 18,
        max_age: float = 1000.0,
        min_similarity: float | None = None,
    ) -> None:
        super().__init__(max_tracks=max_tracks, max_age=max_age, min_similarity=min_similarity)
        if len(keypoint_falloff) != len(_FALLOFF) or min(keypoint_falloff) <= 0:
            raise ValueError(
                f"MoveNet: keypoint_falloff must be {len(_FALLOFF)} positive numbers, but is "
                f"{keypoint_falloff}"
            )
        self._threshold = as_fraction(
            "MoveNet", "keypoint_confidence_threshold", keypoint_confidence_threshold
        )
        self._falloff = keypoint_falloff
        self._min_count = as_positive_integer(
            "MoveNet", "min_number_of_keypoints", min_number_of_keypoints
        )

    def _similarity(self, pose: Pose, earlier_pose: Pose, size: ImageSize) -> float:
        area = self._area(earlier_pose.keypoints, size) + _EPSILON
        similarities = [
            exp(-_square_distance(point, other, size) / (2 * area * (2 * falloff) ** 2))
            for point, other, falloff in zip(
                pose.keypoints, earlier_pose.keypoints, self._falloff, strict=True
            )
            if min(point.score or 0.0, other.score or 0.0) >= self._threshold
        ]
        if len(similarities) < self._min_count:
            return 0.0
        return sum(similarities) / len(similarities)

    def _area(self, keypoints: Sequence[Keypoint], size: ImageSize) -> float:
        """Return the area of the box around the likely keypoints, as a part of the image's."""
        likely = [point for point in keypoints if (point.score or 0.0) > self._threshold]
        xs = [point.x / size.width for point in likely]
        ys = [point.y / size.height for point in likely]
        return (max([0.0, *xs]) - min([1.0, *xs])) * (max([0.0, *ys]) - min([1.0, *ys]))


def _square_distance(point: Keypoint, other: Keypoint, size: ImageSize) -> float:
    x, y = (point.x - other.x) / size.width, (point.y - other.y) / size.height
    return x * x + y * y


#: The trackers, by what ``MoveNet`` calls them.
TRACKERS: dict[str, type[Tracker]] = {"bounding_box": BoxTracker, "keypoint": KeypointTracker}
