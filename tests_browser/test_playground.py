"""The playground: its network learns, takes the shape that one gives it, and obeys its controls."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.page_watch import watched_page
from tests_browser.program_page import BACKENDS, expect_no_tensors, stop
from tests_browser.stage import (
    await_frames,
    coloured_pixels,
    count_colours,
    expect_on_first_screen,
    number_in,
    open_page,
    run_to,
    wait_for_number,
)

EPOCH = r"Epoch (\d+), training loss"
TEST_LOSS = r"test loss (\d\.\d+)$"
#: Keeps the first status line with a test loss, which the page may replace before a test reads it.
KEEP_FIRST_STATUS = """() => new MutationObserver((_, observer) => {
  const text = document.querySelector("#step")?.textContent ?? "";
  if (!text.includes("test loss")) return;
  document.body.dataset.first = text;
  observer.disconnect();
}).observe(document.body, { childList: true, subtree: true })"""
#: The red, green and blue of a pixel, whose place is a share of the canvas's width and height.
PIXEL = """(canvas, [x, y]) => Array.from(canvas.getContext("2d")
  .getImageData(x * canvas.width, y * canvas.height, 1, 1).data.slice(0, 3))"""


@pytest.fixture(scope="module", params=BACKENDS)
def page(request: pytest.FixtureRequest, chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page, open on each backend."""
    with watched_page(chromium) as page:
        open_page(page, f"{site_url}/playground/?backend={request.param}")
        yield page


def choose(page: Page, identifier: str, value: str) -> None:
    """Make a choice, which runs the program anew, and wait until it has learnt for an epoch."""
    page.locator("#step").evaluate("(step) => { step.textContent = ''; }")
    page.locator(f"#{identifier}").select_option(value)
    wait_for_number(page.locator("#step"), EPOCH, 1)


def test_it_learns_to_part_two_gaussians(page: Page):
    expect_on_first_screen(page)
    choose(page, "points", "gauss")
    stop(page)
    page.evaluate(KEEP_FIRST_STATUS)
    run_to(page, EPOCH, 40)
    stop(page)
    first = page.locator("body").get_attribute("data-first") or ""
    before = float(first.rpartition(" ")[2])
    assert number_in(page.locator("#step"), TEST_LOSS) < 0.1 < before
    assert {pixel[2] for pixel in coloured_pixels(page.locator("#plane"))} == {0, 1}
    # Those of class 1, which are blue, are at the top on the right.
    red, _, blue = page.locator("#plane").evaluate(PIXEL, [0.9, 0.1])
    assert blue > red + 50
    red, _, blue = page.locator("#plane").evaluate(PIXEL, [0.1, 0.9])
    assert red > blue + 50
    for canvas in ("#plane", "#network"):
        assert count_colours(page.locator(canvas)) > 100
    assert int(page.locator("#losses svg").get_attribute("data-points") or 0) > 5


def test_layers_and_neurons_are_added_and_removed(page: Page):
    run_to(page, EPOCH, 0)
    layers = page.locator("#layers")
    output = page.locator("#output")

    def shape_after(button: str) -> str:
        page.get_by_role("button", name=button, exact=True).click()
        return layers.get_attribute("data-neurons") or ""

    assert shape_after("Add a layer") == "6,4,2"
    assert shape_after("One neuron more in layer 3") == "6,4,3"
    assert shape_after("One neuron less in layer 1") == "5,4,3"
    assert page.locator("#layers [data-layer]:visible span").all_inner_texts() == ["5", "4", "3"]
    shape_after("Add a layer")
    expect(page.get_by_role("button", name="Add a layer")).to_be_disabled()
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 800})
    for _ in range(3):
        shape = shape_after("Remove a layer")
    assert shape == "5"
    shape_after("Remove a layer")
    expect(page.get_by_role("button", name="Remove a layer")).to_be_disabled()
    page.locator("#step").evaluate("(step) => { step.textContent = ''; }")
    assert shape_after("Add a layer") == "2"
    wait_for_number(page.locator("#step"), EPOCH, 1)
    expect(page.locator("#run-state")).to_have_text("Running")
    expect(output).to_have_text("")


def test_it_pauses_and_takes_one_epoch(page: Page):
    run_to(page, EPOCH, 0)
    pause, step = page.locator("#pause"), page.locator("#step")
    pause.click()
    expect(pause).to_have_text("Go on")
    paused_at = number_in(step, EPOCH)
    page.locator("#step-once").click()
    wait_for_number(step, EPOCH, paused_at + 1)
    await_frames(page, 60)
    assert number_in(step, EPOCH) <= paused_at + 4, "each third epoch is drawn"
    pause.click()
    expect(pause).to_have_text("Pause")
    wait_for_number(step, EPOCH, paused_at + 15)


def test_noise_activation_and_regularization_begin_anew(page: Page):
    choose(page, "activation", "relu")
    choose(page, "regularization", "l2 0.01")
    choose(page, "points", "spiral")
    page.locator("#step").evaluate("(step) => { step.textContent = ''; }")
    page.locator("#noise").press("ArrowRight")
    expect(page.locator("output[for=noise]")).to_have_text("5")
    wait_for_number(page.locator("#step"), EPOCH, 1)
    expect(page.locator("#run-state")).to_have_text("Running")


def test_nothing_is_left_of_it(page: Page):
    run_to(page, EPOCH, 0)
    expect_no_tensors(page)


def test_it_runs_in_firefox(firefox_page: Page, site_url: str):
    open_page(firefox_page, f"{site_url}/playground/?backend=wasm")
    wait_for_number(firefox_page.locator("#step"), EPOCH, 30)
    assert count_colours(firefox_page.locator("#network")) > 100
    stop(firefox_page)
