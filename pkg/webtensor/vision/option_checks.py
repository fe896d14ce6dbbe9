"""Checks of options that several models have: scores and thresholds."""

from __future__ import annotations

__all__ = ["check_fractions"]


def check_fractions(name: str, **options: float) -> None:
    """Check that options are numbers from 0 to 1; ``name`` is that of the function or class.

    Raises:
        ValueError: one is not.
    """
    for option, value in options.items():
        if not 0 <= value <= 1:
            raise ValueError(f"{name}: {option} must lie in [0, 1], but got {value!r}")
