"""Prices of houses in California, in 1990: 20,640 rows of 8 numbers."""

from __future__ import annotations

from webtensor.keras.datasets.sources import Parts, parted, read_arrays, shuffled

__all__ = ["load_data"]

_LENGTHS = {"large": None, "small": 600}


def load_data(
    version: str = "large",
    path: str = "california_housing.npz",
    test_split: float = 0.2,
    seed: int = 113,
) -> Parts:
    """Return rows of numbers, and prices in dollars; the "small" version has 600 rows.

    Raises:
        ValueError: ``version`` is not known, or ``test_split`` is not between 0 and 1.
    """
    if version not in _LENGTHS:
        raise ValueError(f"load_data: version must be 'large' or 'small', but is {version!r}")
    if not 0 <= test_split < 1:
        raise ValueError(f"load_data: test_split must be from 0 to below 1, but is {test_split!r}")
    x, y = read_arrays("california_housing", path, "x", "y")
    length = _LENGTHS[version]
    x, y = shuffled("california_housing", seed, x[:length], y[:length])
    return parted(x, y, test_split)
