"""The map from TensorFlow.js: every path in it exists, and every reason is a sentence."""

import tomllib
from functools import reduce
from pathlib import Path

import pytest

import webtensor as wt

MAP = tomllib.loads((Path(__file__).parents[1] / "docs" / "tfjs_map.toml").read_text("utf-8"))
ROWS = [
    pytest.param(entry, id=f"{namespace}.{symbol}")
    for namespace, symbols in MAP.items()
    for symbol, entry in symbols.items()
]
SYMBOLS = 719


def test_every_symbol_of_tensorflow_js_has_a_row() -> None:
    assert len(ROWS) == SYMBOLS


@pytest.mark.parametrize("entry", ROWS)
def test_row_names_something_of_ours_or_says_why_not(entry: str | dict[str, str]) -> None:
    if isinstance(entry, dict):
        assert len(entry["why"].split()) >= 2
    else:
        assert reduce(getattr, entry.split("."), wt) is not None
