"""Networks of ``keras.applications``: built, predicting and saved as in Keras.

A network of each family is compared each time; ``WEBTENSOR_ALL_APPLICATIONS=1`` compares all
networks, with their predictions and their files, which takes about twenty minutes.
"""

import inspect
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras.src.applications import (
    convnext,
    densenet,
    efficientnet_v2,
    inception_resnet_v2,
    mobilenet_v3,
    resnet,
)

from tests_py.keras.networks import (
    built,
    calibrate,
    described,
    numpy_initializers,
    outlined,
    randomize,
    smallest_shape,
)
from webtensor import keras as ours
from webtensor.keras.applications.networks import _networks

applications = keras.applications
SHAPE = (32, 32, 3)
COMMON = {"weights": None, "classes": 5, "classifier_activation": None}
ALL_ARE_WANTED = "WEBTENSOR_ALL_APPLICATIONS" in os.environ

EVERY_NETWORK = [name for name in dir(applications) if name[0].isupper()]
FAMILIES = [name for name in dir(applications) if name[0].islower()]
#: The smallest network of each family, and the families whose depths and widths are tables.
SAMPLE = [
    *("ConvNeXtTiny", "DenseNet121", "EfficientNetB0", "EfficientNetB3", "EfficientNetV2B0"),
    *("EfficientNetV2B3", "EfficientNetV2S", "InceptionResNetV2", "InceptionV3", "MobileNet"),
    *("MobileNetV2", "MobileNetV3Large", "MobileNetV3Small", "NASNetMobile", "ResNet50"),
    *("ResNet50V2", "VGG16", "VGG19", "Xception"),
]

#: Small networks of the layers that families have.
SMALL: dict[str, Callable[[], Any]] = {
    "ConvNeXt": lambda: convnext.ConvNeXt(
        [1, 1, 1, 2], [8, 12, 16, 20], 0.1, 0.5, input_shape=SHAPE, **COMMON
    ),
    "DenseNet": lambda: densenet.DenseNet([1, 1, 1, 1], input_shape=SHAPE, **COMMON),
    "EfficientNetV2": lambda: efficientnet_v2.EfficientNetV2(
        0.2, 0.1, 32, min_depth=4, name="efficientnetv2-b0", input_shape=SHAPE, **COMMON
    ),
    "MobileNetV3": lambda: mobilenet_v3.MobileNetV3(
        lambda x, kernel, activation, ratio: mobilenet_v3._inverted_res_block(
            x, 2, 8, kernel, 1, ratio, activation, 1
        ),
        32, input_shape=SHAPE, **COMMON,
    ),
    "ResNet": lambda: resnet.ResNet(
        lambda x: resnet.stack_residual_blocks_v1(x, 8, 2, name="conv2"),
        False, True, input_shape=SHAPE, **COMMON,
    ),
}  # fmt: skip


# -- names and arguments -----------------------------------------------------------------------


@pytest.mark.parametrize("module", ["", *FAMILIES])
def test_names_are_those_of_keras(module: str):
    theirs = getattr(applications, module) if module else applications
    mine = getattr(ours.applications, module) if module else ours.applications
    names = {name for name in dir(theirs) if not name.startswith("_")}
    assert names <= {*mine.__all__}
    assert all(getattr(mine, name) is not None for name in mine.__all__)


@pytest.mark.parametrize("name", EVERY_NETWORK)
def test_arguments_are_those_of_keras(name: str):
    mine, theirs = getattr(ours.applications, name), getattr(applications, name)
    parameters = [
        [
            (parameter.name, parameter.default)
            for parameter in inspect.signature(value).parameters.values()
        ]
        for value in (mine, theirs)
    ]
    assert parameters[0] == parameters[1]
    assert mine.__name__ == name
    for argument, _ in parameters[0]:
        assert f"    {argument}: " in mine.__doc__


# -- layers ------------------------------------------------------------------------------------


def assert_same_network(mine: Any, theirs: Any) -> None:
    """Compare layers, their order, their configurations, their connections and their weights."""
    layers = [
        [(type(layer).__name__, layer.name) for layer in model.layers] for model in (mine, theirs)
    ]
    assert layers[0] == layers[1]
    assert json.loads(mine.to_json()) == json.loads(theirs.to_json())
    weights = [
        [(weight.path, tuple(weight.shape), weight.trainable) for weight in model.weights]
        for model in (mine, theirs)
    ]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("name", EVERY_NETWORK if ALL_ARE_WANTED else SAMPLE)
