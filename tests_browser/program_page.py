"""What tests do on pages with a program: run another one, and see what a stopped one leaves."""

import pytest
from playwright.sync_api import Page, expect

#: What pages compute on; `make test` tries one.
BACKENDS = ("wasm", pytest.param("webgl", marks=pytest.mark.pages_on_webgl))
EDITOR = "#editor .cm-content"
COUNT_TENSORS = "import webtensor as wt\nprint(wt.memory()['num_tensors'])"


def run(page: Page, source: str) -> None:
    """Stop what runs, and run another program."""
    stop(page)
    page.locator("#output").evaluate("(output) => output.replaceChildren()")
    editor = page.locator(EDITOR)
    editor.press("Control+a")
    editor.press("Delete")
    page.keyboard.insert_text(source)
    editor.press("Control+Enter")


def stop(page: Page) -> None:
    """Stop what runs."""
    button = page.locator("#run")
    # In one task of the page: a program that ended meanwhile must not be started anew.
    button.evaluate("(button) => { if (button.textContent.trim() === 'Stop') button.click(); }")
    expect(button).to_have_text("Run")


def expect_no_tensors(page: Page) -> None:
    """Stop what runs, and expect that no tensor is left of it."""
    run(page, COUNT_TENSORS)
    expect(page.locator("#output")).to_have_text("0\n")
