"""Activations as layers, beside Keras's."""

from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

RELU: list[dict[str, Any]] = [
    {},
    {"max_value": 1.0},
    {"negative_slope": 0.3},
    {"threshold": 0.5},
    {"max_value": 0.9, "negative_slope": 0.2, "threshold": 0.4, "name": "all"},
]
PRELU: list[tuple[dict[str, Any], tuple[int, ...]]] = [
    ({}, (2, 3)),
    ({"shared_axes": 1}, (2, 3, 4)),
    ({"shared_axes": [1, 2], "alpha_initializer": "glorot_uniform"}, (2, 3, 3, 2)),
    ({"alpha_regularizer": "l2", "alpha_constraint": "non_neg"}, (2, 3, 4)),
]
MASK = np.array([[True, True, False, True], [True, False, False, True]])

CASES = [
    *(Case("ReLU", config, (2, 3, 4)) for config in RELU),
    *(Case("LeakyReLU", config, (2, 5)) for config in ({}, {"negative_slope": 0.0})),
    *(Case("ELU", config, (2, 5)) for config in ({}, {"alpha": 0.5, "name": "curve"})),
    *(Case("PReLU", config, shape) for config, shape in PRELU),
    *(Case("Softmax", config, (2, 3, 4)) for config in ({}, {"axis": 1}, {"axis": [1, 2]})),
    Case("Softmax", {}, (2, 4), {"mask": MASK}),
    Case("Softmax", {"axis": [-1]}, (2, 4), {"mask": MASK[0]}),
    Case("Softmax", {}, (2, 4), {"mask": MASK.astype("float32")}),
    Case("Softmax", {"axis": (1, 2)}, (2, 4, 4), {"mask": MASK[:, None]}),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


def test_leaky_relu_takes_its_old_argument() -> None:
    for module in (keras, ours):
        with pytest.warns(UserWarning, match="alpha"):
            assert module.layers.LeakyReLU(alpha=0.25).negative_slope == 0.25


def test_thresholded_relu(backend: str) -> None:
    layer = ours.layers.ThresholdedReLU(0.5, name="t")
    x = wt.tensor([-1.0, 0.0, 0.5, 0.75, 3.0])
    assert layer(x).tolist() == [0.0, 0.0, 0.0, 0.75, 3.0]
    assert wt.grad(lambda z: wt.sum(layer(z)))(x).tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert layer.compute_output_shape((None, 3)) == (None, 3)
    again = ours.layers.ThresholdedReLU.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    for theta in (-1, None):
        with pytest.raises(ValueError, match="theta"):
            ours.layers.ThresholdedReLU(theta)  # type: ignore[arg-type]


def test_masks_are_handed_on(backend: str) -> None:
    x = wt.ones((2, 4, 3))
    x._keras_mask = wt.tensor(MASK)
    for layer in (ours.layers.ReLU(), ours.layers.PReLU(), ours.layers.ELU()):
        assert layer(x)._keras_mask is x._keras_mask


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda k: k.ReLU(max_value=-1), "max_value"),
        (lambda k: k.ReLU(negative_slope=-1), "negative_slope"),
        (lambda k: k.ReLU(threshold=None), "threshold"),
        (lambda k: k.LeakyReLU(-0.1), "negative_slope"),
        (lambda k: k.LeakyReLU(None), "negative_slope"),
        (lambda k: k.Softmax()(np.ones((2, 3)), mask=np.ones((2, 4))), "mask"),
        (lambda k: k.Softmax()(np.ones((2, 3)), mask=np.ones((1, 2, 3))), "mask"),
    ],
)
def test_errors_as_in_keras(make: Any, match: str) -> None:
    for module in (keras, ours):
        with pytest.raises(ValueError, match=match):
            make(module.layers)


def test_prelu_needs_known_lengths() -> None:
    with pytest.raises(ValueError, match="shared_axes"):
        ours.layers.PReLU()(ours.KerasTensor((None, None, 3)))
