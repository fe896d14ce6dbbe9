"""No op is left out of the map, the comparisons and the gradient checks."""

import pytest

from tests_py.completeness import COUNTED, counts, unexplained_symbols


def test_every_symbol_is_mapped_or_left_out_for_a_reason() -> None:
    assert unexplained_symbols() == []


@pytest.mark.parametrize("name", COUNTED)
def test_no_op_is_missing(name: str) -> None:
    assert sorted(counts()[name].missing) == []
