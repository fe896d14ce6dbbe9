"""Schedules: learning rates that depend on the number of steps taken.

The schedules here compute with Python numbers, so that a step does not wait for the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, cos, floor, inf, log, nan, pi, pow
from typing import Any

from webtensor.keras.optimizers.learning_rate_schedule import HostSchedule, LearningRateSchedule
from webtensor.keras.registry import Namespace, serialize_keras_object
from webtensor.keras.types import Config

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateSchedule",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "deserialize",
    "serialize",
]


def _power(base: float, exponent: float) -> float:
    """Return ``base ** exponent``: infinity or NaN where Python raises an error."""
    try:
        return pow(base, exponent)
    except OverflowError:
        return inf
    except ValueError:
        return nan if base else inf


class ExponentialDecay(HostSchedule):
    """``initial_learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
        decay_rate: a number, the base of the power.

    Raises:
        ValueError: ``decay_steps`` is not > 0.

    Example:
        >>> from webtensor import keras
        >>> keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)(20).tolist()
        0.25
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        name: str = "ExponentialDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = self._positive("decay_steps", decay_steps)
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def rate(self, step: float) -> float:
        periods = step / self.decay_steps
        if self.staircase:
            periods = floor(periods)
        return self.initial_learning_rate * _power(self.decay_rate, periods)


class InverseTimeDecay(HostSchedule):
    """``initial_learning_rate / (1 + decay_rate * step / decay_steps)``.

    Args:
        decay_rate: a number, the factor of the quotient of steps.

    Raises:
        ValueError: ``decay_steps`` is not > 0.

    Example:
        >>> from webtensor import keras
        >>> keras.optimizers.schedules.InverseTimeDecay(1.0, 10, 0.5)(20).tolist()
        0.5
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        name: str = "InverseTimeDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = self._positive("decay_steps", decay_steps)
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def rate(self, step: float) -> float:
        periods = step / self.decay_steps
        if self.staircase:
            periods = floor(periods)
        divisor = 1 + self.decay_rate * periods
        return self.initial_learning_rate / divisor if divisor else inf


class PiecewiseConstantDecay(HostSchedule):
    """``values[i]`` up to and including step ``boundaries[i]``, then the last of ``values``.

    Args:
        boundaries: a list of increasing numbers of steps.
        values: a list of learning rates, one more than ``boundaries``.

    Raises:
        ValueError: the number of ``boundaries`` is not one less than that of ``values``.

    Example:
        >>> from webtensor import keras
        >>> decay = keras.optimizers.schedules.PiecewiseConstantDecay([2, 4], [1.0, 0.5, 0.25])
        >>> decay([2, 3, 5]).tolist()
        [1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        boundaries: Sequence[float],
        values: Sequence[float],
        name: str = "PiecewiseConstant",
    ) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "PiecewiseConstantDecay: boundaries must be one less than values, but there are "
                f"{len(boundaries)} boundaries {boundaries!r} and {len(values)} values {values!r}"
            )
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def rate(self, step: float) -> float:
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if step <= boundary:
                return value
        return self.values[-1]


