"""Layers-models of TensorFlow.js, as far as they can be told without it; with what is refused.

`tests_browser/test_layers_models_against_tfjs.py` has both libraries in one page.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np
import pytest

from tests_py.keras.saved_models import MODELS, SavedModel, randomized, same, same_weights
from webtensor import ModelFormatError, keras as ours
from webtensor.keras.saving.keras2_configs import modernized
from webtensor.keras.saving.older_objects import old_hard_sigmoid
from webtensor.keras.saving.variable_store import saved_state

SAVEABLE = ("functional", "nested", "convolutional")


def files_of(model: Any, **changes: Any) -> dict[str, bytes]:
    """A layers-model, with other entries in model.json."""
    files = ours.saving.layers_model_files(model)
    return changed(files, changes)


def changed(files: dict[str, bytes], changes: dict[str, Any]) -> dict[str, bytes]:
    described = {**json.loads(files["model.json"]), **changes}
    return {**files, "model.json": json.dumps(described).encode()}


ADAM = {"class_name": "Adam", "config": {"learning_rate": 0.5}}


def small() -> Any:
    return ours.Sequential([ours.Input((2,), name="x"), ours.layers.Dense(3, name="d")], name="m")


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize("saved", [MODELS[name] for name in SAVEABLE], ids=SAVEABLE)
def test_there_and_back(saved: SavedModel, tmp_path: Path):
    model = randomized(saved.make(ours))
    ours.saving.save_layers_model(model, tmp_path / "folder")
    same(ours.saving.load_layers_model(tmp_path / "folder"), model, saved.inputs())
    path = tmp_path / "folder" / "model.json"
    same(ours.saving.load_layers_model(str(path)), model, saved.inputs())
    every = sorted((tmp_path / "folder").iterdir())
    same(ours.saving.load_layers_model(every), model, saved.inputs())
    again = asyncio.run(ours.saving.load_layers_model_async(path))
    same(again, model, saved.inputs())


def test_from_keras_through_here(tmp_path: Path):
    saved = MODELS["convolutional"]
    theirs = randomized(saved.make(keras))
    theirs.save(tmp_path / "m.keras")
    mine = ours.saving.load_model(tmp_path / "m.keras")
    again = ours.saving.load_layers_model(ours.saving.layers_model_files(mine))
    again.save(tmp_path / "again.keras")
    same_weights(keras.saving.load_model(tmp_path / "again.keras"), theirs)


def test_weights_are_parted_into_files():
    model = ours.Sequential([ours.Input((1200,)), ours.layers.Dense(1000, use_bias=False)])
    files = ours.saving.layers_model_files(model)
    assert [(name, len(data)) for name, data in files.items()][:2] == [
        ("group1-shard1of2.bin", 4 << 20),
        ("group1-shard2of2.bin", 4_800_000 - (4 << 20)),
    ]
    x = np.ones((1, 1200), "float32")
    same(ours.saving.load_layers_model(files), model, x)


def test_metadata_goes_along():
    model = small()
    assert "userDefinedMetadata" not in json.loads(files_of(model)["model.json"])
    again: Any = ours.saving.load_layers_model(
        files_of(model, userDefinedMetadata={"labels": ["a"]})
    )
    assert again.user_defined_metadata == {"labels": ["a"]}
    third: Any = ours.saving.load_layers_model(files_of(again))
    assert third.user_defined_metadata == {"labels": ["a"]}


def test_training_goes_on():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 2)).astype("float32"), rng.normal(size=(6, 3)).astype("float32")
    for optimizer in (
        ours.optimizers.Adam(0.05),
        ours.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
        ours.optimizers.RMSprop(0.05, centered=True),
        ours.optimizers.Adadelta(0.5),
    ):
        model = small()
        model.compile(optimizer, "mse", metrics=["mae"])
        model.fit(x, y, shuffle=False, verbose=0)
        files = ours.saving.layers_model_files(model, include_optimizer=True)
        again = ours.saving.load_layers_model(files)
        model.fit(x, y, shuffle=False, verbose=0)
        again.fit(x, y, shuffle=False, verbose=0)
        for first, second in zip(model.get_weights(), again.get_weights(), strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


def test_training_begins():
    """TensorFlow.js saves an optimizer that has made no step without slots."""
    model = small()
    model.compile("adam", "mse")
    files = ours.saving.layers_model_files(model, include_optimizer=True)
    steps = {"name": "iter", "shape": [], "dtype": "int32", "group": "optimizer"}
    groups = json.loads(files["model.json"])["weightsManifest"]
    groups.append({"paths": ["steps"], "weights": [steps]})
    files = changed({**files, "steps": bytes(4)}, {"weightsManifest": groups})
    again = ours.saving.load_layers_model(files)
    x, y = np.ones((4, 2)), np.ones((4, 3))
    for trained in (model, again):
        trained.fit(x, y, verbose=0)
    same_weights(again, model)


def two_outputs(metrics: Any) -> Any:
    x = ours.Input((2,))
    model = ours.Model(x, [ours.layers.Dense(3, name="p")(x), ours.layers.Dense(1, name="q")(x)])
    model.compile("adam", "mse", metrics=metrics)
    return model


@pytest.mark.parametrize(
    "metrics, saved",
    [
        ([["mae", "mse"], ["mae", "mse"]], ["mae", "mse"]),
        (["mae", "mse"], {"p": "mae", "q": "mse"}),
        ({"q": "mse"}, {"q": "mse"}),
    ],
)
def test_metrics_of_several_outputs(metrics: Any, saved: Any):
    """A list of metrics is that of each output in TensorFlow.js and in Keras 2."""
    files = ours.saving.layers_model_files(two_outputs(metrics), include_optimizer=True)
    assert json.loads(files["model.json"])["trainingConfig"]["metrics"] == saved
    x, y = np.ones((4, 2)), [np.ones((4, 3)), np.ones((4, 1))]
    names = two_outputs(metrics).fit(x, y, verbose=0).history.keys()
    again = ours.saving.load_layers_model(files)
    assert again.fit(x, y, verbose=0).history.keys() == names


def test_metrics_of_one_output_that_tensorflow_js_lacks():
    with pytest.raises(ValueError, match=r"TensorFlow\.js has no metric \['mae'\]"):
        ours.saving.layers_model_files(two_outputs([["mae"], ["mae", "mse"]]), True)


@pytest.mark.parametrize("momentum, name", [(0.0, "SGD"), (0.9, "Momentum")])
def test_sgd_with_momentum_has_a_name_of_its_own(momentum: float, name: str):
    model = small()
    model.compile(ours.optimizers.SGD(0.05, momentum=momentum), "mse")
    files = ours.saving.layers_model_files(model, include_optimizer=True)
    training = json.loads(files["model.json"])["trainingConfig"]
    assert training["optimizer_config"]["class_name"] == name


def test_metrics_have_the_same_names_when_training_goes_on(tmp_path: Path):
    x, y = np.ones((4, 2)), np.ones((4, 3))
    model = small()
    model.compile("adam", "mse", metrics=["mae", "acc"])
    names = model.fit(x, y, validation_split=0.5, verbose=0).history.keys()
    assert {"mae", "val_mae", "acc"} <= names
    model.save(tmp_path / "m.h5")
    files = ours.saving.layers_model_files(model, include_optimizer=True)
    for again in (
        ours.saving.load_model(tmp_path / "m.h5"),
        ours.saving.load_layers_model(files),
    ):
        assert again.fit(x, y, validation_split=0.5, verbose=0).history.keys() == names


def test_a_loaded_model_is_saved_again():
    model = small()
    model.compile("adam", "mse", metrics=["mae", "acc"])
    model.fit(np.ones((4, 2)), np.ones((4, 3)), verbose=0)
    files = ours.saving.layers_model_files(model, include_optimizer=True)
    again = ours.saving.load_layers_model(files)
    assert ours.saving.layers_model_files(again, include_optimizer=True).keys() == files.keys()


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_old_hard_sigmoid_is_saved_again(kind: str):
    layer = getattr(ours.layers, kind)(
        2,
        recurrent_activation=old_hard_sigmoid,
        **({"reset_after": False} if kind == "GRU" else {}),
    )
    model = randomized(ours.Sequential([ours.Input((3, 2)), layer]))
    files = ours.saving.layers_model_files(model)
    layers = json.loads(files["model.json"])["modelTopology"]["config"]["layers"]
    assert layers[1]["config"]["recurrent_activation"] == "hard_sigmoid"
    x = np.random.default_rng(0).normal(size=(2, 3, 2)).astype("float32")
    same(ours.saving.load_layers_model(files), model, x)


def test_upsampling_between_corners_is_saved_again():
    """The bilinear ``UpSampling2D`` of TensorFlow.js is another than that of Keras."""
    upsampling = {
        "class_name": "UpSampling2D",
        "config": {
            "name": "up",
            "size": [2, 2],
            "data_format": "channels_last",
            "interpolation": "bilinear",
            "batch_input_shape": [None, 2, 2, 1],
        },
    }
    x = np.arange(4, dtype="float32").reshape(1, 2, 2, 1)

    def model_json(version: str) -> bytes:
        config = {"name": "model", "layers": [upsampling]}
        topology = {"class_name": "Sequential", "config": config, "keras_version": version}
        return json.dumps({"modelTopology": topology, "weightsManifest": []}).encode()

    theirs = model_json("tfjs-layers 4.22.0")
    model = ours.saving.load_layers_model({"model.json": theirs})
    rows = [[0, 0.5, 1, 1], [1, 1.5, 2, 2], [2, 2.5, 3, 3], [2, 2.5, 3, 3]]
    assert model(x).numpy()[0, :, :, 0].tolist() == rows
    same(ours.saving.load_layers_model(ours.saving.layers_model_files(model)), model, x)
    same(ours.models.model_from_json(theirs.decode()), model, x)
    of_keras = ours.saving.load_layers_model({"model.json": model_json("2.15.0")})
    keras_layer = keras.layers.UpSampling2D(2, interpolation="bilinear")
    np.testing.assert_allclose(of_keras(x).numpy(), keras_layer(x), rtol=1e-6)


def tensorflow_js_model(layer: dict[str, Any]) -> Any:
    """The model of a layer without weights that TensorFlow.js saved."""
    config = {"name": "model", "layers": [layer]}
    version = {"keras_version": "tfjs-layers 4.22.0"}
    topology = {"class_name": "Sequential", "config": config, **version}
    described = {"modelTopology": topology, "weightsManifest": []}
    return ours.saving.load_layers_model(
        {"model.json": json.dumps(described).encode()}, strict=False
    )


def test_approximate_gelu_of_tensorflow_js():
    config = {"name": "a", "activation": "gelu_new", "batch_input_shape": [None, 3]}
    model = tensorflow_js_model({"class_name": "Activation", "config": config})
    x = np.array([[-1.0, 0.5, 2.0]], "float32")
    expected = keras.activations.gelu(x, approximate=True)
    np.testing.assert_allclose(model(x), expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="no activation 'webtensor>gelu_new'"):
        ours.saving.layers_model_files(model)


def test_dilation_that_tensorflow_js_does_not_apply():
    config = {"name": "c", "kernel_size": [3, 3], "dilation_rate": [2, 2]}
    config["batch_input_shape"] = [None, 8, 8, 1]
    model = tensorflow_js_model({"class_name": "DepthwiseConv2D", "config": config})
    assert model.output_shape == (None, 6, 6, 1)


# -- quantized weights -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, tolerance", [("uint8", 2e-3), ("uint16", 1e-5), ("float16", 1e-3)])
def test_quantized_weights(dtype: str, tolerance: float):
    model = randomized(small())
    values = model.get_weights()
    specs, data = [], b""
    for name, value in zip(("d/kernel", "d/bias"), values, strict=True):
        quantization: dict[str, Any] = {"dtype": dtype, "original_dtype": "float32"}
        if dtype == "float16":
            data += value.astype("float16").tobytes()
        else:
            least, steps = float(value.min()), np.iinfo(dtype).max
            scale = float(np.ptp(value)) / steps
            data += np.round((value - least) / scale).astype(dtype).tobytes()
            quantization |= {"min": least, "scale": scale}
        specs.append(
            {
                "name": name,
                "shape": list(value.shape),
                "dtype": "float32",
                "quantization": quantization,
            }
        )
    files = {**files_of(model, weightsManifest=[{"paths": ["w"], "weights": specs}]), "w": data}
    for first, second in zip(
        ours.saving.load_layers_model(files).get_weights(), values, strict=True
    ):
        np.testing.assert_allclose(first, second, atol=tolerance)


@pytest.mark.parametrize("patterns", ["*/kernl", ["*/bias", "*/kernl"]])
def test_patterns_that_match_no_weight(patterns: Any):
    message = r"no weight that can be stored as 'uint8' has a name like '\*/kernl'"
    with pytest.raises(ValueError, match=message):
        ours.saving.layers_model_files(small(), quantization={"uint8": patterns})


# -- what Keras 2 wrote ------------------------------------------------------------------------


def row(kind: str, name: str, *calls: Any, **config: Any) -> dict[str, Any]:
    """A layer of a functional model of Keras 2."""
    return {
        "class_name": kind,
        "name": name,
        "config": {"name": name, "trainable": True, "dtype": "float32", **config},
        "inbound_nodes": [[[*history, {}] for history in call] for call in calls],
    }


INITIALIZER = {
    "class_name": "VarianceScaling",
    "config": {"scale": 1.0, "mode": "fan_avg", "distribution": "normal", "seed": None},
}
INNER = {
    "name": "inner",
    "layers": [
        {
            "class_name": "Dense",
            "config": {
                "name": "e",
                "batch_input_shape": [None, 4],
                "units": 4,
                "activation": "relu",
                "kernel_initializer": INITIALIZER,
            },
        },
        {"class_name": "LeakyReLU", "config": {"name": "leaky", "alpha": 0.25}},
    ],
}
OLD = {
    "class_name": "Model",
    "config": {
        "name": "old",
        "layers": [
            row("InputLayer", "x", batch_input_shape=[None, 4], sparse=False, ragged=False),
            row("Dense", "d", [["x", 0, 0]], [["d", 0, 0]], units=4, activation="linear"),
            {**row("Sequential", "inner", [["d", 1, 0]]), "config": INNER},
            row("BatchNormalization", "bn", [["inner", 1, 0]], axis=[1], renorm=False, fused=None),
            row("ThresholdedReLU", "t", [["bn", 0, 0]], theta=0.1),
            row("Add", "sum", [["t", 0, 0], ["d", 1, 0]]),
            row("Reshape", "rows", [["sum", 0, 0]], target_shape=[2, 2]),
            row(
                "GRU", "gru", [["rows", 0, 0]], units=2, recurrent_activation="hard_sigmoid",
                implementation=1, time_major=False, unroll=False,
            ),
        ],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["gru", 0, 0]],
    },
}  # fmt: skip


def test_configuration_of_keras_2():
    """Compared with the same network of Keras 3, called layer by layer."""
    rng = np.random.default_rng(0)
    model = ours.models.Functional.from_config(modernized(OLD)["config"])
    randomized(model)
    x = rng.normal(size=(3, 4)).astype("float32")
    weights = dict(zip((weight.path for weight in model.weights), model.get_weights(), strict=True))

    def dense(value: Any, name: str) -> Any:
        return value @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]

    twice = dense(dense(x, "d"), "d")
    leaky = np.maximum(dense(twice, "inner/e" if "inner/e/kernel" in weights else "e"), 0)
    normal = (leaky - weights["bn/moving_mean"]) / np.sqrt(weights["bn/moving_variance"] + 1e-3)
    normal = normal * weights["bn/gamma"] + weights["bn/beta"]
    rows = (np.where(normal > 0.1, normal, 0) + twice).reshape(3, 2, 2)
    kernel, inner, bias = (value for name, value in weights.items() if name.startswith("gru/"))
    state = np.zeros((3, 2), "float32")
    for step in range(2):
        at, own = rows[:, step] @ kernel + bias, state @ inner[:, :4]
        gates = np.clip(0.2 * (at[:, :4] + own) + 0.5, 0, 1)
        update, reset = gates[:, :2], gates[:, 2:]
        new = np.tanh(at[:, 4:] + (reset * state) @ inner[:, 4:])
        state = update * state + (1 - update) * new
    np.testing.assert_allclose(model(x).numpy(), state, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:Argument `alpha`")
def test_hdf5_file_of_keras_2(tmp_path: Path):
    """As Keras 3 itself reads it, which counts a nested model's first call from 0."""
    config = json.loads(json.dumps(OLD))
    layers = config["config"]["layers"]
    del layers[4]
    layers[4]["inbound_nodes"][0][0][0] = "bn"
    layers[-1]["config"] |= {"recurrent_activation": "sigmoid", "reset_after": True}
    for layer in layers:
        layer["config"].pop("implementation", None)
    layers[3]["config"] = {"name": "bn", "axis": [1]}
    layers[3]["inbound_nodes"][0][0][1] = 0
    inner = layers[2]["config"]["layers"]
    shape = inner[0]["config"].pop("batch_input_shape")
    begin = {"name": "inner_input", "batch_input_shape": shape, "dtype": "float32"}
    inner.insert(0, {"class_name": "InputLayer", "config": begin})
    layers[-1]["config"].pop("time_major")
    model = randomized(ours.models.Functional.from_config(modernized(config)["config"]))
    model.save(tmp_path / "old.h5")
    with h5py.File(tmp_path / "old.h5", "r+") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "2.9.0"
        file["model_weights"].attrs["keras_version"] = "2.9.0"
    x = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    mine = ours.saving.load_model(tmp_path / "old.h5")
    same(mine, model, x)
    theirs = keras.saving.load_model(tmp_path / "old.h5", compile=False)
    np.testing.assert_allclose(theirs([x]), model(x).numpy(), rtol=1e-5, atol=1e-5)


