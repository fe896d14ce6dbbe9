"""Callbacks that end training."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any
from warnings import warn

from webtensor.keras.callbacks.callback import Callback, Logs, is_improvement

__all__ = ["EarlyStopping", "TerminateOnNaN"]


class EarlyStopping(Callback):
    """End training when a metric has not improved for ``patience`` epochs.

    Example:
        >>> from webtensor import keras
        >>> stop = keras.callbacks.EarlyStopping("loss", patience=0)
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        >>> model.compile(keras.optimizers.SGD(0.0), "mse")
        >>> history = model.fit([[1.0]], [[2.0]], epochs=9, verbose=0, callbacks=[stop])
        >>> history.epoch
        [0, 1]
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        super().__init__()
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.min_delta = abs(min_delta)
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self._is_better = is_improvement("EarlyStopping", mode, monitor)
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best: float | None = None
        self.best_weights: Any = None

    def on_train_begin(self, logs: Logs = None) -> None:
        """Begin to count."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def _improves(self, value: float, reference: float) -> bool:
        rises = self._is_better(1, 0)
        return self._is_better(value - self.min_delta * (1 if rises else -1), reference)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Compare the epoch with the best one."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            warn(
                f"EarlyStopping: there is no metric {self.monitor!r}; there are "
                f"{sorted(logs or {})}",
                stacklevel=2,
            )
            return
        if epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self._keep(epoch)
        self.wait += 1
        worst = -inf if self._is_better(1, 0) else inf
        if self._improves(value, worst if self.best is None else self.best):
            self.best = value
            if self.restore_best_weights:
                self._keep(epoch)
            self.best_epoch = epoch
            if self.baseline is None or self._improves(value, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def _keep(self, epoch: int) -> None:
        self.best_epoch = epoch
        self.best_weights = [one.value for one in self.model.weights]

    def on_train_end(self, logs: Logs = None) -> None:
        """Go back to the best weights."""
        if self.restore_best_weights and self.best_weights is not None:
            for variable, value in zip(self.model.weights, self.best_weights, strict=True):
                variable.assign(value)
            self.best_weights = None


class TerminateOnNaN(Callback):
    """End training when the loss is not a finite number."""

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Look at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not isfinite(loss):
            self.model.stop_training = True
