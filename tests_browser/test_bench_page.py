"""The benchmark page: it measures both libraries under the site's policy. Times are not judged."""

import json
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests_browser.bench.workloads import FAMILIES, WORKLOADS
from tests_browser.test_bench import ROW_TYPES

CHOSEN = ("overhead.relu 4×4 1", "einsum 16×128×64 16×128×64 1")
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
    expect(start).to_be_enabled(timeout=120_000)
    state = chromium_page.locator("#state")
    expect(chromium_page.locator("#families details")).to_have_count(len(FAMILIES))
    renderer = chromium_page.locator("#device td").first.inner_text()
    assert chromium_page.evaluate(SQUARES_ON_THEIR_BACKENDS) == [14, 14, 14]

    chromium_page.get_by_role("button", name="None").click()
    expect(state).to_have_text("0 rows are chosen.")
    for box in chromium_page.locator("#families [value]").all():
        if box.get_attribute("value") in CHOSEN:
            box.evaluate("(box) => box.click()")
    chromium_page.get_by_label("WebGL").uncheck()
    expect(state).to_have_text("3 rows are chosen.")  # one has two peers

    start.click()
    expect(state).to_have_text("Done: 3 rows.", timeout=120_000)
    expect(chromium_page.locator("#results tbody tr")).to_have_count(3)
    expect(chromium_page.locator("#failures li")).to_have_count(0)
    expect(chromium_page.locator("#summary")).to_contain_text("of 3")

    with chromium_page.expect_download() as download:
        chromium_page.get_by_role("link", name="Save as JSON").click()
    report = json.loads(download.value.path().read_text("utf-8"))
    assert [(row["workload"], row["peer"]["backend"]) for row in report["rows"]] == [
        ("overhead.relu", "wasm"),
        ("overhead.relu", "cpu"),
        ("einsum", "cpu"),
    ]
    for row in report["rows"]:
        assert {name: type(row[name]) for name in ROW_TYPES} == ROW_TYPES
        assert row["agree"] <= row["tolerance"]
    assert report["header"]["webgl_renderer"] == renderer

    issue = urlsplit(chromium_page.locator("#issue").get_attribute("href") or "")
    assert issue.path.endswith("/issues/new")
    (body,) = parse_qs(issue.query)["body"]
    assert renderer in body
    assert "overhead.relu" in body


def test_every_workload_has_its_javascript(site_url: str, chromium_page: Page):
    chromium_page.goto(f"{site_url}/docs/tensorflow_js.html")
    keys = chromium_page.evaluate(
        "import('/bench/peer/expressions.js').then((module) => Object.keys(module.default({})))"
    )
    assert keys == [workload.key for workload in WORKLOADS if workload.theirs]
