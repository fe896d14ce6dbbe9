"""Callbacks that watch a number: what it is called, and whether it should rise or fall."""

from __future__ import annotations

from math import inf
from typing import Any
from warnings import warn

from webtensor.keras.callbacks.callback import Callback, Logs

__all__ = ["Monitor"]

#: Words in the names of classes and functions of metrics that should rise, or fall.
_RISING = (
    "accuracy", "auc", "precision", "recall", "sensitivity", "specificity", "fbeta", "f1", "iou",
    "r2", "cosine", "concordance", "pearson", "true",
)  # fmt: skip
_FALLING = ("error", "crossentropy", "hinge", "divergence", "poisson", "cosh", "false")


class Monitor(Callback):
    """What such callbacks share.

    ``mode`` is "min", "max", or "auto": then what the model knows the metric as decides.
    """

    def __init__(self, monitor: str, mode: str = "auto", min_delta: float = 0.0) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warn(
                f"{type(self).__name__}: mode must be 'auto', 'min' or 'max', but is {mode!r}; "
                "'auto' is taken",
                stacklevel=3,
            )
            mode = "auto"
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self.best: float | None = None
        self._rises: bool | None = None if mode == "auto" else mode == "max"

    def _is_improvement(self, value: float, reference: float | None) -> bool:
        """Whether a number is better than another by more than ``min_delta``.

        Raises:
            ValueError: nothing says whether it should rise.
        """
        if self._rises is None:
            self._rises = self._should_rise()
        if self._rises:
            return value - self.min_delta > (-inf if reference is None else reference)
        return value + self.min_delta < (inf if reference is None else reference)

    def _should_rise(self) -> bool:
        name = self.monitor.removeprefix("val_")
        if name == "loss" or name.endswith("_loss"):
            return False
        for metric in _flat(getattr(self.model, "metrics", ())):
            if name in (metric.name, metric.name.rpartition("/")[2]) or name.endswith(
                f"_{metric.name}"
            ):
                function = getattr(metric, "_fn", None)
                kind = f"{type(metric).__name__} {getattr(function, '__name__', '')}".lower()
                if any(word in kind for word in _FALLING):
                    return False
                if any(word in kind for word in _RISING):
                    return True
        raise ValueError(
            f"{type(self).__name__}: monitor is {self.monitor!r}, and nothing says whether that "
            "should rise or fall: give mode='max' or mode='min'"
        )

    def _watched(self, logs: Logs) -> Any:
        """The number, or None after a warning."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            if self._rises is None:
                self._rises = self._should_rise()
            warn(
                f"{type(self).__name__}: there is no metric {self.monitor!r}; there are "
                f"{sorted(logs or {})}",
                stacklevel=3,
            )
        return value


def _flat(metrics: Any) -> list[Any]:
    return [one for metric in metrics for one in getattr(metric, "metrics", [metric])]
