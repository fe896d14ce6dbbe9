"""Gestures of hands whose joints are bent by known angles."""

from collections.abc import Mapping
from math import cos, radians, sin

import pytest

from webtensor.vision import (
    FINGERS,
    HAND_KEYPOINTS,
    Keypoint3D,
    finger_curls,
    finger_directions,
    recognize_gesture,
)

STRAIGHT, HALF, FULL = 0.0, 40.0, 80.0
LONG = [finger for finger in FINGERS if finger != "thumb"]
#: A hand that points up: the angle of each finger's first bone, counterclockwise from the right.
FAN = dict(zip(FINGERS, (135.0, 100.0, 90.0, 80.0, 70.0), strict=True))


def hand(
    bends: Mapping[str, float], directions: Mapping[str, float] = FAN, scale: float = 30.0
) -> list[Keypoint3D]:
    """A hand whose outer joints bend by these angles, out of the plane of the image."""
    points = {0: (0.0, 0.0, 0.0)}
    for finger, indices in FINGERS.items():
        angle, bend = radians(directions[finger]), 0.0
        x, y, z = 2 * scale * cos(angle), -2 * scale * sin(angle), 0.0
        points[indices[0]] = x, y, z
        for index in indices[1:]:
            x += scale * cos(radians(bend)) * cos(angle)
            y -= scale * cos(radians(bend)) * sin(angle)
            z -= scale * sin(radians(bend))
            points[index] = x, y, z
            bend += bends.get(finger, STRAIGHT)
    return [
        Keypoint3D(x, y, None, HAND_KEYPOINTS[index], z)
        for index, (x, y, z) in sorted(points.items())
    ]


def curled(*fingers: str) -> dict[str, float]:
    return dict.fromkeys(fingers, FULL)


def turned(angle: float) -> dict[str, float]:
    return {finger: direction + angle for finger, direction in FAN.items()}


def test_fingers_are_curled_by_the_angles_of_their_joints() -> None:
    bends = {"thumb": 30.0, "index_finger": HALF, "middle_finger": FULL, "ring_finger": 20.0}
    assert finger_curls(hand(bends)) == {
        "thumb": "half",
        "index_finger": "half",
        "middle_finger": "full",
        "ring_finger": "none",
        "pinky_finger": "none",
    }
    assert finger_curls(hand({"thumb": 50.0}))["thumb"] == "full"


@pytest.mark.parametrize("angle", [0, 37, 180, 300])
@pytest.mark.parametrize("scale", [0.03, 30])
def test_curls_depend_neither_on_direction_nor_on_scale(angle: float, scale: float) -> None:
    bends = {"thumb": 10.0, "index_finger": FULL, "ring_finger": HALF}
    curls = finger_curls(hand(bends, turned(angle), scale))
    assert curls == finger_curls(hand(bends))


def test_points_at_the_same_position_are_straight() -> None:
    points = [Keypoint3D(1.0, 2.0, None, "", 3.0)] * 21
    assert set(finger_curls(points).values()) == {"none"}


@pytest.mark.parametrize(
    "angle, direction",
    [
        (0, "right"),
        (45, "up_right"),
        (70, "up"),
        (110, "up"),
        (135, "up_left"),
        (180, "left"),
        (225, "down_left"),
        (270, "down"),
        (315, "down_right"),
        (350, "right"),
    ],
)
def test_fingers_point_in_one_of_eight_directions(angle: float, direction: str) -> None:
    points = hand({}, dict.fromkeys(FINGERS, angle))
    assert set(finger_directions(points).values()) == {direction}


UP = {**FAN, "thumb": 90.0}
SIDEWAYS = {**turned(-90), "thumb": 90.0}
GESTURES = {
    "rock": (curled(*LONG), FAN, "rock"),
    "rock, with the thumb over it": (curled("thumb", *LONG), SIDEWAYS, "rock"),
    "rock, sideways": (curled(*LONG), turned(-90), "rock"),
    "paper": ({}, FAN, "paper"),
    "paper, with the thumb beside it": ({"thumb": 30.0}, turned(180), "paper"),
    "thumbs up": (curled(*LONG), SIDEWAYS, "thumbs_up"),
    "thumbs up, from the front": (curled(*LONG), UP, "thumbs_up"),
    "thumbs down": (curled(*LONG), {**SIDEWAYS, "thumb": 270.0}, "rock"),
    "victory": (curled("ring_finger", "pinky_finger", "thumb"), FAN, "victory"),
    "victory, half": ({"ring_finger": HALF, "pinky_finger": FULL}, turned(-30), "victory"),
    "scissors": (curled("ring_finger", "pinky_finger"), turned(90), "scissors"),
    "scissors, down": (curled("ring_finger", "pinky_finger"), turned(180), "scissors"),
    "four": (curled("thumb"), FAN, None),
    "pointing": (curled("middle_finger", "ring_finger", "pinky_finger"), FAN, None),
    "horns": (curled("middle_finger", "ring_finger"), FAN, None),
    "half a fist": (dict.fromkeys(LONG, HALF), FAN, None),
}


@pytest.mark.parametrize("name", GESTURES)
def test_gestures_are_recognized(name: str) -> None:
    bends, directions, gesture = GESTURES[name]
    assert recognize_gesture(hand(bends, directions)) == gesture


@pytest.mark.parametrize("function", [finger_curls, finger_directions, recognize_gesture])
def test_a_hand_has_21_points(function: object) -> None:
    name = getattr(function, "__name__", "")
    message = f"{name}: landmarks must be the 21 points of a hand, but there are 20"
    with pytest.raises(ValueError, match=message):
        function(hand({})[:20])  # type: ignore[operator]
