"""The page of the cart and its pole: both ways learn in a worker, which Stop ends."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.browsers import PATIENCE_MS
from tests_browser.page_watch import watched_page
from tests_browser.program_page import run, stop
from tests_browser.stage import NOTE_TEXTS

VERDICT = re.compile(r"stand for (\d\.\d) s by policy gradients.* and (\d\.\d) s by evolution")
#: Keeps what the page says, which a worker may replace before a test reads it.
KEEP_VERDICTS = f"""addEventListener("DOMContentLoaded", () =>
  ({NOTE_TEXTS})(document.getElementById("verdict")))"""
#: How many pixels of a canvas are drawn, and the sum of their columns.
LOOK = """(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const drawn = [...Array(width * height).keys()].filter((pixel) => data[4 * pixel + 3] > 0);
  return [drawn.length, drawn.reduce((sum, pixel) => sum + (pixel % width), 0)];
}"""


@pytest.fixture(scope="module")
def page(chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page, with WebAssembly."""
    with watched_page(chromium) as page:
        page.add_init_script(KEEP_VERDICTS)
        page.goto(f"{site_url}/reinforce/?backend=wasm")
        expect(page.locator("#run-state")).to_have_text("Running")
        yield page


def means(page: Page) -> list[float]:
    """Wait for the first turns, and return for how many seconds poles stand by both ways."""
    verdict = page.locator("#verdict")
    expect(verdict).to_have_text(VERDICT)
    return means_in(verdict.inner_text())


def means_in(verdict: str) -> list[float]:
    """Return for how many seconds poles stand by both ways."""
    match = VERDICT.search(verdict)
    assert match
    return [float(seconds) for seconds in match.groups()]


def test_both_ways_learn(page: Page):
    means(page)
    first = next(filter(VERDICT.search, page.evaluate("texts")))
    assert means_in(first)[0] < 1.5, "it has not learned yet"
    canvases = [page.locator(f"#{way}") for way in ("gradients", "evolution")]
    looks = [canvas.evaluate(LOOK) for canvas in canvases]
    for canvas, (pixels, columns) in zip(canvases, looks, strict=True):
        assert pixels > 500
        page.wait_for_function(
            f"(before) => ({LOOK})(before.canvas)[1] !== before.columns",
            arg={"canvas": canvas.element_handle(), "columns": columns},
        )
    expect(page.locator("#run-state")).to_have_text("Done")
    assert min(means(page)) > 2.5
    chart = page.locator("#lengths > svg")
    expect(chart).to_have_attribute("aria-label", re.compile("policy gradients: 40 points"))
    expect(chart).to_have_attribute("aria-label", re.compile("evolution: 40 points"))
    expect(page.locator("#facts")).to_have_text(
        re.compile(r"A worker: \d+ ms a report, \d\.\d MB in WebAssembly's memory")
    )


def test_stop_ends_the_worker_while_it_computes(page: Page):
    with page.expect_worker() as starting:  # the last run's workers may not be closed yet
        run(page, "print('computing')\nwhile True: pass")
    expect(page.locator("#output")).to_have_text("computing\n")
    with starting.value.expect_event("close"):
        stop(page)
    expect(page.locator("#run-state")).to_have_text("Stopped")


def test_an_error_in_the_worker_is_marked_at_its_line(page: Page):
    run(page, "print(6 * 7)\n1 / 0")
    expect(page.locator("#run-state")).to_have_text("It ended with an error")
    expect(page.locator("#output")).to_contain_text("42\nTraceback")
    expect(page.locator("#editor .error-line-number")).to_have_text("2")


def test_the_page_says_why_a_worker_fails(chromium_page: Page, site_url: str):
    broken = "raise RuntimeError('out of order')"
    chromium_page.route("**/worker_session.py", lambda route: route.fulfill(body=broken))
    chromium_page.goto(f"{site_url}/reinforce/?backend=wasm")
    state = chromium_page.locator("#run-state")
    expect(state).to_have_text("It ended with an error")
    expect(chromium_page.locator("#output")).to_contain_text("RuntimeError: out of order")
    deadline = time.monotonic() + PATIENCE_MS / 1000  # a worker that is ended closes later
    while chromium_page.workers:
        assert time.monotonic() < deadline, [worker.url for worker in chromium_page.workers]
        chromium_page.wait_for_timeout(50)


@pytest.mark.pages_on_webgl
def test_it_learns_on_the_gpu(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/reinforce/?backend=webgl")
    assert len(means(chromium_page)) == 2
    expect(chromium_page.locator("#facts")).to_contain_text("on the GPU")


def test_who_prefers_reduced_motion_sees_the_end_of_an_episode(chromium_page: Page, site_url: str):
    chromium_page.emulate_media(reduced_motion="reduce")
    chromium_page.goto(f"{site_url}/reinforce/?backend=wasm")
    chromium_page.locator("#run").click()  # it does not run by itself then
    means(chromium_page)
    stop(chromium_page)
    canvas = chromium_page.locator("#gradients")
    look = canvas.evaluate(LOOK)
    for _ in range(3):
        chromium_page.evaluate("new Promise(requestAnimationFrame)")
        assert canvas.evaluate(LOOK) == look


def test_it_learns_in_firefox(firefox_page: Page, site_url: str):
    firefox_page.goto(f"{site_url}/reinforce/?backend=wasm")
    assert len(means(firefox_page)) == 2
