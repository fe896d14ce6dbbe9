"""The page of forecasts: it beats the naive guess, and says what is wrong with a file."""

import re
from collections.abc import Iterator
from math import pi, sin

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.page_watch import watched_page
from tests_browser.program_page import expect_no_tensors

#: Two waves, of which the page is to take the second by default.
WAVES = "\n".join(
    ["number,town,slow,fast"]
    + [f"{row},Ulm,{sin(row / 9):.4f},{10 + 3 * sin(2 * pi * row / 7):.4f}" for row in range(300)]
)

#: Goes back to the sample, and stops its training after an epoch, though a test be slow.
CLICK_AND_STOP = """async (sample) => {
  sample.click();
  const verdict = document.getElementById("verdict");
  const hasLearned = () => sample.hidden && verdict.textContent.includes("Epoch");
  while (!hasLearned()) await new Promise(requestAnimationFrame);
  document.getElementById("run").click();
}"""


@pytest.fixture(scope="module")
def page(chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page, with WebAssembly."""
    with watched_page(chromium) as page:
        page.goto(f"{site_url}/timeseries/?backend=wasm")
        expect(page.locator("#verdict")).to_contain_text("Epoch")
        yield page


def wait_for_end(page: Page) -> float:
    """Wait for the end of a training, and return how much less the error is than the naive one."""
    expect(page.locator("#run-state")).to_have_text("Done")
    verdict = page.locator("#verdict").inner_text()
    errors = re.search(r"off by ([\d.]+) on average.* off by ([\d.]+):", verdict)
    less = re.search(r"error is (\d+)% less", verdict)
    assert errors, verdict
    assert less, verdict
    error, naive = map(float, errors.groups())
    assert 1 - error / naive == pytest.approx(int(less[1]) / 100, abs=0.02)
    return 1 - error / naive


def choose(page: Page, name: str, content: bytes) -> None:
    page.locator("#file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def test_it_beats_the_naive_guess_on_the_sample(page: Page):
    assert wait_for_end(page) > 0.4
    chart = page.locator("#forecast svg")
    expect(chart).to_have_attribute("aria-label", re.compile("one row ahead: 146 points"))
    expect(chart).to_have_attribute("aria-label", re.compile("forecast: 29 points"))
    losses = page.locator("#losses svg")
    expect(losses).to_have_attribute("aria-label", re.compile("error in training.* 50 points"))
    assert losses.locator("text").get_by_text("50", exact=True).count() == 1  # the last epoch
    assert page.locator("#column option").all_inner_texts() == ["temperature", "hires"]


def test_it_learns_a_file_of_the_visitor(page: Page):
    choose(page, "waves.csv", WAVES.encode())
    expect(page.locator("#source")).to_have_text("From waves.csv.")
    expect(page.locator("#column")).to_have_value("fast")
    assert wait_for_end(page) > 0.8  # it is a sine without noise
    page.locator("#column").select_option("number")
    expect(page.locator("#verdict")).to_contain_text("Guessing the row before is off by 1:")


def test_it_learns_numbers_whose_squares_are_too_large(page: Page):
    rows = "\n".join(f"{'-' * (row % 2)}1e30" for row in range(200))
    choose(page, "large.csv", f"y\n{rows}".encode())
    verdict = page.locator("#verdict")
    expect(verdict).to_contain_text(re.compile(r"off by \S+e\+2\d on.*by 2e\+30: .*\d% less"))


def test_it_says_what_is_wrong_with_a_file_that_is_dropped(page: Page):
    transfer = page.evaluate_handle(
        """() => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(2e7)], "long.csv"));
          return transfer;
        }"""
    )
    page.locator("#stage").dispatch_event("drop", {"dataTransfer": transfer})
    expect(page.locator("#problem")).to_have_text(
        "long.csv has 20 MB, but this page reads tables of at most 10 MB."
    )
    choose(page, "empty.csv", b"")
    expect(page.locator("#problem")).to_have_text("empty.csv is empty.")
    expect(page.locator("#forecast svg")).to_have_count(0)
    expect(page.locator("#run-state")).to_have_text("It ended with an error")
    choose(page, "waves.csv", WAVES.encode())
    expect(page.locator("#problem")).to_be_hidden()


def test_nothing_is_left_of_a_run_on_the_sample_that_is_stopped(page: Page):
    choose(page, "waves.csv", WAVES.encode())
    expect(page.locator("#sample")).to_be_visible()
    page.locator("#network").select_option("GRU")
    page.locator("#sample").evaluate(CLICK_AND_STOP)
    expect(page.locator("#column")).to_have_value("hires")
    expect(page.locator("#sample")).to_be_hidden()
    expect(page.locator("#run-state")).to_have_text("Stopped")
    expect_no_tensors(page)


@pytest.mark.pages_on_webgl
def test_it_learns_on_the_gpu(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/timeseries/?backend=webgl")
    expect(chromium_page.locator("#facts")).to_contain_text("on the GPU")
    expect(chromium_page.locator("#verdict")).to_contain_text(re.compile(r"Epoch \d+: .* less\."))


def test_it_learns_in_firefox(firefox_page: Page, site_url: str):
    firefox_page.goto(f"{site_url}/timeseries/?backend=wasm")
    expect(firefox_page.locator("#verdict")).to_contain_text(re.compile(r"Epoch \d+: .* less\."))
