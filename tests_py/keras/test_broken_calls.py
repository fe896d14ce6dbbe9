"""Functions of ``keras.ops`` with one argument broken: errors name function and argument."""

import asyncio
from inspect import signature

import pytest

from tests_py.cases.broken import complaint, drawn_calls
from tests_py.keras.ops_cases import CASES, elements, function
from webtensor import keras

CALLS = 1000

#: The number of a good call of each function.
GOOD = {name: number for number, (name, _, _) in reversed([*enumerate(CASES)])}
ARGUMENTS = [
    (name, argument)
    for name in GOOD
    for argument in signature(function(keras.ops, name)).parameters
    if argument != "axes_lengths"  # any keywords, each of which is an argument
]


async def complaints(calls: list[tuple[tuple[str, str], str]]) -> list[str]:
    """What is wrong with the errors of broken calls."""
    faults = []
    for (name, argument), broken in calls:
        args, kwargs = elements(GOOD[name])
        called = function(keras.ops, name)
        good = signature(called).bind(*args, **kwargs)
        faults.append(await complaint(called, good, argument, broken))
    return [fault for fault in faults if fault is not None]


@pytest.mark.filterwarnings("ignore::UserWarning")  # of arguments that are taken, but useless
def test_errors_of_broken_calls_name_function_and_argument(backend: str) -> None:
    faults = asyncio.run(complaints(drawn_calls(ARGUMENTS, backend, CALLS)))
    assert not faults, f"{len(faults)} errors:\n" + "\n".join(faults[:60])
