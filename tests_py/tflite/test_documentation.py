"""The page about models of TensorFlow Lite lists the operators of the table."""

import re

from tests_py.listings import ROOT
from webtensor.tflite.operators import CUSTOM_OPERATORS, OPERATORS


def test_the_page_lists_all_operators():
    text = (ROOT / "docs/tflite.md").read_text("utf-8")
    table = text.partition("## Operators\n")[2].partition("Not supported")[0]
    names = re.findall(r"`(\w+)`", table)
    assert sorted(names) == sorted([*OPERATORS, *CUSTOM_OPERATORS])
