"""Models are put together, named, counted and written as Keras does it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tests_py.closeness import assert_close
from webtensor import keras as ours
from webtensor.keras.names import forget_names
from webtensor.nest import map_structure

RANDOM = np.random.default_rng(0)


def sequential(k: Any) -> Any:
    return k.Sequential(
        [
            k.layers.Input((4,)),
            k.layers.Dense(3, activation="relu", kernel_regularizer="l2"),
            k.layers.Dense(2, name="last"),
        ]
    )


def deferred(k: Any) -> Any:
    model = k.Sequential([k.layers.Dense(3), k.layers.Dense(2)])
    model.build((None, 7))
    return model


def shared(k: Any) -> Any:
    x = k.Input((4,), name="first")
    dense = k.layers.Dense(4)
    return k.Model(x, k.layers.Dense(1)(dense(dense(x))))


def nested(k: Any) -> Any:
    inner_input = k.Input((4,))
    dense = k.layers.Dense(4)
    once = dense(inner_input)
    inner = k.Model(inner_input, [once, dense(once)], name="inner")
    x = k.Input((4,))
    first, second = inner(x)
    again = inner(second)
    return k.Model(x, [k.layers.Dense(1)(again[0]), first])


def nested_sequential(k: Any) -> Any:
    x = k.Input((4,))
    return k.Model(x, sequential(k)(k.layers.Dense(4)(x)))


def named(k: Any) -> Any:
    x, y = k.Input((3,), name="x"), k.Input((4,), name="y")
    p, q = k.layers.Dense(2, name="p")(x), k.layers.Dense(2, name="q")(y)
    return k.Model({"x": x, "y": y}, {"p": p, "q": q}, name="of_names")


def listed(k: Any) -> Any:
    x, y = k.Input((3,), name="x"), k.Input((4,), name="y")
    return k.Model([x, y], [k.layers.Dense(2)(y), k.layers.Dense(5)(x)])


MODELS = [sequential, deferred, shared, nested, nested_sequential, named, listed]


def both(make: Callable[[Any], Any]) -> tuple[Any, Any]:
    forget_names()
    keras.utils.clear_session(free_memory=False)
    mine, theirs = make(ours), make(keras)
    mine.set_weights(theirs.get_weights())
    return mine, theirs


def inputs_for(model: Any, rows: int = 5) -> Any:
    """Random inputs in the structure that the model takes."""

    def filled(symbol: Any) -> Any:
        return RANDOM.normal(size=(rows, *symbol.shape[1:])).astype("float32")

    return map_structure(filled, model.input)


def flat(structure: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in keras.tree.flatten(structure)]


def without_nones(config: Any) -> Any:
    """A configuration without arguments that are None, which only some writers write."""
    if isinstance(config, dict):
        return {key: without_nones(value) for key, value in config.items() if value is not None}
    return [without_nones(value) for value in config] if isinstance(config, list) else config


@pytest.mark.parametrize("make", MODELS)
def test_same_outputs(make: Callable[[Any], Any], backend: str) -> None:
    mine, theirs = both(make)
    x = inputs_for(mine)
    for got, expected in zip(flat(mine(x)), flat(theirs(x)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    for got, expected in zip(
        flat(mine.predict(x, verbose=0)), flat(theirs.predict(x, verbose=0)), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", MODELS)
def test_same_weights_and_names(make: Callable[[Any], Any]) -> None:
    mine, theirs = both(make)
    assert [(weight.path, weight.shape) for weight in mine.weights] == [
        (weight.path, tuple(weight.shape)) for weight in theirs.weights
    ]
    assert [layer.name for layer in mine.layers] == [layer.name for layer in theirs.layers]
    assert mine.count_params() == theirs.count_params()
    assert mine.input_shape == theirs.input_shape
    assert mine.output_shape == theirs.output_shape
    if not isinstance(theirs, keras.Sequential):
        assert mine.output_names == theirs.output_names


@pytest.mark.parametrize("make", MODELS)
def test_same_configuration_and_back(make: Callable[[Any], Any]) -> None:
    mine, theirs = both(make)
    written = json.loads(mine.to_json())
    assert without_nones(written) == without_nones(json.loads(theirs.to_json()))
    x = inputs_for(mine)
    for config in (written, json.loads(theirs.to_json())):
        again = ours.saving.deserialize_keras_object(config)
        again.set_weights(mine.get_weights())
        for got, expected in zip(flat(again(x)), flat(mine(x)), strict=True):
            np.testing.assert_array_equal(got, expected)
        assert json.loads(again.to_json()) == written
    back = keras.saving.deserialize_keras_object(written)
    back.set_weights(mine.get_weights())
    for got, expected in zip(flat(back(x)), flat(mine(x)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_a_model_from_the_middle_of_another() -> None:
    mine, _ = both(shared)
    features = ours.Model(mine.inputs, mine.get_layer(index=2).output)
    assert features.weights == mine.weights


def test_a_model_up_to_a_sequential_model() -> None:
    mine, theirs = both(nested_sequential)
    for k, model in ((ours, mine), (keras, theirs)):
        inner = model.get_layer(index=2)
        assert inner.output is model.output
        assert k.Model(model.input, inner.input).output_shape == (None, 4)


def test_freezing() -> None:
    mine, theirs = both(nested_sequential)
    for model in (mine, theirs):
        model.layers[2].trainable = False
    paths = [weight.path for weight in theirs.trainable_weights]
    assert [weight.path for weight in mine.trainable_weights] == paths
    paths = [weight.path for weight in theirs.non_trainable_weights]
    assert [weight.path for weight in mine.non_trainable_weights] == paths
    for model in (mine, theirs):
        model.trainable = False
        assert model.trainable_weights == []
        model.trainable = True
        assert len(model.trainable_weights) == len(model.weights)


class Doubled(ours.Model):
    """A class of a user's."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.parts: dict[str, Any] = {
            "dense": ours.layers.Dense(units),
            "list": [ours.layers.Dense(2)],
        }

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        return self.parts["list"][0](self.parts["dense"](inputs) * (2 if training else 1))


