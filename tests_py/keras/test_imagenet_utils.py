"""``preprocess_input`` and ``decode_predictions`` of ``keras.applications``, beside Keras's."""

import hashlib
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import keras
import numpy as np
import pytest
from keras.src.applications import imagenet_utils as theirs
from keras.src.utils import file_utils

import webtensor as wt
from webtensor import keras as ours
from webtensor.keras.applications import imagenet_utils as mine

FAMILIES = [
    name for name in dir(keras.applications) if name[0].islower() and name != "imagenet_utils"
]


@pytest.fixture(autouse=True)
def forgotten_classes() -> None:
    """Read the names of the classes anew."""
    mine._class_names.cache_clear()
    theirs.CLASS_INDEX = None


def images(*shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(0).uniform(0, 255, shape).astype(dtype)


@pytest.mark.parametrize("mode", ["caffe", "tf", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int32"])
@pytest.mark.parametrize(
    "shape, data_format",
    [
        ((2, 4, 5, 3), None),
        ((4, 5, 3), "channels_last"),
        ((2, 3, 4, 5), "channels_first"),
        ((3, 4, 5), "channels_first"),
    ],
)
def test_arrays_and_tensors(mode: str, dtype: str, shape: tuple[int, ...], data_format: str | None):
    x = images(*shape, dtype=dtype)
    before = x.copy()
    actual = mine.preprocess_input(x, data_format, mode)
    desired = theirs.preprocess_input(x.copy(), data_format, mode)
    assert actual.dtype == desired.dtype
    np.testing.assert_array_equal(actual, desired)
    np.testing.assert_array_equal(x, before)
    for operand in (wt.tensor(x), x.tolist()):
        tensor = mine.preprocess_input(operand, data_format, mode)
        assert isinstance(tensor, wt.Tensor)
        np.testing.assert_allclose(tensor.numpy(), desired, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["caffe", "tf", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_symbolic_tensors(mode: str, dtype: str, tmp_path: Path):
    x = ours.Input((4, 5, 3), dtype=dtype)
    model = ours.Model(x, mine.preprocess_input(x, mode=mode))
    data = images(2, 4, 5, 3, dtype=dtype)
    desired = theirs.preprocess_input(data.copy(), mode=mode)
    np.testing.assert_allclose(model.predict(data, verbose=0), desired, rtol=1e-5, atol=1e-5)
    model.save(tmp_path / "m.keras")
    back = keras.saving.load_model(tmp_path / "m.keras")
    np.testing.assert_allclose(back.predict(data, verbose=0), desired, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_its_own(family: str):
    x = images(2, 4, 5, 3)
    desired = getattr(keras.applications, family).preprocess_input(x.copy())
    module = getattr(ours.applications, family)
    np.testing.assert_array_equal(module.preprocess_input(x), desired)
    assert module.decode_predictions is mine.decode_predictions


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((images(2, 4, 5, 3), None, "keras"), "mode must be one of"),
        ((images(2, 4, 5, 3), "last"), "data_format must be"),
        ((images(2, 4, 5, 1),), r"3 channels, but its shape is \(2, 4, 5, 1\)"),
    ],
)
def test_wrong_images(arguments: tuple[Any, ...], message: str):
    with pytest.raises(ValueError, match=f"preprocess_input: .*{message}"):
        mine.preprocess_input(*arguments)
    with pytest.raises((ValueError, IndexError)):
        theirs.preprocess_input(*arguments)


# -- classes -----------------------------------------------------------------------------------


@pytest.fixture
def class_index(tmp_path: Path) -> str:
    """A file with names of the classes."""
    names = {str(number): [f"n{number:08}", f"class_{number}"] for number in range(1000)}
    path = tmp_path / "imagenet_class_index.json"
    path.write_text(json.dumps(names))
    return str(path)


def test_predictions_are_decoded_as_in_keras(class_index: str):
    predictions = np.random.default_rng(0).dirichlet(np.ones(1000), 3).astype("float32")
    with (
        patch.object(file_utils, "get_file", return_value=class_index) as theirs_get,
        patch.object(mine, "get_file", return_value=class_index) as mine_get,
    ):
        for top in (1, 5, 1000):
            desired = theirs.decode_predictions(predictions, top)
            for operand in (predictions, wt.tensor(predictions), predictions.tolist()):
                decoded = mine.decode_predictions(operand, top)
                assert decoded == desired
    (name, origin), options = theirs_get.call_args
    assert mine_get.call_args.args == (name, origin)
    assert mine_get.call_args.kwargs == options
    assert mine_get.call_count == 1
    assert type(decoded[0][0][2]) is float


def test_names_of_classes_are_read_from_the_cache(
    class_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    digest = hashlib.md5(Path(class_index).read_bytes()).hexdigest()
    monkeypatch.setattr(mine, "_CLASS_INDEX_HASH", digest)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "models").mkdir()
    Path(class_index).rename(tmp_path / "models" / "imagenet_class_index.json")
    predictions = np.eye(1000, dtype="float32")[[7]]
    assert mine.decode_predictions(predictions, top=1) == [[("n00000007", "class_7", 1.0)]]


@pytest.mark.parametrize("shape", [(1000,), (2, 999), (1, 2, 1000)])
def test_wrong_predictions(shape: tuple[int, ...]):
    with pytest.raises(ValueError, match=r"decode_predictions: preds must have shape \(samples"):
        mine.decode_predictions(np.zeros(shape))
    with pytest.raises(ValueError):
        theirs.decode_predictions(np.zeros(shape))


@pytest.mark.parametrize(
    "error, message",
    [
        (OSError("no route to host"), "cannot be fetched from https://.*no route to host.*folder"),
        (RuntimeError("no JSPI"), r"first: await keras\.utils\.get_file_async\('imagenet_class"),
    ],
)
def test_what_to_do_without_names(error: Exception, message: str):
    with (
        patch.object(mine, "get_file", side_effect=error),
        pytest.raises(type(error), match=f"decode_predictions: .*{message}"),
    ):
        mine.decode_predictions(np.zeros((1, 1000)))
