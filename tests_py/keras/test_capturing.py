"""Steps of models that are captured: they do what the same steps do when they are not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor import keras
from webtensor.keras import layers

GENERATOR = np.random.default_rng(8)
X = GENERATOR.normal(size=(24, 6)).astype("float32")
IMAGES = GENERATOR.normal(size=(24, 6, 6, 2)).astype("float32")
WORDS = GENERATOR.integers(0, 9, (24, 5)).astype("int32")
Y = GENERATOR.normal(size=(24, 2)).astype("float32")
CLASSES = GENERATOR.integers(0, 2, 24).astype("int32")


def dense() -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dense(8, "relu", kernel_regularizer="l2", kernel_constraint="max_norm"),
            layers.BatchNormalization(),
            layers.Dropout(0.4, seed=2),
            layers.Dense(2),
        ]
    )


def convolutions() -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((6, 6, 2)),
            layers.GaussianNoise(0.1, seed=3),
            layers.Conv2D(4, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(2),
        ]
    )


def recurrent() -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((5,), dtype="int32"),
            layers.Embedding(9, 4, mask_zero=True),
            layers.LSTM(3, recurrent_dropout=0.2, seed=4),
            layers.Dense(2),
        ]
    )


def two_outputs() -> keras.Model:
    x = keras.Input((6,))
    shared = layers.Dense(4, "tanh")(x)
    return keras.Model(x, {"a": layers.Dense(2, name="a")(shared), "b": layers.Dense(2)(shared)})


NETWORKS: dict[str, tuple[Callable[[], keras.Model], Any, Any]] = {
    "dense": (dense, X, Y),
    "convolutions": (convolutions, IMAGES, Y),
    "recurrent": (recurrent, WORDS, Y),
    "two outputs": (two_outputs, X, {"a": Y, "b": Y}),
}


def trained(name: str, weights: Any = None, **options: Any) -> tuple[Any, ...]:
    """Train a network, and return what can be told of it."""
    make, x, y = NETWORKS[name]
    keras.utils.set_random_seed(6)
    model = make()
    model.compile(keras.optimizers.Adam(0.01), "mse", **options)
    history = model.fit(
        x, y, 10, epochs=5, validation_data=(x, y), sample_weight=weights, verbose=0
    )
    return (
        history.history,
        [variable.numpy() for variable in model.variables],
        [np.asarray(variable.tolist()) for variable in model.optimizer.variables],
        model.predict(x, 10, verbose=0),
        model.evaluate(x, y, 10, verbose=0),
    )


def assert_equal(first: Any, second: Any) -> None:
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        first, second = list(first.values()), list(second.values())
    if isinstance(first, (list, tuple)):
        for value, other in zip(first, second, strict=True):
            assert_equal(value, other)
    else:
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", NETWORKS)
def test_training_is_the_same(backend: str, name: str) -> None:
    assert_equal(trained(name), trained(name, run_eagerly=True))
    assert_equal(trained(name, jit_compile=True), trained(name, jit_compile=False))


def test_sample_weights_and_metrics(backend: str) -> None:
    weights = np.linspace(0.1, 1.0, 24).astype("float32")
    options: dict[str, Any] = {"metrics": ["mae", "mse"], "weighted_metrics": ["mae"]}
    expected = trained("dense", weights, run_eagerly=True, **options)
    assert_equal(trained("dense", weights, **options), expected)


class Counter:
    """Counts how often Python calls the layers of a class."""

    def __init__(self, kind: type[layers.Layer], monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        call = kind.call

        def counted(layer: Any, *args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return call(layer, *args, **kwargs)

        monkeypatch.setattr(kind, "call", counted)

    def take(self) -> int:
        count, self.count = self.count, 0
        return count


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter:
    return Counter(layers.Dropout, monkeypatch)


def compiled(**options: Any) -> keras.Model:
    model = keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dropout(0.5, seed=1),
            layers.Dense(4, kernel_regularizer="l2"),
            layers.Dense(2),
        ]
    )
    default: dict[str, Any] = {
        "optimizer": keras.optimizers.SGD(0.01, momentum=0.5),
        "loss": "mse",
    }
    model.compile(**default | options)
    return model


def test_the_third_step_of_a_shape_is_captured(backend: str, calls: Counter) -> None:
    model = compiled()
    for _ in range(6):
        model.train_on_batch(X, Y)
    assert calls.take() == 3
    for _ in range(6):
        model.train_on_batch(X[:5], Y[:5])
    assert calls.take() == 3
    for _ in range(6):
        model.test_on_batch(X, Y)
    assert calls.take() == 3


@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"jit_compile": False}])
def test_nothing_is_captured_where_that_is_asked_for(
    backend: str, calls: Counter, options: dict[str, Any]
) -> None:
    model = compiled(**options)
    for _ in range(6):
        model.train_on_batch(X, Y)
    assert calls.take() == 6


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model.layers[0], "rate", 0.1),
        lambda model: setattr(model.layers[1], "trainable", False),
        lambda model: setattr(model.layers[1], "activation", keras.activations.tanh),
        lambda model: setattr(model.optimizer, "momentum", 0.25),
        lambda model: setattr(model.optimizer, "clipvalue", 0.001),
        lambda model: model.optimizer.learning_rate.assign(0.5),
        lambda model: model.layers[1].set_weights([np.ones((6, 4)), np.ones(4)]),
        lambda model: setattr(model.layers[1].kernel, "trainable", False),
        lambda model: setattr(model.layers[1].kernel, "regularizer", keras.regularizers.L1(0.1)),
        lambda model: setattr(model.layers[1].kernel.regularizer, "l2", 0.5),
        lambda model: setattr(model.layers[1].kernel, "constraint", keras.constraints.NonNeg()),
        lambda model: model.add(layers.Dense(2, kernel_initializer="ones")),
        lambda model: model.compile(
            "adam",
            "mae",
            jit_compile=model.jit_compile or (model._capture_mode.value == "if known" and "auto"),
        ),
    ],
)
def test_changes_between_steps_count(backend: str, change: Callable[[Any], None]) -> None:
    results = []
    for jit_compile in ("auto", True, False):
        keras.utils.set_random_seed(2)
        model = compiled(jit_compile=jit_compile)
        losses = []
        for step in range(12):
            if step == 5:
                change(model)
            losses.append(model.train_on_batch(X, Y))
        results.append((losses, [variable.numpy() for variable in model.variables]))
    assert_equal(results[0], results[2])
    assert_equal(results[1], results[2])


class Own(layers.Layer):
    """A layer of a user's, which counts its calls."""

    count = 0

    def call(self, x: Any) -> Any:
        self.count += 1
        return x * 2


