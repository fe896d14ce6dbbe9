"""`python -m tests_browser.bench`: run the benchmarks, write `results.json`, print the table."""

import argparse
import contextlib
import sys
import tempfile
from functools import partial
from pathlib import Path
from shutil import copytree

from playwright.sync_api import sync_playwright

from tests_browser.bench.report import disagreements, one_line, table, write
from tests_browser.bench.runner import run, serve_bench
from tests_browser.bench.summary import SUMMARY, names_of_shown, write_summary
from tests_browser.browsers import launch_chromium
from web.build import ROOT, build_site

RESULTS = ROOT / "bench" / "results.json"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare webtensor with TensorFlow.js.")
    parser.add_argument(
        "only",
        nargs="*",
        help="workloads by the beginning of their names, and backends: matmul wasm",
    )
    parser.add_argument("--quick", action="store_true", help="see that it works; times mean little")
    parser.add_argument("--output", type=Path, default=RESULTS, help="default: bench/results.json")
    parser.add_argument(
        "--publish",
        metavar="MACHINE",
        help="run what the front page shows, and write its web/benchmarks.json; MACHINE says in"
        " words what state the machine is in",
    )
    return parser


def main() -> None:
    """Run the requested rows; exit with 1 where something failed or results differ."""
    options = _parser().parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        # A copy: building the site anew meanwhile would pull the wheel from under the pages.
        serve_bench(Path(copytree(build_site(), folder, dirs_exist_ok=True))) as url,
        sync_playwright() as playwright,
        contextlib.closing(launch_chromium(playwright)) as browser,
    ):
        try:
            report = run(
                browser,
                url,
                " ".join(names_of_shown() if options.publish else options.only),
                options.quick,
                on_result=lambda result: print(one_line(result), flush=True),
                launch=partial(launch_chromium, playwright),
            )
        except ValueError as error:
            sys.exit(str(error))

    write(report, options.output)
    print(f"\n{table(report['rows'])}\n")
    for note in report["header"]["notes"]:
        print(note)
    print(f"Written to {options.output}")
    if options.publish:
        write_summary(report, options.publish, SUMMARY)
        print(f"Summary written to {SUMMARY}")
    differing, failures = disagreements(report["rows"]), report["failures"]
    if differing or failures:
        sys.exit(f"{len(failures)} rows failed; in {len(differing)} the results differ.")


if __name__ == "__main__":
    main()