def test_old_hard_sigmoid():
    assert old_hard_sigmoid(ours.ops.array([-3.0, 0.0, 1.0, 3.0])).tolist() == pytest.approx(
        [0.0, 0.5, 0.7, 1.0]
    )


@pytest.mark.parametrize(
    "class_name, cell", [("LSTM", "lstm_cell"), ("UnifiedLSTM", "unified_lstm_cell_1")]
)
def test_file_of_the_converter(class_name: str, cell: str):
    """tensorflowjs_converter keeps Keras's names, with cells, and its training configuration."""
    model = randomized(
        ours.Sequential(
            [ours.Input((3, 2)), ours.layers.LSTM(2, name="lstm"), ours.layers.Dense(1, name="d")]
        )
    )
    data = b"".join(value.tobytes() for value in model.get_weights())
    names = [f"lstm/{cell}/{weight}" for weight in ("kernel", "recurrent_kernel", "bias")]
    specs = [
        {"name": name, "shape": list(value.shape), "dtype": "float32"}
        for name, value in zip((*names, "d/kernel", "d/bias"), model.get_weights(), strict=True)
    ]
    layers = [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 3, 2], "name": "i"}},
        {
            "class_name": class_name,
            "config": {"name": "lstm", "units": 2, "unit_forget_bias": True},
        },
        {"class_name": "Dense", "config": {"name": "d", "units": 1}},
    ]
    training = {
        "loss": {"class_name": "MeanSquaredError", "config": {"reduction": "auto", "name": "mse"}},
        "metrics": [[{"class_name": "MeanMetricWrapper", "config": {"fn": "mean_absolute_error"}}]],
        "optimizer_config": {"class_name": "Adam", "config": {"lr": 0.5, "decay": 0.0}},
    }
    files = {
        "w": data,
        "model.json": json.dumps(
            {
                "format": "layers-model",
                "modelTopology": {
                    "keras_version": "2.4.0",
                    "backend": "tensorflow",
                    "model_config": {
                        "class_name": "Sequential",
                        "config": {"name": "s", "layers": layers},
                    },
                    "training_config": training,
                },
                "weightsManifest": [{"paths": ["w"], "weights": specs}],
            }
        ).encode(),
    }
    again = ours.saving.load_layers_model(files)
    same(again, model, np.random.default_rng(0).normal(size=(2, 3, 2)).astype("float32"))
    assert float(again.optimizer.learning_rate) == 0.5


