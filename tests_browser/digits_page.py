"""The digits page as a visitor uses it: Start, Stop, the pad; and what it then shows."""

import re
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Page, expect

SECONDS_TO_OPEN = 120
SECONDS_TO_TRAIN = 600

Point = tuple[float, float]


class DigitsPage:
    """Drives the digits page in a Playwright page."""

    def __init__(self, page: Page, site_url: str, query: str = "") -> None:
        """Open the page, and wait until a network that has learnt nothing has predicted."""
        self.page = page
        page.goto(f"{site_url}/digits/{query}")
        self.wait_for("ready", "failed", seconds=SECONDS_TO_OPEN)

    @property
    def facts(self) -> dict[str, Any]:
        """What the page publishes about itself."""
        facts: dict[str, Any] = self.page.evaluate("webtensorDigits")
        return facts

    @property
    def phase(self) -> str:
        """The page's phase now."""
        return str(self.page.locator("main").get_attribute("data-phase"))

    def wait_for(self, *phases: str, seconds: float = SECONDS_TO_TRAIN) -> str:
        """Wait until the page enters one of the phases, and return it; errors end the wait."""
        self.page.wait_for_function(
            "(phases) => phases.includes(document.querySelector('main').dataset.phase)"
            " || document.querySelector('[role=alert]')",
            arg=phases,
            timeout=seconds * 1000,
        )
        alert = self.page.get_by_role("alert")
        assert alert.count() == 0, alert.all_inner_texts()
        return self.phase

    def train(self) -> None:
        """Click Start and wait for the end."""
        self.start()
        assert self.wait_for("done", "failed") == "done", self.text("notice")

    def start(self) -> None:
        """Click Start."""
        self.page.get_by_role("button", name="Start").click()

    def text(self, identifier: str) -> str:
        """Return an element's text."""
        return self.page.locator(f"#{identifier}").inner_text()

    def wait_for_step(self, number: int) -> None:
        """Wait until the training has taken a number of steps."""
        self.page.wait_for_function(
            "(step) => webtensorDigits.step >= step", arg=number, timeout=SECONDS_TO_TRAIN * 1000
        )

    def chart_points(self, identifier: str) -> int:
        """Count the points that a chart shows now."""
        chart = self.page.locator(f"#{identifier} svg")
        return int(chart.get_attribute("data-points") or 0)

    def draw(self, *strokes: Sequence[Point]) -> None:
        """Draw strokes on the pad with the mouse; a point's coordinates go from 0 to 1."""
        pad = self.page.locator("#pad")
        pad.scroll_into_view_if_needed()
        for stroke in strokes:
            (first, *others) = [self.on_screen(point) for point in stroke]
            self.page.mouse.move(*first)
            self.page.mouse.down()
            for point in others:
                self.page.mouse.move(*point, steps=4)
            self.page.mouse.up()

    def on_screen(self, point: Point) -> Point:
        """Return where in the window a point of the pad lies."""
        box = self.page.locator("#pad").bounding_box()
        assert box is not None
        return box["x"] + point[0] * box["width"], box["y"] + point[1] * box["height"]

    def expect_guess(self, pattern: str = r"Your drawing: read as \d \(\d+%\)") -> None:
        """Wait for an answer about the drawing."""
        expect(self.page.locator("#answer")).to_have_text(re.compile(pattern))

    def probabilities(self) -> list[float]:
        """Return the length of each digit's bar, from 0 to 1."""
        shares: list[float] = self.page.locator("#probabilities li").evaluate_all(
            "(bars) => bars.map((bar) => Number(bar.style.getPropertyValue('--share')))"
        )
        return shares
