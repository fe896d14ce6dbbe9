"""The table of fused activations, and what is derived from it."""

import re

import pytest

import webtensor as wt
from tests_py.cases.inputs import floats
from wasm_build.activations_source import activations_source
from webtensor import keras
from webtensor.backends.fused_activations import (
    ACTIVATION_NUMBERS,
    FUSED_ACTIVATIONS,
    FusedActivation,
)
from webtensor.keras.layers.fused_activation import ending
from webtensor.ops.elementwise import ROWS

UNARY = [
    activation
    for activation in FUSED_ACTIVATIONS
    if activation.row is not None and ROWS[activation.row].arity == 1
]
by_name = pytest.mark.parametrize("activation", UNARY, ids=lambda activation: activation.name)


@by_name
def test_the_gradient_can_read_the_result_in_place_of_the_operand(
    activation: FusedActivation,
) -> None:
    assert activation.row is not None
    row = ROWS[activation.row]
    x = wt.tensor(4 * floats((50,)))
    y = getattr(wt, activation.row)(x, *activation.parameters)
    rule = row.gradient_for(0)
    assert rule is not None
    dy = wt.tensor(floats((50,), seed=1))
    by_operand = rule(dy, y, x, row, *activation.parameters)
    by_result = rule(dy, y, y, row, *activation.parameters)
    assert by_operand.tolist() == by_result.tolist()


@by_name
def test_layers_apply_the_activation_in_their_kernels(activation: FusedActivation) -> None:
    assert activation.row is not None
    function = getattr(keras.activations, activation.row)
    assert ending(function) == (activation.name, keras.activations.linear)
    x = wt.tensor(4 * floats((50,)))
    default = getattr(wt, activation.row)(x, *activation.parameters)
    assert function(x).tolist() == default.tolist()


def test_the_c_header_has_the_same_numbers() -> None:
    header = activations_source(FUSED_ACTIVATIONS, ROWS)
    enum = re.search(r"enum \{ (.*) \};", header)
    assert enum is not None
    numbers = {name: number for number, name in enumerate(enum[1].split(", "))}
    assert numbers == {
        (row or "linear").upper(): number for row, number in ACTIVATION_NUMBERS.items()
    }
    assert all(f"CASE({name}, " in header for name in numbers)


def test_fused_functions_take_every_name() -> None:
    a, b = wt.tensor(floats((2, 3))), wt.tensor(floats((3, 4), seed=1))
    for activation in FUSED_ACTIVATIONS:
        y = wt.fused.mat_mul(a, b, activation=activation.name, prelu_activation_weights=[0.25] * 4)
        assert y.shape == (2, 4)
