"""What a run found: the rows of `results.json`, and the table that people read."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, NotRequired, TypedDict, final

from tests_browser.bench.workload import Workload

__all__ = [
    "Failure",
    "Header",
    "Names",
    "Report",
    "Row",
    "Statistics",
    "Versions",
    "compared",
    "disagreements",
    "make_header",
    "measured",
    "medians",
    "one_line",
    "shares_of_peak",
    "table",
    "write",
]

TENSORFLOW = "@tensorflow/tfjs"
ONE_THREAD = "one thread"
#: Whose each backend is that is not TensorFlow.js's: packages of npm, and of Python.
OTHER_PEERS = {
    "jax wasm": "@jax-js/jax",
    "jax webgl": "@jax-js/jax",
    "pose-detection wasm": "@tensorflow-models/pose-detection",
    "pose-detection webgl": "@tensorflow-models/pose-detection",
    "onnxruntime": "onnxruntime-web",
    "numpy": "numpy",
    ONE_THREAD: "webtensor",
    "uncaptured": "webtensor",
}
#: Those of the libraries that we are compared with.
Versions = Mapping[str, str]

SOFTWARE_RENDERERS = ("swiftshader", "llvmpipe", "software")


class Names(NamedTuple):
    """What identifies a row."""

    workload: str
    sizes: str
    backend: str
    threads: int
    peer_backend: str

    @property
    def peer(self) -> str:
        """The library that we are compared with."""
        return OTHER_PEERS.get(self.peer_backend, TENSORFLOW)


class Statistics(TypedDict):
    """What samples spread over; milliseconds per call, or ratios without `n`."""

    median: float
    min: float
    max: float
    n: NotRequired[int]


class Peer(TypedDict):
    """Whom we are compared with."""

    name: str
    version: str
    backend: str


@final
class Row(TypedDict):
    """One workload on one pair of backends."""

    workload: str
    sizes: str
    backend: str
    #: How many threads compute, on both sides; on theirs one where their backend says so.
    threads: int
    peer: Peer
    ours_ms: Statistics
    theirs_ms: Statistics
    #: Theirs divided by ours, of paired rounds: above 1 we are faster.
    ratio: Statistics
    #: Largest difference between the results, relative to their largest magnitude.
    agree: float
    tolerance: float
    #: Medians of the part of a call that comes before waiting: Python or JavaScript alone on a
    #: GPU, everything on a CPU.
    enqueue_ms: NotRequired[dict[str, float]]
    #: Medians of when, from the start of navigation, the named steps were reached.
    steps_ms: NotRequired[dict[str, dict[str, float]]]
    #: Medians of the part that each side reaches of what as many threads could multiply and add in
    #: the same round, where multiplications are counted.
    share_of_peak: NotRequired[dict[str, float]]
    #: Medians of the longest time that the page's thread was busy while a result was waited for.
    longest_task_ms: NotRequired[dict[str, float]]
    #: What was compiled for a first prediction, and what the GPU holds after it.
    programs: NotRequired[dict[str, float]]
    gpu_bytes: NotRequired[dict[str, float]]
    #: Kernels of ours that ran on another backend, because this one has none.
    fallbacks: NotRequired[list[str]]


@final
class Failure(TypedDict):
    """A row that could not be measured."""

    workload: str
    sizes: str
    backend: str
    threads: int
    peer_backend: str
    error: str


class Header(TypedDict):
    """Where and when a run took place."""

    date: str
    cpu: str
    cores: int
    system: str
    browser: str
    webgl_renderer: str
    #: What one thread of WebAssembly can multiply and add at best.
    peak_gflop_per_s: float
    webtensor: str
    pyodide: str
    peers: Versions
    unavailable: dict[str, str]
    only: str
    quick: bool
    notes: list[str]


class Report(TypedDict):
    """The content of `results.json`."""

    header: Header
    rows: list[Row]
    failures: list[Failure]


def statistics(samples: Sequence[float]) -> Statistics:
    """Summarize samples."""
    summary = {"median": median(samples), "min": min(samples), "max": max(samples)}
    return {**_rounded(summary), "n": len(samples)}  # type: ignore[typeddict-item]


def _rounded(values: dict[str, float]) -> dict[str, float]:
    """Keep four significant digits: more would be noise."""
    return {name: float(f"{value:.4g}") for name, value in values.items()}


def compared(
    names: Names,
    peer_versions: Versions,
    ours_ms: Sequence[float],
    theirs_ms: Sequence[float],
    agree: float,
    tolerance: float,
) -> Row:
    """Make a row of paired samples."""
    ratio = statistics([theirs / ours for ours, theirs in zip(ours_ms, theirs_ms, strict=True)])
    del ratio["n"]
    return {
        "workload": names.workload,
        "sizes": names.sizes,
        "backend": names.backend,
        "threads": names.threads,
        "peer": {
            "name": names.peer,
            "version": peer_versions[names.peer],
            "backend": names.peer_backend,
        },
        "ours_ms": statistics(ours_ms),
        "theirs_ms": statistics(theirs_ms),
        "ratio": ratio,
        "agree": float(f"{agree:.3g}"),
        "tolerance": tolerance,
    }


def measured(
    workload: Workload, names: Names, peer_versions: Versions, times: Mapping[str, Any]
) -> Row:
    """Make the row of what `page.run_workload` returned."""
    row = compared(
        names, peer_versions, times["ours"], times["theirs"], times["agree"], workload.tolerance
    )
    if times["longest_task"]:
        row["longest_task_ms"] = medians(**times["longest_task"])
    row["enqueue_ms"] = medians(ours=times["ours_enqueue"], theirs=times["theirs_enqueue"])
    if times["peaks"]:
        row["share_of_peak"] = shares_of_peak(names, workload.multiplications, times)
    if times["fallbacks"]:
        row["fallbacks"] = times["fallbacks"]
    return row


def medians(**samples: Sequence[float]) -> dict[str, float]:
    """Return the rounded median of each list of samples."""
    return _rounded({name: median(values) for name, values in samples.items()})


def shares_of_peak(
    names: Names, multiplications: int, times: Mapping[str, Any]
) -> dict[str, float]:
    """Return how much of the peak of a round, in GFLOP/s of one thread, each side reaches."""
    threads = dict.fromkeys(("ours", "theirs"), names.threads)
    if names.peer_backend == ONE_THREAD:
        threads["theirs"] = 1
    shares = {
        side: [
            2 * multiplications / peak / 1e6 / taken / count
            for peak, taken in zip(times["peaks"], times[side], strict=True)
        ]
        for side, count in threads.items()
    }
    return medians(**shares)


def disagreements(rows: Iterable[Row]) -> list[Row]:
    """Rows whose results differ by more than their tolerance."""
    return [row for row in rows if row["agree"] > row["tolerance"]]


def make_header(
    environment: dict[str, Any], peak: float, browser: str, only: str, quick: bool
) -> Header:
    """Describe the machine and the page; `environment` is what the page says of itself."""
    renderer = str(environment["renderer"])
    notes = [
        "Ratios are theirs / ours, of paired rounds in one page: above 1, webtensor is faster.",
        f"One thread of this browser's WebAssembly multiplies and adds {peak:.1f} GFLOP/s at best;"
        ' "of peak" is the part that ours reach, for each thread, of what one does in the same'
        " round.",
    ]
    if any(name in renderer.lower() for name in SOFTWARE_RENDERERS):
        notes.append(
            "WebGL is drawn by software here, on the CPU's cores: webgl rows compare the two"
            " libraries' shaders and overheads, and say little about a real GPU."
        )
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu_name(),
        "cores": os.cpu_count() or 0,
        "system": f"{platform.system()} {platform.release()}",
        "browser": browser,
        "webgl_renderer": renderer,
        "peak_gflop_per_s": float(f"{peak:.3g}"),
        "webtensor": environment["webtensor"],
        "pyodide": environment["pyodide"],
        "peers": environment["peers"],
        "unavailable": environment["unavailable"],
        "only": only,
        "quick": quick,
        "notes": notes,
    }


def _cpu_name() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def write(report: Report, path: Path) -> None:
    """Write the report as JSON, a row per line so that versions can be compared."""
    rows, failures = (
        ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in items)
        for items in (report["rows"], report["failures"])
    )
    header = json.dumps(report["header"], indent=2, ensure_ascii=False).replace("\n", "\n  ")
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [
        f'  "header": {header}',
        f'  "rows": [\n{rows}\n  ]',
        f'  "failures": [\n{failures}\n  ]',
    ]
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


COLUMNS = (
    *("workload", "sizes", "backend", "threads", "peer"),
    *("ours ms", "theirs ms", "ratio", "", "of peak", "agree", "ours, theirs"),
)
NUMERIC = (3, 5, 6, 7, 8, 9)


def cells(row: Row) -> tuple[str, ...]:
    """Return a row's cells, one per column of the table."""
    ratio = row["ratio"]
    marks = " differs!" if row["agree"] > row["tolerance"] else ""
    marks += " fallback" if row.get("fallbacks") else ""
    shares = row.get("share_of_peak")
    return (
        row["workload"],
        row["sizes"],
        row["backend"],
        str(row["threads"]),
        row["peer"]["backend"],
        _number(row["ours_ms"]["median"]),
        _number(row["theirs_ms"]["median"]),
        f"{ratio['median']:.2f}",
        f"{ratio['min']:.2f}–{ratio['max']:.2f}",
        f"{shares['ours']:.0%}" if shares else "",
        f"{row['agree']:.0e}{marks}",
        _besides(row),
    )


