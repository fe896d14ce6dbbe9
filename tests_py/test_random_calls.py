"""Random calls of every function give what NumPy and SciPy give."""

import asyncio
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from tests_py.cases import failures, run_cases
from tests_py.cases.randomized import GENERATORS, Draw


@pytest.mark.parametrize("name", ["numpy", "wasm"])
@pytest.mark.parametrize("function", GENERATORS)
@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(random=st.randoms(use_true_random=False))
def test_function(name: str, function: str, random: Random) -> None:
    case = GENERATORS[function](Draw(random))
    answer = asyncio.run(run_cases([case.encoded()], name))
    wrong = failures([case], answer, name)
    assert not wrong, "\n".join(wrong)
