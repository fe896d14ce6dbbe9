"""The progress bar: a line in a terminal or a notebook, or an element of a page."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from webtensor.environment import IN_BROWSER
from webtensor.keras.callbacks.callback import Callback, Logs
from webtensor.keras.utils.logging import say

__all__ = ["ProgbarLogger"]

#: Seconds between two looks at what the device has computed, which wait for it.
_INTERVAL = 0.25


class ProgbarLogger(Callback):
    """Show how far a loop is, with the metrics so far.

    In a page, ``element``, an element or its id, is given a progress bar and a line of text;
    without it, lines are printed, of which the current one is written over and over.
    """

    def __init__(self, element: Any = None) -> None:
        super().__init__()
        self._shown: _Line | _Element
        self._element = element
        self._since = 0.0
        self._epochs = 1

    def set_params(self, params: dict[str, Any]) -> None:
        """Be told of the numbers of epochs and steps."""
        super().set_params(params)
        self._epochs = params.get("epochs") or 1

    def needs_logs(self, batch: int) -> bool:
        """Logs are wanted a few times a second."""
        is_last = batch + 1 == self.params.get("steps")
        verbose = self.params.get("verbose")
        return not is_last and verbose == 1 and perf_counter() - self._since > _INTERVAL

    def _begin(self) -> None:
        self._since = perf_counter()
        steps, verbose = self.params.get("steps"), self.params.get("verbose") or 1
        if self._element is None:
            self._shown = _Line(steps, verbose)
        else:
            self._shown = _Element(self._element, steps)
        self._seen = 0

    def _step(self, batch: int, logs: Any, is_bare: bool = False) -> None:
        """Move the bar, if it is time; where there are to be logs, only with them."""
        self._seen = batch + 1
        if (logs or is_bare) and perf_counter() - self._since > _INTERVAL:
            self._since = perf_counter()
            self._shown.update(self._seen, logs)

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Begin a bar."""
        self._begin()
        if self._epochs > 1:
            self._shown.title(f"Epoch {epoch + 1}/{self._epochs}")

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Move the bar."""
        self._step(batch, logs)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Fill the bar."""
        self._shown.update(self._seen, logs or {}, is_last=True)

    def on_test_begin(self, logs: Logs = None) -> None:
        """Begin a bar, unless this is a validation."""
        if not hasattr(self.model, "history") or not hasattr(self, "_shown"):
            self._begin()
            self._is_test = True

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Move the bar."""
        if getattr(self, "_is_test", False):
            self._step(batch, logs)

    def on_test_end(self, logs: Logs = None) -> None:
        """Fill the bar."""
        if getattr(self, "_is_test", False):
            self._shown.update(self._seen, logs or {}, is_last=True)

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Begin a bar."""
        self._begin()

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Move the bar."""
        self._step(batch, {}, is_bare=True)

    def on_predict_end(self, logs: Logs = None) -> None:
        """Fill the bar."""
        self._shown.update(self._seen, {}, is_last=True)


class _Line:
    """A bar of text."""

    def __init__(self, steps: int | None, verbose: int) -> None:
        from webtensor.keras.utils import Progbar

        self._bar = Progbar(steps, verbose=verbose, stateful_metrics=_All(), unit_name="step")

    def title(self, text: str) -> None:
        say(text)

    def update(self, seen: int, logs: Any, is_last: bool = False) -> None:
        if self._bar.target is None:
            self._bar.target = seen if is_last else None
        else:  # there may be fewer batches than an execution has steps
            seen = min(seen, self._bar.target)
        self._bar.update(seen, list(logs.items()), finalize=is_last)


class _All:
    """All names: logs are means already."""

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter(())


class _Element:
    """A bar in an element of a page."""

    def __init__(self, element: Any, steps: int | None) -> None:
        if not IN_BROWSER:
            raise RuntimeError("ProgbarLogger: an element needs a page, and this is none")
        import js

        self._steps = steps
        place = js.document.getElementById(element) if isinstance(element, str) else element
        if not place:
            raise ValueError(f"ProgbarLogger: the page has no element {element!r}")
        place.replaceChildren()
        self._title = js.document.createElement("span")
        self._bar = js.document.createElement("progress")
        self._text = js.document.createElement("span")
        if steps:
            self._bar.max = steps
        for part in (self._title, self._bar, self._text):
            place.appendChild(part)

    def title(self, text: str) -> None:
        self._title.textContent = text + " "

    def update(self, seen: int, logs: Any, is_last: bool = False) -> None:
        if self._steps is None:
            self._bar.max = seen if is_last else self._bar.max
        else:
            seen = min(seen, self._steps)
        self._bar.value = seen
        told = [f"{seen}/{self._steps or '?'}", *(f"{key}: {one:.4g}" for key, one in logs.items())]
        self._text.textContent = " " + " · ".join(told)