def _besides(row: Row) -> str:
    """What else is known of both sides."""
    megabytes = {side: size / 1e6 for side, size in row.get("gpu_bytes", {}).items()}
    report = {
        "enqueued in {} ms": row["enqueue_ms"] if "longest_task_ms" in row else {},
        "longest task {} ms": row.get("longest_task_ms", {}),
        "{} programs": row.get("programs", {}),
        "{} MB on the GPU": megabytes,
    }
    return "; ".join(
        text.format(", ".join(f"{sides[side]:.3g}" for side in ("ours", "theirs")))
        for text, sides in report.items()
        if sides
    )


def one_line(result: Row | Failure) -> str:
    """Write a row, or why there is none, in a line."""
    if "error" not in result:
        return "  ".join(filter(None, cells(result)))
    # A traceback's message is its last line that isn't indented.
    reason = [line for line in result["error"].splitlines() if line.strip() == line != ""][-1]
    names = (str(result[name]) for name in Names._fields)  # type: ignore[literal-required]
    return "  ".join((*names, f"failed: {reason}"))


def _number(value: float) -> str:
    """Write a number of milliseconds with three digits or more, and never as a power of ten."""
    decimals = 4 if value < 1 else 2 if value < 100 else 0
    return f"{value:.{decimals}f}"


def table(rows: Iterable[Row]) -> str:
    """Write rows as a table in plain text."""
    lines = [COLUMNS, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if index in NUMERIC else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
