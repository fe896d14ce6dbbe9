"""Callbacks that change the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.callbacks.monitor import Monitor
from webtensor.keras.logging import say

if TYPE_CHECKING:
    from webtensor.keras.models import Model
    from webtensor.keras.optimizers import Optimizer

__all__ = ["LearningRateScheduler", "ReduceLROnPlateau"]


def _optimizers_of(model: Model) -> dict[str, Optimizer]:
    """Return the model's optimizers by the names that their learning rates have in the logs."""
    optimizer = model.optimizer
    inner = getattr(optimizer, "optimizers", None)
    if inner is None:
        return {"learning_rate": optimizer}
    return {f"learning_rate_{optimizer.name}": optimizer for optimizer in inner}


def _add_rates(model: Model, logs: dict[str, float]) -> None:
    """Add the learning rates to the logs of an epoch."""
    for name, optimizer in _optimizers_of(model).items():
        logs[name] = float(optimizer.learning_rate)


class LearningRateScheduler(Callback):
    """Set the learning rate before each epoch.

    Args:
        schedule: a function of the epoch, counted from 0, and the current learning rate, or of the
            epoch alone. It returns the new learning rate.
        verbose: an integer; 1 prints messages, 0 does not.

    Raises:
        ValueError: ``schedule`` does not return a number; the start of an epoch raises it.
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Set the learning rate."""
        for optimizer in _optimizers_of(self.model).values():
            try:
                rate = self.schedule(epoch, float(optimizer.learning_rate))
            except TypeError:  # a schedule of the epoch alone
                rate = self.schedule(epoch)
            if not hasattr(rate, "__float__"):
                raise ValueError(
                    f"LearningRateScheduler: schedule must return a number, but got {rate!r}"
                )
            optimizer.learning_rate = rate = float(rate)
            if self.verbose:
                say(f"Epoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Add the learning rate to the logs."""
        if logs is not None:
            _add_rates(self.model, logs)


class ReduceLROnPlateau(Monitor):
    """Reduce the learning rate when a metric has not improved for ``patience`` epochs.

    Args:
        factor: a number below 1 that the learning rate is multiplied by.
        patience: an integer, the number of epochs without improvement before a reduction.
        cooldown: an integer, the number of epochs after a reduction that do not count.
        min_lr: a number, the minimum of the learning rate.

    Raises:
        ValueError: ``factor`` is not below 1.
    """

    #: Keras ignores unknown keywords here.
    _refuses_unknown = False

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
        **_: object,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor must be below 1, but is {factor}")
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self.cooldown_counter = 0

    def in_cooldown(self) -> bool:
        """Return whether epochs do not count, as the learning rate was just reduced."""
        return self.cooldown_counter > 0

    def on_train_begin(self, logs: Logs = None) -> None:
        """Reset the counts of epochs and the best value."""
        self.best = None
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Compare the epoch with the best epoch so far."""
        logs = {} if logs is None else logs
        _add_rates(self.model, logs)
        value = self.get_monitor_value(logs)
        if value is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_improvement(value, self.best):
            self.best, self.wait = value, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and self._reduce(epoch):
                self.cooldown_counter, self.wait = self.cooldown, 0

    def _reduce(self, epoch: int) -> bool:
        """Reduce the learning rates above ``min_lr``; return whether there were any."""
        reducible = [
            (optimizer, rate)
            for optimizer in _optimizers_of(self.model).values()
            if (rate := float(optimizer.learning_rate)) > self.min_lr
        ]
        for optimizer, rate in reducible:
            reduced = max(rate * self.factor, self.min_lr)
            optimizer.learning_rate = reduced
            self._say(f"Epoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {reduced}.")
        return bool(reducible)
