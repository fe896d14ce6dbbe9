"""The page of backgrounds: the person stays as she is, and what is behind her changes."""

from statistics import pstdev
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.picture_pages import expect_new_picture, opened
from tests_browser.program_page import BACKENDS, expect_no_tensors

#: Places in the photograph, in pixels: on the person's suit, and in the corners above.
SUIT, CORNERS = (100, 330), [(4, 4), (507, 4)]
#: A row of the flag, with stars and stripes.
FLAG = [(x, 60) for x in range(2, 60)]
#: The side of the photograph.
SIDE = 512
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
#: What the evening sky begins with above.
DUSK = (26, 38, 115)
#: The colours that a visitor sees at places of the photograph.
COLOURS = """(canvas, [side, places]) => {
  const scale = canvas.height / side;
  const left = (canvas.width - canvas.height) / 2;
  const context = canvas.getContext("2d");
  return places.map(([x, y]) =>
    [...context.getImageData(left + scale * x, scale * y, 1, 1).data].slice(0, 3));
}"""


def colours(page: Page, places: list[tuple[int, int]]) -> list[Any]:
    colours: list[Any] = page.locator("#picture").evaluate(COLOURS, [SIDE, places])
    return colours


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_background_changes(chromium: Browser, site_url: str, backend: str):
    with opened(chromium, site_url, "segment", backend) as page:
        expect(page.locator("#status")).to_have_text("512 × 512 pixels")
        suit = colours(page, [SUIT])[0]
        with expect_new_picture(page):
            page.locator("#radius").fill("1")
        sharp = [sum(colour) for colour in colours(page, FLAG)]
        with expect_new_picture(page):
            page.locator("#radius").fill("20")
        blurred = [sum(colour) for colour in colours(page, FLAG)]
        assert pstdev(blurred) < pstdev(sharp) / 2

        with expect_new_picture(page):
            page.locator("#background").select_option("evening")
        for colour in colours(page, CORNERS):
            assert colour == pytest.approx(DUSK, abs=6)
        assert colours(page, [SUIT])[0] == pytest.approx(suit, abs=6)

        with expect_new_picture(page):
            page.locator("#background").select_option("mask")
        assert colours(page, [SUIT])[0] == pytest.approx(WHITE, abs=6)
        for colour in colours(page, CORNERS):
            assert colour == pytest.approx(BLACK, abs=6)
        expect_no_tensors(page)


def test_it_runs_in_firefox(firefox: Browser, site_url: str):
    with opened(firefox, site_url, "segment", "wasm") as page:
        expect(page.locator("#status")).to_have_text("512 × 512 pixels")
