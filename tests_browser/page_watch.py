"""Notices what goes wrong in a page: console errors and uncaught exceptions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page

#: Not every browser writes to the console what a page's Content-Security-Policy forbids.
REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.effectiveDirective} forbids ${event.blockedURI}`));
"""
SCREENSHOTS = Path(__file__).resolve().parent.parent / "dist" / "screenshots"


class PageWatch:
    """Collects a Playwright page's console errors and uncaught exceptions."""

    def __init__(self, page: Page) -> None:
        """Start listening to `page`."""
        self.page = page
        self._errors: list[str] = []
        page.add_init_script(REPORT_VIOLATIONS)
        page.on("console", self._on_console)
        page.on("pageerror", self._on_page_error)

    def take_errors(self) -> list[str]:
        """Return the errors since the last call, and forget them."""
        # An event may still be on its way; one trip to the page brings it in.
        self.page.evaluate("0")
        errors, self._errors = self._errors, []
        return errors

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            location = message.location
            self._errors.append(f"{message.text} ({location['url']}:{location['lineNumber']})")

    def _on_page_error(self, error: Error) -> None:
        self._errors.append(str(error))


@contextmanager
def watched_page(browser: Browser, **options: Any) -> Iterator[Page]:
    """Open a page in a context of its own, without a service worker; errors in it are failures.

    ``options`` are those of the context.
    """
    with browser.new_context(service_workers="block", **options) as context:
        page = context.new_page()
        watch = PageWatch(page)
        yield page
        assert watch.take_errors() == []


def screenshot_path(test: pytest.Item, browser_name: str) -> Path:
    """Name the picture of a failed test; its folder exists afterwards."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    name = "".join(letter if letter.isalnum() else "_" for letter in test.name)
    return SCREENSHOTS / f"{test.path.stem}-{name}-{browser_name}.png"
