"""The benchmark machinery runs, and its file says what it promises. Times are not judged."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests_browser.bench import first_prediction, pages
from tests_browser.bench.report import (
    Names,
    Report,
    compared,
    disagreements,
    one_line,
    shares_of_peak,
    table,
    write,
)
from tests_browser.bench.runner import Selection, run, serve_bench
from tests_browser.bench.summary import SHOWN, names_of_shown, write_summary
from tests_browser.bench.workloads import WORKLOADS
from tests_browser.pyodide_numpy import NumpyMissingError, numpy_wheel

#: Rows of each peer, on one thread and two; `make bench` runs all.
SAMPLE = (
    "overhead.add",
    "depthwise_conv2d.gradient",
    "elementwise.exp",
    "model.blazeface",
    first_prediction.NAME,
)

ROW_TYPES = {
    "workload": str,
    "sizes": str,
    "backend": str,
    "threads": int,
    "peer": dict,
    "ours_ms": dict,
    "theirs_ms": dict,
    "ratio": dict,
    "agree": float,
    "tolerance": float,
}


@pytest.fixture(scope="module")
def bench_url(site: Path) -> Iterator[str]:
    """The site and the bench's pages."""
    with serve_bench(site) as url:
        yield url


@pytest.fixture(scope="module")
def report(chromium: Browser, bench_url: str) -> Report:
    """A quick run of the sample on one backend."""
    return run(chromium, bench_url, f"{' '.join(SAMPLE)} wasm", quick=True)


@pytest.fixture(scope="module")
def unmeasurable() -> tuple[str, ...]:
    """Peers that can't be had here."""
    try:
        numpy_wheel()
    except NumpyMissingError:
        return ("numpy",)
    return ()


def test_rows_that_were_asked_for_are_measured(report: Report, unmeasurable: tuple[str, ...]):
    assert {failure["peer_backend"] for failure in report["failures"]} == set(unmeasurable)
    assert [
        (row["workload"], row["sizes"], row["threads"], row["peer"]["backend"])
        for row in report["rows"]
    ] == [
        *(
            (workload.name, workload.sizes, workload.threads, peer)
            for workload in WORKLOADS
            if workload.name.startswith(SAMPLE)
            for peer in workload.peers.get("wasm", ())
            if peer not in unmeasurable
        ),
        (first_prediction.NAME, first_prediction.SIZES, 1, "wasm"),
        (first_prediction.REPEAT, first_prediction.SIZES, 1, "wasm"),
    ]


def test_peers_have_names_and_versions(report: Report, unmeasurable: tuple[str, ...]):
    peers = {row["peer"]["backend"]: row["peer"] for row in report["rows"]}
    assert {backend: peer["name"] for backend, peer in peers.items()} == {
        "wasm": "@tensorflow/tfjs",
        "cpu": "@tensorflow/tfjs",
        "onnxruntime": "onnxruntime-web",
        "one thread": "webtensor",
        **{backend: backend for backend in {"numpy"}.difference(unmeasurable)},
    }
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", peer["version"]) for peer in peers.values())


def test_networks_run_on_two_threads(report: Report):
    on_two = {row["workload"] for row in report["rows"] if row["threads"] == 2}
    assert on_two == {"model.blazeface"}


def test_products_say_how_near_the_peak_they_come(report: Report):
    assert report["header"]["peak_gflop_per_s"] > 0
    families = {"matmul", "conv2d", "depthwise_conv2d", "layer", "model"}
    for row in report["rows"]:
        if row["workload"].split(".")[0] in families and not row["workload"].endswith("gradient"):
            assert set(row["share_of_peak"]) == {"ours", "theirs"}
            assert min(row["share_of_peak"].values()) > 0


def test_shares_of_the_peak_are_those_of_as_many_threads():
    names = Names("matmul", "", "wasm", 2, "one thread")
    times = {"ours": [2.0, 1.0, 9.0], "theirs": [4.0, 2.0, 9.0], "peaks": [10.0, 20.0, 10.0]}
    assert shares_of_peak(names, 10**7, times) == {"ours": 0.5, "theirs": 0.5}


def test_results_agree(report: Report):
    assert not disagreements(report["rows"])


