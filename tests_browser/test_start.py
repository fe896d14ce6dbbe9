"""Python's start: from the snapshot in each browser, and without it where that fails."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect

from tests_browser.conftest import TEST_FOLDERS
from tests_browser.python_page import PythonPage
from web.build import SITE
from web.serve import serve

BLANK_PAGE = "/tests/blank.html"
SNAPSHOT = "**/heap.bin"
BUILD = "**/build.json"
RUNTIME = "**/pyodide.asm.wasm"
WORKER = "**/snapshot_worker.js"
#: What answers requests, by patterns of addresses.
Answers = Mapping[str, Callable[[Route], None]]
#: Whether Python started from the snapshot.
WAS_RESTORED = "performance.getEntriesByName('webtensor: memory restored').length === 1"

STATE = """
import sys
import time
import webtensor as wt

parts = {
    "a module that is in the snapshot": "webtensor.keras.layers.dense" in sys.modules,
    "sys.path": len(sys.path) == len(set(sys.path)),
    "names": [name for name in globals() if "snapshot" in name],
    "time zone": [time.timezone, time.localtime(0).tm_gmtoff],
}
import csv
from importlib.metadata import version
from webtensor.keras import datasets
parts["version"] = version("webtensor") == wt.__version__
x = wt.tensor([[1.0, 2.0], [3.0, 4.0]])
parts["product"] = (await (x @ x).data()).tolist()
parts
"""
#: Suspends Python in a function, and in one that C calls.
SUSPENDED = """
import asyncio
from pyodide.ffi import can_run_sync, run_sync

def seven():
    run_sync(asyncio.sleep(0.01))
    return 7

[can_run_sync(), seven() + 1, sorted([[2, 9], [1, 8]], key=lambda pair: seven() + pair[0])]
"""
#: Trains a small network, and lists the modules that were imported meanwhile.
FIRST_CALLS = """
import sys
import webtensor as wt
from webtensor import keras

wt.set_backend("{backend}")
before = set(sys.modules)
model = keras.Sequential([
    keras.Input((12, 12, 4)),
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Flatten(),
    keras.layers.Dense(3, activation="softmax"),
])
model.compile("adam", "categorical_crossentropy")
x, y = wt.ones((4, 12, 12, 4)), wt.ones((4, 3))
await model.fit_async(x, y, epochs=3, verbose=0)
for _ in range(3):
    await model.predict_async(x)
import webtensor.graph.loading
sorted(name for name in sys.modules.keys() - before if name.startswith("webtensor"))
"""
RANDOM = """
import os
import random
import uuid
import webtensor as wt
from webtensor import keras

[
    random.random(),
    random.Random().random(),
    os.urandom(8).hex(),
    str(uuid.uuid4()),
    wt.random_uniform((1,)).tolist()[0],
    keras.random.uniform((1,)).tolist()[0],
]
"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page in Chromium, in which warnings and errors are expected."""
    context = chromium.new_context(service_workers="block")
    yield context.new_page()
    context.close()


def warnings_of(page: Page) -> list[str]:
    """Collect the warnings in a page's console from now on."""
    warnings: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "warning":
            warnings.append(message.text)

    page.on("console", note)
    return warnings


def check_python(page: Page) -> None:
    """Python runs, and has webtensor."""
    source = "import webtensor as wt; float(wt.sum(wt.ones((3,))))"
    answer = json.loads(page.evaluate("(source) => runPython(source, '{}')", source))
    assert answer == {"value": 3.0}


@pytest.mark.parametrize("query, is_restored", [("?start=plain", False), ("", True)])
def test_python_starts_and_can_be_suspended(
    any_python_page: PythonPage, query: str, is_restored: bool
):
    any_python_page.reload(query)
    assert any_python_page.evaluate(WAS_RESTORED) is is_restored
    state = any_python_page.run(STATE)
    minutes = any_python_page.evaluate("new Date(0).getTimezoneOffset()")
    assert state == {
        "a module that is in the snapshot": is_restored,
        "sys.path": True,
        "names": [],
        "time zone": [minutes * 60, -minutes * 60],
        "version": True,
        "product": [7.0, 10.0, 15.0, 22.0],
    }
    if any_python_page.browser_name == "webkit":  # it cannot suspend Python
        assert any_python_page.run("from pyodide.ffi import can_run_sync; can_run_sync()") is False
    else:
        assert any_python_page.run(SUSPENDED) == [True, 8, [[1, 8], [2, 9]]]


