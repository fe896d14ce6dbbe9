"""Networks of ``keras.applications``: files that Keras writes open here and predict the same.

Small ones with the layers of each family are tried each time; ``WEBTENSOR_ALL_APPLICATIONS=1``
tries all networks in their own sizes, with random weights, which takes most of an hour.
"""

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

from webtensor import keras as ours

applications = keras.applications
SHAPE = (32, 32, 3)
COMMON = {"weights": None, "classes": 5, "classifier_activation": None}
#: Networks that refuse small images.
LARGER = {"Inception": (75, 75, 3), "Xception": (71, 71, 3)}

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


def every_network() -> list[str]:
    if "WEBTENSOR_ALL_APPLICATIONS" not in os.environ:
        return []
    return [name for name in sorted(vars(applications)) if name[0].isupper()]


def in_its_own_size(name: str) -> Any:
    shape = next((one for begin, one in LARGER.items() if name.startswith(begin)), SHAPE)
    return getattr(applications, name)(input_shape=shape, **COMMON)


@pytest.mark.parametrize(
    "make",
    [*SMALL.values(), *(lambda name=name: in_its_own_size(name) for name in every_network())],
    ids=[*(f"small {name}" for name in SMALL), *every_network()],
)
def test_network_predicts_as_in_keras(make: Callable[[], Any], tmp_path: Path):
    keras.utils.set_random_seed(0)
    theirs = make()
    rng = np.random.default_rng(0)
    for one in theirs.weights:
        if one.path.endswith("moving_variance"):
            one.assign(rng.uniform(0.5, 1.5, one.shape))
        elif len(one.shape) == 1:
            one.assign(one + 0.1 * rng.normal(size=one.shape))
    theirs.save(tmp_path / "theirs.keras")
    mine = ours.saving.load_model(tmp_path / "theirs.keras")
    images = rng.uniform(0, 255, (2, *theirs.input_shape[1:])).astype("float32")
    expected = theirs.predict(images, verbose=0)
    tolerance = 1e-4 * float(np.abs(expected).max())
    np.testing.assert_allclose(mine.predict(images, verbose=0), expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(mine(images), expected, rtol=0, atol=tolerance)
    mine.save(tmp_path / "mine.keras")
    back = keras.saving.load_model(tmp_path / "mine.keras")
    for weight, other in zip(back.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)
    assert back.to_json() == theirs.to_json()


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
