"""The rows that the page can measure, and the file that a run gives: that of `make bench`.

Rows come from the table of `make bench`; those of peers that the page has not are left out.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from math import exp, log
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlencode

import js
from js import measurePeak, navigator, peer

import webtensor as wt
from tests_browser.bench.page import describe, run_workload
from tests_browser.bench.report import Failure, Names, Report, Row, make_header, measured, table
from tests_browser.bench.workload import Effort, Timed, Workload
from tests_browser.bench.workloads import FAMILIES


class Target(NamedTuple):
    """What both sides compute on: one of our backends, with a number of threads."""

    title: str
    backend: str
    threads: int = 1


#: By the values of the boxes that choose them.
TARGETS = {
    "webgl": Target("WebGL", "webgl"),
    "wasm": Target("WebAssembly, one thread", "wasm"),
    "wasm-2": Target("WebAssembly, two threads", "wasm", 2),
}
PEERS = ("webgl", "wasm", "cpu")
EFFORTS = {
    "short": Effort(sample_ms=20.0, budget_s=0.5, min_rounds=3, patience_s=5.0),
    "long": Effort(),
}
#: One row of most families, whole networks among them.
SAMPLE = (
    "overhead.add 4×4 4×4 1",
    "matmul 512×512 512×512 1",
    "conv2d 1×56×56×64 3×3×64×64 stride 1 1",
    "elementwise.add 1000×1000 1000×1000 1",
    "reduction.sum 1000×1000 axis 1 1",
    "image.resize_bilinear 2×256×256×3 1",
    "optimizers.adam 300×1000 1",
    "model.mobilenet_v1 224×224 alpha 1.0 1",
    "model.blazeface 128×128 1",
)
#: Browsers and hosts refuse longer addresses.
LONGEST_ISSUE = 5000


class Job(NamedTuple):
    """A row to measure."""

    workload: Workload
    names: Names


def offered() -> dict[str, list[Workload]]:
    """Return the workloads of each family that the page can measure."""
    families = {
        title: [
            workload
            for workload in workloads
            if workload.threads == 1 and any(peer in PEERS for _, peer in workload.pairs())
        ]
        for title, workloads in FAMILIES.items()
    }
    return {title: workloads for title, workloads in families.items() if workloads}


def obstacle(target: Target) -> str | None:
    """Say why nothing can be measured on a target, or None."""
    if (reason := wt.unavailable_reason(target.backend)) or target.threads == 1:
        return reason
    if not js.crossOriginIsolated:
        return "the page isn't cross-origin isolated: its host sends no COOP and COEP headers"
    if navigator.hardwareConcurrency < target.threads:
        return "there are too few processors"
    return None


def title_of(backend: str, threads: int) -> str:
    """Return the title of the target of a row."""
    return next(target.title for target in TARGETS.values() if target[1:] == (backend, threads))


def jobs(workloads: Iterable[Workload], targets: Iterable[str]) -> Iterator[Job]:
    """Yield the rows of workloads on some of the targets, by their names."""
    chosen = [TARGETS[name] for name in targets]
    for workload in workloads:
        for backend, peer_backend in workload.pairs():
            for target in chosen:
                if target.backend == backend and _is_comparable(workload, target, peer_backend):
                    names = Names(
                        workload.name, workload.sizes, backend, target.threads, peer_backend
                    )
                    yield Job(workload, names)


def _is_comparable(workload: Workload, target: Target, peer_backend: str) -> bool:
    """Whether a workload can be compared: on threads only what they share, on both sides."""
    if target.threads > 1:
        return peer_backend == target.backend and workload.timed is Timed.RUN
    return peer_backend in PEERS


class Measurements:
    """A run: the rows that were measured, and those that failed."""

    def __init__(self, renderer: str, effort: str) -> None:
        """Measure what the processor can do at best, and begin with no rows."""
        self.effort = EFFORTS[effort]
        self.rows: list[Row] = []
        self.failures: list[Failure] = []
        self._peak = float(measurePeak())
        self._environment = {**json.loads(describe()), "renderer": renderer}
        self._environment["peers"] |= peer.versions.to_py()

    async def measure(self, job: Job) -> Row:
        """Measure a row."""
        names, effort = job.names, json.dumps(asdict(self.effort))
        times: dict[str, Any] = json.loads(
            await run_workload(
                job.workload.key, names.backend, names.threads, names.peer_backend, effort
            )
        )
        row: Row = measured(job.workload, names, self._environment["peers"], times)
        self.rows.append(row)
        return row

    def fail(self, job: Job, error: Exception) -> Failure:
        """Note that a row could not be measured."""
        failure: Failure = {
            "workload": job.names.workload,
            "sizes": job.names.sizes,
            "backend": job.names.backend,
            "threads": job.names.threads,
            "peer_backend": job.names.peer_backend,
            "error": str(error),
        }
        self.failures.append(failure)
        return failure

    def report(self) -> Report:
        """Return what `make bench` writes; pages are not told the processor's name."""
        header = make_header(self._environment, self._peak, str(navigator.userAgent), "", False)
        header["cpu"] = "not told to pages"
        header["cores"] = int(navigator.hardwareConcurrency)
        header["system"] = str(navigator.platform)
        return {"header": header, "rows": self.rows, "failures": self.failures}

    def summaries(self) -> Iterator[str]:
        """Yield a sentence for each target about the ratios of its rows."""
        for title, *target in TARGETS.values():
            ratios = [
                row["ratio"]["median"]
                for row in self.rows
                if [row["backend"], row["threads"]] == target
            ]
            if ratios:
                mean = exp(sum(map(log, ratios)) / len(ratios))
                faster = sum(ratio >= 1 for ratio in ratios)
                yield (
                    f"{title}: {mean:.2f} times as fast as TensorFlow.js in the geometric mean,"
                    f" {median(ratios):.2f} in the median; faster in {faster} of {len(ratios)}."
                )

    def issue(self, repository: str) -> str:
        """Return the address of a form for an issue that has the figures filled in."""
        report = self.report()
        header = report["header"]
        facts = {
            "Browser": header["browser"],
            "Graphics processor": header["webgl_renderer"],
            "Processors": header["cores"],
            "System": header["system"],
            "webtensor": wt.__version__,
            "TensorFlow.js": header["peers"]["@tensorflow/tfjs"],
        }
        lines = [f"- {name}: {value}" for name, value in facts.items()]
        lines += ["", *self.summaries(), "", "```"]
        address = f"{repository}/issues/new?"
        title = f"Benchmark: {header['webgl_renderer']}"
        end = "The saved JSON has all of it; please attach it."
        for line in table(report["rows"]).splitlines():
            longer = urlencode({"title": title, "body": "\n".join([*lines, line, "```", end])})
            if len(longer) > LONGEST_ISSUE:
                break
            lines.append(line)
        body = "\n".join([*lines, "```", end])
        return address + urlencode({"title": title, "body": body})