def test_file_has_a_header_and_rows(report: Report, tmp_path: Path):
    path = tmp_path / "bench" / "results.json"
    write(report, path)
    content: dict[str, Any] = json.loads(path.read_text())
    assert {"date", "browser", "cpu", "webgl_renderer", "peers", "notes"} <= set(content["header"])
    assert "chromium" in content["header"]["browser"]
    for row in content["rows"]:
        assert {name: type(row[name]) for name in ROW_TYPES} == ROW_TYPES
        assert set(row["peer"]) == {"name", "version", "backend"}
        assert set(row["ratio"]) == {"median", "min", "max"}
        for side in ("ours_ms", "theirs_ms"):
            spread = row[side]
            assert set(spread) == {"median", "min", "max", "n"}
            assert 0 < spread["min"] <= spread["median"] <= spread["max"]


def test_table_has_a_line_per_row(report: Report):
    lines = table(report["rows"]).splitlines()
    assert len(lines) == 1 + len(report["rows"])
    assert lines[1].startswith("overhead.add")


def test_summary_has_what_the_front_page_shows(report: Report, tmp_path: Path):
    versions = {"@tensorflow/tfjs": "4.22.0", "webtensor": "0.1.0"}
    rows = [
        compared(Names(shown.workload, shown.sizes, *where), versions, [2.0], [times], 0.0, 0.0)
        for times, where in ((9.0, ("wasm", 2, "wasm")), (3.0, ("wasm", 1, "wasm")))
        for shown in SHOWN
    ]
    path = tmp_path / "benchmarks.json"
    write_summary({**report, "rows": rows}, "a slow machine", path)
    summary = json.loads(path.read_text())
    assert [row["title"] for row in summary["rows"]] == [shown.title for shown in SHOWN]
    assert all(row["ratio"] == 1.5 for row in summary["rows"])
    assert f"on a slow machine ({report['header']['cpu']}" in summary["conditions"]
    assert report["header"]["date"][:10] in summary["conditions"]


def test_what_the_front_page_shows_is_measured():
    selection = Selection.parse(" ".join(names_of_shown()))
    sizes = {(workload.name, workload.sizes) for workload in WORKLOADS}
    for shown in SHOWN:
        assert selection.wants(shown.workload, "wasm")
        is_first = shown.workload == first_prediction.NAME
        assert is_first or (shown.workload, shown.sizes) in sizes


def test_first_predictions_tell_their_steps(report: Report):
    for row in report["rows"][-2:]:
        for times in row["steps_ms"].values():
            assert list(times.values()) == sorted(times.values())
            assert list(times)[-1] == "predicted"


def test_workloads_are_told_apart_by_their_keys():
    keys = [workload.key for workload in WORKLOADS]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "only, workload, backend, expected",
    [
        ("", "matmul", "webgl", True),
        ("matmul", "matmul", "wasm", True),
        ("matmul", "conv2d", "wasm", False),
        ("wasm", "conv2d", "wasm", True),
        ("wasm", "conv2d", "webgl", False),
        ("overhead,webgl", "overhead.add", "webgl", True),
        ("overhead,webgl", "overhead.add", "wasm", False),
        ("overhead matmul", "matmul", "wasm", True),
    ],
)
def test_rows_are_chosen_by_prefix_and_backend(only, workload, backend, expected):
    assert Selection.parse(only).wants(workload, backend) is expected


def test_a_name_that_means_no_workload_is_refused():
    with pytest.raises(ValueError, match="begins with 'convolve'; there are arange, basic_lstm"):
        Selection.parse("matmul convolve")


def test_rows_beside_numpy_fail_where_it_is_missing(
    chromium: Browser, bench_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("WEBTENSOR_PYODIDE_NUMPY", "/nowhere/numpy.whl")
    report = run(chromium, bench_url, "sort", quick=True)
    assert report["rows"] == []
    assert [failure["error"] for failure in report["failures"]] == [
        "WEBTENSOR_PYODIDE_NUMPY names no file: /nowhere/numpy.whl"
    ]


def test_rows_of_poses_fail_where_their_package_is_missing(
    chromium: Browser, bench_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(pages, "PACKAGES", tmp_path / "packages")
    report = run(chromium, bench_url, "pose wasm", quick=True)
    assert report["rows"] == []
    assert [failure["error"] for failure in report["failures"]] == 2 * [
        f"{tmp_path / 'packages'} is missing: `make bench` installs it"
    ]


def test_failures_say_why():
    line = one_line(
        {
            "workload": "matmul",
            "sizes": "2×2 2×2",
            "backend": "wasm",
            "threads": 1,
            "peer_backend": "cpu",
            "error": "PythonError: Traceback (most…):\n  File …\nKeyError: 'x'\n\n  at",
        }
    )
    assert line == "matmul  2×2 2×2  wasm  1  cpu  failed: KeyError: 'x'"
