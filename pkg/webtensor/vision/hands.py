"""MediaPipe Hands (Zhang et al. 2020): the 21 points of each hand, and which hand it is.

A detector finds palms. It sees the image in a letterbox, and predicts for each anchor a logit, and
18 numbers in pixels of what it sees: the box's centre, relative to the anchor's, as (x, y), its
width and height, and seven points, relative to the anchor's centre, too, of which the first is the
wrist and the third the base of the middle finger.

Each hand is cut out, turned so that it points up, and seen by the second model. Its outputs are, in
the order of their names, those of a row of ``_LAYOUTS``: the points as (x, y, z) in pixels of what
it sees, the probability that there is a hand, that it is a left one, and the points in metres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import atan2, cos, sin
from typing import Literal, NamedTuple

from webtensor.arguments import as_fraction, as_positive_integer
from webtensor.engine import Tensor, keep
from webtensor.graph import GraphModel
from webtensor.ops import add, concat, divide, expand_dims, reshape, sigmoid, split, squeeze, tensor
from webtensor.vision.boxes import (
    Letterbox,
    Region,
    crop_region,
    letterbox,
    square_region,
    ssd_anchors,
    suppress,
)
from webtensor.vision.images import ImageLike, ImageSize, read_image, read_image_async
from webtensor.vision.model import Step, Steps, VisionModel, finish, finish_async
from webtensor.vision.results import (
    Box,
    Hand,
    Keypoint3D,
    box_around,
    mirrored,
    mirrored_box,
)

__all__ = ["HAND_KEYPOINTS", "HandPose", "PalmDetector"]

_FINGERS = ("index_finger", "middle_finger", "ring_finger", "pinky_finger")
#: The names of the 21 points of a hand, in the order in which models return them.
HAND_KEYPOINTS = (
    *("wrist", "thumb_cmc", "thumb_mcp", "thumb_ip", "thumb_tip"),
    *(f"{finger}_{joint}" for finger in _FINGERS for joint in ("mcp", "pip", "dip", "tip")),
)

_COUNT = 3 * len(HAND_KEYPOINTS)
#: The strides of layers of the detectors for 256 and for 192 pixels, by the numbers of anchors.
_STRIDES = {2944: (8, 16, 32, 32, 32), 2016: (8, 16, 16, 16)}
_PALM_NUMBERS = 18
_MIDDLE_FINGER = 2
#: The meanings of the outputs, by their sizes in the order of their names.
_LAYOUTS: dict[tuple[int, ...], tuple[str, ...]] = {
    (_COUNT, 1): ("points", "score"),
    (_COUNT, 1, 1, _COUNT): ("points", "score", "is_left", "world_points"),
    (1, 1, _COUNT, _COUNT): ("is_left", "score", "points", "world_points"),
}
#: The side of the crop around a palm, as a multiple of its box's, and its shift to the fingers.
_PALM_SCALE, _PALM_SHIFT = 2.6, -0.5
#: Depths are predicted on another scale than x and y.
_Z_SCALE = 0.4


class _Palm(NamedTuple):
    """A palm in the image.

    Attributes:
        box: the box around the palm.
        score: how sure the model is.
        rotation: how far the hand is turned clockwise from pointing up, in radians.
    """

    box: Box
    score: float
    rotation: float

    @property
    def region(self) -> Region:
        """The square that the hand is in."""
        return square_region(self.box, self.rotation, _PALM_SCALE, _PALM_SHIFT)


class PalmDetector(VisionModel):
    """MediaPipe's detector of palms, which ``HandPose`` finds hands with.

    Args:
        model: the graph model; ``PalmDetector.load`` loads it from its files.
        iou_threshold: of two boxes whose intersection over union is this or more, the one of the
            lower score is left out.
        score_threshold: palms whose score is not above it are left out.

    Raises:
        TypeError: ``model`` is no graph model.
        ValueError: it is another graph model, or a threshold lies outside [0, 1].
    """

    _expected = (
        "an input (1, size, size, 3), and outputs whose shapes add up to (1, anchors, "
        f"{1 + _PALM_NUMBERS}) with {' or '.join(map(str, _STRIDES))} anchors"
    )

    def __init__(
        self, model: GraphModel, *, iou_threshold: float = 0.3, score_threshold: float = 0.5
    ) -> None:
        super().__init__(model)
        self._side = self._square_side()
        self._iou_threshold = as_fraction("PalmDetector", "iou_threshold", iou_threshold)
        self._score_threshold = as_fraction("PalmDetector", "score_threshold", score_threshold)
        self._origins: dict[int, Tensor] = {}

    def dispose(self) -> None:
        """Give back the memory of the weights; the model cannot be used any more."""
        super().dispose()
        for origins in self._origins.values():
            origins.dispose()

    def _palms(self, pixels: Tensor, max_hands: int) -> Steps[list[_Palm]]:
        """Return the palms of an image, best first."""
        scaled, placement = letterbox(pixels, self._side, self._side)
        inputs = divide(expand_dims(scaled, 0), 255.0)
        rows = yield Step(self, inputs, self._predictions)
        palms = [_palm(row, placement) for row in rows if row[0] > self._score_threshold]
        boxes, scores = [palm.box for palm in palms], [palm.score for palm in palms]
        return [palms[index] for index in suppress(boxes, scores, max_hands, self._iou_threshold)]

    def _predictions(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return (anchors, 19): the score, the centre, the size and the points of each box."""
        sizes = {output.shape[2:]: output for output in outputs}
        if sizes.keys() == {(1 + _PALM_NUMBERS,)}:
            logits, numbers = split(outputs[0], [1, _PALM_NUMBERS], 2)
        elif sizes.keys() == {(1,), (_PALM_NUMBERS,)}:
            logits, numbers = sizes[1,], sizes[_PALM_NUMBERS,]
        else:
            raise self._misfit(outputs)
        count = logits.shape[1]
        if count not in _STRIDES or numbers.shape[:2] != (1, count) or len(outputs) != len(sizes):
            raise self._misfit(outputs)
        offsets = add(squeeze(numbers, 0), self._origins_of(count))
        return concat([sigmoid(squeeze(logits, 0)), offsets], 1)

    def _origins_of(self, count: int) -> Tensor:
        """Return what is added to the numbers of each anchor."""
        if count not in self._origins:
            anchors = ssd_anchors((self._side, self._side), _STRIDES[count])
            centers = [
                (self._side * anchor.x_center, self._side * anchor.y_center) for anchor in anchors
            ]
            if len(centers) != count:
                raise self._misfit()
            points = (_PALM_NUMBERS - 4) // 2
            self._origins[count] = keep(
                tensor([[x, y, 0.0, 0.0, *(x, y) * points] for x, y in centers])
            )
        return self._origins[count]


