"""Live curves: a callback that draws the metrics of a training while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TypeAlias

from webtensor.arguments import check_choice
from webtensor.charts import Charts, Display
from webtensor.charts.decimation import Point
from webtensor.charts.trainings import VALIDATION, Metrics, training_curves
from webtensor.keras.callbacks import Callback
from webtensor.keras.callbacks.notebooks import notebook_output
from webtensor.visor.containers import Container, drawing_function

__all__ = ["FitCallbacks"]

_EPOCHS, _BATCHES = "on_epoch_end", "on_batch_end"
#: The minimum number of seconds between two drawings, and between two batches whose metrics are
#: read, which waits for the device.
_INTERVAL = 0.1
#: The minimum time between two drawings, in times that one takes: training goes first.
_PAUSE = 4

Logs: TypeAlias = dict[str, float] | None
_Points: TypeAlias = dict[str, list[Point]]


class FitCallbacks(Callback):
    """Draw the metrics of a training while it runs, at most ten times a second.

    In a page they are drawn in ``container``; in a notebook below the cell, unless there is a
    container. ``charts`` has them everywhere. Curves of batches have the batches whose metrics are
    read, at most ten a second, so that training hardly waits.

    Args:
        container: where the charts are drawn in a page: a surface of the visor, its name and tab as
            a dictionary, an element of the page, or the id of one; or None.
        metrics: names of metrics, each of which has a chart with its validation, or lists of names
            that share a chart; None makes a chart for each metric.
        callbacks: strings, "on_epoch_end" for curves of epochs, "on_batch_end" for those of
            batches.
        width: an integer, the width of a chart in pixels.
        height: an integer, the height of a chart in pixels.

    Raises:
        RuntimeError: there is a container outside a page; the start of the training raises it.
        ValueError: ``callbacks`` has another string, or the training has no metric of a name.

    Example:
        >>> import webtensor as wt
        >>> curves = wt.visor.fit_callbacks(metrics=["loss"], callbacks=["on_epoch_end"])
        >>> model = wt.Sequential([wt.Input((1,)), wt.layers.Dense(1)])
        >>> model.compile(loss="mse")
        >>> _ = model.fit([[1.0]], [[2.0]], epochs=3, verbose=0, callbacks=[curves])
        >>> curves.charts[0].title
        'loss'
    """

    def __init__(
        self,
        container: Container = None,
        metrics: Metrics = None,
        callbacks: Iterable[str] = (_EPOCHS, _BATCHES),
        width: int = 480,
        height: int = 220,
    ) -> None:
        super().__init__()
        self.container, self.width, self.height = container, width, height
        self.metrics = None if metrics is None else list(metrics)
        self.callbacks = [callbacks] if isinstance(callbacks, str) else list(callbacks)
        for name in self.callbacks:
            check_choice("fit_callbacks", "callbacks", name, (_EPOCHS, _BATCHES))
        self._draw: Callable[[Display], None] | None = None
        self._clear()

    def _clear(self) -> None:
        self._epochs: _Points = {}
        self._batches: _Points = {}
        #: The number of batches in the epochs that ended, and in this one.
        self._previous_batches = self._batch_count = 0
        self._next_drawing = self._read_at = float("-inf")
        self._is_drawn = True

    @property
    def charts(self) -> Charts:
        """The charts of the training so far."""
        charts: list[Display] = []
        if _EPOCHS in self.callbacks:
            charts += self._charts(self._epochs, "epoch")
        if _BATCHES in self.callbacks:
            charts += self._charts(self._batches, "batch")
        return Charts(charts)

    def needs_logs(self, batch: int) -> bool:
        """Whether it is time to read the metrics of a batch."""
        if _BATCHES not in self.callbacks:
            return False
        is_last = batch + 1 == self.params.get("steps")
        return is_last or perf_counter() - self._read_at >= _INTERVAL

    def on_train_begin(self, logs: Logs = None) -> None:
        """Begin with empty charts."""
        self._clear()
        if self.container is not None:
            self._draw = drawing_function("fit_callbacks", self.container)
            return
        show = notebook_output()
        self._draw = show and (lambda display: show(display.html(), repr(display)))

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Add the metrics of a batch, if they were read."""
        self._batch_count = batch + 1
        if logs and _BATCHES in self.callbacks:
            self._read_at = perf_counter()
            _add(self._batches, self._previous_batches + self._batch_count, logs)
            self._redraw()

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Add the metrics of an epoch."""
        self._previous_batches += self._batch_count
        _add(self._epochs, epoch + 1, logs or {})
        self._redraw()

    def close(self) -> None:
        """Draw what has not been drawn yet."""
        if not self._is_drawn:
            self._redraw(is_due=True)

    def _charts(self, points: _Points, step_name: str) -> Iterable[Display]:
        if not points:
            return ()
        metrics = _with_points(self.metrics, points)
        return training_curves(
            points, metrics, x_label=step_name, width=self.width, height=self.height
        )

    def _redraw(self, is_due: bool = False) -> None:
        start = perf_counter()
        is_due = is_due or start >= self._next_drawing
        self._is_drawn = is_due
        if is_due and self._draw is not None:
            self._draw(self.charts)
            end = perf_counter()
            self._next_drawing = end + max(_INTERVAL, _PAUSE * (end - start))


def _add(points: _Points, step: int, logs: dict[str, float]) -> None:
    for name, value in logs.items():
        points.setdefault(name, []).append((float(step), float(value)))


def _with_points(metrics: Metrics, points: _Points) -> Metrics:
    """Return the metrics without those of validation that batches or early epochs lack."""
    if metrics is None:
        return None
    kept: list[str | list[str]] = []
    for metric in metrics:
        names = [metric] if isinstance(metric, str) else metric
        names = [name for name in names if name in points or not name.startswith(VALIDATION)]
        if names:
            kept.append(metric if isinstance(metric, str) else names)
    return kept