class PolynomialDecay(HostSchedule):
    """``(initial - end_learning_rate) * (1 - step / decay_steps) ** power + end_learning_rate``.

    After ``decay_steps``, it is ``end_learning_rate``.

    Args:
        end_learning_rate: a number, the learning rate after ``decay_steps``.
        power: a number, the exponent.
        cycle: a boolean, whether to replace ``decay_steps`` by its smallest multiple that is not
            less than the step.

    Raises:
        ValueError: ``decay_steps`` is not > 0.

    Example:
        >>> from webtensor import keras
        >>> keras.optimizers.schedules.PolynomialDecay(1.0, 10, 0.0)([0, 5, 20]).tolist()
        [1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = self._positive("decay_steps", decay_steps)
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def rate(self, step: float) -> float:
        decay_steps = self.decay_steps
        if self.cycle:
            decay_steps *= ceil(step / decay_steps) or 1
        remaining = 1 - min(step, decay_steps) / decay_steps
        change = self.initial_learning_rate - self.end_learning_rate
        return change * _power(remaining, self.power) + self.end_learning_rate


def _half_cosine(progress: float) -> float:
    """Return a number that decreases from 1 to 0 along half a cosine wave."""
    return (1 + cos(pi * progress)) / 2


class CosineDecay(HostSchedule):
    """Half a cosine wave, down to ``alpha`` times the maximum, after an optional linear warm-up.

    Args:
        alpha: a number, the final learning rate as a fraction of the maximum.
        warmup_target: a number, the learning rate after the warm-up; None is no warm-up.
        warmup_steps: a number, the steps of the warm-up.

    Raises:
        ValueError: ``decay_steps`` is not > 0.

    Example:
        >>> from webtensor import keras
        >>> keras.optimizers.schedules.CosineDecay(1.0, 10)([0, 5, 20]).tolist()
        [1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: float,
        alpha: float = 0.0,
        name: str = "CosineDecay",
        warmup_target: float | None = None,
        warmup_steps: float = 0,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = self._positive("decay_steps", decay_steps)
        self.alpha = alpha
        self.name = name
        self.warmup_target = warmup_target
        self.warmup_steps = warmup_steps

    def rate(self, step: float) -> float:
        peak = self.initial_learning_rate
        if self.warmup_target is not None:
            if step < self.warmup_steps:
                return peak + (self.warmup_target - peak) * step / self.warmup_steps
            step -= self.warmup_steps
            peak = self.warmup_target
        progress = min(step, self.decay_steps) / self.decay_steps
        return peak * ((1 - self.alpha) * _half_cosine(progress) + self.alpha)


class CosineDecayRestarts(HostSchedule):
    """Half cosine waves, one after the other (Loshchilov & Hutter, *SGDR*, 2016).

    Args:
        first_decay_steps: a number > 0, the steps of the first wave.
        t_mul: a number, how many times as long a wave is as the previous one.
        m_mul: a number, how many times as high a wave is as the previous one.

    Raises:
        ValueError: ``first_decay_steps`` is not > 0.

    Example:
        >>> from webtensor import keras
        >>> keras.optimizers.schedules.CosineDecayRestarts(1.0, 2)([0, 1, 2, 4, 6]).tolist()
        [1.0, 0.5, 1.0, 0.5, 1.0]
    """

    def __init__(
        self,
        initial_learning_rate: float,
        first_decay_steps: float,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str = "SGDRDecay",
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = self._positive("first_decay_steps", first_decay_steps)
        self.t_mul = t_mul
        self.m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def rate(self, step: float) -> float:
        progress = step / self.first_decay_steps
        if self.t_mul == 1:
            restarts = floor(progress)
            progress -= restarts
        else:
            if progress * (1 - self.t_mul) >= 1:  # the waves shrink, and all of them are over
                return nan
            restarts = self._restarts(progress)
            duration = self.t_mul**restarts
            progress = (progress - (1 - duration) / (1 - self.t_mul)) / duration
        height = _power(self.m_mul, restarts) * _half_cosine(progress)
        return self.initial_learning_rate * ((1 - self.alpha) * height + self.alpha)

    def _restarts(self, progress: float) -> int:
        """Return how many waves end within ``progress`` times the steps of the first wave."""
        waves = log(1 - progress * (1 - self.t_mul)) / log(self.t_mul)
        # A rounded logarithm must not make a wave longer.
        nearest = round(waves)
        return nearest if abs(waves - nearest) < 1e-9 else floor(waves)


_SCHEDULES = Namespace(
    "learning rate schedule",
    {
        cls.__name__: cls
        for cls in (
            CosineDecay,
            CosineDecayRestarts,
            ExponentialDecay,
            InverseTimeDecay,
            PiecewiseConstantDecay,
            PolynomialDecay,
        )
    },
    ("optimizers",),
)


def serialize(learning_rate_schedule: LearningRateSchedule) -> Config:
    """Return a configuration that ``deserialize`` takes."""
    config: Config = serialize_keras_object(learning_rate_schedule)
    return config


def deserialize(
    config: Config | str, custom_objects: Mapping[str, Any] | None = None
) -> LearningRateSchedule:
    """Return the schedule that a configuration describes.

    Example:
        >>> from webtensor.keras.optimizers import schedules
        >>> config = schedules.serialize(schedules.CosineDecay(0.5, 10))
        >>> schedules.deserialize(config)(0).tolist()
        0.5
    """
    schedule: LearningRateSchedule = _SCHEDULES.deserialize(config, custom_objects)
    return schedule
