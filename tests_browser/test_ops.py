"""Every case of the table of op cases, in Pyodide: Chromium and Firefox run all, WebKit a sample.

`make test` runs every third case of each family on WebGL in Chromium; `make test-browsers` runs all
as captured functions, and judges both what they compute as they are recorded and what they replay.
The cases on WebAssembly in Chromium are the business of `test_against_tfjs`. With
WEBTENSOR_WHOLE_TABLE set, WebKit runs all. One call to the page runs a family of cases; each wrong
one is named with its largest error.
"""

import os
from collections.abc import Collection
from pathlib import Path

import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_programs import wrong_captures
from tests_py.cases import FAMILIES, Case, failures, runner

#: What earlier tests left in cycles, such as those of tracebacks, is no business of a run.
RUN = (
    Path(runner.__file__).read_text()
    + """
import gc
gc.collect()
await run_cases(cases, backend)"""
)

BACKENDS = ("wasm", "webgl")


def run(page: PythonPage, cases: list[Case], backend: str, left: Collection[str] = ()) -> list[str]:
    """Run cases in a page, and return a line for each that is wrong; see `failures`."""
    answer = page.run(RUN, cases=[case.encoded() for case in cases], backend=backend)
    return failures(cases, answer, backend, left)


@pytest.mark.parametrize("family", FAMILIES)
def test_third_of_a_family_on_webgl(chromium_python: PythonPage, family: str):
    wrong = run(chromium_python, FAMILIES[family][::3], "webgl")
    assert not wrong, "\n".join(wrong)


@pytest.mark.whole_tables
@pytest.mark.parametrize("family", FAMILIES)
def test_captured_family_on_webgl(chromium_python: PythonPage, family: str):
    wrong = wrong_captures(chromium_python, FAMILIES[family], "webgl")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_family_in_firefox(firefox_python: PythonPage, backend: str, family: str):
    wrong = run(firefox_python, FAMILIES[family], backend)
    assert not wrong, "\n".join(wrong)


SAMPLES = {
    name: sample for name, family in FAMILIES.items() if (sample := [c for c in family if c.sample])
}


IN_WEBKIT = FAMILIES if os.environ.get("WEBTENSOR_WHOLE_TABLE") else SAMPLES


@pytest.mark.parametrize("family", IN_WEBKIT)
@pytest.mark.parametrize("backend", BACKENDS)
def test_family_in_webkit(webkit_python: PythonPage, backend: str, family: str):
    wrong = run(webkit_python, IN_WEBKIT[family], backend)
    assert not wrong, "\n".join(wrong)


WHOLE_SAMPLE = [case for sample in SAMPLES.values() for case in sample]


def test_sample_on_numpy_in_pyodide(numpy_python: PythonPage):
    wrong = run(numpy_python, WHOLE_SAMPLE, "numpy")
    assert not wrong, "\n".join(wrong)