def test_layers_are_those_of_keras(name: str):
    arguments = {"weights": None, "input_shape": smallest_shape(name), "classes": 7}
    assert_same_network(outlined(name, **arguments), described(name, **arguments))


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("ConvNeXtTiny", {"include_top": False, "include_preprocessing": False}),
        ("ConvNeXtTiny", {"include_top": False, "pooling": "max", "name": "features"}),
        ("ConvNeXtTiny", {"input_shape": (32, 32, 1), "include_top": False}),
        ("DenseNet121", {"include_top": False, "pooling": "max"}),
        ("EfficientNetB0", {"include_top": False, "pooling": "avg"}),
        ("EfficientNetV2B0", {"input_shape": (32, 64, 1), "name": "efficientnetv2-b0"}),
        ("EfficientNetV2B0", {"include_top": False, "include_preprocessing": False}),
        ("EfficientNetV2S", {"include_top": False, "pooling": "max"}),
        ("InceptionV3", {"include_top": False, "pooling": "avg"}),
        ("MobileNet", {}),
        ("MobileNet", {"alpha": 0.3, "depth_multiplier": 2, "dropout": 0.5}),
        ("MobileNet", {"include_top": False, "pooling": "max", "alpha": 2}),
        ("MobileNet", {"input_shape": (96, 128, 3), "name": "mine"}),
        ("MobileNetV2", {"alpha": 1.3}),
        ("MobileNetV2", {"alpha": 0.35, "input_shape": (96, 96, 3), "include_top": False}),
        ("MobileNetV3Large", {"minimalistic": True, "include_preprocessing": False}),
        ("MobileNetV3Large", {"alpha": 1.25, "dropout_rate": 0, "classes": 3}),
        ("MobileNetV3Small", {"alpha": 0.75, "include_top": False, "pooling": "avg"}),
        ("NASNetMobile", {"include_top": False, "pooling": "avg"}),
        ("ResNet50", {"include_top": False}),
        ("ResNet50V2", {"include_top": False, "pooling": "max", "input_shape": [64, None, 3]}),
        ("VGG16", {"include_top": False, "pooling": "avg"}),
        ("Xception", {"include_top": False, "pooling": "max"}),
    ],
    ids=str,
)
def test_layers_with_other_arguments(name: str, arguments: dict[str, Any]):
    arguments = {"weights": None, **arguments}
    assert_same_network(outlined(name, **arguments), described(name, **arguments))


@pytest.mark.parametrize(
    "name",
    [
        *("EfficientNetB0", "EfficientNetV2B0", "InceptionV3", "MobileNet", "MobileNetV2"),
        *("MobileNetV3Small", "ResNet50", "Xception"),
    ],
)
def test_channels_come_first_as_in_keras(name: str):
    arguments = {"weights": None, "input_shape": (3, 80, 96), "classes": 2}
    try:
        for k in (keras, ours):
            k.config.set_image_data_format("channels_first")
        assert_same_network(outlined(name, **arguments), described(name, **arguments))
    finally:
        for k in (keras, ours):
            k.config.set_image_data_format("channels_last")


@pytest.mark.parametrize("name", ["ConvNeXtTiny", "MobileNet", "MobileNetV2", "MobileNetV3Small"])
def test_network_continues_another_model(name: str):
    models = []
    for k, build in ((ours, outlined), (keras, described)):
        k.utils.clear_session()
        image = k.Input((48, 48, 3), name="image")
        flipped = k.layers.ReLU(name="kept")(image)
        models.append(build(name, weights=None, input_tensor=flipped, classes=2))
    assert_same_network(*models)


def test_image_size_of_input_tensor_names_the_network():
    image = ours.Input((96, 96, 3))
    assert ours.applications.MobileNetV2(weights=None, input_tensor=image).name == (
        "mobilenetv2_1.00_96"
    )


