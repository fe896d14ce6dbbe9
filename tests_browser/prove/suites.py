"""The project's own tests again: in random orders, beside a busy process, and with more fuzz."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests_browser.prove.trials import Stage, Trial
from web.build import ROOT

BUSY = "while True: pass"


def run_pytest(*arguments: str) -> str:
    """Run pytest, and return its last line without the time."""
    return run_tests(sys.executable, "-m", "pytest", "-q", "--no-header", *arguments)


def run_tests(*command: str) -> str:
    """Run a command that ends with tests, and return its last line without the time."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]
    summary = result.stdout.strip().splitlines()[-1]
    return re.sub(r" in [\d.]+s.*|=+", "", summary).strip()


@contextmanager
def busy_process() -> Iterator[None]:
    """Keep a processor busy."""
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def random_orders_pass(stage: Stage, trial: Trial, orders: int) -> str:
    """Run the tests in CPython in random orders."""
    for seed in range(1, orders + 1):
        summary = run_pytest(
            *("--numprocesses", "auto", "--dist", "loadfile"),
            *("-p", "randomly", f"--randomly-seed={seed}", "tests_py", "pkg/webtensor"),
        )
        print(f"order {seed}: {summary}", flush=True)
    return f"{orders} orders; the last: {summary}"


def browsers_pass_under_load(stage: Stage, trial: Trial, rounds: int) -> str:
    """Run the tests in browsers beside a busy process."""
    with busy_process():
        for number in range(1, rounds + 1):
            summary = run_pytest(
                *("--numprocesses", "2", "--dist", "loadfile", "--timeout-method=thread"),
                *("--max-worker-restart=0", "tests_browser"),
            )
            print(f"round {number}: {summary}", flush=True)
    return f"{rounds} rounds; the last: {summary}"


def mutated_files_are_refused(stage: Stage, trial: Trial, mutations: int) -> str:
    """Read mutated files of each format."""
    return f"{mutations} mutations of each format: {run_tests('make', 'fuzz')}"


SUITE_TRIALS = [
    Trial("fuzz", mutated_files_are_refused, "mutations", 1_000),
    Trial("orders", random_orders_pass, "orders", int(os.environ.get("PROVE_SEEDS", "20"))),
    Trial(
        "rounds",
        browsers_pass_under_load,
        "rounds",
        int(os.environ.get("PROVE_ROUNDS", "5")),
        browser="all",
    ),
]