def test_subclassed_models() -> None:
    model = Doubled(3, name="doubled")
    x = RANDOM.normal(size=(2, 4)).astype("float32")
    y = model(x)
    assert y.shape == (2, 2)
    assert model.weights[0].path == f"doubled/{model.parts['dense'].name}/kernel"
    p, q = model.get_weights()[0], model.get_weights()[2]
    assert_close(y.numpy(), x @ p @ q, rtol=1e-5)
    assert_close(model(x, training=True).numpy(), 2 * x @ p @ q, rtol=1e-5)
    config = model.get_config()
    assert config["units"] == 3
    assert Doubled.from_config(config).units == 3
    symbolic = ours.Input((4,))
    outer: Any = ours.Model(symbolic, model(symbolic))
    assert outer.output_shape == (None, 2)
    assert_close(outer(x).numpy(), y.numpy(), rtol=1e-6)


def joined(k: Any) -> Any:
    """The class of a model with several inputs, which counts its calls."""

    class Joined(k.Model):  # type: ignore[misc]
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.dense, self.calls = k.layers.Dense(2), 0

        def call(self, x: Any, y: Any, state: Any = None) -> Any:
            self.calls += 1
            return self.dense(x) + y, state

    return Joined


def test_subclassed_models_with_several_inputs(tmp_path: Path) -> None:
    classes = {k: joined(k) for k in (ours, keras)}
    inputs = [np.ones((4, 3), "float32"), np.ones((4, 2), "float32"), np.ones(4, "float32")]
    mine = classes[ours](name="joined")
    mine(*inputs)
    assert mine.calls == 1
    mine.save(tmp_path / "joined.keras")
    for k, cls in classes.items():
        loaded = k.saving.load_model(tmp_path / "joined.keras", custom_objects={"Joined": cls})
        assert loaded.built
        assert_close(loaded(*inputs)[0], mine(*inputs)[0], rtol=1e-5)


def test_a_class_that_is_functional() -> None:
    class Twice(ours.Model):
        def __init__(self) -> None:
            x = ours.Input((3,))
            super().__init__(inputs=x, outputs=ours.layers.Dense(1)(x))

    twice: Any = Twice()
    assert twice.output_shape == (None, 1)


