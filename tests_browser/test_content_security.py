"""Pages and backends under a Content-Security-Policy that lets nobody evaluate text.

The fixtures fail a test for what a policy forbids, unless the test expects that (`take_errors`).
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.bench.digits import IMAGES, WEIGHTS
from tests_browser.bench.workload import specified
from tests_browser.conftest import TEST_FOLDERS
from tests_browser.digits_page import DigitsPage
from tests_browser.page_watch import PageWatch
from tests_browser.python_page import UNTIL, PlaywrightPythonPage, PythonPage
from web.build import ROOT, build_wheel
from web.serve import serve, site_headers

#: What docs/content_security.md asks of a host, and nothing else.
LEAST = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"
HOST_PAGE = "/tests/host.html"
POLICY = "Content-Security-Policy"

COMPUTE = (
    UNTIL
    + """
import warnings
import js
import webtensor as wt

async def compute(backend):
    wt.set_backend(backend)
    x = wt.ones((300, 300))
    return float(wt.sum(wt.matmul(x, x)))

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sums = [await compute("webgl"), await compute("wasm"), await compute("wasm")]
    await asyncio.sleep(0.5)
    await until(lambda: caught or not workers_fail)  # a worker's failure takes a while to arrive
sums, wt.wasm.get_threads_count(), [str(warning.message) for warning in caught]
"""
)
SUMS = [300.0**3] * 3
KEEP_MODEL = """
from webtensor import keras
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
await keras.saving.save_layers_model_async(model, "indexeddb://kept")
again = await keras.saving.load_layers_model_async("indexeddb://kept")
again.layers[0].kernel.tolist() == model.layers[0].kernel.tolist()
"""
REASONS = """
import webtensor as wt
{name: wt.unavailable_reason(name) for name in ("webgl", "wasm")}
"""


def documented(language: str) -> list[str]:
    """Return the lines of the first listing in a language of docs/content_security.md."""
    text = (ROOT / "docs" / "content_security.md").read_text("utf-8")
    return text.partition(f"```{language}\n")[2].partition("\n```")[0].splitlines()


def processors(page: Page) -> int:
    """How many threads the library starts in a page."""
    return min(int(page.evaluate("navigator.hardwareConcurrency")), 16)


@pytest.fixture(scope="module")
def strict_url(site: Path) -> Iterator[str]:
    """The URL of the site, with the site's own policy for the tests' pages, too."""
    policy = site_headers("/")[POLICY]
    with serve(site, mounts=TEST_FOLDERS, headers={POLICY: policy}) as url:
        yield url


@pytest.fixture
def unzipped(tmp_path: Path) -> Path:
    """The files of the wheel, in a folder that somebody else's site serves."""
    with ZipFile(build_wheel()) as archive:
        archive.extractall(tmp_path)
    return tmp_path


