"""Drives the bench page: which rows to run, one after the other, and what they gave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Error

from tests_browser.bench import first_model, first_prediction
from tests_browser.bench.pages import PACKAGES, Needs, Pages
from tests_browser.bench.report import (
    Failure,
    Names,
    Report,
    Row,
    Versions,
    make_header,
    measured,
)
from tests_browser.bench.workload import QUICK, Effort, Workload
from tests_browser.bench.workloads import WORKLOADS
from web.build import ROOT
from web.serve import serve

__all__ = ["Selection", "run", "serve_bench"]

OUR_BACKENDS = ("webgl", "wasm")

MEASURE_PEAK = "measurePeak()"
RUN_WORKLOAD = "async (values) => JSON.parse(await (await bench).run_workload(...values))"


@contextmanager
def serve_bench(site: Path) -> Iterator[str]:
    """Serve a site with the benchmark's pages beside it, and yield the URL."""
    with first_prediction.pages_folder(site) as first:
        mounts = {
            "/first/": first,
            "/tests/": ROOT / "tests_browser" / "pages",
            "/node_modules/": ROOT / "node_modules",
            "/packages/": PACKAGES,
        }
        with serve(site, mounts=mounts) as url:
            yield url


class Selection(NamedTuple):
    """Which rows are wanted: those that begin with one of the names, on one of our backends."""

    names: tuple[str, ...]
    backends: tuple[str, ...]

    @classmethod
    def parse(cls, only: str) -> Selection:
        """Read a list such as "matmul,wasm"; where it names no backend, all are wanted.

        Raises:
            ValueError: a name in the list begins no workload's.
        """
        words = only.replace(",", " ").split()
        names = tuple(word for word in words if word not in OUR_BACKENDS)
        backends = tuple(word for word in words if word in OUR_BACKENDS)
        visits = {first_prediction.NAME, first_prediction.REPEAT, first_model.NAME}
        all_names = sorted({workload.name for workload in WORKLOADS} | visits)
        for name in names:
            if not any(full_name.startswith(name) for full_name in all_names):
                raise ValueError(
                    f"no workload's name begins with {name!r}; there are {', '.join(all_names)}"
                )
        return cls(names, backends or OUR_BACKENDS)

    def wants(self, workload: str, backend: str) -> bool:
        """Tell whether a row is wanted."""
        named = not self.names or workload.startswith(self.names)
        return named and backend in self.backends


class _Job(NamedTuple):
    names: Names
    measure: Callable[[], Row]


def run(
    browser: Browser,
    base_url: str,
    only: str = "",
    quick: bool = False,
    on_result: Callable[[Row | Failure], None] = lambda _: None,
    launch: Callable[[], Browser] | None = None,
) -> Report:
    """Run the rows that `only` names (all by default); `on_result` hears of each as it is done.

    `launch` starts browsers that nobody used yet; without it there are no rows that need one.

    Raises:
        ValueError: a name in `only` begins no workload's.
    """
    effort = QUICK if quick else Effort()
    selection = Selection.parse(only)
    rows: list[Row] = []
    failures: list[Failure] = []

    with closing(Pages(browser, base_url)) as pages:
        page, environment = pages.find(Needs())
        peak: float = page.evaluate(MEASURE_PEAK)
        jobs = [
            *_workload_jobs(pages, selection, effort),
            *_first_prediction_jobs(browser, base_url, selection, effort, environment["peers"]),
            *_first_model_jobs(launch, base_url, selection, effort, environment["peers"]),
        ]
        for names, measure in jobs:
            try:
                if reason := environment["unavailable"].get(names.backend):
                    raise Error(f"our {names.backend} can't start here: {reason}")
                rows.append(measure())
                on_result(rows[-1])
            except Error as error:
                reason = error.message.partition("\nCall log:")[0].strip()
                failures.append({**names._asdict(), "error": reason})  # type: ignore[typeddict-item]
                on_result(failures[-1])

    version = f"{browser.browser_type.name} {browser.version}"
    header = make_header(environment, peak, version, only, quick)
    return {"header": header, "rows": rows, "failures": failures}


def _workload_jobs(pages: Pages, selection: Selection, effort: Effort) -> Iterator[_Job]:
    for workload in WORKLOADS:
        for backend, peer_backend in workload.pairs():
            if selection.wants(workload.name, backend):
                names = Names(
                    workload.name, workload.sizes, backend, workload.threads, peer_backend
                )
                yield _Job(names, partial(_measure, pages, workload, names, effort))


def _measure(pages: Pages, workload: Workload, names: Names, effort: Effort) -> Row:
    needs = Needs(
        workload.threads,
        numpy=names.peer == "numpy",
        isolated=not workload.jax,
        poses=names.peer_backend.startswith("pose-detection"),
    )
    page, described = pages.find(needs)
    sides = (names.backend, names.threads, names.peer_backend)
    arguments = [workload.key, *sides, json.dumps(asdict(effort))]
    times: dict[str, Any] = page.evaluate(RUN_WORKLOAD, arguments)
    return measured(workload, names, described["peers"], times)


def _first_prediction_jobs(
    browser: Browser, base_url: str, selection: Selection, effort: Effort, peer_versions: Versions
) -> Iterator[_Job]:
    for workload in (first_prediction.NAME, first_prediction.REPEAT):
        for backend, peer_backend in first_prediction.PAIRS:
            if selection.wants(workload, backend):
                names = Names(workload, first_prediction.SIZES, backend, 1, peer_backend)
                loads = effort.page_loads
                yield _Job(
                    names,
                    partial(
                        first_prediction.measure, browser, base_url, names, loads, peer_versions
                    ),
                )


def _first_model_jobs(
    launch: Callable[[], Browser] | None,
    base_url: str,
    selection: Selection,
    effort: Effort,
    peer_versions: Versions,
) -> Iterator[_Job]:
    backend = first_model.BACKEND
    if launch is not None and selection.wants(first_model.NAME, backend):
        names = Names(first_model.NAME, first_model.WORKLOAD.sizes, backend, 1, backend)
        measure = partial(
            first_model.measure, launch, base_url, names, effort.page_loads, peer_versions
        )
        yield _Job(names, measure)
