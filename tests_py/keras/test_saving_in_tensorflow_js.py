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
        if str(symbol.dtype) == "int32"
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


def frames() -> Network:
    image = keras.Input((6, 6, 2))
    y = L.Flatten()(L.BatchNormalization()(L.Conv2D(2, 2)(image)))
    network = keras.Model(image, L.Dense(3)(y), name="network")
    return keras.Sequential([keras.Input((3, 6, 6, 2)), L.TimeDistributed(network), L.LSTM(2)]), [
        (3, 6, 6, 2)
    ]


NETWORKS = {
    "frames": frames,
}


@pytest.mark.parametrize("make", NETWORKS.values(), ids=NETWORKS)
def test_network(make: Callable[[], Network], tmp_path: Path, node: NodeProcess):
    check(*make(), tmp_path, node)
