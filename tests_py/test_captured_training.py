"""Captured steps of training: they do what the same steps do without a capture."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor import keras
from webtensor.keras import optimizers

STEPS = 7

#: Optimizers that count their steps in Python; the options change what a step does by its number.
OPTIMIZERS: dict[str, Callable[[], optimizers.Optimizer]] = {
    "adadelta": lambda: optimizers.Adadelta(0.5),
    "adafactor": lambda: optimizers.Adafactor(0.1),
    "adagrad": lambda: optimizers.Adagrad(0.1),
    "adam": lambda: optimizers.Adam(0.1),
    "adamax": lambda: optimizers.Adamax(0.1),
    "adamw": lambda: optimizers.AdamW(0.1),
    "amsgrad": lambda: optimizers.Adam(0.1, amsgrad=True),
    "ftrl": lambda: optimizers.Ftrl(0.1),
    "lamb": lambda: optimizers.Lamb(0.1),
    "lion": lambda: optimizers.Lion(0.1),
    "momentum": lambda: optimizers.Momentum(0.1),
    "muon": lambda: optimizers.Muon(0.1),
    "nadam": lambda: optimizers.Nadam(0.1),
    "rmsprop": lambda: optimizers.RMSprop(0.1, momentum=0.5, centered=True),
    "schedule-free": lambda: optimizers.ScheduleFreeAdamW(0.1, warmup_steps=3),
    "sgd": lambda: optimizers.SGD(0.1),
    "nesterov": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "clipped": lambda: optimizers.Adam(0.1, global_clipnorm=0.5, weight_decay=0.01),
    "averaged": lambda: optimizers.SGD(0.1, use_ema=True, ema_overwrite_frequency=3),
    "accumulated": lambda: optimizers.Adam(0.1, gradient_accumulation_steps=3),
    "scaled": lambda: optimizers.Adam(0.1, loss_scale_factor=8.0),
    "decaying": lambda: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)),
    "piecewise": lambda: optimizers.SGD(
        optimizers.schedules.PiecewiseConstantDecay([2, 4], [0.3, 0.2, 0.1])
    ),
    "own-schedule": lambda: optimizers.SGD(OwnSchedule()),
    "own": lambda: Own(0.1),
    "multi": lambda: optimizers.SGD(0.1, clipvalue=0.1),
}


class OwnSchedule(optimizers.schedules.LearningRateSchedule):
    """A schedule that computes with tensors."""

    def __call__(self, step: Any) -> wt.Tensor:
        return wt.exp(-wt.tensor(step, dtype="float32") / 3.0)


class Own(optimizers.Optimizer):
    """An optimizer as Keras's guide writes them, of ops alone."""

    def build(self, variables: Any) -> None:
        super().build(variables)
        self.sums = [self.add_variable_from_reference(variable, "sum") for variable in variables]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        total = self.sums[self._get_variable_index(variable)]
        self.assign_add(total, gradient)
        if self.iterations == 3:
            self.assign(total, wt.zeros_like(total))
        rate = learning_rate / (self.iterations + 1)
        self.assign_sub(variable, rate * gradient + total * 0.01 * rate)


class Run:
    """A small network and the steps that train it."""

    def __init__(self, make: Callable[[], optimizers.Optimizer]) -> None:
        keras.utils.set_random_seed(3)
        generator = np.random.default_rng(5)
        self.x = wt.tensor(generator.normal(size=(6, 3)).astype("float32"))
        self.y = wt.tensor(generator.normal(size=(6, 2)).astype("float32"))
        self.model = keras.Sequential(
            [keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(2)]
        )
        self.optimizer = make()
        self.calls = 0

    def step(self, x: wt.Tensor, y: wt.Tensor) -> wt.Tensor:
        self.calls += 1
        variables = self.model.trainable_variables
        with wt.GradientTape() as tape:
            loss = wt.mean((self.model(x) - y) ** 2)
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    def state(self) -> list[Any]:
        variables = [*self.model.variables, *self.optimizer.variables]
        return [np.asarray(variable.tolist()) for variable in variables]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_the_function_itself(backend: str, name: str) -> None:
    expected, actual = Run(OPTIMIZERS[name]), Run(OPTIMIZERS[name])
    captured = wt.function(actual.step)
    for _ in range(STEPS):
        losses = expected.step(expected.x, expected.y), captured(actual.x, actual.y)
        assert losses[0].item() == losses[1].item()
    for own, other in zip(expected.state(), actual.state(), strict=True):
        np.testing.assert_array_equal(own, other)
    # The first step makes variables, the second is captured; further ones where steps differ.
    assert actual.calls <= {"accumulated": 4, "averaged": 4, "own": 3}.get(name, 2)


