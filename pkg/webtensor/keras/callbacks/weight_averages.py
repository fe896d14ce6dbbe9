"""Callbacks for the moving averages of weights."""

from __future__ import annotations

from webtensor.engine import Tensor, Variable
from webtensor.keras.callbacks.callback import Callback, Logs

__all__ = ["SwapEMAWeights"]


class SwapEMAWeights(Callback):
    """Replace the model's weights by their moving averages in ``evaluate`` and ``predict``.

    The optimizer must be made with ``use_ema=True``.

    Args:
        swap_on_epoch: a boolean, whether the averages replace the weights also from the end of an
            epoch to the start of the next, for callbacks that save the model. List this callback
            before them.

    Raises:
        ValueError: the optimizer is made without ``use_ema``; the first swap raises it.
    """

    def __init__(self, swap_on_epoch: bool = False) -> None:
        super().__init__()
        self.swap_on_epoch = swap_on_epoch
        #: The variables whose averages replace their values, with these values.
        self._replaced: list[tuple[Variable, Tensor]] = []

    def _swap_in(self) -> None:
        optimizer = self.model.optimizer
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        if not any(optimizer.use_ema for optimizer in getattr(inner, "optimizers", [inner])):
            raise ValueError(
                "SwapEMAWeights: the optimizer must be made with use_ema=True, but is "
                f"{type(inner).__name__} without it"
            )
        if optimizer.built and not self._replaced:
            self._replaced = [
                (variable, variable.value) for variable in self.model.trainable_variables
            ]
            optimizer.finalize_variable_values(self.model.trainable_variables)

    def _swap_out(self) -> None:
        for variable, value in self._replaced:
            variable.assign(value)
        self._replaced = []

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Restore the weights."""
        self._swap_out()

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Replace the weights by their averages if ``swap_on_epoch``."""
        if self.swap_on_epoch:
            self._swap_in()

    def on_train_end(self, logs: Logs = None) -> None:
        """Keep the averages, which are the final weights of the model."""
        self._replaced = []

    def on_test_begin(self, logs: Logs = None) -> None:
        """Replace the weights by their averages."""
        self._swap_in()

    def on_test_end(self, logs: Logs = None) -> None:
        """Restore the weights."""
        self._swap_out()

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Replace the weights by their averages."""
        self._swap_in()

    def on_predict_end(self, logs: Logs = None) -> None:
        """Restore the weights."""
        self._swap_out()
