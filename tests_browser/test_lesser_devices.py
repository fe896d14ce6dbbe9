"""The table of op cases on lesser devices than are at hand, which flags have the backend imitate.

What a mode's numbers can hold, and which cases that leaves out, is the business of
`tests_py.cases.precision`.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from tests_browser.python_page import PythonPage
from tests_browser.test_ops import run
from tests_py.cases import FAMILIES, Case, selected
from tests_py.cases.precision import HALF, HALF_FOR_ALL, SINGLE_FOR_ALL, Precision

pytestmark = pytest.mark.lesser_devices


class Mode(NamedTuple):
    """The flags that force a mode, what its numbers can hold, and kernels that run elsewhere."""

    flags: str
    precision: Precision
    left: frozenset[str] = frozenset()
    #: The share of cases that are not left out, at least.
    kept: float = 0.97


WEBGL_1 = "WEBGL_VERSION:1"
FORCE_HALF = "WEBGL_FORCE_F16_TEXTURES:true"
#: Rows of the elementwise table among them: `tests_py/test_legacy_shaders.py` says which.
NEED_INTEGERS = frozenset({"random_bits", "random_uniform_int", "unary", "binary"})

MODES = {
    "half": Mode(FORCE_HALF, HALF),
    "webgl1": Mode(WEBGL_1, SINGLE_FOR_ALL, NEED_INTEGERS),
    "webgl1 half": Mode(f"{WEBGL_1},{FORCE_HALF}", HALF_FOR_ALL, NEED_INTEGERS, 0.85),
}


@pytest.fixture(scope="module", params=MODES)
def mode(request: pytest.FixtureRequest, shared_chromium_python: PythonPage) -> Iterator[Mode]:
    """Have Chromium's page imitate a device; load it anew afterwards."""
    chosen = MODES[request.param]
    with shared_chromium_python.loaded_with(f"?wtflags={chosen.flags}"):
        yield chosen


@cache
def cases_within(mode: Mode, family: str) -> list[Case]:
    """The cases selected from those of a family that the mode's numbers reach."""
    return selected(FAMILIES[family], lambda case: case.rounded_to(mode.precision))


@pytest.mark.parametrize("family", FAMILIES)
def test_family(mode: Mode, chromium_python: PythonPage, family: str):
    wrong = run(chromium_python, cases_within(mode, family), "webgl", mode.left)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", MODES)
def test_few_cases_are_left_out(name: str):
    mode = MODES[name]
    kept = sum(len(cases_within(mode, family)) for family in FAMILIES)
    assert kept > mode.kept * sum(len(selected(cases)) for cases in FAMILIES.values())
