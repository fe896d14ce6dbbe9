"""The WebGL backend on textures of 16-bit floats: what they keep, and how they are asked for."""

from collections.abc import Iterator

import pytest

from tests_browser.python_page import PythonPage

START = """
import math
import webtensor as wt
wt.set_backend("webgl")
"""
LARGEST = 65504.0
#: Trains a network; its value is the losses.
TRAINING = """
x = wt.random_normal((256, 8), seed=1)
y = wt.tanh(x @ wt.random_normal((8, 3), seed=2))
weights = [wt.Variable(wt.random_normal(shape, stddev=0.3, seed=3)) for shape in ((8, 32), (32, 3))]
optimizer = wt.train.adam(0.02)
def loss():
    return wt.losses.mean_squared_error(y, wt.tanh(wt.tanh(x @ weights[0]) @ weights[1]))
[float(optimizer.minimize(loss)) for _ in range(60)]
"""


@pytest.fixture(scope="module")
def half(shared_chromium_python: PythonPage) -> Iterator[None]:
    """Have Chromium's page keep 16-bit floats; load it anew afterwards."""
    with shared_chromium_python.loaded_with("?wtflags=WEBGL_FORCE_F16_TEXTURES:true"):
        yield


@pytest.fixture
def page(half: None, chromium_python: PythonPage) -> PythonPage:
    """The page, watched for errors."""
    return chromium_python


def test_flags_and_memory_tell(page: PythonPage):
    code = """
names = ["CAPABLE", "ENABLED"]
flags = [wt.env().get_bool(f"WEBGL_RENDER_FLOAT32_{name}") for name in names]
before = wt.memory()["backends"]["webgl"]["bytes"]
x = wt.ones((64, 64))
held = wt.memory()["backends"]["webgl"]["bytes"] - before
drawn = str(wt.webgl.explain(wt.exp, x).draws[0])
[flags, wt.backend().epsilon(), held, drawn]
"""
    flags, epsilon, elements, drawn = page.run(START + code)
    assert flags == [True, False]
    assert epsilon == 1e-4
    assert elements == 64 * 64 * 2
    assert "RGBA16F -> 32×32 RGBA16F" in drawn


def test_the_greatest_number_stands_for_all_beyond(page: PythonPage):
    code = """
x = wt.tensor([70000.0, -1e30, math.inf, -math.inf, math.nan, 1e-9, 300.0])
functions = (wt.negative, wt.square, wt.exp, wt.log, wt.reciprocal, wt.relu)
[(wt.ones((7,)) * x).tolist(), [function(x).tolist() for function in functions]]
"""
    same, (negative, square, exp, log, reciprocal, relu) = page.run(START + code)
    nan = pytest.approx(float("nan"), nan_ok=True)
    assert same == [LARGEST, -LARGEST, LARGEST, -LARGEST, nan, 0.0, 300.0]
    assert negative == [-LARGEST, LARGEST, -LARGEST, LARGEST, nan, 0.0, -300.0]
    assert square == [LARGEST] * 4 + [nan, 0.0, LARGEST]
    assert exp == [LARGEST, 0.0, LARGEST, 0.0, nan, 1.0, LARGEST]
    assert log[1:6] == [nan, pytest.approx(11.09, rel=1e-3), nan, nan, -LARGEST]
    assert reciprocal[4:] == [nan, LARGEST, pytest.approx(1 / 300, rel=1e-3)]
    assert relu == [LARGEST, 0.0, LARGEST, 0.0, nan, 0.0, 300.0]


def test_integers_and_bools_keep_all_their_bits(page: PythonPage):
    code = """
x = wt.tensor([2**31 - 1, -(2**31), 2**24 + 1, 4097])
[(x + 0).tolist(), wt.sum(wt.full((1000, 1000), 3)).tolist(), (x > 4096).tolist(),
 wt.gather(wt.arange(5000), [4097, 4999]).tolist()]
"""
    kept, total, greater, gathered = page.run(START + code)
    assert kept == [2**31 - 1, -(2**31), 2**24 + 1, 4097]
    assert total == 3_000_000
    assert greater == [True, False, True, True]
    assert gathered == [4097, 4999]


def test_means_reach_where_sums_do_not(page: PythonPage):
    code = """
x = wt.random_uniform((300, 1000), 1.0, 3.0, seed=1)
[float(wt.sum(x)), float(wt.mean(x)), float(wt.std(x)), float(wt.mean(x * 20000)),
 max(wt.mean(x, 0).tolist()), float(wt.losses.mean_squared_error(x, wt.zeros_like(x)))]
"""
    total, mean, std, great, along, error = page.run(START + code)
    assert total == LARGEST
    assert mean == pytest.approx(2, rel=5e-3)
    assert std == pytest.approx(3**-0.5, rel=1e-2)
    assert great == pytest.approx(40000, rel=5e-3)
    assert 1.9 < along < 2.2
    assert error == pytest.approx(13 / 3, rel=1e-2)


def test_random_numbers_stay_in_their_ranges(page: PythonPage):
    code = """
def ends(x):
    return [float(wt.min(x)), float(wt.max(x))]
shape = (300, 1000)
[ends(wt.random_uniform(shape, seed=2)), ends(wt.random_uniform(shape, 1.0, 10.0, seed=3)),
 ends(wt.random_normal(shape, seed=4)), ends(wt.truncated_normal(shape, seed=5)),
 ends(wt.random_uniform(shape, -8, 8, "int32", seed=6)),
 float(wt.std(wt.random_normal(shape, seed=7)))]
"""
    unit, between, normal, truncated, whole, std = page.run(START + code)
    assert unit == [pytest.approx(0, abs=1e-4), 1 - 2**-11]
    assert between == [1.0, 10 - 2**-7]
    assert -4 < normal[0] < -3.2
    assert 3.2 < normal[1] < 4
    assert -2 <= truncated[0] < -1.9
    assert 1.9 < truncated[1] <= 2
    assert whole == [-8, 7]
    assert std == pytest.approx(1, rel=1e-2)


def test_a_network_learns(page: PythonPage):
    losses = page.run(START + TRAINING)
    assert losses[-1] < 0.1 * losses[0]


def test_a_device_without_float32_targets_keeps_16_bits(chromium_python: PythonPage):
    with chromium_python.loaded_with("?wtflags=WEBGL_RENDER_FLOAT32_CAPABLE:false") as page:
        values = page.run(START + "[wt.backend().epsilon(), float(wt.tensor(1e6) * 1)]")
    assert values == [1e-4, LARGEST]


def test_it_is_asked_for_before_the_backend_starts(chromium_python: PythonPage):
    code = """
import webtensor as wt
wt.webgl.force_half_float()
wt.set_backend("webgl")
bits = wt.backend().float_format
try:
    wt.webgl.force_half_float()
except RuntimeError as error:
    refused = str(error)
[bits, refused]
"""
    with chromium_python.loaded_with() as page:
        bits, refused = page.run(code)
    assert bits == "e"
    assert "has started" in refused
