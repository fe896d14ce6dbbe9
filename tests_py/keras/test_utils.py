"""``keras.utils`` and ``keras.config``: results are those of Keras."""

import random
import re
import sys
from itertools import islice
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from tests_py.closeness import assert_close
from webtensor import keras as ours
from webtensor.keras import settings

# -- arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels, count",
    [
        ([0, 2, 1], None),
        ([0, 2, 1], 5),
        ([[0], [2]], None),
        ([[0, 1], [2, 2]], 3),
        ([1.0, 0.0], None),
    ],
)
def test_labels_as_vectors(labels: Any, count: int | None) -> None:
    expected = keras.utils.to_categorical(labels, count)
    result = ours.utils.to_categorical(np.array(labels), count)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(ours.utils.to_categorical(wt.tensor(labels), count), expected)


def test_wrong_labels() -> None:
    with pytest.raises(ValueError, match="labels must be from 0 to 1 for num_classes=2"):
        ours.utils.to_categorical([0, 2], 2)
    with pytest.raises(ValueError, match="there are ones from -1 to 1"):
        ours.utils.to_categorical([-1, 1])


@pytest.mark.parametrize("axis, order", [(-1, 2), (1, 3), (1, 1)])
def test_vectors_of_one_length(axis: int, order: int) -> None:
    x = np.random.default_rng(1).normal(size=(3, 4)).astype("float32")
    x[1] = 0
    expected = keras.utils.normalize(x, axis, order)
    assert_close(ours.utils.normalize(x, axis, order), expected, rtol=1e-5)
    assert_close(ours.utils.normalize(x.T, 0, order), expected.T, rtol=1e-5)


SEQUENCES: list[Any] = [[1], [2, 3, 4, 5], [], [6, 7]]


@pytest.mark.parametrize("maxlen", [None, 3, 6])
@pytest.mark.parametrize("padding", ["pre", "post"])
@pytest.mark.parametrize("truncating", ["pre", "post"])
def test_sequences_of_one_length(maxlen: Any, padding: str, truncating: str) -> None:
    options = {"maxlen": maxlen, "padding": padding, "truncating": truncating, "value": 9}
    expected = keras.utils.pad_sequences(SEQUENCES, **options)
    result = ours.utils.pad_sequences(SEQUENCES, **options)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype


@pytest.mark.parametrize(
    "sequences, options",
    [
        ([[[1, 2]], [[3, 4], [5, 6]]], {}),
        ([[0.5], [1.5, 2.5]], {"dtype": "float32"}),
        ([[0.5], [1.5, 2.5]], {}),
        ([["a"], ["b", "c"]], {"dtype": object, "value": "-"}),
        ([np.array([1, 2]), np.array([3])], {}),
        ([[], []], {"maxlen": 2}),
    ],
)
def test_sequences_of_other_elements(sequences: Any, options: dict[str, Any]) -> None:
    expected = keras.utils.pad_sequences(sequences, **options)
    np.testing.assert_array_equal(ours.utils.pad_sequences(sequences, **options), expected)


