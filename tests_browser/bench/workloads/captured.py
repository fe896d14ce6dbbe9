"""Captured functions, beside the same functions without a capture, and beside jax-js."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import webtensor as wt
from tests_browser.bench import digits, training
from tests_browser.bench.training import weights_of
from tests_browser.bench.workload import BESIDE_JAX, UNCAPTURED, Input, Workload
from webtensor import keras

__all__ = ["CAPTURED"]

BATCH = 32


def captured(name: str, function: Callable[..., Any], inputs: Mapping[str, Input]) -> Workload:
    """Time a function."""
    return Workload(
        f"captured.{name}",
        wt.function(function),
        "",
        inputs,
        peers=UNCAPTURED,
        uncaptured=function,
    )


def captured_step(
    name: str, make_step: Callable[..., Callable[[], wt.Tensor]], inputs: Mapping[str, Input]
) -> Workload:
    """Time a step of training."""
    return Workload(
        f"captured.{name}",
        lambda **tensors: wt.function(make_step(**tensors)),
        "",
        inputs,
        peers=UNCAPTURED,
        uncaptured=make_step,
        makes_step=True,
        calls_before_comparing=5,
    )


def hundred_kernels(x: wt.Tensor) -> wt.Tensor:
    """Add and clip fifty times."""
    for _ in range(50):
        x = wt.relu(x + 1.0)
    return x


def ten_pairs(x: wt.Tensor) -> wt.Tensor:
    """Multiply and add ten times."""
    for _ in range(10):
        x = x * 1.001 + 0.5
    return x


def step_of(*layers: keras.layers.Layer) -> Callable[..., Callable[[], wt.Tensor]]:
    """Return what makes steps of training a classifier of these layers, with Keras's weights."""

    def make_step(images: wt.Tensor, classes: wt.Tensor) -> Callable[[], wt.Tensor]:
        keras.utils.set_random_seed(1)
        network = keras.Sequential([keras.Input(images.shape[1:]), *layers])
        network = keras.models.clone_model(network)  # each side has its own
        return training.make_step(network, images, classes)

    return make_step


def examples(*shape: int) -> Mapping[str, Input]:
    """Return a batch of examples and their classes."""
    return training.step_inputs(Input((BATCH, *shape)), {})


def step_beside_jax(
    name: str, images: Input, weights: Mapping[str, Input], *layers: keras.layers.Layer
) -> Workload:
    """Time a step of training a network that `jax.js` has, too, with the same weights."""

    def make_step(
        images: wt.Tensor, classes: wt.Tensor, **weights: wt.Tensor
    ) -> Callable[[], wt.Tensor]:
        network = keras.Sequential([keras.Input(images.shape[1:]), *layers])
        network = keras.models.clone_model(network)
        network.set_weights(weights.values())
        return training.make_step(network, images, classes)

    return Workload(
        f"captured.step_beside_jax.{name}",
        lambda **tensors: wt.function(make_step(**tensors)),
        "",
        training.step_inputs(images, weights),
        described=str(images),
        peers=BESIDE_JAX,
        jax=name,
        makes_step=True,
        calls_before_comparing=5,
        tolerance=1e-3,
    )


CAPTURED = [
    captured("hundred_kernels", hundred_kernels, {"x": Input((4, 4))}),
    captured("ten_pairs", ten_pairs, {"x": Input((1000, 1000))}),
    captured_step(
        "step.mlp",
        step_of(keras.layers.Dense(100, "relu"), keras.layers.Dense(training.CLASSES)),
        examples(64),
    ),
    captured_step("step.digits", digits.make_step, digits.STEP_INPUTS),
    captured_step(
        "step.lstm",
        step_of(keras.layers.LSTM(64), keras.layers.Dense(training.CLASSES)),
        examples(100, 128),
    ),
    step_beside_jax(
        "mlp",
        Input((64, 784)),
        {
            "weights1": weights_of((784, 128), 784),
            "bias1": Input((128,), -0.1, 0.1),
            "weights2": weights_of((128, 10), 128),
            "bias2": Input((10,), -0.1, 0.1),
        },
        keras.layers.Dense(128, "relu"),
        keras.layers.Dense(training.CLASSES),
    ),
    step_beside_jax(
        "convnet",
        Input((32, 8, 8, 1)),
        {
            "filter1": weights_of((3, 3, 1, 16), 9),
            "bias1": Input((16,), -0.1, 0.1),
            "filter2": weights_of((3, 3, 16, 32), 144),
            "bias2": Input((32,), -0.1, 0.1),
            "weights3": weights_of((288, 10), 288),
            "bias3": Input((10,), -0.1, 0.1),
        },
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(training.CLASSES),
    ),
]
