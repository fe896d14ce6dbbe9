"""Files of Keras open here, and files from here in Keras, with the same names and numbers."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tests_py.keras.saved_models import (
    MODELS,
    SavedModel,
    arrays_in,
    contents,
    custom,
    predicted,
    randomized,
    same,
    same_weights,
)
from webtensor import keras as ours
from webtensor.keras.names import forget_names

EVERY = pytest.mark.parametrize("saved", MODELS.values(), ids=list(MODELS))


def weights_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return contents(io.BytesIO(archive.read("model.weights.h5")))


def configuration_of(path: Path) -> Any:
    """What the archive says of the model, without Keras's marks and calls' masks that are None."""

    def unmarked(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: unmarked(one)
                for key, one in value.items()
                if key != "shared_object_id" and not (key == "mask" and one is None)
            }
        return [unmarked(one) for one in value] if isinstance(value, list) else value

    with zipfile.ZipFile(path) as archive:
        return unmarked(json.loads(archive.read("config.json")))


@EVERY
def test_archive_of_keras_opens_here_and_the_other_way_round(saved: SavedModel, tmp_path: Path):
    keras.utils.clear_session(free_memory=False)
    forget_names()
    theirs = randomized(saved.make(keras))
    theirs.save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras")
    same(mine, theirs, saved.inputs())
    mine.save(tmp_path / "mine.keras")
    same(keras.saving.load_model(tmp_path / "mine.keras"), theirs, saved.inputs())
    assert weights_of(tmp_path / "mine.keras") == weights_of(tmp_path / "theirs.keras")
    assert configuration_of(tmp_path / "mine.keras") == configuration_of(tmp_path / "theirs.keras")


@EVERY
def test_model_made_here_opens_in_keras(saved: SavedModel, tmp_path: Path):
    mine = randomized(saved.make(ours))
    mine.save(tmp_path / "mine.keras")
    theirs = keras.saving.load_model(tmp_path / "mine.keras")
    same(mine, theirs, saved.inputs())
    same(mine, ours.models.load_model(tmp_path / "mine.keras"), saved.inputs())


@pytest.mark.parametrize("backend", ["wasm"], indirect=True)
def test_saving_reads_the_active_backend(backend: str, tmp_path: Path):
    saved = MODELS["functional"]
    mine = randomized(saved.make(ours))
    expected = predicted(mine, saved.inputs())
    mine.save(tmp_path / "mine.keras")
    again = ours.saving.load_model(tmp_path / "mine.keras")
    for first, second in zip(expected, predicted(again, saved.inputs()), strict=True):
        np.testing.assert_array_equal(first, second)


def test_subclassed_model_with_layers_in_lists_and_dictionaries(tmp_path: Path):
    x = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    kinds = {"theirs": custom(keras), "mine": custom(ours)}
    theirs = kinds["theirs"](name="custom")
    theirs(x)
    randomized(theirs).save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras", {"Custom": kinds["mine"]})
    same(mine, theirs, x)
    mine.save(tmp_path / "mine.keras")
    held, other = weights_of(tmp_path / "mine.keras"), weights_of(tmp_path / "theirs.keras")
    assert arrays_in(held) == arrays_in(other)
    back = keras.saving.load_model(tmp_path / "mine.keras", {"Custom": kinds["theirs"]})
    same_weights(back, theirs)


OPTIMIZERS = {
    "sgd": ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    "adam": ("Adam", {"learning_rate": 0.01, "amsgrad": True}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.01, "momentum": 0.5, "centered": True}),
    "schedule": ("Adam", {}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_from_an_archive(name: str, tmp_path: Path):
    """The optimizer's state goes along: two more steps on either side give the same weights."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 4)).astype("float32"), rng.normal(size=(6, 2)).astype("float32")
    kind, options = OPTIMIZERS[name]
    if name == "schedule":
        options = {"learning_rate": keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)}
    theirs = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
    theirs.compile(getattr(keras.optimizers, kind)(**options), "mse", metrics=["mae"])
    theirs.fit(x, y, batch_size=3, shuffle=False, verbose=0)
    theirs.save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras")
    mine.save(tmp_path / "mine.keras")
    assert weights_of(tmp_path / "mine.keras") == weights_of(tmp_path / "theirs.keras")
    back = keras.saving.load_model(tmp_path / "mine.keras")
    for model in (theirs, mine, back):
        model.fit(x, y, batch_size=3, shuffle=False, verbose=0)
    for first, second, third in zip(
        theirs.get_weights(), mine.get_weights(), back.get_weights(), strict=True
    ):
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(first, third, rtol=1e-4, atol=1e-5)


