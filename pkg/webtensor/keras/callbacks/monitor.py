"""The base class of callbacks that monitor a metric, and whether the metric should rise or fall."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from operator import gt, lt
from typing import TYPE_CHECKING, Any
from warnings import warn

from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.logging import say

if TYPE_CHECKING:
    from webtensor.keras.metrics import Metric

__all__ = ["Monitor"]

#: Words in the names of classes and functions of metrics that should rise or fall.
_RISING = (
    "accuracy", "auc", "precision", "recall", "sensitivity", "specificity", "fbeta", "f1", "iou",
    "r2", "cosine", "concordance", "pearson", "true",
)  # fmt: skip
_FALLING = ("error", "crossentropy", "hinge", "divergence", "poisson", "cosh", "false")


class Monitor(Callback):
    """The base class of callbacks that monitor a metric.

    Args:
        monitor: a string, the name of the metric or loss in the logs.
        mode: ``"min"`` if the metric should fall, ``"max"`` if it should rise, or ``"auto"`` to
            infer that from the metric's class.
        min_delta: a number, the minimum change that is an improvement.
        verbose: an integer; 1 prints messages, 0 does not.
    """

    verbose = 0

    def __init__(self, monitor: str, mode: str = "auto", min_delta: float = 0.0) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warn(
                f"{type(self).__name__}: mode must be 'auto', 'min' or 'max', but is {mode!r}; "
                "using 'auto'",
                stacklevel=3,
            )
            mode = "auto"
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self.best: float | None = None
        #: Whether the first of two values is better; ``_set_monitor_op`` sets this function.
        self.monitor_op: Any = None

    def _set_monitor_op(self) -> None:
        """Set ``monitor_op`` and the sign of ``min_delta``, once.

        Raises:
            ValueError: it is unknown whether the metric should rise or fall.
        """
        if self.monitor_op is not None:
            return
        rises = self._should_rise() if self.mode == "auto" else self.mode == "max"
        self.monitor_op = gt if rises else lt
        if not rises:
            self.min_delta = -self.min_delta

    def _is_improvement(self, value: float, reference: float | None) -> bool:
        """Whether a value is better than a reference by more than ``min_delta``."""
        self._set_monitor_op()
        if reference is None:
            return not isnan(value)
        return bool(self.monitor_op(value - self.min_delta, reference))

    def _should_rise(self) -> bool:
        name = self.monitor.removeprefix("val_")
        if name == "loss" or name.endswith("_loss"):
            return False
        for metric in _inner_metrics(getattr(self.model, "metrics", ())):
            if name in (metric.name, metric.name.rpartition("/")[2]) or name.endswith(
                f"_{metric.name}"
            ):
                direction = getattr(metric, "_direction", None)
                if direction:
                    return bool(direction == "up")
                function = getattr(metric, "_fn", None)
                names = f"{type(metric).__name__} {getattr(function, '__name__', '')}".lower()
                if any(word in names for word in _FALLING):
                    return False
                if any(word in names for word in _RISING):
                    return True
        raise ValueError(
            f"{type(self).__name__}: it is unknown whether {self.monitor!r} should rise or fall; "
            "set mode='max' or mode='min'"
        )

    def _say(self, text: str) -> None:
        if self.verbose:
            say(text)

    def get_monitor_value(self, logs: Logs) -> float | None:
        """Return the metric's value in the logs, or None after a warning."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            self._set_monitor_op()
            warn(
                f"{type(self).__name__}: there is no metric {self.monitor!r}; there are "
                f"{sorted(logs or {})}",
                stacklevel=3,
            )
        return value


def _inner_metrics(metrics: Iterable[Metric]) -> list[Metric]:
    """Replace the metrics that consist of others by these."""
    return [inner for metric in metrics for inner in getattr(metric, "metrics", [metric])]
