"""Weights and other arguments of ``keras.applications``: where they come from, what is refused."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import keras
import numpy as np
import pytest
from keras.src.utils import file_utils

from tests_py.keras.networks import built, described, outlined
from web.serve import serve
from webtensor import keras as ours
from webtensor.errors import ModelFormatError
from webtensor.keras.applications import pretrained
from webtensor.keras.saving.layers_model.storage import load_layers_model_weights

SMALL: dict[str, Any] = {
    "alpha": 0.25,
    "input_shape": (32, 32, 3),
    "classes": 3,
    "depth_multiplier": 1,
}


@pytest.fixture(scope="module")
def saved() -> Any:
    """A small network whose weights are to be loaded."""
    ours.utils.set_random_seed(1)
    return ours.applications.MobileNet(weights=None, **SMALL)


def assert_loaded(model: Any, saved: Any) -> None:
    for weight, other in zip(model.get_weights(), saved.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)


# -- files -------------------------------------------------------------------------------------


def save_layers_model(model: Any, path: Path) -> Path:
    ours.saving.save_layers_model(model, path)
    return path


def save(model: Any, path: Path) -> Path:
    model.save(path)
    return path


def save_weights(model: Any, path: Path) -> Path:
    model.save_weights(path)
    return path


SAVERS: dict[str, Callable[[Any, Path], Any]] = {
    "weights": lambda model, folder: save_weights(model, folder / "m.weights.h5"),
    "old file": lambda model, folder: save(model, folder / "m.h5"),
    "archive": lambda model, folder: str(save(model, folder / "m.keras")),
    "bytes": lambda model, folder: save(model, folder / "m.keras").read_bytes(),
    "folder": lambda model, folder: save_layers_model(model, folder / "m"),
    "model.json": lambda model, folder: save_layers_model(model, folder / "m") / "model.json",
    "paths": lambda model, folder: [*save_layers_model(model, folder / "m").iterdir()],
    "files": lambda model, folder: ours.saving.layers_model_files(model),
}


@pytest.mark.parametrize("save_as", SAVERS.values(), ids=SAVERS)
def test_weights_come_from(save_as: Callable[[Any, Path], Any], saved: Any, tmp_path: Path):
    weights = save_as(saved, tmp_path)
    assert_loaded(built("MobileNet", weights=weights, **SMALL), saved)
    build = ours.applications.build_async(ours.applications.MobileNet, weights=weights, **SMALL)
    assert_loaded(asyncio.run(build), saved)


def test_weights_come_from_the_web(saved: Any, tmp_path: Path):
    save_layers_model(saved, tmp_path)
    with serve(tmp_path) as url:
        address = f"{url}/model.json"
        assert_loaded(built("MobileNet", weights=address, **SMALL), saved)
        assert_loaded(ours.saving.load_layers_model(address), saved)
        with pytest.raises(OSError, match="404"):
            built("MobileNet", weights=f"{url}/missing.json", **SMALL)


def test_layers_model_may_have_another_classifier(saved: Any):
    files = ours.saving.layers_model_files(saved)
    features = built("MobileNet", weights=files, **{**SMALL, "include_top": False})
    assert_loaded(features, ours.Model(saved.input, saved.get_layer("conv_pw_13_relu").output))
    with pytest.raises(ModelFormatError, match=r"'conv_preds'.*|shape .*\b5\b"):
        built("MobileNet", weights=files, **{**SMALL, "classes": 5})


def small_network() -> Any:
    """A model of layers that get their names by themselves."""
    layers = [ours.layers.Dense(2) for _ in range(3)]
    return ours.Sequential([ours.Input((2,)), *layers, ours.layers.Dense(2, name="last_9")])


def test_numbers_in_names_may_begin_anywhere():
    ours.utils.clear_session()
    saved = small_network()
    files = ours.saving.layers_model_files(saved)
    [ours.layers.Dense(2) for _ in range(6)]
    model = small_network()
    assert model.layers[0].name == "dense_9"
    load_layers_model_weights(model, files)
    assert_loaded(model, saved)
    other = ours.Sequential([ours.Input((2,)), ours.layers.Dense(2, name="other")])
    with pytest.raises(ModelFormatError, match="has no weight 'other/kernel'"):
        load_layers_model_weights(other, files)


def test_statistics_of_normalization_are_used_at_once():
    layers = [ours.layers.Normalization(name="norm"), ours.layers.Dense(1, name="dense")]
    model = ours.Sequential([ours.Input((2,)), *layers])
    weights: dict[str, Any] = {
        "norm/mean": np.array([1.0, 2.0], "float32"),
        "norm/variance": np.array([4.0, 0.25], "float32"),
        "norm/count": np.array(0, "int32"),
        "dense/kernel": np.ones((2, 1), "float32"),
        "dense/bias": np.zeros(1, "float32"),
    }
    specs = [
        {"name": name, "shape": [*value.shape], "dtype": str(value.dtype)}
        for name, value in weights.items()
    ]
    data = b"".join(value.tobytes() for value in weights.values())
    manifest = [{"paths": ["weights.bin"], "weights": specs}]
    described = {"modelTopology": {}, "weightsManifest": manifest}
    files = {"model.json": json.dumps(described).encode(), "weights.bin": data}
    load_layers_model_weights(model, files)
    assert model(np.array([[3.0, 2.5]])).tolist() == [[2.0]]


# -- the weights of ImageNet -------------------------------------------------------------------

EVERY_NETWORK = [name for name in dir(keras.applications) if name[0].isupper()]
SAMPLE = ["DenseNet169", "EfficientNetB0", "EfficientNetV2B1", "NASNetMobile", "ResNet50V2"]
IMAGENET: list[tuple[str, dict[str, Any]]] = [
    *(
        (name, {"include_top": include_top})
        for name in (EVERY_NETWORK if "WEBTENSOR_ALL_APPLICATIONS" in os.environ else SAMPLE)
        for include_top in (True, False)
    ),
    ("MobileNet", {"alpha": 0.25, "input_shape": (128, 128, 3)}),
    ("MobileNet", {"alpha": 0.75, "input_shape": (160, 160, 3), "include_top": False}),
    ("MobileNetV2", {"alpha": 0.35, "input_shape": (96, 96, 3)}),
    ("MobileNetV2", {"alpha": 1.4, "input_shape": (224, 224, 3), "include_top": False}),
    ("MobileNetV3Small", {"minimalistic": True, "input_shape": (224, 224, 3)}),
    ("MobileNetV3Large", {"alpha": 0.75, "include_top": False, "input_shape": (224, 224, 3)}),
]


@pytest.fixture
def downloads() -> Iterator[list[tuple[Any, ...]]]:
    """The files that Keras and we ask for; none is fetched."""
    requests: list[tuple[Any, ...]] = []

    def request(fname: str, origin: str, cache_subdir: str, file_hash: str | None = None) -> str:
        requests.append((fname, origin, cache_subdir, file_hash))
        return "file.h5"

    with (
        patch.object(file_utils, "get_file", request),
        patch.object(pretrained, "get_file", request),
        patch.object(keras.Model, "load_weights"),
        patch.object(pretrained, "load_weights"),
    ):
        yield requests


@pytest.mark.filterwarnings("ignore:.*input_shape:UserWarning")
@pytest.mark.parametrize("name, arguments", IMAGENET, ids=str)
def test_weights_of_imagenet_are_those_of_keras(
    name: str, arguments: dict[str, Any], downloads: list[tuple[Any, ...]]
):
    mine, theirs = outlined(name, **arguments), described(name, **arguments)
    assert downloads[0] == downloads[1]
    if name != "NASNetLarge":
        assert json.loads(mine.to_json()) == json.loads(theirs.to_json())


@pytest.mark.parametrize("name", ["MobileNet", "MobileNetV2", "MobileNetV3Small"])
def test_other_sizes_get_weights_for_the_default_one(name: str, downloads: list[Any]):
    arguments = {"input_shape": (64, 64, 3), "include_top": False}
    for build in (outlined, described):
        with pytest.warns(UserWarning, match="input_shape"):
            build(name, **arguments)
    assert downloads[0] == downloads[1]


def test_file_of_the_cache_is_loaded(saved: Any, tmp_path: Path):
    features = ours.Model(saved.input, saved.get_layer("conv_pw_13_relu").output)
    path = save(features, tmp_path / "m.h5")
    with patch.object(pretrained, "get_file", return_value=str(path)):
        model = built("MobileNet", alpha=0.25, include_top=False, input_shape=(128, 128, 3))
    assert_loaded(model, features)


def test_what_to_do_without_a_download(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any, **__: Any) -> str:
        raise OSError("no route to host")

    monkeypatch.setattr(pretrained, "get_file", fail)
    message = r"MobileNet: the weights of ImageNet cannot be fetched from https://storage.*Pass"
    arguments: dict[str, Any] = {"alpha": 0.25, "input_shape": (128, 128, 3)}
    with pytest.raises(OSError, match=message):
        built("MobileNet", **arguments)
    monkeypatch.setattr(pretrained, "get_file_async", fail)
    with pytest.raises(OSError, match=message):
        asyncio.run(ours.applications.build_async(ours.applications.MobileNet, **arguments))


def test_what_to_write_in_a_page_that_cannot_wait(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pretrained, "IN_BROWSER", True)
    monkeypatch.setattr(pretrained, "get_file", Mock(side_effect=RuntimeError("no JSPI")))
    for weights in ("imagenet", "https://example.org/model.json"):
        arguments = {**SMALL, "weights": weights, "classes": 1000, "input_shape": (128, 128, 3)}
        with pytest.raises(RuntimeError, match=r"await keras\.applications\.build_async\(keras\."):
            built("MobileNet", **arguments)


def test_build_async_needs_a_constructor():
    with pytest.raises(TypeError, match="build_async: constructor must be a function"):
        asyncio.run(ours.applications.build_async(ours.Sequential))  # type: ignore[arg-type]


# -- wrong arguments ---------------------------------------------------------------------------

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("MobileNet", {"weights": "unknown"}, "weights must be .* there is no file 'unknown'"),
    ("VGG16", {"classes": 10}, "classes must be 1000 with weights='imagenet'"),
    ("ResNet50", {"weights": None, "input_shape": (16, 64, 3)}, "at least 32 x 32"),
    ("InceptionV3", {"weights": None, "input_shape": (74, 75, 3)}, "at least 75 x 75"),
    ("MobileNetV3Small", {"weights": None, "input_shape": (16, 16, 3)}, "at least 32 x 32"),
    ("Xception", {"weights": None, "input_shape": (None, None, 3)}, "needs a static input_shape"),
    ("DenseNet121", {"weights": None, "input_shape": (64, 64)}, "must be three integers"),
    ("EfficientNetB0", {"input_shape": (64, 64, 3)}, r"input_shape must be \(224, 224, 3\)"),
    ("VGG19", {"input_shape": (64, 64, 1), "include_top": False}, "must have 3 channels"),
    ("ResNet50V2", {"classifier_activation": "relu"}, "classifier_activation must be 'softmax'"),
    ("MobileNet", {"alpha": 0.6}, "alpha must be one of"),
    ("MobileNet", {"depth_multiplier": 2}, "depth_multiplier must be 1"),
    ("MobileNetV2", {"alpha": 0.25}, "alpha must be one of"),
    ("MobileNetV3Large", {"alpha": 0.75, "minimalistic": True}, "alpha must be one of"),
    ("NASNetMobile", {"input_shape": (None, 224, 3)}, r"input_shape must be \(224, 224, 3\)"),
    ("EfficientNetV2B0", {"weights": None, "input_tensor": "image"}, "must be a symbolic tensor"),
]


@pytest.mark.parametrize("name, arguments, message", WRONG, ids=str)
def test_wrong_arguments_are_refused_as_in_keras(
    name: str, arguments: dict[str, Any], message: str
):
    with pytest.raises(ValueError, match=f"{name}: .*{message}"):
        built(name, **arguments)
    with pytest.raises(ValueError):
        described(name, **arguments)


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("MobileNet", {"pooling": "mean"}, "pooling must be 'avg', 'max' or None"),
        ("MobileNet", {"alpha": "half"}, "alpha must be a positive number"),
        ("MobileNet", {"alpha": -1}, "alpha must be a positive number"),
        ("MobileNet", {"weights": 5}, "weights must be None, 'imagenet'"),
        ("MobileNet", {"weights": "https://a.b/m.weights.h5"}, "must be fetched first"),
        ("ResNet50", {"input_shape": (32, 32, 3.0)}, "must be three integers"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(name: str, arguments: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=f"{name}: .*{message}"):
        built(name, **{"weights": None, **arguments})


@pytest.mark.parametrize("name", ["MobileNetV2", "MobileNetV3Small"])
def test_shape_must_be_that_of_the_tensor(name: str):
    for k, build in ((ours, built), (keras, described)):
        image = k.Input((64, 64, 3))
        with pytest.raises(ValueError, match="input_tensor"):
            build(name, weights=None, input_tensor=image, input_shape=(96, 96, 3))


def test_unusual_numbers_of_channels_are_warned_of():
    for build in (built, described):
        with pytest.warns(UserWarning, match="1 or 3"):
            build("MobileNet", weights=None, alpha=0.25, input_shape=(32, 32, 4))


def test_unknown_arguments_are_errors():
    with pytest.raises(TypeError, match=r"MobileNet: unknown argument 'clases'; did you mean"):
        built("MobileNet", clases=3)
    with pytest.raises(TypeError, match="MobileNet: too many positional arguments"):
        ours.applications.MobileNet(*range(20))


@pytest.mark.parametrize("name", ["ConvNeXtTiny", "DenseNet121", "NASNetMobile"])
def test_channels_must_come_last(name: str):
    try:
        for k, build in ((ours, built), (keras, described)):
            k.config.set_image_data_format("channels_first")
            with pytest.raises(ValueError, match="channels_last"):
                build(name, weights=None)
    finally:
        for k in (keras, ours):
            k.config.set_image_data_format("channels_last")
