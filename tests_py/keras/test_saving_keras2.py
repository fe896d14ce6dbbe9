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
from webtensor.keras.saving.keras2_configs import modernized
from webtensor.keras.saving.older_objects import old_hard_sigmoid

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
    with pytest.raises(TypeError, match="DepthwiseConv2D: unknown argument 'groups'"):
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


def locally_connected(x: Any, kernel: Any, bias: Any, strides: tuple[int, ...]) -> Any:
    """Each position of the outputs, one after another."""
    counts = bias.shape[:-1]
    outputs = np.zeros((len(x), *bias.shape))
    size = [
        (x.shape[1 + axis] - (count - 1) * step)
        for axis, (count, step) in enumerate(zip(counts, strides, strict=True))
    ]
    for number, position in enumerate(np.ndindex(*counts)):
        window = tuple(
            slice(index * step, index * step + length)
            for index, step, length in zip(position, strides, size, strict=True)
        )
        values = x[(slice(None), *window)].reshape(len(x), -1)
        outputs[(slice(None), *position)] = values @ kernel[number] + bias[position]
    return outputs


@pytest.mark.parametrize("rank, strides", [(1, (1,)), (1, (2,)), (2, (1, 1)), (2, (1, 2))])
def test_locally_connected_layers(rank: int, strides: tuple[int, ...], tmp_path: Path):
    config = convolution(rank, padding="valid", strides=list(strides), activation="linear")
    for name in ("dilation_rate", "groups"):
        del config[name]
    kind = f"LocallyConnected{rank}D"
    shape = (5,) * rank
    layers = [
        keras2_input("x", *shape, 2),
        keras2_layer(kind, "local", [["x", 0, 0, {}]], **config, implementation=1),
    ]
    model = randomized(functional(layers, [["x", 0, 0]], [["local", 0, 0]]))
    x = normal(2, *shape, 2)
    kernel, bias = model.get_weights()
    expected = locally_connected(x, kernel, bias, strides)
    assert model.output_shape == (None, *expected.shape[1:])
    np.testing.assert_allclose(model(x).numpy(), expected, rtol=1e-4, atol=1e-5)
    model.save(tmp_path / "m.keras")
    again = ours.saving.load_model(tmp_path / "m.keras")
    np.testing.assert_array_equal(again(x).numpy(), model(x).numpy())
    with pytest.raises(ValueError, match=f"{kind}: implementation must be 1, but is 2"):
        modernized_layer(kind, **config, implementation=2)


def test_batch_renormalization_is_refused():
    assert modernized_layer("BatchNormalization", renorm=False).name == "layer"
    with pytest.raises(ValueError, match="BatchNormalization: renorm must be False, but is True"):
        modernized_layer("BatchNormalization", renorm=True, renorm_momentum=0.9)


def modernized_layer(kind: str, **config: Any) -> Any:
    return deserialize_keras_object(modernized(keras2_layer(kind, "layer", **config)))


@pytest.mark.parametrize(
    "kind, config",
    [
        ("SpatialDropout1D", {"rate": 0.5}),
        ("Discretization", {"bin_boundaries": [0.0], "num_bins": None}),
    ],
)
def test_first_layers_that_take_no_shape(kind: str, config: dict[str, Any]):
    first = keras2_layer(kind, "first", batch_input_shape=[None, 4, 3], **config)
    sequential = {"class_name": "Sequential", "config": {"name": "m", "layers": [first]}}
    model = deserialize_keras_object(modernized(sequential))
    assert model.input_shape == (None, 4, 3)


