"""Checks of arguments that several layers share.

``keras/arguments.py`` finds out which arguments a class has; this module checks their values.
"""

from __future__ import annotations

from typing import SupportsIndex, TypeGuard

__all__ = ["check_positive", "is_integer", "refuse_quantization"]


def is_integer(value: object) -> TypeGuard[SupportsIndex]:
    """Return whether a value is an integer, of Python or NumPy, but no boolean."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def check_positive(name: str, **values: object) -> None:
    """Check that arguments are positive integers.

    Raises:
        ValueError: one is not.
    """
    for argument, value in values.items():
        if not is_integer(value) or int(value) <= 0:
            raise ValueError(f"{name}: {argument} must be a positive integer, but got {value!r}")


def refuse_quantization(name: str, **values: object) -> None:
    """Check that arguments that quantize weights are None.

    Raises:
        ValueError: one is not.
    """
    for argument, value in values.items():
        if value:
            raise ValueError(
                f"{name}: {argument} must be None, as there is no quantization, but got {value!r}"
            )
