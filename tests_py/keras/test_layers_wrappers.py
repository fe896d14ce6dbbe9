"""TimeDistributed and Bidirectional beside Keras's."""

from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.keras.layer_cases import Case, check
from webtensor import keras as ours

RANDOM = np.random.default_rng(3)
MASK = np.array([[1, 0, 1, 1], [0, 1, 1, 0]], bool)


def array(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype("float32")


def distributed(module: Any, layer: str, own: dict[str, Any], **config: Any) -> Any:
    return module.layers.TimeDistributed(getattr(module.layers, layer)(**own), **config)


def both_ways(module: Any, layer: str = "LSTM", own: Any = None, **config: Any) -> Any:
    inner = getattr(module.layers, layer)(3, seed=1, **(own or {}))
    return module.layers.Bidirectional(inner, **config)


def with_another(module: Any, **config: Any) -> Any:
    backward = module.layers.GRU(4, seed=2, return_sequences=True, go_backwards=True)
    forward = module.layers.LSTM(3, seed=1, return_sequences=True)
    return module.layers.Bidirectional(forward, backward_layer=backward, **config)


CASES = [
    Case(distributed, {"layer": "Dense", "own": {"units": 2}}, (2, 4, 3)),
    Case(
        distributed,
        {"layer": "Conv2D", "own": {"filters": 2, "kernel_size": 2}, "name": "each"},
        (2, 3, 4, 5, 2),
    ),
    Case(distributed, {"layer": "BatchNormalization", "own": {}}, (5, 3, 2), {"training": True}),
    Case(distributed, {"layer": "LSTM", "own": {"units": 2, "seed": 1}}, (2, 2, 3, 2)),
    Case(both_ways, {}, (2, 4, 3)),
    Case(
        both_ways,
        {"layer": "GRU", "own": {"return_sequences": True, "return_state": True}},
        (2, 4, 3),
    ),
    Case(both_ways, {"own": {"return_sequences": True}, "merge_mode": "mul"}, (2, 4, 3)),
    Case(both_ways, {"layer": "GRU", "merge_mode": "ave"}, (2, 4, 3)),
    Case(both_ways, {"layer": "GRU", "merge_mode": "sum"}, (2, 4, 3)),
    Case(both_ways, {"own": {"return_sequences": True}, "merge_mode": None}, (2, 4, 3)),
    Case(both_ways, {"own": {"return_sequences": True}}, (2, 4, 3), {"mask": MASK}),
    Case(
        both_ways,
        {"layer": "GRU"},
        (2, 4, 3),
        {"initial_state": [array(2, 3), array(2, 3)]},
    ),
    Case(with_another, {}, (2, 4, 3)),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


# -- TimeDistributed ---------------------------------------------------------------------------


class Centred(ours.Layer):
    """A layer of a user that computes across the batch."""

    def call(self, inputs: Any) -> Any:
        return inputs - wt.mean(inputs, 0)


def test_steps_do_not_mix_in_a_users_layer(backend: str) -> None:
    x = array(3, 4, 2)
    result = ours.layers.TimeDistributed(Centred())(x)
    np.testing.assert_allclose(result, x - x.mean(0), rtol=1e-5, atol=1e-6)


def test_our_layers_take_all_steps_at_once() -> None:
    layer = ours.layers.TimeDistributed(ours.layers.Dense(2))
    x = wt.random_normal((2, 50, 3))
    layer(x)
    assert len(wt.profile(lambda: layer(x)).kernels) < 6


def test_time_distributed_hands_its_mask_on(backend: str) -> None:
    layer = ours.layers.TimeDistributed(ours.layers.Dense(2))
    result = layer(array(2, 4, 3), mask=MASK)
    assert result.shape == (2, 4, 2)
    masked = ours.layers.Masking()(np.where(MASK[..., None], array(2, 4, 3), 0))
    np.testing.assert_array_equal(layer(masked)._keras_mask, MASK)


# -- Bidirectional -----------------------------------------------------------------------------


def test_stateful_both_ways(backend: str) -> None:
    config: dict[str, Any] = {"own": {"stateful": True}}
    mine, theirs = both_ways(ours, **config), both_ways(keras, **config)
    x = array(2, 4, 3)
    theirs.build(x.shape)
    mine.build(x.shape)
    mine.set_weights(theirs.get_weights())
    for _ in range(2):
        np.testing.assert_allclose(mine(x), theirs(x), rtol=1e-4, atol=1e-5)
    assert len(mine.states) == len(theirs.states) == 4
    mine.reset_state()
    theirs.reset_states()
    np.testing.assert_allclose(mine(x), theirs(x), rtol=1e-4, atol=1e-5)


def test_weights_to_begin_with(backend: str) -> None:
    first = both_ways(ours)
    first.build((None, 4, 3))
    values = [array(*weight.shape) for weight in first.weights]
    second = both_ways(ours, weights=values)
    second.build((None, 4, 3))
    for second_weight, value in zip(second.weights, values, strict=True):
        np.testing.assert_array_equal(second_weight, value)


def test_given_layer_keeps_its_weights(backend: str) -> None:
    """The layers inside are copies, as in Keras."""
    layer = ours.layers.LSTM(2)
    layer(array(2, 4, 3))
    both = ours.layers.Bidirectional(layer)
    both(array(2, 4, 3))
    assert all(weight is not other for weight in both.weights for other in layer.weights)


def test_mask_goes_on(backend: str) -> None:
    masked = ours.layers.Masking()(np.where(MASK[..., None], array(2, 4, 3), 0))
    result = both_ways(ours, own={"return_sequences": True})(masked)
    np.testing.assert_array_equal(result._keras_mask, MASK)
    first, second = both_ways(ours, own={"return_sequences": True}, merge_mode=None)(masked)
    np.testing.assert_array_equal(first._keras_mask, second._keras_mask)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ours.layers.TimeDistributed(3), "layer must be a layer, but got 3"),  # type: ignore[arg-type]
        (
            lambda: ours.layers.TimeDistributed(ours.layers.Dense(2))(array(2, 3)),
            "at least 3 axes",
        ),
        (
            lambda: ours.layers.TimeDistributed(ours.layers.LSTM(2))(
                array(2, 3, 4, 5), mask=np.ones((2, 4), bool)
            ),
            "mask must begin with",
        ),
        (lambda: ours.layers.Bidirectional(3), "layer must be a layer"),  # type: ignore[arg-type]
        (
            lambda: ours.layers.Bidirectional(ours.layers.LSTM(2), merge_mode="max"),
            "merge_mode must be",
        ),
        (
            lambda: ours.layers.Bidirectional(
                ours.layers.LSTM(2), backward_layer=ours.layers.LSTM(2)
            ),
            "must differ in go_backwards",
        ),
        (
            lambda: ours.layers.Bidirectional(
                ours.layers.LSTM(2, return_sequences=True),
                backward_layer=ours.layers.LSTM(2, go_backwards=True),
            ),
            "must have the same return_sequences",
        ),
    ],
)
def test_errors_name_what_was_wrong(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
