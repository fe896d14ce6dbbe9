"""Configurations as Keras 2 and TensorFlow.js write them, compared with networks built directly."""

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import h5py
import keras
import numpy as np
import pytest

from tests_py.keras.saved_models import randomized
from webtensor import keras as ours
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.saving.keras2_configs import modernized, old_hard_sigmoid

GLOROT = {"class_name": "GlorotUniform", "config": {"seed": None}}
ZEROS: dict[str, Any] = {"class_name": "Zeros", "config": {}}
ONES: dict[str, Any] = {"class_name": "Ones", "config": {}}


def keras2_layer(class_name: str, name: str, *calls: Any, **config: Any) -> dict[str, Any]:
    """The entry of a layer; each call is a list of histories."""
    return {
        "class_name": class_name,
        "name": name,
        "config": {"name": name, "trainable": True, "dtype": "float32", **config},
        "inbound_nodes": list(calls),
    }


def keras2_input(name: str, *shape: int) -> dict[str, Any]:
    batch_shape = [None, *shape]
    return keras2_layer("InputLayer", name, batch_input_shape=batch_shape, sparse=False)


def functional(layers: list[Any], inputs: Any, outputs: Any) -> Any:
    """The model that a configuration of Keras 2 describes."""
    config = {"name": "model", "layers": layers, "input_layers": inputs, "output_layers": outputs}
    text = json.dumps({"class_name": "Functional", "config": config})
    return deserialize_keras_object(modernized(json.loads(text)))


