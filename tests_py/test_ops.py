"""Every case of the table, forward and gradient, on the backends that run in CPython."""

import asyncio

import pytest

from tests_py.cases import FAMILIES, Case, failures, run_cases

CASES = [
    pytest.param(case, id=f"{family}: {case.name}")
    for family, cases in FAMILIES.items()
    for case in cases
]


@pytest.mark.parametrize("case", CASES)
def test_op(backend: str, case: Case) -> None:
    answer = asyncio.run(run_cases([case.encoded()], backend))
    wrong = failures([case], answer, backend)
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
