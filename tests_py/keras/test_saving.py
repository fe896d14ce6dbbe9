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
                key: unmarked(item)
                for key, item in value.items()
                if key != "shared_object_id" and not (key == "mask" and item is None)
            }
        return [unmarked(value) for value in value] if isinstance(value, list) else value

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


def test_folder_in_place_of_an_archive(tmp_path: Path):
    saved = MODELS["functional"]
    theirs = randomized(saved.make(keras))
    theirs.save(tmp_path / "theirs", zipped=False)
    mine = ours.saving.load_model(tmp_path / "theirs")
    same_weights(mine, theirs)
    mine.save(tmp_path / "mine", zipped=False)
    names = {path.name for path in (tmp_path / "mine").iterdir()}
    assert names == {"config.json", "metadata.json", "model.weights.h5"}
    same_weights(keras.saving.load_model(tmp_path / "mine"), theirs)
    with pytest.raises(FileExistsError):
        mine.save(tmp_path / "mine", zipped=False, overwrite=False)
    (tmp_path / "mine" / "config.json").unlink()
    with pytest.raises(ValueError, match=r"has no 'config\.json'"):
        ours.saving.load_model(tmp_path / "mine")


@pytest.mark.parametrize("writer, reader", [(keras, ours), (ours, keras), (ours, ours)])
def test_layer_that_is_in_two_places_is_one_layer(writer: Any, reader: Any, tmp_path: Path):
    shared = writer.layers.Dense(3)
    x = writer.Input((4, 3))
    model = writer.Model(x, writer.layers.TimeDistributed(shared)(shared(x)))
    model.save(tmp_path / "m.keras")
    again = reader.saving.load_model(tmp_path / "m.keras")
    assert again.layers[2].layer is again.layers[1]
    assert len(again.weights) == 2


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("is_sequential", [False, True])
def test_layer_of_a_nested_model_is_called_in_the_outer_one_too(
    is_sequential: bool, ending: str, tmp_path: Path
):
    shared, nested_input, x = ours.layers.Dense(4), ours.Input((4,)), ours.Input((4,))
    nested = (
        ours.Sequential([nested_input, shared, ours.layers.ReLU()])
        if is_sequential
        else ours.Model(nested_input, ours.ops.relu(shared(nested_input)))
    )
    first = shared(x)
    model = randomized(ours.Model(x, [shared(nested(first)), first]))
    model.save(tmp_path / f"m.{ending}")
    again = ours.saving.load_model(tmp_path / f"m.{ending}")
    same(again, model, np.random.default_rng(0).normal(size=(2, 4)).astype("float32"))
    if ending == "keras":
        assert len(again.weights) == 2


@ours.saving.register_keras_serializable("test_saving")
class OfFixedSize(ours.Model):
    """A functional model that makes itself."""

    def __init__(self, units: int = 2, **kwargs: Any) -> None:
        inputs = ours.Input((4,), batch_size=3)
        super().__init__(inputs, ours.layers.Dense(units)(inputs), **kwargs)
        self.units = units

    def get_config(self) -> dict[str, Any]:
        return {"units": self.units}


@ours.saving.register_keras_serializable("test_saving")
class Around(ours.layers.Layer):
    """A layer whose configuration has a layer as it is."""

    def __init__(self, inner: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        is_made = isinstance(inner, dict)
        self.inner = ours.saving.deserialize_keras_object(inner) if is_made else inner

    def call(self, x: Any) -> Any:
        return self.inner(x)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "inner": self.inner}


@pytest.mark.filterwarnings("ignore:Layer InputLayer does not have")
def test_weights_of_8_bits_become_floats(tmp_path: Path):
    """Keras rounds the inputs of such layers, too, so that predictions differ by that."""
    keras.utils.set_random_seed(3)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((6,), dtype="int32"),
            layers.Embedding(10, 8, embeddings_initializer="normal"),
            layers.EinsumDense("abc,dc->adb", (5, 6), bias_axes="d", activation="relu"),
            layers.EinsumDense("abc,bcd->ad", 7),
            layers.Dense(5, "relu", bias_initializer="normal"),
            layers.Dense(3, use_bias=False),
        ]
    )
    model.quantize("int8")
    model.save(tmp_path / "model.keras")
    mine = ours.saving.load_model(tmp_path / "model.keras")
    ids = np.random.default_rng(0).integers(0, 10, (4, 6), dtype="int32")
    expected = np.array(model(ids))
    difference = np.abs(mine(ids).numpy() - expected).max()
    assert difference < 0.02 * np.abs(expected).max()
    assert mine.layers[-1].dtype_policy.name == "float32"