def test_adapted_discretization(tmp_path: Path):
    """The numbers that it saw are a weight, of which the boundaries are computed."""
    adapted = ours.layers.Discretization(num_bins=4, name="bins")
    adapted.adapt(np.arange(20, dtype="float32"))
    model = ours.Sequential([ours.Input((3,)), adapted, ours.layers.Dense(2, name="d")])
    model.save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5", "r+") as file:
        del file.attrs["webtensor_checksum"]
        described = json.loads(file.attrs["model_config"])
        described["config"]["layers"][1]["config"]["bin_boundaries"] = None
        file.attrs["model_config"] = json.dumps(described)
        group = file["model_weights/bins"]
        group.attrs["weight_names"] = ["summary:0"]
        summary = adapted.summary
        group["summary:0"] = np.array([summary.values, summary.weights], "float32")
    x = np.array([[-1.0, 5.0, 30.0]], "float32")
    again = ours.saving.load_model(tmp_path / "m.h5")
    np.testing.assert_array_equal(again(x).numpy(), model(x).numpy())
    with h5py.File(tmp_path / "m.h5", "r+") as file:
        del file["model_weights/bins/summary:0"]
        file["model_weights/bins/summary:0"] = np.zeros((3, 3), "float32")
    with pytest.raises(ValueError, match=r"the summary must have shape \(2, numbers\)"):
        ours.saving.load_model(tmp_path / "m.h5")


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


