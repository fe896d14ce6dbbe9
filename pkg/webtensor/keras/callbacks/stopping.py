"""Callbacks that end training."""

from __future__ import annotations

from math import isfinite

from webtensor.engine import Tensor
from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.callbacks.monitor import Monitor
from webtensor.keras.logging import say

__all__ = ["EarlyStopping", "TerminateOnNaN"]


class EarlyStopping(Monitor):
    """End training when a metric has not improved for ``patience`` epochs.

    Args:
        patience: an integer, the number of epochs without improvement before training ends.
        baseline: a number that the metric must be better than for an epoch to count as improved,
            or None.
        restore_best_weights: a boolean, whether to restore the weights of the best epoch at the
            end of training.
        start_from_epoch: an integer, the first epoch to monitor, counted from 0.

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
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose = patience, verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights: list[Tensor] | None = None

    def on_train_begin(self, logs: Logs = None) -> None:
        """Reset the count of epochs and the best value."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Compare the epoch with the best epoch so far."""
        value = self.get_monitor_value(logs)
        if value is None or epoch < self.start_from_epoch:
            return
        self.wait += 1
        improves = self._is_improvement(value, self.best)
        if improves or (self.restore_best_weights and self.best_weights is None):
            self.best_epoch = epoch
            if self.restore_best_weights:
                self.best_weights = [variable.value for variable in self.model.weights]
        if improves:
            self.best = value
            if self.baseline is None or self._is_improvement(value, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Logs = None) -> None:
        """Restore the best weights."""
        if self.stopped_epoch:
            self._say(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            epoch = self.best_epoch + 1
            self._say(f"Restoring model weights from the end of the best epoch: {epoch}.")
            for variable, value in zip(self.model.weights, self.best_weights, strict=True):
                variable.assign(value)
            self.best_weights = None


class TerminateOnNaN(Callback):
    """End training when the loss is not a finite number.

    Args:
        raise_error: a boolean, whether to raise a RuntimeError instead of ending training.
    """

    def __init__(self, raise_error: bool = False) -> None:
        super().__init__()
        self.raise_error = raise_error

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Check the loss.

        Raises:
            RuntimeError: it is not finite, and ``raise_error`` is True.
        """
        loss = (logs or {}).get("loss")
        if loss is None or isfinite(loss):
            return
        message = f"TerminateOnNaN: the loss is {loss} at batch {batch}"
        if self.raise_error:
            raise RuntimeError(message)
        say(f"{message}: training ends")
        self.model.stop_training = True