def test_without_compile_there_is_no_optimizer(tmp_path: Path):
    mine = ours.Sequential([ours.Input((2,)), ours.layers.Dense(1)])
    mine.compile("sgd", "mse")
    mine.save(tmp_path / "mine.keras")
    assert ours.saving.load_model(tmp_path / "mine.keras").compiled
    assert not ours.saving.load_model(tmp_path / "mine.keras", compile=False).compiled


def layered(shape: tuple[int, ...], kind: str, *args: Any, **kwargs: Any) -> SavedModel:
    return SavedModel(
        lambda api: api.Sequential([api.Input(shape), getattr(api.layers, kind)(*args, **kwargs)]),
        (shape,),
    )


#: Layers that have others within, states beside weights, or variables that are not trained.
LAYERS = {
    "convolution and LSTM": layered((3, 6, 6, 2), "ConvLSTM2D", 2, 3),
    "dropout in an LSTM": layered((3, 2), "LSTM", 2, dropout=0.1, recurrent_dropout=0.2, seed=1),
    "einsum": layered((5, 4), "EinsumDense", "abc,cd->abd", (None, 3), bias_axes="d"),
    "group normalization": layered((6, 4), "GroupNormalization", 2),
    "noise": layered((3,), "GaussianNoise", 0.1, seed=2),
    "normalization": layered((4,), "Normalization", mean=1.0, variance=2.0),
    "random zoom": layered((8, 8, 3), "RandomZoom", 0.1, seed=1),
    "resizing": layered((8, 8, 3), "Resizing", 4, 4),
    "spectral normalization": SavedModel(
        lambda api: api.Sequential(
            [api.Input((5, 4)), api.layers.SpectralNormalization(api.layers.Dense(2))]
        ),
        ((5, 4),),
    ),
    "two kinds in both directions": SavedModel(
        lambda api: api.Sequential(
            [
                api.Input((3, 2)),
                api.layers.Bidirectional(
                    api.layers.RNN(api.layers.GRUCell(2)),
                    backward_layer=api.layers.SimpleRNN(2, go_backwards=True),
                ),
            ]
        ),
        ((3, 2),),
    ),
    "a model at each step": SavedModel(
        lambda api: api.Sequential(
            [
                api.Input((3, 2)),
                api.layers.TimeDistributed(
                    api.Sequential([api.layers.Dense(2), api.layers.BatchNormalization()])
                ),
            ]
        ),
        ((3, 2),),
    ),
}


@pytest.mark.parametrize("saved", LAYERS.values(), ids=list(LAYERS))
def test_layer_has_the_same_names_in_files(saved: SavedModel, tmp_path: Path):
    theirs = saved.make(keras)
    theirs.save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras")
    mine.save(tmp_path / "mine.keras")
    assert weights_of(tmp_path / "mine.keras") == weights_of(tmp_path / "theirs.keras")
    same_weights(keras.saving.load_model(tmp_path / "mine.keras"), theirs)


def test_vocabulary_goes_along(tmp_path: Path):
    lookup = ours.layers.StringLookup()
    lookup.adapt(["b", "a", "b", "é"])
    mine = ours.Sequential([ours.Input((1,), dtype="string"), lookup])
    mine.save(tmp_path / "mine.keras")
    with zipfile.ZipFile(tmp_path / "mine.keras") as archive:
        held = archive.read("assets/layers/string_lookup/vocabulary.txt").decode()
    assert held.split("\n") == lookup.get_vocabulary()
    again = ours.saving.load_model(tmp_path / "mine.keras")
    assert again.layers[0].get_vocabulary() == lookup.get_vocabulary()


def test_state_of_batch_norm_is_saved(tmp_path: Path):
    mine = ours.Sequential([ours.Input((3,)), ours.layers.BatchNormalization()])
    mine(np.random.default_rng(0).normal(size=(8, 3)).astype("float32"), training=True)
    mine.save(tmp_path / "mine.keras")
    theirs = keras.saving.load_model(tmp_path / "mine.keras")
    assert np.any(theirs.get_weights()[2] != 0)
    same_weights(mine, theirs)


def test_file_objects_and_bytes(tmp_path: Path):
    mine = randomized(MODELS["nested"].make(ours))
    held = io.BytesIO()
    mine.save(held)
    inputs = MODELS["nested"].inputs()
    same(ours.saving.load_model(held.getvalue()), mine, inputs)
    same(ours.saving.load_model(io.BytesIO(held.getvalue())), mine, inputs)
    (tmp_path / "mine.keras").write_bytes(held.getvalue())
    same_weights(keras.saving.load_model(tmp_path / "mine.keras"), mine)


def test_nothing_is_left_behind(no_leak: None, tmp_path: Path):
    model = MODELS["functional"].make(ours)
    for path in (tmp_path / "m.keras", tmp_path / "m.h5"):
        model.save(path)
        ours.saving.load_model(path)
    ours.saving.load_layers_model(ours.saving.layers_model_files(model))
