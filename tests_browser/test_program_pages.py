"""What pages with a program beside what it shows have in common: runs, errors, choices, memory."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.page_watch import watched_page
from tests_browser.program_page import EDITOR, expect_no_tensors, run
from tests_browser.test_repl import ON_A_MAC


@pytest.fixture(scope="module")
def page(chromium: Browser, site_url: str) -> Iterator[Page]:
    """The page of t-SNE."""
    with watched_page(chromium) as page:
        page.goto(f"{site_url}/tsne/?backend=wasm")
        expect(page.locator("#run-state")).to_have_text("Running")
        yield page


def test_it_is_edited_and_run_again(page: Page):
    run(page, "print(6 * 7)")
    expect(page.locator("#output")).to_have_text("42\n")
    expect(page.locator("#run-state")).to_have_text("Done")
    page.locator("#reset").click()
    expect(page.locator(EDITOR)).to_contain_text("load_digits")


@pytest.mark.parametrize("source, line", [("x = 1\n1 / 0", 2), ("def f(:", 1)])
def test_its_error_is_marked_at_its_line(page: Page, source: str, line: int):
    run(page, source)
    expect(page.locator("#run-state")).to_have_text("It ended with an error")
    expect(page.locator("#editor .error-line")).to_have_count(1)
    expect(page.locator("#editor .error-line-number")).to_have_text(str(line))
    expect(page.locator("#output")).to_contain_text("Error")
    page.locator(EDITOR).press("End")
    page.keyboard.type(" ")
    expect(page.locator("#editor .error-line")).to_have_count(0)


def test_it_runs_by_the_keyboard_of_a_mac(chromium: Browser, site_url: str):
    with chromium.new_context(service_workers="block", reduced_motion="reduce") as context:
        page = context.new_page()
        page.add_init_script(ON_A_MAC)
        page.goto(f"{site_url}/tsne/?backend=wasm")
        for key in ("Control+Enter", "Meta+Enter"):
            expect(page.locator("#run")).to_have_text("Run")
            expect(page.locator("#run")).to_be_enabled()
            page.locator(EDITOR).press(key)
            expect(page.locator("#run")).to_have_text("Stop")
            page.locator("#run").click()


def test_the_keyboard_runs_what_was_changed_during_a_run(page: Page):
    run(page, "from program import frames\nasync for frame in frames(): pass")
    expect(page.locator("#run-state")).to_have_text("Running")
    editor = page.locator(EDITOR)
    editor.press("Control+Home")
    page.keyboard.insert_text("print('changed')\n")
    editor.press("Control+Enter")
    expect(page.locator("#output")).to_have_text("changed\n")
    expect(page.locator("#run-state")).to_have_text("Running")


def test_a_run_that_is_replaced_before_it_began(page: Page):
    run(page, "print('first')")
    expect(page.locator("#run-state")).to_have_text("Done")
    twice = "(button) => [1, 2].forEach(() => button.dispatchEvent(new Event('rerun')))"
    page.locator("#run").evaluate(twice)
    run(page, "print('second')")
    expect(page.locator("#output")).to_have_text("second\n")


def test_a_run_that_is_stopped_before_it_began(page: Page):
    run(page, "1 / 0")
    expect(page.locator("#run-state")).to_have_text("It ended with an error")
    page.locator("#run").evaluate("(button) => [1, 2].forEach(() => button.click())")
    expect(page.locator("#run-state")).to_have_text("Stopped")


@pytest.mark.parametrize("path", ["tsne", "linear", "worker"])
def test_a_backend_that_is_not_here_is_not_used(chromium_page: Page, site_url: str, path: str):
    chromium_page.goto(f"{site_url}/{path}/?backend=nothing")
    expect(chromium_page.locator("#loading")).to_be_hidden()
    expect(chromium_page.locator("main > .error")).to_have_count(0)


def test_it_runs_anew_on_another_backend(page: Page):
    run(page, "from program import frames\nasync for frame in frames(): pass")
    expect(page.locator("#facts")).to_contain_text("WebAssembly's memory")
    page.locator("#backend").select_option("webgl")
    expect(page.locator("#facts")).to_contain_text(
        re.compile(r"ms a frame, \d+ frames a second, \d+ kB on the GPU")
    )
    expect(page.locator("#run-state")).to_have_text("Running")
    page.locator("#backend").select_option("wasm")
    expect(page.locator("#facts")).to_contain_text("WebAssembly's memory")


def test_what_it_asked_for_ends_with_it(page: Page):
    run(
        page,
        """
from page import element
from program import at_end, frames, on
import webtensor as wt

kept = wt.ones((1000, 1000))
on(element("step"), "click", lambda event: print("heard"))
at_end(lambda: print("ended"))
async for frame in frames():
    pass
""",
    )
    output = page.locator("#output")
    expect(page.locator("#run-state")).to_have_text("Running")
    expect(page.locator("#facts")).to_contain_text("4.0 MB")
    page.locator("#step").dispatch_event("click")
    expect(output).to_have_text("heard\n")
    page.locator("#run").click()
    expect(page.locator("#run-state")).to_have_text("Stopped")
    expect(output).to_have_text("heard\nended\n")
    page.locator("#step").dispatch_event("click")
    expect_no_tensors(page)


def test_a_worker_that_cannot_be_fetched_is_told(chromium: Browser, site_url: str):
    with chromium.new_context(service_workers="block") as context:
        page = context.new_page()
        page.route("**/worker/worker.js*", lambda route: route.abort())
        page.goto(f"{site_url}/worker/?backend=wasm")
        start = page.locator("#worker-start")
        expect(start).to_be_enabled()
        start.click()
        expect(page.locator("#worker-state")).to_have_text("The worker failed.")
        expect(page.get_by_role("alert")).to_contain_text("the worker failed: it could not start")
        expect(start).to_be_enabled()


def test_it_waits_where_less_motion_is_preferred(chromium: Browser, site_url: str):
    with chromium.new_context(service_workers="block", reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(f"{site_url}/tsne/?backend=wasm")
        expect(page.locator("#run")).to_be_enabled()
        expect(page.locator("#facts")).to_contain_text("0 kB")
        expect(page.locator("#run-state")).to_have_text("Press Run")
        page.locator("#run").click()
        expect(page.locator("#run-state")).to_have_text("Running")