@pytest.mark.parametrize(
    "name, loss",
    [
        ("cosine", "cosine_similarity"),
        ("kullback_leibler_divergence", "kl_divergence"),
        ("logcosh", "log_cosh"),
    ],
)
def test_metrics_with_other_names(name: str, loss: str):
    training = {"loss": "mean_squared_error", "metrics": [name], "optimizer_config": ADAM}
    model = ours.saving.load_layers_model(files_of(small(), trainingConfig=training))
    x, y = np.ones((2, 2), "float32"), np.array([[0.5, 0.2, 0.3], [0.1, 0.7, 0.2]], "float32")
    results: Any = model.evaluate(x, y, verbose=0)
    values = getattr(ours.losses, loss)(y, model(x))
    assert results[1] == pytest.approx(values.numpy().mean(), rel=1e-5)


def test_losses_that_were_functions():
    training = {"loss": {}, "metrics": ["mse"], "optimizer_config": ADAM}
    model = ours.saving.load_layers_model(files_of(small(), trainingConfig=training))
    assert float(model.optimizer.learning_rate) == 0.5
    assert model.loss is None


def without_modules(config: Any) -> Any:
    """A configuration of Keras 3 as tensorflowjs_converter writes it."""
    if isinstance(config, list):
        return [without_modules(item) for item in config]
    if not isinstance(config, dict):
        return config
    left_out = {"module", "registered_name"}
    return {key: without_modules(item) for key, item in config.items() if key not in left_out}


