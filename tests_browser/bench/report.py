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
    "medians",
    "one_line",
    "table",
    "write",
]

TENSORFLOW = "@tensorflow/tfjs"
ONNXRUNTIME = "onnxruntime-web"
#: Those of the libraries that we are compared with.
Versions = Mapping[str, str]

SOFTWARE_RENDERERS = ("swiftshader", "llvmpipe", "software")


class Names(NamedTuple):
    """What identifies a row."""

    workload: str
    sizes: str
    backend: str
    peer_backend: str

    @property
    def peer(self) -> str:
        """The library that we are compared with: a package of npm."""
        return ONNXRUNTIME if self.peer_backend == "onnxruntime" else TENSORFLOW


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
    #: How many threads compute, on both sides.
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
    #: Kernels of ours that ran on another backend, because this one has none.
    fallbacks: NotRequired[list[str]]


@final
class Failure(TypedDict):
    """A row that could not be measured."""

    workload: str
    sizes: str
    backend: str
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
    found = {"median": median(samples), "min": min(samples), "max": max(samples)}
    return {**_rounded(found), "n": len(samples)}  # type: ignore[typeddict-item]


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
        "threads": 1,
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


def medians(**samples: Sequence[float]) -> dict[str, float]:
    """Return the rounded median of each list of samples."""
    return _rounded({name: median(values) for name, values in samples.items()})


def disagreements(rows: Iterable[Row]) -> list[Row]:
    """Rows whose results differ by more than their tolerance."""
    return [row for row in rows if row["agree"] > row["tolerance"]]


def make_header(found: dict[str, Any], browser: str, only: str, quick: bool) -> Header:
    """Describe the machine and the page; `found` is what the page says of itself."""
    renderer = str(found["renderer"])
    notes = [
        "Ratios are theirs / ours, of paired rounds in one page: above 1, webtensor is faster."
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
        "webtensor": found["webtensor"],
        "pyodide": found["pyodide"],
        "peers": found["peers"],
        "unavailable": found["unavailable"],
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


COLUMNS = ("workload", "sizes", "backend", "peer", "ours ms", "theirs ms", "ratio", "", "agree")


def cells(row: Row) -> tuple[str, ...]:
    """Return a row's cells, one per column of the table."""
    ratio = row["ratio"]
    marks = " differs!" if row["agree"] > row["tolerance"] else ""
    marks += " fallback" if row.get("fallbacks") else ""
    return (
        row["workload"],
        row["sizes"],
        row["backend"],
        row["peer"]["backend"],
        _number(row["ours_ms"]["median"]),
        _number(row["theirs_ms"]["median"]),
        f"{ratio['median']:.2f}",
        f"{ratio['min']:.2f}–{ratio['max']:.2f}",
        f"{row['agree']:.0e}{marks}",
    )


def one_line(result: Row | Failure) -> str:
    """Write a row, or why there is none, in a line."""
    if "error" not in result:
        return "  ".join(filter(None, cells(result)))
    # A traceback's message is its last line that isn't indented.
    reason = [line for line in result["error"].splitlines() if line.strip() == line != ""][-1]
    names = result["workload"], result["sizes"], result["backend"], result["peer_backend"]
    return "  ".join((*names, f"failed: {reason}"))


def _number(value: float) -> str:
    """Write a number of milliseconds with three digits or more, and never as a power of ten."""
    decimals = 4 if value < 1 else 2 if value < 100 else 0
    return f"{value:.{decimals}f}"


def table(rows: Iterable[Row]) -> str:
    """Write rows as a table in plain text."""
    lines = [COLUMNS, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = range(4, 8)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if index in numeric else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