@pytest.mark.parametrize("k", [keras, ours], ids=["theirs", "ours"])
def test_a_functional_class_ignores_keywords_that_it_does_not_know(k: Any) -> None:
    class Network(k.Model):  # type: ignore[misc]
        def __init__(self, **others: Any) -> None:
            x = k.Input((3,))
            super().__init__(inputs=x, outputs=k.layers.Dense(1)(x), **others)

    network = Network(name="network", trainable=False, image_shape=(8, 8, 3), dtype="float16")
    assert (network.name, network.trainable) == ("network", False)
    assert (network.dtype_policy.name, network.compute_dtype) == ("float32", "float32")


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda k: sequential(k)(np.ones((2, 5))), r"size 4 on axis -1.*\(2, 5\)"),
        (lambda k: k.layers.Dense(0), "units.*positive"),
        (lambda k: k.layers.Dense(2)(np.ones(3)), "at least 2 axes.*(3,)"),
        (lambda k: k.layers.Dense(2, unit=3), "unit"),
        (lambda k: k.Sequential([3]), "layer is wanted.*3"),
        (lambda k: k.Sequential([k.layers.Dense(1, name="a")] * 2), "two layers 'a'"),
        (lambda k: sequential(k).get_layer("lost"), "'lost'.*'last'"),
        (lambda k: sequential(k).get_layer(index=9), "9.*2 layers"),
        (lambda k: k.layers.Dense(2).count_params(), "not built"),
        (lambda k: sequential(k).set_weights([1]), "4 weights.*1"),
        (lambda k: k.Model(k.Input((2,)), k.layers.Dense(1)(k.Input((2,)))), "inputs alone"),
        (lambda k: k.layers.Dense(1, name="a/b"), "name.*'a/b'"),
        (lambda k: float(k.Input((2,))), "symbolic"),
        (lambda k: named(k)({"x": np.ones((1, 3))}), r"needs inputs \['x', 'y'\]"),
        (lambda k: listed(k)([np.ones((1, 3))]), "2 inputs, but got 1"),
        (lambda k: listed(k)(k.Input((3,))), "2 inputs, but got 1"),
        (lambda k: named(k)({"x": k.Input((3,))}), r"needs inputs \['x', 'y'\]"),
        (lambda k: sequential(k)([k.Input((4,)), k.Input((4,))]), "1 inputs, but got 2"),
        (lambda k: sequential(k)(k.Input((5,))), r"size 4 on axis -1.*\(None, 5\)"),
        (lambda k: k.Sequential([k.Input((3,)), listed(k)]), "2 inputs, but got 1"),
        (lambda k: k.layers.Dense(2, dtype="mixed_float15"), "mixed"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[Any], Any], says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        call(ours)


