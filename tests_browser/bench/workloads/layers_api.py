"""Models of the Layers API: epochs of training, and predictions; `layers.js` is the peer's side.

An epoch is of few batches; its loss is awaited, as pages do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from math import prod
from typing import Any

import webtensor as wt
from tests_browser.bench.models import V1_PAIRS
from tests_browser.bench.workload import Input, Workload
from webtensor import keras
from webtensor.keras import layers

__all__ = ["LAYERS_API"]

Step = Callable[[], Awaitable[wt.Tensor]]

IMAGES = Input((128, 28, 28, 1), 0.0, 1.0)
WORDS, LENGTH, UNITS = 1000, 100, 128
TEXTS = Input((64, LENGTH), 0.0, float(WORDS), "int32")
PHOTO = Input((1, 224, 224, 3))


def mnist() -> Any:
    """The convolutional network of Keras's example, without its dropout."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )


def lstm() -> Any:
    """A classifier of texts."""
    return keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int32"),
            layers.Embedding(WORDS, 32),
            layers.LSTM(UNITS),
            layers.Dense(1, activation="sigmoid"),
        ]
    )


def mobilenet() -> Any:
    """MobileNet v1 with batch normalization, as in Keras's applications."""
    x = image = keras.Input(PHOTO.shape[1:])

    def normalized(y: Any) -> Any:
        return layers.ReLU(6.0)(layers.BatchNormalization()(y))

    x = normalized(layers.Conv2D(32, 3, strides=2, padding="same", use_bias=False)(x))
    for filters, strides in V1_PAIRS:
        x = normalized(
            layers.DepthwiseConv2D(3, strides=strides, padding="same", use_bias=False)(x)
        )
        x = normalized(layers.Conv2D(filters, 1, padding="same", use_bias=False)(x))
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(image, layers.Dense(1000, activation="softmax")(x))


#: Their WebAssembly backend trains neither, and on their CPU backend an epoch takes a minute.
ONLY_WEBGL = {"webgl": ("webgl",)}
MODELS = {"mnist": mnist, "lstm": lstm, "mobilenet_v1": mobilenet}


def weights_of(name: str) -> Mapping[str, Input]:
    """Weights for a model; those of batch normalization's scale and variance are positive."""
    weights = {}
    for index, weight in enumerate(MODELS[name]().weights):
        low, high = (0.5, 1.5) if weight.name in ("gamma", "moving_variance") else (-0.1, 0.1)
        if weight.name == "kernel":
            reach = (6.0 / prod(weight.shape[:-1])) ** 0.5
            low, high = -reach, reach
        weights[f"w{index}"] = Input(weight.shape, low, high)
    return weights


def epoch(name: str, loss: str) -> Callable[..., Step]:
    """Return what makes a function that trains for an epoch, and returns its loss."""

    def make_step(x: wt.Tensor, y: wt.Tensor, **weights: wt.Tensor) -> Step:
        model = MODELS[name]()
        model.set_weights(weights.values())
        model.compile(keras.optimizers.Adam(0.001), loss)

        async def step() -> wt.Tensor:
            history = await model.fit_async(x, y, batch_size=64, shuffle=False, verbose=0)
            return wt.tensor(history.history["loss"])

        return step

    return make_step


def prediction(name: str) -> Callable[..., Callable[[], wt.Tensor]]:
    """Return what makes a function that predicts for a batch."""

    def make_step(x: wt.Tensor, **weights: wt.Tensor) -> Callable[[], wt.Tensor]:
        model = MODELS[name]()
        model.set_weights(weights.values())
        return lambda: model.predict_step((x,))

    return make_step


def training(name: str, x: Input, y: Input, loss: str, theirs: str, peers: Any) -> Workload:
    """Time an epoch."""
    weights = weights_of(name)
    return Workload(
        f"keras.fit.{name}",
        epoch(name, loss),
        f"layers.epoch(tf, '{name}', '{theirs}', x, y, [{', '.join(weights)}])",
        {"x": x, "y": y, **weights},
        described=f"{x}, batches of 64",
        peers=peers,
        tolerance=1e-3,
        makes_step=True,
        awaited=True,
    )


MOBILENET = weights_of("mobilenet_v1")
LAYERS_API = [
    training(
        "mnist",
        IMAGES,
        Input((128, 1), 0.0, 10.0),  # their integer part counts
        "sparse_categorical_crossentropy",
        "sparseCategoricalCrossentropy",
        ONLY_WEBGL,
    ),
    training(
        "lstm",
        TEXTS,
        Input((64, 1), 0.0, 2.0, "int32"),
        "binary_crossentropy",
        "binaryCrossentropy",
        ONLY_WEBGL,
    ),
    Workload(
        "keras.predict.mobilenet_v1",
        prediction("mobilenet_v1"),
        f"layers.prediction(tf, 'mobilenet_v1', x, [{', '.join(MOBILENET)}])",
        {"x": PHOTO, **MOBILENET},
        described=str(PHOTO),
        makes_step=True,
        tolerance=1e-3,
    ),
]
