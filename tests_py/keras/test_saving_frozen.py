"""Models with frozen layers, as in transfer learning, go both ways and train on as in Keras."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tests_py.keras.saved_models import randomized
from webtensor import keras as ours

SHAPE = (6, 6, 3)


def base(api: Any) -> Any:
    """A network that finds features, with batch normalization in the middle."""
    image = api.Input(SHAPE)
    x = api.layers.Conv2D(4, 3)(image)
    x = api.layers.BatchNormalization()(x)
    return api.Model(image, api.layers.GlobalAveragePooling2D()(x), name="base")


def sequential_base(api: Any) -> Any:
    """The same, as a Sequential model."""
    layers = [
        api.layers.Conv2D(4, 3),
        api.layers.BatchNormalization(),
        api.layers.GlobalAveragePooling2D(),
    ]
    return api.Sequential([api.Input(SHAPE), *layers], name="base")


def frozen_when_made(api: Any) -> Any:
    """Layers made with ``trainable=False``."""
    return api.Sequential(
        [
            api.Input(SHAPE),
            api.layers.Conv2D(4, 3, trainable=False),
            api.layers.BatchNormalization(trainable=False),
            api.layers.GlobalAveragePooling2D(),
            api.layers.Dense(2),
        ]
    )


def unfrozen(api: Any) -> Any:
    """Layers made with ``trainable=False`` that are trained after all."""
    model = frozen_when_made(api)
    model.trainable = True
    return model


def recurrent(api: Any) -> Any:
    """Layers with layers inside, made or set frozen."""
    model = api.Sequential(
        [
            api.Input(SHAPE),
            api.layers.Reshape((6, 18)),
            api.layers.Bidirectional(api.layers.LSTM(3, return_sequences=True)),
            api.layers.GRU(3, trainable=False),
            api.layers.Dense(2),
        ]
    )
    model.layers[1].forward_layer.trainable = False
    return model


def transfer(make: Callable[[Any], Any], *, part: bool = False, late: bool = False) -> Any:
    """A classifier on frozen features; ``late``: frozen when the classifier is there already."""

    def model(api: Any) -> Any:
        features = make(api)
        frozen = features.layers[1] if part else features
        if not late:
            frozen.trainable = False
        image = api.Input(SHAPE)
        classifier = api.Model(image, api.layers.Dense(2)(features(image)))
        if late:
            frozen.trainable = False
        return classifier

    return model


MODELS: dict[str, Callable[[Any], Any]] = {
    "frozen when made": frozen_when_made,
    "unfrozen": unfrozen,
    "recurrent": recurrent,
    "nested": transfer(base),
    "nested, frozen late": transfer(base, late=True),
    "nested in part": transfer(base, part=True),
    "nested in part, frozen late": transfer(base, part=True, late=True),
    "nested Sequential": transfer(sequential_base),
    "nested Sequential in part": transfer(sequential_base, part=True),
}


def compiled(api: Any, model: Any) -> Any:
    model.compile(api.optimizers.SGD(0.01, momentum=0.9), api.losses.MeanSquaredError())
    return model


def fitted(model: Any) -> Any:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, *SHAPE)).astype("float32")
    y = rng.normal(size=(4, 2)).astype("float32")
    model.fit(x, y, batch_size=2, shuffle=False, verbose=0)
    return model


def assert_same(first: Any, second: Any) -> None:
    for mine, other in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-4, atol=2e-5)
    assert [weight.trainable for weight in first.weights] == [
        weight.trainable for weight in second.weights
    ]
    assert len(first.trainable_weights) == len(second.trainable_weights)


@pytest.mark.parametrize("ending", [".keras", ".h5"])
@pytest.mark.parametrize("writer, reader", [(keras, ours), (ours, keras), (ours, ours)])
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_model_with_frozen_layers_goes_on_training(
    make: Callable[[Any], Any], writer: Any, reader: Any, ending: str, tmp_path: Path
):
    written = fitted(compiled(writer, randomized(make(writer))))
    written.save(tmp_path / f"model{ending}")
    read = reader.models.load_model(tmp_path / f"model{ending}")
    assert_same(written, read)
    if ending == ".h5" and reader is keras:
        return  # Keras does not take the optimizer's state from such files
    for mine, other in zip(written.optimizer.variables, read.optimizer.variables, strict=True):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(other), rtol=2e-4, atol=2e-5)
    assert_same(fitted(written), fitted(read))


@pytest.mark.parametrize("writer, reader", [(keras, ours), (ours, keras)])
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_weights_alone_of_frozen_layers(
    make: Callable[[Any], Any], writer: Any, reader: Any, tmp_path: Path
):
    written = randomized(make(writer))
    written.save_weights(tmp_path / "m.weights.h5")
    read = make(reader)
    read.load_weights(tmp_path / "m.weights.h5")
    assert_same(written, read)
    assert_same(fitted(compiled(writer, written)), fitted(compiled(reader, read)))


@pytest.mark.parametrize("name", ["frozen when made", "nested", "nested in part"])
def test_layers_model_with_frozen_layers(name: str):
    model = randomized(MODELS[name](ours))
    assert_same(model, ours.saving.load_layers_model(ours.saving.layers_model_files(model)))


@pytest.mark.parametrize("api", [keras, ours])
def test_variables_of_a_layer_that_is_frozen_and_unfrozen(api: Any):
    layer = api.layers.Dense(3, trainable=False)
    layer.build((None, 2))
    assert len(layer.weights) == len(layer.variables) == len(layer.non_trainable_weights) == 2
    assert layer.trainable_weights == []
    assert not any(weight.trainable for weight in layer.weights)
    layer.trainable = True
    assert len(layer.trainable_weights) == len(layer.weights) == 2
    layer.trainable = False
    layer.bias = layer.bias  # setting an attribute anew tracks nothing twice
    assert len(layer.weights) == 2
