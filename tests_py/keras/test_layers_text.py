"""Preprocessing of categories and texts.

Keras has these layers only where TensorFlow is installed. What is wanted here was written down from
Keras 3.15.1 with TensorFlow 2.21. Two things differ on purpose: vectors are float32 in all modes,
as Keras says in its documentation and of its symbolic tensors, and the symbolic shape of
``TextVectorization`` is that of what it returns.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from tests_py.keras.layer_cases import plain
from webtensor import keras
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object

LAYERS = keras.layers
LETTERS = ["a", "b", "c", "d"]
WORDS = [["a", "c", "d"], ["d", "z", "b"]]
TEXTS = ["The quick  brown-fox!", "ÉTÉ the\tlazy dog."]
POLICY = {
    "module": "keras",
    "class_name": "DTypePolicy",
    "config": {"name": "float32"},
    "registered_name": None,
}


def output_of(layer: Any, inputs: Any) -> Any:
    """What a layer returns, as lists; float32 numbers are rounded."""
    output = layer(inputs)
    if output.dtype == "float32":
        return np.asarray(output).astype("float64").round(6).tolist()
    return output.tolist()


def column(values: list[Any]) -> Any:
    """An array with a value per row."""
    return np.array(values)[:, None]


# -- hashing -----------------------------------------------------------------------------------

FIVE = [["A"], ["B"], ["C"], ["D"], ["E"]]
HASHING: list[tuple[dict[str, Any], Any, Any]] = [
    ({"num_bins": 3}, FIVE, [[1], [0], [1], [1], [2]]),
    ({"num_bins": 3, "salt": 133}, FIVE, [[0], [0], [2], [1], [0]]),
    ({"num_bins": 3, "salt": [133, 137]}, FIVE, [[1], [2], [1], [0], [2]]),
    (
        {"num_bins": 3, "mask_value": ""},
        [["A"], ["B"], [""], ["D"], ["E"]],
        [[1], [1], [0], [2], [1]],
    ),
    ({"num_bins": 7}, [[1, 2], [-3, 400]], [[5, 5], [4, 4]]),
    (
        {"num_bins": 1000, "salt": (2**40 + 5, 17)},
        ["abcdefg", "abcdefgh", "abcdefghi", "", "x" * 100],
        [111, 227, 565, 665, 404],
    ),
    (
        {"num_bins": 4, "output_mode": "one_hot"},
        [["A", "B"], ["B", "B"]],
        [[[1, 0, 0, 0], [1, 0, 0, 0]], [[1, 0, 0, 0], [1, 0, 0, 0]]],
    ),
    ({"num_bins": 4, "output_mode": "one_hot"}, [["A"], ["B"]], [[1, 0, 0, 0], [1, 0, 0, 0]]),
    (
        {"num_bins": 4, "output_mode": "multi_hot"},
        [["A", "B"], ["B", "B"]],
        [[1, 0, 0, 0], [1, 0, 0, 0]],
    ),
    (
        {"num_bins": 4, "output_mode": "count"},
        [["A", "B"], ["B", "B"]],
        [[2, 0, 0, 0], [2, 0, 0, 0]],
    ),
    ({"num_bins": 4, "output_mode": "count"}, ["A", "B"], [2, 0, 0, 0]),
]


@pytest.mark.parametrize("config, inputs, expected", HASHING)
def test_hashing(config: dict[str, Any], inputs: Any, expected: Any, backend: str) -> None:
    layer = LAYERS.Hashing(**config)
    assert output_of(layer, inputs) == expected
    again = deserialize_keras_object(plain(serialize_keras_object(layer)))
    assert output_of(again, inputs) == expected
    assert plain(again.get_config()) == plain(layer.get_config())


FIRST, SECOND = ["A", "B", "A", "B", "A"], [101, 101, 101, 102, 102]
HOT = [[0, 1, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 0]]
CROSSING: list[tuple[dict[str, Any], Any, Any]] = [
    ({"num_bins": 5}, (FIRST, SECOND), [1, 4, 1, 1, 3]),
    ({"num_bins": 1000}, (FIRST, SECOND), [891, 754, 891, 576, 523]),
    ({"num_bins": 1000}, [FIRST, SECOND, FIRST], [795, 364, 795, 661, 779]),
    ({"num_bins": 5}, (column(FIRST), column(SECOND)), [[1], [4], [1], [1], [3]]),
    ({"num_bins": 5}, ("A", 101), 1),
    ({"num_bins": 5, "output_mode": "one_hot"}, (FIRST, SECOND), HOT),
    ({"num_bins": 5, "output_mode": "one_hot"}, (column(FIRST), column(SECOND)), HOT),
]


@pytest.mark.parametrize("config, inputs, expected", CROSSING)
def test_hashed_crossing(config: dict[str, Any], inputs: Any, expected: Any, backend: str) -> None:
    layer = LAYERS.HashedCrossing(**config)
    assert output_of(layer, inputs) == expected
    again = LAYERS.HashedCrossing.from_config(plain(layer.get_config()))
    assert output_of(again, inputs) == expected


def test_configurations_of_hashes() -> None:
    config = LAYERS.Hashing(7, name="h").get_config()
    assert plain(config) == {
        "name": "h",
        "trainable": True,
        "dtype": {**POLICY, "config": {"name": "int64"}},
        "num_bins": 7,
        "salt": None,
        "mask_value": None,
        "output_mode": "int",
        "sparse": False,
    }
    assert LAYERS.Hashing(7, salt=3, output_mode="one_hot").get_config()["salt"] == [3, 3]
    assert LAYERS.HashedCrossing(5, name="c").get_config() == {
        "num_bins": 5,
        "output_mode": "int",
        "sparse": False,
        "name": "c",
        "dtype": "int64",
    }


# -- lookups -----------------------------------------------------------------------------------

STRINGS: list[tuple[dict[str, Any], Any, Any]] = [
    ({}, WORDS, [[1, 3, 4], [4, 0, 2]]),
    ({}, "c", 3),
    ({"mask_token": ""}, [["a", ""], ["zz", "d"]], [[2, 0], [1, 5]]),
    ({"num_oov_indices": 3}, [["a", "d", "m"], ["m", "z", "q"]], [[3, 6, 0], [0, 1, 2]]),
    ({"num_oov_indices": 3, "salt": 5}, [["a", "d", "m"], ["m", "z", "q"]], [[3, 6, 1], [1, 2, 1]]),
    ({"num_oov_indices": 0}, [["a", "d"]], [[0, 3]]),
    ({"invert": True}, [[1, 3, 4], [4, 0, 2]], [["a", "c", "d"], ["d", "[UNK]", "b"]]),
    (
        {"invert": True, "mask_token": "[M]"},
        [[1, 3, 4], [4, 0, 9]],
        [["[UNK]", "b", "c"], ["c", "[M]", "[UNK]"]],
    ),
    (
        {"output_mode": "one_hot"},
        WORDS,
        [
            [[0, 1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]],
            [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0]],
        ],
    ),
    ({"output_mode": "one_hot"}, "a", [[0, 1, 0, 0, 0]]),
    (
        {"output_mode": "one_hot", "mask_token": ""},
        [["a", ""]],
        [[[0, 1, 0, 0, 0], [0, 0, 0, 0, 0]]],
    ),
    ({"output_mode": "multi_hot"}, WORDS, [[0, 1, 0, 1, 1], [1, 0, 1, 0, 1]]),
    ({"output_mode": "multi_hot"}, WORDS[0], [0, 1, 0, 1, 1]),
    ({"output_mode": "multi_hot", "mask_token": ""}, [["a", ""]], [[0, 1, 0, 0, 0]]),
    ({"output_mode": "count"}, [["a", "a", "d"]], [[0, 2, 0, 0, 1]]),
    ({"output_mode": "count", "mask_token": ""}, [["a", ""]], [[0, 1, 0, 0, 0]]),
    (
        {"output_mode": "binary", "pad_to_max_tokens": True, "max_tokens": 7},
        WORDS,
        [[0, 1, 0, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0, 0]],
    ),
    (
        {"output_mode": "tf-idf", "idf_weights": [0.25, 0.75, 0.6, 0.4]},
        WORDS,
        [[0, 0.25, 0, 0.6, 0.4], [0.5, 0, 0.75, 0, 0.4]],
    ),
]
NUMBERS = [12, 36, 1138, 42]
INTEGERS: list[tuple[dict[str, Any], Any, Any]] = [
    ({}, [[12, 1138, 42], [42, 1000, 36]], [[1, 3, 4], [4, 0, 2]]),
    ({"num_oov_indices": 2}, [[12, 1138, 42], [37, 1000, 36]], [[2, 4, 5], [1, 0, 3]]),
    ({"num_oov_indices": 3}, [[-1, -2, -3, -4]], [[2, 1, 0, 2]]),
    (
        {"num_oov_indices": 4, "oov_method": "farmhash"},
        [[12, 1138, 42], [37, 1000, -36]],
        [[4, 6, 7], [3, 1, 0]],
    ),
    (
        {"num_oov_indices": 4, "oov_method": "farmhash", "salt": [3, 4]},
        [[12, 1138, 42], [37, 1000, -36]],
        [[4, 6, 7], [3, 1, 3]],
    ),
    ({"invert": True}, [[1, 3, 4], [4, 0, 2]], [[12, 1138, 42], [42, -1, 36]]),
    ({"mask_token": 0}, [[0, 36], [7, 12]], [[0, 3], [1, 2]]),
    ({"output_mode": "multi_hot"}, [[12, 42]], [[0, 1, 0, 0, 1]]),
]


@pytest.mark.parametrize(
    "name, vocabulary, config, inputs, expected",
    [
        *(("StringLookup", LETTERS, *string) for string in STRINGS),
        *(("IntegerLookup", NUMBERS, *integer) for integer in INTEGERS),
    ],
)
def test_lookups(
    name: str, vocabulary: Any, config: dict[str, Any], inputs: Any, expected: Any, backend: str
) -> None:
    layer = getattr(LAYERS, name)(vocabulary=vocabulary, **config)
    assert output_of(layer, inputs) == expected
    outputs = layer(np.array(inputs))
    shape = (None, *np.shape(inputs)[1:])
    if shape != (None,):
        assert layer.compute_output_shape(shape) == (None, *outputs.shape[1:])
        symbol = layer(keras.Input(shape[1:], dtype=wt.asarray(inputs).dtype))
        assert (symbol.shape, symbol.dtype) == ((None, *outputs.shape[1:]), outputs.dtype)
    again = deserialize_keras_object(plain(serialize_keras_object(layer)))
    assert output_of(again, inputs) == expected
    assert plain(again.get_config()) == plain(layer.get_config())
    if "idf_weights" not in config:
        other = getattr(LAYERS, name)(**config)
        other.set_vocabulary(layer.get_vocabulary())
        assert output_of(other, inputs) == expected


VOCABULARIES: list[tuple[str, dict[str, Any], Any, list[Any]]] = [
    ("StringLookup", {}, WORDS, ["[UNK]", "d", "z", "c", "b", "a"]),
    ("StringLookup", {}, ["b", "a", "c", "c", "é", "[UNK]"], ["[UNK]", "c", "é", "b", "a"]),
    (
        "StringLookup",
        {"max_tokens": 3, "mask_token": ""},
        ["b", "a", "c", "c", "b", "", "[UNK]"],
        ["", "[UNK]", "c"],
    ),
    ("IntegerLookup", {}, [[12, 1138, 42], [42, 1000, 36]], [-1, 42, 1138, 1000, 36, 12]),
    ("IntegerLookup", {"mask_token": 0}, [0, 5, 5, 7], [0, -1, 5, 7]),
]


@pytest.mark.parametrize("name, config, data, expected", VOCABULARIES)
def test_vocabularies(
    name: str, config: dict[str, Any], data: Any, expected: list[Any], backend: str
) -> None:
    layer = getattr(LAYERS, name)(**config)
    for adapted in (data, np.array(data), wt.tensor(data)):
        layer.adapt(adapted)
        assert layer.get_vocabulary() == expected
        assert layer.vocabulary_size() == len(expected)
    start = len(expected) - len(layer.get_vocabulary(include_special_tokens=False))
    assert layer.get_vocabulary(False) == expected[start:]


def test_lookups_adapt_to_batches(backend: str) -> None:
    layer = LAYERS.StringLookup()
    layer.adapt(iter([["a", "b"], (["b", "c"], None), ["d"]]), steps=2)
    assert layer.get_vocabulary() == ["[UNK]", "b", "c", "a"]


def test_weights_by_the_number_of_examples_with_a_word(backend: str) -> None:
    layer = LAYERS.StringLookup(output_mode="tf_idf", max_tokens=9, pad_to_max_tokens=True)
    layer.adapt(WORDS)
    weights = [0.65668285, 0.5108256, *[0.6931472] * 4, 0, 0, 0]
    assert layer.idf_weights is not None
    assert_close(layer.idf_weights.numpy(), weights, rtol=1e-6)
    expected = np.array([[0, 1, 0, 1, 0, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0, 0, 0, 0]]) * weights
    assert_close(np.asarray(layer(WORDS)), expected, rtol=1e-6)


def test_configurations_of_lookups() -> None:
    layer = LAYERS.StringLookup(vocabulary=LETTERS, name="lookup")
    common = {
        "trainable": True,
        "dtype": POLICY,
        "invert": False,
        "max_tokens": None,
        "num_oov_indices": 1,
        "output_mode": "int",
        "sparse": False,
        "pad_to_max_tokens": False,
        "idf_weights": None,
        "oov_method": "floormod",
        "salt": None,
    }
    assert plain(serialize_keras_object(layer)) == {
        "module": "keras.layers",
        "class_name": "StringLookup",
        "config": {
            **common,
            "name": "lookup",
            "mask_token": None,
            "oov_token": "[UNK]",
            "vocabulary": LETTERS,
            "vocabulary_size": 5,
            "encoding": "utf-8",
        },
        "registered_name": None,
        "build_config": {},
    }
    integers = LAYERS.IntegerLookup(vocabulary=[12, 36], mask_token=0, name="numbers")
    assert plain(integers.get_config()) == {
        **common,
        "name": "numbers",
        "mask_token": 0,
        "oov_token": -1,
        "vocabulary_dtype": "int64",
        "vocabulary": [12, 36],
        "vocabulary_size": 4,
    }


def test_a_lookup_without_unknown_words_in_a_layer_of_ones_own() -> None:
    lookup = keras.layers.StringLookup(vocabulary=LETTERS, num_oov_indices=0)

    class Looked(keras.layers.Layer):
        def call(self, inputs: Any) -> Any:
            return lookup(inputs)

    words = keras.Input((1,), dtype="string")
    model = keras.Model(words, Looked()(words))
    assert model(wt.tensor([[LETTERS[1]]])).tolist() == [[1]]


def test_vocabularies_of_files(tmp_path: Path, backend: str) -> None:
    file = tmp_path / "words.txt"
    file.write_text("a\nb\né\n", encoding="utf-8")
    layer = LAYERS.StringLookup(vocabulary=str(file))
    assert layer(["é", "a", "x"]).tolist() == [3, 1, 0]
    assert layer.get_config()["vocabulary"] is None
    config = {**layer.get_config(), "vocabulary": str(file)}
    for kind in (LAYERS.StringLookup, LAYERS.TextVectorization):
        with pytest.raises(ValueError, match="file"):
            kind.from_config(config)


MODES: list[dict[str, Any]] = [
    {},
    {"mask_token": "", "num_oov_indices": 2},
    {"output_mode": "count"},
    {"output_mode": "tf_idf"},
]


@pytest.mark.parametrize("config", MODES, ids=str)
def test_assets_of_lookups(config: dict[str, Any], tmp_path: Path, backend: str) -> None:
    layer = LAYERS.StringLookup(**config)
    layer.adapt([["x", "y", "y"], ["z", "x", "y"]])
    store: dict[str, Any] = {}
    layer.save_own_variables(store)
    layer.save_assets(str(tmp_path))
    other = LAYERS.StringLookup.from_config(layer.get_config())
    other.load_own_variables(store)
    other.load_assets(str(tmp_path))
    assert other.get_vocabulary() == layer.get_vocabulary()
    assert output_of(other, [["x", "q", "z"]]) == output_of(layer, [["x", "q", "z"]])


# -- texts -------------------------------------------------------------------------------------

VECTORS: list[tuple[dict[str, Any], list[str], list[tuple[Any, Any]]]] = [
    (
        {},
        ["", "[UNK]", "the", "ÉtÉ", "quick", "lazy", "dog", "brownfox"],
        [
            (TEXTS, [[2, 4, 7, 0], [3, 2, 5, 6]]),
            (column(TEXTS), [[2, 4, 7, 0], [3, 2, 5, 6]]),
            ("the fox", [2, 1]),
        ],
    ),
    (
        {"output_sequence_length": 6},
        ["", "[UNK]", "the", "ÉtÉ", "quick", "lazy", "dog", "brownfox"],
        [
            (TEXTS, [[2, 4, 7, 0, 0, 0], [3, 2, 5, 6, 0, 0]]),
            ("the fox", [2, 1, 0, 0, 0, 0]),
            (["", ""], [[0] * 6] * 2),
        ],
    ),
    (
        {"output_sequence_length": 2, "max_tokens": 4},
        ["", "[UNK]", "the", "ÉtÉ"],
        [(TEXTS, [[2, 1], [3, 2]])],
    ),
    (
        {"output_mode": "one_hot"},
        ["[UNK]", "the", "ÉtÉ", "quick", "lazy", "dog", "brownfox"],
        [("the fox", [[0, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]])],
    ),
    (
        {"output_mode": "multi_hot"},
        ["[UNK]", "the", "ÉtÉ", "quick", "lazy", "dog", "brownfox"],
        [
            (TEXTS, [[0, 1, 0, 1, 0, 0, 1], [0, 1, 1, 0, 1, 1, 0]]),
            ("the the fox", [1, 1, 0, 0, 0, 0, 0]),
        ],
    ),
    (
        {"output_mode": "count"},
        ["[UNK]", "the", "ÉtÉ", "quick", "lazy", "dog", "brownfox"],
        [
            (TEXTS, [[0, 1, 0, 1, 0, 0, 1], [0, 1, 1, 0, 1, 1, 0]]),
            ("the the fox", [1, 2, 0, 0, 0, 0, 0]),
        ],
    ),
    (
        {"output_mode": "tf_idf"},
        ["[UNK]", "the", "ÉtÉ", "quick", "lazy", "dog", "brownfox"],
        [("the the fox", [0.66276, 1.021651, 0, 0, 0, 0, 0])],
    ),
    (
        {"ngrams": 2},
        [
            *("", "[UNK]", "the", "ÉtÉ the", "ÉtÉ", "the quick", "the lazy", "quick brownfox"),
            *("quick", "lazy dog", "lazy", "dog", "brownfox"),
        ],
        [(["the lazy", "x"], [[2, 10, 6], [1, 0, 0]])],
    ),
    (
        {"ngrams": (2,), "output_mode": "count"},
        ["[UNK]", "ÉtÉ the", "the quick", "the lazy", "quick brownfox", "lazy dog"],
        [(["the lazy", "x"], [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0]])],
    ),
    (
        {"split": "character"},
        ["", "[UNK]", *" toÉhezyxwurqnlkigfdcba\t"],
        [(["the", "é"], [[3, 6, 7], [1, 0, 0]])],
    ),
    (
        {"split": None},
        ["", "[UNK]", "ÉtÉ the\tlazy dog", "the quick  brownfox"],
        [(["the", TEXTS[0]], [1, 3]), ([["the", TEXTS[0]]], [[1, 3]])],
    ),
    (
        {"split": None, "output_sequence_length": 3},
        ["", "[UNK]", "ÉtÉ the\tlazy dog", "the quick  brownfox"],
        [([["the", TEXTS[0]]], [[1, 3, 0]])],
    ),
    (
        {"standardize": None},
        ["", "[UNK]", "ÉTÉ", "the", "quick", "lazy", "dog.", "brown-fox!", "The"],
        [],
    ),
    (
        {"standardize": "lower"},
        ["", "[UNK]", "the", "ÉtÉ", "quick", "lazy", "dog.", "brown-fox!"],
        [],
    ),
    (
        {"standardize": "strip_punctuation"},
        ["", "[UNK]", "ÉTÉ", "the", "quick", "lazy", "dog", "brownfox", "The"],
        [],
    ),
]


@pytest.mark.parametrize("config, vocabulary, calls", VECTORS)
def test_text_vectorization(
    config: dict[str, Any],
    vocabulary: list[str],
    calls: list[tuple[Any, Any]],
    tmp_path: Path,
    backend: str,
) -> None:
    layer = LAYERS.TextVectorization(**config)
    layer.adapt(TEXTS)
    assert layer.get_vocabulary() == vocabulary
    for inputs, expected in calls:
        assert output_of(layer, inputs) == expected
    store: dict[str, Any] = {}
    layer.save_own_variables(store)
    layer.save_assets(str(tmp_path))
    again = deserialize_keras_object(plain(serialize_keras_object(layer)))
    again.load_own_variables(store)
    again.load_assets(str(tmp_path))
    assert again.get_vocabulary() == vocabulary
    assert plain(again.get_config()) == plain(layer.get_config())
    for inputs, expected in calls:
        assert output_of(again, inputs) == expected


@pytest.mark.parametrize(
    "config, shape, expected",
    [
        ({}, (None, 1), (None, None)),
        ({"output_sequence_length": 5}, (None,), (None, 5)),
        ({"output_mode": "one_hot"}, (None, 1), (None, None, 4)),
        ({"output_mode": "count"}, (None, 1), (None, 4)),
        ({"output_mode": "count"}, (None,), (None, 4)),
        ({"split": None, "output_mode": "count"}, (None, 6), (None, 4)),
        ({"split": None}, (None, 6), (None, 6)),
    ],
)
def test_symbolic_shapes_of_texts(config: dict[str, Any], shape: Any, expected: Any) -> None:
    size = 3 - ("output_mode" not in config)
    layer = LAYERS.TextVectorization(vocabulary=LETTERS[:size], **config)
    assert layer.compute_output_shape(shape) == expected
    symbol = layer(keras.Input(batch_shape=shape, dtype="string"))
    assert symbol.shape == expected
    assert symbol.dtype == "int32"


def test_texts_with_functions(backend: str) -> None:
    layer = LAYERS.TextVectorization(
        standardize=lambda x: wt.string.static_regex_replace(x, "[0-9]+", "#"),
        split=lambda x: [text.split(",") for text in x.tolist()],
        vocabulary=["a", "#"],
    )
    assert layer(["a,12", "b"]).tolist() == [[2, 3], [1, 0]]


def test_a_function_gets_an_array_of_texts() -> None:
    def lowered(texts: Any) -> Any:
        assert texts.dtype.kind == "U"
        return np.char.lower(texts)

    layer = LAYERS.TextVectorization(standardize=lowered)
    layer.adapt(["Äh, NO", "no"])
    assert layer.get_vocabulary() == ["", "[UNK]", "no", "äh,"]
    assert layer([["No Äh,"]]).tolist() == [[2, 3]]


def test_a_function_may_return_an_array_of_objects() -> None:
    layer = LAYERS.TextVectorization(
        standardize=lambda texts: np.array([text.lower() for text in texts], dtype=object),
        vocabulary=["no"],
    )
    assert layer(["NO", "No no"]).tolist() == [[2, 0], [2, 2]]


def test_configurations_of_texts() -> None:
    layer = LAYERS.TextVectorization(vocabulary=["a", "b"], ngrams=(1, 2), name="texts")
    assert plain(layer.get_config()) == {
        "name": "texts",
        "trainable": True,
        "dtype": POLICY,
        "max_tokens": None,
        "standardize": "lower_and_strip_punctuation",
        "split": "whitespace",
        "ngrams": [1, 2],
        "output_mode": "int",
        "output_sequence_length": None,
        "pad_to_max_tokens": False,
        "sparse": False,
        "ragged": False,
        "vocabulary": ["a", "b"],
        "idf_weights": None,
        "encoding": "utf-8",
        "vocabulary_size": 4,
    }


def test_a_model_of_texts(backend: str) -> None:
    inputs = keras.Input((1,), dtype="string")
    lookup = LAYERS.TextVectorization(output_mode="multi_hot", vocabulary=["good", "bad"])
    dense = LAYERS.Dense(1, kernel_initializer="ones", use_bias=False)
    model = keras.Model(inputs, dense(lookup(inputs)))
    assert model(wt.tensor([["good and bad"], ["Bad!"]])).tolist() == [[3.0], [1.0]]


@pytest.mark.parametrize("mode", ["int", "one_hot", "multi_hot", "count", "tf_idf"])
@pytest.mark.parametrize("name", ["IntegerLookup", "StringLookup", "TextVectorization"])
def test_vectors_are_integers_unless_weighted(name: str, mode: str, backend: str) -> None:
    """Keras 3.15 returns int64, which tensors do not have, and float32 for weights."""
    vocabulary = NUMBERS if name == "IntegerLookup" else LETTERS
    weights = {"idf_weights": [0.5] * len(vocabulary)} if mode == "tf_idf" else {}
    layer = getattr(LAYERS, name)(vocabulary=vocabulary, output_mode=mode, **weights)
    outputs = layer(np.array(vocabulary[:1]))
    assert outputs.dtype == layer.output_dtype == ("float32" if mode == "tf_idf" else "int32")


def test_arrays_of_objects(backend: str) -> None:
    words = np.array(WORDS, object)
    lookup = LAYERS.StringLookup()
    lookup.adapt(words)
    assert lookup(words).tolist() == [[5, 3, 1], [1, 2, 4]]
    texts = LAYERS.TextVectorization(vocabulary=["quick", "dog"])
    assert texts(np.array(TEXTS, object)).tolist() == [[1, 2, 1, 0], [1, 1, 1, 3]]
    assert LAYERS.Hashing(3)(np.array(["A", "B"], object)).tolist() == [1, 0]
    pair = (np.array(FIRST, object), np.array(SECOND, object))
    assert LAYERS.HashedCrossing(5)(pair).tolist() == [1, 4, 1, 1, 3]


# -- wrong arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda k: k.Hashing(0), ValueError, "num_bins"),
        (lambda k: k.Hashing(3, output_mode="hot"), ValueError, "output_mode"),
        (lambda k: k.Hashing(3, salt=[1, 2, 3]), ValueError, "salt"),
        (lambda k: k.Hashing(3, dtype="float32"), ValueError, "dtype"),
        (lambda k: k.HashedCrossing(3)(["a"]), ValueError, "inputs"),
        (lambda k: k.HashedCrossing(3)((["a"], ["b", "c"])), ValueError, "shape"),
        (lambda k: k.HashedCrossing(3)(([0.5], ["b"])), ValueError, "integers"),
        (lambda k: k.HashedCrossing(3, output_mode="count"), ValueError, "output_mode"),
        (lambda k: k.StringLookup(max_tokens=1), ValueError, "max_tokens"),
        (lambda k: k.StringLookup(pad_to_max_tokens=True), ValueError, "max_tokens"),
        (lambda k: k.StringLookup(num_oov_indices=-1), ValueError, "num_oov_indices"),
        (lambda k: k.StringLookup(output_mode="hot"), ValueError, "output_mode"),
        (lambda k: k.StringLookup(invert=True, output_mode="count"), ValueError, "output_mode"),
        (lambda k: k.StringLookup(sparse=True, output_mode="count"), ValueError, "sparse"),
        (lambda k: k.StringLookup(vocabulary=["a", "b", "a"]), ValueError, r"repeated.*\['a'\]"),
        (lambda k: k.StringLookup(vocabulary=[]), ValueError, "empty"),
        (lambda k: k.StringLookup(vocabulary="nowhere.txt"), ValueError, "nowhere.txt"),
        (lambda k: k.StringLookup(vocabulary=LETTERS, max_tokens=4), ValueError, "max_tokens"),
        (
            lambda k: k.StringLookup(vocabulary=["a", ""], mask_token=""),
            ValueError,
            "mask_token",
        ),
        (
            lambda k: k.StringLookup(vocabulary=["a", "[UNK]"], invert=True),
            ValueError,
            "oov_token",
        ),
        (lambda k: k.StringLookup(vocabulary=["a"], idf_weights=[1.0]), ValueError, "idf_weights"),
        (
            lambda k: k.StringLookup(vocabulary=["a"], output_mode="tf_idf"),
            ValueError,
            "idf_weights",
        ),
        (
            lambda k: k.StringLookup(
                vocabulary=["a"], idf_weights=[1.0, 2.0], output_mode="tf_idf"
            ),
            ValueError,
            "idf_weights",
        ),
        (lambda k: k.StringLookup(vocabulary=["a"]).adapt(["b"]), ValueError, "adapt"),
        (lambda k: k.StringLookup(vocabulary=["a"], num_oov_indices=0)(["q"]), ValueError, "'q'"),
        (lambda k: k.StringLookup()(["a"]), RuntimeError, "vocabulary"),
        (
            lambda k: k.StringLookup(vocabulary=["a"], output_mode="count").set_vocabulary(LETTERS),
            RuntimeError,
            "size",
        ),
        (lambda k: k.IntegerLookup(salt=3), ValueError, "salt"),
        (lambda k: k.IntegerLookup(oov_method="md5"), ValueError, "oov_method"),
        (lambda k: k.IntegerLookup(vocabulary_dtype="int32"), ValueError, "vocabulary_dtype"),
        (lambda k: k.TextVectorization(standardize="upper"), ValueError, "standardize"),
        (lambda k: k.TextVectorization(split="comma"), ValueError, "split"),
        (lambda k: k.TextVectorization(ngrams="two"), ValueError, "ngrams"),
        (lambda k: k.TextVectorization(output_mode="hot"), ValueError, "output_mode"),
        (
            lambda k: k.TextVectorization(output_mode="count", output_sequence_length=3),
            ValueError,
            "output_sequence_length",
        ),
        (lambda k: k.TextVectorization(ragged=True), ValueError, "ragged"),
        (lambda k: k.TextVectorization()(["a"]), RuntimeError, "vocabulary"),
        (
            lambda k: k.TextVectorization(vocabulary=["a"])([["a", "b"]]),
            ValueError,
            r"\(1, 2\)",
        ),
    ],
)
def test_errors(make: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make(LAYERS)
