"""Callbacks about the averages of weights that an optimizer keeps."""

from __future__ import annotations

from typing import Any

from webtensor.keras.callbacks.callback import Callback, Logs

__all__ = ["SwapEMAWeights"]


class SwapEMAWeights(Callback):
    """Give the model the averages of its weights while it is evaluated and predicts.

    The optimizer must keep averages, by ``use_ema=True``. With ``swap_on_epoch``, the model has
    them at the end of each epoch, too, for callbacks that save it, until the next one begins; put
    this callback before those.
    """

    def __init__(self, swap_on_epoch: bool = False) -> None:
        super().__init__()
        self.swap_on_epoch = swap_on_epoch
        #: The weights that averages stand in for.
        self._held: list[tuple[Any, Any]] = []

    def _lend(self) -> None:
        optimizer = self.model.optimizer
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        if not any(one.use_ema for one in getattr(inner, "optimizers", [inner])):
            raise ValueError(
                "SwapEMAWeights: the optimizer must be made with use_ema=True, but is "
                f"{type(inner).__name__} without it"
            )
        if optimizer.built and not self._held:
            self._held = [(one, one.value) for one in self.model.trainable_variables]
            optimizer.finalize_variable_values(self.model.trainable_variables)

    def _give_back(self) -> None:
        for variable, value in self._held:
            variable.assign(value)
        self._held = []

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Give the weights back to the model."""
        self._give_back()

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Give the model averages, for those who save it."""
        if self.swap_on_epoch:
            self._lend()

    def on_train_end(self, logs: Logs = None) -> None:
        """Leave the averages, which are the model's final weights."""
        self._held = []

    def on_test_begin(self, logs: Logs = None) -> None:
        """Give the model averages."""
        self._lend()

    def on_test_end(self, logs: Logs = None) -> None:
        """Give the weights back to the model."""
        self._give_back()

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Give the model averages."""
        self._lend()

    def on_predict_end(self, logs: Logs = None) -> None:
        """Give the weights back to the model."""
        self._give_back()
