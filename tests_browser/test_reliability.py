"""Trials of `make prove` at short lengths; see `tests_browser/prove`."""

import pytest
from playwright.sync_api import Browser

from tests_browser.prove.report import PAGE, TRIALS, page, read_records
from tests_browser.python_page import PythonPage


class SharedStage:
    """The browsers and pages that tests share."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        """Take the test's request, which knows the fixtures."""
        self._request = request
        self.site_url: str = request.getfixturevalue("site_url")
        self.plain_site_url: str = request.getfixturevalue("plain_site_url")

    def python(self, browser: str) -> PythonPage:
        """Return the Python page of a browser, whose errors fail the test."""
        python: PythonPage = self._request.getfixturevalue(f"{browser}_python")
        return python

    def browser(self, browser: str) -> Browser:
        """Return a browser that Playwright drives."""
        started: Browser = self._request.getfixturevalue(browser)
        return started


#: The lengths of those that run with every change.
LENGTHS = {
    "training-chromium-wasm": 600,
    "training-chromium-webgl": 600,
    "contexts-chromium-webgl": 100,
    "threads-chromium-wasm": 40,
    "reload-chromium-wasm": 1,
    "worker-chromium-wasm": 1,
    "tabs-chromium-wasm": 4,
    "hidden-chromium-wasm": 2,
    "quota-chromium-wasm": 2,
    **{f"network-{browser}-wasm": 30 for browser in ("chromium", "firefox", "webkit")},
    **{
        f"graphs-{browser}-{backend}": 10
        for browser in ("chromium", "firefox", "webkit")
        for backend in ("wasm", "webgl")
    },
}


@pytest.mark.parametrize(
    "browser, name", [pytest.param(TRIALS[name].browser, name, id=name) for name in LENGTHS]
)
def test_short_trial(request: pytest.FixtureRequest, browser: str, name: str):
    trial = TRIALS[name]
    trial.check(SharedStage(request), trial, LENGTHS[name])


def test_page_shows_what_was_recorded():
    assert PAGE.read_text("utf-8") == page(read_records())
