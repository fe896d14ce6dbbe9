"""The service worker: visits without a network, new builds, and the headers of isolation."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import Browser, Page, expect

from tests_browser.test_repl import open_repl
from web.serve import create_server, serve

PAGE = "/linear/"
LINEAR_FILES = ("main.py", "linear.py")
#: What the REPL's worker loads, in part, and an example that it has not opened.
REPL_FILES = ("worker.js", "outbox.js", "main.py", "session.py", "examples/spirals.py")
IS_CONTROLLED = "navigator.serviceWorker.controller !== null"
#: Whether the service worker has kept everything that a start needs.
HAS_KEPT = """async (paths) => {
  const kept = await Promise.all(paths.map((path) => caches.match(new URL(path, location))));
  return kept.every((response) => response !== undefined);
}"""


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A fresh page in Chromium, where service workers may start."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def started(page: Page, url: str) -> None:
    """Visit a page, and wait until Python runs in it."""
    page.goto(url)
    expect(page.locator("#loading")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


def wait_until_kept(page: Page, site: Path, own: Sequence[str] = LINEAR_FILES) -> None:
    """Wait until the service worker has what the page needs for another visit."""
    build = json.loads((site / "build.json").read_text())
    names = ("pyodide.asm.wasm", "pyodide.asm.mjs", "python_stdlib.zip", "heap.bin", ".whl")
    paths = [f"../{path}" for path in build["sizes"] if path.endswith(names)]
    shared = ["index.html", "index.js", "../shared/loader.js", "../shared/downloads.js"]
    page.wait_for_function(f"paths => ({HAS_KEPT})(paths)", arg=[*paths, *shared, *own])


def test_next_visit_needs_no_network_and_is_isolated(page: Page, site: Path):
    with serve(site, isolated=False) as url:
        started(page, url + PAGE)
        assert page.evaluate("crossOriginIsolated") is False
        wait_until_kept(page, site)
    started(page, f"{url}{PAGE}?visit=2")  # the server is gone
    assert page.evaluate(IS_CONTROLLED) is True
    assert page.evaluate("crossOriginIsolated") is True
    assert page.evaluate("performance.getEntriesByName('webtensor: memory restored').length") == 1


def test_repl_starts_without_a_network_after_one_visit(page: Page, site: Path):
    with serve(site) as url:
        open_repl(page, url)
        wait_until_kept(page, site, REPL_FILES)
    repl = open_repl(page, url, "?visit=2")  # the server is gone
    repl.enter("6 * 7")
    expect(repl.entry).to_contain_text("42")


def test_new_build_is_never_mixed_with_an_old_one(page: Page, site: Path, tmp_path: Path):
    folder = Path(copytree(site, tmp_path / "site"))
    with serve(folder) as url:
        started(page, url + PAGE)
        wait_until_kept(page, folder)

        page_file, build_file = folder / "linear" / "index.html", folder / "build.json"
        page_file.write_text(page_file.read_text().replace("<title>", "<title>New: "))
        build = json.loads(build_file.read_text())
        build_file.write_text(json.dumps({**build, "build": "another"}))
        started(page, url + PAGE)
        assert page.evaluate(IS_CONTROLLED) is True
        assert page.title().startswith("New: ")


def test_server_that_does_not_answer_counts_as_away(page: Page, site: Path):
    with serve(site) as url:
        started(page, url + PAGE)
        wait_until_kept(page, site)
    # The same address, but nobody accepts connections.
    server = create_server(site, int(url.rpartition(":")[2]), isolated=True)
    try:
        started(page, url + PAGE)
    finally:
        server.server_close()
