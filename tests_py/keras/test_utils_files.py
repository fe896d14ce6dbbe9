"""Data in files and tables: folders as data sets, parts of data, tables as vectors, settings."""

import copy
import io
import json
import logging
import sys
import wave
from pathlib import Path
from types import ModuleType
from typing import Any

import keras
import numpy as np
import PIL.Image
import pytest

import webtensor as wt
from webtensor import keras as ours

utils: Any = ours.utils
KINDS = ("cats", "dogs")


class Image:
    """What Pillow's images have that is used."""

    def __init__(self, path: str) -> None:
        self._data = Path(path).read_bytes()
        self.size, self.mode = (self._data[0], self._data[1]), "RGB"

    def convert(self, mode: str) -> "Image":
        self.mode = mode
        return self

    def load(self) -> None:
        pass

    def tobytes(self) -> bytes:
        width, height = self.size
        return bytes([self._data[2]]) * (width * height * {"L": 1, "RGB": 3, "RGBA": 4}[self.mode])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five texts, sounds and images of each of two kinds."""
    root = tmp_path_factory.mktemp("files")
    (root / ".hidden").mkdir()
    for kind in KINDS:
        inner = root / kind / "deeper"
        inner.mkdir(parents=True)
        for number in range(5):
            directory = inner if number == 4 else root / kind
            (directory / f"{number}.txt").write_text(f"{kind} {number}", "utf-8")
            (directory / f"{number}.PNG").write_bytes(bytes((4 + number, 6, 10 * number)))
            with wave.open(str(directory / f"{number}.wav"), "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", "not compressed"))
                file.writeframes(np.arange(3 + number, dtype="int16").tobytes())
    return root


@pytest.fixture
def _pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    image: Any = ModuleType("PIL.Image")
    image.open = Image
    monkeypatch.setitem(sys.modules, "PIL", ModuleType("PIL"))
    monkeypatch.setitem(sys.modules, "PIL.Image", image)


def first(data: Any) -> Any:
    return next(iter(data))


def texts_of(data: Any) -> list[str]:
    return [text for x, _ in data for text in x.tolist()]


def test_texts(folder: Path, capsys: pytest.CaptureFixture[str]):
    data = utils.text_dataset_from_directory(folder, batch_size=4, shuffle=False, max_length=4)
    assert capsys.readouterr().out == "Found 10 files belonging to 2 classes.\n"
    assert data.class_names == list(KINDS)
    x, y = list(data)[1]
    assert (x.tolist(), y.tolist(), str(y.dtype)) == (
        ["cats", *["dogs"] * 3],
        [0, 1, 1, 1],
        "int32",
    )
    assert [len(x.tolist()) for x, _ in data] == [4, 4, 2]
    assert len(data) == 3
    lists = utils.text_dataset_from_directory(folder, format="grain", shuffle=False, verbose=False)
    assert first(lists)[0][9] == "dogs 4"


@pytest.mark.parametrize(
    "mode, expected", [("binary", [[0.0], [1.0]]), ("categorical", [[1.0, 0.0], [0.0, 1.0]])]
)
def test_labels(folder: Path, mode: str, expected: Any):
    options = {"label_mode": mode, "verbose": False, "shuffle": False}
    data = utils.text_dataset_from_directory(folder, **options)
    assert first(data)[1].tolist()[::5] == expected
    data = utils.text_dataset_from_directory(folder, class_names=KINDS[::-1], **options)
    assert first(data)[1].tolist()[::5] == expected
    assert first(data)[0].tolist()[0] == "dogs 0"
    data = utils.text_dataset_from_directory(folder, class_names=["dogs"], verbose=False)
    assert first(data)[1].tolist() == [0] * 5
    labels = [7, 8] * 5
    data = utils.text_dataset_from_directory(folder, labels, shuffle=False, verbose=False)
    assert (first(data)[1].tolist(), data.class_names) == (labels, ["7", "8"])
    data = utils.text_dataset_from_directory(folder, label_mode=None, batch_size=None)
    assert (first(data).shape, data.class_names) == ((), None)


def test_two_subsets(folder: Path):
    options = {"validation_split": 0.3, "seed": 5, "batch_size": 4}
    training, validation = utils.text_dataset_from_directory(folder, subset="both", **options)
    alone = utils.text_dataset_from_directory(folder, subset="validation", **options)
    assert texts_of(alone) == texts_of(validation)
    texts = texts_of(training), texts_of(validation)
    assert [len(part) for part in texts] == [7, 3]
    assert sorted(texts[0] + texts[1]) == [f"{kind} {n}" for kind in KINDS for n in range(5)]
    assert texts_of(training) != texts[0]
    assert sorted(texts_of(training)) == sorted(texts[0])


@pytest.mark.usefixtures("_pillow")
def test_images(folder: Path):
    options = {"image_size": (5, 7), "shuffle": False, "verbose": False}
    x, y = first(utils.image_dataset_from_directory(folder, **options))
    assert (x.shape, str(x.dtype), y.shape) == ((10, 5, 7, 3), "float32", (10,))
    assert x[:, 2, 3, 0].tolist() == [0, 10, 20, 30, 40] * 2
    options |= {"color_mode": "rgba", "data_format": "channels_first", "crop_to_aspect_ratio": True}
    assert first(utils.image_dataset_from_directory(folder, **options))[0].shape == (10, 4, 5, 7)


@pytest.mark.usefixtures("_pillow")
def test_images_are_resized_and_then_padded(folder: Path):
    """``tf.image.resize_with_pad`` makes 5 rows of 4 columns of an image with 6 rows of 5."""
    options = {"image_size": (5, 7), "shuffle": False, "verbose": False}
    x, _ = first(utils.image_dataset_from_directory(folder, pad_to_aspect_ratio=True, **options))
    assert x[1, :, :, 0].tolist() == [[0, 10, 10, 10, 10, 0, 0]] * 5


@pytest.mark.parametrize("color_mode", ["grayscale", "rgb", "rgba"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_images_of_16_bits_have_levels_up_to_255(tmp_path: Path, color_mode: str, dtype: str):
    levels = np.array([[0, 100, 200], [129, 1, 255]], dtype)
    stored = levels if dtype == "uint8" else 256 * levels + np.uint16(255)
    PIL.Image.fromarray(stored).save(tmp_path / "a.png")
    options = {"color_mode": color_mode, "image_size": (2, 3), "interpolation": "nearest"}
    (x,) = first(
        utils.image_dataset_from_directory(tmp_path, labels=None, verbose=False, **options)
    )
    for channel in range({"grayscale": 1}.get(color_mode, 3)):
        np.testing.assert_array_equal(x[:, :, channel].numpy(), levels)


@pytest.mark.parametrize(
    "interpolation, expected",
    [
        ("area", [2.125, 13.5, 34.25]),
        ("gaussian", [1.9065, 12.0, 43.1297]),
        ("mitchellcubic", [1.8134, 11.5833, 44.8991]),
    ],
)
def test_images_are_resized_as_by_tensorflow(
    tmp_path: Path, interpolation: str, expected: list[float]
):
    PIL.Image.fromarray(np.array([[1, 2, 4, 8, 16, 32, 50, 20]], "uint8")).save(tmp_path / "a.png")
    (x,) = first(
        utils.image_dataset_from_directory(
            tmp_path, labels=None, color_mode="grayscale", image_size=(1, 3), verbose=False,
            interpolation=interpolation,
        )
    )  # fmt: skip
    np.testing.assert_allclose(x.numpy().ravel(), expected, rtol=1e-4)


def test_sounds(folder: Path):
    data = utils.audio_dataset_from_directory(folder, batch_size=3, shuffle=False, verbose=False)
    x, _ = first(data)
    expected = np.arange(5) / 32768
    assert x.shape == (3, 5, 1)
    np.testing.assert_array_equal(x[2, :, 0].numpy(), expected.astype("float32"))
    assert x[0, 3:].tolist() == [[0.0], [0.0]]
    data = utils.audio_dataset_from_directory(folder, output_sequence_length=2, verbose=False)
    assert first(data)[0].shape == (10, 2, 1)
    data = utils.audio_dataset_from_directory(folder, sampling_rate=16_000, verbose=False)
    with pytest.raises(ValueError, match="has 8000 samples per second, not sampling_rate=16000"):
        first(data)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"labels": "others"}, "labels must be 'inferred', None or a list"),
        ({"label_mode": "others"}, "label_mode must be one of"),
        ({"labels": [0] * 10, "class_names": ["a"]}, "class_names are for labels='inferred' only"),
        ({"labels": [0]}, "there are 1 labels and 10 files"),
        ({"class_names": ["a", "b"]}, "class_names must be names of the folders"),
        ({"validation_split": 2.0, "subset": "both"}, "must be between 0 and 1"),
        ({"validation_split": 0.2}, "must be given together"),
        ({"validation_split": 0.2, "subset": "other"}, "subset must be one of"),
        ({"validation_split": 0.2, "subset": "both"}, "seed must be given"),
        ({"validation_split": 0.01, "subset": "both", "seed": 1}, "none are left for validation"),
        ({"directory": "/nowhere"}, "'/nowhere' is no folder"),
        ({"format": "torch"}, "format must be 'tf' or 'grain'"),
        ({"batch_size": 0}, "batch_size must be a positive integer, but got 0"),
    ],
)
def test_wrong_arguments_for_folders(folder: Path, options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        utils.text_dataset_from_directory(**{"directory": folder, **options})


def test_folders_that_have_nothing(tmp_path: Path):
    for name in KINDS[:1]:
        (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=r"there are no text files in '.*that end in \.txt"):
        utils.text_dataset_from_directory(tmp_path)
    (tmp_path / "cats" / "a.txt").write_text("a")
    with pytest.raises(ValueError, match=r"must be two classes, but there are \['cats'\]"):
        utils.text_dataset_from_directory(tmp_path, label_mode="binary")
    with pytest.raises(ValueError, match="color_mode must be one of"):
        utils.image_dataset_from_directory(tmp_path, color_mode="cmyk")
    with pytest.raises(ValueError, match="interpolation must be one of"):
        utils.image_dataset_from_directory(tmp_path, interpolation="other")
    with pytest.raises(ValueError, match="ragged must be False"):
        utils.audio_dataset_from_directory(tmp_path, ragged=True)
    (tmp_path / "cats" / "a.wav").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"a\.wav' is no WAV file"):
        first(utils.audio_dataset_from_directory(tmp_path))
    with wave.open(str(tmp_path / "cats" / "a.wav"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(20))
    whole = (tmp_path / "cats" / "a.wav").read_bytes()
    (tmp_path / "cats" / "a.wav").write_bytes(whole[:-6])
    with pytest.raises(ValueError, match=r"a\.wav' ends before its last sample"):
        first(utils.audio_dataset_from_directory(tmp_path))


# -- parts of data -----------------------------------------------------------------------------


def test_data_in_two_parts():
    x, y = np.arange(20).reshape(10, 2), wt.arange(10)
    left, right = utils.split_dataset((x, y), left_size=0.8)
    assert (len(left), len(right)) == (8, 2)
    assert [(a.tolist(), int(b)) for a, b in right] == [([16, 17], 8), ([18, 19], 9)]
    batches = list(left.batch(3))
    assert [b.shape for _, b in batches] == [(3,), (3,), (2,)]
    assert batches[0][0].tolist() == [[0, 1], [2, 3], [4, 5]]
    left, right = utils.split_dataset({"a": x}, right_size=3, shuffle=True, seed=1)
    again = utils.split_dataset({"a": x}, right_size=3, shuffle=True, seed=1)
    assert [element["a"].tolist() for element in left] == [
        element["a"].tolist() for element in again[0]
    ]
    assert sorted(int(element["a"][0]) for element in [*left, *right]) == list(range(0, 20, 2))
    assert [len(part) for part in utils.split_dataset(range(10), 2, 5)] == [2, 5]


@pytest.mark.parametrize(
    "data, sizes, error, message",
    [
        (range(10), (None, None), ValueError, "give left_size, right_size or both"),
        (range(10), (0.7, 0.7), ValueError, "cannot be parted into 7 and 7"),
        (range(10), (11, None), ValueError, "left_size must be from 1 to 9 samples"),
        (range(10), (0.0, 0.5), ValueError, "left_size must be"),
        (range(10), ("2", None), TypeError, "left_size must be an integer or a float"),
        ((np.ones(3), np.ones(4)), (1, None), ValueError, r"have one length, but have \[3, 4\]"),
        (7, (1, None), TypeError, "dataset must be arrays or an iterable"),
    ],
)
def test_wrong_parts(data: Any, sizes: Any, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        utils.split_dataset(data, *sizes)


# -- tables ------------------------------------------------------------------------------------

TABLE: dict[str, Any] = {
    "plain": [0.5, 1.5, 2.5, 3.5],
    "normal": [1.0, 2.0, 3.0, 4.0],
    "bins": [0.0, 1.0, 2.0, 9.0],
    "number": [3, 5, 3, 7],
    "town": ["Bonn", "Kiel", "Kiel", "Ulm"],
    "hash": [1, 2, 3, 4],
}


def space(**options: Any) -> Any:
    kinds = utils.FeatureSpace
    features = {
        "plain": "float",
        "normal": "float_normalized",
        "bins": kinds.float_discretized(num_bins=3),
        "number": "integer_categorical",
        "town": kinds.string_categorical(num_oov_indices=2),
        "hash": kinds.integer_hashed(num_bins=4),
    }
    crosses = [("number", "hash"), kinds.cross(("town", "hash"), crossing_dim=5)]
    return utils.FeatureSpace(features, crosses=crosses, crossing_dim=6, **options)


@pytest.mark.parametrize("batched", [True, False])
def test_table_as_vectors(batched: bool, backend: str, tmp_path: Path):
    feature_space = space()
    rows = [{name: column[row] for name, column in TABLE.items()} for row in range(4)]
    feature_space.adapt(TABLE if batched else rows)
    encoded = feature_space(TABLE)
    # By name: bins, hash, normal, number, plain, town; then the crosses.
    assert encoded.shape == (4, 3 + 4 + 1 + 4 + 1 + 5 + 6 + 5)
    np.testing.assert_allclose(encoded[:, 7].numpy(), (np.arange(4) - 1.5) / np.sqrt(1.25), 1e-4)
    np.testing.assert_allclose(encoded[:, 12].numpy(), TABLE["plain"])
    one_hot = np.delete(encoded.numpy(), [7, 12], axis=1)
    np.testing.assert_array_equal(one_hot.sum(axis=1), [6.0] * 4)
    np.testing.assert_allclose(feature_space(rows[2]).numpy(), encoded[2].numpy(), 1e-6)
    model = ours.Model(feature_space.get_inputs(), feature_space.get_encoded_features())
    np.testing.assert_allclose(model(made_columns()).numpy(), encoded.numpy(), 1e-6)
    feature_space.save(tmp_path / "space.keras")
    again = ours.saving.load_model(tmp_path / "space.keras")
    np.testing.assert_allclose(again(TABLE).numpy(), encoded.numpy(), 1e-6)
    assert again.get_config() == feature_space.get_config()


def made_columns() -> Any:
    return {name: wt.reshape(wt.asarray(column), (-1, 1)) for name, column in TABLE.items()}


def test_columns_are_in_the_order_of_their_names_as_in_keras():
    def space_of(api: Any) -> Any:
        kinds = api.utils.FeatureSpace
        categories = api.layers.CategoryEncoding(3, output_mode="one_hot", name="categories")
        space = kinds(
            {
                "z": kinds.float_rescaled(2.0, name="z"),
                "b": "float",
                "k": kinds.feature("int32", categories, "float"),
                "a": kinds.float_rescaled(0.5, 1.0, name="a"),
            },
            output_mode="concat",
        )
        return api.Model(space.get_inputs(), space.get_encoded_features())

    columns = {
        "z": np.array([[1], [2]], "float32"), "b": np.array([[5], [7]], "float32"),
        "k": np.array([[2], [0]], "int32"), "a": np.array([[4], [6]], "float32"),
    }  # fmt: skip
    theirs, mine = space_of(keras), space_of(ours)
    expected = [[3, 5, 0, 0, 1, 2], [4, 7, 1, 0, 0, 4]]
    with pytest.warns(UserWarning, match="structure"):  # Keras tells its own dicts apart
        np.testing.assert_array_equal(theirs.predict(columns, verbose=0), expected)
    np.testing.assert_array_equal(mine.predict(columns, verbose=0), expected)


def test_crosses_follow_the_features_by_name():
    kinds = utils.FeatureSpace
    features = {name: kinds.integer_hashed(3) for name in "zab"}
    crosses = [("z", "a"), ("b", "z"), ("a", "b")]
    columns = {name: [1, 2, 3] for name in features}
    joined = kinds(features, crosses=crosses, crossing_dim=4, output_mode="concat")(columns)
    parts = kinds(features, crosses=crosses, crossing_dim=4, output_mode="dict")(columns)
    assert list(parts) == ["a", "b", "z", "a_X_b", "b_X_z", "z_X_a"]
    np.testing.assert_array_equal(joined, np.concatenate([*parts.values()], axis=1))


def test_table_as_a_dict_of_vectors():
    kinds = utils.FeatureSpace
    feature_space = utils.FeatureSpace(
        {"town": kinds.string_categorical(output_mode="int"), "plain": "float_rescaled"},
        output_mode="dict",
    )
    with pytest.raises(ValueError, match="must be adapted first"):
        feature_space(TABLE)
    feature_space.adapt({"town": TABLE["town"], "plain": TABLE["plain"]})
    encoded = feature_space(TABLE)
    assert {name: value.shape for name, value in encoded.items()} == {
        "town": (4, 1),
        "plain": (4, 1),
    }
    assert encoded["town"].tolist() == [[3], [1], [1], [2]]


def test_configuration_of_a_table():
    def config(api: Any) -> Any:
        kinds = api.utils.FeatureSpace
        feature_space = kinds(
            {"a": "float", "b": "float_normalized", "c": "float_rescaled"}, "dict"
        )
        return json.loads(json.dumps(api.saving.serialize_keras_object(feature_space)))

    theirs = config(keras)
    assert config(ours) == theirs
    again = ours.saving.deserialize_keras_object(theirs)
    assert json.loads(json.dumps(ours.saving.serialize_keras_object(again))) == theirs


@pytest.mark.parametrize(
    "arguments, message",
    [
        (({},), "features must have at least one"),
        (({"a": "flaot"},), "did you mean 'float'"),
        (({"a": "float"}, "list"), "output_mode must be 'concat' or 'dict'"),
        (({"a": "float"}, "dict", [("a", "b")]), "there is no 'b'"),
        (({"a": "float"}, "dict", [("a", "a")], None), "crossing_dim must be a positive integer"),
    ],
)
def test_wrong_tables(arguments: Any, message: str):
    with pytest.raises(ValueError, match=message):
        utils.FeatureSpace(*arguments)


# -- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("api", [keras, ours])
def test_named_values(api: Any):
    config = api.utils.Config(rate=0.1)
    config.seed = 3
    config["name"] = "a"
    assert config.to_json() == '{"rate": 0.1, "seed": 3, "name": "a"}'
    assert repr(config) == "<Config {'rate': 0.1, 'seed': 3, 'name': 'a'}>"
    assert (config["seed"], config.pop("name"), config.get("name", 7)) == (3, "a", 7)
    del config["seed"]
    assert list(config) == ["rate"]
    config.freeze()
    for change in (lambda: setattr(config, "a", 1), lambda: config.pop("rate")):
        with pytest.raises(ValueError, match="frozen"):
            change()
    with pytest.raises(AttributeError, match="rte"):
        config.rte  # noqa: B018
    config.unfreeze()
    config.update(more=1)
    assert config.as_dict() == {"rate": 0.1, "more": 1}


def test_named_values_can_be_copied():
    assert copy.deepcopy(utils.Config(rate=0.1)).as_dict() == {"rate": 0.1}


def test_messages_are_logged(capsys: pytest.CaptureFixture[str]):
    assert ours.config.is_interactive_logging_enabled()
    logger, log = logging.getLogger("webtensor.keras"), io.StringIO()
    handler, level = logging.StreamHandler(log), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    utils.disable_interactive_logging()
    try:
        utils.Progbar(3).update(3)
    finally:
        utils.enable_interactive_logging()
        logger.setLevel(level)
        logger.removeHandler(handler)
    assert not capsys.readouterr().out
    assert "3/3" in log.getvalue()


def test_names_of_keras_2():
    from webtensor.keras.preprocessing import image, sequence

    x = np.random.default_rng(0).normal(size=(2, 4, 8, 3)).astype("float32")
    expected = keras.preprocessing.image.smart_resize(x, (3, 3))
    np.testing.assert_allclose(image.smart_resize(x, (3, 3)), expected, atol=1e-5)
    assert sequence.pad_sequences([[1], [2, 3]]).tolist() == [[0, 1], [2, 3]]
    for api in (keras, ours):
        old = api.utils.legacy
        config = old.serialize_keras_object(api.layers.Dense(2, name="d"))
        assert set(config) == {"class_name", "config"}
        layer = old.deserialize_keras_object(config, {"Dense": api.layers.Dense})
        assert layer.units == 2
    with pytest.raises(ValueError, match="did you mean 'Dense'"):
        ours.utils.legacy.deserialize_keras_object("Dens", {"Dense": ours.layers.Dense})


def test_they_are_transformed_as_other_data_sets(folder: Path):
    data = utils.text_dataset_from_directory(folder, batch_size=4, shuffle=False, verbose=False)
    labels = [int(label) for label in data.unbatch().map(lambda text, label: label)]
    assert labels == [0] * 5 + [1] * 5
    assert len(data.cache().prefetch(wt.data.AUTOTUNE)) == len(data) == 3
