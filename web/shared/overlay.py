"""What programs draw on a picture: lines, dots, boxes with a line of text.

Coordinates are pixels of the picture; `annotations.js` knows where they are on the canvas.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import annotations
from pyodide.ffi import to_js

from webtensor.vision import Box, Keypoint

#: Colours that stand out from skin, clothes and walls.
BLUE, WHITE, YELLOW = "#5ad1ff", "#ffffff", "#ffd34d"


class Overlay:
    """A picture on a canvas, and what is drawn over it."""

    def __init__(self, canvas: Any, image: Any, is_mirrored: bool) -> None:
        """Show an image, with left and right exchanged if it is to look like a mirror."""
        self._view = annotations.drawPicture(canvas, image, is_mirrored)

    def draw_lines(
        self, lines: Iterable[tuple[Keypoint, Keypoint]], colour: str = BLUE, width: float = 3
    ) -> None:
        """Draw straight lines between points."""
        ends = _numbers((start.x, start.y, end.x, end.y) for start, end in lines)
        annotations.drawLines(self._view, ends, colour, width)

    def draw_loops(
        self, loops: Iterable[Sequence[Keypoint]], colour: str = BLUE, width: float = 3
    ) -> None:
        """Draw closed lines, each through the points of a sequence."""
        pairs = (zip(loop, (*loop[1:], *loop[:1]), strict=True) for loop in loops)
        self.draw_lines(chain.from_iterable(pairs), colour, width)

    def draw_dots(self, points: Iterable[Keypoint], colour: str = WHITE, radius: float = 4) -> None:
        """Draw points as dots."""
        centers = _numbers((point.x, point.y) for point in points)
        annotations.drawDots(self._view, centers, colour, radius)

    def draw_boxes(self, boxes: Iterable[Box], texts: Iterable[str], colour: str = BLUE) -> None:
        """Draw rectangles, each with a line of text."""
        corners = _numbers((box.x_min, box.y_min, box.x_max, box.y_max) for box in boxes)
        annotations.drawBoxes(self._view, corners, to_js([*texts]), colour)


def _numbers(rows: Iterable[Sequence[float]]) -> Any:
    """Return numbers in a row, as JavaScript's Float32Array."""
    return to_js(array("f", chain.from_iterable(rows)))
