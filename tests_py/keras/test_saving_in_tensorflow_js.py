"""Layers-models that are saved here predict the same in TensorFlow.js."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests_py.convert.node import NodeProcess
from tests_py.keras.saved_models import predicted, randomized
from webtensor import keras

L: Any = keras.layers
Network = tuple[Any, list[tuple[int, ...]]]


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    with NodeProcess() as process:
        yield process


def check(model: Any, shapes: list[tuple[int, ...]], folder: Path, node: NodeProcess) -> None:
    """Compare predictions of a model that was saved, here and there."""
    rng = np.random.default_rng(0)
    inputs = [
        rng.integers(1, 5, (2, *shape)).astype("int32")
        if "int" in str(symbol.dtype)
        else rng.normal(size=(2, *shape)).astype("float32")
        for symbol, shape in zip(model.inputs, shapes, strict=True)
    ]
    for array in inputs:
        array[0, -1:] = 0
    randomized(model)
    keras.saving.save_layers_model(model, folder)
    expected = predicted(model, inputs if len(inputs) > 1 else inputs[0])
    again = predicted(
        keras.saving.load_layers_model(folder), inputs if len(inputs) > 1 else inputs[0]
    )
    theirs = node.run(folder, {str(key): array for key, array in enumerate(inputs)}, "layers")
    assert len(theirs) == len(expected)
    for value, other, read_again in zip(expected, theirs, again, strict=True):
        np.testing.assert_allclose(other, value, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(read_again, value, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "shape, make",
    [
        ((7, 6, 3), lambda: L.GlobalAveragePooling2D(keepdims=True)),
        ((6, 3), lambda: L.GlobalMaxPooling1D(keepdims=True)),
        ((5, 6, 7), lambda: L.GlobalMaxPooling2D(keepdims=True, data_format="channels_first")),
        ((5,), L.Flatten),
        ((5,), lambda: L.ReLU(negative_slope=0.2)),
        ((5,), lambda: L.ReLU(threshold=0.3)),
        ((6, 7, 3), lambda: L.CenterCrop(3, 4)),
        ((4, 5, 3), lambda: L.PReLU(shared_axes=[-1])),
        ((4, 5), lambda: L.Softmax(axis=[-1])),
        ((4, 5), lambda: L.Softmax(axis=[1, 2])),
        ((4, 5), lambda: L.BatchNormalization(axis=2)),
        ((2, 6, 4), lambda: L.TimeDistributed(L.GlobalAveragePooling1D(keepdims=True))),
        ((6, 4), lambda: L.Bidirectional(L.LSTM(3), backward_layer=L.LSTM(3, go_backwards=True))),
        ((6, 4), lambda: L.TimeDistributed(keras.Sequential([keras.Input((4,)), L.Dense(2)]))),
        ((2, 6, 4), lambda: L.TimeDistributed(L.TimeDistributed(L.Dense(3)))),
        ((2, 6, 4), lambda: L.TimeDistributed(L.LSTM(3))),
        ((2, 6, 4), lambda: L.TimeDistributed(L.Bidirectional(L.SimpleRNN(3)))),
        ((2, 6, 4), lambda: L.TimeDistributed(L.RNN([L.SimpleRNNCell(3), L.SimpleRNNCell(2)]))),
    ],
)
def test_layer(shape: tuple[int, ...], make: Callable[[], Any], tmp_path: Path, node: NodeProcess):
    check(keras.Sequential([keras.Input(shape), make()]), [shape], tmp_path, node)


def encoder_and_decoder() -> Network:
    x, y = keras.Input((5, 3)), keras.Input((4, 2))
    _, *states = L.LSTM(3, return_state=True)(x)
    sequences = L.LSTM(3, return_sequences=True)(y, initial_state=states)
    return keras.Model([x, y], L.TimeDistributed(L.Dense(2))(sequences)), [(5, 3), (4, 2)]


def states_of_gru() -> Network:
    x, y = keras.Input((5, 3)), keras.Input((4, 2))
    first = L.GRU(3, return_state=True, return_sequences=True, reset_after=False)
    sequences, state = first(x)
    second = L.GRU(3, return_state=True, reset_after=False)(y, initial_state=state)
    return keras.Model([x, y], [sequences, *second]), [(5, 3), (4, 2)]


def states_of_both_directions() -> Network:
    symbols = [keras.Input((5, 3)), *(keras.Input((3,)) for _ in range(4))]
    outputs = L.Bidirectional(L.LSTM(3))(symbols[0], initial_state=symbols[1:])
    return keras.Model(symbols, outputs), [(5, 3), *[(3,)] * 4]


def squeeze_and_excite() -> Network:
    x = keras.Input((6, 6, 4))
    y = L.GlobalAveragePooling2D(keepdims=True)(x)
    y = L.Conv2D(4, 1, activation="sigmoid")(L.Conv2D(2, 1, activation="relu")(y))
    return keras.Model(x, L.Multiply()([x, y])), [(6, 6, 4)]


def words(body: Callable[[Any], Any]) -> Callable[[], Network]:
    """A network of what a function makes of embedded words, of which 0 is masked."""

    def make() -> Network:
        x = keras.Input((6,), dtype="int32")
        return keras.Model(x, body(L.Embedding(5, 4, mask_zero=True)(x))), [(6,)]

    return make


def inner_dense() -> Any:
    x = keras.Input((6, 4))
    return keras.Model(x, L.Dense(3)(x))


def pixels() -> Network:
    x = keras.Input((6, 6, 2), dtype="uint8")
    return keras.Model(x, L.Conv2D(2, 3)(L.Rescaling(1 / 255)(x))), [(6, 6, 2)]


def words_of_64_bits() -> Network:
    x = keras.Input((6,), dtype="int64")
    return keras.Model(x, L.Embedding(5, 4)(x)), [(6,)]


def model_with_any_name() -> Network:
    return keras.Sequential([keras.Input((4,)), L.Dense(2)], name="my model"), [(4,)]


def frames() -> Network:
    image = keras.Input((6, 6, 2))
    y = L.Flatten()(L.BatchNormalization()(L.Conv2D(2, 2)(image)))
    network = keras.Model(image, L.Dense(3)(y), name="network")
    return keras.Sequential([keras.Input((3, 6, 6, 2)), L.TimeDistributed(network), L.LSTM(2)]), [
        (3, 6, 6, 2)
    ]


NETWORKS = {
    "encoder and decoder": encoder_and_decoder,
    "states of GRU": states_of_gru,
    "states of both directions": states_of_both_directions,
    "squeeze and excite": squeeze_and_excite,
    "frames": frames,
    "a model with any name": model_with_any_name,
    "pixels": pixels,
    "words of 64 bits": words_of_64_bits,
    "masked sequences": words(lambda x: L.LSTM(3)(L.Dropout(0.2)(x))),
    "masked, both directions": words(
        lambda x: L.Bidirectional(L.GRU(2, reset_after=False))(L.Dense(3)(x))
    ),
    "masked, then a model": words(lambda x: L.LSTM(3)(inner_dense()(x))),
    "masks along time": words(lambda x: L.LSTM(3)(L.Concatenate(axis=1)([x, x]))),
    "masked sum": words(lambda x: L.Add()([x, L.Dense(4)(x)])),
}


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
def test_network(make: Callable[[], Network], tmp_path: Path, node: NodeProcess):
    check(*make(), tmp_path, node)
