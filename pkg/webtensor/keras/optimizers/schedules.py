"""Schedules: learning rates that follow the number of steps taken.

Those here compute on the host, with Python's numbers, so that a step of an optimizer waits for no
device.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import ceil, cos, floor, inf, log, nan, pi, pow
from typing import Any

from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import Configurable, accepted_arguments
from webtensor.keras.optimizers.slots import HostNumber
from webtensor.keras.registry import Namespace
from webtensor.keras.types import Config
from webtensor.ops import tensor

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


class LearningRateSchedule(Configurable):
    """A learning rate as a function of the number of steps; the base class of those here.

    Others' schedules override ``__call__(step)``, and ``get_config`` so that they can be saved.
    """

    def __call__(self, step: Any) -> Any:
        """Return the learning rate of a step, counted from 0."""
        raise NotImplementedError(f"{type(self).__name__} must override __call__(self, step)")

    def get_config(self) -> Config:
        """Return the arguments that would make another such schedule."""
        if not accepted_arguments(type(self), library_only=True):
            raise NotImplementedError(
                f"{type(self).__name__} must override get_config() in order to be serializable"
            )
        return super().get_config()


class HostSchedule(LearningRateSchedule):
    """A schedule whose formula is computed on the host."""

    @abstractmethod
    def rate(self, step: float) -> float:
        """Return the learning rate of a step."""

    def __call__(self, step: TensorLike) -> Tensor:
        """Return the learning rate of a step, or of each of several."""
        if isinstance(step, (int, float)):
            return tensor(self.rate(step), dtype=float32)
        steps = tensor(step)
        rates = [self.rate(one) for one in steps.flatten().tolist()]
        return tensor(rates, shape=steps.shape, dtype=float32)

    def _positive(self, argument: str, value: float) -> float:
        """Return a number of steps."""
        if not value > 0:
            name = type(self).__name__
            raise ValueError(f"{name}: {argument} must be > 0, but got {value!r}")
        return value


def rate_of(schedule: LearningRateSchedule, step: HostNumber) -> float:
    """Return the learning rate of a step, asking no device if the schedule is one of those here."""
    if isinstance(schedule, HostSchedule) and type(schedule).__call__ is HostSchedule.__call__:
        return schedule.rate(step.number)
    return float(schedule(step))


def _power(base: float, exponent: float) -> float:
    """``base ** exponent`` as floats have it, also where Python raises."""
    try:
        return pow(base, exponent)
    except OverflowError:
        return inf
    except ValueError:
        return nan if base else inf


class ExponentialDecay(HostSchedule):
    """``initial_learning_rate * decay_rate ** (step / decay_steps)``.

    With ``staircase`` the exponent is rounded down.

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

    With ``staircase`` the quotient of steps is rounded down.

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
    """The first of ``values`` up to the first of ``boundaries``, the second up to the second, ...

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
    """From one rate to another in ``decay_steps``, along ``(1 - step / decay_steps) ** power``.

    With ``cycle`` the number of steps is multiplied when it is over, as often as needed.

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
        whole = self.decay_steps
        if self.cycle:
            whole *= ceil(step / whole) or 1
        rest = 1 - min(step, whole) / whole
        change = self.initial_learning_rate - self.end_learning_rate
        return change * _power(rest, self.power) + self.end_learning_rate


def _half_cosine(share: float) -> float:
    """From 1 to 0 along half a wave."""
    return (1 + cos(pi * share)) / 2


class CosineDecay(HostSchedule):
    """Half a wave of the cosine, down to ``alpha`` times the rate, after a linear warm-up.

    ``warmup_target`` is the rate that ``warmup_steps`` lead to; None is no warm-up.

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
        share = min(step, self.decay_steps) / self.decay_steps
        return peak * ((1 - self.alpha) * _half_cosine(share) + self.alpha)


class CosineDecayRestarts(HostSchedule):
    """Half waves of the cosine, one after the other (Loshchilov & Hutter, *SGDR*, 2016).

    Each is ``t_mul`` times as long as the one before, and ``m_mul`` times as high.

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
        share = step / self.first_decay_steps
        if self.t_mul == 1:
            restarts = floor(share)
            share -= restarts
        else:
            if share * (1 - self.t_mul) >= 1:  # waves that shrink end some time
                return nan
            restarts = self._restarts(share)
            longer = self.t_mul**restarts
            share = (share - (1 - longer) / (1 - self.t_mul)) / longer
        height = _power(self.m_mul, restarts) * _half_cosine(share)
        return self.initial_learning_rate * ((1 - self.alpha) * height + self.alpha)

    def _restarts(self, share: float) -> int:
        """Number of waves that are over after ``share`` times the length of the first."""
        waves = log(1 - share * (1 - self.t_mul)) / log(self.t_mul)
        # A wave that is over is not to last because of a rounded logarithm.
        nearest = round(waves)
        return nearest if abs(waves - nearest) < 1e-9 else floor(waves)


_SCHEDULES = Namespace(
    "learning rate schedule",
    {
        one.__name__: one
        for one in (
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


def serialize(learning_rate_schedule: LearningRateSchedule) -> dict[str, Any]:
    """Return a configuration that ``deserialize`` takes."""
    return _SCHEDULES.serialize(learning_rate_schedule)  # type: ignore[no-any-return]


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the schedule that a configuration describes.

    Example:
        >>> from webtensor.keras.optimizers import schedules
        >>> config = schedules.serialize(schedules.CosineDecay(0.5, 10))
        >>> schedules.deserialize(config)(0).tolist()
        0.5
    """
    return _SCHEDULES.deserialize(config, custom_objects)