def normal(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype("float32")


# -- arguments that Keras 3 removed ------------------------------------------------------------


def convolution(rank: int, **config: Any) -> dict[str, Any]:
    """What Keras 2 writes for any convolution; None leaves an argument out."""
    common = {
        "filters": 4,
        "kernel_size": [3] * rank,
        "strides": [1] * rank,
        "padding": "same",
        "data_format": "channels_last",
        "dilation_rate": [1] * rank,
        "groups": 1,
        "activation": "relu",
        "use_bias": True,
        "bias_initializer": ZEROS,
        "bias_regularizer": None,
        "activity_regularizer": None,
        "bias_constraint": None,
    }
    return {**common, **weight("kernel"), **config}


def weight(name: str) -> dict[str, Any]:
    return {f"{name}_initializer": GLOROT, f"{name}_regularizer": None, f"{name}_constraint": None}


def separable(rank: int) -> dict[str, Any]:
    kernels = {**weight("depthwise"), **weight("pointwise")}
    return convolution(rank, depth_multiplier=2, **kernels)


def depthwise(rank: int, **config: Any) -> dict[str, Any]:
    arguments = convolution(rank, depth_multiplier=2, **weight("depthwise"), **config)
    del arguments["filters"]
    return arguments


@pytest.mark.parametrize(
    "class_name, rank, config",
    [
        ("DepthwiseConv1D", 1, depthwise(1)),
        ("DepthwiseConv2D", 2, depthwise(2)),
        ("SeparableConv1D", 1, separable(1)),
        ("SeparableConv2D", 2, separable(2)),
        ("Conv1DTranspose", 1, convolution(1, output_padding=None)),
        ("Conv2DTranspose", 2, convolution(2, output_padding=None)),
        ("Conv3DTranspose", 3, convolution(3, output_padding=None)),
    ],
)
def test_convolution(class_name: str, rank: int, config: dict[str, Any]):
    shape = (4,) * rank + (3,)
    layers = [keras2_input("x", *shape), keras2_layer(class_name, "c", [["x", 0, 0, {}]], **config)]
    model = functional(layers, [["x", 0, 0]], [["c", 0, 0]])
    chosen = {name: config[name] for name in ("filters", "depth_multiplier") if name in config}
    layer = getattr(keras.layers, class_name)(
        kernel_size=3, padding="same", activation="relu", **chosen
    )
    theirs = randomized(keras.Sequential([keras.Input(shape), layer]))
    model.set_weights(theirs.get_weights())
    x = normal(2, *shape)
    np.testing.assert_allclose(model(x).numpy(), theirs.predict(x, verbose=0), rtol=1e-4, atol=1e-4)


def test_groups_of_a_convolution_without_groups():
    config = keras2_layer("DepthwiseConv2D", "c", **depthwise(2, groups=3))
    with pytest.raises(ValueError, match="DepthwiseConv2D: unknown argument 'groups'"):
        deserialize_keras_object(modernized(config))


@pytest.mark.parametrize("trainable", [True, False])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_spatial_dropout(rank: int, trainable: bool):
    config = {"rate": 0.5, "noise_shape": None, "seed": None, "trainable": trainable}
    layer = deserialize_keras_object(
        modernized(keras2_layer(f"SpatialDropout{rank}D", "dropout", **config))
    )
    x = np.ones((2, *[3] * rank, 8), "float32")
    np.testing.assert_array_equal(layer(x).numpy(), x)
    dropped = layer(x, training=True).numpy()
    assert set(np.unique(dropped)) == {0, 2}
    assert (dropped == dropped[(slice(None), *[slice(1)] * rank)]).all()


@pytest.mark.parametrize(
    "class_name, config, kind",
    [
        ("Discretization", {"batch_input_shape": [None], "bin_boundaries": [0.0]}, None),
        (
            "MultiHeadAttention",
            {"num_heads": 2, "key_dim": 2, "softmax_robust_masking": False},
            None,
        ),
        ("RandomFlip", {"mode": "horizontal", "rng_type": None}, None),
        ("SyncBatchNormalization", {"axis": [2]}, "BatchNormalization"),
    ],
)
def test_further_arguments(class_name: str, config: dict[str, Any], kind: str | None):
    layer = deserialize_keras_object(modernized(keras2_layer(class_name, "layer", **config)))
    assert type(layer).__name__ == (kind or class_name)


def test_discretization():
    config = {"bin_boundaries": [0.0, 1.0], "num_bins": None, "epsilon": 0.01}
    layer = deserialize_keras_object(
        modernized(keras2_layer("Discretization", "bins", output_mode="int", **config))
    )
    assert layer([[-1.0, 0.0, 0.5, 2.0]]).tolist() == [[0, 1, 1, 2]]


# -- recurrent layers --------------------------------------------------------------------------


def gru_cell(name: str) -> dict[str, Any]:
    """A cell as TensorFlow.js writes it."""
    config = {"units": 3, "activation": "tanh", "recurrent_activation": "sigmoid"}
    more = {"use_bias": True, "dropout": 0, "implementation": None, "reset_after": False}
    return {
        "class_name": "GRUCell",
        "config": {"name": name, "trainable": True, **config, **more, "activity_regularizer": None},
    }


@pytest.mark.parametrize("count", [1, 2])
def test_rnn_of_tensorflow_js(count: int):
    """Its configuration has the arguments of the cell, too."""
    cells = [gru_cell(f"cell{index}") for index in range(count)]
    stacked = {
        "class_name": "StackedRNNCells",
        "config": {"name": "stacked", "trainable": True, "cells": cells},
    }
    cell: dict[str, Any] = stacked if count > 1 else cells[0]
    config = {name: value for name, value in cell["config"].items() if name != "name"}
    config |= {"return_sequences": True, "unroll": False, "stateful": False, "cell": cell}
    layers = [keras2_input("x", 5, 2), keras2_layer("RNN", "rnn", [["x", 0, 0, {}]], **config)]
    model = functional(layers, [["x", 0, 0]], [["rnn", 0, 0]])
    their_cells = [keras.layers.GRUCell(3, reset_after=False) for _ in cells]
    layer = keras.layers.RNN(their_cells if count > 1 else their_cells[0], return_sequences=True)
    theirs = randomized(keras.Sequential([keras.Input((5, 2)), layer]))
    model.set_weights(theirs.get_weights())
    x = normal(2, 5, 2)
    np.testing.assert_allclose(model(x).numpy(), theirs.predict(x, verbose=0), rtol=1e-4, atol=1e-5)


def test_states_of_stacked_cells_of_tensorflow_js():
    cells = [gru_cell("a"), gru_cell("b")]
    stacked = {"class_name": "StackedRNNCells", "config": {"name": "stacked", "cells": cells}}
    config = keras2_layer("RNN", "rnn", cells=cells, cell=stacked, return_state=True)
    with pytest.raises(ValueError, match="RNN: return_state must be False"):
        modernized(config)


SIZES = {"units": 3, "use_bias": True, "activation": "tanh"}
GATES = {**SIZES, "recurrent_activation": "sigmoid"}


@pytest.mark.parametrize(
    "class_name, config, count",
    [
        ("SimpleRNN", SIZES, 1),
        ("GRU", {**GATES, "reset_after": True}, 1),
        ("LSTM", GATES, 2),
    ],
)
def test_encoder_and_decoder(class_name: str, config: dict[str, Any], count: int):
    """The initial state follows the input in the list of a call's inputs."""
    states = [["encoder", 0, index, {}] for index in range(1, count + 1)]
    sequences = {"return_sequences": True, "time_major": False}
    layers = [
        keras2_input("x", 5, 2),
        keras2_input("y", 4, 2),
        keras2_layer(class_name, "encoder", [["x", 0, 0, {}]], return_state=True, **config),
        keras2_layer(class_name, "decoder", [["y", 0, 0, {}], *states], **config, **sequences),
    ]
    model = functional(layers, [["x", 0, 0], ["y", 0, 0]], [["decoder", 0, 0]])
    x, y = keras.Input((5, 2)), keras.Input((4, 2))
    recurrent = getattr(keras.layers, class_name)
    _, *state = recurrent(3, return_state=True)(x)
    outputs = recurrent(3, return_sequences=True)(y, initial_state=state)
    theirs = randomized(keras.Model([x, y], outputs))
    model.set_weights(theirs.get_weights())
    values = [normal(2, 5, 2), normal(2, 4, 2)]
    expected = theirs.predict(values, verbose=0)
    np.testing.assert_allclose(model(values).numpy(), expected, rtol=1e-4, atol=1e-5)
    again = type(model).from_config(model.get_config())
    again.set_weights(theirs.get_weights())
    np.testing.assert_allclose(again(values).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_bidirectional_with_initial_state():
    inner = keras2_layer("GRU", "gru", **GATES, reset_after=True)
    del inner["inbound_nodes"], inner["name"]
    calls: list[Any] = [[name, 0, 0, {}] for name in ("x", "forward", "backward")]
    layers = [
        keras2_input("x", 5, 2),
        keras2_input("forward", 3),
        keras2_input("backward", 3),
        keras2_layer("Bidirectional", "both", calls, layer=inner, merge_mode="concat"),
    ]
    model = functional(layers, [call[:3] for call in calls], [["both", 0, 0]])
    symbols = [keras.Input((5, 2)), keras.Input((3,)), keras.Input((3,))]
    both = keras.layers.Bidirectional(keras.layers.GRU(3))
    theirs = randomized(keras.Model(symbols, both(symbols[0], initial_state=symbols[1:])))
    model.set_weights(theirs.get_weights())
    values = [normal(2, 5, 2), normal(2, 3), -normal(2, 3)]
    expected = theirs.predict(values, verbose=0)
    np.testing.assert_allclose(model(values).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_initial_state_of_stacked_cells_of_tensorflow_js():
    cells = [gru_cell("a"), gru_cell("b")]
    stacked = {"class_name": "StackedRNNCells", "config": {"name": "stacked", "cells": cells}}
    calls: list[Any] = [[name, 0, 0, {}] for name in ("x", "s", "t")]
    layers = [
        *(keras2_input("x", 5, 2), keras2_input("s", 3), keras2_input("t", 3)),
        keras2_layer("RNN", "rnn", calls, cells=cells, cell=stacked),
    ]
    with pytest.raises(ValueError, match="RNN: stacked cells in a layers-model must not have"):
        functional(layers, [call[:3] for call in calls], [["rnn", 0, 0]])


# -- arguments that are symbolic tensors -------------------------------------------------------


def test_multi_head_attention():
    """The value is a keyword argument, written as a history."""
    config: dict[str, Any] = {"num_heads": 2, "key_dim": 3, "value_dim": 3, "dropout": 0.0}
    config |= {"use_bias": True, "output_shape": None, "attention_axes": [1], **weight("kernel")}
    config |= {"query_shape": [None, 5, 4], "key_shape": [None, 6, 2], "value_shape": [None, 6, 2]}
    layers = [
        keras2_input("x", 5, 4),
        keras2_input("y", 6, 2),
        keras2_layer(
            "MultiHeadAttention", "attention", [["x", 0, 0, {"value": ["y", 0, 0]}]], **config
        ),
    ]
    model = functional(layers, [["x", 0, 0], ["y", 0, 0]], [["attention", 0, 0]])
    x, y = keras.Input((5, 4)), keras.Input((6, 2))
    theirs = randomized(keras.Model([x, y], keras.layers.MultiHeadAttention(2, 3)(x, y)))
    model.set_weights(theirs.get_weights())
    values = [normal(2, 5, 4), normal(2, 6, 2)]
    expected = theirs.predict(values, verbose=0)
    np.testing.assert_allclose(model(values).numpy(), expected, rtol=1e-4, atol=1e-5)


# -- inputs and outputs of a model -------------------------------------------------------------


def test_dictionaries_of_inputs_and_outputs():
    layers = [
        *(keras2_input("a", 2), keras2_input("b", 2)),
        keras2_layer("Subtract", "difference", [["b", 0, 0, {}], ["a", 0, 0, {}]]),
        keras2_layer("Add", "total", [["b", 0, 0, {}], ["a", 0, 0, {}]]),
    ]
    outputs = {"z": ["difference", 0, 0], "y": [["total", 0, 0], ["a", 0, 0]]}
    model = functional(layers, {"b": ["b", 0, 0], "a": ["a", 0, 0]}, outputs)
    results = model({"a": np.array([[1.0, 2.0]]), "b": np.array([[5.0, 7.0]])})
    assert results["z"].tolist() == [[4, 5]]
    assert [value.tolist() for value in results["y"]] == [[[6, 9]], [[1, 2]]]


def test_nested_lists_of_inputs():
    layers = [
        *(keras2_input("a", 2), keras2_input("b", 2), keras2_input("c", 2)),
        keras2_layer("Add", "total", [[name, 0, 0, {}] for name in "abc"]),
    ]
    inputs = [["a", 0, 0], [["b", 0, 0], ["c", 0, 0]]]
    model = functional(layers, inputs, ["total", 0, 0])
    first, second, third = np.array([[1.0, 2.0]]), np.array([[5.0, 7.0]]), np.array([[0.5, 0.0]])
    assert model([first, [second, third]]).tolist() == [[6.5, 9]]


@pytest.mark.parametrize("inputs", [7, None, ["a"], [["a", 0]], {"a": 3}])
def test_malformed_inputs(inputs: Any):
    with pytest.raises(ValueError, match="malformed inputs or outputs of a model"):
        functional([keras2_input("a", 2)], inputs, [["a", 0, 0]])


def test_arrays_in_configurations():
    """As Keras before 2.3 wrote them."""
    clipped = keras2_layer("ReLU", "relu", max_value={"type": "ndarray", "value": 6})
    constant = {"class_name": "Constant", "config": {"value": {"type": "ndarray", "value": 4}}}
    dense = keras2_layer("Dense", "d", units=1, kernel_initializer=constant)
    dense["config"]["batch_input_shape"] = [None, 1]
    config = {"class_name": "Sequential", "config": {"layers": [dense, clipped]}}
    model = deserialize_keras_object(modernized(config))
    assert model(np.array([[1], [2]], "float32")).numpy().tolist() == [[4], [6]]


# -- models from JSON --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda config: config,
        lambda config: {**config, "keras_version": "2.15.0", "backend": "tensorflow"},
        lambda config: {"keras_version": "tfjs-layers 4.22.0", "model_config": config},
        lambda config: {"modelTopology": {"model_config": config}, "weightsManifest": []},
    ],
)
def test_models_from_json(wrapped: Any):
    inner = {
        "class_name": "Sequential",
        "name": "inner",
        "config": [
            {
                "class_name": "Dense",
                "config": {
                    "name": "a/b",
                    "units": 2,
                    "batch_input_shape": [None, 3],
                    "activation": "hard_sigmoid",
                    "kernel_initializer": ONES,
                },
            }
        ],
        "inbound_nodes": [[["x", 0, 0, {}]]],
    }
    config = {
        "name": "model",
        "layers": [keras2_input("x", 3), inner],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["inner", 1, 0]],
    }
    text = json.dumps(wrapped({"class_name": "Model", "config": config}))
    model = ours.models.model_from_json(text)
    assert model.layers[-1].layers[-1].name == "a_b"
    np.testing.assert_allclose(model(np.full((1, 3), 0.5, "float32")), [[0.8, 0.8]], rtol=1e-6)


