"""What the page of the GAN shows: real and generated points, the discriminator's field, losses."""

from math import pi
from typing import Any

from curves import Curves
from drawing import coloursOf, drawDots, drawField, drawVectors
from fields import grid
from js import document
from page import element, write
from pause import Pause
from pyodide.ffi import to_js

import webtensor as wt

REAL_POINTS = 600
SHOWN_REAL_POINTS = 300
SIDE = 40  # of the grid
REACH = 1.25  # of the square
RADIUS = 2.5  # pixels
LONGEST_PULL = 0.15  # as it is drawn
#: Steps between the drawings of the losses.
CURVES_EVERY = 15


def line() -> wt.Tensor:
    """Return points near a line."""
    along = wt.random_uniform((REAL_POINTS,), -0.9, 0.9)
    return wt.stack([along, 0.6 * along], axis=1) + _scatter(0.03)


def gaussians() -> wt.Tensor:
    """Return points of two Gaussians."""
    return 0.6 * _corners(2, pi / 6) + _scatter(0.13)


def ring() -> wt.Tensor:
    """Return points near a circle."""
    angles = wt.random_uniform((REAL_POINTS,), 0, 2 * pi)
    return 0.75 * wt.stack([wt.cos(angles), wt.sin(angles)], axis=1) + _scatter(0.03)


def clusters() -> wt.Tensor:
    """Return points of four small clusters that are far from each other."""
    return 0.8 * _corners(4, pi / 4) + _scatter(0.05)


def _scatter(deviation: float) -> wt.Tensor:
    return wt.random_normal((REAL_POINTS, 2), stddev=deviation)


def _corners(count: int, first: float) -> wt.Tensor:
    """Return a corner of a polygon for each point, the corners in turns."""
    angles = wt.arange(REAL_POINTS, dtype=wt.float32) * (2 * pi / count) + first
    return wt.stack([wt.cos(angles), wt.sin(angles)], axis=1)


DISTRIBUTIONS = {"line": line, "gaussians": gaussians, "ring": ring, "clusters": clusters}


class Stage:
    """The canvas, the curves, and the controls."""

    def __init__(self) -> None:
        """Draw real points of the distribution that was chosen."""
        self.grid = grid(SIDE, REACH)
        self.step = 0
        self._points = DISTRIBUTIONS[element("distribution").value]()
        self._shown_real: Any = None
        self._canvas = element("plane")
        self._curves = Curves("losses", "Losses of the discriminator and of the generator")
        self._swatches = document.querySelectorAll("#legend i")
        self.pause = Pause()

    def real_points(self, count: int) -> wt.Tensor:
        """Return real points that are drawn by chance."""
        return wt.gather(self._points, wt.random_uniform_int((count,), 0, REAL_POINTS))

    def generator_rate(self) -> float:
        """Return the generator's learning rate that is chosen now."""
        return float(element("generator-rate").value)

    def discriminator_rate(self) -> float:
        """Return the discriminator's learning rate that is chosen now."""
        return float(element("discriminator-rate").value)

    async def draw(self, numbers: wt.Tensor) -> None:
        """Draw both losses, the field on the grid, the generated points, and their pulls."""
        if self._shown_real is None:
            self._shown_real = to_js(await self._points[:SHOWN_REAL_POINTS].data())
        values = await numbers.data()
        fields = SIDE * SIDE + 2
        points = (len(values) - fields) // 2
        field, generated = to_js(values[2:fields]), to_js(values[fields : fields + points])
        error, failure = values[:2]
        colours = coloursOf(self._swatches)
        drawField(self._canvas, field, colours)
        drawDots(
            self._canvas, self._shown_real, _group(0, SHOWN_REAL_POINTS), colours, REACH, RADIUS
        )
        pulls = to_js(values[fields + points :])
        drawVectors(self._canvas, generated, pulls, colours[2], REACH, LONGEST_PULL)
        drawDots(self._canvas, generated, _group(1, points // 2), colours, REACH, RADIUS)
        self._curves.add(self.step, error, failure)
        losses = f"discriminator's loss {error:.2f}, generator's {failure:.2f}"
        write("step", f"Step {self.step}, {losses}")
        if self.step % CURVES_EVERY == 0:
            self._curves.draw()


def _group(group: int, count: int) -> Any:
    return to_js(bytes([group]) * count)
