"""Gestures of hands, by plain rules on how fingers are curled and where they point."""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, atan2, degrees, dist
from typing import Literal, TypeAlias

from webtensor.vision.hands import HAND_KEYPOINTS
from webtensor.vision.results import Keypoint3D

__all__ = ["FINGERS", "finger_curls", "finger_directions", "recognize_gesture"]

Curl: TypeAlias = Literal["none", "half", "full"]
Direction: TypeAlias = Literal[
    "right", "up_right", "up", "up_left", "left", "down_left", "down", "down_right"
]
Gesture: TypeAlias = Literal["rock", "paper", "scissors", "thumbs_up", "victory"]

#: The indices of the landmarks of each finger, from its base to its tip.
FINGERS: dict[str, tuple[int, int, int, int]] = {
    "thumb": (1, 2, 3, 4),
    "index_finger": (5, 6, 7, 8),
    "middle_finger": (9, 10, 11, 12),
    "ring_finger": (13, 14, 15, 16),
    "pinky_finger": (17, 18, 19, 20),
}
_LONG_FINGERS = [finger for finger in FINGERS if finger != "thumb"]
#: The angles in degrees by which the two outer joints bend together, from which on a finger is
#: curled by half and fully. A thumb bends less.
_HALF_CURL, _FULL_CURL = 60.0, 130.0
_HALF_THUMB_CURL, _FULL_THUMB_CURL = 45.0, 90.0
#: By steps of 45°, counterclockwise.
_DIRECTIONS: tuple[Direction, ...] = (
    *("right", "up_right", "up", "up_left"),
    *("left", "down_left", "down", "down_right"),
)
_UPWARDS = {"up_left", "up", "up_right"}


def finger_curls(landmarks: Sequence[Keypoint3D]) -> dict[str, Curl]:
    """Return how far each finger is curled.

    Args:
        landmarks: the 21 points of a hand, in pixels or in metres.

    Returns:
        ``"none"``, ``"half"`` or ``"full"`` for each of ``FINGERS``, by the sum of the angles in
        space between its three outer bones.

    Raises:
        ValueError: there are not 21 points.

    Example:
        >>> from webtensor.vision import Keypoint3D, finger_curls
        >>> straight = [Keypoint3D(float(index), 0.0, None, "", 0.0) for index in range(21)]
        >>> finger_curls(straight)["thumb"]
        'none'
    """
    _check("finger_curls", landmarks)
    curls: dict[str, Curl] = {}
    for finger, indices in FINGERS.items():
        half, full = (
            (_HALF_THUMB_CURL, _FULL_THUMB_CURL) if finger == "thumb" else (_HALF_CURL, _FULL_CURL)
        )
        bend = _bend([landmarks[index] for index in indices])
        curls[finger] = "none" if bend < half else "half" if bend < full else "full"
    return curls


def finger_directions(landmarks: Sequence[Keypoint3D]) -> dict[str, Direction]:
    """Return where each finger points in the image, from its base to its tip.

    Args:
        landmarks: the 21 points of a hand, in pixels or in metres.

    Returns:
        The nearest of eight directions, such as ``"up_left"``, for each of ``FINGERS``.

    Raises:
        ValueError: there are not 21 points.

    Example:
        >>> from webtensor.vision import Keypoint3D, finger_directions
        >>> rising = [Keypoint3D(0.0, -float(index), None, "", 0.0) for index in range(21)]
        >>> finger_directions(rising)["thumb"]
        'up'
    """
    _check("finger_directions", landmarks)
    directions = {}
    for finger, (base, *_, tip) in FINGERS.items():
        start, end = landmarks[base], landmarks[tip]
        angle = degrees(atan2(start.y - end.y, end.x - start.x))
        directions[finger] = _DIRECTIONS[round(angle / 45) % len(_DIRECTIONS)]
    return directions


def recognize_gesture(landmarks: Sequence[Keypoint3D]) -> Gesture | None:
    """Return the gesture of a hand.

    Args:
        landmarks: the 21 points of a hand, in pixels or in metres.

    Returns:
        The gesture, or None for another one:

        - ``"thumbs_up"``: the thumb is straight and points up; the other fingers are curled.
        - ``"rock"``: the fingers are curled, and the thumb is no thumb that points up.
        - ``"paper"``: all fingers are straight; the thumb may be curled by half.
        - ``"victory"``: index and middle finger are straight and point upwards; the ring finger
          and the little one are curled.
        - ``"scissors"``: the same, but they point elsewhere.

    Raises:
        ValueError: there are not 21 points.

    Example:
        >>> from webtensor.vision import Keypoint3D, recognize_gesture
        >>> straight = [Keypoint3D(0.0, -float(index), None, "", 0.0) for index in range(21)]
        >>> recognize_gesture(straight)
        'paper'
    """
    _check("recognize_gesture", landmarks)
    curls, directions = finger_curls(landmarks), finger_directions(landmarks)
    index, middle, ring, pinky = (curls[finger] for finger in _LONG_FINGERS)
    if index == middle == ring == pinky == "full":
        is_up = curls["thumb"] == "none" and directions["thumb"] == "up"
        return "thumbs_up" if is_up else "rock"
    if index == middle == ring == pinky == "none":
        return None if curls["thumb"] == "full" else "paper"
    if index == middle == "none" and "none" not in (ring, pinky):
        pointing = {directions["index_finger"], directions["middle_finger"]}
        return "victory" if pointing <= _UPWARDS else "scissors"
    return None


def _check(name: str, landmarks: Sequence[Keypoint3D]) -> None:
    if len(landmarks) != len(HAND_KEYPOINTS):
        raise ValueError(
            f"{name}: landmarks must be the {len(HAND_KEYPOINTS)} points of a hand, but there are "
            f"{len(landmarks)}"
        )


def _bend(joints: Sequence[Keypoint3D]) -> float:
    """Return the sum of the angles between bones that follow each other, in degrees."""
    points = [(joint.x, joint.y, joint.z) for joint in joints]
    bend = 0.0
    for first, middle, last in zip(points, points[1:], points[2:], strict=False):
        lengths = dist(first, middle) * dist(middle, last)
        product = sum((b - a) * (c - b) for a, b, c in zip(first, middle, last, strict=True))
        if lengths:
            bend += degrees(acos(max(-1.0, min(1.0, product / lengths))))
    return bend
