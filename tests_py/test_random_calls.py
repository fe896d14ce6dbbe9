"""Random calls of every function give what NumPy and SciPy give, on the backends of CPython."""

from asyncio import Runner
from collections.abc import Iterator

import pytest

from tests_py.cases import failures, run_cases
from tests_py.cases.randomized import GENERATORS, drawn_calls

#: Calls drawn of each function; the first of them are those that pages make.
COUNT = 24


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """The event loop of all calls."""
    with Runner() as runner:
        yield runner


@pytest.mark.parametrize("function", GENERATORS)
def test_function(runner: Runner, function: str, backends: Iterator[str]) -> None:
    cases = drawn_calls(function, COUNT)
    encoded = [case.encoded() for case in cases]
    wrong = [
        f"{backend}: {failure}"
        for backend in backends
        for failure in failures(cases, runner.run(run_cases(encoded, backend)), backend)
    ]
    assert not wrong, "\n".join(wrong)