def test_random_numbers_differ_between_starts(chromium_python: PythonPage):
    starts = []
    for _ in range(2):
        chromium_python.reload()
        assert chromium_python.evaluate(WAS_RESTORED) is True
        starts.append(chromium_python.run(RANDOM))
    for first, second in zip(*starts, strict=True):
        assert first != second


def test_time_zone_is_the_visitors(chromium: Browser, site_url: str):
    with chromium.new_context(timezone_id="America/New_York", service_workers="block") as context:
        page = context.new_page()
        page.goto(site_url + BLANK_PAGE)
        page.evaluate("waitForPython()")
        source = "import time; [time.timezone, time.altzone, time.daylight, *time.tzname]"
        answer = json.loads(page.evaluate("(source) => runPython(source, '{}')", source))
    assert answer == {"value": [5 * 3600, 4 * 3600, 1, "UTC-0500", "UTC-0400"]}


def test_worker_starts_from_the_snapshot(chromium_python: PythonPage):
    answer = chromium_python.evaluate(
        """new Promise((resolve) => {
          const worker = new Worker("/tests/python_worker.js", { type: "module" });
          worker.onmessage = ({ data }) => {
            worker.terminate();
            resolve(data);
          };
          worker.postMessage(`
import js
import webtensor as wt
wt.set_backend("wasm")
marks = js.performance.getEntriesByName("webtensor: memory restored").length
f"{marks} restored, the sum is {float(wt.sum(wt.ones((3,))))}"`);
        })"""
    )
    assert answer == {"value": "1 restored, the sum is 3.0"}


def truncated(route: Route) -> None:
    """Answer with the first bytes of a file, which a busy machine hands over in time, too."""
    response = route.fetch(headers={**route.request.headers, "range": "bytes=0-65535"})
    assert len(response.body()) == 1 << 16
    route.fulfill(body=response.body())


def file_of(route: Route) -> Path:
    """Return the site's file that a page asks for."""
    return SITE / urlsplit(route.request.url).path[1:]


def unaltered(route: Route) -> None:
    """Answer with a file as it is."""
    route.fulfill(path=file_of(route))


def altered(route: Route) -> None:
    """Answer with a file whose last byte is another, from the disk: the page waits for 3 s."""
    content = bytearray(file_of(route).read_bytes())
    content[-1] ^= 1
    with NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        route.fulfill(path=file.name)


def of_another_runtime(route: Route) -> None:
    """Answer with a build whose snapshot is of another Pyodide."""
    build = route.fetch().json()
    snapshot = build["snapshot"]
    snapshot["prologue"] = snapshot["prologue"].replace(snapshot["prologue"][24:48], "A" * 24)
    route.fulfill(json=build)


def unanswered(route: Route) -> None:
    """Answer nothing."""


def answer_before_the_runtime(page: Page, answers: Answers) -> None:
    """Answer requests for files, and only when all were made those for the runtime.

    A page that has the runtime waits for 3 s for more of the snapshot, which is too short on a busy
    machine where both come at once.
    """
    waiting: list[Route] = []
    missing = set(answers)

    def answer_by(url: str) -> Callable[[Route], None]:
        def give_answer(route: Route) -> None:
            answers[url](route)
            missing.discard(url)
            if not missing:
                for runtime in waiting:
                    runtime.continue_()
                waiting.clear()

        return give_answer

    def let_wait(route: Route) -> None:
        if missing:
            waiting.append(route)
        else:
            route.continue_()

    for url in answers:
        page.route(url, answer_by(url))
    page.route(RUNTIME, let_wait)


@pytest.mark.parametrize(
    "answers, reason",
    [
        ({SNAPSHOT: truncated}, "65536 of "),
        ({SNAPSHOT: altered}, "its SHA-256 is not the one of this build"),
        ({SNAPSHOT: unanswered}, "nothing of it came for 3 s"),
        ({BUILD: of_another_runtime, SNAPSHOT: unaltered}, "Snapshot build id mismatch"),
        ({WORKER: lambda route: route.fulfill(status=404)}, "snapshot_worker.js failed"),
    ],
    ids=["truncated", "altered", "slow", "stale", "no worker"],
)
def test_start_without_a_usable_snapshot(page: Page, site_url: str, answers: Answers, reason: str):
    warnings = warnings_of(page)
    answer_before_the_runtime(page, answers)
    page.goto(site_url + BLANK_PAGE)
    page.evaluate("waitForPython()")
    check_python(page)
    (warning,) = (text for text in warnings if "snapshot" in text)
    assert warning.startswith("Python starts without the snapshot: ")
    assert reason in warning