def test_bidirectional_of_a_layer_that_goes_backwards():
    """The other layer goes forwards, while Keras 3 makes it go backwards, too."""
    inner = keras2_layer("LSTM", "lstm", **GATES, go_backwards=True, return_sequences=True)
    layers = [
        keras2_input("x", 5, 2),
        keras2_layer("Bidirectional", "both", [["x", 0, 0, {}]], layer=inner, merge_mode="sum"),
    ]
    model = functional(layers, [["x", 0, 0]], [["both", 0, 0]])
    assert [
        model.layers[1].forward_layer.go_backwards,
        model.layers[1].backward_layer.go_backwards,
    ] == [True, False]
    arguments = {"return_sequences": True}
    theirs = keras.Sequential(
        [
            keras.Input((5, 2)),
            keras.layers.Bidirectional(
                keras.layers.LSTM(3, go_backwards=True, **arguments),
                merge_mode="sum",
                backward_layer=keras.layers.LSTM(3, **arguments),
            ),
        ]
    )
    randomized(theirs)
    model.set_weights(theirs.get_weights())
    x = normal(2, 5, 2)
    np.testing.assert_allclose(model(x).numpy(), theirs.predict(x, verbose=0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name, gates", [("LSTM", 4), ("GRU", 3)])
def test_layers_of_cudnn(name: str, gates: int, tmp_path: Path):
    """Each gate has a matrix of shape (units, inputs); an LSTM is to have one bias, a GRU two."""
    inputs, recurrent, biases = normal(gates, 3, 2), normal(gates, 3, 3), normal(2, gates * 3)
    model = ours.Sequential([ours.Input((5, 2)), getattr(ours.layers, name)(3, name="r")])
    expected = [
        np.concatenate([matrix.T for matrix in inputs], 1),
        np.concatenate([matrix.T for matrix in recurrent], 1),
        biases.sum(0) if name == "LSTM" else biases,
    ]
    model.save(tmp_path / "m.h5")
    config = {"name": "r", "units": 3, "return_sequences": False, "time_major": False}
    layers = [
        {"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [None, 5, 2]}},
        {"class_name": f"CuDNN{name}", "config": config},
    ]
    topology = {"class_name": "Sequential", "config": {"name": "m", "layers": layers}}
    arrays = [
        np.concatenate([matrix.reshape(2, 3) for matrix in inputs], 1),
        np.concatenate([*recurrent], 1),
        biases.ravel(),
    ]
    with h5py.File(tmp_path / "m.h5", "r+") as file:
        del file.attrs["webtensor_checksum"]
        file.attrs["model_config"] = json.dumps(topology)
        file.attrs["keras_version"] = "2.2.4"
        group = file["model_weights/r"]
        for path, array in zip(group.attrs["weight_names"], arrays, strict=True):
            del group[path]
            group[path] = array
    again = ours.saving.load_model(tmp_path / "m.h5")
    for value, other in zip(again.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(value, other)


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


# -- functions of TensorFlow -------------------------------------------------------------------


def lambda_call(kind: str, function: str, *calls: Any) -> dict[str, Any]:
    """The entry of a function of TensorFlow; each call has no list of histories of its own."""
    return keras2_layer(kind, "call", *calls, function=function)


def called(function: str, operands: list[Any], kind: str = "TFOpLambda") -> Any:
    """What a model computes of `x` of shape (batch, 2, 3), or of `x` and `y`."""
    layers = [
        *(keras2_input("x", 2, 3), keras2_input("y", 2, 3)),
        lambda_call(kind, function, operands),
    ]
    ends = [[name, 0, 0] for name in "xy"]
    model = functional(layers, ends, [["call", 0, 0]])
    return model([X, Y]).numpy()


X, Y = (np.random.default_rng(seed).normal(size=(2, 2, 3)).astype("float32") for seed in (1, 2))
NO_SLICE = {"start": None, "stop": None, "step": None}


@pytest.mark.parametrize(
    "function, operands, expected",
    [
        ("__operators__.add", ["x", 0, 0, {"y": 1.0, "name": None}], X + 1),
        ("math.subtract", ["_CONSTANT_VALUE", -1, 1.0, {"y": ["x", 0, 0]}], 1 - X),
        ("math.multiply", ["x", 0, 0, {"y": ["y", 0, 0], "name": None}], X * Y),
        ("math.multiply", ["x", 0, 0, {"y": [1.0, 2.0, 3.0]}], X * [1, 2, 3]),
        ("math.truediv", ["x", 0, 0, {"y": 4.0}], X / 4),
        ("math.floormod", ["x", 0, 0, {"y": 0.5}], X % 0.5),
        ("math.pow", ["x", 0, 0, {"y": 2.0}], X**2),
        ("math.add_n", [["x", 0, 0, {}], ["y", 0, 0, {}]], X + Y),
        ("nn.relu6", ["x", 0, 0, {}], X.clip(0, 6)),
        ("nn.leaky_relu", ["x", 0, 0, {"alpha": 0.1}], np.where(X > 0, X, X * 0.1)),
        ("math.reduce_mean", ["x", 0, 0, {"axis": [1, 2]}], X.mean((1, 2))),
        ("math.reduce_sum", ["x", 0, 0, {"axis": 1, "keepdims": True}], X.sum(1, keepdims=True)),
        ("math.reduce_max", ["x", 0, 0, {"axis": -1}], X.max(-1)),
        ("concat", [["x", 0, 0, {"axis": 1}], ["y", 0, 0, {"axis": 1}]], np.concatenate([X, Y], 1)),
        ("stack", [["x", 0, 0, {"axis": 2}], ["y", 0, 0, {"axis": 2}]], np.stack([X, Y], 2)),
        ("reshape", ["x", 0, 0, {"shape": [-1, 6]}], X.reshape(-1, 6)),
        ("compat.v1.transpose", ["x", 0, 0, {"perm": [0, 2, 1]}], X.transpose(0, 2, 1)),
        ("expand_dims", ["x", 0, 0, {"axis": 1}], X[:, None]),
        ("clip_by_value", ["x", 0, 0, {"clip_value_min": -1.0, "clip_value_max": 1.0}],
         X.clip(-1, 1)),
        ("linalg.matmul", ["x", 0, 0, {"b": ["y", 0, 0], "transpose_b": True}],
         X @ Y.transpose(0, 2, 1)),
        ("math.l2_normalize", ["x", 0, 0, {"axis": -1}],
         X / np.linalg.norm(X, axis=-1, keepdims=True)),
        ("compat.v1.pad", ["x", 0, 0, {"paddings": [[0, 0], [1, 0], [0, 0]], "mode": "CONSTANT"}],
         np.pad(X, ((0, 0), (1, 0), (0, 0)))),
        ("compat.v1.gather", ["x", 0, 0, {"indices": [2, 0], "axis": 2}], X[..., [2, 0]]),
        ("math.argmax", ["x", 0, 0, {"axis": -1}], X.argmax(-1)),
        ("split", ["x", 0, 0, {"num_or_size_splits": [1, 1], "axis": 1}], X[:, :1]),
        ("math.top_k", ["x", 0, 0, {"k": 2}], np.sort(X)[..., :0:-1]),
        ("identity", ["x", 0, 0, {}], X),
    ],
)  # fmt: skip
def test_function_of_tensorflow(function: str, operands: list[Any], expected: Any):
    np.testing.assert_allclose(called(function, operands), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "slice_spec, expected",
    [
        ([NO_SLICE, {"start": 1, "stop": 2, "step": None}], X[:, 1:2]),
        ([NO_SLICE, 0], X[:, 0]),
        ([NO_SLICE, None, NO_SLICE, -1], X[:, None, :, -1]),
        ([{"class_name": "__ellipsis__"}, {"start": None, "stop": None, "step": 2}], X[..., ::2]),
    ],
)
def test_slice_of_tensorflow(slice_spec: list[Any], expected: Any):
    operands = ["x", 0, 0, {"slice_spec": slice_spec}]
    result = called("__operators__.getitem", operands, "SlicingOpLambda")
    np.testing.assert_array_equal(result, expected)


def test_shape_of_tensorflow():
    """Flattening with the size of the batch that is known only when the model runs."""
    size = ["_", 0, 0]
    layers = [
        keras2_input("x", 2, 3),
        keras2_layer("TFOpLambda", "shape", ["x", 0, 0, {}], function="compat.v1.shape"),
        keras2_layer(
            *("SlicingOpLambda", "size", ["shape", 0, 0, {"slice_spec": 0}]),
            function="__operators__.getitem",
        ),
        keras2_layer(
            *("TFOpLambda", "rows", ["x", 0, 0, {"shape": [["size", *size[1:]], -1]}]),
            function="reshape",
        ),
    ]
    model = functional(layers, [["x", 0, 0]], [["rows", 0, 0]])
    np.testing.assert_array_equal(model(X).numpy(), X.reshape(2, 6))


def test_models_with_functions_of_tensorflow_are_saved_for_keras_3(tmp_path: Path):
    """Names of operations are those of the layers, which are free in the model."""
    layers = [
        keras2_input("x", 2, 3),
        keras2_layer("TFOpLambda", "add", ["x", 0, 0, {"y": 3.0}], function="__operators__.add"),
        keras2_layer("ReLU", "relu", [["add", 0, 0, {}]], max_value=6.0),
        keras2_layer("Multiply", "add_1", [["relu", 0, 0, {}], ["x", 0, 0, {}]]),
    ]
    model = functional(layers, [["x", 0, 0]], [["add_1", 0, 0]])
    assert [operation.name for operation in model.operations] == ["x", "add", "relu", "add_1"]
    model.save(tmp_path / "m.keras")
    theirs = keras.saving.load_model(tmp_path / "m.keras")
    expected = (X + 3).clip(0, 6) * X
    np.testing.assert_allclose(theirs.predict(X, verbose=0), expected, rtol=1e-5)


@pytest.mark.parametrize(
    "function, operands, message",
    [
        ("einsum", ["x", 0, 0, {}], "function tf.einsum of a TFOpLambda is unknown"),
        ("os.system", ["x", 0, 0, {}], "function tf.os.system of a TFOpLambda is unknown"),
        ("math.add", [], "malformed call"),
        ("math.add", [["x"]], "malformed call of a function"),
        ("math.add", [3], "malformed call of a function"),
    ],
)
def test_unknown_or_malformed_functions(function: str, operands: list[Any], message: str):
    with pytest.raises(ValueError, match=message):
        called(function, operands)


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


def test_custom_objects_of_the_user_may_be_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keras's guides clear the dictionary; what older files name is not in it."""
    custom_objects = ours.saving.get_custom_objects()
    assert not any(name.startswith("webtensor>") for name in custom_objects)
    for name in list(custom_objects):
        monkeypatch.delitem(custom_objects, name)
    entry = keras2_layer("Dense", "dense", units=2, activation="hard_sigmoid")
    entry["config"]["batch_input_shape"] = [None, 3]
    config = {"class_name": "Sequential", "config": {"name": "model", "layers": [entry]}}
    model = ours.models.model_from_json(json.dumps({"keras_version": "2.4.0", **config}))
    assert model.layers[0].activation is old_hard_sigmoid


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
