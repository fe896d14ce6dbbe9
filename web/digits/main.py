"""The digits page: joins the controls, the training and what shows its results.

The address may choose: `?backend=wasm`, `?epochs=3`. What the page knows is also in
`window.webtensorDigits`, and its phase in `<main data-phase>`: loading, switching, ready, training,
done, stopped or failed.
"""

from collections.abc import Coroutine, Iterator
from contextlib import aclosing, contextmanager
from random import Random
from time import perf_counter
from typing import Any

import js
from charts import Axis, Points, Series, chart, running_mean
from data import CLASSES, Digits, as_images, split, unpack
from meter import PageMeter
from model import digits_network
from pad import Pad
from page import element, on, query, run_in_background, write
from pyodide.ffi import to_js
from pyodide.http import pyfetch
from results import DigitGrid, draw_pixels, show_confusion
from training import EPOCHS, Step, predict, probabilities, train, warm_up

import webtensor as wt
from webtensor import keras

BACKENDS = {"webgl": "WebGL", "wasm": "WebAssembly"}
IDLE_PHASES = ("ready", "done", "stopped", "failed")
LOSS_TOP = 2.4  # a little more than log(10), the loss of blind guessing
LOSS_MARKS = (0, 0.6, 1.2, 1.8, 2.4)


class DigitsPage:
    """The page's state; its methods handle the visitor's actions."""

    def __init__(self, training_digits: Digits, test_digits: Digits) -> None:
        """Wire the controls to a network that has learnt nothing yet."""
        self.training_digits = training_digits
        self.test_digits = test_digits
        epochs = query("epochs") or ""
        self.epochs = max(int(epochs), 1) if epochs.isdecimal() else EPOCHS
        self.network: keras.Sequential | None = None  # until a backend is chosen
        self.facts: dict[str, Any] = {}
        self.published = js.webtensorDigits = js.Object.new()
        self.losses: list[tuple[float, float]] = []
        self.accuracies: list[tuple[float, float]] = []
        self.stop_requested = False

        self.main = js.document.querySelector("main")
        self.controls = {name: element(name) for name in ("backends", "start", "stop", "sample")}
        self.grid = DigitGrid(element("test-digits"), test_digits)
        self.meter = PageMeter(lambda rate: write("frames", str(rate)))
        self.guess = Guess(self)
        self.show_charts()

        on(self.controls["start"], "click", lambda event: self.train())
        on(self.controls["stop"], "click", lambda event: self.stop())
        on(self.controls["sample"], "click", lambda event: self.guess.take_sample())
        on(self.controls["backends"], "change", lambda event: self.use(event.target.value))

    # -- backends ------------------------------------------------------------------------------

    async def open(self) -> None:
        """Offer the backends that can start here, and use the one asked for or the best."""
        reasons = {name: wt.unavailable_reason(name) for name in BACKENDS}
        for name, reason in reasons.items():
            if reason is not None:
                js.document.querySelector(f"input[value={name}]").disabled = True
                write(f"{name}-note", f"isn't available here: {reason}")
        available = [name for name in wt.available_backends() if name in BACKENDS]
        requested = query("backend")
        if not available:
            self.fail("Neither WebGL nor WebAssembly SIMD is available in this browser.")
            return
        if "webgl" in available and wt.priority_reason("webgl") is not None:
            write("webgl-note", "emulated by this browser in software; WebAssembly is quicker")
        if requested is not None and requested not in available:
            name = BACKENDS.get(requested, f"“{requested}”")
            reason = reasons.get(requested, "there is no such backend")
            notify(f"{name} isn't available here: {reason}. Computing on {BACKENDS[available[0]]}.")
        await self.use(requested if requested in available else available[0])

    async def use(self, backend: str) -> None:
        """Compute on another backend from now on; the network's weights move along."""
        self.enter("switching", backend=backend)
        js.document.querySelector(f"input[value={backend}]").checked = True
        with self.failures_shown():
            wt.set_backend(backend)
            await wt.ready()
            self.network = self.network or digits_network()
            await self.guess.show()
            if "first_prediction_ms" not in self.facts:
                self.publish(first_prediction_ms=round(js.performance.now()))
            predictions = await self.evaluate()
            if "initial_predictions" not in self.facts:
                self.publish(initial_predictions=predictions)
            await warm_up(self.training_digits)
            self.enter("ready")

    # -- training ------------------------------------------------------------------------------

    async def train(self) -> None:
        """Train a fresh network, showing every step, until the last epoch or Stop."""
        self.losses, self.accuracies = [], []
        self.stop_requested = False
        notify("")
        self.enter("training", step=0, accuracy=None, seconds=None, longest_task_ms=None)
        self.meter.begin()
        began = perf_counter()

        def report(step: Step) -> bool:
            self.show_step(step, perf_counter() - began)
            return self.stop_requested

        with self.failures_shown():
            self.network = digits_network()
            await self.evaluate(epoch=0)
            done = train(self.network, self.training_digits, self.epochs, report)
            async with aclosing(done) as epochs:
                async for epoch in epochs:
                    await self.evaluate(epoch)
            if self.stop_requested:
                await self.evaluate()
            seconds = round(perf_counter() - began, 2)
            self.enter("stopped" if self.stop_requested else "done", seconds=seconds)
            write("progress-text", "Stopped" if self.stop_requested else "Done")
        self.meter.end()

    def stop(self) -> None:
        """End the training after the current step."""
        self.stop_requested = True
        self.controls["stop"].disabled = True

    async def evaluate(self, epoch: int | None = None) -> list[int]:
        """Predict all test digits and show how well; for an epoch, add it to the chart."""
        predictions: list[int] = await predict(self.network, self.test_digits.images)
        labels = self.test_digits.labels
        right = sum(map(int.__eq__, predictions, labels))
        accuracy = right / len(labels)
        self.publish(accuracy=accuracy)
        write("accuracy", f"{accuracy:.1%}")
        write("mistakes", f"{len(labels) - right} of {len(labels)} wrong")
        show_confusion(element("confusion"), labels, predictions)
        self.grid.show(predictions)
        if epoch is not None:
            self.accuracies.append((epoch, 100 * accuracy))
            self.show_charts()
            await self.guess.show()
        return predictions

    # -- what the visitor sees -----------------------------------------------------------------

    def enter(self, phase: str, **facts: Any) -> None:
        """Enter a phase: publish it with other facts, and enable what makes sense in it."""
        self.publish(phase=phase, **facts)
        idle = phase in IDLE_PHASES
        self.controls["backends"].disabled = not idle
        self.controls["start"].disabled = not idle or "backend" not in self.facts
        self.controls["stop"].disabled = phase != "training"
        self.controls["sample"].disabled = "first_prediction_ms" not in self.facts
        self.main.dataset.phase = phase

    def publish(self, **facts: Any) -> None:
        """Remember facts, and show them to whoever looks into the page from outside."""
        self.facts.update(facts)
        for name, fact in facts.items():
            setattr(self.published, name, to_js(fact))

    def show_step(self, step: Step, elapsed: float) -> None:
        """Show the loss, the time and the progress after a step."""
        self.losses.append((step.number / step.of * self.epochs, step.loss))
        self.show_charts()
        left = elapsed / step.number * (step.of - step.number)
        epoch = (step.number - 1) * self.epochs // step.of + 1
        write("progress-text", f"Epoch {epoch} of {self.epochs}, {left:.0f} s left")
        write("seconds", f"{elapsed:.1f} s")
        write("step-time", f"{elapsed / step.number * 1000:.0f} ms")
        longest = self.meter.longest_task
        write("longest-task", f"{longest:.0f} ms" if longest else "under 50 ms")
        element("progress").value = step.number / step.of
        self.publish(step=step.number, longest_task_ms=round(longest, 1))

    def show_charts(self) -> None:
        """Draw both charts anew."""
        marks = range(0, self.epochs + 1, max(1, round(self.epochs / 6)))
        epochs = Axis(0, self.epochs, marks, name="epoch")
        loss = [Series(self.losses, "second faint"), Series(running_mean(self.losses), "second")]
        element("loss-chart").innerHTML = chart(
            f"Loss{latest(self.losses)}", loss, epochs, Axis(0, LOSS_TOP, LOSS_MARKS)
        )
        element("accuracy-chart").innerHTML = chart(
            f"Accuracy{latest(self.accuracies, ' %')}",
            [Series(self.accuracies, "line"), Series(self.accuracies[-1:], "dots")],
            epochs,
            Axis(0, 100, range(0, 101, 25), unit=" %"),
        )

    @contextmanager
    def failures_shown(self) -> Iterator[None]:
        """Tell the visitor what to do when the device fails."""
        try:
            yield
        except wt.ContextLostError:
            self.network = None  # its weights were there
            self.fail("The browser took the graphics context away. Start again, or choose another.")
        except MemoryError:
            self.fail("The memory of this page is used up. Close other tabs, and start again.")
        except wt.BackendError as error:
            summary, _, details = str(error).partition("\n")
            js.console.warn(details)
            self.fail(f"The computation failed: {summary}. Choose another way to compute above.")

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside whatever is going on."""

        async def guarded() -> None:
            with self.failures_shown():
                await work

        run_in_background(guarded())

    def fail(self, message: str) -> None:
        """Show a message that ends what was going on."""
        notify(message)
        self.enter("failed")


class Guess:
    """The network's live guess at the drawing, or at a digit from the test set."""

    def __init__(self, page: DigitsPage) -> None:
        """Start with the first test digit."""
        self.page = page
        self.pad = Pad(element("pad"), self.drawing_changed, self.pen_moved)
        self.sample: int | None = 0  # index of the test digit that is shown instead of the drawing
        self.random = Random()
        self.outdated = self.busy = False
        element("probabilities").innerHTML = "".join(
            f"<li>{digit}<i></i><span></span></li>" for digit in range(CLASSES)
        )
        self.bars = list(element("probabilities").children)
        on(element("clear"), "click", lambda event: self.clear())

    def clear(self) -> None:
        """Take a fresh sheet, and say nothing about it."""
        self.pad.clear()
        self.sample = None
        self.describe(bytes(64), [0.0] * CLASSES, "Draw, and the network guesses.")

    def take_sample(self) -> None:
        """Show one of the test digits at random."""
        self.pad.clear()
        self.sample = self.random.randrange(len(self.page.test_digits))
        self.page.begin(self.show())

    def drawing_changed(self) -> None:
        """Guess anew; called for every movement of the pen."""
        self.sample = None
        if "first_prediction_ms" in self.page.facts:
            self.page.begin(self.show())

    def pen_moved(self, is_down: bool) -> None:
        """Say what the pen does that keys move."""
        write("pen", "The pen is down." if is_down else "The pen is up.")

    async def show(self) -> None:
        """Classify what is shown now; calls that come meanwhile lead to one more round."""
        self.outdated = True
        if self.busy:
            return
        self.busy = True
        try:
            while self.outdated:
                self.outdated = False
                await self.classify()
        finally:
            self.busy = False

    async def classify(self) -> None:
        """Classify the test digit or the drawing, and show the probabilities."""
        sample = self.sample
        if sample is not None:
            pixels = self.page.test_digits.pixels[sample]
            subject = f"A test digit, truly a {self.page.test_digits.labels[sample]}"
        elif not self.pad.is_empty:
            pixels = self.pad.levels()
            subject = "Your drawing"
        else:
            return
        network = self.page.network
        if network is None:
            return
        shares = await probabilities(network, as_images([pixels]))
        if sample == self.sample and (sample is not None or not self.pad.is_empty):
            best = shares.index(max(shares))
            self.describe(pixels, shares, f"{subject}: read as {best} ({shares[best]:.0%})")
        await wt.next_frame()

    def describe(self, pixels: bytes, shares: list[float], answer: str) -> None:
        """Show the reduced image, the bar of each digit, and an answer in words."""
        draw_pixels(element("preview"), pixels)
        if self.sample is not None:
            self.pad.show_image(element("preview"))
        write("answer", answer)
        best = max(shares)
        for bar, share in zip(self.bars, shares, strict=True):
            bar.style.setProperty("--share", f"{share:.4f}")
            bar.lastChild.textContent = f"{share:.0%}"
            bar.className = "likeliest" if share == best > 0 else ""


def latest(points: Points, unit: str = "") -> str:
    """Say in words what the last point of a chart is."""
    if not points:
        return ", before training"
    epoch, value = points[-1]
    return f": {value:.3g}{unit} after epoch {epoch:.3g}"


def notify(message: str) -> None:
    """Show a message above the controls, or hide the last one when there is none."""
    write("notice", message)
    element("notice").hidden = not message


async def load_digits() -> tuple[Digits, Digits]:
    """Fetch the exported data set and split it."""
    info = await pyfetch("digits.json")
    content = await pyfetch("digits.bin")
    info.raise_for_status()
    content.raise_for_status()
    digits: tuple[Digits, Digits] = split(
        unpack((await info.json())["count"], await content.bytes())
    )
    return digits


digits_page = DigitsPage(*await load_digits())
await digits_page.open()
