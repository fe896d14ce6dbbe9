"""Prices of houses in California in 1990: 20,640 rows of 8 features."""

from __future__ import annotations

from webtensor.arguments import check_choice
from webtensor.keras.datasets.sources import Parts, read_arrays, shuffled, split

__all__ = ["load_data"]

_ROWS = {"large": None, "small": 600}


def load_data(
    version: str = "large",
    path: str = "california_housing.npz",
    test_split: float = 0.2,
    seed: int = 113,
) -> Parts:
    """Return rows of features, and prices in dollars; the "small" version has 600 rows.

    Raises:
        ValueError: ``version`` is unknown, or ``test_split`` is not between 0 and 1.
    """
    check_choice("load_data", "version", version, _ROWS)
    if not 0 <= test_split < 1:
        raise ValueError(f"load_data: test_split must be from 0 to below 1, but is {test_split!r}")
    x, y = read_arrays("california_housing", path, "x", "y")
    rows = _ROWS[version]
    x, y = shuffled("california_housing", seed, x[:rows], y[:rows])
    return split(x, y, test_split)
