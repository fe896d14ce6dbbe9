"""The digits, and the canvas on which they are dots."""

import json
from collections.abc import Sequence

from data import as_images, unpack
from drawing import drawPoints
from page import element, write
from pyodide.ffi import to_js
from pyodide.http import pyfetch

import webtensor as wt

#: A colour of the page's style for each digit.
COLOURS = 10
RADIUS = 3  # pixels


async def load_digits(count: int) -> tuple[wt.Tensor, list[int]]:
    """Fetch `count` digits: images (count, 8, 8, 1) of 0 to 16, and which digits they are."""
    info = json.loads(await _fetched("digits.json"))
    pairs = unpack(info["count"], await _fetched("digits.bin"))[:count]
    pixels, labels = zip(*pairs, strict=True)
    return as_images(list(pixels)), list(labels)


async def _fetched(name: str) -> bytes:
    response = await pyfetch(f"../digits/{name}")
    response.raise_for_status()
    content: bytes = await response.bytes()
    return content


def control(identifier: str) -> float:
    """Return the number that a control of the page is at."""
    return float(element(identifier).value)


class Plane:
    """The canvas."""

    def __init__(self, groups: Sequence[int]) -> None:
        """Draw points of these groups, each in the colour of its group."""
        self._canvas = element("plane")
        self._groups = to_js(bytes(groups))
        style = element("plane").ownerDocument.defaultView.getComputedStyle(self._canvas)
        self._colours = to_js(
            [style.getPropertyValue(f"--group-{group}") for group in range(COLOURS)]
        )

    async def draw(self, positions: wt.Tensor) -> None:
        """Draw the points at their positions (points, 2)."""
        drawPoints(self._canvas, to_js(await positions.data()), self._groups, self._colours, RADIUS)

    def say(self, text: str) -> None:
        """Write a line below the canvas."""
        write("step", text)
