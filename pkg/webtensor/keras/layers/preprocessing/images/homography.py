"""Projective transforms by four points and where they go (Heckbert, 1989)."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["homography"]

Points = Sequence[Sequence[float]]
Matrix = list[list[float]]


def _from_square(points: Points) -> Matrix:
    """The transform of the unit square's corners (0, 0), (1, 0), (0, 1), (1, 1) to points."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
    right_x, right_y, below_x, below_y = x1 - x3, y1 - y3, x2 - x3, y2 - y3
    rest_x, rest_y = x0 - x1 + x3 - x2, y0 - y1 + y3 - y2
    area = right_x * below_y - below_x * right_y
    g = (rest_x * below_y - below_x * rest_y) / area
    h = (right_x * rest_y - rest_x * right_y) / area
    return [
        [x1 - x0 + g * x1, x2 - x0 + h * x2, x0],
        [y1 - y0 + g * y1, y2 - y0 + h * y2, y0],
        [g, h, 1.0],
    ]


def _adjugate(matrix: Matrix) -> Matrix:
    """The inverse but for a factor."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]


def homography(source: Points, target: Points) -> list[float]:
    """Return the eight numbers of the transform that takes four points to four others.

    Where the last three of either lie on a line, nothing does, and all stays.
    """
    try:
        forth, back = _from_square(target), _adjugate(_from_square(source))
    except ZeroDivisionError:
        return [1, 0, 0, 0, 1, 0, 0, 0]
    columns = list(zip(*back, strict=True))
    rows = [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in forth
    ]
    whole = rows[2][2]
    return [one / whole for one in (*rows[0], *rows[1], *rows[2][:2])]