# -- archives ----------------------------------------------------------------------------------


def write_archive(path: Path, config: dict[str, Any], model: Any) -> None:
    """Write an archive as Keras 2.15 does, with the variables of a model and its optimizer."""
    model.save(path)
    with ZipFile(path) as archive:
        weights = io.BytesIO(archive.read("model.weights.h5"))
    with h5py.File(weights, "r+") as file:
        del file.attrs["webtensor_checksum"]
        state = file["optimizer/vars"]
        del state["1"]  # the learning rate
        for index in range(1, len(state)):
            state.move(str(index + 1), str(index))
    with ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "2.15.0"}))
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", weights.getvalue())


def test_archive_of_keras_2(tmp_path: Path):
    layers = [
        keras2_input("x", 4, 2),
        keras2_layer("Conv1D", "conv", [["x", 0, 0, {}]], **convolution(1)),
        keras2_layer("BatchNormalization", "norm", [["conv", 0, 0, {}]], axis=[2]),
        keras2_layer("Dense", "dense", [["norm", 0, 0, {}]], units=3, activation="hard_sigmoid"),
    ]
    adam = {"learning_rate": 0.1, "amsgrad": False, "is_legacy_optimizer": False}
    huber = {"reduction": "auto", "name": "huber_loss", "fn": "huber", "delta": 0.5}
    error = {"name": "mae", "dtype": "float32", "fn": "mean_absolute_error"}
    config = {
        "module": "keras.src.engine.functional",
        "class_name": "Functional",
        "config": {
            "name": "model",
            "layers": layers,
            "input_layers": [["x", 0, 0]],
            "output_layers": [["dense", 0, 0]],
        },
        "registered_name": "Functional",
        "compile_config": {
            "optimizer": {"module": "keras.optimizers", "class_name": "Adam", "config": adam},
            "loss": {"module": "keras.losses", "class_name": "Huber", "config": huber},
            "metrics": [{"class_name": "MeanMetricWrapper", "config": error}],
        },
    }
    model = ours.Sequential(
        [
            ours.Input((4, 2)),
            ours.layers.Conv1D(4, 3, padding="same", activation="relu"),
            ours.layers.BatchNormalization(),
            ours.layers.Dense(3, activation=old_hard_sigmoid),
        ]
    )
    model.compile(ours.optimizers.Adam(0.1), ours.losses.Huber(0.5), metrics=["mae"])
    x, y = normal(6, 4, 2), normal(6, 4, 3)
    model.fit(x, y, shuffle=False, verbose=0)
    write_archive(tmp_path / "old.keras", config, model)
    again = ours.saving.load_model(tmp_path / "old.keras")
    np.testing.assert_allclose(again(x).numpy(), model(x).numpy(), rtol=1e-5)
    for one in (model, again):
        history = one.fit(x, y, shuffle=False, verbose=0).history
        assert history.keys() == {"loss", "mae"}
    np.testing.assert_allclose(again(x).numpy(), model(x).numpy(), rtol=1e-4, atol=1e-5)
