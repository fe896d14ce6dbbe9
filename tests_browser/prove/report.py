"""Keeps what came of the trials, and writes `docs/reliability.md` from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests_browser.prove.graphs import GRAPH_TRIALS
from tests_browser.prove.matrix import CONTEXTS, HOSTS, MATRIX_TRIALS
from tests_browser.prove.network import NETWORK_TRIALS
from tests_browser.prove.storage import STORAGE_TRIALS
from tests_browser.prove.suites import SUITE_TRIALS
from tests_browser.prove.training import TRAINING_TRIALS
from tests_browser.prove.trials import Trial
from tests_browser.prove.visibility import VISIBILITY_TRIALS
from web.docs_site import DOCS

PAGE = DOCS / "reliability.md"
RECORDS = DOCS / "reliability.json"

TRIALS: dict[str, Trial] = {
    trial.name: trial
    for trial in (
        *MATRIX_TRIALS,
        *GRAPH_TRIALS,
        *NETWORK_TRIALS,
        *TRAINING_TRIALS,
        *STORAGE_TRIALS,
        *VISIBILITY_TRIALS,
        *SUITE_TRIALS,
    )
}

#: What each family of trials tries, in the order of the page.
FAMILIES = {
    "training": "A small network trains; what is allocated at the end is compared with what was"
    " after a tenth of the steps.",
    "contexts": "The WebGL context is lost every 50 steps. Training restores what it read last, at"
    " most ten steps ago, and ends with the weights of undisturbed training, bit by bit.",
    "threads": "The second thread of the wasm backend is killed every 20 steps, and started anew"
    " ten steps later.",
    "reload": "The page is reloaded in the middle of training, which goes on from the model and the"
    " optimizer in IndexedDB.",
    "worker": "The worker that trains is killed, and another goes on from IndexedDB.",
    "tabs": "Two tabs train at once, and store their models in the same database.",
    "hidden": "The page believes itself hidden: it gets no frames, and each timer waits a second.",
    "quota": "Models are stored that are larger than the origin's quota of 4 MB.",
    "network": "A server breaks off the files of a model, shortens them, or answers 503, at"
    " positions spread over all their bytes.",
    "graphs": "Random graphs of operations are computed in pages, and by NumPy in CPython.",
    "fuzz": "Mutated files of each format are read in CPython.",
    "orders": "All tests in CPython run in random orders.",
    "rounds": "All tests in browsers run beside a process that keeps a processor busy.",
}

INTRODUCTION = """\
# Reliability

`make prove` writes this page, with what it found and when; `make prove ONLY="training graphs"` runs
a part. With every change the tests run one trial of each family at a short length, save for the
last three families, which are tests themselves. What was not run at its full length says so in its
line.
"""


@dataclass(frozen=True)
class Record:
    """What came of a trial."""

    name: str
    length: int
    #: ISO dates sort as they should.
    date: str
    seconds: int
    holds: bool
    #: The figures, or what went wrong.
    text: str
    #: The checksum of the sources.
    sources: str


def read_records(path: Path = RECORDS) -> dict[str, Record]:
    """Read the records by the trials' names."""
    rows = json.loads(path.read_text("utf-8")) if path.exists() else []
    return {row["name"]: Record(**row) for row in rows if row["name"] in TRIALS}


def write_records(records: dict[str, Record]) -> None:
    """Write the records, and the page that shows them."""
    rows = [asdict(records[name]) for name in TRIALS if name in records]
    RECORDS.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(records), "utf-8")


# -- the page --------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def outcome(record: Record | None, text: Callable[[Record], str]) -> str:
    """Say in a cell what came of a trial."""
    if record is None:
        return "not run"
    return text(record) if record.holds else f"**fails**: {record.text}"


def matrix_section(records: dict[str, Record]) -> str:
    """Show the matrix: a row for each browser and backend, a column for each context and host."""
    columns = [f"{context}-{host}" for host in HOSTS for context in CONTEXTS]
    keys = list(dict.fromkeys((trial.browser, trial.backend) for trial in MATRIX_TRIALS))
    rows = [
        [
            f"{browser}, {backend}",
            *(
                outcome(records.get(f"matrix-{column}-{browser}-{backend}"), lambda r: r.text)
                for column in columns
            ),
        ]
        for browser, backend in keys
    ]
    dates = sorted(record.date for name, record in records.items() if name.startswith("matrix-"))
    when = f" Run on {dates[0]}." if dates and dates[0] == dates[-1] else ""
    header = ["", *(column.replace("-", ", ") for column in columns)]
    return "\n\n".join(
        [
            "## Browsers, places, isolation and backends",
            "A model trains in a page and in a worker, in pages that are cross-origin isolated\n"
            f"and in plain ones. The cells say with what it computes there.{when}",
            table(header, rows),
        ]
    )


def family_section(family: str, records: dict[str, Record]) -> str:
    """Show the trials of a family."""
    trials = [trial for trial in TRIALS.values() if trial.family == family]
    rows = []
    for trial in trials:
        record = records.get(trial.name)
        length = trial.length if record is None else record.length
        share = "" if length >= trial.length else f" of {trial.length:,}"
        rows.append(
            [
                ", ".join(filter(None, (trial.browser, trial.backend))) or "CPython",
                f"{length:,}{share} {trial.unit}",
                outcome(record, lambda r: r.text),
                "" if record is None else f"{record.date}, {record.seconds:,} s",
            ]
        )
    return "\n\n".join(
        [
            f"## {family.capitalize()}",
            FAMILIES[family],
            table(["where", "length", "result", "when, how long"], rows),
        ]
    )


def page(records: dict[str, Record]) -> str:
    """Write the whole page."""
    sections = [matrix_section(records), *(family_section(name, records) for name in FAMILIES)]
    return "\n\n".join([INTRODUCTION.rstrip(), *sections]) + "\n"
