"""Writes `docs/standards.md`: what passes of the array API standard, and what builds upon it."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import webtensor as wt
from tests_py.cases import failures, run_cases
from tests_py.cases.randomized import GENERATORS, Draw
from tests_py.standards.libraries import CALLS, LIBRARIES, Outcome, outcomes
from tests_py.standards.signatures import FUNCTIONS, METHODS, fault_of
from tests_py.standards.special_cases import TABLES, failures_on

__all__ = ["PAGE", "array_api_section", "introduction", "library_section", "page", "path_of"]

PAGE = Path(__file__).parents[2] / "docs" / "standards.md"
#: Those that run in CPython; the browsers' tests hold WebGL to the same special cases.
BACKENDS = ("numpy", "wasm")
#: The standard's dtypes of numbers.
NUMERIC_DTYPES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
#: Random calls of each function.
DRAWS = 10

INTRODUCTION = """\
# Standards

`make standards` writes this page, and a test fails where it is not up to date.

`wt` is a namespace of the [array API standard](https://data-apis.org/array-api/2024.12/), version
2024.12, with its extensions `linalg` and `fft`. It differs where the library's design does:

- Tensors are immutable: `x[i] = y` raises; `wt.where` and `wt.tensor_scatter_update` make new ones.
- Tensors have the dtypes bool, int32, float32 and complex64. The others are names that can be asked
  about, as [dtypes.md](dtypes.md) says. After `wt.env().set("SUBSTITUTE_DTYPES", True)`, whoever
  asks for another one gets the nearest that tensors have.
- Dtypes of different kinds promote, and a dtype is a `str`.

The standard's own suite, `array-api-tests`, has to be told which dtypes there are:

```sh
export ARRAY_API_TESTS_MODULE=webtensor
export ARRAY_API_TESTS_SKIP_DTYPES={unsupported}
pytest array_api_tests
```
"""


def share(done: int, wanted: int) -> str:
    """Say how much of something holds."""
    return f"{done} of {wanted}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


# -- the array API standard -----------------------------------------------------------------------


def right_calls(path: str, backend: str) -> int | None:
    """Count the random calls of a function that give what its oracle gives, where it has one."""
    generator = GENERATORS.get(path) or _by_identity().get(id(reduce(getattr, path.split("."), wt)))
    if generator is None:
        return None
    cases = [generator(Draw(Random(seed))) for seed in range(DRAWS)]
    answer = asyncio.run(run_cases([case.encoded() for case in cases], backend))
    alone = [{**answer, "results": [result]} for result in answer["results"]]
    wrong = [failures([case], part, backend) for case, part in zip(cases, alone, strict=True)]
    return DRAWS - sum(map(bool, wrong))


def _by_identity() -> dict[int, Any]:
    """Generators by the function that they call: some functions have several names."""
    root: Any = wt
    results = {}
    for path, generator in GENERATORS.items():
        function = reduce(lambda owner, name: getattr(owner, name, None), path.split("."), root)
        results[id(function)] = generator
    return results


def special_rows(backend: str) -> dict[str, tuple[int, int]]:
    """Count the special cases of each function that hold, and all of them."""
    counts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for each in TABLES:
        wrong = {failure.partition(":")[0] for failure in failures_on(each, backend)}
        done, wanted = counts[each.function]
        counts[each.function] = done + len(each.rows) - len(wrong), wanted + len(each.rows)
    return counts


def array_api_section() -> str:
    """Try the functions of the standard on each backend."""
    names = [line.split("(")[0] for line in FUNCTIONS]
    faults = {name: fault_of(line, wt) for name, line in zip(names, FUNCTIONS, strict=True)}
    methods = sum(fault_of(line, wt.Tensor) is None for line in METHODS)
    calls = {backend: {name: right_calls(name, backend) for name in names} for backend in BACKENDS}
    special = {backend: special_rows(backend) for backend in BACKENDS}

    def total(counts: Iterable[tuple[int, int]]) -> str:
        done, wanted = zip(*counts, strict=True)
        return share(sum(done), sum(wanted))

    def cells(name: str) -> list[str]:
        right = [calls[backend][name] for backend in BACKENDS]
        rows = [special[backend].get(name) for backend in BACKENDS]
        return [
            f"`{name}`",
            "yes" if faults[name] is None else str(faults[name]),
            *("" if count is None else share(count, DRAWS) for count in right),
            *("" if counts is None else share(*counts) for counts in rows),
        ]

    summary = [
        ["signatures of functions", *[share(list(faults.values()).count(None), len(names))] * 2],
        ["signatures of methods", *[share(methods, len(METHODS))] * 2],
        [
            "random calls that give what NumPy and SciPy give",
            *(
                total((n, DRAWS) for n in calls[backend].values() if n is not None)
                for backend in BACKENDS
            ),
        ],
        ["special cases", *(total(special[backend].values()) for backend in BACKENDS)],
    ]
    return "\n\n".join(
        [
            "## The array API standard",
            table(["", *BACKENDS], summary),
            "On WebGL, the browsers' tests fail unless all special cases hold in Chromium and in\n"
            "Firefox, and draw random calls of their own. Functions without random calls make no\n"
            "tensors, or only convert: `test_array_api.py` tests them one by one.",
            table(
                [
                    "function",
                    "signature",
                    *(f"calls, {backend}" for backend in BACKENDS),
                    *(f"special cases, {backend}" for backend in BACKENDS),
                ],
                map(cells, names),
            ),
        ]
    )


# -- libraries ------------------------------------------------------------------------------------


def path_of(call: str) -> str:
    """Name the function of a call."""
    return call.split("(")[0]


def library_section(library: str) -> str:
    """Try a library's functions on each backend, without substitutes for dtypes and with them."""
    columns = {
        (backend, substitutes): outcomes(library, backend, CALLS[library], substitutes)
        for substitutes in (False, True)
        for backend in BACKENDS
    }
    header = [
        backend + (", `SUBSTITUTE_DTYPES`" if substitutes else "")
        for backend, substitutes in columns
    ]
    counters = [Counter(outcomes.values()) for outcomes in columns.values()]
    reasons = sorted({reason for counter in counters for reason in counter if reason})
    summary = [
        [reason or "works", *(str(counter[reason]) for counter in counters)]
        for reason in (None, *reasons)
    ]
    return "\n\n".join(
        [
            f"## {LIBRARIES[library]}",
            f"{NOTES[library]} Of {len(CALLS[library])} calls:",
            table(["", *header], summary),
            table(["function", "result", "with `SUBSTITUTE_DTYPES`"], rows_of(library, columns)),
        ]
    )


NOTES = {
    "scipy": """\
With `SCIPY_ARRAY_API=1`, functions that SciPy's table of capabilities says work with any array
library, and a part of those that compute on the CPU. A call works where it gives what NumPy gives,
to float32's digits.""",
    "sklearn": """\
With `sklearn.set_config(array_api_dispatch=True)`, the estimators and metrics that scikit-learn
documents as working with any array library.""",
}


def rows_of(
    library: str, columns: dict[tuple[str, bool], dict[str, Outcome]]
) -> Iterable[list[str]]:
    """Yield a row for each call: what became of it without and with substitutes."""
    for call in CALLS[library]:
        cells = []
        for substitutes in (False, True):
            texts = [columns[backend, substitutes][call] or "works" for backend in BACKENDS]
            named = [f"{backend}: {text}" for backend, text in zip(BACKENDS, texts, strict=True)]
            cells.append(texts[0] if len(set(texts)) == 1 else "; ".join(named))
        yield [f"`{path_of(call)}`", *(cell.replace("|", "\\|") for cell in cells)]


def introduction() -> str:
    """Say what the page is, and how to run the standard's own suite."""
    supported = wt.__array_namespace_info__().dtypes()
    unsupported = ",".join(name for name in NUMERIC_DTYPES if name not in supported)
    return INTRODUCTION.format(unsupported=unsupported).rstrip()


def page() -> str:
    """Write the whole page."""
    sections = [introduction(), array_api_section(), *map(library_section, LIBRARIES)]
    return "\n\n".join(sections) + "\n"
