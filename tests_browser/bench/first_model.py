"""The first prediction of a large network: uploads, compilation and the run, in a fresh browser.

Each side has a browser of its own that nobody used, so that no compiled shader waits in a cache.
Time counts from when the backend is ready; what is on the GPU afterwards is told as well.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from playwright.sync_api import Browser

from tests_browser.bench.first_prediction import difference
from tests_browser.bench.pages import Needs, Pages
from tests_browser.bench.report import Names, Row, Versions, compared, medians
from tests_browser.bench.workload import Workload
from tests_browser.bench.workloads import WORKLOADS

__all__ = ["BACKEND", "NAME", "WORKLOAD", "measure"]

#: Elsewhere nothing is compiled.
BACKEND = "webgl"
WORKLOAD: Workload = next(
    workload
    for workload in WORKLOADS
    if workload.name == "model.mobilenet_v1" and workload.threads == 1
)
NAME = "first_prediction.mobilenet_v1"
FIRST = "async (given) => JSON.parse(await (await bench).predict_first(...given))"


def measure(
    launch: Callable[[], Browser], base_url: str, names: Names, rounds: int, peers: Versions
) -> Row:
    """Start a browser for each side, `rounds` times."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(_predict(launch, base_url, None))
        theirs.append(_predict(launch, base_url, names.peer_backend))
    row = compared(
        names,
        peers,
        [run["ms"] for run in ours],
        [run["ms"] for run in theirs],
        difference(ours[0]["values"], theirs[0]["values"]),
        WORKLOAD.tolerance,
    )
    for fact in ("programs", "gpu_bytes"):
        row[fact] = medians(ours=[run[fact] for run in ours], theirs=[run[fact] for run in theirs])
    return row


def _predict(
    launch: Callable[[], Browser], base_url: str, peer_backend: str | None
) -> dict[str, Any]:
    with closing(launch()) as browser, closing(Pages(browser, base_url)) as pages:
        page, _ = pages.find(Needs())
        times: dict[str, Any] = page.evaluate(FIRST, [WORKLOAD.key, BACKEND, peer_backend or ""])
        return times