@contextmanager
def host_page(
    browser: Browser, site: Path, unzipped: Path, policy: str | None, *, registers: bool
) -> Iterator[PlaywrightPythonPage]:
    """Python in somebody else's page, which may register the files of the wheel."""
    headers = {} if policy is None else {POLICY: policy}
    query = "?javascript=/vendor/webtensor/javascript.js" if registers else ""
    with serve(site, mounts={**TEST_FOLDERS, "/vendor/": unzipped}, headers=headers) as url:
        page = browser.new_page()
        try:
            yield PlaywrightPythonPage(browser.browser_type.name, url, page, path=HOST_PAGE + query)
        finally:
            page.close()


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest) -> Browser:
    """Chromium, and, in a second run of the test, Firefox."""
    started: Browser = request.getfixturevalue(request.param)
    return started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page; what its policy forbids fails the test."""
    context = browser.new_context()
    page = context.new_page()
    watch = PageWatch(page)
    yield page
    errors = watch.take_errors()
    context.close()
    assert errors == []


# -- the library -----------------------------------------------------------------------------------


def test_everything_under_the_sites_policy(browser: Browser, strict_url: str):
    python = PlaywrightPythonPage(browser.browser_type.name, strict_url, browser.new_page())
    assert python.run(COMPUTE, workers_fail=False) == [SUMS, processors(python.page), []]
    assert python.run(KEEP_MODEL) is True
    assert python.take_errors() == []
    python.page.close()


def test_both_backends_and_threads_in_a_worker(browser: Browser, page: Page, strict_url: str):
    page.goto(f"{strict_url}/docs/tensorflow_js.html")
    answer = page.evaluate(
        """(source) => new Promise((resolve) => {
          const worker = new Worker("/tests/python_worker.js", { type: "module" });
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = (event) => resolve({ error: String(event.message) });
          worker.postMessage(source);
        })""",
        f"workers_fail = False\n{COMPUTE}\n"
        "import json; json.dumps([sums, wt.wasm.get_threads_count()])",
    )
    threads = 1 if browser.browser_type.name == "firefox" else processors(page)
    assert answer == {"value": f"[{SUMS}, {threads}]"}


def test_a_host_serves_the_files_from_a_folder_of_its_own(
    browser: Browser, site: Path, unzipped: Path
):
    with host_page(browser, site, unzipped, LEAST, registers=True) as python:
        assert python.run(COMPUTE, workers_fail=False) == [SUMS, processors(python.page), []]
        assert python.take_errors() == []


def test_the_wheel_alone_serves_where_text_may_be_evaluated(
    browser: Browser, site: Path, unzipped: Path
):
    with host_page(browser, site, unzipped, None, registers=False) as python:
        assert python.run(COMPUTE, workers_fail=False) == [SUMS, processors(python.page), []]
        assert python.take_errors() == []


def test_files_that_were_not_registered_are_asked_for(browser: Browser, site: Path, unzipped: Path):
    with host_page(browser, site, unzipped, LEAST, registers=False) as python:
        for reason in python.run(REASONS).values():
            assert "forbids to evaluate JavaScript" in reason
            for line in documented("js"):
                assert line in reason
            assert LEAST in reason
        assert any("eval" in error for error in python.take_errors())


def test_files_of_another_version_are_refused(chromium: Browser, site: Path, unzipped: Path):
    file = unzipped / "webtensor" / "javascript.js"
    file.write_text(re.sub(r'version = ".*?"', 'version = "0.0.9"', file.read_text()))
    with host_page(chromium, site, unzipped, LEAST, registers=True) as python:
        for reason in python.run(REASONS).values():
            assert "registered the JavaScript of webtensor 0.0.9, but Python imported" in reason


def test_workers_that_are_blocked_leave_one_thread(browser: Browser, site: Path, unzipped: Path):
    policy = LEAST.replace("worker-src 'self'", "worker-src 'none'")
    with host_page(browser, site, unzipped, policy, registers=True) as python:
        sums, threads, (warning,) = python.run(COMPUTE, workers_fail=True)
        assert (sums, threads) == (SUMS, 1)
        assert "computes on one thread, because its workers failed" in warning
        python.take_errors()  # browsers write there what they blocked


# -- the site's pages ------------------------------------------------------------------------------

# In Chromium, the tests of each page notice what the policy forbids.


def test_front_page(firefox_page: Page, site_url: str):
    firefox_page.goto(site_url)
    expect(firefox_page.locator("#capabilities tr")).to_have_count(8)


def test_map_of_tensorflow_js(firefox_page: Page, site_url: str):
    firefox_page.goto(f"{site_url}/docs/tensorflow_js.html")
    expect(firefox_page.locator("h1")).to_be_visible()
    assert firefox_page.locator("body").evaluate("(body) => getComputedStyle(body).margin") != "8px"


def test_linear_page(firefox_page: Page, site_url: str):
    firefox_page.goto(f"{site_url}/linear/")
    expect(firefox_page.locator("#output")).to_contain_text("x = 5")


@pytest.mark.parametrize("backend", ["webgl", "wasm"])
def test_digits_page(firefox_page: Page, site_url: str, backend: str):
    digits = DigitsPage(firefox_page, site_url, f"?backend={backend}&epochs=1")
    assert digits.facts["backend"] == backend
    digits.draw([(0.35, 0.35), (0.5, 0.15), (0.5, 0.85)])
    digits.expect_guess()
    assert sum(digits.probabilities()) == pytest.approx(1, abs=0.01)
    shades = firefox_page.locator("#confusion td:not(.none)").evaluate_all(
        "(cells) => cells.map((cell) => cell.style.getPropertyValue('--share'))"
    )
    assert all(shades[1:])
    places = firefox_page.locator("#test-digits i").evaluate_all(
        "(images) => new Set(images.map((i) => getComputedStyle(i).backgroundPosition)).size"
    )
    assert places == 360


@pytest.mark.parametrize("way", ["page", "worker"])
def test_worker_page(firefox_page: Page, site_url: str, way: str):
    firefox_page.goto(f"{site_url}/worker/?backend=wasm")
    start = firefox_page.locator(f"#{way}-start")
    expect(start).to_be_enabled()
    start.click()
    expect(firefox_page.locator(f"#{way}-state")).to_contain_text("after epoch 60 of 60")


def test_page_that_times_first_predictions(page: Page, strict_url: str):
    inputs = json.dumps(specified({"images": IMAGES, **WEIGHTS}))
    page.add_init_script(f"globalThis.inputs = {inputs}")
    page.goto(f"{strict_url}/tests/bench/first_ours.html?backend=wasm")
    assert page.evaluate("firstPrediction.then(({ ms }) => ms)") > 0


def test_pages_have_neither_inline_scripts_nor_styles(site: Path):
    pages = sorted(site.rglob("*.html"))
    assert pages
    inline = re.compile(
        r"<style|<script(?![^>]* src=)|\sstyle=|\son[a-z]+=|=[\"']?javascript:", re.IGNORECASE
    )
    scripts = {page.name: inline.findall(page.read_text("utf-8")) for page in pages}
    assert not {name: parts for name, parts in scripts.items() if parts}


def test_python_of_pages_writes_no_styles_into_markup(site: Path):
    sources = [file for file in site.rglob("*.py") if "docs" not in file.parts]
    assert sources
    assert [file.name for file in sources if re.search(r"style=|\"style\"", file.read_text())] == []


def test_files_to_register_are_those_of_the_wheel(python_page: PythonPage):
    files = """
        import webtensor as wt
        import webtensor_javascript
        webtensor_javascript.version == wt.__version__
    """
    assert python_page.run(files)
