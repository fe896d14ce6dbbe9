"""Filters that smooth numbers over time."""

from math import asinh, pi

import pytest

from webtensor.vision.smoothing import LowPassFilter, OneEuroFilter


def test_large_steps_count_as_logarithms() -> None:
    smooth = LowPassFilter(0.5)
    assert smooth(1.0) == 1.0
    assert smooth(101.0, max_step=2.0) == pytest.approx(1 + 0.5 * 2 * asinh(50))


def test_what_stands_still_stays() -> None:
    smooth = OneEuroFilter()
    assert [smooth(0.25, 40.0 * frame) for frame in range(1, 5)] == [0.25] * 4


def test_the_cutoff_grows_with_the_speed() -> None:
    smooth = OneEuroFilter(min_cutoff=1.0, beta=0.5, derivative_cutoff=1.0, min_step=1e6)
    smooth(0.0, 100)
    # 10 values a second; the speed is 2 × 10, of which the filter lets a part through.
    speed = 20 / (1 + 10 / (2 * pi))
    cutoff = 1 + 0.5 * speed
    assert smooth(2.0, 200) == pytest.approx(2 / (1 + 10 / (2 * pi * cutoff)))


def test_values_that_are_not_newer_are_returned_as_they_are() -> None:
    smooth = OneEuroFilter()
    smooth(0.0, 100)
    assert smooth(5.0, 100) == 5.0
    assert smooth(7.0, 50) == 7.0
    assert smooth(0.0, 133) == 0.0
