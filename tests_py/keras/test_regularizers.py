"""Regularizers: penalties, gradients and configurations are those of Keras."""

from typing import Any

import jax
import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from webtensor import keras as ours

#: Class, options, whether it takes tensors of any shape.
CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("L1", {}, True),
    ("L1", {"l1": 0.3}, True),
    ("L2", {}, True),
    ("L2", {"l2": 1}, True),
    ("L1L2", {}, True),
    ("L1L2", {"l1": 0.1, "l2": 0.2}, True),
    ("OrthogonalRegularizer", {"factor": 0.5}, False),
    ("OrthogonalRegularizer", {"factor": 0.5, "mode": "columns"}, False),
]


@pytest.mark.parametrize("name, options, any_shape", CASES)
def test_penalties_and_gradients(
    name: str, options: dict[str, Any], any_shape: bool, backend: str
) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 4, 2) if any_shape else (5, 4)).astype("float32")
    theirs = getattr(keras.regularizers, name)(**options)
    mine = getattr(ours.regularizers, name)(**options)
    expected, slope = jax.value_and_grad(theirs)(keras.ops.convert_to_tensor(x))
    value, gradient = wt.value_and_grad(mine)(wt.tensor(x))
    assert_close(float(value), float(expected), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(gradient), np.asarray(slope), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name, options, any_shape", CASES)
def test_configurations(name: str, options: dict[str, Any], any_shape: bool) -> None:
    expected = keras.regularizers.serialize(getattr(keras.regularizers, name)(**options))
    mine = getattr(ours.regularizers, name)(**options)
    config: Any = ours.regularizers.serialize(mine)
    assert config["config"] == pytest.approx(expected["config"])
    assert {**config, "config": None} == {**expected, "config": None}
    again = ours.regularizers.deserialize(expected)
    assert type(again) is type(mine)
    assert again.get_config() == pytest.approx(expected["config"])


@pytest.mark.parametrize(
    "name", ["l1", "L1", "l2", "L2", "l1l2", "l1_l2", "L1L2", "orthogonal_regularizer"]
)
def test_names(name: str) -> None:
    spelled = "L1L2" if name == "l1_l2" else name  # the others are as in Keras
    assert (
        type(ours.regularizers.get(name)).__name__ == type(keras.regularizers.get(spelled)).__name__
    )


def test_every_name_of_keras_is_there() -> None:
    theirs = {name for name in dir(keras.regularizers) if not name.startswith("_")}
    assert theirs == set(ours.regularizers.__all__)


def test_short_rows_count_less() -> None:
    x = np.array([[1e-8, 1e-8], [1.0, 1.0]], "float32")
    expected = keras.regularizers.OrthogonalRegularizer(1.0)(keras.ops.convert_to_tensor(x))
    result = ours.regularizers.OrthogonalRegularizer(1.0)(wt.tensor(x))
    assert_close(float(result), float(expected), rtol=1e-4)


def test_functions_and_none() -> None:
    assert ours.regularizers.get(None) is None
    assert ours.regularizers.serialize(None) is None
    assert ours.regularizers.get(wt.sum) is wt.sum


def test_wrong_arguments() -> None:
    for value in (-1, "a", float("nan")):
        with pytest.raises(ValueError, match="L1: l1 must be a non-negative number"):
            ours.regularizers.L1(value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="mode must be 'rows' or 'columns'"):
        ours.regularizers.OrthogonalRegularizer(mode="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a matrix"):
        ours.regularizers.OrthogonalRegularizer()(wt.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match="regularizer 'orthogonal_regulariser' is not known; did"):
        ours.regularizers.get("orthogonal_regulariser")
    with pytest.raises(NotImplementedError, match="get_config"):
        ours.regularizers.Regularizer().get_config()
