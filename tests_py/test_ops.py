"""Every case of the table, forward and gradient, on the backends that run in CPython."""

from asyncio import Runner
from collections.abc import Iterator

import pytest

from tests_py.cases import FAMILIES, Case, failures, run_cases

CASES = [
    pytest.param(case, id=f"{family}: {case.name}")
    for family, cases in FAMILIES.items()
    for case in cases
]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """The event loop of all cases."""
    with Runner() as runner:
        yield runner


@pytest.mark.parametrize("case", CASES)
def test_op(runner: Runner, backend: str, case: Case) -> None:
    answer = runner.run(run_cases([case.encoded()], backend))
    wrong = failures([case], answer, backend)
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
