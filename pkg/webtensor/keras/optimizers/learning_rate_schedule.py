"""What learning rate schedules have in common, and the rate of a step."""

from __future__ import annotations

from abc import abstractmethod

from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.engine.late_numbers import applied, late_number
from webtensor.keras.arguments import Configurable, accepted_arguments
from webtensor.keras.optimizers.slots import HostNumber
from webtensor.keras.types import Config
from webtensor.ops import tensor

__all__ = ["HostSchedule", "LearningRateSchedule", "rate_of"]


class LearningRateSchedule(Configurable):
    """The base class of schedules, which are functions from a step to its learning rate.

    A schedule of your own overrides ``__call__(step)``; to be saved, also ``get_config``.

    Args:
        initial_learning_rate: a number, the learning rate of step 0.
        decay_steps: a number > 0 of steps; see the formula.
        staircase: a boolean, whether to round ``step / decay_steps`` down to an integer.
        alpha: a number, the minimum of the learning rate as a fraction of the initial one.
        name: a string.
    """

    def __call__(self, step: HostNumber | TensorLike) -> Tensor:
        """Return the learning rate of a step, counted from 0."""
        raise NotImplementedError(f"{type(self).__name__} must override __call__(self, step)")

    def get_config(self) -> Config:
        """Return the arguments of ``__init__``, so that ``from_config`` makes an equal schedule."""
        if not accepted_arguments(type(self), library_only=True):
            raise NotImplementedError(
                f"{type(self).__name__} must override get_config() in order to be serializable"
            )
        return super().get_config()

    def __repr__(self) -> str:
        from webtensor.keras.optimizers.call_text import call_text

        return call_text(self)


class HostSchedule(LearningRateSchedule):
    """The base class of the schedules here, which compute with Python numbers."""

    @abstractmethod
    def rate(self, step: float) -> float:
        """Return the learning rate of a step."""

    def __call__(self, step: HostNumber | TensorLike) -> Tensor:
        """Return the learning rate of a step, or of each step of a tensor."""
        if isinstance(step, (int, float)):
            return tensor(self.rate(step), dtype=float32)
        steps = tensor(step)
        rates = [self.rate(step) for step in steps.flatten().tolist()]
        return tensor(rates, shape=steps.shape, dtype=float32)

    def _positive(self, argument: str, value: float) -> float:
        """Return an argument that must be > 0."""
        if not value > 0:
            class_name = type(self).__name__
            raise ValueError(f"{class_name}: {argument} must be > 0, but got {value!r}")
        return value


def rate_of(schedule: LearningRateSchedule, step: HostNumber) -> float:
    """Return the learning rate of a step; a ``HostSchedule`` does not wait for the device."""
    if isinstance(schedule, HostSchedule) and type(schedule).__call__ is HostSchedule.__call__:
        rate: float = applied(schedule.rate, step.number)
    else:
        rate = late_number(lambda: float(schedule(step)))
    return rate