def test_classes_of_ones_own(tmp_path: Path):
    x = np.ones((2, 4), "float32")
    for model in (
        OfFixedSize(3),
        ours.Sequential([ours.Input((4,)), Around(ours.layers.Dense(2))]),
    ):
        model.save(tmp_path / "m.keras")
        again = ours.saving.load_model(tmp_path / "m.keras")
        assert isinstance(again, OfFixedSize) == isinstance(model, OfFixedSize)
        np.testing.assert_allclose(predicted(again, x), predicted(model, x))


def test_optimizer_has_state_for_all_weights(tmp_path: Path):
    class Spare(ours.layers.Dense):
        def build(self, input_shape: Any) -> None:
            super().build(input_shape)
            self.spare = self.add_weight((2,), name="spare")

    model = ours.Sequential([Spare(1)])
    model.compile("adam", "mse")
    model.fit(np.ones((3, 2), "float32"), np.ones((3, 1), "float32"), verbose=0)
    assert len(model.optimizer.variables) == 2 + 2 * 3
    model.save(tmp_path / "m.keras")
    again = ours.saving.load_model(tmp_path / "m.keras", {"Spare": Spare})
    for mine, other in zip(model.optimizer.variables, again.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(other))


def test_model_with_a_compile_of_its_own_is_not_compiled(tmp_path: Path):
    class Own(ours.Sequential):
        def compile(self, rate: float) -> None:  # type: ignore[override]
            super().compile(ours.optimizers.SGD(rate), "mse")

    model = Own([ours.Input((2,)), ours.layers.Dense(1)])
    model.compile(0.1)
    model.save(tmp_path / "m.keras")
    with pytest.warns(UserWarning, match="Own: the model is not compiled as it is loaded"):
        again = ours.saving.load_model(tmp_path / "m.keras", {"Own": Own})
    assert not again.compiled


def test_function_as_a_loss_in_an_hdf5_file(tmp_path: Path):
    @ours.saving.register_keras_serializable("test_saving")
    def own_loss(y_true: Any, y_pred: Any) -> Any:
        return (y_true - y_pred) ** 2

    model = ours.Sequential([ours.Input((2,)), ours.layers.Dense(1)])
    model.compile("sgd", own_loss, metrics=[own_loss, ours.metrics.Hinge()])
    model.save(tmp_path / "deeper" / "m.h5")
    again = ours.saving.load_model(tmp_path / "deeper" / "m.h5")
    x, y = np.ones((3, 2), "float32"), np.ones((3, 1), "float32")
    assert again.evaluate(x, y, verbose=0) == model.evaluate(x, y, verbose=0)


@pytest.mark.parametrize(
    "config, error, message",
    [
        ({"class_name": "Dense", "config": [1]}, TypeError, "must be a mapping"),
        ({"class_name": "function", "config": ["relu"]}, TypeError, "must be the name"),
        (
            {"module": "keras.layers", "class_name": "Dense", "config": {"units": 1},
             "registered_name": "shop>Dense"},
            ValueError,
            "'shop>Dense' is not registered",
        ),
        (
            {"module": "builtins", "class_name": "function", "config": "relu",
             "registered_name": "other"},
            ValueError,
            "'other' is not registered",
        ),
    ],
)  # fmt: skip
def test_wrong_configurations(config: Any, error: type[Exception], message: str):
    with pytest.raises(error):
        keras.saving.deserialize_keras_object(config)
    with pytest.raises(error, match=message):
        ours.saving.deserialize_keras_object(config)


@pytest.mark.parametrize(
    "stored", [np.float32(1.5), np.array(3), (1, 2), {"a": [b"x", None]}, slice(1, None), ...]
)
def test_plain_values_as_configurations(stored: Any):
    assert ours.saving.serialize_keras_object(stored) == keras.saving.serialize_keras_object(stored)


