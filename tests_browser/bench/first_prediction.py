"""Time from navigation to the first prediction: fresh pages, ours and theirs in turns.

Each page computes the digits network's logits for one batch with the same weights, and sets
`firstPrediction` to `{ms, steps, values}`. A page's context is new, so nothing is cached.
"""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

from playwright.sync_api import Browser

from tests_browser.bench.digits import IMAGES, WEIGHTS
from tests_browser.bench.report import Names, Row, Versions, compared, medians
from tests_browser.bench.workload import specified

__all__ = ["NAME", "PAIRS", "SIZES", "difference", "measure"]

NAME = "first_prediction"
SIZES = f"digits network, {IMAGES}"
PAIRS = (("webgl", "webgl"), ("wasm", "wasm"))
TOLERANCE = 1e-4

OUR_PAGE = "/tests/bench/first_ours.html"
THEIR_PAGE = "/tests/bench/first_theirs.html"


def measure(
    browser: Browser, base_url: str, names: Names, rounds: int, peer_versions: Versions
) -> Row:
    """Load each page `rounds` times."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(_load(browser, f"{base_url}{OUR_PAGE}?backend={names.backend}"))
        theirs.append(_load(browser, f"{base_url}{THEIR_PAGE}?backend={names.peer_backend}"))
    row = compared(
        names,
        peer_versions,
        [run["ms"] for run in ours],
        [run["ms"] for run in theirs],
        difference(ours[0]["values"], theirs[0]["values"]),
        TOLERANCE,
    )
    row["steps_ms"] = {
        side: medians(**{step: [one["steps"][step] for one in found] for step in found[0]["steps"]})
        for side, found in (("ours", ours), ("theirs", theirs))
    }
    return row


def _load(browser: Browser, url: str) -> dict[str, Any]:
    with closing(browser.new_context()) as context:
        inputs = json.dumps(specified({"images": IMAGES, **WEIGHTS}))
        context.add_init_script(f"globalThis.inputs = {inputs}")
        page = context.new_page()
        page.goto(url)
        found: dict[str, Any] = page.evaluate("firstPrediction")  # a promise
        return found


def difference(ours: list[float], theirs: list[float]) -> float:
    """Return the largest difference, relative to the largest magnitude of theirs."""
    largest = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    return largest / max(map(abs, theirs))
