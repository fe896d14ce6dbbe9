"""The progress bar: a line in a terminal, an output of a notebook, or an element of a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from time import perf_counter
from typing import Any

from webtensor.environment import IN_BROWSER
from webtensor.keras.callbacks.callback import Callback, Logs, LoopParams
from webtensor.keras.callbacks.notebooks import Show, notebook_output
from webtensor.keras.logging import is_interactive_logging_enabled, say
from webtensor.keras.utils.progress import Progbar

__all__ = ["ProgbarLogger"]

#: Seconds between two updates with logs, each of which waits for the device.
_INTERVAL = 0.25


class ProgbarLogger(Callback):
    """Show the progress of a loop, with the metrics so far.

    Args:
        element: in a page, an element, or its id, to show a progress bar and a line of text in.
            None prints a line, which is overwritten as the loop proceeds; in a notebook, it is a
            bar below the cell.

    Raises:
        RuntimeError: there is an ``element`` outside a page; the start of the loop raises it.
        ValueError: the page has no such element; the start of the loop raises it.
    """

    def __init__(self, element: object = None) -> None:
        super().__init__()
        self._bar: _TextBar | _ElementBar | _NotebookBar
        self._element = element
        self._show: Show | None = None
        self._updated_at = 0.0
        self._epochs = 1

    def set_params(self, params: LoopParams) -> None:
        """Set ``params``."""
        super().set_params(params)
        self._epochs = params.get("epochs") or 1
        is_shown = self._element is None and params.get("verbose") == 1
        self._show = notebook_output() if is_shown and is_interactive_logging_enabled() else None

    def needs_logs(self, batch: int) -> bool:
        """Whether it is time for an update, which is due a few times a second."""
        is_last = batch + 1 == self.params.get("steps")
        verbose = self.params.get("verbose")
        return not is_last and verbose == 1 and perf_counter() - self._updated_at > _INTERVAL

    def _start(self) -> None:
        self._updated_at = perf_counter()
        steps, verbose = self.params.get("steps"), int(self.params.get("verbose") or 1)
        if self._element is not None:
            self._bar = _ElementBar(self._element, steps)
        elif self._show is not None:
            self._bar = _NotebookBar(self._show, steps)
        else:
            self._bar = _TextBar(steps, verbose)
        self._batch_count = 0

    def _step(self, batch: int, logs: Logs, without_logs: bool = False) -> None:
        """Update the bar if it is time and there are logs, or ``without_logs``."""
        self._batch_count = batch + 1
        if (logs or without_logs) and perf_counter() - self._updated_at > _INTERVAL:
            self._updated_at = perf_counter()
            self._bar.update(self._batch_count, logs or {})

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Start a bar."""
        self._start()
        if self._epochs > 1:
            self._bar.title(f"Epoch {epoch + 1}/{self._epochs}")

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Update the bar."""
        self._step(batch, logs)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Complete the bar."""
        self._bar.update(self._batch_count, logs or {}, is_last=True)

    def on_test_begin(self, logs: Logs = None) -> None:
        """Start a bar, unless this is a validation."""
        if not hasattr(self.model, "history") or not hasattr(self, "_bar"):
            self._start()
            self._is_test = True

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Update the bar."""
        if getattr(self, "_is_test", False):
            self._step(batch, logs)

    def on_test_end(self, logs: Logs = None) -> None:
        """Complete the bar."""
        if getattr(self, "_is_test", False):
            self._bar.update(self._batch_count, logs or {}, is_last=True)

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Start a bar."""
        self._start()

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Update the bar."""
        self._step(batch, {}, without_logs=True)

    def on_predict_end(self, logs: Logs = None) -> None:
        """Complete the bar."""
        self._bar.update(self._batch_count, {}, is_last=True)


class _TextBar:
    """A progress bar of text."""

    def __init__(self, steps: int | None, verbose: int) -> None:
        self._bar = Progbar(steps, verbose=verbose, stateful_metrics=_AllNames(), unit_name="step")

    def title(self, text: str) -> None:
        say(text)

    def update(self, batch_count: int, logs: dict[str, float], is_last: bool = False) -> None:
        if self._bar.target is None:
            self._bar.target = batch_count if is_last else None
        else:  # the last execution may have more steps than there are batches
            batch_count = min(batch_count, self._bar.target)
        self._bar.update(batch_count, list(logs.items()), finalize=is_last)


class _AllNames:
    """A collection of all names: logs are means, so that the bar needs to average none."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())


class _ElementBar:
    """A progress bar in an element of a page."""

    def __init__(self, element: object, steps: int | None) -> None:
        if not IN_BROWSER:
            raise RuntimeError("ProgbarLogger: element is only supported in a page")
        import js

        self._steps = steps
        parent: Any = js.document.getElementById(element) if isinstance(element, str) else element
        if not parent:
            raise ValueError(f"ProgbarLogger: the page has no element {element!r}")
        parent.replaceChildren()
        self._title = js.document.createElement("span")
        self._bar = js.document.createElement("progress")
        self._text = js.document.createElement("span")
        if steps:
            self._bar.max = steps
        for part in (self._title, self._bar, self._text):
            parent.appendChild(part)

    def title(self, text: str) -> None:
        self._title.textContent = text + " "

    def update(self, batch_count: int, logs: dict[str, float], is_last: bool = False) -> None:
        if self._steps is None:
            self._bar.max = batch_count if is_last else self._bar.max
        else:
            batch_count = min(batch_count, self._steps)
        self._bar.value = batch_count
        self._text.textContent = " " + _status(batch_count, self._steps, logs)


class _NotebookBar:
    """A progress bar below a cell of a notebook; the bars of all epochs are the same output."""

    def __init__(self, show: Show, steps: int | None) -> None:
        self._show, self._steps = show, steps
        self._title = ""

    def title(self, text: str) -> None:
        self._title = text + " "

    def update(self, batch_count: int, logs: dict[str, float], is_last: bool = False) -> None:
        steps = self._steps or (batch_count if is_last else None)
        count = min(batch_count, steps) if steps else batch_count
        part = f' max="{steps}" value="{count}"' if steps else ""
        status = _status(count, steps, logs)
        self._show(
            f"{escape(self._title)}<progress{part}></progress> {escape(status)}",
            self._title + status,
        )


def _status(batch_count: int, steps: int | None, logs: dict[str, float]) -> str:
    """Return the number of batches and the metrics, as one line."""
    metrics = (f"{name}: {value:.4g}" for name, value in logs.items())
    return " · ".join([f"{batch_count}/{steps or '?'}", *metrics])
