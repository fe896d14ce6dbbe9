"""Callbacks that change the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any
from warnings import warn

from webtensor.keras.callbacks.callback import Callback, Logs, is_improvement

__all__ = ["LearningRateScheduler", "ReduceLROnPlateau"]


class LearningRateScheduler(Callback):
    """Set the learning rate before each epoch: ``schedule(epoch, rate)`` returns it."""

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Ask the schedule."""
        optimizer = self.model.optimizer
        try:
            rate = self.schedule(epoch, float(optimizer.learning_rate))
        except TypeError:  # a schedule of the epoch alone
            rate = self.schedule(epoch)
        if not hasattr(rate, "__float__"):
            raise ValueError(
                f"LearningRateScheduler: schedule must return a number, but got {rate!r}"
            )
        optimizer.learning_rate = float(rate)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Add the rate to what the epoch came to."""
        if logs is not None:
            logs["learning_rate"] = float(self.model.optimizer.learning_rate)


class ReduceLROnPlateau(Callback):
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
        super().__init__()
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor must be below 1, but is {factor}")
        self.monitor, self.factor, self.patience = monitor, factor, patience
        self.verbose, self.min_delta, self.cooldown = verbose, min_delta, cooldown
        self.min_lr, self.mode = min_lr, mode
        self._is_better = is_improvement("ReduceLROnPlateau", mode, monitor)
        self.on_train_begin()

    def on_train_begin(self, logs: Logs = None) -> None:
        """Begin to count."""
        self.best = -inf if self._is_better(1, 0) else inf
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compare the epoch with the best one."""
        logs = {} if logs is None else logs
        optimizer = self.model.optimizer
        logs["learning_rate"] = float(optimizer.learning_rate)
        value = logs.get(self.monitor)
        if value is None:
            warn(
                f"ReduceLROnPlateau: there is no metric {self.monitor!r}; there are {sorted(logs)}",
                stacklevel=2,
            )
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        rises = self._is_better(1, 0)
        if self._is_better(value - self.min_delta * (1 if rises else -1), self.best):
            self.best, self.wait = value, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            rate = float(optimizer.learning_rate)
            if self.wait >= self.patience and rate > self.min_lr:
                optimizer.learning_rate = max(rate * self.factor, self.min_lr)
                self.cooldown_counter, self.wait = self.cooldown, 0
