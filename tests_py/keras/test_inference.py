"""predict computes what the layers would, in fewer ops."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from webtensor import keras

RANDOM = np.random.default_rng(5)


def convolutions(layers: Any) -> list[Any]:
    return [
        layers.Conv2D(4, 3, strides=2, use_bias=False, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(6.0),
        layers.DepthwiseConv2D(3, padding="same", depth_multiplier=2),
        layers.BatchNormalization(scale=False),
        layers.Activation("relu"),
        layers.Dropout(0.5),
        layers.Conv2D(5, 1, activation="sigmoid"),
        layers.BatchNormalization(center=False),
        layers.Conv2DTranspose(3, 2, strides=2),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.3),
        layers.Flatten(),
        layers.Dense(6),
        layers.BatchNormalization(),
        layers.Activation("tanh"),
        layers.Dense(2, activation="softmax"),
    ]


def sequential() -> Any:
    return keras.Sequential([keras.Input((8, 8, 3)), *convolutions(keras.layers)])


def branched() -> Any:
    x = keras.Input((8, 8, 3))
    layers = keras.layers
    first = layers.Conv2D(4, 3, padding="same")(x)
    normal = layers.BatchNormalization()(first)
    both = layers.Add()([layers.ReLU()(normal), first])
    dense = layers.Dense(3)
    y, z = dense(both), dense(layers.Dropout(0.1)(both))
    return keras.Model(x, {"y": layers.BatchNormalization(axis=1)(y), "z": z, "first": first})


def nested() -> Any:
    x = keras.Input((8, 8, 3))
    inner = branched()
    result = inner(x)
    return keras.Model(x, [sequential()(x), result["y"], keras.layers.ReLU()(result["z"])])


def channels_first() -> Any:
    x = keras.Input((3, 8, 8))
    y = keras.layers.Conv2D(4, 3, data_format="channels_first")(x)
    return keras.Model(x, keras.layers.BatchNormalization(axis=1)(y))


def shared_normalization() -> Any:
    x = keras.Input((8, 8, 3))
    norm = keras.layers.BatchNormalization()
    y, z = keras.layers.Conv2D(4, 3)(x), keras.layers.Conv2D(4, 3, strides=2)(x)
    return keras.Model(x, [norm(y), norm(z)])


def masked() -> Any:
    x = keras.Input((7,), dtype="int32")
    y = keras.layers.Embedding(9, 4, mask_zero=True)(x)
    return keras.Model(x, keras.layers.Dense(3)(keras.layers.LSTM(5)(y)))


def randomized(model: Any) -> Any:
    """The model with weights that no normalization leaves as they are."""
    model.set_weights([RANDOM.uniform(0.3, 1.2, weight.shape) for weight in model.weights])
    return model


def flat(structure: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in keras.tree.flatten(structure)]


MODELS = [sequential, branched, nested, channels_first, shared_normalization, masked]


@pytest.mark.parametrize("make", MODELS)
def test_predict_is_what_the_layers_compute(make: Callable[[], Any], backend: str) -> None:
    model = randomized(make())
    symbol = keras.tree.flatten(model.input)[0]
    if symbol.dtype == "int32":
        x = RANDOM.integers(0, 9, (5, *symbol.shape[1:])).astype("int32")
    else:
        x = RANDOM.normal(size=(5, *symbol.shape[1:])).astype("float32")
    for _ in range(2):
        expected = flat(model(x, training=False))
        for got, expected_array in zip(flat(model.predict(x, verbose=0)), expected, strict=True):
            np.testing.assert_allclose(got, expected_array, rtol=2e-4, atol=2e-5)
        randomized(model)  # what was prepared must notice


def test_ops_are_fused() -> None:
    model = randomized(sequential())
    x = wt.random_normal((1, 8, 8, 3), seed=1)
    model.predict_on_batch(x)
    kernels = [kernel.name for kernel in wt.profile(lambda: model.predict_step((x,))).kernels]
    assert len([name for name in kernels if name != "reshape"]) <= 12, kernels


def test_layers_that_train_by_default_do_not_in_predict() -> None:
    class Eager(keras.layers.Layer):
        def call(self, inputs: Any, training: bool = True) -> Any:
            return inputs * (2 if training else 1)

    model = keras.Sequential([keras.Input((2,)), Eager()])
    x = np.ones((1, 2), "float32")
    np.testing.assert_array_equal(model.predict(x, verbose=0), x)


def test_layers_that_change_only_in_training_are_not_prepared() -> None:
    class Counting(keras.layers.Layer):
        calls = 0

        def call(self, inputs: Any) -> Any:
            Counting.calls += 1
            return inputs

    model = keras.Sequential([keras.Input((2,)), Counting(), keras.layers.Dense(1)])
    before = Counting.calls
    model.predict(np.ones((64, 2)), batch_size=32, verbose=0)
    assert Counting.calls == before + 2
