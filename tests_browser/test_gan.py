"""The page of the GAN: made points come to lie where real ones do, and its controls work."""

from collections.abc import Iterator
from math import hypot

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.page_watch import watched_page
from tests_browser.program_page import BACKENDS, expect_no_tensors, stop
from tests_browser.stage import (
    Pixel,
    await_frames,
    coloured_pixels,
    count_colours,
    expect_on_first_screen,
    first_pixels,
    number_in,
    open_page,
    run_to,
    wait_for_number,
)

STEP = r"Step (\d+), discriminator's loss \d+\.\d\d, generator's \d+\.\d\d$"
REAL, MADE = 0, 1


@pytest.fixture(scope="module", params=BACKENDS)
def page(request: pytest.FixtureRequest, chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page, open on each backend."""
    with watched_page(chromium) as page:
        open_page(page, f"{site_url}/gan/?backend={request.param}")
        yield page


def distance_to_real(pixels: list[Pixel]) -> float:
    """Return how far pixels of made points are from those of real points, in the mean."""
    real = [pixel for pixel in pixels if pixel[2] == REAL][::5]
    generated = [pixel for pixel in pixels if pixel[2] == MADE][::5]
    distances = [
        min(hypot(x - real_x, y - real_y) for real_x, real_y, _ in real) for x, y, _ in generated
    ]
    return sum(distances) / len(distances)


def test_made_points_come_to_lie_where_real_ones_do(page: Page):
    expect_on_first_screen(page)
    before = distance_to_real(first_pixels(page, STEP, 1))
    wait_for_number(page.locator("#step"), STEP, 150)
    stop(page)
    assert distance_to_real(coloured_pixels(page.locator("#plane"))) < before / 2
    assert count_colours(page.locator("#plane")) > 100, "a field lies below the points"
    assert int(page.locator("#losses svg").get_attribute("data-points") or 0) > 10


def test_it_pauses_and_goes_on(page: Page):
    run_to(page, STEP, 1)
    pause, step = page.locator("#pause"), page.locator("#step")
    pause.click()
    expect(pause).to_have_text("Go on")
    paused_at = number_in(step, STEP)
    await_frames(page, 60)
    assert number_in(step, STEP) <= paused_at + 3, "one drawing was under way"
    pause.click()
    expect(pause).to_have_text("Pause")
    wait_for_number(step, STEP, paused_at + 15)


def test_other_points_begin_anew(page: Page):
    run_to(page, STEP, 1)
    for name in ("line", "gaussians", "clusters"):
        page.locator("#step").evaluate("(step) => { step.textContent = ''; }")
        page.locator("#distribution").select_option(name)
        wait_for_number(page.locator("#step"), STEP, 1)
        assert {REAL, MADE} <= {pixel[2] for pixel in coloured_pixels(page.locator("#plane"))}
    page.locator("#distribution").select_option("ring")


def test_a_learning_rate_of_none_leaves_the_generator_as_it_is(page: Page):
    page.locator("#generator-rate").evaluate(
        "(choice) => { choice.append(new Option('0', '0')); choice.value = '0'; }"
    )
    before = {pixel for pixel in first_pixels(page, STEP, 1) if pixel[2] == MADE}
    wait_for_number(page.locator("#step"), STEP, 45)
    stop(page)
    after = {pixel for pixel in coloured_pixels(page.locator("#plane")) if pixel[2] == MADE}
    assert after == before
    page.locator("#generator-rate").select_option("0.003")


def test_nothing_is_left_of_it(page: Page):
    run_to(page, STEP, 1)
    expect_no_tensors(page)


def test_it_runs_in_firefox(firefox_page: Page, site_url: str):
    open_page(firefox_page, f"{site_url}/gan/?backend=wasm")
    wait_for_number(firefox_page.locator("#step"), STEP, 60)
    assert count_colours(firefox_page.locator("#plane")) > 100
    stop(firefox_page)
