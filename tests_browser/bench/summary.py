"""The few rows of a run that the front page shows: `docs/benchmarks.json`, which is in git.

It says when, where and with which versions it was measured, so that nobody takes it for a promise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tests_browser.bench import first_prediction
from tests_browser.bench.report import TENSORFLOW, Header, Report, Row
from web.build import ROOT

__all__ = ["SHOWN", "SUMMARY", "ShownRow", "names_of_shown", "write_summary"]

SUMMARY = ROOT / "docs" / "benchmarks.json"


class ShownRow(NamedTuple):
    """A row of the chart: which of the run it is, and its title there."""

    workload: str
    sizes: str
    title: str
    details: str


#: Of WebAssembly, which runs alike everywhere; WebGL's figures are those of one graphics processor.
SHOWN = (
    ShownRow(
        "model.mobilenet_v1",
        "224×224 alpha 1.0",
        "MobileNet v1",
        "classify a photo of 224×224 pixels",
    ),
    ShownRow(
        "model.mobilenet_v2",
        "224×224 alpha 1.0",
        "MobileNet v2",
        "classify a photo of 224×224 pixels",
    ),
    ShownRow(
        "model.posenet",
        "257×257 alpha 0.75 stride 16",
        "PoseNet",
        "find a body in a photo of 257×257 pixels",
    ),
    ShownRow(
        "model.blazeface",
        "128×128",
        "BlazeFace",
        "find faces in a photo of 128×128 pixels",
    ),
    ShownRow(
        "overhead.add",
        "4×4 4×4",
        "Add two 4×4 matrices",
        "the overhead of a call, from Python and from JavaScript",
    ),
    ShownRow(
        first_prediction.NAME,
        first_prediction.SIZES,
        "First prediction",
        "from opening a page, Python included, to the first digit read",
    ),
)


def names_of_shown() -> list[str]:
    """Return what a run has to be asked for: the workloads, and the backend."""
    return [*(shown.workload for shown in SHOWN), "wasm"]


def write_summary(report: Report, machine: str, path: Path) -> None:
    """Write the rows that are shown; `machine` says in words what state the machine was in."""
    rows = list(_shown_rows(report["rows"]))
    content = {"conditions": conditions(report["header"], machine), "rows": rows}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def conditions(header: Header, machine: str) -> str:
    """Say in a sentence what was measured, where and when."""
    day = datetime.fromisoformat(header["date"]).date().isoformat()
    return (
        f"WebAssembly on one thread, webtensor {header['webtensor']} beside TensorFlow.js"
        f" {header['peers'][TENSORFLOW]}, in turns in one page of {header['browser']} on"
        f" {machine} ({header['cpu']}, {header['cores']} cores), {day}. Medians of paired rounds."
    )


def _shown_rows(rows: list[Row]) -> Iterator[Mapping[str, str | float]]:
    for shown in SHOWN:
        (row,) = (row for row in rows if _is_shown(row, shown))
        yield {
            "title": shown.title,
            "details": shown.details,
            "ours_ms": row["ours_ms"]["median"],
            "theirs_ms": row["theirs_ms"]["median"],
            "ratio": row["ratio"]["median"],
        }


def _is_shown(row: Row, shown: ShownRow) -> bool:
    what = (row["workload"], row["sizes"]) == (shown.workload, shown.sizes)
    return what and (row["backend"], row["threads"], row["peer"]["backend"]) == ("wasm", 1, "wasm")
