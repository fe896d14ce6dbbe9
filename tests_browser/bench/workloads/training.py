"""Losses, a recurrent cell, the steps of optimizers, and the digits page's network."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import webtensor as wt
from tests_browser.bench import digits, mnist
from tests_browser.bench.workload import CPU_FOR_WASM, Input, Workload

__all__ = ["TRAINING"]

MILLION = Input((1000, 1000))
PROBABILITIES = Input((1000, 1000), 0.1, 0.9)
UNITS = 64
STATE = Input((32, UNITS))


def loss(name: str, theirs: str, inputs: Input = MILLION) -> Workload:
    """Time a loss of labels and predictions."""
    return Workload(
        f"losses.{name}",
        getattr(wt.losses, name),
        f"tf.losses.{theirs}(labels, predictions)",
        {"labels": PROBABILITIES, "predictions": inputs},
        tolerance=1e-3,
    )


def optimizer_step(name: str, theirs: str, *numbers: float) -> Workload:
    """Time a step toward the least sum of squares, which is mostly the optimizer's work."""

    def make_step(start: wt.Tensor) -> Callable[[], wt.Tensor]:
        weights = wt.Variable(start)
        optimizer = getattr(wt.optimizers, name)(*numbers)
        return lambda: optimizer.minimize(lambda: wt.sum(wt.square(weights)))

    arguments = ", ".join(map(str, numbers))
    return Workload(
        f"optimizers.{name.lower()}",
        make_step,
        f"((weights, optimizer) => () => optimizer.minimize("
        f"() => tf.sum(tf.square(weights)), true, [weights]))"
        f"(tf.variable(start), tf.train.{theirs}({arguments}))",
        {"start": Input((300, 1000))},
        makes_step=True,
        tolerance=1e-3,
        calls_before_comparing=3,
    )


def training_step(name: str, network: ModuleType, parameters: str, **options: Any) -> Workload:
    """Time a step of Adam on a batch for a network that `digits.py` or its like describes."""
    return Workload(
        f"training_step.{name}",
        network.make_step,
        f"training.makeStep({', '.join(['tf', name, *network.STEP_INPUTS])})",
        network.STEP_INPUTS,
        described=f"{network.IMAGES}, {parameters} parameters",
        peers=CPU_FOR_WASM,
        tolerance=1e-3,
        makes_step=True,
        **options,
    )


TRAINING = [
    loss("mean_squared_error", "meanSquaredError"),
    loss("huber_loss", "huberLoss"),
    loss("log_loss", "logLoss", PROBABILITIES),
    loss("sigmoid_cross_entropy", "sigmoidCrossEntropy"),
    loss("softmax_cross_entropy", "softmaxCrossEntropy"),
    Workload(
        "basic_lstm_cell",
        lambda kernel, bias, data, c, h: wt.basic_lstm_cell(1.0, kernel, bias, data, c, h)[1],
        "tf.tidy(() => tf.basicLSTMCell(tf.scalar(1), kernel, bias, data, c, h)[1])",
        {
            "kernel": Input((2 * UNITS, 4 * UNITS), -0.1, 0.1),
            "bias": Input((4 * UNITS,)),
            "data": STATE,
            "c": STATE,
            "h": STATE,
        },
    ),
    optimizer_step("SGD", "sgd", 0.01),
    optimizer_step("Momentum", "momentum", 0.01, 0.9),
    optimizer_step("Adagrad", "adagrad", 0.01),
    optimizer_step("Adam", "adam", 0.01),
    optimizer_step("RMSprop", "rmsprop", 0.01),
    training_step("digits", digits, "38,282", calls_before_comparing=5),
    # Theirs on the CPU take seconds for a step.
    training_step("mnist", mnist, "34,826", calls_before_comparing=2),
]