def test_learning_rates_that_are_assigned_in_between(backend: str) -> None:
    expected, actual = (Run(lambda: optimizers.Adam(0.1)) for _ in range(2))
    captured = wt.function(actual.step)
    for rate in (0.1, 0.2, 0.05, 0.0):
        for run, step in ((expected, expected.step), (actual, captured)):
            run.optimizer.learning_rate = rate
            step(run.x, run.y)
    assert actual.optimizer.learning_rate == 0.0
    assert actual.optimizer.iterations == 4
    for own, other in zip(expected.state(), actual.state(), strict=True):
        np.testing.assert_array_equal(own, other)


def test_rates_of_functions_are_asked_at_each_step(backend: str) -> None:
    asked = count(1)
    optimizer = optimizers.SGD(lambda: 0.5 ** next(asked))
    w = wt.Variable(1.0)

    @wt.function
    def step() -> None:
        optimizer.apply([wt.ones(())], [w])

    changes = []
    for _ in range(4):
        before = w.value.item()
        step()
        changes.append(before - w.value.item())
    # A step asks twice, first for weight decay.
    assert changes == [0.25, 0.0625, 0.015625, 0.00390625]


def test_several_steps_in_one_function(backend: str) -> None:
    expected, actual = (Run(lambda: optimizers.Adam(0.1)) for _ in range(2))
    captured = wt.function(lambda x, y: [actual.step(x, y) for _ in range(3)])
    for _ in range(3):
        losses = [expected.step(expected.x, expected.y).item() for _ in range(3)]
        assert [loss.item() for loss in captured(actual.x, actual.y)] == losses
    assert actual.optimizer.iterations == 9


def test_a_loss_scale_that_follows_gradients_is_refused(backend: str) -> None:
    run = Run(lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1)))
    with pytest.raises(wt.CaptureError, match="those of vmap must not read elements"):
        wt.function(run.step)(run.x, run.y)


def test_layers_that_are_built_at_the_first_call(backend: str) -> None:
    layer = keras.layers.Dense(3)
    captured = wt.function(layer)
    x = wt.ones((2, 4))
    first = captured(x).tolist()
    assert [captured(x).tolist() for _ in range(3)] == [first] * 3
    layer.set_weights([np.zeros((4, 3), "float32"), np.ones(3, "float32")])
    assert captured(x).tolist() == [[1.0] * 3] * 2


def test_variables_of_a_call_are_new_at_each(backend: str) -> None:
    @wt.function
    def f(x: wt.Tensor) -> wt.Tensor:
        total = wt.Variable(x)
        total.assign_add(1.0)
        return total.value

    assert [f(wt.tensor(float(i))).item() for i in range(4)] == [1.0, 2.0, 3.0, 4.0]


def test_objects_that_draw_a_seed_at_each_call_are_refused(backend: str) -> None:
    @wt.function
    def f() -> wt.Tensor:
        return keras.initializers.RandomNormal()((2,))

    f()
    with pytest.raises(wt.CaptureError, match="draws a seed"):
        f()


@pytest.mark.parametrize(
    "use",
    [float, int, round, "{:.2f}".format, lambda rate: {rate: 1}, range],
)
def test_numbers_that_a_replay_would_lose_are_refused(
    backend: str, use: Callable[[Any], Any]
) -> None:
    optimizer = optimizers.SGD(0.1)

    @wt.function
    def f() -> None:
        use(optimizer._current_learning_rate())

    with pytest.raises(wt.CaptureError, match="needed as a number of Python"):
        f()


def test_what_a_seed_decides_is_refused(backend: str) -> None:
    generator = keras.random.SeedGenerator(3)

    @wt.function
    def f(x: wt.Tensor) -> wt.Tensor:
        return x if generator.next() % 2 else -x

    with pytest.raises(wt.CaptureError, match="a number that is drawn"):
        f(wt.ones(()))
