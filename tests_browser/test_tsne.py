"""The page of t-SNE: digits of a kind find together, and a visitor sees which digit a dot is."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.page_watch import watched_page
from tests_browser.program_page import BACKENDS, expect_no_tensors, stop
from tests_browser.stage import (
    NOTE_TEXTS,
    Pixel,
    coloured_pixels,
    expect_on_first_screen,
    first_pixels,
    number_in,
    open_page,
    run_to,
    wait_for_number,
)

STEP = r"Step (\d+) of 1000, 300 digits"
#: Pixels from a dot's middle to its neighbours', and how many pixels of the canvas are compared.
NEIGHBOURHOOD = 20
SAMPLE = 400


def open_with_few_digits(page: Page, url: str) -> None:
    """Open the page, and let it show 300 digits."""
    open_page(page, url)
    page.locator("#count").select_option("300")
    number_in(page.locator("#step"), STEP)


def purity(pixels: list[Pixel]) -> float:
    """Return which share of the coloured pixels near a coloured pixel have its colour."""
    assert {colour for _, _, colour in pixels} == set(range(10))
    same = near = 0
    for x, y, colour in pixels[:: max(len(pixels) // SAMPLE, 1)]:
        for other_x, other_y, other_colour in pixels:
            if 7 < max(abs(other_x - x), abs(other_y - y)) < NEIGHBOURHOOD:
                near += 1
                same += other_colour == colour
    return same / near


@pytest.fixture(scope="module", params=BACKENDS)
def page(request: pytest.FixtureRequest, chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page, open on each backend."""
    with watched_page(chromium) as page:
        open_with_few_digits(page, f"{site_url}/tsne/?backend={request.param}")
        yield page


def test_digits_of_a_kind_find_together(page: Page):
    expect_on_first_screen(page)
    before = purity(first_pixels(page, STEP, 1))
    wait_for_number(page.locator("#step"), STEP, 300)
    stop(page)
    assert purity(coloured_pixels(page.locator("#plane"))) > 0.7 > 0.5 > before


def test_the_pointed_dot_shows_its_digit(page: Page):
    run_to(page, STEP, 100)
    stop(page)
    plane, card = page.locator("#plane"), page.locator("#pointed")
    expect(card).to_be_hidden()
    x, y, _ = next(pixel for pixel in coloured_pixels(plane) if pixel[2] == 6)
    plane.hover(position={"x": x, "y": y})
    expect(card).to_contain_text("A 6, picture")
    grey_levels = card.locator("canvas").evaluate(
        "(canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, 8, 8).data).size"
    )
    assert grey_levels > 5

    captions = [card.inner_text()]
    plane.focus()
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        for _ in range(3):
            plane.press(key)
            captions.append(card.inner_text())
    assert len(set(captions)) >= 5
    plane.press("Escape")
    expect(card).to_be_hidden()


def test_another_perplexity_begins_anew(page: Page):
    run_to(page, STEP, 60)
    page.locator("#step").evaluate(NOTE_TEXTS)
    perplexity = page.locator("#perplexity")
    perplexity.focus()
    perplexity.press("ArrowRight")
    expect(page.locator("output[for=perplexity]")).to_have_text("31")
    expect(page.locator("#run-state")).to_have_text("Running")
    page.wait_for_function(
        "() => texts.some((text) => Number(text.match(/Step (\\d+)/)?.[1]) < 50)"
    )


def test_nothing_is_left_of_it(page: Page):
    run_to(page, STEP, 10)
    expect_no_tensors(page)


def test_it_runs_in_firefox(firefox_page: Page, site_url: str):
    open_with_few_digits(firefox_page, f"{site_url}/tsne/?backend=wasm")
    wait_for_number(firefox_page.locator("#step"), STEP, 30)
    assert {colour for _, _, colour in coloured_pixels(firefox_page.locator("#plane"))} == set(
        range(10)
    )
