"""Callbacks that change the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.callbacks.monitor import Monitor
from webtensor.keras.utils.logging import say

__all__ = ["LearningRateScheduler", "ReduceLROnPlateau"]


def _optimizers_of(model: Any) -> dict[str, Any]:
    """The model's optimizer, or all that a MultiOptimizer has, by what logs call their rates."""
    optimizer = model.optimizer
    inner = getattr(optimizer, "optimizers", None)
    if inner is None:
        return {"learning_rate": optimizer}
    return {f"learning_rate_{one.name}": one for one in inner}


def _add_rates(model: Any, logs: Any) -> None:
    """Add learning rates to what an epoch came to."""
    for name, optimizer in _optimizers_of(model).items():
        logs[name] = float(optimizer.learning_rate)


class LearningRateScheduler(Callback):
    """Set the learning rate before each epoch: ``schedule(epoch, rate)`` returns it."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Ask the schedule."""
        for optimizer in _optimizers_of(self.model).values():
            try:
                rate = self.schedule(epoch, float(optimizer.learning_rate))
            except TypeError:  # a schedule of the epoch alone
                rate = self.schedule(epoch)
            if not hasattr(rate, "__float__"):
                raise ValueError(
                    f"LearningRateScheduler: schedule must return a number, but got {rate!r}"
                )
            optimizer.learning_rate = float(rate)
            if self.verbose:
                say(f"Epoch {epoch + 1}: LearningRateScheduler sets the rate to {float(rate)}")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Add the rate to what the epoch came to."""
        if logs is not None:
            _add_rates(self.model, logs)


class ReduceLROnPlateau(Monitor):
    """Multiply the learning rate by ``factor`` where a metric has not improved for a while."""

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
        **_: Any,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor must be below 1, but is {factor}")
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self.cooldown_counter = 0

    def on_train_begin(self, logs: Logs = None) -> None:
        """Begin to count."""
        self.best = None
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare the epoch with the best one."""
        logs = {} if logs is None else logs
        _add_rates(self.model, logs)
        value = self._watched(logs)
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_improvement(value, self.best):
            self.best, self.wait = value, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience and self._reduce(epoch):
                self.cooldown_counter, self.wait = self.cooldown, 0

    def _reduce(self, epoch: int) -> bool:
        """Multiply the rates; return whether there was one to."""
        found = [
            (optimizer, rate)
            for optimizer in _optimizers_of(self.model).values()
            if (rate := float(optimizer.learning_rate)) > self.min_lr
        ]
        for optimizer, rate in found:
            reduced = max(rate * self.factor, self.min_lr)
            optimizer.learning_rate = reduced
            if self.verbose:
                say(f"Epoch {epoch + 1}: ReduceLROnPlateau sets the rate to {reduced}")
        return bool(found)
