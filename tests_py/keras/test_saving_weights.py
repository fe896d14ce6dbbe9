"""Weights alone, and older files of whole models: Keras's open here, and ours in Keras."""

import json
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
    randomized,
    same,
    same_weights,
)
from webtensor import keras as ours

EVERY = pytest.mark.parametrize("saved", MODELS.values(), ids=list(MODELS))


# -- weights alone -----------------------------------------------------------------------------


@EVERY
def test_weights_alone(saved: SavedModel, tmp_path: Path):
    mine, theirs = randomized(saved.make(ours), 1), randomized(saved.make(keras), 2)
    mine.save_weights(tmp_path / "mine.weights.h5")
    theirs.save_weights(tmp_path / "theirs.weights.h5")
    assert arrays_in(contents(tmp_path / "mine.weights.h5")).keys() == (
        arrays_in(contents(tmp_path / "theirs.weights.h5")).keys()
    )
    other = saved.make(keras)
    other.load_weights(tmp_path / "mine.weights.h5")
    same_weights(other, mine)
    mine.load_weights(tmp_path / "theirs.weights.h5")
    same_weights(mine, theirs)


def test_npz_holds_what_hdf5_does(tmp_path: Path):
    saved = MODELS["convolutional"]
    mine = randomized(saved.make(ours))
    mine.save_weights(tmp_path / "mine.weights.npz")
    mine.save_weights(tmp_path / "mine.weights.h5")
    arrays = np.load(tmp_path / "mine.weights.npz")
    stored = contents(tmp_path / "mine.weights.h5")
    assert {name: arrays[name].tolist() for name in arrays.files} == {
        name: value[2] for name, value in arrays_in(stored).items()
    }
    again = saved.make(ours)
    again.load_weights(tmp_path / "mine.weights.npz")
    same_weights(again, mine)


def test_weights_of_an_archive(tmp_path: Path):
    saved = MODELS["functional"]
    theirs = randomized(saved.make(keras))
    theirs.save(tmp_path / "theirs.keras")
    mine = saved.make(ours)
    mine.load_weights(tmp_path / "theirs.keras")
    same_weights(mine, theirs)


def test_nothing_is_changed_where_a_part_does_not_fit(tmp_path: Path):
    def model_of(units: int) -> Any:
        return randomized(
            ours.Sequential(
                [ours.Input((4,)), ours.layers.Dense(3), ours.layers.Dense(units)], name="m"
            ),
            units,
        )

    model_of(2).save_weights(tmp_path / "two.weights.h5")
    model = model_of(5)
    before = model.get_weights()
    with pytest.raises(ValueError, match=r"two\.weights\.h5: layers/dense_1 .*shape \(3, 5\)"):
        model.load_weights(tmp_path / "two.weights.h5")
    for first, second in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(first, second)
    with pytest.warns(UserWarning, match=r"layers/dense_1 .*skipped"):
        model.load_weights(tmp_path / "two.weights.h5", skip_mismatch=True)
    after = model.get_weights()
    assert not np.array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[2], after[2])


def test_weights_in_several_files(tmp_path: Path):
    def model_of(api: Any, seed: int) -> Any:
        model = api.Sequential([api.Input((40,)), api.layers.Dense(50), api.layers.Dense(9)])
        return randomized(model, seed)

    most = 9000 / 2**30
    mine, theirs = model_of(ours, 1), model_of(keras, 2)
    with pytest.warns(UserWarning, match=r"mine\.weights\.json names the files"):
        mine.save_weights(tmp_path / "mine.weights.h5", max_shard_size=most)
    theirs.save_weights(tmp_path / "theirs.weights.json", max_shard_size=most)
    indices = [
        json.loads((tmp_path / f"{name}.weights.json").read_text().replace(name, ""))
        for name in ("mine", "theirs")
    ]
    assert indices[0] == indices[1]
    assert len(list(tmp_path.glob("mine_*.weights.h5"))) == 2
    other = model_of(keras, 3)
    other.load_weights(tmp_path / "mine.weights.json")
    same_weights(other, mine)
    mine.load_weights(tmp_path / "theirs.weights.json")
    same_weights(mine, theirs)


def test_layers_that_are_left_alone(tmp_path: Path):
    def model_of(seed: int) -> Any:
        return randomized(
            ours.Sequential([ours.Input((3,)), ours.layers.Dense(3), ours.layers.Dense(3)]), seed
        )

    first, second = model_of(1), model_of(2)
    before = second.layers[0].get_weights()
    path = tmp_path / "m.weights.h5"
    for saved in ([], [first.layers[0]]):
        ours.saving.save_weights(first, path, objects_to_skip=saved)
        second.load_weights(path, objects_to_skip=[second.layers[0]])
        np.testing.assert_array_equal(second.layers[0].get_weights()[0], before[0])
        np.testing.assert_array_equal(
            second.layers[1].get_weights()[0], first.layers[1].get_weights()[0]
        )
    first.save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match="objects_to_skip is for files of weights"):
        second.load_weights(tmp_path / "m.keras", objects_to_skip=[])