def test_searched_network_needs_sizes():
    network = _networks[ours.applications.NASNetLarge]
    assert network(include_top=False).image_shape() == (331, 331, 3)
    with pytest.raises(ValueError, match="NASNetLarge: the size of images must be known"):
        network(weights=None, include_top=False, input_shape=(None, 32, 3)).model()


# -- predictions and files ---------------------------------------------------------------------


def pictures(model: Any) -> np.ndarray:
    """Draw two images of the size that a network takes."""
    noise = np.random.default_rng(0).uniform(0, 255, (2, *model.input_shape[1:]))
    return noise.astype("float32")


def assert_same_predictions(mine: Any, theirs: Any) -> None:
    images = pictures(theirs)
    expected = theirs.predict(images, verbose=0)
    tolerance = 1e-4 * float(np.abs(expected).max())
    np.testing.assert_allclose(mine.predict(images, verbose=0), expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(mine(images), expected, rtol=0, atol=tolerance)


def assert_same_weights(mine: Any, theirs: Any) -> None:
    for weight, other in zip(mine.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)


@pytest.mark.parametrize("make", SMALL.values(), ids=SMALL)
def test_network_in_a_file_predicts_as_in_keras(make: Callable[[], Any], tmp_path: Path):
    with numpy_initializers():
        theirs = make()
        randomize(theirs)
        theirs.save(tmp_path / "theirs.keras")
        mine = ours.saving.load_model(tmp_path / "theirs.keras")
        assert_same_predictions(mine, theirs)
        mine.save(tmp_path / "mine.keras")
        back = keras.saving.load_model(tmp_path / "mine.keras")
    assert_same_weights(back, theirs)
    assert back.to_json() == theirs.to_json()


@pytest.mark.parametrize(
    "name, options",
    [(name, {}) for name in EVERY_NETWORK] if ALL_ARE_WANTED else [("MobileNet", {"alpha": 0.25})],
)
def test_network_and_its_files_are_those_of_keras(
    name: str, options: dict[str, Any], tmp_path: Path
):
    size = max(96, *smallest_shape(name))  # with less, the deep ones make rounding errors large
    arguments = {"input_shape": (size, size, 3), "classes": 5, **options}
    arguments["classifier_activation"] = None
    with numpy_initializers():
        theirs = getattr(applications, name)(weights=None, **arguments)
        randomize(theirs)
        calibrate(theirs, pictures(theirs))
        theirs.save(tmp_path / "theirs.h5")
        mine = built(name, weights=tmp_path / "theirs.h5", **arguments)
        assert_same_weights(mine, theirs)
        assert_same_predictions(mine, theirs)
        mine.save(tmp_path / "file.keras")
        back = keras.saving.load_model(tmp_path / "file.keras")
        assert_same_weights(back, theirs)
    del back
    theirs.save(tmp_path / "file.keras")
    assert_same_weights(ours.saving.load_model(tmp_path / "file.keras"), theirs)


# -- layers of their own -----------------------------------------------------------------------


def test_layer_of_inception_resnet_goes_both_ways(tmp_path: Path):
    layer = inception_resnet_v2.CustomScaleLayer(0.3)
    first, second = keras.Input((4,)), keras.Input((4,))
    theirs = keras.Model([first, second], layer([first, second]))
    theirs.save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras")
    mine.save(tmp_path / "mine.keras")
    inputs = [np.arange(8, dtype="float32").reshape(2, 4), np.ones((2, 4), "float32")]
    expected = theirs.predict(inputs, verbose=0)
    np.testing.assert_allclose(mine.predict(inputs, verbose=0), expected, rtol=1e-6)
    back = keras.saving.load_model(tmp_path / "mine.keras")
    np.testing.assert_allclose(back.predict(inputs, verbose=0), expected, rtol=1e-6)


def test_examples_are_dropped_in_training_alone():
    configuration = keras.saving.serialize_keras_object(convnext.StochasticDepth(0.5))
    layer = ours.saving.deserialize_keras_object(configuration)
    x = np.ones((200, 3), "float32")
    np.testing.assert_array_equal(layer(x), x)
    ours.utils.set_random_seed(0)
    rows = np.asarray(layer(x, training=True))
    assert set(np.unique(rows)) == {0.0, 2.0}
    assert (rows == rows[:, :1]).all()
    assert 60 < (rows[:, 0] == 0).sum() < 140