@pytest.mark.parametrize(
    "config, says",
    [
        ({"class_name": "Lost", "config": {}, "module": "keras.layers"}, "'Lost'"),
        ({"class_name": "Dense", "config": 3, "module": "keras.layers"}, "mapping, but is 3"),
        ({"class_name": "Dense", "config": {"units": "a"}, "module": "keras.layers"}, "units"),
        ({"class_name": "Dense", "config": {}, "module": "keras.layers"}, "units"),
        ({"class_name": "__lambda__", "config": {"value": "x"}}, "code"),
        ({"class_name": "system", "config": {}, "module": "os"}, "'system'"),
        ({"class_name": "function", "config": "system", "module": "os"}, "'system'"),
        ({"class_name": "Functional", "config": {}, "module": "keras"}, "no list of layers"),
        ({"class_name": 3, "config": {}}, "class_name"),
    ],
)
def test_configurations_are_not_trusted(config: Any, says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        ours.saving.deserialize_keras_object(config)


def test_circles_and_lost_places_in_configurations() -> None:
    config = json.loads(both(shared)[0].to_json())
    nodes = config["config"]["layers"][1]["inbound_nodes"]
    history = nodes[0]["args"][0]["config"]["keras_history"]
    history[:] = ["dense", 1, 0]
    with pytest.raises(ValueError, match="wait for each other"):
        ours.saving.deserialize_keras_object(config)
    history[:] = ["nowhere", 0, 0]
    with pytest.raises(ValueError, match="nowhere"):
        ours.saving.deserialize_keras_object(config)
    history[:] = ["first", 0, 7]
    with pytest.raises(ValueError, match="no layer's output"):
        ours.saving.deserialize_keras_object(config)


def test_deep_configurations_are_refused() -> None:
    config: Any = 1
    for _ in range(5000):
        config = [config]
    with pytest.raises(ValueError, match="deep"):
        ours.saving.deserialize_keras_object(config)


@pytest.mark.parametrize("wrap", [lambda symbol: [symbol], lambda symbol: {"x": symbol}])
def test_a_model_of_one_input_takes_a_tensor_without_a_warning(wrap: Callable[[Any], Any]) -> None:
    inputs = ours.Input((2,))
    model = ours.Model(wrap(inputs), ours.layers.Dense(3)(inputs))
    ones = np.ones((4, 2), "float32")
    assert model(ones).shape == model.predict(ones, verbose=0).shape == (4, 3)


@pytest.mark.parametrize("k", [keras, ours], ids=["theirs", "ours"])
def test_a_model_of_one_input_warns_of_inputs_that_it_does_not_use(k: Any) -> None:
    inputs = k.Input((2,), name="x")
    model = k.Model(inputs, k.layers.Dense(3)(inputs))
    ones = np.ones((4, 2), "float32")
    with pytest.warns(UserWarning, match="inputs"):
        assert model({"x": ones, "y": ones}).shape == (4, 3)


@pytest.mark.parametrize("given", ["float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_inputs_are_converted_to_the_dtypes_of_a_models_inputs(dtype: str, given: str) -> None:
    def outputs(k: Any) -> Any:
        symbol = k.Input((3,), dtype=dtype)
        model = k.Model(symbol, k.layers.Identity()(symbol))
        x = np.array([[-1.7, 0, 2.6]]).astype(given)
        return [model.predict(x, verbose=0), np.asarray(model(x))]

    for mine, theirs in zip(outputs(ours), outputs(keras), strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)


def test_structures() -> None:
    structure = {"b": [1, (2, 3)], "a": 4}
    for tree in (ours.tree, keras.tree):
        assert tree.flatten(structure) == [4, 1, 2, 3]
        assert tree.map_structure(lambda x: -x, structure) == {"b": [-1, (-2, -3)], "a": -4}
        assert tree.pack_sequence_as(structure, [5, 6, 7, 8]) == {"b": [6, (7, 8)], "a": 5}
        tree.assert_same_structure(structure, {"b": [0, (0, 0)], "a": 0})
        with pytest.raises(ValueError):
            tree.assert_same_structure(structure, {"b": [0, [0, 0]], "a": 0})
        with pytest.raises(ValueError):
            tree.pack_sequence_as(structure, [5])


def test_a_call_s_mode_is_that_of_all_layers() -> None:
    ones = np.ones((1, 1000), "float32")
    results = []
    for k in (ours, keras):
        x = k.Input((1000,))
        baked = k.Model(x, k.layers.Dropout(0.5)(x, training=True))
        frozen = k.Model(x, k.layers.Dropout(0.5)(x, training=False))
        steps = k.Input((5, 4))
        recurrent = k.Model(steps, k.layers.LSTM(3, dropout=0.5)(steps))
        sequence = np.ones((1, 5, 4), "float32")
        outputs = [
            baked(ones),
            baked(ones, training=False),
            baked.predict(ones, verbose=0),
            frozen(ones),
            frozen(ones, training=True),
        ]
        varies = [
            np.ptp([np.asarray(recurrent(sequence, training=mode)) for _ in range(6)], axis=0).max()
            > 0
            for mode in (True, False, None)
        ]
        results.append([*(bool((np.asarray(output) == 0).any()) for output in outputs), *varies])
    assert results[0] == results[1] == [True, False, False, False, True, True, False, False]


@pytest.mark.parametrize("k", [keras, ours], ids=["theirs", "ours"])
def test_build_of_a_subclass_may_call_that_of_model(k: Any) -> None:
    class Scaled(k.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = k.layers.Dense(3)

        def build(self, x_shape: Any) -> None:
            super().build(x_shape)

        def call(self, x: Any, scale: Any) -> Any:
            return self.dense(x) * scale

    model = Scaled()
    assert tuple(model(np.ones((2, 4), "float32"), np.ones(3, "float32")).shape) == (2, 3)
    assert [tuple(weight.shape) for weight in model.weights] == [(4, 3), (3,)]