@pytest.mark.parametrize("layers", ["layers", "_layer_checkpoint_dependencies"])
def test_keras_file_of_the_converter(layers: str):
    """Weights keep the names that they have in a .keras file."""
    saved = MODELS["nested"]
    model = randomized(saved.make(ours))
    arrays = dict(saved_state(model).arrays())
    specs = [
        {"name": path.replace("layers", layers), "shape": list(array.shape), "dtype": array.dtype}
        for path, array in arrays.items()
    ]
    topology = {
        "keras_version": "3.0.0",
        "model_config": without_modules(json.loads(model.to_json())),
    }
    fields = {
        "modelTopology": topology,
        "weightsManifest": [{"paths": ["w"], "weights": specs}],
        "userDefinedMetadata": {"author": "me"},
    }
    data = b"".join(array.data for array in arrays.values())
    files = {"model.json": json.dumps(fields).encode(), "w": data}
    again: Any = ours.saving.load_layers_model(files)
    same(again, model, saved.inputs())
    assert again.user_defined_metadata == {"author": "me"}
    topology["model_config"] = without_modules(json.loads(small().to_json()))
    with pytest.raises(ValueError, match="does not fit Dense 'd'"):
        ours.saving.load_layers_model(changed(files, fields))


@pytest.mark.parametrize(
    "shape, make",
    [
        ((6, 4), lambda api: api.LSTM(3)),
        ((6, 4), lambda api: api.Bidirectional(api.GRU(3, reset_after=False, name="g"))),
        ((6, 4), lambda api: api.RNN(api.SimpleRNNCell(3))),
        ((2, 6, 6, 3), lambda api: api.ConvLSTM2D(3, 2)),
    ],
)
def test_names_of_wrapped_recurrent_weights(shape: tuple[int, ...], make: Any):
    """TensorFlow.js leaves the cell out of them."""
    layer = ours.layers.TimeDistributed(make(ours.layers), name="t")
    model = randomized(ours.Sequential([ours.Input((2, *shape)), layer]))
    files = ours.saving.layers_model_files(model)
    (group,) = json.loads(files["model.json"])["weightsManifest"]
    for weight in group["weights"]:
        *parts, _, name = weight["name"].split("/")
        weight["name"] = "/".join((*parts, name))
    assert group["weights"][0]["name"] in ("t/kernel", "t/forward_g/kernel")
    again = ours.saving.load_layers_model(changed(files, {"weightsManifest": [group]}))
    same_weights(again, model)


