"""Every case of the table, forward and gradient, on the backends that run in CPython.

One test runs all cases of a function in a family, as one call to a page does in browsers; each
wrong one is named with its largest error.
"""

from asyncio import Runner
from collections.abc import Iterator

import pytest

from tests_py.cases import FAMILIES, Case, failures, run_cases

CASES_OF_FUNCTIONS: dict[str, list[Case]] = {}
for family, cases in FAMILIES.items():
    for case in cases:
        CASES_OF_FUNCTIONS.setdefault(f"{family}: {case.function}", []).append(case)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """The event loop of all cases."""
    with Runner() as runner:
        yield runner


@pytest.mark.parametrize("cases", CASES_OF_FUNCTIONS.values(), ids=CASES_OF_FUNCTIONS)
def test_op(runner: Runner, backend: str, cases: list[Case]) -> None:
    answer = runner.run(run_cases([case.encoded() for case in cases], backend))
    wrong = failures(cases, answer, backend)
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
