"""The digits, how many of them, and the canvas on which they are dots."""

import json
from math import sqrt
from time import perf_counter

import digit_map
from data import Digits, as_images, unpack
from page import element, write
from pyodide.ffi import to_js
from pyodide.http import pyfetch
from tsne import gradient

import webtensor as wt

#: How long a step may take for its motion to be fluent, and the points with which it is tried.
FLUENT_SECONDS = 0.05
TRIED_POINTS = 300


async def load_digits(count: int) -> Digits:
    """Fetch the first `count` digits: images (count, 8, 8, 1) of 0 to 16, and their labels."""
    info = json.loads(await _fetched("digits.json"))
    pairs = unpack(info["count"], await _fetched("digits.bin"))[:count]
    pixels, labels = zip(*pairs, strict=True)
    return Digits(as_images(list(pixels)), list(labels), list(pixels))


async def _fetched(name: str) -> bytes:
    response = await pyfetch(f"../digits/{name}")
    response.raise_for_status()
    content: bytes = await response.bytes()
    return content


def control(identifier: str) -> float:
    """Return the number that a control of the page is at."""
    return float(element(identifier).value)


async def chosen_count() -> int:
    """Return how many digits were chosen, or the most that move fluently on the backend."""
    choice = element("count")
    if choice.value != "fluent":
        return int(choice.value)
    limit = await fluent_points()
    counts = [int(option.value) for option in choice.options if option.value != "fluent"]
    return max((count for count in counts if count <= limit), default=min(counts))


async def fluent_points() -> float:
    """Return how many points have fluent steps, judged by a step of few points.

    A step takes a time that grows with the square of the number of points.
    """
    write("step", "Trying how fast a step is")
    positions = wt.random_normal((TRIED_POINTS, 2), seed=0)
    p = wt.eye(TRIED_POINTS)
    step = wt.function(lambda positions: gradient(p, positions))
    await step(positions).data()  # compiles
    seconds = []
    for _ in range(3):
        began = perf_counter()
        await step(positions).data()
        seconds.append(perf_counter() - began)
    return TRIED_POINTS * sqrt(FLUENT_SECONDS / min(seconds))


class Plane:
    """The canvas."""

    def __init__(self, digits: Digits) -> None:
        """Draw these digits, each in the colour of its label."""
        self._labels = to_js(bytes(digits.labels))
        self._pixels = to_js(b"".join(digits.pixels))
        self.say("Finding each digit's neighbours")

    async def draw(self, positions: wt.Tensor) -> None:
        """Draw the digits at their positions (digits, 2)."""
        digit_map.show(to_js(await positions.data()), self._labels, self._pixels)

    def say(self, text: str) -> None:
        """Write a line below the canvas."""
        write("step", text)
