"""Python in a browser's page: `PythonPage.run(source)` runs it in Pyodide and returns its value.

A page is booted once per browser and shared by all tests; every run gets fresh globals, but
modules, and with them webtensor's state, live on until `reload`. A test that leaves a page which
others could not use says so by `spoil`. Playwright drives Chromium and Firefox (and its own
WebKit), Selenium drives WebKitGTK; tests needn't know which.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any, Self

from playwright.sync_api import Page
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

from tests_browser.page_watch import PageWatch

SECONDS_TO_BOOT = 120
SECONDS_TO_RUN = 600
BLANK_PAGE = "/tests/blank.html"
#: Source for a page: `await until(condition)` waits for a condition, at most two minutes, and
#: returns whether it holds.
UNTIL = """
import asyncio

async def until(condition):
    for _ in range(6000):
        await asyncio.sleep(0.02)
        if condition():
            return True
    return False
"""


def importing(module: ModuleType, name: str) -> str:
    """Return source for a page, which imports a function of a module, and compiles that once."""
    assert module.__file__ is not None
    file = Path(module.__file__)
    return f"""
import sys
from types import ModuleType

if "tests_{file.stem}" not in sys.modules:
    sys.modules["tests_{file.stem}"] = ModuleType("tests_{file.stem}")
    exec({file.read_text("utf-8")!r}, vars(sys.modules["tests_{file.stem}"]))
from tests_{file.stem} import {name}
"""


class PythonInPageError(AssertionError):
    """Python raised in the page; the message is its traceback there."""


class PythonPage(ABC):
    """One page with Pyodide and webtensor's wheel."""

    def __init__(self, browser_name: str, base_url: str, path: str = BLANK_PAGE) -> None:
        """Name the browser, the server and its page; `reload` then boots Python."""
        self.browser_name = browser_name
        self.base_url = base_url
        self.path = path
        self._is_spoilt = False

    def run(self, source: str, /, **values: Any) -> Any:
        """Run Python source and return the value of its last expression, which must be JSON-able.

        The source may use `await`. `values` become its global variables, carried as JSON. NaN and
        infinities pass both ways.
        """
        self._renew()
        answer = json.loads(self._call("runPython", dedent(source), json.dumps(values)))
        if "error" in answer:
            raise PythonInPageError(f"in {self.browser_name}:\n{answer['error']}")
        return answer["value"]

    def reload(self, query: str = "") -> None:
        """Load the page anew, with a query such as "?wtflags=…", and boot Python in it."""
        self._is_spoilt = False
        self._open(f"{self.base_url}{self.path}{query}")
        self._call("waitForPython")

    def spoil(self) -> None:
        """Have the page loaded anew when it is used again, unless a test does that anyway."""
        self._is_spoilt = True

    @contextmanager
    def loaded_with(self, query: str = "") -> Iterator[Self]:
        """Load the page anew with a query; whoever uses it later gets it without."""
        self.reload(query)
        try:
            yield self
        finally:
            self.spoil()

    def _renew(self) -> None:
        if self._is_spoilt:
            self.reload()

    def evaluate(self, script: str) -> Any:
        """Evaluate a JavaScript expression, awaiting it if it is a promise."""
        self._renew()
        return self._evaluate(script)

    @abstractmethod
    def take_errors(self) -> list[str]:
        """Return the console and page errors since the last call, and forget them."""

    @abstractmethod
    def screenshot(self, path: Path) -> None:
        """Write a picture of the page to a PNG file."""

    @abstractmethod
    def _evaluate(self, script: str) -> Any:
        """Evaluate a JavaScript expression in the page as it is."""

    @abstractmethod
    def _open(self, url: str) -> None:
        """Navigate to a URL."""

    @abstractmethod
    def _call(self, function: str, *arguments: str) -> Any:
        """Call a global asynchronous JavaScript function with strings, and await its value."""


class PlaywrightPythonPage(PythonPage):
    """Python in a page that Playwright drives."""

    def __init__(
        self, browser_name: str, base_url: str, page: Page, path: str = BLANK_PAGE
    ) -> None:
        """Boot Python in `page`."""
        super().__init__(browser_name, base_url, path)
        self._page = page
        self.watch = PageWatch(page)
        self.reload()

    @property
    def page(self) -> Page:
        """The page itself."""
        self._renew()
        return self._page

    def take_errors(self) -> list[str]:
        """Return the console and page errors since the last call, and forget them."""
        return self.watch.take_errors()

    def screenshot(self, path: Path) -> None:
        """Write a picture of the page to a PNG file."""
        self._page.screenshot(path=path)

    def _evaluate(self, script: str) -> Any:
        return self._page.evaluate(script)

    def _open(self, url: str) -> None:
        self._page.goto(url)

    def _call(self, function: str, *arguments: str) -> Any:
        return self._page.evaluate(
            "([name, ...values]) => window[name](...values)", [function, *arguments]
        )


class WebDriverPythonPage(PythonPage):
    """Python in a page that Selenium drives; the driver itself is `driver`."""

    def __init__(self, browser_name: str, base_url: str, driver: webdriver.WebKitGTK) -> None:
        """Boot Python in the driver's window."""
        super().__init__(browser_name, base_url)
        self.driver = driver
        driver.set_script_timeout(SECONDS_TO_RUN)
        driver.set_page_load_timeout(SECONDS_TO_BOOT)
        self.reload()

    def take_errors(self) -> list[str]:
        """Return the console and page errors since the last call, and forget them."""
        return [str(error) for error in self.driver.execute_script("return pageErrors.splice(0)")]

    def screenshot(self, path: Path) -> None:
        """Write a picture of the page to a PNG file."""
        self.driver.save_screenshot(str(path))

    def _evaluate(self, script: str) -> Any:
        return self._await(f"({script})")

    def _open(self, url: str) -> None:
        self.driver.get(url)
        WebDriverWait(self.driver, SECONDS_TO_BOOT).until(
            lambda driver: driver.execute_script("return document.readyState") == "complete"
        )

    def _call(self, function: str, *arguments: str) -> Any:
        return self._await(f"window[{json.dumps(function)}](...args.slice(0, -1))", *arguments)

    def _await(self, expression: str, *arguments: str) -> Any:
        answer = self.driver.execute_async_script(
            "const args = [...arguments]; const done = args.at(-1);"
            f"(async () => {expression})().then("
            "(value) => done({value}), (error) => done({error: String(error)}))",
            *arguments,
        )
        if "error" in answer:
            raise PythonInPageError(f"in {self.browser_name}: {answer['error']}")
        return answer.get("value")
