"""Random calls of every function give what NumPy and SciPy give, on the backends of CPython."""

from asyncio import Runner
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from tests_py.cases import failures, run_cases
from tests_py.cases.randomized import GENERATORS, Draw


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """The event loop of all calls."""
    with Runner() as runner:
        yield runner


@pytest.mark.parametrize("function", GENERATORS)
@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(random=st.randoms(use_true_random=False))
def test_function(runner: Runner, function: str, random: Random) -> None:
    case = GENERATORS[function](Draw(random))
    encoded = [case.encoded()]
    for backend in ("numpy", "wasm"):
        wrong = failures([case], runner.run(run_cases(encoded, backend)), backend)
        assert not wrong, "\n".join([backend, *wrong])
