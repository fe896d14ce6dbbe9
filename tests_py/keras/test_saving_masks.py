"""Masks in functional models: files have the calls that Keras's have, and predictions are equal.

Masks are symbolic tensors of operations of their own (``NotEqual`` and others), which the calls of
layers name; Keras and this library make the same ones, in the same places.
"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tests_py.closeness import assert_close
from webtensor import keras as ours
from webtensor.keras.names import forget_names

STEPS, SIZE = 6, 4
INDICES = np.array(
    [[1, 2, 3, 0, 0, 0], [4, 5, 0, 6, 0, 0], [1, 1, 1, 1, 1, 1], [7, 0, 0, 0, 0, 0]], "int32"
)

Make = Callable[[Any], Any]
Body = Callable[[Any, Any], Any]


def embedded(body: Body) -> Make:
    """A model of what a function makes of embedded indices, of which 0 counts for nothing."""

    def make(api: Any) -> Any:
        indices = api.Input((STEPS,), dtype="int32")
        return api.Model(indices, body(api, api.layers.Embedding(9, SIZE, mask_zero=True)(indices)))

    return make


def masked(body: Body) -> Make:
    """A model of what a function makes of sequences, of which steps of zeros do not count."""

    def make(api: Any) -> Any:
        sequences = api.Input((STEPS, SIZE))
        return api.Model(sequences, body(api, api.layers.Masking()(sequences)))

    return make


def inner(api: Any, body: Body) -> Any:
    """A model to be nested."""
    sequences = api.Input((STEPS, SIZE))
    return api.Model(sequences, body(api, sequences))


def encoder_decoder(api: Any, x: Any, *, with_sequences: bool) -> Any:
    first = api.layers.LSTM(3, return_state=True, return_sequences=with_sequences)
    output, *states = first(x)
    return api.layers.LSTM(3)(output if with_sequences else x, initial_state=states)


def transformer(api: Any, x: Any) -> Any:
    """Two blocks: the second has no mask but what layers hand on while the model runs."""
    for _ in range(2):
        attended = api.layers.MultiHeadAttention(2, 2)(x, x)
        x = api.layers.LayerNormalization()(api.layers.Add()([x, attended]))
    return api.layers.GlobalAveragePooling1D()(x)


def pair(api: Any, x: Any) -> Any:
    """A nested model with two inputs."""
    first, second = api.Input((STEPS, SIZE)), api.Input((STEPS, SIZE))
    total = api.layers.Add()([api.layers.Dense(3)(first), api.layers.Dense(3)(second)])
    return api.layers.LSTM(2)(api.Model([first, second], total)([x, x]))


def shared(api: Any, x: Any) -> Any:
    layer = api.layers.GRU(3)
    return api.layers.Add()([layer(x), layer(api.layers.Dense(SIZE)(x))])


def of_merged(name: str, *, only_one: bool = False, **config: Any) -> Make:
    """A recurrent layer after a merging one, of whose inputs one has no mask if ``only_one``."""

    def body(api: Any, x: Any) -> Any:
        # A convolution hands no mask on.
        other = api.layers.Conv1D(SIZE, 1)(x) if only_one else api.layers.Dense(SIZE)(x)
        return api.layers.LSTM(3)(getattr(api.layers, name)(**config)([x, other]))

    return embedded(body)


MODELS: dict[str, Make] = {
    "recurrent, then attention": embedded(
        lambda api, x: [api.layers.SimpleRNN(3)(x), api.layers.MultiHeadAttention(2, 2)(x, x)]
    ),
    "attention of three kinds": embedded(
        lambda api, x: [
            api.layers.GroupQueryAttention(3, 4, 2)(x, x),
            api.layers.MultiHeadAttention(2, 2)(x, x),
            api.layers.Attention()([x, x]),
            api.layers.LSTM(3, return_sequences=True)(x),
        ]
    ),
    "Attention": embedded(lambda api, x: api.layers.GRU(2)(api.layers.Attention()([x, x]))),
    "AdditiveAttention": embedded(
        lambda api, x: api.layers.GRU(2)(api.layers.AdditiveAttention()([x, x, x]))
    ),
    "transformer": embedded(transformer),
    "transformer of masked sequences": masked(transformer),
    "Add": of_merged("Add"),
    "Add, one without mask": of_merged("Add", only_one=True),
    "Subtract": of_merged("Subtract"),
    "Multiply": of_merged("Multiply"),
    "Multiply, one without mask": of_merged("Multiply", only_one=True),
    "Maximum": of_merged("Maximum"),
    "Minimum, one without mask": of_merged("Minimum", only_one=True),
    "Average": of_merged("Average"),
    "Concatenate": of_merged("Concatenate"),
    "Concatenate, one without mask": of_merged("Concatenate", only_one=True),
    "Concatenate steps": of_merged("Concatenate", axis=1),
    "operator": embedded(
        lambda api, x: api.layers.GlobalAveragePooling1D()(
            x + api.layers.MultiHeadAttention(2, 2)(x, x)
        )
    ),
    "Bidirectional": embedded(
        lambda api, x: api.layers.Bidirectional(api.layers.LSTM(2))(
            api.layers.Bidirectional(api.layers.LSTM(2, return_sequences=True))(x)
        )
    ),
    "Bidirectional, apart": embedded(
        lambda api, x: [
            api.layers.GRU(2)(output)
            for output in api.layers.Bidirectional(
                api.layers.GRU(2, return_sequences=True), merge_mode=None
            )(x)
        ]
    ),
    "TimeDistributed": embedded(
        lambda api, x: api.layers.SimpleRNN(3)(api.layers.TimeDistributed(api.layers.Dense(3))(x))
    ),
    "stacked cells": embedded(
        lambda api, x: api.layers.RNN([api.layers.LSTMCell(3), api.layers.GRUCell(2)])(x)
    ),
    "states": embedded(lambda api, x: encoder_decoder(api, x, with_sequences=False)),
    "states and sequences": embedded(lambda api, x: encoder_decoder(api, x, with_sequences=True)),
    "a mask as an argument": embedded(
        lambda api, x: api.layers.LSTM(3)(api.layers.Conv1D(4, 1)(x), mask=x._keras_mask)
    ),
    "pooling": embedded(
        lambda api, x: [api.layers.GlobalAveragePooling1D()(x), api.layers.GlobalMaxPooling1D()(x)]
    ),
    "zeros where masked": embedded(
        lambda api, x: api.layers.GRU(3, return_sequences=True, zero_output_for_mask=True)(x)
    ),
    "handed on": embedded(
        lambda api, x: api.layers.SimpleRNN(3)(
            api.layers.Dropout(0.3)(
                api.layers.BatchNormalization()(
                    api.layers.LayerNormalization()(api.layers.Activation("relu")(x))
                )
            )
        )
    ),
    "lost": embedded(lambda api, x: api.layers.Dense(2)(api.layers.Flatten()(x))),
    "shared": embedded(shared),
    "nested": embedded(
        lambda api, x: api.layers.LSTM(2)(
            inner(api, lambda api, x: api.layers.GRU(3, return_sequences=True)(x))(x)
        )
    ),
    "nested attention": embedded(
        lambda api, x: api.layers.LSTM(2)(
            inner(api, lambda api, x: api.layers.MultiHeadAttention(2, 2)(x, x))(x)
        )
    ),
    "nested, of two inputs": embedded(pair),
    "nested Sequential": embedded(
        lambda api, x: api.layers.LSTM(2)(
            api.Sequential(
                [
                    api.Input((STEPS, SIZE)),
                    api.layers.Masking(),
                    api.layers.GRU(3, return_sequences=True),
                ]
            )(x)
        )
    ),
    "Masking": masked(lambda api, x: api.layers.LSTM(3)(x)),
    "ConvLSTM": masked(
        lambda api, x: api.layers.ConvLSTM2D(3, 2)(api.layers.Reshape((STEPS, 2, 2, 1))(x))
    ),
    "Sequential": lambda api: api.Sequential(
        [
            api.Input((STEPS,)),
            api.layers.Embedding(9, SIZE, mask_zero=True),
            api.layers.LSTM(3, return_sequences=True),
            api.layers.Bidirectional(api.layers.LSTM(2)),
        ]
    ),
}


def inputs_of(model: Any) -> Any:
    if len(model.inputs[0].shape) == 2:
        return INDICES
    sequences = np.random.default_rng(0).normal(size=(4, STEPS, SIZE)).astype("float32")
    sequences[INDICES == 0] = 0
    return sequences


def predicted(model: Any, x: Any) -> list[Any]:
    results = model.predict(x, verbose=0)
    return [np.asarray(result) for result in (results if isinstance(results, list) else [results])]


def assert_predicts(model: Any, x: Any, expected: list[Any]) -> None:
    for result, expected_array in zip(predicted(model, x), expected, strict=True):
        scale = max(float(np.abs(expected_array).max()), 1e-6)
        np.testing.assert_allclose(result, expected_array, rtol=0, atol=1e-5 * scale)


def configuration_of(path: Path) -> Any:
    """What an archive says of the model, without the numbers of shared objects."""

    def unnumbered(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: unnumbered(value) for k, value in value.items() if k != "shared_object_id"}
        return [unnumbered(value) for value in value] if isinstance(value, list) else value

    with zipfile.ZipFile(path) as archive:
        return unnumbered(json.loads(archive.read("config.json")))


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_model_with_masks_predicts_and_is_saved_as_in_keras(make: Make, tmp_path: Path):
    keras.utils.clear_session(free_memory=False)
    forget_names()
    theirs, mine = make(keras), make(ours)
    rng = np.random.default_rng(1)
    values = [rng.uniform(0.1, 1, weight.shape).astype("float32") for weight in theirs.weights]
    theirs.set_weights(values)
    mine.set_weights(values)
    x = inputs_of(theirs)
    expected = predicted(theirs, x)
    assert_predicts(mine, x, expected)
    theirs.save(tmp_path / "theirs.keras")
    mine.save(tmp_path / "mine.keras")
    assert configuration_of(tmp_path / "mine.keras") == configuration_of(tmp_path / "theirs.keras")
    assert_predicts(keras.saving.load_model(tmp_path / "mine.keras"), x, expected)
    read = ours.saving.load_model(tmp_path / "theirs.keras")
    assert_predicts(read, x, expected)
    read.save(tmp_path / "read.keras")
    assert configuration_of(tmp_path / "read.keras") == configuration_of(tmp_path / "theirs.keras")


#: Without operations other than those that make masks: TensorFlow.js has layers alone.
OF_LAYERS = ("Add", "Bidirectional", "Concatenate", "handed on", "Masking", "pooling", "Sequential")
#: Of which TensorFlow.js computes something else, so that it gets no such models.
ONLY_IN_KERAS = ("Add", "Bidirectional", "pooling")


@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
@pytest.mark.parametrize("name", OF_LAYERS)
def test_files_of_older_formats_have_layers_alone(name: str, tmp_path: Path):
    mine = MODELS[name](ours)
    x = inputs_of(mine)
    expected = predicted(mine, x)
    if name in ONLY_IN_KERAS:
        with pytest.raises(ValueError, match=r"TensorFlow\.js uses masks differently"):
            ours.saving.layers_model_files(mine)
    else:
        files = ours.saving.layers_model_files(mine)
        assert b"NotEqual" not in files["model.json"]
        assert_predicts(ours.saving.load_layers_model(files), x, expected)
    mine.save(tmp_path / "mine.h5")
    assert_predicts(keras.saving.load_model(tmp_path / "mine.h5"), x, expected)
    assert_predicts(ours.saving.load_model(tmp_path / "mine.h5"), x, expected)


@pytest.mark.parametrize("api", [keras, ours])
def test_call_gets_its_mask_while_the_model_is_built(api: Any):
    seen = []

    class Noting(api.layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.supports_masking = True

        def call(self, x: Any, mask: Any = None) -> Any:
            seen.append(mask is not None)
            return x * 2

        def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
            return api.ops.logical_not(mask)

    indices = api.Input((STEPS,), dtype="int32")
    embedded = api.layers.Embedding(9, SIZE, mask_zero=True)(indices)
    noted = Noting()(embedded)
    assert seen
    assert all(seen)
    assert noted._keras_mask.shape == (None, STEPS)
    model = api.Model(indices, api.layers.GlobalAveragePooling1D()(noted))
    kept = INDICES == 0
    kept[2, 0] = True  # else nothing would count
    x = np.where(kept, 0, INDICES)
    rows = np.asarray(model.layers[1](x)) * 2
    expected = [row[mask].mean(0) for row, mask in zip(rows, x == 0, strict=True)]
    assert_close(model.predict(x, verbose=0), expected, rtol=1e-5)
