"""The table of ONNX's backend tests: ``python -m tests_py.onnx_report`` prints and writes it.

It becomes a part of ``docs/onnx.md``; ``tests_py/onnx/test_backend_cases.py`` fails when it is out
of date, so that a case that no longer passes shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import onnx

from tests_py.onnx.backend_cases import (
    Case,
    Outcome,
    file_cases,
    node_cases,
    outcomes,
    tested_operator,
)

__all__ = ["PAGE", "page", "with_table"]

PAGE = Path(__file__).parents[1] / "docs" / "onnx.md"
#: Where the table begins in the page.
_MARK = "<!-- The rest is written by `python -m tests_py.onnx_report`. -->\n"


def with_table(text: str, table: str) -> str:
    """Return the page with a table in the place of the one that it has."""
    return text.partition(_MARK)[0] + _MARK + table


def page() -> tuple[str, list[Outcome]]:
    """Run all cases; return the table, and what became of each case."""
    cases = (*node_cases(), *file_cases())
    results = outcomes(cases)
    return _table(cases, results), results


def _table(cases: Iterable[Case], results: list[Outcome]) -> str:
    applicable = [result for result in results if not result.reason or result.status == "failed"]
    passed = sum(result.status == "passed" for result in applicable)
    others = [result for result in results if result.reason and result.status != "failed"]
    also = sum(result.status == "passed" for result in others)
    lines = [
        "",
        "## The backend tests",
        "",
        f"Of the {len(results)} node tests of `onnx` {onnx.__version__}, {len(applicable)} apply, "
        f"of which {passed} pass ({100 * passed / len(applicable):.1f} %). "
        f"Of the {len(others)} that do not apply, {also} pass all the same.",
        "",
        "### Cases that fail",
        "",
        "| case | why |",
        "|---|---|",
        *(
            f"| `{result.name}` | {_escaped(result.reason)} |"
            for result in results
            if result.status == "failed"
        ),
        "",
        "### Cases that do not apply",
        "",
        "| reason | cases | pass all the same |",
        "|---|---|---|",
    ]
    reasons = Counter(result.reason for result in others)
    passing = Counter(result.reason for result in others if result.status == "passed")
    lines += [
        f"| {reason} | {count} | {passing[reason]} |" for reason, count in sorted(reasons.items())
    ]
    lines += [
        "",
        "### Cases by operator",
        "",
        "| operator | apply | pass | do not apply |",
        "|---|---|---|---|",
    ]
    counts: dict[str, Counter[str]] = {}
    for case, result in zip(cases, results, strict=True):
        count = counts.setdefault(tested_operator(case), Counter())
        if result.reason and result.status != "failed":
            count["other"] += 1
            continue
        count["applicable"] += 1
        count[result.status] += 1
    lines += [
        f"| {op} | {count['applicable']} | {count['passed']} | {count['other'] or ''} |"
        for op, count in sorted(counts.items())
    ]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    short = text if len(text) < 160 else f"{text[:160]}…"
    return short.replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    """Print the summary, and write the page."""
    table, results = page()
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), table), "utf-8")
    print(table.partition("### Cases by operator")[0])
    print(Counter(result.status for result in results))


if __name__ == "__main__":
    main()
