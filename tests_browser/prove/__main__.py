"""Run trials at their full lengths, and write `docs/reliability.md`.

What held with the same sources at the same length is not run again, so that an interrupted run goes
on where it was; `--again` runs it all the same. `--share 0.1` runs a tenth of each length.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

from tests_browser.browsers import (
    launch_chromium,
    launch_firefox,
    launch_playwright_webkit,
    start_webkit_driver,
)
from tests_browser.conftest import TEST_FOLDERS
from tests_browser.display import virtual_display
from tests_browser.prove.report import TRIALS, Record, read_records, write_records
from tests_browser.prove.trials import Trial
from tests_browser.python_page import (
    PlaywrightPythonPage,
    PythonInPageError,
    PythonPage,
    WebDriverPythonPage,
)
from web.build import ROOT, build_site, digest
from web.serve import serve

SOURCES = ("pkg", "wasm_build", "tests_browser/prove")


class BrowserStage:
    """Browsers and pages of one trial's own, started when they are first needed."""

    def __init__(self, playwright: Playwright, stack: ExitStack, urls: tuple[str, str]) -> None:
        """Take the driver, what closes everything, and the URLs of the isolated and plain site."""
        self._playwright = playwright
        self._stack = stack
        self._browsers: dict[str, Browser] = {}
        self._pages: dict[str, PythonPage] = {}
        self.site_url, self.plain_site_url = urls

    def python(self, browser: str) -> PythonPage:
        """Return the Python page of a browser."""
        if browser not in self._pages:
            self._pages[browser] = self._open(browser)
        return self._pages[browser]

    def browser(self, browser: str) -> Browser:
        """Return a browser that Playwright drives."""
        if browser not in self._browsers:
            launch = launch_chromium if browser == "chromium" else launch_firefox
            self._browsers[browser] = self._close_at_end(launch(self._playwright))
        return self._browsers[browser]

    def _close_at_end(self, browser: Browser) -> Browser:
        return self._stack.enter_context(contextlib.closing(browser))

    def _open(self, browser: str) -> PythonPage:
        if browser != "webkit":
            page = self.browser(browser).new_page()
            return PlaywrightPythonPage(browser, self.site_url, page)
        webkit = launch_playwright_webkit(self._playwright)
        if webkit is not None:
            page = self._close_at_end(webkit).new_page()
            return PlaywrightPythonPage("webkit", self.site_url, page)
        driver = start_webkit_driver()
        self._stack.callback(driver.quit)
        return WebDriverPythonPage("webkit", self.site_url, driver)


@contextmanager
def open_stage(playwright: Playwright, site: Path) -> Iterator[BrowserStage]:
    """Serve the site both ways, and close at the end what a trial has opened."""
    with (
        ExitStack() as stack,
        serve(site, mounts=TEST_FOLDERS) as isolated,
        serve(site, isolated=False, mounts=TEST_FOLDERS) as plain,
    ):
        yield BrowserStage(playwright, stack, (isolated, plain))


def try_out(playwright: Playwright, site: Path, trial: Trial, length: int, sources: str) -> Record:
    """Run a trial, and say what came of it."""
    began = time.monotonic()
    try:
        with open_stage(playwright, site) as stage:
            text, holds = trial.check(stage, trial, length), True
    except (AssertionError, PythonInPageError, Error) as error:
        lines = (str(error).strip() or repr(error)).splitlines()
        text, holds = lines[-1][:200].replace("|", "\\|"), False
        print(error, file=sys.stderr)
    seconds = round(time.monotonic() - began)
    return Record(
        trial.name, length, f"{datetime.now(UTC):%Y-%m-%d}", seconds, holds, text, sources
    )


def is_done(record: Record | None, length: int, sources: str) -> bool:
    """Whether a trial held at this length with these sources."""
    return (
        record is not None
        and record.holds
        and record.length >= length
        and record.sources == sources
    )


def main() -> None:
    """Run trials until all are done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the beginnings of trials' names; default: all")
    parser.add_argument("--share", type=float, default=1.0, help="of the full length")
    parser.add_argument("--again", action="store_true", help="also run what held before")
    options = parser.parse_args()
    chosen = [
        trial
        for trial in TRIALS.values()
        if not options.names or trial.name.startswith(tuple(options.names))
    ]
    if not chosen:
        sys.exit(f"No trial's name begins so. There are: {', '.join(TRIALS)}")
    sources = digest(ROOT / name for name in SOURCES)[:12]
    failed = []
    site = build_site()  # once, as each record makes the documentation out of date
    with virtual_display(), sync_playwright() as playwright:
        for trial in chosen:
            length = max(round(trial.length * options.share), 1)
            if not options.again and is_done(read_records().get(trial.name), length, sources):
                continue
            record = try_out(playwright, site, trial, length, sources)
            write_records({**read_records(), trial.name: record})
            state = "holds" if record.holds else "FAILS"
            print(f"{trial.name}, {length:,} {trial.unit}: {state} ({record.seconds} s)")
            print(f"  {record.text}", flush=True)
            failed += [] if record.holds else [trial.name]
    if failed:
        sys.exit(f"These failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
