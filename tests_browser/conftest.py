"""Fixtures for tests in browsers.

- `chromium_python`, `firefox_python`, `webkit_python`: a `PythonPage`, booted once and shared.
- `python_page`: the test runs in Chromium and in Firefox; `any_python_page`: in WebKit, too;
  `fresh_python_page`: likewise, in a page that was loaded anew.
- `chromium_page`, `firefox_page`: a fresh Playwright page, for using the site as a visitor does.
- `tensorflow_page`: a page of Chromium with Python and TensorFlow.js in it.
- `site_url`, `plain_site_url`: the built site, with and without cross-origin isolation.
- `numpy_python`: Python in Chromium with NumPy loaded, a page of its own because nothing else may
  come to depend on NumPy; skips where it can't be had.

Console errors and uncaught exceptions in the page fail the test that caused them. A failed test
leaves a screenshot in `dist/screenshots/`.

`--browsers=chromium` runs the tests that need Chromium alone, `--browsers=others` those in Firefox
and WebKit, those marked `lesser_devices`, `other_hosts`, `pages_on_webgl` or `whole_tables`, and
those of `LONG_MODULES`; without the option all run. Those marked `host_tools` run with
`--browsers=hosts` alone.
"""

import contextlib
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests_browser.browsers import (
    PATIENCE_MS,
    WITHOUT_PREPARED_PIPELINES,
    launch_chromium,
    launch_firefox,
    launch_playwright_webkit,
    start_webkit_driver,
)
from tests_browser.display import virtual_display
from tests_browser.machine_memory import memory_report
from tests_browser.page_watch import PageWatch, screenshot_path
from tests_browser.pyodide_lock import CACHE
from tests_browser.pyodide_numpy import NumpyMissingError, numpy_wheel
from tests_browser.python_page import PlaywrightPythonPage, PythonPage, WebDriverPythonPage
from web.build import ROOT, build_site
from web.serve import serve

collect_ignore = ["pages"]  # these run in browsers

expect.set_options(timeout=PATIENCE_MS)

FAILED = pytest.StashKey[bool]()

#: What the names of fixtures and of parameters for other browsers than Chromium begin with.
OTHER_BROWSERS = ("firefox", "webkit")

#: The marks of tests that `make test-browsers` runs, too.
MARKERS_OF_OTHERS = ("lesser_devices", "other_hosts", "pages_on_webgl", "whole_tables")

#: Modules that take long, and that `make test`, a newcomer's, leaves to `make test-browsers`.
LONG_MODULES = frozenset(
    f"test_{name}"
    for name in (
        "as_on_a_gpu",
        "bench",
        "bench_page",
        "chains",
        "content_security",
        "default_backend",
        "examples",
        "graph_models_against_tfjs",
        "io",
        "large_tensors",
        "leaks",
        "media_devices",
        "programs",
        "reinforce",
        "reliability",
        "service_worker",
        "soak",
        "start",
        "teachable",
        "text",
        "timeseries",
        "worker_page",
    )
)

TENSORFLOW = "/node_modules/@tensorflow/tfjs/dist/tf.min.js"

