"""Constraints: weights and configurations are those of Keras."""

from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours

CASES: list[tuple[str, dict[str, Any]]] = [
    ("MaxNorm", {}),
    ("MaxNorm", {"max_value": 0.7, "axis": [0, 1]}),
    ("MinMaxNorm", {}),
    ("MinMaxNorm", {"min_value": 1.0, "max_value": 2.0, "rate": 0.3, "axis": 1}),
    ("NonNeg", {}),
    ("UnitNorm", {}),
    ("UnitNorm", {"axis": [0, 1]}),
]


@pytest.mark.parametrize("name, options", CASES)
def test_weights(name: str, options: dict[str, Any], backend: str) -> None:
    w = np.random.default_rng(1).normal(size=(4, 3, 5)).astype("float32")
    w[:, 0] = 0
    w[:, 1] *= 1e-6
    expected = getattr(keras.constraints, name)(**options)(w)
    result = getattr(ours.constraints, name)(**options)(wt.Variable(w))
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize("name, options", CASES)
def test_configurations(name: str, options: dict[str, Any]) -> None:
    expected = keras.constraints.serialize(getattr(keras.constraints, name)(**options))
    mine = getattr(ours.constraints, name)(**options)
    assert ours.constraints.serialize(mine) == expected
    again = ours.constraints.deserialize(expected)
    assert type(again) is type(mine)
    assert again.get_config() == mine.get_config()


@pytest.mark.parametrize("name", ["max_norm", "min_max_norm", "non_neg", "unit_norm", "MaxNorm"])
def test_names(name: str) -> None:
    expected = keras.constraints.get(name)
    assert type(ours.constraints.get(name)).__name__ == type(expected).__name__


def test_every_name_of_keras_is_there() -> None:
    theirs = {name for name in dir(keras.constraints) if not name.startswith("_")}
    assert theirs == set(ours.constraints.__all__)


def test_functions_and_none() -> None:
    assert ours.constraints.get(None) is None
    assert ours.constraints.get(wt.relu) is wt.relu


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="constraint 'maxnorm' is not known; did you mean 'max_n"):
        ours.constraints.get("maxnorm")


def test_the_base_class_allows_everything() -> None:
    assert ours.constraints.Constraint()([1.0, -2.0]).tolist() == [1.0, -2.0]
