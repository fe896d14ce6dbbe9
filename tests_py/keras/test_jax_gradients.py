"""Keras's gradients by JAX, with which ours are compared, where compiled code has made them NaN."""

from collections.abc import Callable

import jax
import keras
import numpy as np
import pytest

STEP = 1e-6

#: By Keras, and by NumPy.
REDUCTIONS: dict[str, tuple[Callable[..., jax.Array], Callable[..., np.ndarray]]] = {
    "max": (keras.ops.max, np.max),
    "min": (keras.ops.min, np.min),
}
ACTIVATIONS: dict[str, tuple[Callable[..., jax.Array], Callable[..., np.ndarray]]] = {
    "linear": (keras.activations.linear, lambda x: x),
    "tanh": (keras.activations.tanh, np.tanh),
    "softplus": (keras.activations.softplus, lambda x: np.logaddexp(0, x)),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_compiled_gradients_of_extrema_are_those_of_differences(
    reduction: str, activation: str
) -> None:
    reduce, reduce_float64 = REDUCTIONS[reduction]
    activate, activate_float64 = ACTIVATIONS[activation]
    rng = np.random.default_rng(0)
    scale, offset = rng.normal(size=(2, 8))
    weights = rng.normal(size=(4, 8))

    def weighted(scale: jax.Array, x: np.ndarray) -> jax.Array:
        y = activate(x * scale + offset.astype("float32")) * scale + 0.1
        return (reduce(y, axis=1) * weights.astype("float32")).sum()

    def weighted_float64(scale: np.ndarray, x: np.ndarray) -> float:
        y = activate_float64(x * scale + offset) * scale + 0.1
        return float((reduce_float64(y, axis=1) * weights).sum())

    gradient = jax.jit(jax.grad(weighted))
    for _ in range(4):
        x = rng.normal(size=(4, 6, 8))
        differences = [
            (weighted_float64(scale + step, x) - weighted_float64(scale - step, x)) / (2 * STEP)
            for step in STEP * np.eye(8)
        ]
        computed = gradient(scale.astype("float32"), x.astype("float32"))
        np.testing.assert_allclose(computed, differences, rtol=1e-4, atol=1e-4)