def test_names_of_layers_with_slashes():
    """MobileNetV3 of Keras 2 has such names, which Keras 3 refuses."""
    model = randomized(
        ours.Sequential(
            [ours.Input((2,)), ours.layers.Dense(3, name="a_b"), ours.layers.Dense(1, name="c_d_e")]
        )
    )
    old = ("a/b", "c/d/e")
    specs = [
        {"name": f"{name}/{weight.name}", "shape": list(weight.shape), "dtype": "float32"}
        for name, layer in zip(old, model.layers, strict=True)
        for weight in layer.weights
    ]
    begin = {"name": "x", "batch_input_shape": [None, 2]}
    layers = [
        {"class_name": "InputLayer", "config": begin, "name": "x", "inbound_nodes": []},
        *(
            {
                "class_name": "Dense",
                "config": {"name": name, "units": units},
                "name": name,
                "inbound_nodes": [[[source, 0, 0, {}]]],
            }
            for name, units, source in (("a/b", 3, "x"), ("c/d/e", 1, "a/b"))
        ),
    ]
    config = {"layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [["c/d/e", 0, 0]]}
    fields = {
        "modelTopology": {"keras_version": "2.9.0", "class_name": "Model", "config": config},
        "weightsManifest": [{"paths": ["w"], "weights": specs}],
    }
    data = b"".join(value.tobytes() for value in model.get_weights())
    again = ours.saving.load_layers_model({"model.json": json.dumps(fields).encode(), "w": data})
    assert [layer.name for layer in again.layers] == ["x", "a_b", "c_d_e"]
    same(again, model, np.random.default_rng(0).normal(size=(2, 2)).astype("float32"))


# -- what is refused ---------------------------------------------------------------------------


def topology(change: Any) -> dict[str, Any]:
    model_topology = json.loads(ours.saving.layers_model_files(small())["model.json"])[
        "modelTopology"
    ]
    change(model_topology["config"]["layers"][1])
    return {"modelTopology": model_topology}


def manifest(change: Any) -> dict[str, Any]:
    weights_manifest = json.loads(ours.saving.layers_model_files(small())["model.json"])[
        "weightsManifest"
    ]
    del weights_manifest[0]["checksums"]
    change(weights_manifest[0])
    return {"weightsManifest": weights_manifest}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"format": "graph-model"}, "no layers-model"),
        ({"weightsManifest": 7}, "no weightsManifest"),
        ({"modelTopology": 7}, "modelTopology"),
        ({"modelTopology": {}}, "class_name"),
        (topology(lambda d: d.update(class_name="Lambda")), "modelTopology"),
        (topology(lambda d: d.update(class_name="Densely")), "did you mean 'Dense'"),
        (topology(lambda d: d["config"].update(units=10**9)), "larger than what the file holds"),
        (topology(lambda d: d["config"].update(units=4)), r"has shape \(2, 4\)"),
        (topology(lambda d: d["config"].update(name="other")), "no weight 'other/kernel'"),
        (manifest(lambda m: m.update(paths=["../w"])), "lies elsewhere"),
        (manifest(lambda m: m.update(paths=["/etc/passwd"])), "lies elsewhere"),
        (manifest(lambda m: m.update(paths=["https://a.b/c"])), "lies elsewhere"),
        (manifest(lambda m: m.update(paths=["w"])), "'w', which is missing"),
        (manifest(lambda m: m.update(paths=7)), "malformed"),
        (manifest(lambda m: m.update(paths=[])), "needs 24 bytes, but 0 are left"),
        (manifest(lambda m: m["weights"].pop()), "belong to no weight"),
        (manifest(lambda m: m["weights"][0].update(shape=[10**12])), "bytes are needed|are left"),
        (manifest(lambda m: m["weights"][0].update(shape=[-1])), "has shape"),
        (manifest(lambda m: m["weights"][0].update(dtype="float64")), "has dtype"),
        (manifest(lambda m: m["weights"][0].update(name=3)), "malformed"),
        (manifest(lambda m: m["weights"][0].update(quantization={"dtype": "x"})), "has dtype"),
        (manifest(lambda m: m["weights"][0].update(name="d/bias")), "same name"),
        ({"trainingConfig": {"optimizer_config": {"class_name": "Adaam"}}}, "trainingConfig"),
    ],
)
def test_broken_layers_model(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        ours.saving.load_layers_model(files_of(small(), **changes))


def test_more_weights_than_the_model_has():
    def add(group: Any) -> None:
        group["weights"].append({"name": "more", "shape": [0], "dtype": "float32"})

    files = files_of(small(), **manifest(add))
    with pytest.raises(ValueError, match=r"that the model has not: \['more'\]"):
        ours.saving.load_layers_model(files)
    ours.saving.load_layers_model(files, strict=False)


def test_fewer_weights_than_the_model_has():
    model = randomized(
        ours.Sequential([ours.Input((2,)), ours.layers.BatchNormalization(name="b")])
    )
    files = ours.saving.layers_model_files(model, trainable_only=True)
    with pytest.raises(ValueError, match="has no weight 'b/moving_mean'"):
        ours.saving.load_layers_model(files)
    again = ours.saving.load_layers_model(files, strict=False)
    expected = [*model.get_weights()[:2], np.zeros(2), np.ones(2)]
    for value, other in zip(again.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda api: api.layers.Dense(2, activation="hard_sigmoid"), "another formula"),
        (lambda api: api.layers.Dense(2, activation="exponential"), "no activation 'exponential'"),
        (
            lambda api: api.layers.Dense(2, activation=api.layers.LeakyReLU(0.1)),
            "no activation 'LeakyReLU', which Dense has",
        ),
        (lambda api: api.layers.GroupNormalization(2), "no layer GroupNormalization"),
        (lambda api: api.layers.ReLU(1.0, negative_slope=0.1), "no negative_slope=0.1 of ReLU"),
        (lambda api: api.layers.Dense(2, name="my layer"), "does not allow the name 'my layer'"),
        (
            lambda api: api.Sequential([api.layers.Dense(2)], name="my model"),
            "does not allow the name 'my model'",
        ),
        (
            lambda api: api.layers.Dense(
                2, kernel_regularizer=api.regularizers.OrthogonalRegularizer()
            ),
            "no OrthogonalRegularizer, which is the kernel_regularizer of Dense",
        ),
        (
            lambda api: api.layers.Dense(2, kernel_constraint="unit_norm"),
            "weight '.*kernel' does not satisfy its constraint",
        ),
    ],
)
def test_what_tensorflow_js_lacks(make: Any, message: str):
    with pytest.raises(ValueError, match=message):
        ours.saving.layers_model_files(ours.Sequential([ours.Input((4,)), make(ours)]))