def test_snapshot_is_awaited_while_it_arrives(page: Page, site_url: str):
    loader = (SITE / "shared/loader.js").read_text("utf-8")
    impatient = loader.replace("=3e3", "=1e3")
    assert impatient != loader
    page.route(
        "**/loader.js",
        lambda route: route.fulfill(body=impatient, content_type="text/javascript"),
    )
    waiting: list[Route] = []

    def let_wait(route: Route) -> None:
        waiting.append(route)

    page.route(SNAPSHOT, let_wait)
    page.goto(site_url + BLANK_PAGE)
    page.wait_for_function(
        "() => performance.getEntriesByName('webtensor: runtime compiled').length > 0"
    )
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    two_seconds = {"latency": 0, "downloadThroughput": 4e6, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", {"offline": False, **two_seconds})
    waiting[0].continue_()
    page.evaluate("waitForPython()")
    assert page.evaluate(WAS_RESTORED)


@pytest.mark.parametrize(
    "url, answer, sentence",
    [
        (BUILD, lambda route: route.fulfill(status=404), "build.json could not be loaded: 404"),
        (BUILD, lambda route: route.abort(), "build.json could not be loaded: the network failed"),
        (
            RUNTIME,
            lambda route: route.fulfill(status=404),
            "pyodide.asm.wasm could not be loaded: 404",
        ),
        (
            RUNTIME,
            lambda route: route.fulfill(body=b"\0asm", content_type="application/wasm"),
            "This browser could not compile Python's runtime",
        ),
        (
            "**/python_stdlib.zip",
            lambda route: route.fulfill(status=404),
            "python_stdlib.zip could not be loaded: 404",
        ),
        ("**/javascript.js", lambda route: route.abort(), "javascript.js"),
        (
            "**/loader.js",
            lambda route: route.fulfill(status=404),
            "index.js, or a script that it needs, could not be loaded",
        ),
    ],
    ids=[
        "no build",
        "no network",
        "no runtime",
        "broken runtime",
        "no library",
        "no JavaScript",
        "no loader",
    ],
)
def test_page_says_what_could_not_be_loaded(
    page: Page, site_url: str, url: str, answer: Callable[[Route], None], sentence: str
):
    page.route(url, answer)
    page.goto(f"{site_url}/linear/?start=plain")
    alert = page.get_by_role("alert").filter(has_text=sentence)
    expect(alert).to_be_visible()


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_first_calls_import_nothing(chromium_python: PythonPage, backend: str):
    """Python would compile what the snapshot lacks."""
    with chromium_python.loaded_with() as page:
        assert page.run(FIRST_CALLS.format(backend=backend)) == []


def test_site_below_a_path(page: Page, site: Path, tmp_path: Path):
    with serve(tmp_path, mounts={"/below/a/path/": site, **TEST_FOLDERS}) as url:
        page.goto(f"{url}/below/a/path/linear/")
        expect(page.locator("#loading")).to_have_count(0)
        assert page.evaluate(WAS_RESTORED) is True
        expect(page.get_by_role("alert")).to_have_count(0)


def test_bar_counts_bytes(page: Page, site: Path, site_url: str):
    waiting: list[Route] = []

    def keep_waiting(route: Route) -> None:
        waiting.append(route)

    page.route(RUNTIME, keep_waiting)
    page.goto(f"{site_url}/linear/?start=plain")
    build = json.loads((site / "build.json").read_text())
    unused = {build["wheel"], build["snapshot"]["heap"]}
    sizes = {path: size for path, size in build["sizes"].items() if path not in unused}
    total = sum(sizes.values())
    loaded = total - sizes[f"{build['pyodide']}pyodide.asm.wasm"]
    expect(page.locator("#loading-text")).to_have_text(
        f"Loading Python: {loaded / 1e6:.1f} of {total / 1e6:.1f} MB"
    )
    shown = page.get_by_role("progressbar", name="Loading Python").evaluate("bar => bar.value")
    assert shown == pytest.approx(0.9 * loaded / total)
    for route in waiting:
        route.abort()
