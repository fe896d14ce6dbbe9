"""Activations: values, gradients and names are those of Keras."""

from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours

#: Function, options.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("celu", {}),
    ("celu", {"alpha": 0.5}),
    ("elu", {}),
    ("elu", {"alpha": 0.5}),
    ("exponential", {}),
    ("gelu", {}),
    ("gelu", {"approximate": True}),
    ("glu", {}),
    ("glu", {"axis": 0}),
    ("hard_shrink", {}),
    ("hard_shrink", {"threshold": 1.0}),
    ("hard_sigmoid", {}),
    ("hard_silu", {}),
    ("hard_swish", {}),
    ("hard_tanh", {}),
    ("leaky_relu", {}),
    ("leaky_relu", {"negative_slope": 0.4}),
    ("linear", {}),
    ("log_sigmoid", {}),
    ("log_softmax", {}),
    ("log_softmax", {"axis": 0}),
    ("mish", {}),
    ("relu", {}),
    ("relu", {"negative_slope": 0.5}),
    ("relu", {"max_value": 6.0}),
    ("relu", {"max_value": 1.5}),
    ("relu", {"threshold": 1.0}),
    ("relu", {"threshold": -1.0, "negative_slope": 0.5}),
    ("relu", {"threshold": 1.0, "negative_slope": 0.5, "max_value": 2.0}),
    ("relu", {"threshold": -1.0, "max_value": 2.0}),
    ("relu", {"negative_slope": 0.5, "max_value": 2.0}),
    ("relu6", {}),
    ("selu", {}),
    ("sigmoid", {}),
    ("silu", {}),
    ("soft_shrink", {}),
    ("soft_shrink", {"threshold": 1.0}),
    ("softmax", {}),
    ("softmax", {"axis": 1}),
    ("softmax", {"axis": (0, 2)}),
    ("softplus", {}),
    ("softsign", {}),
    ("sparse_plus", {}),
    ("sparse_sigmoid", {}),
    ("squareplus", {}),
    ("squareplus", {"b": 2.0}),
    ("swish", {}),
    ("tanh", {}),
    ("tanh_shrink", {}),
    ("threshold", {"threshold": 0.5, "default_value": -7.0}),
]

NAMES = sorted({"sparsemax", *(name for name, _ in CASES)})