def own_loss(y_true: Any, y_pred: Any) -> Any:
    return wt.mean((y_true - y_pred) ** 2)


def with_own(part: str) -> keras.Model:
    """Return a model in which code of others takes part."""
    middle: dict[str, layers.Layer] = {
        "layer": Own(),
        "lambda": layers.Lambda(lambda x: x * 2),
        "lambda of a library function": layers.Lambda(wt.tanh),
        "activation": layers.Dense(6, activation=lambda x: x * 2),
        "regularizer": layers.Dense(6, kernel_regularizer=lambda w: wt.sum(w * w)),
    }
    model = keras.Sequential(
        [
            keras.Input((6,)),
            layers.Dropout(0.5, seed=1),
            *([middle[part]] if part in middle else []),
            layers.Dense(2),
        ]
    )
    model.compile(
        "sgd",
        own_loss if part == "loss" else "mse",
        metrics=[own_loss] if part == "metric" else ["mae"],
    )
    return model


@pytest.mark.parametrize(
    "part",
    [
        "layer",
        "lambda",
        "lambda of a library function",
        "activation",
        "regularizer",
        "loss",
        "metric",
    ],
)
def test_code_of_others_runs_at_each_step(backend: str, calls: Counter, part: str) -> None:
    model = with_own(part)
    for _ in range(6):
        model.train_on_batch(X, Y)
    assert calls.take() == 6


def test_models_of_users_are_captured_if_they_ask_for_it(backend: str) -> None:
    class Network(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.own, self.out = Own(), layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.out(self.own(x))

        def train_step(self, data: Any) -> dict[str, Any]:
            x, y = data
            with wt.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            variables = self.trainable_variables
            self.optimizer.apply(tape.gradient(loss, variables), variables)
            return {"loss": loss, "double": loss * 2}

    results = []
    for jit_compile in (True, False):
        keras.utils.set_random_seed(2)
        model = Network()
        model.compile("adam", "mse", jit_compile=jit_compile)
        logs = [model.train_on_batch(X, Y, return_dict=True)]
        model.own.count = 1
        logs += [model.train_on_batch(X, Y, return_dict=True) for _ in range(5)]
        results.append((logs, [variable.numpy() for variable in model.variables]))
        assert model.own.count == (3 if jit_compile else 6)
    assert_equal(*results)


def test_elements_that_are_read_are_an_error_if_capturing_was_asked_for(backend: str) -> None:
    class Reading(layers.Layer):
        def call(self, x: Any) -> Any:
            return x * (1.0 if float(wt.sum(x)) > 0.0 else 2.0)

    model = keras.Sequential([keras.Input((6,)), Reading(), layers.Dense(2)])
    model.compile("sgd", "mse", jit_compile=True)
    for _ in range(2):
        model.train_on_batch(X, Y)
    with pytest.raises(wt.CaptureError, match="those of vmap must not read elements"):
        model.train_on_batch(X, Y)


def test_steps_that_read_elements_run_on(backend: str) -> None:
    results = []
    for jit_compile in ("auto", True, False):
        keras.utils.set_random_seed(2)
        model = compiled(
            optimizer=keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.1)),
            jit_compile=jit_compile,
        )
        losses = [model.train_on_batch(X, Y) for _ in range(6)]
        results.append((losses, [variable.numpy() for variable in model.variables]))
    assert_equal(results[0], results[2])
    assert_equal(results[1], results[2])
