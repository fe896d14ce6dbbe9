"""The table of op cases in Pyodide: all of it in Chromium, a selection in Firefox and in WebKit.

`make test` runs the selection on WebGL in Chromium; `make test-browsers` runs all cases there as
captured functions, and judges both what they compute as they are recorded and what they replay. The
cases on WebAssembly in Chromium are the business of `test_against_tfjs`. `make test-whole` runs all
everywhere. One call to the page runs a family of cases; each wrong one is named with its largest
error.
"""

from collections.abc import Collection

import pytest

from tests_browser.python_page import PythonPage, importing
from tests_browser.test_programs import wrong_captures
from tests_py.cases import FAMILIES, Case, failures, runner, selected

#: What earlier tests left in cycles, such as those of tracebacks, is no business of a run.
RUN = (
    importing(runner, "run_cases")
    + """
import gc
gc.collect()
await run_cases(cases, backend)"""
)

BACKENDS = ("wasm", "webgl")

SELECTION = {name: selected(cases) for name, cases in FAMILIES.items()}


def run(page: PythonPage, cases: list[Case], backend: str, left: Collection[str] = ()) -> list[str]:
    """Run cases in a page, and return a line for each that is wrong; see `failures`."""
    answer = page.run(RUN, cases=[case.encoded() for case in cases], backend=backend)
    return failures(cases, answer, backend, left)


@pytest.mark.parametrize("family", FAMILIES)
def test_family_on_webgl(chromium_python: PythonPage, family: str):
    wrong = run(chromium_python, SELECTION[family], "webgl")
    assert not wrong, "\n".join(wrong)


@pytest.mark.whole_tables
@pytest.mark.parametrize("family", FAMILIES)
def test_captured_family_on_webgl(chromium_python: PythonPage, family: str):
    wrong = wrong_captures(chromium_python, FAMILIES[family], "webgl")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_family_in_firefox(firefox_python: PythonPage, backend: str, family: str):
    wrong = run(firefox_python, SELECTION[family], backend)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_family_in_webkit(webkit_python: PythonPage, backend: str, family: str):
    wrong = run(webkit_python, SELECTION[family], backend)
    assert not wrong, "\n".join(wrong)


def test_selection_on_numpy_in_pyodide(numpy_python: PythonPage):
    cases = [case for family in SELECTION.values() for case in family]
    wrong = run(numpy_python, cases, "numpy")
    assert not wrong, "\n".join(wrong)
