"""The backend tests of the package ``onnx``: as many pass as the documentation says."""

import os
from collections import Counter

import pytest

import webtensor as wt
from tests_py.onnx.backend_cases import (
    DEVIATIONS,
    NUMPY_DEVIATIONS,
    Outcome,
    file_cases,
    node_cases,
    outcomes,
)
from tests_py.onnx_conversions import applicable, conversion
from tests_py.onnx_report import PAGE, page, with_table

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_table_of_the_documentation_is_what_happens() -> None:
    table, results = page()
    text = PAGE.read_text("utf-8")
    assert with_table(text, table) == text, "run `python -m tests_py.onnx_report`"
    assert failed(results) == set(DEVIATIONS)


def failed(results: list[Outcome]) -> set[str]:
    return {result.name for result in results if result.status == "failed"}


IS_WHOLE = "WEBTENSOR_ALL_ONNX" in os.environ


def test_cases_become_graphs() -> None:
    cases = applicable()
    conversions = [conversion(case) for case in (cases if IS_WHOLE else cases[5::40])]
    outcomes = Counter(result.status for result in conversions)
    assert outcomes["refused"] < 0.2 * len(conversions)
    if IS_WHOLE:
        assert f"{outcomes['converted']:,} become graph-models" in PAGE.read_text("utf-8")
        assert f"{outcomes['converted with constants']:,} more" in PAGE.read_text("utf-8")


if IS_WHOLE:

    def test_cases_pass_on_numpy() -> None:
        wt.set_backend("numpy")
        results = outcomes((*node_cases(), *file_cases()))
        assert failed(results) <= {*DEVIATIONS, *NUMPY_DEVIATIONS}
