"""What the models return: plain values, in pixels of the image that was passed.

The first pixel's upper left corner is the origin; x grows to the right, y downwards. Scores are
probabilities from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

__all__ = [
    "COCO_KEYPOINTS",
    "SKELETON",
    "Box",
    "Classification",
    "DetectedObject",
    "Face",
    "Hand",
    "Keypoint",
    "Keypoint3D",
    "MeshFace",
    "Pose",
    "box_around",
    "mirrored",
    "mirrored_box",
]

#: The names of the 17 keypoints of COCO, in the order in which models return them.
COCO_KEYPOINTS = (
    "nose",
    "left_eye",
    "right_eye",
    "left_ear",
    "right_ear",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
    "left_hip",
    "right_hip",
    "left_knee",
    "right_knee",
    "left_ankle",
    "right_ankle",
)

#: Pairs of COCO's keypoints that lines connect in a drawing of a pose.
SKELETON = (
    ("nose", "left_eye"),
    ("nose", "right_eye"),
    ("left_eye", "left_ear"),
    ("right_eye", "right_ear"),
    ("left_shoulder", "right_shoulder"),
    ("left_shoulder", "left_elbow"),
    ("left_elbow", "left_wrist"),
    ("right_shoulder", "right_elbow"),
    ("right_elbow", "right_wrist"),
    ("left_shoulder", "left_hip"),
    ("right_shoulder", "right_hip"),
    ("left_hip", "right_hip"),
    ("left_hip", "left_knee"),
    ("left_knee", "left_ankle"),
    ("right_hip", "right_knee"),
    ("right_knee", "right_ankle"),
)


AnyKeypoint = TypeVar("AnyKeypoint", bound="Keypoint")


@dataclass(frozen=True, slots=True)
class Keypoint:
    """A point of a body or of a face.

    Attributes:
        x: how far right it is, in pixels.
        y: how far down it is, in pixels.
        score: how sure the model is; None where the model does not say.
        name: which point it is, such as ``"left_knee"``. Left is the person's left.
    """

    x: float
    y: float
    score: float | None
    name: str


@dataclass(frozen=True, slots=True)
class Keypoint3D(Keypoint):
    """A point of a face or of a hand in space.

    Attributes:
        z: how far behind a point of reference it is, which the model documents; less is nearer to
            the camera. The unit is that of x.
    """

    z: float


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle along the axes, in pixels; it may reach beyond the image.

    Example:
        >>> from webtensor.vision import Box
        >>> box = Box(x_min=10.0, y_min=20.0, x_max=40.0, y_max=30.0)
        >>> box.width, box.height
        (30.0, 10.0)
    """

    x_min: float
    y_min: float
    x_max: float
    y_max: float

    @property
    def width(self) -> float:
        """The size along x, in pixels."""
        return self.x_max - self.x_min

    @property
    def height(self) -> float:
        """The size along y, in pixels."""
        return self.y_max - self.y_min


@dataclass(frozen=True, slots=True)
class Pose:
    """A person.

    Attributes:
        keypoints: the points of the body, in the order of ``COCO_KEYPOINTS``.
        score: how sure the model is that there is a person.
        box: the box around the person where the model predicts one, else that of ``box_around``.
        id: the number of the person, the same in all frames of a video; None where persons are not
            tracked.
    """

    keypoints: tuple[Keypoint, ...]
    score: float
    box: Box
    id: int | None = None


def box_around(keypoints: Sequence[Keypoint], min_score: float = 0.2) -> Box:
    """Return the smallest box around keypoints.

    Args:
        keypoints: at least one keypoint.
        min_score: keypoints of lower scores do not count, unless all are lower.

    Example:
        >>> from webtensor.vision import Keypoint
        >>> from webtensor.vision.results import box_around
        >>> nose, eye = Keypoint(5.0, 9.0, 0.9, "nose"), Keypoint(4.0, 7.0, 0.8, "left_eye")
        >>> box_around([nose, eye, Keypoint(99.0, 99.0, 0.1, "left_ear")])
        Box(x_min=4.0, y_min=7.0, x_max=5.0, y_max=9.0)
    """
    likely = [point for point in keypoints if point.score is None or point.score >= min_score]
    points = likely or keypoints
    xs, ys = [point.x for point in points], [point.y for point in points]
    return Box(min(xs), min(ys), max(xs), max(ys))


@dataclass(frozen=True, slots=True)
class Face:
    """A face.

    Attributes:
        box: the box around the face.
        landmarks: points of the face, whose names the model documents.
        score: how sure the model is that this is a face.
    """

    box: Box
    landmarks: tuple[Keypoint, ...]
    score: float


@dataclass(frozen=True, slots=True)
class MeshFace(Face):
    """A face whose landmarks are the vertices of a mesh.

    Attributes:
        landmarks: 468 points, or 478 with irises; ``z`` is relative to the centre of the head.
            ``FACE_CONTOURS`` has the indices of those around eyes, lips and so on.
    """

    landmarks: tuple[Keypoint3D, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand.

    Attributes:
        landmarks: the 21 points of ``HAND_KEYPOINTS``; ``z`` is relative to the wrist.
        world_landmarks: the same points in metres, around the middle of the hand; None where the
            model does not predict them.
        handedness: which hand of the person it is; None where the model does not say.
        score: how sure the model is that this is a hand.
        box: the box around the landmarks.
    """

    landmarks: tuple[Keypoint3D, ...]
    world_landmarks: tuple[Keypoint3D, ...] | None
    handedness: Literal["left", "right"] | None
    score: float
    box: Box


@dataclass(frozen=True, slots=True)
class DetectedObject:
    """An object.

    Attributes:
        box: the box around the object.
        label: what it is, such as ``"bicycle"``.
        score: how sure the model is.
    """

    box: Box
    label: str
    score: float


@dataclass(frozen=True, slots=True)
class Classification:
    """A class that an image may be of.

    Attributes:
        label: its name, such as ``"tabby"``.
        class_index: its number among the names of the classes.
        probability: how probable it is.
    """

    label: str
    class_index: int
    probability: float


def mirrored(keypoints: Sequence[AnyKeypoint], width: int) -> tuple[AnyKeypoint, ...]:
    """Return the keypoints in the mirrored image, whose width is given in pixels.

    Example:
        >>> from webtensor.vision import Keypoint
        >>> from webtensor.vision.results import mirrored
        >>> mirrored([Keypoint(x=10.0, y=5.0, score=0.9, name="nose")], width=100)
        (Keypoint(x=89.0, y=5.0, score=0.9, name='nose'),)
    """
    return tuple(replace(point, x=width - 1 - point.x) for point in keypoints)


def mirrored_box(box: Box, width: int) -> Box:
    """Return the box in the mirrored image, whose width is given in pixels.

    Example:
        >>> from webtensor.vision import Box
        >>> from webtensor.vision.results import mirrored_box
        >>> mirrored_box(Box(x_min=10.0, y_min=5.0, x_max=30.0, y_max=8.0), width=100)
        Box(x_min=69.0, y_min=5.0, x_max=89.0, y_max=8.0)
    """
    return replace(box, x_min=width - 1 - box.x_max, x_max=width - 1 - box.x_min)
