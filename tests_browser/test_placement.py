"""What depends on data computes on the host while its operands are there, though WebGL is on."""

import pytest

from tests_browser.python_page import PythonPage

CALLS = {
    "topk": "wt.topk(x, 2)",
    "nonzero": "wt.nonzero(truth)",
    "argwhere": "wt.argwhere(truth)",
    "where_async": "wt.where_async(truth)",
    "boolean_mask": "x[truth]",
    "boolean_mask_async": "wt.boolean_mask_async(x, truth)",
    "unique": "wt.unique(x)",
    "unique_all": "wt.unique_all(x)",
    "unique_counts": "wt.unique_counts(x)",
    "unique_inverse": "wt.unique_inverse(x)",
    "unique_values": "wt.unique_values(x)",
    "setdiff1d": "wt.setdiff1d(x, [3, 9])",
    "setdiff1d_async": "wt.setdiff1d_async(x, [3, 9])",
    "bincount": "wt.bincount(x)",
    "dense_bincount": "wt.dense_bincount(x, size=4)",
}

RUN = """
from inspect import isawaitable
import webtensor as wt

wt.set_backend("webgl")


async def run(at_hand, forward=True):
    wt.env().set("WEBGL_CPU_FORWARD", forward)
    x = wt.tensor([3, 1, 4, 1, 5], dtype="int32")
    x = x if at_hand else x + 0
    truth = wt.tensor([True, False, True, False, True])
    truth = truth if at_hand else wt.logical_not(wt.logical_not(truth))
    seen = wt.profile(lambda: CALL)
    result = await seen.result if isawaitable(seen.result) else seen.result
    parts = result if isinstance(result, tuple) else [result]
    wt.env().set("WEBGL_CPU_FORWARD", True)
    return [part.tolist() for part in parts], sorted({name for name, _, _ in seen.fallbacks})


[await run(True), await run(False), await run(True, forward=False)], wt.get_backend()
"""


@pytest.mark.parametrize("name", CALLS)
def test_elements_at_hand_are_not_uploaded_first(python_page: PythonPage, name: str):
    (near, on_device, refused), active = python_page.run(RUN.replace("CALL", CALLS[name]))
    assert near[0] == on_device[0] == refused[0]
    if not name.endswith("_async"):  # awaited after the profile
        assert name in near[1]
    assert not on_device[1]
    assert not refused[1]
    assert active == "webgl"


def test_what_the_host_computed_goes_on_on_the_device(python_page: PythonPage):
    source = """
    import webtensor as wt

    wt.set_backend("webgl")
    x = wt.tensor([3.0, 1.0, 4.0])
    doubled = wt.topk(x, 2).values * 2
    slope = wt.grad(lambda x: wt.sum(wt.topk(x, 2).values * [5.0, 7.0]))(x)
    try:
        wt.topk(x, 9)
    except ValueError as error:
        refusal = str(error)
    doubled.tolist(), doubled.device, slope.tolist(), refusal, wt.get_backend()
    """
    doubled, device, slope, refusal, active = python_page.run(source)
    assert (doubled, slope) == ([8, 6], [7, 0, 5])
    assert device == active == "webgl"
    assert refusal.startswith("topk: k must be between 0 and")
