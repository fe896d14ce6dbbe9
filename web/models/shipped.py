"""The models that the site ships, which `export_data.py` makes, and how they are tried."""

from typing import NamedTuple


class ShippedModel(NamedTuple):
    """A model of the site.

    Attributes:
        title: what the page calls it.
        about: what it computes, in a sentence.
        address: where it lies, relative to the page: a `model.json`, or another file of models.
        picture: the picture that it is tried on.
        low: the value of black in its input.
        high: the value of white.
        sides: the height and the width that it is given, where it takes any.
    """

    title: str
    about: str
    address: str
    picture: str
    low: float = 0.0
    high: float = 1.0
    sides: tuple[int, int] = (213, 320)


DIGIT = "pictures/digit.png"
PHOTOGRAPH = "pictures/temple.jpg"

#: By the values of the page's choices.
SHIPPED = {
    "digits": ShippedModel(
        "Digits, layers-model",
        "Probabilities of the ten digits. The page about digits trains the same network.",
        "shipped/digits/model.json",
        DIGIT,
        low=16.0,
        high=0.0,
    ),
    "digits-keras": ShippedModel(
        "Digits, .keras",
        "The same network with the same weights, in a file of Keras.",
        "shipped/digits.keras",
        DIGIT,
        low=16.0,
        high=0.0,
    ),
    "edges": ShippedModel(
        "Edges, graph model",
        "How steep a picture of any size is at each pixel, by Sobel's filter.",
        "shipped/edges/model.json",
        PHOTOGRAPH,
    ),
    "corners": ShippedModel(
        "Corners, ONNX",
        "How much of a corner is at each pixel of a picture of any size, after Shi and Tomasi.",
        "shipped/corners.onnx",
        PHOTOGRAPH,
    ),
}