@pytest.mark.parametrize(
    "args, options, message",
    [
        ([[1]], {"padding": "front"}, "padding must be 'pre' or 'post', but got 'front'"),
        ([[1]], {"truncating": None}, "truncating must be 'pre' or 'post'"),
        ([1, 2], {}, "at position 0 is 1"),
        (5, {}, "must be a list of lists, but is 5"),
        ([[[1, 2]], [[3]]], {}, r"have shape \(2,\), .* the sequence at position 1"),
        ([[1]], {"value": "x"}, "value 'x' is a text"),
    ],
)
def test_wrong_sequences(args: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ours.utils.pad_sequences(args, **options)


# -- data sets ---------------------------------------------------------------------------------


def windows(
    data: Any, targets: Any, length: int, stride: int, rate: int, first: int, last: int
) -> list[tuple[Any, Any]]:
    """The windows of a series, by slices."""
    windows_read = []
    for start in range(first, last, stride):
        end = start + (length - 1) * rate
        if end < last and start < len(targets):
            windows_read.append((data[start : end + 1 : rate], targets[start]))
    return windows_read


@pytest.mark.parametrize(
    "length, stride, rate, batch, first, last",
    [(3, 1, 1, 4, 0, 12), (2, 3, 2, 2, 0, 12), (4, 1, 1, 128, 2, 11), (1, 1, 1, 5, 0, 5)],
)
def test_windows_of_series(
    length: int, stride: int, rate: int, batch: int, first: int, last: int
) -> None:
    data = np.random.default_rng(2).normal(size=(12, 2)).astype("float32")
    targets = np.arange(12)
    result = ours.utils.timeseries_dataset_from_array(
        data,
        targets,
        length,
        sequence_stride=stride,
        sampling_rate=rate,
        batch_size=batch,
        start_index=first,
        end_index=last,
    )
    expected = windows(data, targets, length, stride, rate, first, last)
    batches = list(result)
    assert len(batches) == len(result) == -(-len(expected) // batch)
    x, y = (np.concatenate([np.asarray(batch[part]) for batch in batches]) for part in range(2))
    np.testing.assert_array_equal(x, np.stack([window[0] for window in expected]))
    np.testing.assert_array_equal(y, [window[1] for window in expected])


def test_series_without_targets_and_batches() -> None:
    result = ours.utils.timeseries_dataset_from_array([1, 2, 3], None, 2, batch_size=None)
    assert [window.tolist() for window in result] == [[1, 2], [2, 3]]


def test_series_are_shuffled() -> None:
    result = ours.utils.timeseries_dataset_from_array(
        range(50), None, 1, batch_size=None, shuffle=True, seed=3
    )
    first = [window.tolist() for window in result]
    assert first != sorted(first)
    assert sorted(first) == [[number] for number in range(50)]
    assert [window.tolist() for window in result] != first


@pytest.mark.parametrize(
    "length, options, message",
    [
        (0, {}, "sequence_length must be a positive integer, but got 0"),
        (2, {"sampling_rate": -1}, "sampling_rate must be a positive integer"),
        (2, {"start_index": 7}, "start_index and end_index must lie in a series of 5 elements"),
        (2, {"start_index": -1}, "start_index and end_index must lie in a series of 5 elements"),
        (9, {}, "there is no window of 9 elements"),
    ],
)
def test_wrong_series(length: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ours.utils.timeseries_dataset_from_array(range(5), None, length, **options)


def test_data_sets_of_classes() -> None:
    class Pairs(ours.utils.PyDataset):
        @property
        def num_batches(self) -> int:
            return 2

        def __getitem__(self, index: int) -> Any:
            return index, -index

    assert list(Pairs()) == [(0, 0), (1, -1)]
    assert len(Pairs(workers=3)) == 2
    with pytest.raises(NotImplementedError, match="must have a method __len__"):
        len(ours.utils.PyDataset())


@pytest.mark.parametrize("k", [keras, ours], ids=["theirs", "ours"])
def test_data_sets_of_classes_without_a_length_go_on(k: Any) -> None:
    class Squares(k.utils.PyDataset):  # type: ignore[misc]
        def __getitem__(self, index: int) -> Any:
            return index**2

    assert list(islice(Squares(), 4)) == [0, 1, 4, 9]


@pytest.mark.parametrize("parts", [(1,), (1, 2), (1, 2, 3), (1, None, 3), ([1, 2],)])
def test_parts_of_batches(parts: Any) -> None:
    result = ours.utils.pack_x_y_sample_weight(*parts)
    assert result == keras.utils.pack_x_y_sample_weight(*parts)
    expected = keras.utils.unpack_x_y_sample_weight(result)
    assert ours.utils.unpack_x_y_sample_weight(result) == expected


# -- images ------------------------------------------------------------------------------------


def test_images_as_arrays() -> None:
    x = np.arange(24).reshape(2, 4, 3)
    for options in ({}, {"data_format": "channels_first"}, {"dtype": "int32"}):
        expected = keras.utils.img_to_array(x, **options)
        result = ours.utils.img_to_array(x, **options)
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == expected.dtype
    assert ours.utils.img_to_array(x[..., 0]).shape == (2, 4, 1)


@pytest.mark.parametrize("name, args", [("array_to_img", ([],)), ("load_img", ("a.png",))])
def test_images_need_pillow(name: str, args: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=f"{name}: Pillow is needed"):
        getattr(ours.utils, name)(*args)


# -- the session -------------------------------------------------------------------------------


def test_seeds() -> None:
    drawn = []
    for _ in range(2):
        ours.utils.set_random_seed(7)
        drawn.append((ours.random.normal((2,)).tolist(), random.random(), np.random.rand()))
    assert drawn[0] == drawn[1]
    with pytest.raises(ValueError, match="seed must be an integer"):
        ours.utils.set_random_seed("seven")  # type: ignore[arg-type]


def test_sources_of_symbolic_tensors() -> None:
    first, second = ours.Input((3,)), ours.Input((3,))
    sources = ours.utils.get_source_inputs(ours.layers.Dense(2)(first * 2 + second))
    assert {id(source) for source in sources} == {id(first), id(second)}
    assert ours.utils.is_keras_tensor(first)
    assert not ours.utils.is_keras_tensor(wt.ones(1))


def test_names_begin_anew() -> None:
    ours.utils.clear_session()
    assert ours.layers.Dense(1).name == "dense"
    assert ours.layers.Dense(1).name == "dense_1"


def test_settings_of_a_session_end_with_it() -> None:
    settings = []
    for k in (ours, keras):
        k.config.set_dtype_policy("mixed_float16")
        k.config.disable_interactive_logging()
        k.config.set_epsilon(1e-3)
        k.utils.clear_session()
        config = k.config
        settings.append(
            (config.dtype_policy().name, config.is_interactive_logging_enabled(), config.epsilon())
        )
        config.set_epsilon(1e-7)
    assert settings[0] == settings[1] == ("float32", True, 1e-3)


def test_custom_objects() -> None:
    with ours.utils.custom_object_scope({"none": lambda x: x}):
        assert ours.activations.get("none")(3) == 3
    assert ours.utils.get_custom_objects() is ours.saving.get_custom_objects()


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    config = ours.config
    monkeypatch.setattr(settings._settings, "epsilon", 1e-7)
    assert config.floatx() == "float32"
    assert config.epsilon() == keras.config.epsilon()
    config.set_epsilon(1e-3)
    assert config.epsilon() == 1e-3
    assert config.image_data_format() == "channels_last"
    assert config.backend() == "numpy"
    for call, message in (
        (lambda: config.set_epsilon(-1), "value must be a positive number"),
        (lambda: config.set_floatx("int32"), "value must be one of"),
        (lambda: config.set_image_data_format("NHWC"), "data_format must be"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_names_are_there() -> None:
    theirs = {name for name in dir(keras.utils) if not name.startswith("_")}
    for name in ours.utils.__all__:
        public = getattr(ours.utils, name)
        assert callable(public) or public.__all__
        assert name in theirs or name in ("get_file_async", "model_to_svg")
    with pytest.raises(AttributeError, match="no attribute 'get_fiel'"):
        ours.utils.get_fiel  # type: ignore[attr-defined]  # noqa: B018


# -- progress ----------------------------------------------------------------------------------


class Terminal:
    """What is written, as a terminal would take it."""

    def __init__(self, is_terminal: bool) -> None:
        self.text, self._is_terminal = "", is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass

    def last_line(self) -> str:
        """The last line, without how it looks, and without its times."""
        line = re.split(r"[\r\n]", self.text.rstrip())[-1].replace("\b", "")
        line = re.sub("\x1b\\[[0-9]*m", "", line)
        return re.sub(r"\d+[mu]?s", "T", line).rstrip()


def shown(module: Any, is_terminal: bool, **options: Any) -> Terminal:
    stdout, terminal = sys.stdout, Terminal(is_terminal)
    sys.stdout = terminal
    try:
        bar = module.utils.Progbar(**options)
        for step in (1, 2, 5):
            bar.update(step, [("loss", 0.5 / step), ("small", 1e-5), ("count", step)])
        bar.add(5, [("loss", 2.0)])
    finally:
        sys.stdout = stdout
    return terminal


@pytest.mark.parametrize(
    "options",
    [
        {"target": 10},
        {"target": 10, "width": 7, "unit_name": "sample"},
        {"target": 12, "interval": 0},
        {"target": 12, "interval": 0, "stateful_metrics": ["count"]},
        {"target": 12, "interval": 0, "stateless_metrics": ["loss"]},
        {"target": None, "interval": 0},
        {"target": 10, "verbose": 2},
        {"target": 10, "verbose": 0},
    ],
)
def test_progress(options: dict[str, Any]) -> None:
    expected = shown(keras, True, **options).last_line()
    assert shown(ours, True, **options).last_line() == expected


def test_progress_without_terminal() -> None:
    result = shown(ours, False, target=10).text
    assert result.count("\n") == 1
    assert "\x1b" not in result
    assert result.startswith("10/10 ━━━━━━━━━━━━━━━━━━━━ 0s ")


def test_progress_has_one_kind_of_metrics() -> None:
    with pytest.raises(ValueError, match="but not both"):
        ours.utils.Progbar(1, stateful_metrics=["a"], stateless_metrics=["b"])