def inputs(seed: int) -> Any:
    """Numbers around the places where functions bend."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, 3, (4, 3, 6)).astype("float32")


@pytest.mark.parametrize("name, options", CASES)
def test_values(name: str, options: dict[str, Any], backend: str) -> None:
    x = inputs(1)
    expected = getattr(keras.activations, name)(keras.ops.convert_to_tensor(x), **options)
    result = getattr(ours.activations, name)(wt.tensor(x), **options)
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name, options",
    [
        ("gelu", {"approximate": True}),
        ("hard_sigmoid", {}),
        ("hard_silu", {}),
        ("sparse_plus", {}),
        ("squareplus", {}),
    ],
)
def test_large_integers_do_not_wrap(name: str, options: dict[str, Any], backend: str) -> None:
    x = np.array([-(2**31), -46341, 46341, 2**31 - 1], "int32")
    expected = getattr(keras.activations, name)(x.astype("float32"), **options)
    result = getattr(ours.activations, name)(wt.tensor(x), **options)
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-6)


@pytest.mark.parametrize("name, options", CASES)
def test_gradients(name: str, options: dict[str, Any]) -> None:
    x, weight = inputs(2), inputs(3)
    if name == "glu":
        weight = np.split(weight, 2, options.get("axis", -1))[0]

    def theirs(value: Any) -> Any:
        return (getattr(keras.activations, name)(value, **options) * weight).sum()

    def mine(value: wt.Tensor) -> wt.Tensor:
        return wt.sum(getattr(ours.activations, name)(value, **options) * wt.tensor(weight))

    expected = jax.grad(theirs)(keras.ops.convert_to_tensor(x))
    result = wt.grad(mine)(wt.tensor(x))
    # Where tanh is all but 1, a unit in its last place is multiplied by x and by the weight.
    atol = 1e-5 * float(np.abs(weight).max())
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=2e-4, atol=atol)


@pytest.mark.parametrize("name, options", CASES)
def test_no_gradient_passes_where_none_does_in_keras(
    name: str, options: dict[str, Any], backend: str
) -> None:
    x = inputs(6)
    function, theirs = getattr(ours.activations, name), getattr(keras.activations, name)
    expected = jax.grad(lambda x: (theirs(x, **options) * np.nan).sum())(x)
    gradient = wt.grad(lambda x: wt.sum(function(x, **options) * np.nan))(wt.tensor(x))
    assert not np.any(np.isnan(gradient.numpy()) & ~np.isnan(expected))


def test_every_name_of_keras_is_there() -> None:
    theirs = {name for name in dir(keras.activations) if not name.startswith("_")}
    assert theirs <= set(ours.activations.__all__)
    assert {"deserialize", "get", "serialize", *NAMES} == set(ours.activations.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_names_and_configurations(name: str) -> None:
    function: Callable[..., Any] = ours.activations.get(name)
    assert function is getattr(ours.activations, name)
    expected = keras.activations.serialize(keras.activations.get(name))
    assert ours.activations.serialize(function) == expected
    assert ours.activations.deserialize(expected) is function


@pytest.mark.parametrize(
    "name, options", [case for case in CASES if case[1].get("threshold", 0) >= 0]
)
def test_symbolic_tensors(name: str, options: dict[str, Any]) -> None:
    x = inputs(6)
    entry = ours.Input(x.shape[1:], batch_size=4)
    result = getattr(ours.activations, name)(entry, **options)
    expected = getattr(ours.activations, name)(wt.tensor(x), **options)
    assert result.shape == expected.shape
    if result is not entry:
        np.testing.assert_allclose(
            np.asarray(ours.Model(entry, result)(x)), np.asarray(expected), atol=1e-6
        )


def test_none_is_linear() -> None:
    assert ours.activations.get(None) is ours.activations.linear


def nearest_probabilities(row: Any) -> Any:
    """The point of the simplex nearest to a row, by bisection: Keras 3.15.1 returns zeros."""
    low, high = row.min() - 1, row.max()
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - low, 0)


@pytest.mark.parametrize("offset", [0, 1e6])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_sparsemax(axis: int, offset: float, backend: str) -> None:
    x = inputs(4) + np.float32(offset)
    expected = np.apply_along_axis(nearest_probabilities, axis, x.astype("float64"))
    result = ours.activations.sparsemax(wt.tensor(x), axis=axis)
    np.testing.assert_allclose(np.asarray(result), expected, atol=1e-5)


def test_gradient_of_sparsemax() -> None:
    x, weight = inputs(4)[0], inputs(5)[0]
    gradient = wt.grad(lambda x: wt.sum(ours.activations.sparsemax(x) * weight))(wt.tensor(x))
    kept = np.asarray(ours.activations.sparsemax(wt.tensor(x))) > 0
    mean = (weight * kept).sum(-1, keepdims=True) / kept.sum(-1, keepdims=True)
    np.testing.assert_allclose(np.asarray(gradient), kept * (weight - mean), atol=1e-5)


@pytest.mark.parametrize(
    "apply",
    [
        lambda module, x: module.activations.softmax(x),
        lambda module, x: module.activations.softmax(x, axis=2),
        lambda module, x: module.layers.Softmax()(x),
        lambda module, x: module.layers.Dense(1, "softmax")(x),
        lambda module, x: module.ops.softmax(x, -1),
    ],
)
def test_softmax_warns_of_an_axis_of_size_1(apply: Callable[[Any, Any], Any]) -> None:
    for module in (keras, ours):
        with pytest.warns(UserWarning, match=r"softmax.* has size 1"):
            result = apply(module, np.zeros((2, 3, 1), "float32"))
        assert np.unique(np.asarray(result)).tolist() == [1.0]


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"activation 'rleu' is not known; did you mean 'relu'"):
        ours.activations.get("rleu")
    with pytest.raises(ValueError, match="glu: axis -1 must have an even size"):
        ours.activations.glu(wt.zeros((2, 3)))
    with pytest.raises(ValueError, match="softmax"):
        ours.activations.softmax(wt.tensor(1.0))
