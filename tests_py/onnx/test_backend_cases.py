"""The backend tests of the package ``onnx``: as many pass as the documentation says."""

import pytest

import webtensor as wt
from tests_py.onnx_report import PAGE, page, with_table


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["numpy", "wasm"])
def test_the_table_of_the_documentation_is_what_happens(backend: str) -> None:
    wt.set_backend(backend)
    table, results = page()
    text = PAGE.read_text("utf-8")
    assert with_table(text, table) == text, "run `python -m tests_py.onnx_report`"
    applicable = [result for result in results if not result.reason or result.status == "failed"]
    passed = [result for result in applicable if result.status == "passed"]
    assert len(passed) >= 0.99 * len(applicable)
