"""The special cases of the array API standard in a page: on WebAssembly, and in GLSL."""

import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_ops import BACKENDS, RUN
from tests_py.standards.special_cases import TABLES


@pytest.mark.parametrize("backend", BACKENDS)
def test_special_cases(python_page: PythonPage, backend: str):
    calls = [call.encoded() for table in TABLES for call in table.calls]
    results = iter(python_page.run(RUN, cases=calls, backend=backend)["results"])
    failures = [
        failure
        for table in TABLES
        for failure in table.failures([next(results) for _ in table.calls])
    ]
    assert not failures, "\n".join(failures)
