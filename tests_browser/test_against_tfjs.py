"""The table of op cases, computed by TensorFlow.js in the same page, gives the same.

Our results come from the WASM backend, theirs from their CPU backend. To the rows of the table come
random calls of every function. Our results are compared with what is expected, too. So is what
WebGL computes: of the table by `test_ops`, of the random calls by `test_random_calls_on_webgl`.
`tensorflow_js` says which function is which, and lists the deliberate differences.
"""

import json
import math
import re
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests_browser.python_page import PlaywrightPythonPage
from tests_browser.tensorflow_js import COUNTERPARTS, DIFFERENCES, DISTRIBUTIONS, REFUSALS
from tests_browser.test_ops import BACKENDS, RUN
from tests_py.cases import FAMILIES, Case, failures
from tests_py.cases.comparison import decoded, difference
from tests_py.cases.randomized.families import RANDOM_FAMILIES
from tests_py.cases.runner import function_named

ALL_FAMILIES = {**FAMILIES, **RANDOM_FAMILIES}


def reason_not_to_compare(case: Case) -> str | None:
    """Why a case is among the deliberate differences."""
    return next((why for pattern, why in DIFFERENCES if re.search(pattern, case.name)), None)


def with_all_arguments(case: Case) -> dict[str, Any]:
    """The case for JavaScript, which has no arguments by name."""
    encoded = case.encoded()
    bound = signature(function_named(case.function)).bind(*encoded["args"], **encoded["kwargs"])
    bound.apply_defaults()
    args = [in_json(value) for value in (*bound.args, *bound.kwargs.values())]
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


def disagreement(case: Case, ours: Any, theirs: Any) -> str | None:
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
    for (our, their), allowed in zip(pairs, case.allowed("wasm"), strict=True):
        mine = decoded(our)
        try:
            other = decoded(their)
        except (TypeError, ValueError) as error:  # a length may be NaN, which JSON lacks
            return f"theirs is malformed: {error}"
        if mine.shape != other.shape:
            return f"shape is {mine.shape}, theirs is {other.shape}"
        wide = np.result_type(other, np.float64)
        wrong = difference(mine, other.astype(wide), 2 * allowed)
        if wrong is not None:
            return wrong
    return None


def is_compared(case: Case) -> bool:
    """Whether both libraries compute a case, and should alike."""
    return (
        case.function in COUNTERPARTS
        and case.derivative < 2
        and reason_not_to_compare(case) is None
    )


def ours_of(page: PlaywrightPythonPage, cases: list[Case], backend: str) -> dict[str, Any]:
    """What our backend gives for the cases."""
    answer: dict[str, Any] = page.run(
        RUN, cases=[case.encoded() for case in cases], backend=backend
    )
    return answer


class Computed(NamedTuple):
    """The cases of a family, and what our WASM backend gives for them."""

    cases: list[Case]
    answer: dict[str, Any]


@pytest.fixture(scope="module", params=ALL_FAMILIES)
def family(request: pytest.FixtureRequest, tensorflow_page: PlaywrightPythonPage) -> Computed:
    """Each family, computed once."""
    cases = ALL_FAMILIES[request.param]
    return Computed(cases, ours_of(tensorflow_page, cases, "wasm"))


def test_family_on_wasm(family: Computed):
    wrong = failures(family.cases, family.answer, "wasm")
    assert not wrong, "\n".join(wrong)


def test_family_agrees_with_tensorflow_js(tensorflow_page: PlaywrightPythonPage, family: Computed):
    results = zip(family.cases, family.answer["results"], strict=True)
    compared = [(case, ours) for case, ours in results if is_compared(case)]
    sent = json.dumps([with_all_arguments(case) for case, _ in compared])
    theirs = json.loads(tensorflow_page.page.evaluate("(json) => runWithTensorflow(json)", sent))
    wrong = [
        f"{case.name}: {reason}"
        for (case, our), their in zip(compared, theirs, strict=True)
        if (reason := disagreement(case, our, their)) is not None
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "quarter", [0, *(pytest.param(n, marks=pytest.mark.whole_tables) for n in (1, 2, 3))]
)
@pytest.mark.parametrize("name", RANDOM_FAMILIES)
def test_random_calls_on_webgl(tensorflow_page: PlaywrightPythonPage, name: str, quarter: int):
    cases = RANDOM_FAMILIES[name][quarter::4]
    wrong = failures(cases, ours_of(tensorflow_page, cases, "webgl"), "webgl")
    assert not wrong, "\n".join(wrong)


#: How many numbers are drawn, and how far apart the shares of those below any bound may be: the
#: two-sample Kolmogorov-Smirnov test's 1.95 √(2/n), which one of a thousand fair pairs exceeds.
NUMBERS = 20_000
FARTHEST = 1.95 * (2 / NUMBERS) ** 0.5


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", DISTRIBUTIONS)
def test_random_numbers(tensorflow_page: PlaywrightPythonPage, function: str, backend: str):
    our_call, their_call = DISTRIBUTIONS[function]
    source = f"import webtensor as wt\nwt.set_backend(backend)\n({our_call}).tolist()"
    ours = np.sort(tensorflow_page.run(source, backend=backend, n=NUMBERS))
    drawing = f"async (n) => Array.from(await {their_call}.data())"
    theirs = np.sort(tensorflow_page.page.evaluate(drawing, NUMBERS))
    assert ours.shape == theirs.shape == (NUMBERS,)
    bounds = np.union1d(ours, theirs)
    shares = [np.searchsorted(drawn, bounds, "right") / NUMBERS for drawn in (ours, theirs)]
    assert np.abs(shares[0] - shares[1]).max() < FARTHEST
    # All but the hundred smallest and largest ones spread over the same range.
    assert np.abs(ours[[100, -101]] - theirs[[100, -101]]).max() < 0.02 * np.ptp(ours)


def test_every_difference_concerns_a_case():
    names = [case.name for family in ALL_FAMILIES.values() for case in family]
    for pattern, why in DIFFERENCES:
        assert any(re.search(pattern, name) for name in names), (pattern, why)
