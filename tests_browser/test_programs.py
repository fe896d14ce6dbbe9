"""Captured functions in a page: the table of op cases, replayed, and what crosses to JavaScript."""

from pathlib import Path

import pytest

from tests_browser.python_page import PythonPage
from tests_py.cases import FAMILIES, Case, runner
from tests_py.test_programs import wrong_answers

RUN = Path(runner.__file__).read_text() + "\nawait run_captured(cases, backend)"

SAMPLE = [case for family in FAMILIES.values() for case in family if case.sample]


def wrong(page: PythonPage, cases: list[Case], backend: str) -> list[str]:
    encoded = [case.encoded() for case in cases]
    return wrong_answers(cases, page.run(RUN, cases=encoded, backend=backend))


@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_sample_of_the_table(python_page: PythonPage, backend: str):
    assert wrong(python_page, SAMPLE, backend) == []


@pytest.mark.whole_tables
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("backend", ["wasm", "webgl"])
def test_family(chromium_python: PythonPage, backend: str, family: str):
    assert wrong(chromium_python, FAMILIES[family], backend) == []
