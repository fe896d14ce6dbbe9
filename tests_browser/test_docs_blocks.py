"""The documentation in a browser: its listings run, by their buttons, too; search finds names."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests_browser.python_page import PythonPage
from tests_py.listings import PAGES, python_listings

#: Pages with listings for browsers alone; their other listings run there, too.
BROWSER_PAGES = [
    page
    for page in PAGES
    if any("browser" in listing.words for listing in python_listings(page, excluded="cpython"))
]

RUN = """
from contextlib import redirect_stdout
from io import StringIO
from pyodide.code import eval_code_async

namespace = {"__name__": "__main__"}
printed = []
for text in texts:
    output = StringIO()
    with redirect_stdout(output):
        await eval_code_async(text, namespace)
    printed.append(output.getvalue())
wt.set_backend(backend)
printed
"""


@pytest.mark.parametrize("page", BROWSER_PAGES)
def test_listings_run(chromium_python: PythonPage, page: str):
    listings = python_listings(page, excluded="cpython")
    texts = [listing.text for listing in listings]
    program = "import webtensor as wt\nbackend = wt.get_backend()\n" + RUN
    for listing, printed in zip(listings, chromium_python.run(program, texts=texts), strict=True):
        assert listing.printed in (None, printed), f"{page}:{listing.line}"


def test_a_button_runs_the_listings_up_to_it(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/docs/tutorial.html")
    buttons = chromium_page.get_by_role("button", name="Run")
    buttons.nth(3).click()
    outputs = chromium_page.locator(".run-output")
    expect(outputs.nth(3)).to_have_text("[1.0, 1.0, 1.0]\n")
    expect(outputs.first).to_have_text("(2, 3) float32\n")
    expect(outputs.nth(4)).to_be_hidden()


def test_charts_of_a_listing_are_drawn(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/docs/guides/charts.html")
    chromium_page.get_by_role("button", name="Run").nth(1).click()
    outputs = chromium_page.locator(".run-output")
    expect(outputs.nth(1)).to_contain_text("<LineChart line chart; 3 points")
    charts = outputs.first.locator("svg")
    expect(charts).to_have_count(5)
    expect(charts.first).to_have_attribute("aria-label", re.compile("^Training: line chart; "))
    expect(outputs.first.locator("table")).to_have_count(1)
    expect(outputs.first).not_to_contain_text("printed nothing")


def test_an_example_of_the_reference_runs(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/docs/api/webtensor.signal.html")
    example = chromium_page.locator(".highlight-pycon, .doctest").first
    button = chromium_page.get_by_role("button", name="Run").first
    expect(example).to_contain_text(">>> import webtensor as wt")
    button.click()
    expect(chromium_page.locator(".run-output").first).to_contain_text("[")
    assert chromium_page.locator(".run-output.failed").count() == 0


def test_examples_that_cannot_run_in_the_page_have_no_button(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/docs/api/webtensor.webgl.html")
    examples = chromium_page.locator(".doctest")
    expect(examples).to_contain_text(["webgl.explain", "force_half_float", "set_context"])
    with_button = chromium_page.locator(".doctest:has(+ button.run)")
    expect(with_button).to_contain_text(["webgl.explain"])
    expect(with_button).to_have_count(1)


def test_an_error_is_shown(chromium_page: Page, site_url: str):
    failing = "export const startPython = () => { throw new Error('out of reach') }"
    chromium_page.route(
        "**/shared/loader.js",
        lambda route: route.fulfill(body=failing, content_type="text/javascript"),
    )
    chromium_page.goto(f"{site_url}/docs/tutorial.html")
    chromium_page.get_by_role("button", name="Run").first.click()
    expect(chromium_page.locator(".run-output.failed")).to_have_text("out of reach")


def test_search_finds_names_and_texts(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/docs/search.html?q=conv2d_transpose")
    results = chromium_page.locator("#search-results li")
    expect(results.first).to_contain_text("conv2d_transpose")
    for words, title in (
        ("GitHub+Pages+headers", "Deploying"),
        ("gatherND", "Coming from TensorFlow.js"),
        ("memory+leak", "Memory"),
    ):
        chromium_page.goto(f"{site_url}/docs/search.html?q={words}")
        expect(results.filter(has_text=title).first).to_be_visible()


@pytest.mark.parametrize("path", ["index.html", "api/webtensor.linalg.html", "tutorial.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone(chromium_page: Page, site_url: str, path: str, scheme: str):
    chromium_page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    chromium_page.set_viewport_size({"width": 360, "height": 740})
    chromium_page.goto(f"{site_url}/docs/{path}")
    expect(chromium_page.locator("h1")).to_have_count(1)
    assert chromium_page.evaluate("document.documentElement.scrollWidth") <= 360
