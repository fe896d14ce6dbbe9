"""Fewer points that look the same: more than a picture has pixels are never drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

__all__ = ["MAX_POINTS", "Point", "decimated", "thinned"]

Point: TypeAlias = tuple[float, float]

MAX_POINTS = 2000


def decimated(
    points: Sequence[Point], is_shown: Callable[[Point], bool], max_points: int = MAX_POINTS
) -> list[Point]:
    """Return the points of a line with at most ``max_points`` points, among them all peaks.

    Of each group of consecutive points, the lowest and the highest stay, in their order. A group
    without a point that is shown stays a gap.

    Example:
        >>> points = [(float(x), float(x == 70)) for x in range(100)]
        >>> (70.0, 1.0) in decimated(points, lambda point: True, max_points=10)
        True
    """
    if len(points) <= max_points:
        return list(points)
    group_count = max_points // 2
    peaks: list[Point] = []
    for group in range(group_count):
        start = group * len(points) // group_count
        stop = (group + 1) * len(points) // group_count
        shown = [index for index in range(start, stop) if is_shown(points[index])]
        if not shown:
            peaks.append(points[start])
            continue
        lowest = min(shown, key=lambda index: points[index][1])
        highest = max(shown, key=lambda index: points[index][1])
        peaks += [points[index] for index in sorted({lowest, highest})]
    return peaks


def thinned(points: Sequence[Point], max_points: int = MAX_POINTS) -> list[Point]:
    """Return at most ``max_points`` points of a cloud: its extremes, and the others evenly.

    Example:
        >>> len(thinned([(x, x * x % 7) for x in range(1000)], max_points=100)) <= 100
        True
    """
    if len(points) <= max_points:
        return list(points)
    indices = range(len(points))
    chosen = {
        choose(indices, key=lambda index: points[index][axis])
        for choose in (min, max)
        for axis in (0, 1)
    }
    count = max_points - len(chosen)
    chosen.update(index * len(points) // count for index in range(count))
    return [points[index] for index in sorted(chosen)]