@pytest.mark.parametrize(
    "shape, make, message",
    [
        ((4,), lambda api: api.Dense(2, activity_regularizer="l2"), "no activity_regularizer="),
        ((4,), lambda api: api.Dense(2, lora_rank=1), "no lora_rank=1 of Dense"),
        ((4,), lambda api: api.ELU(0.5), "no alpha=0.5 of ELU"),
        (
            (3, 2),
            lambda api: api.Bidirectional(
                api.LSTM(2), backward_layer=api.LSTM(2, activation="relu", go_backwards=True)
            ),
            "no backward_layer of Bidirectional",
        ),
        (
            (3, 2),
            lambda api: api.MaxPooling1D(data_format="channels_first"),
            "no data_format='channels_first' of MaxPooling1D",
        ),
        (
            (3, 2),
            lambda api: api.Conv1D(2, 2, data_format="channels_first"),
            "no data_format='channels_first' of Conv1D",
        ),
        ((3, 2), lambda api: api.Conv1D(2, 2, padding="causal"), "no padding='causal' of Conv1D"),
        ((5, 5, 2), lambda api: api.DepthwiseConv2D(2, dilation_rate=2), "no dilation_rate="),
        ((5, 5, 2), lambda api: api.Conv2DTranspose(2, 2, dilation_rate=2), "no dilation_rate="),
        ((2, 2, 1), lambda api: api.UpSampling2D(interpolation="bilinear"), "no interpolation="),
        ((3, 2), lambda api: api.BatchNormalization(axis=1), "no axis=1 of BatchNormalization"),
        ((2, 2, 2, 1), lambda api: api.BatchNormalization(), "no inputs of 5 dimensions of Batch"),
        ((3, 2), lambda api: api.Softmax(axis=[1]), "no axis=1 of Softmax"),
        ((None, 2), lambda api: api.GlobalMaxPooling1D(keepdims=True), "no keepdims=True for"),
        ((3, 3, 1), lambda api: api.CenterCrop(4, 2), "no height=4 for inputs of size 3"),
        ((3, 2), lambda api: api.Bidirectional(api.RNN(api.LSTMCell(2))), "no layer of class RNN"),
        (
            (2, 2, 2, 1),
            lambda api: api.Conv3DTranspose(1, 2, strides=3, padding="same"),
            "no strides larger than kernel_size",
        ),
        (
            (2, 4, 4),
            lambda api: api.SeparableConv2D(2, 2, data_format="channels_first"),
            "no data_format='channels_first' of SeparableConv2D",
        ),
        ((4, 4, 1), lambda api: api.Resizing(2, 2), "a layer Resizing, of which .* fails in each"),
    ],
)
def test_arguments_that_tensorflow_js_lacks(shape: tuple[int, ...], make: Any, message: str):
    model = ours.Sequential([ours.Input(shape), make(ours.layers)])
    with pytest.raises(ValueError, match=message):
        ours.saving.layers_model_files(model)


