"""Models that become graphs, and what Keras computes: ``python traced_cases.py FOLDER`` writes it.

Keras computes with NumPy there, which compiles nothing.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import layers

__all__ = ["MODELS"]


def convolutional() -> Any:
    return keras.Sequential(
        [
            keras.Input((16, 16, 3)),
            layers.ZeroPadding2D(((0, 1), (0, 1))),
            layers.Conv2D(4, 3, strides=2, use_bias=False, name="filters"),
            layers.BatchNormalization(),
            layers.ReLU(max_value=6.0),
            layers.SeparableConv2D(6, 3, padding="same", activation="swish"),
            layers.AveragePooling2D(2, padding="same"),
            layers.Dropout(0.5),
            layers.Flatten(),
            layers.Dense(3, "softmax", name="scores"),
        ]
    )


def images_of_any_size() -> Any:
    x = keras.Input((None, None, 3))
    y = layers.Conv2D(4, 3, padding="same", activation="relu")(x)
    small = layers.Conv2D(4, 3, strides=2, padding="same")(layers.MaxPooling2D(3, 2, "same")(y))
    wide = layers.Conv2DTranspose(4, 3, strides=2, padding="same")(small)
    pooled = layers.GlobalAveragePooling2D(keepdims=True)(wide)
    return keras.Model(x, [layers.UpSampling2D(2, interpolation="bilinear")(wide), pooled])


def sequences() -> Any:
    x = keras.Input((5,), dtype="int32")
    y = layers.Embedding(20, 6, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(y)
    return keras.Model(x, layers.GRU(3)(y))


def sequences_of_any_length() -> Any:
    x = keras.Input((None,), dtype="int32")
    y = layers.Embedding(20, 6, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(y)
    reversed_y = layers.GRU(3, return_sequences=True, go_backwards=True, reset_after=False)(y)
    last = layers.RNN([layers.SimpleRNNCell(2), layers.LSTMCell(3)])(reversed_y)
    return keras.Model(x, [reversed_y, last])


def films_of_any_length() -> Any:
    x = keras.Input((None, 6, 6, 2))
    frames, *state = layers.ConvLSTM2D(3, 3, return_sequences=True, return_state=True)(x)
    return keras.Model(x, [frames, *state])


def attention_of_any_length() -> Any:
    x = keras.Input((None, 8))
    y = layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    y = layers.LayerNormalization()(layers.Add()([x, y]))
    return keras.Model(x, layers.Dense(4, "gelu")(y))


def two_sides() -> Any:
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    both = layers.Dense(2, name="both")(layers.Concatenate()([a, b]))
    return keras.Model({"a": a, "b": b}, [both, layers.Dot(1, name="product")([a, b])])


def pairs_of_any_length() -> Any:
    a, b = keras.Input((None, 2)), keras.Input((None, 2))
    return keras.Model([a, b], layers.Multiply()([a, b]))


def volumes() -> Any:
    return keras.Sequential(
        [
            keras.Input((5, 6, 6, 2)),
            layers.Conv3D(3, 2, activation="elu"),
            layers.MaxPooling3D(2),
            layers.TimeDistributed(layers.Conv2D(2, 2, padding="same")),
            layers.GlobalMaxPooling3D(),
        ]
    )


def mobilenet() -> Any:
    return keras.applications.MobileNet((64, 64, 3), alpha=0.25, weights=None, classes=10)


def mobilenet_v2() -> Any:
    return keras.applications.MobileNetV2((64, 64, 3), alpha=0.35, weights=None, classes=10)


_BUILDERS = (
    convolutional,
    images_of_any_size,
    sequences,
    sequences_of_any_length,
    films_of_any_length,
    attention_of_any_length,
    two_sides,
    pairs_of_any_length,
    volumes,
    mobilenet,
    mobilenet_v2,
)
MODELS = tuple(build.__name__ for build in _BUILDERS)


def _inputs(model: Any, generator: Any) -> dict[str, Any]:
    inputs = {}
    for tensor in model.inputs:
        shape = [3, *(10 if size is None else size for size in tensor.shape[1:])]
        inputs[tensor._keras_history.operation.name] = (
            generator.integers(0, 5, shape).astype("int32")
            if tensor.dtype == "int32"
            else generator.standard_normal(shape).astype("float32")
        )
    return inputs


def _write(folder: Path) -> None:
    """Write each model, and the inputs and outputs of all."""
    keras.utils.set_random_seed(1)
    generator = np.random.default_rng(1)
    results = {}
    for build in _BUILDERS:
        model = build()
        for variable in model.variables:
            if variable.dtype == "float32" and len(variable.shape) == 1:
                variable.assign(generator.uniform(0.1, 0.6, variable.shape))
        inputs = _inputs(model, generator)
        values = [*inputs.values()]
        has_names = isinstance(getattr(model, "input", None), dict)
        fed = inputs if has_names else values if len(values) > 1 else values[0]
        outputs = model(fed)
        listed = outputs if isinstance(outputs, list) else [outputs]
        results[build.__name__] = inputs, [np.asarray(output) for output in listed]
        for suffix in ("keras", "h5"):
            model.save(folder / f"{build.__name__}.{suffix}")
    (folder / "results").write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