# Served beside the site for tests only.
TEST_FOLDERS = {
    "/tests/": ROOT / "tests_browser" / "pages",
    "/node_modules/": ROOT / "node_modules",
    "/cache/": CACHE,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run choose its browsers."""
    parser.addoption(
        "--browsers", choices=("chromium", "others", "hosts"), help="see tests_browser/conftest"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Build the site before workers start, which all use it."""
    if not hasattr(session.config, "workerinput"):
        build_site()


def is_for_others(item: pytest.Item) -> bool:
    """Whether a test needs another browser or host, imitates a lesser device, or takes long."""
    assert isinstance(item, pytest.Function)
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = [*item.fixturenames, *(value for value in parameters if isinstance(value, str))]
    return (
        item.path.stem in LONG_MODULES
        or any(name.startswith(OTHER_BROWSERS) for name in names)
        or any(item.get_closest_marker(marker) for marker in MARKERS_OF_OTHERS)
    )


def is_chosen(item: pytest.Item, chosen: str | None) -> bool:
    """Whether a test belongs to the run that the option `--browsers` asks for."""
    if item.get_closest_marker("host_tools") is not None or chosen == "hosts":
        return chosen == "hosts" and item.get_closest_marker("host_tools") is not None
    return chosen is None or is_for_others(item) is (chosen == "others")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not for the browsers of the run."""
    chosen = config.getoption("browsers")
    left_out = [item for item in items if not is_chosen(item, chosen)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember that a test failed, for the fixtures that then keep a screenshot.

    Where its page crashed, the report says how much memory is left, as the system kills pages when
    it runs out.
    """
    if call.excinfo is not None and "crashed" in str(call.excinfo.value):
        call.excinfo.value.add_note(memory_report())
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site, built from the current sources."""
    return build_site()


@pytest.fixture(scope="session")
def site_url(site: Path) -> Iterator[str]:
    """The URL of the site, cross-origin isolated."""
    with serve(site, mounts=TEST_FOLDERS) as url:
        yield url


@pytest.fixture(scope="session")
def plain_site_url(site: Path) -> Iterator[str]:
    """The URL of the site served without COOP and COEP, as many hosts do."""
    with serve(site, isolated=False, mounts=TEST_FOLDERS) as url:
        yield url


@pytest.fixture(scope="session")
def display() -> Iterator[None]:
    """A display, virtual where there is no real one."""
    with virtual_display():
        yield


@pytest.fixture(scope="session")
def playwright(display: None) -> Iterator[Playwright]:
    """Playwright's driver."""
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """Chromium, started once."""
    with contextlib.closing(launch_chromium(playwright, [WITHOUT_PREPARED_PIPELINES])) as browser:
        yield browser


@pytest.fixture(scope="module")
def tensorflow_page(chromium: Browser, site_url: str) -> Iterator[PlaywrightPythonPage]:
    """Python and TensorFlow.js in one page of Chromium."""
    page = PlaywrightPythonPage("chromium", site_url, chromium.new_page())
    for url in (TENSORFLOW, "/tests/tfjs_cases.js"):
        page.page.add_script_tag(url=site_url + url)
    yield page
    page.page.close()


@pytest.fixture(scope="session")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    """Firefox, started once."""
    with contextlib.closing(launch_firefox(playwright)) as browser:
        yield browser


@pytest.fixture(scope="session")
def shared_chromium_python(chromium: Browser, site_url: str) -> PythonPage:
    """The one Python page of Chromium."""
    return PlaywrightPythonPage("chromium", site_url, chromium.new_page())


@pytest.fixture(scope="session")
def shared_firefox_python(firefox: Browser, site_url: str) -> PythonPage:
    """The one Python page of Firefox."""
    return PlaywrightPythonPage("firefox", site_url, firefox.new_page())


@pytest.fixture(scope="session")
def shared_webkit_python(playwright: Playwright, site_url: str) -> Iterator[PythonPage]:
    """The one Python page of WebKit: Playwright's where it was downloaded, else WebKitGTK's."""
    browser = launch_playwright_webkit(playwright)
    if browser is not None:
        with contextlib.closing(browser):
            yield PlaywrightPythonPage("webkit", site_url, browser.new_page())
        return
    driver = start_webkit_driver()
    try:
        yield WebDriverPythonPage("webkit", site_url, driver)
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def shared_numpy_python(chromium: Browser, site_url: str) -> PythonPage:
    """The one Python page with NumPy, in Chromium."""
    try:
        wheel = numpy_wheel()
    except NumpyMissingError as error:
        pytest.skip(str(error))
    served = CACHE / wheel.name
    if wheel != served:
        CACHE.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(wheel, served)
    page = PlaywrightPythonPage("chromium", site_url, chromium.new_page())
    page.evaluate(
        f"pyodide.loadPackage('{site_url}/cache/{served.name}',"
        " {checkIntegrity: false, messageCallback: () => {}}).then(() => null)"
    )
    return page


def watched(shared: PythonPage, request: pytest.FixtureRequest) -> Iterator[PythonPage]:
    """Lend the shared page to one test, and fail it for errors in the page."""
    shared.take_errors()
    yield shared
    errors = shared.take_errors()
    if errors or request.node.stash.get(FAILED, False):
        shared.screenshot(screenshot_path(request.node, shared.browser_name))
    assert not errors, f"errors in {shared.browser_name}'s page:\n" + "\n".join(errors)


@pytest.fixture
def chromium_python(
    shared_chromium_python: PythonPage, request: pytest.FixtureRequest
) -> Iterator[PythonPage]:
    """Python in Chromium."""
    yield from watched(shared_chromium_python, request)


@pytest.fixture
def firefox_python(
    shared_firefox_python: PythonPage, request: pytest.FixtureRequest
) -> Iterator[PythonPage]:
    """Python in Firefox."""
    yield from watched(shared_firefox_python, request)


@pytest.fixture
def webkit_python(
    shared_webkit_python: PythonPage, request: pytest.FixtureRequest
) -> Iterator[PythonPage]:
    """Python in WebKit."""
    yield from watched(shared_webkit_python, request)


@pytest.fixture(params=["chromium", "firefox"])
def python_page(request: pytest.FixtureRequest) -> PythonPage:
    """Python in Chromium and, in a second run of the test, in Firefox."""
    page: PythonPage = request.getfixturevalue(f"{request.param}_python")
    return page


@pytest.fixture(params=["chromium", "firefox", "webkit"])
def any_python_page(request: pytest.FixtureRequest) -> PythonPage:
    """Python in each of the three browsers."""
    page: PythonPage = request.getfixturevalue(f"{request.param}_python")
    return page


@pytest.fixture(scope="module", params=["chromium", "firefox", "webkit"])
def shared_python_page(request: pytest.FixtureRequest) -> Iterator[PythonPage]:
    """The one Python page of each of the three browsers, loaded anew after a module's tests."""
    page: PythonPage = request.getfixturevalue(f"shared_{request.param}_python")
    yield page
    page.spoil()


@pytest.fixture
def fresh_python_page(
    shared_python_page: PythonPage, request: pytest.FixtureRequest
) -> Iterator[PythonPage]:
    """Python in each of the three browsers, just started: it has no backend."""
    shared_python_page.reload()
    yield from watched(shared_python_page, request)


def fresh_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Open a page in a context of its own, and fail the test for errors in it.

    What a service worker fetches could not be intercepted, so there is none.
    """
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    watch = PageWatch(page)
    yield page
    errors = watch.take_errors()
    if errors or request.node.stash.get(FAILED, False):
        page.screenshot(path=screenshot_path(request.node, browser.browser_type.name))
    context.close()
    assert not errors, "errors in the page:\n" + "\n".join(errors)


@pytest.fixture
def chromium_page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh page in Chromium."""
    yield from fresh_page(chromium, request)


@pytest.fixture
def firefox_page(firefox: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh page in Firefox."""
    yield from fresh_page(firefox, request)


@pytest.fixture
def numpy_python(
    shared_numpy_python: PythonPage, request: pytest.FixtureRequest
) -> Iterator[PythonPage]:
    """Python in Chromium, with NumPy."""
    yield from watched(shared_numpy_python, request)
