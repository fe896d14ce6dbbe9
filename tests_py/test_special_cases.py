"""The special cases of the array API standard, on the backends that run in CPython."""

from base64 import b64encode
from typing import Any

import numpy as np
import pytest

from tests_py.standards.special_cases import TABLES, Table, failures_on, read_tables


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_special_cases(backend: str, table: Table) -> None:
    failures = failures_on(table, backend)
    assert not failures, "\n".join(failures)


def test_wrong_results_are_noticed() -> None:
    (table,) = read_tables("real log\n<0 -> nan\n0 -> -inf\n1 -> +0\n+inf -> +inf")
    (call,) = table.calls
    with np.errstate(all="ignore"):
        results = np.log(call.args[0])
    assert table.failures([_answer(results)]) == []
    assert len(table.failures([_answer(-results)])) == 4
    assert table.failures([_answer(np.abs(results))])[0] == "0 -> -inf: log(0.0,) is (inf,)"


def _answer(results: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {
        "dtype": "float32",
        "shape": list(results.shape),
        "elements": b64encode(results.tobytes()).decode(),
    }
