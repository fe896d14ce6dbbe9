"""The benchmark page: it measures both libraries under the site's policy. Times are not judged."""

import json
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests_browser.bench.workloads import FAMILIES, WORKLOADS
from tests_browser.test_bench import ROW_TYPES

CHOSEN = ("overhead.relu 4×4 1", "matmul 512×512 512×512 1")
COUNT_WORKERS = """
globalThis.runningWorkers = 0;
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    runningWorkers++;
  }

  terminate() {
    super.terminate();
    runningWorkers--;
  }
};
"""
SQUARES_ON_THEIR_BACKENDS = """async () => {
  const sums = [];
  for (const backend of ["webgl", "wasm", "cpu"]) {
    await peer.setBackend(backend);
    sums.push(...(await tf.sum(tf.square(tf.tensor([1, 2, 3]))).data()));
  }
  return sums;
}"""


def test_chosen_rows_are_measured_and_shared(chromium_page: Page, site_url: str):
    chromium_page.goto(f"{site_url}/bench/")
    start = chromium_page.get_by_role("button", name="Run")
    expect(start).to_be_enabled()
    state = chromium_page.locator("#state")
    # Captured functions are compared with themselves, the others with what the page lacks.
    offered = FAMILIES.keys() - {"Captured functions", "Numerical programs", "Poses"}
    expect(chromium_page.locator("#families details")).to_have_count(len(offered))
    expect(chromium_page.get_by_label("WebAssembly, two threads")).to_be_checked()
    renderer = chromium_page.locator("#device td").first.inner_text()
    assert chromium_page.evaluate(SQUARES_ON_THEIR_BACKENDS) == [14, 14, 14]

    chromium_page.get_by_role("button", name="None").click()
    expect(state).to_have_text("0 rows are chosen.")
    start.click()
    expect(state).to_contain_text("Choose workloads below")
    for box in chromium_page.locator("#families [value]").all():
        if box.get_attribute("value") in CHOSEN:
            box.evaluate("(box) => box.click()")
    chromium_page.get_by_label("WebGL").uncheck()
    # The overhead has two peers and nothing to share among threads.
    expect(state).to_have_text("4 rows are chosen.")

    start.click()
    expect(state).to_have_text("Done: 4 rows.")
    expect(chromium_page.locator("#failures li")).to_have_count(0)
    details = chromium_page.locator("#results tbody .details").all_inner_texts()
    assert [text.partition(" · ")[2] for text in details] == [
        "WebAssembly, one thread",
        "WebAssembly, one thread, theirs cpu",
        "WebAssembly, one thread",
        "WebAssembly, two threads",
    ]
    summary = chromium_page.locator("#summary")
    expect(summary).to_contain_text("of 3")
    expect(summary).to_contain_text("WebAssembly, two threads: ")

    with chromium_page.expect_download() as download:
        chromium_page.get_by_role("link", name="Save as JSON").click()
    report = json.loads(download.value.path().read_text("utf-8"))
    assert [
        (row["workload"], row["threads"], row["peer"]["backend"]) for row in report["rows"]
    ] == [
        ("overhead.relu", 1, "wasm"),
        ("overhead.relu", 1, "cpu"),
        ("matmul", 1, "wasm"),
        ("matmul", 2, "wasm"),
    ]
    for row in report["rows"]:
        assert {name: type(row[name]) for name in ROW_TYPES} == ROW_TYPES
        assert row["agree"] <= row["tolerance"]
    assert report["header"]["webgl_renderer"] == renderer
    assert report["header"]["cores"] == chromium_page.evaluate("navigator.hardwareConcurrency")

    issue = urlsplit(chromium_page.locator("#issue").get_attribute("href") or "")
    assert issue.path.endswith("/issues/new")
    (body,) = parse_qs(issue.query)["body"]
    assert renderer in body
    assert "overhead.relu" in body


def test_threads_are_offered_in_isolated_pages_only(plain_site_url: str, chromium_page: Page):
    chromium_page.goto(f"{plain_site_url}/bench/")
    expect(chromium_page.get_by_role("button", name="Run")).to_be_enabled()
    expect(chromium_page.get_by_label("WebAssembly, two threads")).to_be_disabled()
    row = chromium_page.locator("#device tr").filter(has_text="two threads")
    expect(row).to_contain_text("the page isn't cross-origin isolated")


def test_their_threads_end_when_their_number_changes(site_url: str, chromium_page: Page):
    chromium_page.add_init_script(COUNT_WORKERS)
    chromium_page.goto(f"{site_url}/bench/")
    expect(chromium_page.get_by_role("button", name="Run")).to_be_enabled()
    for _ in range(2):
        chromium_page.evaluate("peer.setBackend('wasm', 2)")
        assert chromium_page.evaluate("tf.wasm.getThreadsCount()") == 2
        assert chromium_page.evaluate("runningWorkers") > 0
        chromium_page.evaluate("peer.setBackend('wasm', 1)")
        assert chromium_page.evaluate("tf.wasm.getThreadsCount()") == 1
        assert chromium_page.evaluate("runningWorkers") == 0


def test_every_workload_has_its_javascript(site_url: str, chromium_page: Page):
    chromium_page.goto(f"{site_url}/docs/tensorflow_js.html")
    keys = chromium_page.evaluate(
        "import('/bench/peer/expressions.js').then((module) => Object.keys(module.default({})))"
    )
    assert keys == [workload.key for workload in WORKLOADS if workload.theirs]
