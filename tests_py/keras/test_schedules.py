"""Schedules of learning rates beside those of Keras."""

from __future__ import annotations

import inspect
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours

SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("ExponentialDecay", {"decay_steps": 7, "decay_rate": 0.8}),
    ("ExponentialDecay", {"decay_steps": 5, "decay_rate": 0.5, "staircase": True, "name": "e"}),
    ("InverseTimeDecay", {"decay_steps": 7, "decay_rate": 0.8}),
    ("InverseTimeDecay", {"decay_steps": 5, "decay_rate": 0.5, "staircase": True}),
    ("PolynomialDecay", {"decay_steps": 10}),
    ("PolynomialDecay", {"decay_steps": 10, "end_learning_rate": 0.01, "power": 0.5}),
    ("PolynomialDecay", {"decay_steps": 8, "power": 2.0, "cycle": True}),
    ("CosineDecay", {"decay_steps": 12}),
    ("CosineDecay", {"decay_steps": 12, "alpha": 0.2}),
    ("CosineDecay", {"decay_steps": 12, "alpha": 0.1, "warmup_target": 0.5, "warmup_steps": 4}),
    ("CosineDecay", {"decay_steps": 12, "warmup_target": 0.5}),
    ("CosineDecayRestarts", {"first_decay_steps": 4}),
    ("CosineDecayRestarts", {"first_decay_steps": 4, "t_mul": 1.5, "m_mul": 0.8, "alpha": 0.1}),
    ("CosineDecayRestarts", {"first_decay_steps": 5, "t_mul": 1.0, "m_mul": 0.9}),
    ("CosineDecayRestarts", {"first_decay_steps": 8, "t_mul": 0.5}),
]
PIECES: dict[str, Any] = {"boundaries": [3, 8, 20], "values": [0.1, 0.05, 0.02, 0.01]}

ALL = [
    *((name, {"initial_learning_rate": 0.25, **arguments}) for name, arguments in SCHEDULES),
    ("PiecewiseConstantDecay", PIECES),
    ("PiecewiseConstantDecay", {"boundaries": [], "values": [0.5], "name": "one"}),
]


def both(name: str, arguments: dict[str, Any]) -> list[Any]:
    return [getattr(home.optimizers.schedules, name)(**arguments) for home in (ours, keras)]


@pytest.mark.parametrize("name, arguments", ALL, ids=str)
def test_rates_are_the_same(name: str, arguments: dict[str, Any]) -> None:
    mine, theirs = both(name, arguments)
    steps = [0, 1, 2, 3, 4, 5, 8, 11, 12, 16, 20, 28]
    if name == "PiecewiseConstantDecay" and not arguments["boundaries"]:
        expected = [0.5] * len(steps)  # Keras fails
    else:
        expected = [float(theirs(step)) for step in steps]
    rates = [mine(step) for step in steps]
    assert {(rate.shape, rate.dtype) for rate in rates} == {((), wt.float32)}
    assert np.allclose([float(rate) for rate in rates], expected, rtol=1e-5, equal_nan=True)
    assert np.allclose(mine(wt.tensor([3, 4])).tolist(), expected[3:5], rtol=1e-5)
    assert np.allclose(mine(np.arange(4).reshape(2, 2)).numpy().ravel(), expected[:4], rtol=1e-5)


@pytest.mark.parametrize("name, arguments", ALL, ids=str)
def test_configurations_go_both_ways(name: str, arguments: dict[str, Any]) -> None:
    mine, theirs = both(name, arguments)
    schedules, others = ours.optimizers.schedules, keras.optimizers.schedules
    config = theirs.get_config()
    assert mine.get_config() == config
    assert list(mine.get_config()) == list(config)
    assert schedules.serialize(mine) == others.serialize(theirs)
    back = schedules.deserialize(others.serialize(theirs))
    assert (type(back), back.get_config()) == (type(mine), config)
    assert others.deserialize(schedules.serialize(mine)).get_config() == config
    assert type(mine).from_config(config).get_config() == config
    old = {"class_name": name, "config": config}
    assert schedules.deserialize(old).get_config() == config


@pytest.mark.parametrize("name", sorted({name for name, _ in ALL}))
def test_signatures_are_the_same(name: str) -> None:
    mine, theirs = (
        [
            (parameter.name, parameter.default)
            for parameter in inspect.signature(
                getattr(home.optimizers.schedules, name)
            ).parameters.values()
        ]
        for home in (ours, keras)
    )
    assert mine == theirs


def test_restarts_are_where_they_should_be() -> None:
    """Float32 logarithms put some of them a step late in Keras."""
    schedule = ours.optimizers.schedules.CosineDecayRestarts(1.0, 1)
    starts = [2**k - 1 for k in range(20)]
    assert [float(schedule(step)) for step in starts] == [1.0] * 20
    thrice = ours.optimizers.schedules.CosineDecayRestarts(1.0, 2, t_mul=3.0, m_mul=0.5)
    assert [float(thrice(3**k - 1)) for k in range(8)] == [0.5**k for k in range(8)]


def test_limits_are_numbers() -> None:
    schedules = ours.optimizers.schedules
    assert float(schedules.ExponentialDecay(1.0, 1, 10.0)(1000)) == np.inf
    assert np.isnan(float(schedules.ExponentialDecay(1.0, 2, -1.0)(1)))
    assert float(schedules.InverseTimeDecay(1.0, 1, -1.0)(1)) == np.inf
    assert float(schedules.PolynomialDecay(1.0, 2, 0.0, power=-1.0)(2)) == np.inf


def test_the_base_class_leaves_rate_and_configuration_to_others() -> None:
    for home in (ours, keras):
        schedule = home.optimizers.schedules.LearningRateSchedule()
        with pytest.raises(NotImplementedError):
            schedule(1)
        with pytest.raises(NotImplementedError):
            schedule.get_config()


@pytest.mark.parametrize(
    "name, argument",
    [
        ("ExponentialDecay", "decay_steps"),
        ("InverseTimeDecay", "decay_steps"),
        ("PolynomialDecay", "decay_steps"),
        ("CosineDecay", "decay_steps"),
        ("CosineDecayRestarts", "first_decay_steps"),
    ],
)
def test_periods_must_be_positive(name: str, argument: str) -> None:
    rest = {"decay_rate": 0.5} if name in ("ExponentialDecay", "InverseTimeDecay") else {}
    for home in (ours, keras):
        with pytest.raises(ValueError, match=f"{argument}.* must be > 0"):
            getattr(home.optimizers.schedules, name)(0.1, **{argument: 0}, **rest)


def test_boundaries_must_be_one_less_than_values() -> None:
    for home in (ours, keras):
        with pytest.raises(ValueError, match=r"boundaries"):
            home.optimizers.schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.2])


def test_unknown_schedules_are_refused() -> None:
    config: dict[str, Any] = {
        "module": "keras.optimizers.schedules",
        "class_name": "CosineDecai",
        "config": {},
        "registered_name": None,
    }
    with pytest.raises(ValueError, match="did you mean 'CosineDecay'"):
        ours.optimizers.schedules.deserialize(config)
