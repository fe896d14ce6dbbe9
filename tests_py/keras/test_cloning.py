"""Clones of models, and models of JSON: as Keras makes them, with weights of their own."""

import json
from typing import Any

import keras
import numpy as np
import pytest

import webtensor as wt
from webtensor import keras as ours
from webtensor.keras.names import forget_names


def begin() -> None:
    keras.utils.clear_session(free_memory=False)
    forget_names()


def row(module: Any) -> Any:
    layers = module.layers
    return module.Sequential(
        [module.Input((4,), name="given"), layers.Dense(3, activation="relu"), layers.Dense(2)]
    )


def graph(module: Any) -> Any:
    x = module.Input((4,), name="x")
    shared = module.layers.Dense(4)
    y = module.ops.maximum(shared(x), shared(shared(x))) * 2
    inner = module.Sequential([module.Input((4,)), module.layers.Dense(4)], name="inner")
    return module.Model({"x": x}, [inner(y), y])


def nested(module: Any) -> Any:
    x = module.Input((4,), name="beginning")
    return module.Model(x, row(module)(module.layers.Dense(4)(x)))


def with_dropout(module: Any) -> dict[str, Any]:
    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
        output = layer(*args, **kwargs)
        return output * 3 if isinstance(layer, module.layers.Dense) else output

    return {"call_function": call}


def wider(module: Any) -> dict[str, Any]:
    def clone(layer: Any) -> Any:
        config = layer.get_config()
        if "units" in config:
            config["use_bias"] = False
        return layer.__class__.from_config(config)

    return {"clone_function": clone}


def deeply(module: Any) -> dict[str, Any]:
    return {**wider(module), "recursive": True}


@pytest.mark.parametrize(
    "make, options",
    [
        (row, dict),
        (row, wider),
        (graph, dict),
        (graph, with_dropout),
        (graph, wider),
        (graph, deeply),
        (nested, wider),
        (nested, deeply),
    ],
)
def test_clones(make: Any, options: Any) -> None:
    texts = []
    for module in (ours, keras):
        begin()
        model = make(module)
        options_of_call = {} if options is dict else options(module)
        clone = module.models.clone_model(model, **options_of_call)
        texts.append(json.loads(clone.to_json()))
        assert type(clone) is type(model)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("make", [row, graph, nested])
def test_weights_are_new(make: Any) -> None:
    model = make(ours)
    clone = ours.models.clone_model(model)
    own = {id(weight) for weight in model.weights}
    assert not any(id(weight) in own for weight in clone.weights)
    assert not np.allclose(model.get_weights()[0], clone.get_weights()[0])
    clone.set_weights(model.get_weights())
    x = wt.tensor(np.random.default_rng(1).normal(size=(3, 4)))
    value = {"x": x} if make is graph else x
    pairs = zip(ours.tree.flatten(model(value)), ours.tree.flatten(clone(value)), strict=True)
    for output, cloned_output in pairs:
        np.testing.assert_allclose(np.asarray(output), np.asarray(cloned_output))


def test_other_inputs() -> None:
    for module in (ours, keras):
        wide = module.Input((6, 4), name="wide")
        assert module.models.clone_model(row(module), wide).output_shape == (None, 6, 2)
        single = module.Model(x := module.Input((4,)), module.layers.Dense(2)(x))
        assert module.models.clone_model(single, wide).output_shape == (None, 6, 2)


def test_clones_are_compiled_alike() -> None:
    model = row(ours)
    model.compile("sgd", "mse")
    assert ours.models.clone_model(model).compiled
    assert not ours.models.clone_model(row(ours)).compiled


def test_written_classes() -> None:
    class Written(ours.Model):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.units = units
            self.dense = ours.layers.Dense(units)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

        def get_config(self) -> dict[str, Any]:
            return {"units": self.units}

    clone = ours.models.clone_model(Written(3))
    assert isinstance(clone, Written)
    assert clone.units == 3
    with pytest.raises(ValueError, match="clone_function is for Sequential or functional models"):
        ours.models.clone_model(clone, clone_function=lambda layer: layer)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="call_function is for functional models only"):
        ours.models.clone_model(row(ours), call_function=lambda layer, x: layer(x))
    with pytest.raises(ValueError, match="input_tensors must be one symbolic tensor"):
        ours.models.clone_model(row(ours), wt.ones((2, 4)))
    with pytest.raises(ValueError, match="input_tensors must be 1 symbolic tensors"):
        ours.models.clone_model(graph(ours), [])


@pytest.mark.parametrize("make", [row, graph, nested])
def test_models_of_json(make: Any) -> None:
    begin()
    mine, theirs = make(ours), make(keras)
    read = ours.models.model_from_json(theirs.to_json())
    assert [weight.shape for weight in read.weights] == [weight.shape for weight in mine.weights]
    assert json.loads(ours.models.model_from_json(mine.to_json()).to_json()) == json.loads(
        mine.to_json()
    )
    again = keras.models.model_from_json(mine.to_json())
    assert [weight.shape for weight in again.weights] == [weight.shape for weight in theirs.weights]


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "this is no JSON"),
        ("[" * 100_000, "this is no JSON"),
        ('{"class_name": "Dense", "module": "keras.layers", "config": {"units": 1}}', "no model"),
        ('{"class_name": "Dens", "config": {}}', "did you mean 'Dense'"),
    ],
)
def test_wrong_json(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ours.models.model_from_json(text)
