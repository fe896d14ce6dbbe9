"""Validation of arguments of layers for images, and conversion between ranges of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from webtensor.engine import Tensor
from webtensor.keras.arguments import is_number

__all__ = [
    "Factor",
    "between",
    "factor_range",
    "in_bytes",
    "options",
    "range_within",
    "sorted_range",
]

#: An argument of layers: a number, or the bounds (lower, upper) between which numbers are drawn.
Factor: TypeAlias = "float | Sequence[float]"


def _factor_error(kind: str, name: str, factor: object, bounds: str) -> ValueError:
    return ValueError(
        f"{kind}: {name} must be a number or two of them in {bounds}, but got {name}={factor!r}"
    )


def factor_range(
    kind: str, name: str, factor: Factor, low: float = -1, high: float = 1
) -> tuple[float, float]:
    """Return the bounds that a factor stands for; one of two bounds may exceed [low, high].

    A single number ``f`` stands for (-f, f), or for (low, f) if -f is below ``low``.

    Raises:
        ValueError: the factor is neither a number nor two of them, or is out of range.
    """
    if isinstance(factor, (list, tuple)):
        is_pair = len(factor) == 2 and all(map(is_number, factor))
        if not is_pair or factor[0] > high or factor[1] < low:
            raise _factor_error(kind, name, factor, f"[{low}, {high}]")
        return min(factor), max(factor)
    if not is_number(factor) or not low <= factor <= high:
        raise _factor_error(kind, name, factor, f"[{low}, {high}]")
    return max(-abs(factor), low), abs(factor)


def range_within(
    kind: str,
    name: str,
    factor: Factor,
    low: float = -1,
    high: float = 1,
    *,
    open_low: bool = False,
    is_mirrored: bool = True,
) -> tuple[float, float]:
    """Return the bounds that a factor stands for, both of which must be in [low, high].

    A single number ``f`` stands for (-f, f), or for (0, f) if ``is_mirrored`` is False. With
    ``open_low``, ``low`` itself is out of range.

    Raises:
        ValueError: the factor is neither a number nor two of them, or is out of range.
    """
    is_pair = isinstance(factor, (list, tuple))
    numbers: Sequence[object] = factor if isinstance(factor, (list, tuple)) else (factor,)
    bounds = [
        number
        for number in numbers
        if is_number(number) and low <= number <= high and not (open_low and number == low)
    ]
    if not len(bounds) == len(numbers) == (2 if is_pair else 1):
        raise _factor_error(kind, name, factor, f"{'(' if open_low else '['}{low}, {high}]")
    if is_pair:
        return min(bounds), max(bounds)
    return (-abs(bounds[0]) if is_mirrored else 0, abs(bounds[0]))


def sorted_range(kind: str, bounds: Sequence[float]) -> list[float]:
    """Return the minimum and the maximum of images' values.

    Raises:
        ValueError: ``bounds`` are not two numbers.
    """
    if not isinstance(bounds, (list, tuple)) or len(bounds) != 2:
        raise ValueError(f"{kind}: value_range must be two numbers, but got value_range={bounds!r}")
    return sorted(bounds)


def options(kind: str, **arguments: tuple[str, Sequence[str]]) -> None:
    """Check arguments, each of which comes with the values that it may have.

    Raises:
        NotImplementedError: an argument has another value.
    """
    for name, (value, choices) in arguments.items():
        if value not in choices:
            raise NotImplementedError(
                f"{kind}: {name} must be one of {', '.join(choices)}, but got {value!r}"
            )


# -- values ------------------------------------------------------------------------------------


def between(x: Tensor, source: Sequence[float], target: Sequence[float]) -> Tensor:
    """Map values linearly from one range to another."""
    if tuple(source) == tuple(target):
        return x
    scale = (target[1] - target[0]) / (source[1] - source[0])
    offset = target[0] - source[0] * scale
    return x * scale + offset if offset else x * scale


def in_bytes(x: Tensor, bounds: Sequence[float], compute: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply a function of values from 0 to 255 to values of another range."""
    return between(compute(between(x, bounds, (0, 255))), (0, 255), bounds)
