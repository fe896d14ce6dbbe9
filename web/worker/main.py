"""The page about two ways to compute: on the page's own thread, and in a worker.

The address may choose: `?backend=wasm`. What is going on is in `<main data-phase>`: loading, ready,
or learning.
"""

from typing import Any

import js
from meter import PageMeter
from page import element, on, use_requested_backend, write
from python_worker import PythonWorker
from spirals import EPOCHS, learn, spiral

import webtensor as wt

WAYS = ("page", "worker")
COLOURS = ("first", "second")  # of the spirals, as classes


class TwoWays:
    """The page's state."""

    def __init__(self) -> None:
        """Draw the spirals, and wire the buttons."""
        use_requested_backend()
        self.backend = wt.get_backend()
        self.meter = PageMeter(lambda rate: write("frames", str(rate)))
        self.worker: PythonWorker | None = None  # until it is first used
        for way in WAYS:
            element(f"{way}-points").innerHTML = dots()
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
        self.show(way, 0, "Starting")
        self.meter.begin()

    def show(self, way: str, fraction: float, state: str) -> None:
        """Show how far the work has come."""
        element(f"{way}-progress").value = fraction
        write(f"{way}-state", state)

    def report(self, way: str, epoch: int, accuracy: float, seconds: float) -> None:
        """Show what was learnt, and how long the page was busy at a time."""
        longest = self.meter.longest_task
        busy = f"{longest:.0f} ms" if longest else "under 50 ms"
        state = f"{accuracy:.0%} right after epoch {epoch} of {EPOCHS}, {seconds:.1f} s"
        self.show(way, epoch / EPOCHS, f"{state}; the page was busy for {busy} at most")

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
        if self.worker is None:
            self.worker = PythonWorker("worker.js", self.hear, self.fail)
        self.begin("worker")
        canvas = fresh_canvas("worker-canvas").transferControlToOffscreen()
        self.worker.send({"backend": self.backend, "canvas": canvas}, [canvas])

    def hear(self, facts: Any) -> None:
        """Show what the worker says of itself: that its Python loads, what it learnt, the end."""
        match facts.kind:
            case "loading":
                self.show("worker", facts.fraction, f"The worker's own Python: {facts.text}")
            case "learnt":
                self.report("worker", facts.epoch, facts.accuracy, facts.seconds)
            case "done":
                self.end()

    def fail(self, reason: str) -> None:
        """Say and raise why the worker gave up; the next attempt starts another."""
        self.worker = None
        self.end()
        self.show("worker", 0, "The worker failed.")
        raise RuntimeError(f"the worker failed: {reason}")


def dots() -> str:
    """Draw the points of both spirals."""
    return "".join(
        f'<circle class="{colour}" cx="{x:.3f}" cy="{y:.3f}" r="0.018"/>'
        for label, colour in enumerate(COLOURS)
        for x, y in spiral(label)
    )


def fresh_canvas(identifier: str) -> Any:
    """Put a canvas in the place of one that may belong to a worker already."""
    old = element(identifier)
    new = old.cloneNode()
    old.replaceWith(new)
    return new


TwoWays()
