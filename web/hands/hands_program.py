"""The points of hands, and a game of rock, paper, scissors."""

from itertools import pairwise
from random import choice

from picture import Picture

from webtensor.vision import FINGERS, HandPose, PalmDetector, recognize_gesture

BEATS = {"rock": "scissors", "paper": "rock", "scissors": "paper"}
STEADY = 5  # the number of frames that a move of the webcam's visitor lasts

picture = Picture()
detector = await PalmDetector.load_async(
    "../pretrained/handdetect.json",
    load_options=picture.loading("the detector of palms"),
)
model = await HandPose.load_async(
    "../pretrained/handlandmark-lite.json",
    load_options=picture.loading("the model of hands"),
    detector=detector,
)


def answer(move):
    """Return what comes of a move."""
    own = choice([*BEATS])
    winner = "You win" if BEATS[move] == own else "Python wins"
    return f"You: {move}. Python: {own}. {winner if own != move else 'A draw'}."


moves, played, result = [], None, "Show a hand."
async for frame in picture.frames():
    hands = await model.estimate_hands_async(frame.pixels)
    gestures = [recognize_gesture(hand.landmarks) for hand in hands]

    overlay = picture.show(frame)
    for hand in hands:
        points = hand.landmarks
        for finger in FINGERS.values():
            bones = pairwise(points[index] for index in (0, *finger))
            overlay.draw_lines(bones)
        overlay.draw_dots(points)
    texts = [gesture or "a hand" for gesture in gestures]
    overlay.draw_boxes([hand.box for hand in hands], texts)

    gesture = gestures[0] if gestures else None
    move = "scissors" if gesture == "victory" else gesture
    moves = [*moves, move][-STEADY:]
    is_steady = frame.timestamp is None or moves == [move] * STEADY
    if is_steady and move != played:
        played = move
        if move in BEATS:
            result = answer(move)
        elif frame.timestamp is None:
            result = "This is neither rock, paper nor scissors."
    picture.say(result)