@pytest.mark.parametrize(
    "shape, make",
    [
        ((4,), lambda api: api.ELU()),
        ((4,), lambda api: api.Dense(2, activation="log_softmax")),
        ((5, 2), lambda api: api.Conv1D(2, 2, padding="same")),
        ((3, 2), lambda api: api.Bidirectional(api.LSTM(2, dropout=0.1, seed=3))),
        ((4, 2), lambda api: api.MaxPooling1D()),
        ((3, 2), lambda api: api.GlobalAveragePooling1D()),
        ((5, 5, 2), lambda api: api.DepthwiseConv2D(2)),
        ((5, 5, 2), lambda api: api.Conv2DTranspose(2, 2)),
        ((2, 2, 1), lambda api: api.UpSampling2D()),
    ],
)
def test_arguments_with_the_values_of_tensorflow_js(shape: tuple[int, ...], make: Any):
    model = randomized(ours.Sequential([ours.Input(shape), make(ours.layers)]))
    x = np.random.default_rng(0).normal(size=(2, *shape)).astype("float32")
    same(ours.saving.load_layers_model(ours.saving.layers_model_files(model)), model, x)


@pytest.mark.parametrize("distribution", ["normal", "uniform"])
def test_initializers_of_lecun_are_written_as_tensorflow_js_does(distribution: str):
    layer = ours.layers.Dense(2, kernel_initializer=f"lecun_{distribution}")
    files = ours.saving.layers_model_files(ours.Sequential([ours.Input((4,)), layer]))
    layers = json.loads(files["model.json"])["modelTopology"]["config"]["layers"]
    assert layers[1]["config"]["kernel_initializer"] == {
        "class_name": "VarianceScaling",
        "config": {"scale": 1.0, "mode": "fan_in", "distribution": distribution, "seed": None},
    }
    ours.saving.load_layers_model(files)


def words(*layers: Any) -> Any:
    """A network whose first layer masks its inputs."""
    embedding = ours.layers.Embedding(5, 4, mask_zero=True)
    return ours.Sequential([ours.Input((6,), dtype="int32"), embedding, *layers])


def merged_words(merge: Any) -> Any:
    x = ours.Input((6,), dtype="int32")
    masked = ours.layers.Embedding(5, 4, mask_zero=True)(x)
    y = merge([masked, ours.layers.Embedding(5, 4)(x)])
    return ours.Model(x, ours.layers.LSTM(3)(y))


