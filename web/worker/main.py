"""The page about two ways to compute: on the page's own thread, and in a worker.

The address may choose: `?backend=wasm`. What is going on is in `<main data-phase>`: loading, ready,
or learning.
"""

from typing import Any

import js
from meter import PageMeter
from page import element, on, query
from pyodide.ffi import create_proxy, to_js
from spirals import EPOCHS, learn

import webtensor as wt

WAYS = ("page", "worker")


class TwoWays:
    """The page's state."""

    def __init__(self) -> None:
        """Wire the buttons."""
        self.backend = query("backend") or wt.get_backend()
        self.meter = PageMeter(lambda rate: write("frames", str(rate)))
        self.finished: Any = None  # of what the worker does
        for way in WAYS:
            on(element(f"{way}-start"), "click", getattr(self, f"learn_on_{way}"))
        write("backend", self.backend)
        self.enter("ready")

    def enter(self, phase: str) -> None:
        """Say what is going on, and enable the buttons when nothing is."""
        js.document.querySelector("main").dataset.phase = phase
        for way in WAYS:
            element(f"{way}-start").disabled = phase != "ready"

    def begin(self, way: str) -> None:
        """Begin to learn one way."""
        self.enter("learning")
        write(f"{way}-state", "Starting")
        self.meter.begin()

    def report(self, way: str, epoch: int, accuracy: float, seconds: float) -> None:
        """Show how far it has come, and how long the page was busy at a time."""
        longest = self.meter.longest_task
        busy = f"{longest:.0f} ms" if longest else "under 50 ms"
        state = f"{accuracy:.0%} right after epoch {epoch} of {EPOCHS}, {seconds:.1f} s"
        write(f"{way}-state", f"{state}; the page was busy for {busy} at most")

    def end(self) -> None:
        """End what was going on."""
        self.meter.end()
        self.enter("ready")

    async def learn_on_page(self, event: Any = None) -> None:
        """Learn on the page's own thread, which goes on painting between steps."""
        self.begin("page")
        try:
            await learn(
                self.backend,
                element("page-canvas"),
                lambda *facts: self.report("page", *facts),
            )
        finally:
            self.end()

    def learn_on_worker(self, event: Any = None) -> None:
        """Have a worker learn, which draws on the page's canvas by itself."""
        self.begin("worker")
        worker = js.Worker.new(f"worker.js{js.location.search}", to_js({"type": "module"}))
        canvas = fresh_canvas("worker-canvas").transferControlToOffscreen()

        def told(event: Any) -> None:
            if hasattr(event.data, "epoch"):
                facts = event.data
                self.report("worker", facts.epoch, facts.accuracy, facts.seconds)
                return
            worker.terminate()
            proxy.destroy()
            self.end()
            if hasattr(event.data, "error"):
                raise RuntimeError(event.data.error)

        proxy = create_proxy(told)
        worker.onmessage = proxy
        message = to_js({"backend": self.backend, "canvas": canvas})
        worker.postMessage(message, to_js([canvas]))


def write(identifier: str, text: str) -> None:
    """Set an element's text."""
    element(identifier).textContent = text


def fresh_canvas(identifier: str) -> Any:
    """Put a canvas in the place of one that may belong to a worker already."""
    old = element(identifier)
    new = old.cloneNode()
    old.replaceWith(new)
    return new


TwoWays()