@pytest.mark.parametrize("array", [np.array([0.5, 2.0]), np.array([[1, 2]]), np.array([True])])
def test_arrays_in_configurations_stay_arrays(array: np.ndarray) -> None:
    config = ours.saving.serialize_keras_object({"array": array})
    assert config == keras.saving.serialize_keras_object({"array": array})
    again = ours.saving.deserialize_keras_object(config)["array"]
    assert isinstance(again, np.ndarray)
    np.testing.assert_array_equal(again, array)


def doubled(x: Any) -> Any:
    return 2 * x


@pytest.mark.parametrize("library", [keras, ours])
def test_names_as_configurations(library: Any) -> None:
    @library.saving.register_keras_serializable("names")
    class Sampler:
        def get_config(self) -> dict[str, Any]:
            return {}

        @classmethod
        def from_config(cls, config: dict[str, Any]) -> Any:
            return cls(**config)

    deserialize = library.saving.deserialize_keras_object
    assert deserialize("doubled", custom_objects={"doubled": doubled}) is doubled
    with library.saving.custom_object_scope({"doubled": doubled}):
        assert deserialize("doubled") is doubled
    assert deserialize("names>Sampler") is Sampler
    classes = {"Sampler": Sampler}
    assert isinstance(deserialize("Sampler", module_objects=classes), Sampler)
    config = {"class_name": "Sampler", "config": {}}
    assert isinstance(deserialize(config, module_objects=classes), Sampler)
    assert deserialize("unknown", module_objects=classes) == "unknown"


def test_what_has_no_configuration():
    for api in (keras, ours):
        with pytest.raises(TypeError):
            api.saving.serialize_keras_object({1, 2})


def test_function_without_its_package():
    @ours.saving.register_keras_serializable("test_saving")
    def tripled(x: Any) -> Any:
        return 3 * x

    config = {"module": "builtins", "class_name": "function", "config": "tripled"}
    assert ours.saving.deserialize_keras_object(config) is tripled


# -- the editor of files -----------------------------------------------------------------------


def two_layers(api: Any, name: str = "dense") -> Any:
    inner = api.Sequential([api.Input((3,)), api.layers.Dense(3)], name="inner")
    return api.Sequential([api.Input((2,)), api.layers.Dense(3, name=name), inner])