def inner(*layers: Any) -> Any:
    """A network for sequences, to be nested."""
    return ours.Sequential([ours.Input((6, 4)), *layers])


@pytest.mark.parametrize(
    "make, layer",
    [
        (lambda api: words(api.GlobalAveragePooling1D()), "GlobalAveragePooling1D"),
        (lambda api: words(api.Bidirectional(api.LSTM(2, return_sequences=True))), "Bidirectional"),
        (lambda api: words(api.LSTM(2, zero_output_for_mask=True)), "LSTM"),
        (lambda api: merged_words(api.Add()), "LSTM"),
        (lambda api: merged_words(api.Concatenate()), "LSTM"),
        (lambda api: merged_words(api.Multiply()), "Multiply"),
        (lambda api: words(api.LSTM(4), api.RepeatVector(6), api.LSTM(3)), "LSTM"),
        (lambda api: words(inner(api.GlobalAveragePooling1D())), "Sequential"),
        (lambda api: inner(inner(api.Masking()), api.LSTM(3)), "LSTM"),
        (lambda api: inner(inner(api.Masking(), api.ReLU()), api.ELU(), api.LSTM(3)), "LSTM"),
    ],
)
@pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a mask")
def test_masks_that_tensorflow_js_uses_otherwise(make: Any, layer: str):
    model = make(ours.layers)
    with pytest.raises(ValueError, match=rf"uses masks differently in layer '.*' \({layer}\)"):
        ours.saving.layers_model_files(model)


def test_a_layer_in_two_models():
    core = ours.Sequential([ours.Input((4,)), ours.layers.Dense(4, name="d")])
    middle = ours.Sequential([ours.Input((4,)), core])
    x = ours.Input((4,))
    with pytest.raises(ValueError, match="the layer of 'd/kernel' is in two models"):
        ours.saving.layers_model_files(ours.Model(x, core(middle(x))))


def test_operations_beside_layers():
    x = ours.Input((4,))
    with pytest.raises(ValueError, match=r"no operations beside layers, but .* Multiply of keras"):
        ours.saving.layers_model_files(ours.Model(x, x * 2))


def test_optimizers_and_losses_that_tensorflow_js_lacks():
    model = small()
    adam = ours.optimizers.Adam
    for optimizer, loss, metric, message in (
        ("lion", "mse", "mse", "no optimizer Lion"),
        (adam(clipnorm=1.0), "mse", "mse", "no clipnorm=1.0 of Adam"),
        (adam(weight_decay=0.1), "mse", "mse", "no weight_decay=0.1 of Adam"),
        (adam(amsgrad=True), "mse", "mse", "no amsgrad=True of Adam"),
        (adam(use_ema=True), "mse", "mse", "no use_ema=True of Adam"),
        ("adam", ours.losses.Huber(), "mse", "no loss"),
        ("adam", ours.losses.MeanSquaredError("sum"), "mse", "no loss"),
        ("adam", "mse", "r2_score", "no metric 'r2_score'"),
        ("adam", "mse", ours.metrics.AUC(), "no metric"),
    ):
        model.compile(optimizer, loss, metrics=[metric])
        with pytest.raises(ValueError, match=message):
            ours.saving.layers_model_files(model, include_optimizer=True)


def test_names_of_losses_and_metrics():
    losses, model = ours.losses, small()
    for loss, metric, names in (
        (losses.MeanSquaredError(), "mean_squared_error", ["mean_squared_error", "mse"]),
        (losses.KLDivergence(), "acc", ["kullback_leibler_divergence", "acc"]),
        ("cosine_similarity", ours.metrics.MeanAbsoluteError(), ["cosine_proximity", "mae"]),
    ):
        model.compile("adam", loss, metrics=[metric])
        files = ours.saving.layers_model_files(model, include_optimizer=True)
        written = json.loads(files["model.json"])["trainingConfig"]
        assert [written["loss"], *written["metrics"]] == names
        ours.saving.load_layers_model(files)


def test_files_without_model_json():
    with pytest.raises(ValueError, match=r"one of the files must be model\.json"):
        ours.saving.load_layers_model({"w": b""})


def test_a_models_address_in_indexed_db_is_for_pages() -> None:
    model = ours.Sequential([ours.Input((2,)), ours.layers.Dense(1)])
    expected = (
        r"'indexeddb://m' cannot be written here, as this is no browser; in a page, save the model "
        r"with: await keras\.saving\.save_layers_model_async\(model, 'indexeddb://m'\)"
    )
    with pytest.raises(ValueError, match=expected):
        model.save("indexeddb://m")


def test_topology_without_weights():
    """As in TensorFlow.js, the weights are initial ones."""
    files = files_of(small())
    fields = json.loads(files["model.json"])
    del fields["weightsManifest"]
    model = ours.saving.load_layers_model({"model.json": json.dumps(fields).encode()})
    assert [weight.shape for weight in model.get_weights()] == [(2, 3), (3,)]
    fields["modelTopology"]["config"]["layers"][1]["config"]["units"] = 10**9
    with pytest.raises(ModelFormatError, match="larger than what the file holds"):
        ours.saving.load_layers_model({"model.json": json.dumps(fields).encode()})
