"""What a trial is, and what it finds around it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from playwright.sync_api import Browser

from tests_browser.python_page import PythonPage


class Stage(Protocol):
    """Browsers and the site for a trial."""

    #: The site's URL with cross-origin isolation, and without.
    site_url: str
    plain_site_url: str

    def python(self, browser: str) -> PythonPage:
        """Return the Python page of a browser, which trials share."""

    def browser(self, browser: str) -> Browser:
        """Return a browser that Playwright drives."""


@dataclass(frozen=True)
class Trial:
    """One check, in a browser and on a backend where that matters.

    `check` takes the stage, the trial and a length. It returns a sentence with the figures, and
    raises `AssertionError` where something does not hold.
    """

    family: str
    check: Callable[[Stage, "Trial", int], str]
    #: What the length counts.
    unit: str
    #: The length of `make prove`.
    length: int
    browser: str = ""
    backend: str = ""
    #: Distinguishes trials of a family beyond their browser and backend.
    variant: str = ""

    @property
    def name(self) -> str:
        """The name by which `ONLY` and the records know the trial."""
        return "-".join(filter(None, (self.family, self.variant, self.browser, self.backend)))
