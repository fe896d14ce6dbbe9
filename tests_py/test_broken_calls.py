"""Every public op with one argument broken: its error names the op and the argument.

Calls are drawn with a seed from all combinations of an op, an argument and a value in its place;
with WEBTENSOR_WHOLE_TABLES set, all are made.
"""

import asyncio
import resource
from collections.abc import Iterator
from inspect import signature

import pytest

import webtensor as wt
from tests_py.cases.broken import BROKEN, complaint, drawn_calls
from tests_py.test_bad_calls import OPS, WITH_OPTIONS, good_arguments

CALLS = 3000
ARGUMENTS = [(name, argument) for name in OPS for argument in signature(OPS[name]).parameters]


async def complaints(calls: list[tuple[tuple[str, str], str]]) -> list[str]:
    """What is wrong with the errors of broken calls."""
    faults = []
    for (name, argument), broken in calls:
        function = OPS[name]
        args, kwargs = good_arguments(name)
        good = signature(function).bind(*args, **kwargs)
        good.arguments |= WITH_OPTIONS.get((name, argument), {})
        faults.append(await complaint(function, good, argument, broken))
    return [fault for fault in faults if fault is not None]


@pytest.fixture
def little_memory() -> Iterator[None]:
    """The test must not take a gigabyte."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20


@pytest.mark.usefixtures("little_memory")
def test_errors_of_broken_calls_name_op_and_argument(backend: str) -> None:
    faults = asyncio.run(complaints(drawn_calls(ARGUMENTS, backend, CALLS)))
    assert not faults, f"{len(faults)} errors:\n" + "\n".join(faults[:40])


@pytest.mark.parametrize("broken", BROKEN)
def test_values_that_break_calls_can_be_made(broken: str) -> None:
    BROKEN[broken]()
    assert wt.memory()["num_tensors"] >= 0
