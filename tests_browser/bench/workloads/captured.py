"""Captured functions, beside the same functions as they run without a capture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import webtensor as wt
from tests_browser.bench import digits, training
from tests_browser.bench.workload import UNCAPTURED, Input, Workload
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
]
