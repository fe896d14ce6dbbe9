"""Layers that disturb their inputs or add a penalty, beside Keras's."""

from math import sqrt
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import Case, check, plain
from webtensor import keras as ours

#: Seeds are given, so that both have the same state.
LAYERS: list[tuple[str, dict[str, Any], tuple[int, ...]]] = [
    ("Dropout", {"rate": 0.5, "seed": 1}, (2, 3)),
    ("Dropout", {"rate": 0.2, "noise_shape": (None, 1, 4), "seed": 3}, (2, 3, 4)),
    ("Dropout", {"rate": 0.2, "noise_shape": [2, 1], "seed": 3, "name": "falls"}, (2, 3)),
    ("SpatialDropout1D", {"rate": 0.5, "seed": 5}, (2, 3, 4)),
    ("SpatialDropout2D", {"rate": 0.25, "seed": 7}, (2, 3, 3, 2)),
    ("SpatialDropout2D", {"rate": 0, "data_format": "channels_first"}, (2, 3, 3, 2)),
    ("SpatialDropout3D", {"rate": 1, "seed": 2}, (1, 2, 2, 2, 3)),
    ("AlphaDropout", {"rate": 0.5, "seed": 9}, (2, 3)),
    ("AlphaDropout", {"rate": 0.1, "noise_shape": (None, 1), "seed": 1}, (2, 3)),
    ("GaussianDropout", {"rate": 0.5, "seed": 8}, (2, 3)),
    ("GaussianNoise", {"stddev": 0.5, "seed": 5, "dtype": "float32"}, (2, 3)),
]
NONE: list[tuple[str, dict[str, Any]]] = [
    ("Dropout", {"rate": 0.0}),
    ("AlphaDropout", {"rate": 0}),
    ("GaussianDropout", {"rate": 0.0}),
    ("GaussianNoise", {"stddev": 0.0}),
]
CASES = [
    *(Case(name, config, shape) for name, config, shape in LAYERS),
    *(Case(name, config, (2, 3), {"training": True}) for name, config in NONE),
    *(
        Case("ActivityRegularization", config, (2, 3))
        for config in ({}, {"l1": 0.5}, {"l1": 0.25, "l2": 2.0, "name": "penalty"})
    ),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_as_in_keras(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("name, config, shape", LAYERS)
def test_a_seed_of_none_stays_none(name: str, config: dict[str, Any], shape: Any) -> None:
    arguments = {**config, "seed": None, "name": "same"}
    configs = [getattr(module.layers, name)(**arguments).get_config() for module in (keras, ours)]
    assert plain(configs[0]) == plain(configs[1])


# -- in training: what is drawn differs, its statistics do not ---------------------------------

COUNT = 40_000


def disturbed(layer: Any, x: Any) -> Any:
    """What the layer makes of its inputs in training, as an array."""
    return np.asarray(layer(x, training=True))


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_falls_with_its_rate(rate: float, backend: str) -> None:
    x = np.linspace(1, 2, COUNT).astype("float32")
    y = disturbed(ours.layers.Dropout(rate, seed=1), x)
    kept = y != 0
    assert abs(kept.mean() - (1 - rate)) < 5 * sqrt(rate * (1 - rate) / COUNT)
    assert_close(y[kept], x[kept] / (1 - rate), rtol=1e-6)


def test_dropout_at_rate_one_leaves_nothing(backend: str) -> None:
    assert not disturbed(ours.layers.Dropout(1.0), np.ones((4, 5), "float32")).any()


@pytest.mark.parametrize(
    "make, shape, along",
    [
        (lambda k: k.Dropout(0.5, (None, 1, 8)), (50, 4, 8), 1),
        (lambda k: k.SpatialDropout1D(0.5), (50, 4, 8), 1),
        (lambda k: k.SpatialDropout2D(0.5), (50, 3, 2, 8), (1, 2)),
        (lambda k: k.SpatialDropout2D(0.5, "channels_first"), (50, 8, 2, 3), (2, 3)),
        (lambda k: k.SpatialDropout3D(0.5), (50, 3, 2, 2, 8), (1, 2, 3)),
        (lambda k: k.SpatialDropout3D(0.5, "channels_first"), (50, 8, 2, 2, 2), (2, 3, 4)),
        (lambda k: k.AlphaDropout(0.5, (None, 1)), (400, 6), 1),
    ],
)
def test_elements_fall_together(make: Any, shape: Any, along: Any, backend: str) -> None:
    y = disturbed(make(ours.layers), np.ones(shape, "float32"))
    assert (y.max(along) == y.min(along)).all()
    assert 0.35 < (y == y.max()).mean() < 0.65
    assert len(set(y.flatten().tolist())) == 2


@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_alpha_dropout_keeps_mean_and_variance(rate: float, backend: str) -> None:
    x = np.random.default_rng(0).normal(0, 1, COUNT).astype("float32")
    y = disturbed(ours.layers.AlphaDropout(rate, seed=2), x)
    assert abs(y.mean() - x.mean()) < 0.03
    assert abs(y.std() - x.std()) < 0.03
    values, counts = np.unique(y, return_counts=True)
    least = -1.6732632423543772 * 1.0507009873554805
    scale = ((1 - rate) * (1 + rate * least**2)) ** -0.5
    np.testing.assert_allclose(
        values[counts.argmax()], scale * least - scale * least * rate, rtol=1e-5
    )
    assert abs(counts.max() / COUNT - rate) < 0.02


def test_gaussian_dropout_multiplies_by_its_noise(backend: str) -> None:
    x = np.full(COUNT, 2, "float32")
    y = disturbed(ours.layers.GaussianDropout(0.2, seed=3), x)
    assert abs(y.mean() - 2) < 0.03
    assert abs(y.std() - 2 * sqrt(0.2 / 0.8)) < 0.03
    assert not disturbed(ours.layers.GaussianDropout(0.2), x * 0).any()


def test_gaussian_noise_adds_its_noise(backend: str) -> None:
    x = np.full(COUNT, 2, "float32")
    y = disturbed(ours.layers.GaussianNoise(0.3, seed=3), x)
    assert abs(y.mean() - 2) < 0.01
    assert abs(y.std() - 0.3) < 0.01


NAMES: list[tuple[str, dict[str, Any]]] = [
    ("Dropout", {"rate": 0.5}),
    ("SpatialDropout1D", {"rate": 0.5}),
    ("AlphaDropout", {"rate": 0.5}),
    ("GaussianDropout", {"rate": 0.5}),
    ("GaussianNoise", {"stddev": 0.5}),
]


@pytest.mark.parametrize("name, config", NAMES)
def test_each_call_draws_others_and_seeds_repeat(
    name: str, config: dict[str, Any], backend: str
) -> None:
    x = np.ones((2, 8, 16), "float32")
    first, second = (getattr(ours.layers, name)(**config, seed=11) for _ in range(2))
    drawn = [disturbed(first, x) for _ in range(3)]
    assert len({mask.tobytes() for mask in drawn}) == 3
    for mask in drawn:
        np.testing.assert_array_equal(disturbed(second, x), mask)


@pytest.mark.parametrize("name, config", NAMES)
def test_gradients_are_those_of_what_was_drawn(
    name: str, config: dict[str, Any], backend: str
) -> None:
    rng = np.random.default_rng(0)
    x = wt.tensor(rng.normal(0, 1, (2, 4, 3)).astype("float32"))
    factors = rng.normal(0, 1, (2, 4, 3)).astype("float32")
    gradients, values = [], []
    for _ in range(2):
        layer = getattr(ours.layers, name)(**config, seed=4)

        def total(z: Any, layer: Any = layer) -> Any:
            return wt.sum(layer(z, training=True) * factors)

        gradients.append(wt.grad(total)(x))
    for shift in (0.5, -0.5):
        layer = getattr(ours.layers, name)(**config, seed=4)
        values.append(np.asarray(layer(x + shift, training=True)) * factors)
    np.testing.assert_array_equal(np.asarray(gradients[0]), np.asarray(gradients[1]))
    # All of these layers are linear functions of each element.
    expected = values[0] - values[1]
    np.testing.assert_allclose(np.asarray(gradients[0]), expected, rtol=1e-4, atol=1e-5)


def test_penalties_are_losses_of_the_call(backend: str) -> None:
    layer = ours.layers.ActivityRegularization(l1=0.5, l2=2.0)
    x = wt.tensor([[1.0, -3.0]])
    assert layer(x) is x
    assert [float(loss) for loss in layer.losses] == [22.0]
    layer(x * 0)
    assert [float(loss) for loss in layer.losses] == [0.0]


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda k: k.Dropout(1.5), "rate"),
        (lambda k: k.Dropout(-0.5), "rate"),
        (lambda k: k.AlphaDropout(2), "rate"),
        (lambda k: k.GaussianDropout(-1), "rate"),
        (lambda k: k.GaussianNoise(3), "stddev"),
        (lambda k: k.Dropout(0.5, noise_shape="ab"), "noise_shape"),
        (lambda k: k.Dropout(0.5, noise_shape=3), "noise_shape"),
        (lambda k: k.Dropout(0.5, noise_shape=(1, 0)), "noise_shape"),
        (lambda k: k.Dropout(0.5, noise_shape=(1, 2.5)), "noise_shape"),
        (lambda k: k.SpatialDropout1D(0.5)(np.ones((2, 3))), "shape"),
        (lambda k: k.SpatialDropout2D(0.5, data_format="first"), "data_format"),
    ],
)
def test_errors_as_in_keras(make: Any, match: str) -> None:
    for module in (keras, ours):
        with pytest.raises(ValueError, match=match):
            make(module.layers)


@pytest.mark.parametrize("name", ["GaussianDropout", "AlphaDropout"])
def test_a_rate_of_one_has_no_noise(name: str) -> None:
    layer = getattr(ours.layers, name)(1.0)
    with pytest.raises(ValueError, match=f"{name}: rate"):
        layer(np.ones((2, 3), "float32"), training=True)
