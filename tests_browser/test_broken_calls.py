"""Public ops with one argument broken, in a page: errors name op and argument there, too."""

from itertools import product
from pathlib import Path
from random import Random

import pytest

from tests_browser.python_page import PythonPage
from tests_py.cases import broken, runner
from tests_py.cases.broken import BROKEN
from tests_py.test_bad_calls import OPS, good_case
from tests_py.test_broken_calls import ARGUMENTS

CALLS = 1000

RUN = (
    Path(runner.__file__).read_text()
    + Path(broken.__file__).read_text()
    + """
async def complaints(calls):
    wt.set_backend(backend)
    found = []
    for name, argument, broken in calls:
        case = cases[name]
        tensors = [as_tensor(encoded) for encoded in case["tensors"]]
        args = [as_argument(template, tensors) for template in case["args"]]
        kwargs = {key: as_argument(value, tensors) for key, value in case["kwargs"].items()}
        function = function_named(name)
        good = signature(function).bind(*args, **kwargs)
        found.append(await complaint(function, good, argument, broken))
    return [one for one in found if one is not None]

await complaints(calls)"""
)


@pytest.mark.parametrize("backend", ["webgl", pytest.param("wasm", marks=pytest.mark.whole_tables)])
def test_errors_of_broken_calls_name_op_and_argument(python_page: PythonPage, backend: str):
    cases = {name: case for name in OPS if (case := good_case(name)) is not None}
    in_pages = [name for name in BROKEN if name not in broken.values_of_numpy()]
    arguments = [(name, argument) for name, argument in ARGUMENTS if name in cases]
    everything = [(*which, broken) for which, broken in product(arguments, in_pages)]
    calls = Random(backend).sample(everything, CALLS)
    needed = {name: cases[name] for name, _, _ in calls}
    result = python_page.run(RUN, calls=calls, cases=needed, backend=backend)
    assert not result, f"{len(result)} errors:\n" + "\n".join(result[:40])