def _palm(row: Sequence[float], placement: Letterbox) -> _Palm:
    score, x, y, width, height, *points = row
    corners = (
        *placement.to_image(x - width / 2, y - height / 2),
        *placement.to_image(x + width / 2, y + height / 2),
    )
    wrist = placement.to_image(*points[:2])
    middle = placement.to_image(*points[2 * _MIDDLE_FINGER : 2 * _MIDDLE_FINGER + 2])
    return _Palm(Box(*corners), score, _rotation(wrist, middle))


def _rotation(start: Sequence[float], end: Sequence[float]) -> float:
    """Return how far a line is turned clockwise from pointing up, between -pi and pi."""
    return atan2(end[0] - start[0], start[1] - end[1])


class HandPose(VisionModel):
    """MediaPipe Hands: 21 points of each hand of an image.

    Args:
        model: the graph model; ``HandPose.load`` loads it from its files.
        detector: finds the palms; ``dispose`` leaves it as it is.
        min_score: hands of a lower score are left out.

    Raises:
        TypeError: ``model`` is no graph model, or ``detector`` no PalmDetector.
        ValueError: ``model`` is another graph model, or ``min_score`` lies outside [0, 1].

    Example:
        With the files of the models in folders::

            from webtensor.vision import HandPose, PalmDetector, recognize_gesture

            detector = PalmDetector.load("handdetect/model.json")
            model = HandPose.load("handlandmark/model.json", detector=detector)
            for hand in model.estimate_hands("photo.jpg"):
                print(hand.handedness, recognize_gesture(hand.landmarks))
    """

    _expected = (
        "an input (1, size, size, 3) and outputs of "
        + ", or of ".join(
            f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]}" for sizes in _LAYOUTS
        )
        + " numbers"
    )

    def __init__(
        self, model: GraphModel, *, detector: PalmDetector, min_score: float = 0.5
    ) -> None:
        super().__init__(model)
        self._side = self._square_side()
        if not isinstance(detector, PalmDetector):
            raise TypeError(
                f"HandPose: detector must be a PalmDetector, but got {type(detector).__name__}"
            )
        self._detector = detector
        self._min_score = as_fraction("HandPose", "min_score", min_score)

    def estimate_hands(
        self, image: ImageLike, flip_horizontal: bool = False, max_hands: int = 2
    ) -> list[Hand]:
        """Find hands and their points.

        Args:
            image: as of ``wt.vision.read_image``. It is no mirror image: in one, left hands look
                like right ones.
            flip_horizontal: whether results are those of the mirrored image, as for the picture of
                a webcam that is shown like a mirror. Left is the person's left all the same.
            max_hands: the largest number of hands.

        Returns:
            The hands, best palm first. The score of landmarks is None.

        Raises:
            ImportError, OSError: as of ``wt.vision.read_image``.
            TypeError: ``max_hands`` is no integer; as of ``wt.vision.read_image``.
            ValueError: ``max_hands`` is not positive; as of ``wt.vision.read_image``.
        """
        max_hands = as_positive_integer("estimate_hands", "max_hands", max_hands)
        pixels, size = read_image(image)
        return _in_view(finish(self._hands(pixels, max_hands)), size, flip_horizontal)

    async def estimate_hands_async(
        self, image: ImageLike, flip_horizontal: bool = False, max_hands: int = 2
    ) -> list[Hand]:
        """Find hands as ``estimate_hands`` does, without blocking the page.

        Example:
            In a page::

                hands = await model.estimate_hands_async(document.querySelector("video"))
        """
        max_hands = as_positive_integer("estimate_hands", "max_hands", max_hands)
        pixels, size = await read_image_async(image)
        return _in_view(await finish_async(self._hands(pixels, max_hands)), size, flip_horizontal)

    def _hands(self, pixels: Tensor, max_hands: int) -> Steps[list[Hand]]:
        palms = yield from self._detector._palms(pixels, max_hands)
        hands = []
        for palm in palms:
            crop = crop_region(pixels, palm.region, self._side, self._side)
            row = yield Step(self, divide(expand_dims(crop, 0), 255.0), self._row)
            hand = self._hand(row, palm.region)
            if hand.score >= self._min_score:
                hands.append(hand)
        return hands

    def _output_names(self) -> list[str]:
        return sorted(super()._output_names(), key=lambda name: (len(name), name))

    def _row(self, outputs: Sequence[Tensor]) -> Tensor:
        """Return the numbers of all outputs: score, points, is_left and world_points."""
        layout = _LAYOUTS.get(tuple(output.size for output in outputs))
        if layout is None:
            raise self._misfit(outputs)
        parts = {name: reshape(output, (-1,)) for name, output in zip(layout, outputs, strict=True)}
        order = ("score", "points", "is_left", "world_points")
        return concat([parts[name] for name in order if name in parts], 0)

    def _hand(self, row: Sequence[float], region: Region) -> Hand:
        score, points, rest = row[0], row[1 : 1 + _COUNT], row[1 + _COUNT :]
        side = self._side
        landmarks = []
        for name, x, y, z in zip(
            HAND_KEYPOINTS, points[0::3], points[1::3], points[2::3], strict=True
        ):
            depth = z / side / _Z_SCALE * region.width
            landmarks.append(Keypoint3D(*region.to_image(x / side, y / side), None, name, depth))
        handedness: Literal["left", "right"] | None = None
        world_landmarks = None
        if rest:
            handedness = "left" if rest[0] >= 0.5 else "right"
            world_landmarks = _turned(rest[1:], region.rotation)
        return Hand(tuple(landmarks), world_landmarks, handedness, score, box_around(landmarks))


def _turned(points: Sequence[float], angle: float) -> tuple[Keypoint3D, ...]:
    """Return points of a crop in metres, turned as the hand is in the image."""
    cosine, sine = cos(angle), sin(angle)
    return tuple(
        Keypoint3D(x * cosine - y * sine, x * sine + y * cosine, None, name, z)
        for name, x, y, z in zip(
            HAND_KEYPOINTS, points[0::3], points[1::3], points[2::3], strict=True
        )
    )


def _in_view(hands: list[Hand], size: ImageSize, flip_horizontal: bool) -> list[Hand]:
    """Return the hands of the image, or those of the mirrored image."""
    if not flip_horizontal:
        return hands
    return [
        replace(
            hand,
            landmarks=mirrored(hand.landmarks, size.width),
            world_landmarks=hand.world_landmarks
            and tuple(replace(point, x=-point.x) for point in hand.world_landmarks),
            box=mirrored_box(hand.box, size.width),
        )
        for hand in hands
    ]
