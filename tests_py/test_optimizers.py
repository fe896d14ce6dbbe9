"""Optimizers, step by step against their formulas in float64."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.cases.formulas import Step, adadelta, adagrad, adam, adamax, momentum, rmsprop, sgd
from tests_py.conftest import counts

#: A quadratic with a different curvature along each axis: gradient CURVATURE * w.
CURVATURE = np.array([1.0, 3.0, 10.0])
START = np.array([1.0, -2.0, 0.5])


OPTIMIZERS: dict[str, tuple[Callable[[], Any], Callable[[], Step]]] = {
    "SGD": (lambda: wt.optimizers.SGD(0.1), lambda: sgd(0.1)),
    "SGD by default": (wt.optimizers.SGD, lambda: sgd(0.01)),
    "Momentum": (lambda: wt.optimizers.Momentum(0.02, 0.8), lambda: momentum(0.02, 0.8, False)),
    "Momentum by default": (wt.optimizers.Momentum, lambda: momentum(0.01, 0.9, False)),
    "Nesterov": (
        lambda: wt.optimizers.Momentum(0.02, 0.8, nesterov=True),
        lambda: momentum(0.02, 0.8, True),
    ),
    "Adam": (
        lambda: wt.optimizers.Adam(0.05, 0.8, 0.95, 1e-3),
        lambda: adam(0.05, 0.8, 0.95, 1e-3),
    ),
    "Adam by default": (wt.optimizers.Adam, lambda: adam(0.001, 0.9, 0.999, 1e-7)),
    "RMSprop": (
        lambda: wt.optimizers.RMSprop(0.02, 0.8, 0.5, 1e-3),
        lambda: rmsprop(0.02, 0.8, 0.5, 1e-3, False),
    ),
    "centered RMSprop": (
        lambda: wt.optimizers.RMSprop(0.02, 0.8, epsilon=1e-2, centered=True),
        lambda: rmsprop(0.02, 0.8, 0.0, 1e-2, True),
    ),
    "centered RMSprop with momentum": (
        lambda: wt.optimizers.RMSprop(0.01, 0.8, 0.5, 1e-2, True),
        lambda: rmsprop(0.01, 0.8, 0.5, 1e-2, True),
    ),
    "RMSprop by default": (
        wt.optimizers.RMSprop,
        lambda: rmsprop(0.001, 0.9, 0.0, 1e-7, False),
    ),
    "Adagrad": (
        lambda: wt.optimizers.Adagrad(0.1, 0.5, 1e-3),
        lambda: adagrad(0.1, 0.5, 1e-3),
    ),
    "Adagrad by default": (wt.optimizers.Adagrad, lambda: adagrad(0.001, 0.1, 1e-7)),
    "Adadelta": (
        lambda: wt.optimizers.Adadelta(0.5, 0.9, 1e-3),
        lambda: adadelta(0.5, 0.9, 1e-3),
    ),
    "Adadelta by default": (wt.optimizers.Adadelta, lambda: adadelta(0.001, 0.95, 1e-7)),
    "Adamax": (
        lambda: wt.optimizers.Adamax(0.05, 0.8, 0.95, 1e-3),
        lambda: adamax(0.05, 0.8, 0.95, 1e-3),
    ),
    "Adamax by default": (wt.optimizers.Adamax, lambda: adamax(0.001, 0.9, 0.999, 1e-7)),
    "train.sgd": (lambda: wt.train.sgd(0.1), lambda: sgd(0.1)),
    "train.momentum": (lambda: wt.train.momentum(0.02, 0.8), lambda: momentum(0.02, 0.8, False)),
    "train.momentum with Nesterov's": (
        lambda: wt.train.momentum(0.02, 0.8, True),
        lambda: momentum(0.02, 0.8, True),
    ),
    "train.rmsprop": (
        lambda: wt.train.rmsprop(0.02),
        lambda: rmsprop(0.02, 0.9, 0.0, 1e-7, False),
    ),
    "train.rmsprop with options": (
        lambda: wt.train.rmsprop(0.01, 0.8, 0.5, 1e-2, True),
        lambda: rmsprop(0.01, 0.8, 0.5, 1e-2, True),
    ),
    "train.adam": (wt.train.adam, lambda: adam(0.001, 0.9, 0.999, 1e-7)),
    "train.adam with options": (
        lambda: wt.train.adam(0.05, 0.8, 0.95, 1e-3),
        lambda: adam(0.05, 0.8, 0.95, 1e-3),
    ),
    "train.adadelta": (wt.train.adadelta, lambda: adadelta(0.001, 0.95, 1e-7)),
    "train.adadelta with options": (
        lambda: wt.train.adadelta(0.5, 0.9, 1e-3),
        lambda: adadelta(0.5, 0.9, 1e-3),
    ),
    "train.adagrad": (lambda: wt.train.adagrad(0.1), lambda: adagrad(0.1, 0.1, 1e-7)),
    "train.adagrad with options": (
        lambda: wt.train.adagrad(0.1, 0.5),
        lambda: adagrad(0.1, 0.5, 1e-7),
    ),
    "train.adamax": (wt.train.adamax, lambda: adamax(0.002, 0.9, 0.999, 1e-7)),
    "train.adamax with decay": (
        lambda: wt.train.adamax(0.05, 0.8, 0.95, 1e-3, 0.1),
        lambda: adamax(0.05, 0.8, 0.95, 1e-3, 0.1),
    ),
}


def quadratic(w: wt.Variable) -> Callable[[], wt.Tensor]:
    curvature = wt.tensor(CURVATURE)
    return lambda: wt.sum(curvature * w * w) * 0.5


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps_follow_the_formula(backend: str, name: str) -> None:
    make, formula = OPTIMIZERS[name]
    optimizer, update = make(), formula()
    w, expected = wt.Variable(START), START
    for step in range(1, 21):
        expected_loss = float(np.sum(CURVATURE * expected**2) / 2)
        loss = optimizer.minimize(quadratic(w))
        expected = update(expected, CURVATURE * expected, step)
        # Each step rounds a few float32 numbers of the size of 2.
        assert math.isclose(float(loss), expected_loss, rel_tol=1e-5)
        assert np.allclose(w.numpy(), expected, rtol=0, atol=1e-6 * step)
    assert optimizer.iterations == 20


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_loss_falls(name: str) -> None:
    optimizer = OPTIMIZERS[name][0]()
    w = wt.Variable(START)
    first = float(optimizer.minimize(quadratic(w)))
    for _ in range(50):
        last = float(optimizer.minimize(quadratic(w)))
    assert last < first


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_memory_is_flat(backend: str, name: str) -> None:
    optimizer = OPTIMIZERS[name][0]()
    w = wt.Variable(START)
    optimizer.minimize(quadratic(w))
    before = counts()
    for _ in range(10):
        optimizer.minimize(quadratic(w))
    # What was garbage before may have gone meanwhile.
    assert all(count <= before[name] for name, count in counts().items())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_gives_its_memory_back(name: str, no_leak: None) -> None:
    optimizer = OPTIMIZERS[name][0]()
    w = wt.Variable(START)
    optimizer.minimize(quadratic(w))
    del optimizer, w


def test_apply_gradients_takes_a_step() -> None:
    w, b = wt.Variable([1.0, 2.0]), wt.Variable(3.0)
    optimizer = wt.optimizers.SGD(0.5)
    optimizer.apply_gradients([(wt.tensor([2.0, 4.0]), w), (wt.tensor(1.0), b)])
    assert w.tolist() == [0.0, 0.0]
    assert b.tolist() == 2.5
    assert optimizer.iterations == 1


def test_each_variable_has_its_own_state() -> None:
    w, b = wt.Variable(1.0), wt.Variable(1.0)
    optimizer = wt.optimizers.Momentum(0.1, 0.5)
    optimizer.minimize(lambda: w * 1.0)
    optimizer.minimize(lambda: w + b)
    assert np.allclose([w.tolist(), b.tolist()], [0.75, 0.9])


def test_what_an_optimizer_remembers_can_be_saved_and_restored() -> None:
    weights, optimizer = wt.Variable([1.0, -2.0]), wt.optimizers.Adam(0.1)
    assert [variable.name for variable in optimizer.variables] == ["iteration", "learning_rate"]

    def step() -> None:
        optimizer.minimize(lambda: wt.sum(wt.square(weights)))

    step()
    assert [variable.shape for variable in optimizer.variables] == [(), (), (2,), (2,)]
    saved = [(variable, variable.value) for variable in [weights, *optimizer.variables]]
    step()
    expected = weights.tolist()
    for variable, value in saved:
        variable.assign(value)
    assert optimizer.iterations == 1
    step()
    assert weights.tolist() == expected


def test_minimize_changes_only_the_variables_given() -> None:
    w, b = wt.Variable(1.0), wt.Variable(1.0)
    wt.optimizers.SGD(0.1).minimize(lambda: w * b, [w])
    assert np.allclose([w.tolist(), b.tolist()], [0.9, 1.0])


def test_minimize_leaves_what_is_not_trainable() -> None:
    w, b = wt.Variable(1.0), wt.Variable(1.0, trainable=False)
    wt.optimizers.SGD(0.1).minimize(lambda: w * b)
    assert b.tolist() == 1.0


def test_the_learning_rate_may_change_between_steps() -> None:
    w = wt.Variable(1.0)
    optimizer = wt.optimizers.SGD(0.0)
    optimizer.minimize(lambda: w * w)
    assert w.tolist() == 1.0
    optimizer.learning_rate = 0.25
    optimizer.minimize(lambda: w * w)
    assert w.tolist() == 0.5


def test_a_step_inside_a_tidy_keeps_the_state(no_leak: None) -> None:
    w = wt.Variable(START)
    optimizer = wt.optimizers.Adam(0.1)
    for _ in range(3):
        with wt.tidy():
            optimizer.minimize(quadratic(w))
    outside = wt.Variable(START)
    plain = wt.optimizers.Adam(0.1)
    for _ in range(3):
        plain.minimize(quadratic(outside))
    assert w.tolist() == outside.tolist()
    del w, optimizer, outside, plain


def test_gradients_of_another_shape_are_refused() -> None:
    w = wt.Variable([1.0, 2.0], name="w")
    with pytest.raises(ValueError, match=r"variable 'w' has shape \(2,\), but its gradient has"):
        wt.optimizers.SGD().apply_gradients([(wt.tensor(1.0), w)])


@pytest.mark.parametrize("rate", [-1, "fast", None, math.nan])
@pytest.mark.parametrize("kind", [wt.optimizers.SGD, wt.optimizers.Momentum, wt.optimizers.Adam])
def test_a_learning_rate_must_be_a_number(kind: Any, rate: Any) -> None:
    with pytest.raises(ValueError, match=f"{kind.__name__}: learning_rate must be"):
        kind(rate)


def test_a_loss_without_variables_is_refused() -> None:
    with pytest.raises(ValueError, match="minimize: the loss depends on none"):
        wt.optimizers.SGD().minimize(lambda: wt.tensor(1.0))


def test_a_linear_model_learns_a_line(backend: str) -> None:
    x = wt.tensor([[1.0], [2.0], [3.0], [4.0]])
    y = wt.tensor([[1.0], [3.0], [5.0], [7.0]])
    w, b = wt.Variable([[0.0]]), wt.Variable([0.0])
    optimizer = wt.optimizers.SGD(0.05)
    for _ in range(500):
        loss = optimizer.minimize(lambda: wt.mean(wt.square(x @ w + b - y)))
    assert float(loss) < 1e-4
    assert abs(float((wt.tensor([[5.0]]) @ w + b).item()) - 9.0) < 0.05