@pytest.mark.parametrize("ending", [".keras", ".weights.h5"])
def test_file_is_edited(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    theirs = randomized(two_layers(keras))
    path = str(tmp_path / f"theirs{ending}")
    (theirs.save if ending == ".keras" else theirs.save_weights)(path)
    editor = ours.saving.KerasFileEditor(path)
    mine = two_layers(ours)
    summary = {"status": "success", "error_count": 0, "match_count": 4}
    assert editor.compare(mine) == summary
    assert editor.object_metadata["/layers/dense"] == {"name": "dense"}
    capsys.readouterr()
    editor.summary()
    assert "    dense\n        0: shape=(2, 3), dtype=float32\n" in capsys.readouterr().out
    editor.add_object("layers/more", {"0": np.ones(3, "float16")})
    editor.add_weights("more", {"1": np.ones((2, 2), "float64")})
    editor.rename_object("layers/dense", "first")
    assert editor.compare(mine)["error_count"] == 3
    editor.save(tmp_path / "edited.weights.h5")
    stored = contents(tmp_path / "edited.weights.h5")
    assert stored["layers/more/vars/0"][:2] == ((3,), "float16")
    assert stored["layers/more/vars/1"][:2] == ((2, 2), "float64")
    editor = ours.saving.KerasFileEditor(tmp_path / "edited.weights.h5")
    editor.delete_weight("more", "0")
    editor.delete_object("more")
    editor.rename_object("first", "dense")
    editor.resave_weights(tmp_path / "back.weights.h5")
    mine.load_weights(tmp_path / "back.weights.h5")
    same_weights(mine, theirs)


def test_wrong_edits(tmp_path: Path):
    path = tmp_path / "m.weights.h5"
    two_layers(ours).save_weights(path)
    editor = ours.saving.KerasFileEditor(path)
    for call, message in (
        (lambda: editor.rename_object("nothing", "x"), "there is no object 'nothing'"),
        (lambda: editor.delete_object("dense"), "there are 2 objects 'dense'; give a path"),
        (lambda: editor.delete_object("layers/nothing/x"), "there is no object 'layers/nothing/x'"),
        (lambda: editor.rename_object("layers/dense", "a/b"), "new_name must be a name alone"),
        (lambda: editor.rename_object("layers/dense", "sequential"), "already"),
        (lambda: editor.add_object("nowhere/x", {}), "there is no object '/nowhere'"),
        (lambda: editor.add_object("x", 7), "weights must be a dict"),  # type: ignore[arg-type]
        (lambda: editor.delete_weight("layers/dense", "7"), "has no weight '7'"),
        (lambda: editor.save(tmp_path / "m.h5"), "must end in"),
        (lambda: ours.saving.KerasFileEditor("m.png"), "must end in"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


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
    first, other = weights_of(tmp_path / "mine.keras"), weights_of(tmp_path / "theirs.keras")
    assert arrays_in(first) == arrays_in(other)
    back = keras.saving.load_model(tmp_path / "mine.keras", {"Custom": kinds["theirs"]})
    same_weights(back, theirs)


OPTIMIZERS = {
    "sgd": ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    "adam": ("Adam", {"learning_rate": 0.01, "amsgrad": True}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.01, "momentum": 0.5, "centered": True}),
    "schedule": ("Adam", {}),
    "loss scale": ("Adafactor", {"learning_rate": 0.01}),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_from_an_archive(name: str, tmp_path: Path):
    """The optimizer's state goes along: four more steps on either side give the same weights."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 4)).astype("float32"), rng.normal(size=(6, 2)).astype("float32")
    kind, options = OPTIMIZERS[name]
    if name == "schedule":
        options = {"learning_rate": keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)}
    theirs = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
    optimizer = getattr(keras.optimizers, kind)(**options)
    if name == "loss scale":
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    theirs.compile(optimizer, "mse", metrics=["mae"])
    theirs.fit(x, y, batch_size=3, shuffle=False, verbose=0)
    theirs.save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras")
    mine.save(tmp_path / "mine.keras")
    assert weights_of(tmp_path / "mine.keras") == weights_of(tmp_path / "theirs.keras")
    back = keras.saving.load_model(tmp_path / "mine.keras")
    for model in (theirs, mine, back):
        model.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0)
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
        text = archive.read("assets/layers/string_lookup/vocabulary.txt").decode()
    assert text.split("\n") == lookup.get_vocabulary()
    again: Any = ours.saving.load_model(tmp_path / "mine.keras")
    assert again.layers[0].get_vocabulary() == lookup.get_vocabulary()


@pytest.mark.parametrize("save_format", ["keras", "h5", "tf"])
def test_format_of_keras_2_is_ignored(save_format: str, tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    theirs = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    theirs.save(path, save_format=save_format)
    model = ours.saving.load_model(path)
    with pytest.warns(UserWarning, match="save_format is ignored"):
        model.save(path, save_format=save_format)
    same(ours.saving.load_model(path), theirs, np.ones((2, 3), "float32"))


def test_state_of_batch_norm_is_saved(tmp_path: Path):
    mine = ours.Sequential([ours.Input((3,)), ours.layers.BatchNormalization()])
    mine(np.random.default_rng(0).normal(size=(8, 3)).astype("float32"), training=True)
    mine.save(tmp_path / "mine.keras")
    theirs = keras.saving.load_model(tmp_path / "mine.keras")
    assert np.any(theirs.get_weights()[2] != 0)
    same_weights(mine, theirs)


def test_file_objects_and_bytes(tmp_path: Path):
    mine = randomized(MODELS["nested"].make(ours))
    buffer = io.BytesIO()
    mine.save(buffer)
    inputs = MODELS["nested"].inputs()
    same(ours.saving.load_model(buffer.getvalue()), mine, inputs)
    same(ours.saving.load_model(io.BytesIO(buffer.getvalue())), mine, inputs)
    (tmp_path / "mine.keras").write_bytes(buffer.getvalue())
    same_weights(keras.saving.load_model(tmp_path / "mine.keras"), mine)


def test_nothing_is_left_behind(no_leak: None, tmp_path: Path):
    model = MODELS["functional"].make(ours)
    for path in (tmp_path / "m.keras", tmp_path / "m.h5"):
        model.save(path)
        ours.saving.load_model(path)
    ours.saving.load_layers_model(ours.saving.layers_model_files(model))
