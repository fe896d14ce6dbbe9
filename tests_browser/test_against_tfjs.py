"""The table of op cases, computed by TensorFlow.js in the same page, gives the same.

Our results come from the WASM and the WebGL backend, theirs from their CPU backend. To the rows of
the table come random calls of every function. `tensorflow_js` says which function is which, and
lists the deliberate differences.
"""

import json
import math
import re
from collections.abc import Iterator
from functools import reduce
from inspect import signature
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

import webtensor as wt
from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.tensorflow_js import COUNTERPARTS, DIFFERENCES, REFUSALS
from tests_browser.test_ops import BACKENDS, RUN
from tests_py.cases import FAMILIES, Case, failures
from tests_py.cases.comparison import decoded, difference
from tests_py.cases.randomized import RANDOM_FAMILIES

ALL_FAMILIES = {**FAMILIES, **RANDOM_FAMILIES}
TENSORFLOW = "/node_modules/@tensorflow/tfjs/dist/tf.min.js"


@pytest.fixture(scope="module")
def page(chromium: Browser, site_url: str) -> Iterator[PlaywrightPythonPage]:
    """Python and TensorFlow.js in one page of Chromium."""
    page = PlaywrightPythonPage("chromium", site_url, chromium.new_page())
    for url in (TENSORFLOW, "/tests/tfjs_cases.js"):
        page.page.add_script_tag(url=site_url + url)
    yield page
    page.page.close()


def reason_not_to_compare(case: Case) -> str | None:
    """Why a case is among the deliberate differences."""
    return next((why for pattern, why in DIFFERENCES if re.search(pattern, case.name)), None)


def with_all_arguments(case: Case) -> dict[str, Any]:
    """The case for JavaScript, which has no arguments by name."""
    encoded = case.encoded()
    function: Any = reduce(getattr, case.function.split("."), wt)
    bound = signature(function).bind(*encoded["args"], **encoded["kwargs"])
    bound.apply_defaults()
    args = [in_json(value) for value in bound.args]
    return {**encoded, "args": args, "kwargs": {}, "javascript": COUNTERPARTS[case.function]}


def in_json(value: Any) -> Any:
    """Write numbers that JSON lacks as text; functions, which are defaults, are left out."""
    if callable(value):
        return None
    if isinstance(value, (list, tuple)):
        return [in_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value).replace("inf", "Infinity").replace("nan", "NaN")}
    return value


def disagreement(case: Case, ours: Any, theirs: Any, backend: str) -> str | None:
    """Say how two results differ in shape, or in values by more than both may be wrong.

    Dtypes are the table's business: theirs follow other rules for bool and for Python's numbers.
    """
    if isinstance(ours, dict) and "error" in ours:
        return f"ours raised {ours['error'].strip().splitlines()[-1]}"
    if isinstance(theirs, dict) and "error" in theirs:
        error = theirs["error"].strip().splitlines()[-1]
        refused = any(re.search(pattern, error) for pattern, _ in REFUSALS)
        return None if refused else f"theirs raised {error}"
    pairs = zip(ours, theirs, strict=True) if isinstance(ours, list) else [(ours, theirs)]
    for (our, their), allowed in zip(pairs, case.allowed(backend), strict=True):
        mine = decoded(our)
        try:
            other = decoded(their)
        except ValueError as error:
            return f"theirs is malformed: {error}"
        if mine.shape != other.shape:
            return f"shape is {mine.shape}, theirs is {other.shape}"
        wide = np.result_type(other, np.float64)
        wrong = difference(mine, other.astype(wide), 2 * allowed)
        if wrong is not None:
            return wrong
    return None


def compared(family: str) -> list[Case]:
    """The cases of a family that both libraries compute, and should alike."""
    return [
        case
        for case in ALL_FAMILIES[family]
        if case.function in COUNTERPARTS
        and case.derivative < 2
        and reason_not_to_compare(case) is None
    ]


def ours_of(page: PlaywrightPythonPage, cases: list[Case], backend: str) -> dict[str, Any]:
    """What our backend gives for the cases."""
    answer: dict[str, Any] = page.run(
        RUN, cases=[case.encoded() for case in cases], backend=backend
    )
    return answer


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_family_agrees_with_tensorflow_js(page: PlaywrightPythonPage, family: str):
    cases = compared(family)
    sent = json.dumps([with_all_arguments(case) for case in cases])
    theirs = json.loads(page.page.evaluate("(json) => runWithTensorflow(json)", sent))
    wrong = [
        f"{backend}: {case.name}: {found}"
        for backend in BACKENDS
        for case, our, their in zip(
            cases, ours_of(page, cases, backend)["results"], theirs, strict=True
        )
        if (found := disagreement(case, our, their, backend)) is not None
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("family", RANDOM_FAMILIES)
def test_random_calls(page: PlaywrightPythonPage, family: str, backend: str):
    cases = RANDOM_FAMILIES[family]
    wrong = failures(cases, ours_of(page, cases, backend), backend)
    assert not wrong, "\n".join(wrong)


def test_every_difference_concerns_a_case():
    names = [case.name for family in ALL_FAMILIES.values() for case in family]
    for pattern, why in DIFFERENCES:
        assert any(re.search(pattern, name) for name in names), (pattern, why)
