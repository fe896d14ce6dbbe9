"""The front page: its example, its chart of speeds, and what it says of the browser."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests_browser.page_watch import PageWatch
from tests_browser.test_digits import NO_SIMD, NO_WEBGL
from web.build import ROOT, WEB


def facts(page: Page, table: str) -> dict[str, str]:
    """Return a table of facts: its rows' answers by name."""
    expect(page.locator(f"#{table} tr").first).to_be_visible()
    rows = page.locator(f"#{table} tr").all()
    return {row.locator("th").inner_text(): row.locator("td").first.inner_text() for row in rows}


def check_backends(page: Page) -> None:
    """WebGL is chosen where a graphics processor draws; else the page says why it is not."""
    backends = facts(page, "backends")  # once Python has listed them
    by_software = "the processor draws" in page.locator("#backends").inner_text()
    chosen, other = ("wasm", "webgl") if by_software else ("webgl", "wasm")
    assert backends == {chosen: "chosen", other: "yes"}


def test_capabilities_are_listed(chromium_page: Page, site_url: str):
    chromium_page.goto(site_url)
    assert facts(chromium_page, "capabilities") == {
        "WebGL 2": "yes",
        "WebGL 1": "yes",
        "Float render targets": "yes",
        "WebAssembly SIMD": "yes",
        "WebAssembly relaxed SIMD": "yes",
        "WebAssembly threads": "yes",
        "WebAssembly JSPI": "yes",
        "WebGPU": chromium_page.evaluate("'gpu' in navigator ? 'yes' : 'no'"),
    }
    check_backends(chromium_page)


def test_capabilities_are_listed_in_firefox(firefox_page: Page, site_url: str):
    firefox_page.goto(site_url)
    check_backends(firefox_page)


def test_what_is_missing_is_said(chromium_page: Page, plain_site_url: str):
    chromium_page.add_init_script(NO_WEBGL)
    chromium_page.goto(plain_site_url)
    capabilities = facts(chromium_page, "capabilities")
    assert capabilities["WebGL 2"] == capabilities["Float render targets"] == "no"
    assert capabilities["WebAssembly threads"] == "no"
    assert facts(chromium_page, "backends") == {"webgl": "no", "wasm": "chosen"}
    expect(chromium_page.locator("#backends")).to_contain_text("WebGL 2 is not available")


def test_page_stands_where_no_backend_can_start(chromium_page: Page, site_url: str):
    chromium_page.add_init_script(NO_WEBGL + NO_SIMD)
    chromium_page.goto(site_url)
    assert facts(chromium_page, "backends") == {"webgl": "no", "wasm": "no"}


def test_page_without_javascript_says_so_and_loads_nothing(chromium: Browser, site_url: str):
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site_url)
        expect(page.locator("noscript .notice")).to_be_visible()
        expect(page.locator("#loading")).to_be_hidden()
        expect(page.locator("#source")).not_to_have_css("color", "rgba(0, 0, 0, 0)")


@pytest.fixture(scope="module")
def home(chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page, on which Run was clicked before Python was there."""
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    watch = PageWatch(page)
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/index.py", hold)
    page.goto(site_url)
    page.locator("#run").click()
    expect(page.locator("#run-state")).to_have_text("Runs as soon as Python is there")
    waiting[0].continue_()
    yield page
    errors = watch.take_errors()
    context.close()
    assert errors == []


def test_the_example_runs_as_soon_as_python_is_there(home: Page):
    expect(home.locator("#output")).to_have_text(
        re.compile(r"^loss \d+\.\d{4} on (wasm|webgl)\s*$")
    )
    expect(home.locator("#run-state")).to_have_text("Done")
    curves = home.locator("#plot polyline")
    expect(curves).to_have_count(2)
    assert curves.first.get_attribute("points") != curves.last.get_attribute("points")


def test_the_example_can_be_edited_and_stopped(home: Page):
    source, run, state = (home.locator(f"#{name}") for name in ("source", "run", "run-state"))
    expect(state).to_have_text("Done")
    source.fill("answer = 6 * 7\nprint(answer)\n1 / 0")
    expect(home.locator("#colours .number")).to_have_text(["6", "7", "1", "0"])
    source.press("Control+Enter")
    output = home.locator("#output")
    expect(output).to_have_text(
        re.compile(r"^42\s+Traceback.*line 3, in <module>\s+1 / 0\s.*ZeroDivisionError", re.DOTALL)
    )
    expect(output).not_to_contain_text("/lib/python")

    source.fill("answer = (")
    source.press("Control+Enter")
    expect(output).to_have_text(re.compile(r"^\s*File \"<program>\", line 1\s+answer = \("))

    source.fill("print('half', end='\\r')\nprint('\\x1b[1mwhole\\x1b[0m')\nexit()")
    source.press("Control+Enter")
    expect(output).to_have_text("whole\n")
    expect(state).to_have_text("Done")

    source.fill("import asyncio\nawait asyncio.sleep(1000)")
    run.click()
    expect(state).to_have_text("Running")
    source.fill("print('changed')")
    source.press("Control+Enter")
    expect(output).to_have_text("changed\n")

    source.fill("import asyncio\nawait asyncio.sleep(1000)")
    run.click()
    expect(state).to_have_text("Running")
    run.click()
    expect(state).to_have_text("Stopped")
    home.locator("#reset").click()
    expect(source).to_have_value(re.compile("^from plot import plot"))


def test_curves_have_gaps_where_numbers_are_missing(home: Page):
    expect(home.locator("#run-state")).not_to_have_text("Running")
    home.locator("#source").fill(
        "from plot import plot\nnan = float('nan')\nawait plot(range(6), [1, 2, nan, nan, 3, 4])"
    )
    home.locator("#run").click()
    lines = home.locator("#plot polyline")
    expect(lines).to_have_count(2)
    points = lines.evaluate_all("(lines) => lines.map((line) => line.points.length)")
    assert points == [2, 2]


def test_figures_have_headings_on_a_phone(home: Page):
    home.set_viewport_size({"width": 360, "height": 740})
    expect(home.get_by_role("columnheader", name="Times as fast")).to_be_visible()
    home.set_viewport_size({"width": 1280, "height": 720})


def test_speeds_are_shown_as_they_were_published(home: Page):
    published = json.loads((WEB / "benchmarks.json").read_text())
    expect(home.locator("#speed-conditions")).to_have_text(published["conditions"])
    rows = home.locator("#speed tbody tr")
    expect(rows).to_have_count(len(published["rows"]))
    for row, facts in zip(rows.all(), published["rows"], strict=True):
        expect(row.locator("th")).to_contain_text(facts["title"])
        boxes = [bar.bounding_box() for bar in row.locator(".bar i").all()]
        ours, theirs = (box["width"] for box in boxes if box is not None)
        assert ours / theirs == pytest.approx(facts["ours_ms"] / facts["theirs_ms"], rel=0.05)


def test_the_page_to_copy_is_copied(home: Page):
    home.get_by_role("button", name="Copy").click()
    expect(home.locator("#copy-state")).to_have_text("Copied")
    page = (ROOT / "docs/examples/hosts/micropip.html").read_text("utf-8")
    assert home.evaluate("navigator.clipboard.readText()") == page
