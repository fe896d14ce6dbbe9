"""Filters that smooth numbers over time: what trembles stands still, what moves keeps up.

The 1€ filter is that of Casiez et al. 2012, with MediaPipe's limit on jumps. TensorFlow.js smooths
keypoints of videos with it.
"""

from __future__ import annotations

from math import asinh, pi

__all__ = ["LowPassFilter", "OneEuroFilter"]


class LowPassFilter:
    """Exponential smoothing.

    Args:
        alpha: how much of the way from the last result to the new value is taken, from 0 to 1.

    Example:
        >>> from webtensor.vision.smoothing import LowPassFilter
        >>> smooth = LowPassFilter(alpha=0.5)
        >>> smooth(4.0), smooth(8.0), smooth(8.0)
        (4.0, 6.0, 7.0)
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self._last: float | None = None

    def __call__(self, value: float, max_step: float | None = None) -> float:
        """Return the smoothed value; of steps beyond ``max_step`` only the logarithm counts."""
        if self._last is None:
            self._last = value
        step = value - self._last
        if max_step is not None:
            step = max_step * asinh(step / max_step)
        self._last += self.alpha * step
        return self._last


class OneEuroFilter:
    """The 1€ filter: a low-pass filter whose cutoff frequency grows with speed.

    Args:
        frequency: how many values a second there are until timestamps tell.
        min_cutoff: the cutoff frequency of what stands still, in hertz.
        beta: how much the cutoff frequency grows with speed.
        derivative_cutoff: the cutoff frequency for the speed, in hertz.
        min_step: the step beyond which only the logarithm counts, of what stands still.
        step_beta: how much that step grows with speed.
    """

    def __init__(
        self,
        frequency: float = 30.0,
        min_cutoff: float = 2.5,
        beta: float = 300.0,
        derivative_cutoff: float = 2.5,
        min_step: float = 0.5,
        step_beta: float = 5.0,
    ) -> None:
        self._frequency = frequency
        self._min_cutoff = min_cutoff
        self._beta = beta
        self._derivative_cutoff = derivative_cutoff
        self._min_step = min_step
        self._step_beta = step_beta
        self._values = LowPassFilter(1.0)
        self._speeds = LowPassFilter(1.0)
        self._last_value = 0.0
        self._last_time: float | None = None

    def __call__(self, value: float, timestamp: float) -> float:
        """Return the smoothed value.

        Args:
            value: the new value.
            timestamp: when it was measured, in milliseconds; a value that is not newer than the
                last one is returned as it is.
        """
        speed = 0.0
        if self._last_time is not None:
            if timestamp <= self._last_time:
                return value
            self._frequency = 1000 / (timestamp - self._last_time)
            speed = (value - self._last_value) * self._frequency
        self._last_time, self._last_value = timestamp, value
        self._speeds.alpha = self._alpha(self._derivative_cutoff)
        smoothed_speed = abs(self._speeds(speed))
        self._values.alpha = self._alpha(self._min_cutoff + self._beta * smoothed_speed)
        return self._values(value, self._min_step + self._step_beta * smoothed_speed)

    def _alpha(self, cutoff: float) -> float:
        return 1 / (1 + self._frequency / (2 * pi * cutoff))
