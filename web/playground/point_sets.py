"""Points of two classes, 1 and -1, on the square from -1 to 1."""

from math import pi

import webtensor as wt

Points = tuple[wt.Tensor, wt.Tensor]

#: Of each noise's unit, as a share of the square's side.
SPREAD = 0.4
CIRCLE = 0.5  # radius between the classes
MARGIN = 0.04  # around the axes of `xor`
TURNS = 1.75


def circle(count: int, noise: float) -> Points:
    """Return points of a disc (1) and of a ring around it (-1)."""
    inside = _alternating(count)
    share = wt.sqrt(wt.random_uniform((count,)))
    radius = wt.where(inside > 0, 0.8 * CIRCLE * share, 1.3 * CIRCLE + 0.3 * share)
    return _moved(_polar(radius, _angles(count)), noise), inside


def xor(count: int, noise: float) -> Points:
    """Return points of two opposite quadrants (1), and of the other two (-1)."""
    points = wt.random_uniform((count, 2), -1 + MARGIN, 1 - MARGIN)
    points = points + MARGIN * wt.sign(points)
    return _moved(points, noise), wt.sign(wt.prod(points, axis=1))


def gauss(count: int, noise: float) -> Points:
    """Return points of two Gaussians."""
    labels = _alternating(count)
    centres = 0.45 * wt.stack([labels, labels], axis=1)
    return _moved(centres + wt.random_normal((count, 2), stddev=0.14), noise), labels


def spiral(count: int, noise: float) -> Points:
    """Return points of two spirals, each of which winds around the other."""
    labels = _alternating(count)
    share = wt.random_uniform((count,), 0.05, 1)
    angles = 2 * pi * TURNS * share + pi / 2 * labels
    return _moved(_polar(0.9 * share, angles), noise), labels


POINT_SETS = {"circle": circle, "xor": xor, "gauss": gauss, "spiral": spiral}


def _alternating(count: int) -> wt.Tensor:
    """Return 1 and -1 in turns."""
    return 1.0 - 2.0 * (wt.arange(count, dtype=wt.float32) % 2)


def _angles(count: int) -> wt.Tensor:
    return wt.random_uniform((count,), 0, 2 * pi)


def _polar(radius: wt.Tensor, angles: wt.Tensor) -> wt.Tensor:
    return wt.stack([radius * wt.cos(angles), radius * wt.sin(angles)], axis=1)


def _moved(points: wt.Tensor, noise: float) -> wt.Tensor:
    """Move points by chance, as far as the share `noise` says, from 0 to 1."""
    return points + wt.random_normal(points.shape, stddev=SPREAD * noise)
