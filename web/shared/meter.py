"""Measures how live the page is: frames per second, and the longest busy time of its thread."""

from collections.abc import Callable
from typing import Any

from js import PerformanceObserver, performance, requestAnimationFrame
from pyodide.ffi import create_proxy, to_js

REPORT_EVERY = 500  # milliseconds


class PageMeter:
    """Counts frames always, and looks for long tasks between `begin` and `end`.

    Chromium reports tasks of the page's thread that take 50 ms or longer. In other browsers the
    longest gap between frames stands in for them.
    """

    def __init__(self, on_rate: Callable[[int], None]) -> None:
        """Call `on_rate` with the frames per second, twice a second."""
        self.longest_task = 0.0  # milliseconds
        self._on_rate = on_rate
        self._began: float | None = None
        self._frames = 0
        self._counted_from = self._last_frame = performance.now()
        self._reports_tasks = "longtask" in PerformanceObserver.supportedEntryTypes
        if self._reports_tasks:
            observer = PerformanceObserver.new(create_proxy(self._on_tasks))
            observer.observe(to_js({"entryTypes": ["longtask"]}))
        self._frame_proxy = create_proxy(self._on_frame)
        requestAnimationFrame(self._frame_proxy)

    def begin(self) -> None:
        """Start looking for the longest task anew."""
        self._began = performance.now()
        self.longest_task = 0.0

    def end(self) -> None:
        """Stop looking."""
        self._began = None

    def _on_tasks(self, entries: Any, *_: Any) -> None:
        for entry in entries.getEntries():
            if self._began is not None and entry.startTime >= self._began:
                self.longest_task = max(self.longest_task, entry.duration)

    def _on_frame(self, now: float) -> None:
        if self._began is not None and not self._reports_tasks and self._last_frame > self._began:
            self.longest_task = max(self.longest_task, now - self._last_frame)
        self._last_frame = now
        self._frames += 1
        elapsed = now - self._counted_from
        if elapsed >= REPORT_EVERY:
            self._on_rate(round(self._frames * 1000 / elapsed))
            self._frames, self._counted_from = 0, now
        requestAnimationFrame(self._frame_proxy)
