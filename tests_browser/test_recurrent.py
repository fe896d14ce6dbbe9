"""Recurrent layers on WebGL: kernels of formulas, and what is made of them, as elsewhere."""

import pytest

from tests_browser.python_page import PythonPage

FORMULAS = """
import webtensor as wt
from webtensor.ops import cells
from webtensor.ops.blocks import BLOCK_ROWS

wt.set_backend("webgl")
found = {}
for row in BLOCK_ROWS.values():
    operands = [
        wt.random_normal((5, count * units), seed=index) for index, count in enumerate(row.counts)
    ]
    profile = wt.profile(lambda: getattr(cells, row.name)(*operands))
    difference = wt.max(wt.abs(profile.result - row.composed(*operands)))
    found[row.name] = [float(difference), len(profile.kernels), len(profile.fallbacks)]
found
"""


@pytest.mark.parametrize("units", [1, 3, 4, 6, 8])
def test_formulas_on_blocks(chromium_python: PythonPage, units: int):
    result = chromium_python.run(FORMULAS, units=units)
    for name, (difference, kernels, fallbacks) in result.items():
        assert difference < 1e-5, name
        assert (kernels, fallbacks) == (1, 0), name


LAYERS = """
import webtensor as wt
from webtensor import keras

x = wt.random_normal((4, 7, 6), seed=1)
mask = wt.tensor([[True] * 4 + [False] * 3, [False, True] * 3 + [True]] * 2)
layer = getattr(keras.layers, name)(units, return_sequences=True, **config)
layer(x)
found = []
for backend in ("wasm", "webgl"):
    wt.set_backend(backend)
    loss, gradients = wt.variable_grads(lambda: wt.sum(wt.square(layer(x, mask=mask))))
    found.append([loss, *gradients.values()])
wt.set_backend("wasm")
[float(wt.max(wt.abs(one - other))) for one, other in zip(*found, strict=True)]
"""


@pytest.mark.parametrize("units", [3, 8])
@pytest.mark.parametrize(
    "name, config",
    [("LSTM", {}), ("GRU", {}), ("GRU", {"reset_after": False}), ("SimpleRNN", {})],
)
def test_layers_give_the_same_on_both_backends(
    chromium_python: PythonPage, name: str, config: dict[str, bool], units: int
):
    differences = chromium_python.run(LAYERS, name=name, config=config, units=units)
    assert len(differences) == 4
    assert max(differences) < 1e-3
