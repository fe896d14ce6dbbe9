"""Time from navigation to the first prediction: first and repeated visits, both sides in turns.

Each page computes the digits network's logits for one batch with the same weights, and sets
`firstPrediction` to `{ms, steps, values}`. A page's context is new, so nothing is cached at the
first visit. At the second one, seconds later, our files come from the service worker, and theirs
from the cache of the browser.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page

from tests_browser.bench.digits import IMAGES, WEIGHTS
from tests_browser.bench.report import Names, Row, Versions, compared, medians
from tests_browser.bench.workload import specified
from web.build import ROOT, preloaded
from web.site_build.pages import rendered

__all__ = ["NAME", "PAIRS", "REPEAT", "SIZES", "difference", "measure", "pages_folder"]

NAME = "first_prediction"
REPEAT = "first_prediction.repeat_visit"
SIZES = f"digits network, {IMAGES}"
PAIRS = (("webgl", "webgl"), ("wasm", "wasm"))
TOLERANCE = 1e-4

OUR_PAGE = "/first/first_ours.html"
THEIR_PAGE = "/tests/bench/first_theirs.html"
SOURCE = ROOT / "tests_browser" / "pages" / "bench" / "first_ours.html"

#: Chromium keeps the code that it compiled 2 s after it has compiled the last function.
MS_BETWEEN_VISITS = 5000

#: Whether the service worker has what a start needs.
HAS_KEPT = """async () => {
  const { compiled, sizes } = await (await fetch("/build.json")).json();
  const paths = Object.keys(sizes).filter((path) => path !== compiled);
  const kept = await Promise.all(paths.map((path) => caches.match(`/${path}`)));
  return kept.every((response) => response !== undefined);
}"""


@contextmanager
def pages_folder(site: Path) -> Iterator[Path]:
    """Yield a folder, to be served beside a site, in which our page is as the site's pages are.

    It has links to the files that it starts from.
    """
    facts = json.loads((site / "build.json").read_text("utf-8"))
    page = rendered(SOURCE.read_text("utf-8"), OUR_PAGE[1:], preloaded(facts))
    with TemporaryDirectory() as folder:
        (Path(folder) / SOURCE.name).write_text(page, "utf-8")
        yield Path(folder)


def measure(
    browser: Browser, base_url: str, names: Names, rounds: int, peer_versions: Versions
) -> Row:
    """Visit each page in `rounds` contexts."""
    load = partial(_load, browser, is_repeated=names.workload == REPEAT)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(load(f"{base_url}{OUR_PAGE}?backend={names.backend}"))
        theirs.append(load(f"{base_url}{THEIR_PAGE}?backend={names.peer_backend}"))
    row = compared(
        names,
        peer_versions,
        [run["ms"] for run in ours],
        [run["ms"] for run in theirs],
        difference(ours[0]["values"], theirs[0]["values"]),
        TOLERANCE,
    )
    row["steps_ms"] = {
        side: medians(
            **{step: [visit["steps"][step] for visit in visits] for step in visits[0]["steps"]}
        )
        for side, visits in (("ours", ours), ("theirs", theirs))
    }
    return row


def _load(browser: Browser, url: str, *, is_repeated: bool) -> dict[str, Any]:
    with closing(browser.new_context()) as context:
        inputs = json.dumps(specified({"images": IMAGES, **WEIGHTS}))
        context.add_init_script(f"globalThis.inputs = {inputs}")
        page = context.new_page()
        answer = _visit(page, url)
        if is_repeated:
            if page.evaluate("'keepForNextVisit' in globalThis"):
                page.evaluate("keepForNextVisit()")
                page.wait_for_function(HAS_KEPT)
            page.wait_for_timeout(MS_BETWEEN_VISITS)
            page.goto("about:blank")
            answer = _visit(page, url)
        return answer


def _visit(page: Page, url: str) -> dict[str, Any]:
    page.goto(url)
    times: dict[str, Any] = page.evaluate("firstPrediction")  # a promise
    return times


def difference(ours: list[float], theirs: list[float]) -> float:
    """Return the largest difference, relative to the largest magnitude of theirs."""
    largest = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    return largest / max(map(abs, theirs))
