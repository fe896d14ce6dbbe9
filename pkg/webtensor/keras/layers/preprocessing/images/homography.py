"""Projective transforms by four points and their images (Heckbert, 1989)."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["homography"]

Points = Sequence[Sequence[float]]
Matrix = list[list[float]]


def _from_square(points: Points) -> Matrix:
    """Return the transform of the unit square's corners (0, 0), (1, 0), (0, 1), (1, 1)."""
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
    """Return the inverse times the determinant."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]


def homography(source: Points, target: Points) -> list[float]:
    """Return the first eight elements of the matrix that maps four points to four others.

    The ninth is 1. The result is the identity if the last three points of either lie on a line.
    """
    try:
        to_target, to_square = _from_square(target), _adjugate(_from_square(source))
    except ZeroDivisionError:
        return [1, 0, 0, 0, 1, 0, 0, 0]
    columns = list(zip(*to_square, strict=True))
    rows = [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns]
        for row in to_target
    ]
    scale = rows[2][2]
    return [element / scale for element in (*rows[0], *rows[1], *rows[2][:2])]
