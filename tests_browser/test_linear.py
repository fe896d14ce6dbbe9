"""The linear page: the file that it shows is the file that it runs."""

import re

import pytest
from playwright.sync_api import Page, expect

from web.build import WEB

LISTING = WEB / "linear" / "linear.py"


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
def test_it_predicts_nine_for_five(chromium_page: Page, site_url: str, backend: str):
    chromium_page.goto(f"{site_url}/linear/?backend={backend}")
    output = chromium_page.locator("#output")
    expect(output).to_contain_text("x = 5")
    text = output.inner_text()
    match = re.search(r"x = 5 +prediction (\d\.\d+)", text)
    assert match is not None, text
    assert float(match[1]) == pytest.approx(9, abs=0.05)

    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", text)]
    assert losses == sorted(losses, reverse=True)
    expect(chromium_page.get_by_role("button", name="Run again")).to_be_enabled()
    assert chromium_page.locator("#made-on").inner_text().startswith(f"Computed on {backend}")
    plot = chromium_page.locator("#plot svg")
    assert plot.locator("circle").count() == 5
    assert re.search(r"prediction for 5: (8\.9|9\.0)", plot.get_attribute("aria-label") or "")


def test_it_shows_the_file_that_it_runs(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/linear/?backend=wasm")
    source = chromium_page.locator("#source")
    expect(source.locator(".keyword").first).to_be_visible()
    assert source.text_content() == LISTING.read_text()
    assert source.locator(".keyword").count() > 5


def test_it_can_be_run_again(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/linear/?backend=wasm")
    again = chromium_page.get_by_role("button", name="Run again")
    expect(again).to_be_enabled()
    output = chromium_page.locator("#output")
    first = output.inner_text()
    output.evaluate("(output) => output.textContent = ''")
    again.click()
    expect(output).to_have_text(first)


def test_it_runs_in_firefox(firefox_page: Page, site_url: str):
    firefox_page.goto(f"{site_url}/linear/")
    expect(firefox_page.locator("#output")).to_contain_text(re.compile(r"prediction (8\.9|9\.0)"))