def test_layer_that_the_file_has_under_another_name(tmp_path: Path):
    class Old(ours.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = ours.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.dense(x)

    class New(Old):
        def __init__(self) -> None:
            super().__init__()
            self.a_dense = self.dense

    old, new = Old(), New()
    for model in (old, new):
        model(np.ones((1, 3), "float32"))
    randomized(old).save_weights(tmp_path / "m.weights.h5")
    new.load_weights(tmp_path / "m.weights.h5")
    same_weights(new, old)


def test_bfloat16_weights_of_keras(tmp_path: Path):
    theirs = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, dtype="bfloat16")])
    theirs.save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras")
    for first, second in zip(mine.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_array_equal(first, np.asarray(second, "float32"))


# -- older files -------------------------------------------------------------------------------


@EVERY
def test_one_hdf5_file(saved: SavedModel, tmp_path: Path):
    theirs = randomized(saved.make(keras))
    theirs.save(tmp_path / "theirs.h5")
    mine = ours.saving.load_model(tmp_path / "theirs.h5")
    same_weights(mine, theirs)
    mine.save(tmp_path / "mine.h5")
    back = keras.saving.load_model(tmp_path / "mine.h5")
    same_weights(back, theirs)
    same(back, theirs, saved.inputs())
    again = saved.make(ours)
    again.load_weights(tmp_path / "theirs.h5")
    same_weights(again, theirs)
    same(mine, again, saved.inputs())


def test_statistics_of_an_older_file(tmp_path: Path):
    x = np.random.default_rng(0).normal(2, 3, (9, 4)).astype("float32")
    theirs = keras.Sequential([keras.Input((4,)), keras.layers.Normalization()])
    theirs.layers[0].adapt(x)
    theirs.save(tmp_path / "model.h5")
    mine = ours.Sequential([ours.Input((4,)), ours.layers.Normalization()])
    mine.load_weights(tmp_path / "model.h5")
    same(mine, theirs, x)
    mine.save(tmp_path / "model.h5")
    same(ours.saving.load_model(tmp_path / "model.h5"), theirs, x)


def test_variables_with_the_same_path_in_an_hdf5_file(tmp_path: Path):
    both = keras.layers.Bidirectional(keras.layers.RNN(keras.layers.LSTMCell(2)))
    theirs = keras.Sequential([keras.Input((3, 2)), both])
    randomized(theirs).save(tmp_path / "theirs.h5")
    mine = ours.saving.load_model(tmp_path / "theirs.h5")
    assert mine.weights[0].path == mine.weights[3].path
    mine.save(tmp_path / "mine.h5")
    same_weights(keras.saving.load_model(tmp_path / "mine.h5"), theirs)


def test_one_hdf5_file_with_an_optimizer(tmp_path: Path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 4)).astype("float32"), rng.normal(size=(6, 2)).astype("float32")
    theirs = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    theirs.compile(keras.optimizers.Adam(0.1), keras.losses.MeanSquaredError(), metrics=["mae"])
    theirs.fit(x, y, batch_size=3, shuffle=False, verbose=0)
    theirs.save(tmp_path / "theirs.h5")
    mine = ours.saving.load_model(tmp_path / "theirs.h5")
    mine.save(tmp_path / "mine.h5")
    own, other = contents(tmp_path / "mine.h5"), contents(tmp_path / "theirs.h5")
    state = [
        name for name in other if name.startswith(f"optimizer_weights/{theirs.optimizer.name}/")
    ]
    assert len(state) == 6
    assert all(own[name] == other[name] for name in state)
    for model in (theirs, mine):
        model.fit(x, y, batch_size=3, shuffle=False, verbose=0)
    for first, second in zip(theirs.get_weights(), mine.get_weights(), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)
    back = keras.saving.load_model(tmp_path / "mine.h5")
    assert back.optimizer.get_config() == theirs.optimizer.get_config()


def test_layers_of_an_older_file_are_paired_by_name(tmp_path: Path):
    theirs = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(3, name="a"), keras.layers.Dense(2, name="b")]
    )
    randomized(theirs).save(tmp_path / "theirs.h5")
    mine = ours.Sequential([ours.Input((3,)), ours.layers.Dense(2, name="b")])
    mine.load_weights(tmp_path / "theirs.h5", by_name=True)
    for first, second in zip(mine.get_weights(), theirs.get_weights()[2:], strict=True):
        np.testing.assert_array_equal(first, second)
    with pytest.raises(ValueError, match="weights of 2 layers"):
        mine.load_weights(tmp_path / "theirs.h5")
