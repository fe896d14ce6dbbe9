"""Checks a function's arguments, and reads numbers; errors name the function and the argument."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from webtensor.shapes import single_integer

__all__ = [
    "as_fraction",
    "as_integer",
    "as_integers",
    "as_non_negative_integer",
    "as_number",
    "as_pairs_of_integers",
    "as_positive_integer",
    "check_callable",
    "check_choice",
]


def as_integer(name: str, argument: str, value: Any) -> int:
    """Return an integer; True and False are rejected.

    Raises:
        TypeError: the value is something else.
    """
    integer = single_integer(value)
    if integer is None:
        raise TypeError(f"{name}: {argument} must be an integer, but got {value!r}")
    return integer


def as_positive_integer(name: str, argument: str, value: Any) -> int:
    """Return an integer of at least 1; True is rejected.

    Raises:
        TypeError: the value is no integer.
        ValueError: the integer is less than 1.
    """
    number = as_integer(name, argument, value)
    if number < 1:
        raise ValueError(f"{name}: {argument} must be positive, but got {number}")
    return number


def as_non_negative_integer(name: str, argument: str, value: Any) -> int:
    """Return an integer of at least 0; False is rejected.

    Raises:
        TypeError: the value is no integer.
        ValueError: the integer is negative.
    """
    number = as_integer(name, argument, value)
    if number < 0:
        raise ValueError(f"{name}: {argument} must not be negative, but got {number}")
    return number


def as_integers(name: str, argument: str, value: Any) -> list[int]:
    """Return an integer, or a sequence of them, as a list.

    Raises:
        TypeError: the value is something else.
    """
    integer = single_integer(value)
    if integer is not None:
        return [integer]
    try:
        integers: list[Any] = [*map(single_integer, value)]
    except TypeError:
        integers = [None]
    if None in integers:
        raise TypeError(f"{name}: {argument} must be integers, but got {value!r}")
    return integers


def as_pairs_of_integers(name: str, argument: str, value: Any) -> list[list[int]]:
    """Return a sequence of sequences of integers as lists; how many there are is not checked.

    Raises:
        TypeError: the value is something else.
    """
    if not hasattr(value, "__iter__"):
        raise TypeError(f"{name}: {argument} must be pairs of integers, but got {value!r}")
    return [as_integers(name, argument, pair) for pair in value]


def as_number(name: str, argument: str, value: Any) -> float:
    """Return a real number.

    Raises:
        TypeError: the value is something else.
    """
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {argument} must be a number, but got {value!r}") from None


def as_fraction(name: str, argument: str, value: Any) -> float:
    """Return a real number from 0 to 1.

    Raises:
        TypeError: the value is no number.
        ValueError: the number is outside the range.
    """
    number = as_number(name, argument, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name}: {argument} must lie in [0, 1], but got {value!r}")
    return number


def check_callable(name: str, argument: str, value: Any) -> None:
    """Check a function.

    Raises:
        TypeError: the value is something else.
    """
    if not callable(value):
        raise TypeError(f"{name}: {argument} must be callable, but got {value!r}")


def check_choice(name: str, argument: str, value: Any, choices: Collection[object]) -> None:
    """Check that a value is one of those that an argument can have.

    Raises:
        ValueError: the value is something else.
    """
    if value not in choices:
        values = [repr(choice) for choice in choices]
        text = " or ".join(values) if len(values) == 2 else f"one of {', '.join(values)}"
        raise ValueError(f"{name}: {argument} must be {text}, but got {value!r}")
