"""Prices of houses near Boston in the 1970s: 506 rows of 13 features."""

from __future__ import annotations

from webtensor.keras.datasets.sources import Parts, read_arrays, shuffled, split

__all__ = ["load_data"]


def load_data(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> Parts:
    """Return rows of features, and prices in thousands of dollars.

    Raises:
        ValueError: ``test_split`` is not between 0 and 1.
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"load_data: test_split must be from 0 to below 1, but is {test_split!r}")
    x, y = read_arrays("boston_housing", path, "x", "y")
    x, y = shuffled("boston_housing", seed, x, y)
    return split(x, y, test_split)
