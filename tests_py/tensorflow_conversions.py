"""Models that TensorFlow makes, converted: they compute the same here and in TensorFlow.js.

`make test-tensorflow` runs these tests in an environment of their own, as `tensorflow_files.py`.
In that environment `python -m tests_py.tensorflow_conversions` writes the models that `make test`
converts.
"""

import json
import os
import tempfile
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras
import numpy as np
import pytest
import tensorflow as tf
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tensorflow.python.framework import op_def_registry

import webtensor as wt
from tests_py.convert.node import NodeProcess
from webtensor.convert import convert_model
from webtensor.formats.graph_def import NodeDef, read_graph
from webtensor.graph.default_attributes import DEFAULTS
from webtensor.graph.hash_tables import table_rows
from webtensor.graph.nodes import reference_of
from webtensor.graph.operations import OPERATIONS

pytestmark = pytest.mark.filterwarnings("ignore")
v1 = tf.compat.v1

Array = NDArray[Any]
Model = tuple[Callable[[Path], Any], dict[str, Array]]
RNG = np.random.default_rng(7)


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    """TensorFlow.js."""
    with NodeProcess() as process:
        yield process


def close(actual: Array, expected: Array, tolerance: float = 1e-4) -> None:
    """Compare numbers by the largest magnitude, and everything else exactly."""
    assert actual.shape == expected.shape
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(actual, expected)
        return
    difference = np.abs(actual.astype("float64") - expected).max(initial=0)
    assert difference <= tolerance * max(np.abs(expected).max(initial=0), 1e-6), difference


def ours(folder: Path, inputs: Mapping[str, Array]) -> list[Array]:
    """What a converted model returns here."""
    before = wt.memory()["num_tensors"]
    model = wt.load_graph_model(folder)
    results = model.execute({name: as_tensor(array) for name, array in inputs.items()})
    arrays = [as_array(value) for value in (results if isinstance(results, list) else [results])]
    del results
    model.dispose()
    del model
    assert wt.memory()["num_tensors"] == before
    return arrays


def as_tensor(array: Array) -> wt.Tensor:
    if array.dtype == object:
        return wt.tensor(array.ravel().tolist(), shape=array.shape, dtype="string")
    return wt.tensor(array)


def as_array(value: wt.Tensor) -> Array:
    if str(value.dtype) == "string":
        return np.array(value.bytes_sync(), object).reshape(value.shape)
    return np.asarray(value.numpy())


def theirs(folder: Path, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """What TensorFlow returns for the outputs of the default signature."""
    function = tf.saved_model.load(folder).signatures["serving_default"]
    results = function(**{name: tf.constant(array) for name, array in inputs.items()})
    return {name: value.numpy() for name, value in results.items()}


def in_order(outputs: Mapping[str, Array]) -> list[Array]:
    """Outputs in the order in which the converter writes them."""

    def key(name: str) -> tuple[str, int]:
        head, _, number = name.rpartition("_")
        return (head, int(number)) if number.isdecimal() else (name, -1)

    return [outputs[name] for name in sorted(outputs, key=key)]


def images(size: int, count: int = 1) -> Array:
    return RNG.uniform(-1, 1, (count, size, size, 3)).astype("float32")


# -- Keras's networks --------------------------------------------------------------------------


def network_of_keras(name: str, size: int) -> Any:
    """A network whose statistics are not those of a fresh one, which batch normalization undoes."""
    keras.utils.set_random_seed(3)
    network = getattr(keras.applications, name)
    model = network(input_shape=(size, size, 3), weights=None, classes=20)
    rng = np.random.default_rng(5)
    for variable in model.variables:
        if "moving" in variable.path or "gamma" in variable.path or "beta" in variable.path:
            low, high = (
                (-0.1, 0.1) if "mean" in variable.path or "beta" in variable.path else (0.8, 1.2)
            )
            variable.assign(rng.uniform(low, high, variable.shape))
    return model


def application(name: str, size: int) -> Model:
    """A network of Keras, exported."""

    def save(folder: Path) -> None:
        network_of_keras(name, size).export(folder, verbose=False)

    return save, {"": images(size)}


SIZES = {
    "MobileNet": 64,
    "MobileNetV2": 64,
    "MobileNetV3Small": 64,
    "MobileNetV3Large": 64,
    "EfficientNetB0": 64,
    "ResNet50": 64,
    "DenseNet121": 64,
    "NASNetMobile": 64,
    "Xception": 75,
    "InceptionV3": 75,
}
NETWORKS: dict[str, Model] = {name: application(name, size) for name, size in SIZES.items()}


# -- small models ------------------------------------------------------------------------------


def sequential(build: Callable[[], list[Any]]) -> Callable[[Path], None]:
    """A model of layers, exported as Keras does it."""

    def save(folder: Path) -> None:
        keras.utils.set_random_seed(4)
        keras.Sequential(build()).export(folder, verbose=False)

    return save


def saved_by_tensorflow(build: Callable[[], list[Any]]) -> Callable[[Path], None]:
    """A model of layers, saved as TensorFlow saves any object."""

    def save(folder: Path) -> None:
        keras.utils.set_random_seed(4)
        tf.saved_model.save(keras.Sequential(build()), folder)

    return save


def function(
    signature: list[Any], call: Callable[..., Any], **variables: Any
) -> Callable[[Path], None]:
    """A module with variables, tables or layers, and one function of them."""

    def save(folder: Path) -> None:
        keras.utils.set_random_seed(4)
        module = tf.Module()
        for name, value in variables.items():
            variable = value() if callable(value) else tf.Variable(value, name=name)
            setattr(module, name, variable)
        module.call = tf.function(lambda *args: call(module, *args), input_signature=signature)
        tf.saved_model.save(module, folder, signatures=module.call)

    return save


def spec(name: str, shape: Any, dtype: Any = tf.float32) -> Any:
    return tf.TensorSpec(shape, dtype, name=name)


def floats(*shape: int) -> Array:
    return RNG.normal(size=shape).astype("float32")


def network() -> list[Any]:
    layers = keras.layers
    return [
        keras.Input((9, 8, 3), name="x"),
        layers.Conv2D(6, 3, padding="same", activation="relu"),
        layers.BatchNormalization(beta_initializer="normal", moving_mean_initializer="normal"),
        layers.DepthwiseConv2D(3, depth_multiplier=2, strides=2),
        layers.BatchNormalization(gamma_initializer="normal"),
        layers.ReLU(6.0),
        layers.SeparableConv2D(4, 2, activation="elu"),
        layers.Conv2DTranspose(3, 2, strides=2),
        layers.BatchNormalization(moving_mean_initializer="normal"),
        layers.LeakyReLU(0.1),
        layers.PReLU(shared_axes=[1, 2], alpha_initializer="normal"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(2, "sigmoid"),
    ]


def grouped_network() -> list[Any]:
    layers = keras.layers
    return [
        keras.Input((7, 6, 4), name="x"),
        layers.Conv2D(6, 3, padding="same", groups=2),
        layers.ReLU(),
        layers.Conv2D(12, 2, strides=2, groups=6, activation="relu"),
        layers.Lambda(lambda x: keras.ops.argmax(x, -1)),
    ]


def text_network() -> list[Any]:
    layers = keras.layers
    return [
        keras.Input((6,), dtype="int32", name="x"),
        layers.Embedding(10, 8),
        layers.LayerNormalization(),
        layers.Conv1D(8, 3, padding="causal", activation="gelu"),
        layers.Flatten(),
        layers.Dense(3, "tanh"),
    ]


def recurrent(*names: str, **options: Any) -> Callable[[], list[Any]]:
    def build() -> list[Any]:
        layers = [getattr(keras.layers, name)(4, return_sequences=True) for name in names[:-1]]
        last = getattr(keras.layers, names[-1])(3, **options)
        return [keras.Input((5, 3), name="x"), *layers, keras.layers.Bidirectional(last)]

    return build


def block(module: Any, x: Any) -> Any:
    """What MobileNet v2 repeats, with the batch normalization of older files."""
    y = tf.nn.conv2d(x, module.expand, 1, "SAME")
    y = tf.nn.relu6(normalized(module, y, "bn1"))
    y = tf.nn.depthwise_conv2d(y, module.depthwise, [1, 1, 1, 1], "SAME")
    y = tf.nn.relu6(tf.nn.bias_add(normalized(module, y, "bn2"), module.bias))
    return {"y": x + normalized(module, tf.nn.conv2d(y, module.project, 1, "SAME"), "bn3")}


def normalized(module: Any, x: Any, name: str) -> Any:
    rows = tf.unstack(getattr(module, name))
    return v1.nn.fused_batch_norm(x, *rows, is_training=False)[0]


def statistics(channels: int) -> Array:
    """Scales, offsets, means and variances."""
    return np.concatenate([floats(3, channels), RNG.uniform(0.5, 2, (1, channels))]).astype(
        "float32"
    )


def loop(module: Any, x: Any, n: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        value = tf.matmul(value, module.w) + module.b
        positive = tf.reduce_sum(value) > 0
        return i + 1, tf.cond(positive, lambda: value * 0.5, lambda: value + module.b)

    return {"value": tf.while_loop(lambda i, _: i < n, body, (0, x))[1]}


def growing(module: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, 3])
    for i in tf.range(tf.shape(x)[0]):
        if tf.reduce_sum(x[i]) > 0:
            array = array.write(i, x[i] @ module.w)
        else:
            array = array.write(i, tf.ones([2, 3]))
    return {"stacked": array.stack()}


def rows_of_variable(module: Any, x: Any) -> Any:
    return {"rows": tf.gather(module.rows, x), "sum": tf.gather_nd(module.rows, x[:, None])}


def lookup(module: Any, x: Any) -> Any:
    ids = module.words.lookup(x)
    return {"fixed": module.fixed.lookup(x), "ids": ids, "rows": tf.gather(module.rows, ids)}


def words_table() -> Any:
    path = Path(tempfile.mkdtemp()) / "words.txt"
    path.write_text("a\nb\nc\n")
    lines = tf.lookup.TextFileInitializer(
        str(path),
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    return tf.lookup.StaticVocabularyTable(lines, 2)


def fixed_table() -> Any:
    pairs = tf.lookup.KeyValueTensorInitializer(["x", "b"], [1, 2])
    return tf.lookup.StaticHashTable(pairs, -1)


def growing_table() -> Any:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["c", "zebra"], tf.constant([5, 6], tf.int64))
    return table


def changed_lookup(module: Any, x: Any) -> Any:
    def body(i: Any, total: Any) -> Any:
        rows = tf.ensure_shape(module.table.lookup(x), [None])
        return i + 1, total + rows

    start = tf.zeros_like(x, tf.int64)
    return {"total": tf.while_loop(lambda i, _: i < 3, body, (0, start))[1]}


def texts(module: Any, x: Any) -> Any:
    parts = tf.strings.split(tf.strings.regex_replace(x, "[.!]", ""))
    buckets = tf.strings.to_hash_bucket_fast(parts.values, 50)
    return {"buckets": buckets, "counts": parts.row_lengths()}


def detection(module: Any, boxes: Any, scores: Any) -> Any:
    kept = tf.image.non_max_suppression(boxes, scores, 5, 0.4, 0.1)
    return {"boxes": tf.gather(boxes, kept), "kept": kept, "scores": tf.gather(scores, kept)}


def ragged(module: Any, x: Any, lengths: Any) -> Any:
    rows = tf.RaggedTensor.from_row_lengths(tf.gather(module.rows, x), lengths)
    return {"doubled": tf.reduce_sum(rows * 2.0, 1), "sums": tf.reduce_sum(rows, 1)}


def ragged_to_dense(module: Any, x: Any, lengths: Any) -> Any:
    rows = tf.RaggedTensor.from_row_lengths(tf.gather(module.rows, x), lengths)
    return {"dense": rows.to_tensor(-1.0)}


def sparse(module: Any, indices: Any, values: Any) -> Any:
    tensor = tf.sparse.SparseTensor(indices, values, [3, 4])
    filled, _ = tf.sparse.fill_empty_rows(tensor, -1.0)
    return {"dense": tf.sparse.to_dense(tensor), "filled": filled.values}


def cases(module: Any, x: Any, index: Any) -> Any:
    branches = [lambda: x + module.w, lambda: x * 2.0, lambda: tf.ones([3])]
    return {"y": tf.switch_case(index, branches)}


def segments(module: Any, x: Any) -> Any:
    numbers = tf.cast(tf.reduce_sum(x, 1) > 0, tf.int32) * [3, 1, 3, 4] - 1
    return {
        "buckets": tf.raw_ops.Bucketize(input=x, boundaries=[-0.5, 0.5]),
        "left out": tf.math.unsorted_segment_sum(x, [2, -1, 2, -3], 4),
        "means": tf.math.unsorted_segment_mean(x, numbers, 4),
        "sorted": tf.math.segment_sum(x, [0, 0, 1, 3]),
        "unsorted": tf.math.unsorted_segment_sum(x, [2, 0, 2, 3], 5),
    }


def blocks(module: Any, x: Any) -> Any:
    return {
        "deep": tf.nn.space_to_depth(x, 2),
        "rolled": tf.roll(x, [1, -7, 2], [1, 2, -1]),
        "wide": tf.nn.depth_to_space(x, 2),
    }


def preprocessing() -> list[Any]:
    lookup = keras.layers.StringLookup(vocabulary=["a", "b", "c"], output_mode="multi_hot")
    return [keras.Input((2,), dtype="string", name="x"), lookup, keras.layers.Dense(3)]


WORDS = np.array([b"a", b"x", b"zebra", b"c", b"b"], object)
BOXES = np.sort(RNG.uniform(0, 1, (12, 2, 2)), 1).reshape(12, 4).astype("float32")
SMALL: dict[str, Model] = {
    "dense": (
        sequential(
            lambda: [
                keras.Input((4,), name="x"),
                keras.layers.Dense(5, "relu"),
                keras.layers.Dense(3, "softmax"),
            ]
        ),
        {"x": floats(3, 4)},
    ),
    "convolutions": (sequential(network), {"x": floats(2, 9, 8, 3)}),
    "grouped convolutions": (sequential(grouped_network), {"x": floats(2, 7, 6, 4)}),
    "convolutions saved by TensorFlow": (
        saved_by_tensorflow(network),
        {"": floats(2, 9, 8, 3)},
    ),
    "MobileNet v2 block": (
        function(
            [spec("x", [None, 6, 6, 4])],
            block,
            expand=floats(1, 1, 4, 8),
            depthwise=floats(3, 3, 8, 1),
            project=floats(1, 1, 8, 4),
            bias=floats(8),
            bn1=statistics(8),
            bn2=statistics(8),
            bn3=statistics(4),
        ),
        {"x": floats(2, 6, 6, 4)},
    ),
    "text": (sequential(text_network), {"x": RNG.integers(0, 10, (2, 6)).astype("int32")}),
    "LSTM": (
        sequential(
            lambda: [
                keras.Input((5, 3), name="x"),
                keras.layers.LSTM(4, return_sequences=True),
            ]
        ),
        {"x": floats(2, 5, 3)},
    ),
    "LSTMs": (sequential(recurrent("LSTM", "LSTM")), {"x": floats(2, 5, 3)}),
    "GRUs": (sequential(recurrent("GRU", "GRU", return_sequences=True)), {"x": floats(2, 5, 3)}),
    "while loop": (
        function(
            [spec("x", [None, 3]), spec("n", [], tf.int32)], loop, w=floats(3, 3), b=floats(3)
        ),
        {"x": floats(2, 3), "n": np.array(4, "int32")},
    ),
    "TensorArray": (
        function([spec("x", [None, 2, 3])], growing, w=floats(3, 3)),
        {"x": floats(4, 2, 3)},
    ),
    "rows of a variable": (
        function([spec("x", [None], tf.int32)], rows_of_variable, rows=floats(5, 2)),
        {"x": np.array([3, 0, 3], "int32")},
    ),
    "hash tables": (
        function(
            [spec("x", [None], tf.string)],
            lookup,
            words=words_table,
            fixed=fixed_table,
            rows=floats(5, 2),
        ),
        {"x": WORDS},
    ),
    "table in a loop": (
        function([spec("x", [None], tf.string)], changed_lookup, table=growing_table),
        {"x": WORDS},
    ),
    "strings": (
        function([spec("x", [None], tf.string)], texts),
        {"x": np.array([b"one two.", b"", b"three! four  five"], object)},
    ),
    "detection": (
        function([spec("boxes", [None, 4]), spec("scores", [None])], detection),
        {"boxes": BOXES, "scores": RNG.uniform(0, 1, 12).astype("float32")},
    ),
    "ragged": (
        function(
            [spec("x", [None], tf.int32), spec("lengths", [None], tf.int32)],
            ragged,
            rows=floats(6, 2),
        ),
        {"x": np.array([0, 3, 2, 5], "int32"), "lengths": np.array([1, 0, 3], "int32")},
    ),
    "ragged to dense": (
        function(
            [spec("x", [None], tf.int32), spec("lengths", [None], tf.int32)],
            ragged_to_dense,
            rows=floats(6, 2),
        ),
        {"x": np.array([0, 3, 2, 5], "int32"), "lengths": np.array([1, 0, 3], "int32")},
    ),
    "cases": (
        function([spec("x", [3]), spec("index", [], tf.int32)], cases, w=floats(3)),
        {"x": floats(3), "index": np.array(2, "int32")},
    ),
    "segments": (function([spec("x", [4, 2])], segments), {"x": floats(4, 2)}),
    "blocks": (function([spec("x", [None, None, 4, 8])], blocks), {"x": floats(2, 6, 4, 8)}),
    "preprocessing": (
        sequential(preprocessing),
        {"x": np.array([[b"a", b"zz"], [b"c", b"b"]], object)},
    ),
    "sparse": (
        function([spec("indices", [None, 2], tf.int64), spec("values", [None])], sparse),
        {"indices": np.array([[0, 1], [2, 3]], "int64"), "values": floats(2)},
    ),
}


#: What TensorFlow.js cannot run, and what it says.
REFUSALS = {"ragged to dense": "Unknown op 'RaggedTensorToTensor'"}


@pytest.fixture(scope="module", params=[*SMALL, *NETWORKS])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with a SavedModel, what it is given, what TensorFlow returns, and what it became."""
    save, inputs = {**SMALL, **NETWORKS}[request.param]
    folder = tmp_path_factory.mktemp("conversion")
    save(folder / "saved")
    if "" in inputs:
        signature = tf.saved_model.load(folder / "saved").signatures["serving_default"]
        inputs = {next(iter(signature.structured_input_signature[1])): inputs[""]}
    expected = theirs(folder / "saved", inputs)
    print(convert_model(folder / "saved", folder / "web"))
    return request.param, folder, inputs, expected


def test_same_here(saved: Any) -> None:
    _, folder, inputs, expected = saved
    for actual, expected_array in zip(
        ours(folder / "web", inputs), in_order(expected), strict=True
    ):
        close(actual, expected_array)


def test_same_in_tensorflow_js(saved: Any, node: NodeProcess) -> None:
    name, folder, inputs, expected = saved
    if name in REFUSALS:
        with pytest.raises(AssertionError, match=REFUSALS[name]):
            node.run(folder / "web", inputs)
        return
    for actual, expected_array in zip(
        node.run(folder / "web", inputs), in_order(expected), strict=True
    ):
        close(actual, expected_array)


# -- quantized weights -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "uint16", "uint8"])
def test_quantized_weights(dtype: str, tmp_path: Path, node: NodeProcess) -> None:
    """The files compute what TensorFlow does with the weights that the quantized ones stand for."""
    inputs = {"x": floats(3, 4)}
    SMALL["dense"][0](tmp_path / "saved")
    convert_model(tmp_path / "saved", tmp_path / "web", quantization={dtype: "*/kernel"})
    (group,) = json.loads((tmp_path / "web" / "model.json").read_text())["weightsManifest"]
    data = b"".join((tmp_path / "web" / path).read_bytes() for path in group["paths"])
    assert sum("quantization" in spec for spec in group["weights"]) == 2
    weights = wt.io.decode_weights(data, group["weights"])
    first, bias, second, other_bias = (
        value.numpy() for name, value in weights.items() if name.endswith(("kernel", "bias"))
    )
    hidden = tf.nn.relu(inputs["x"] @ first + bias)
    expected = tf.nn.softmax(hidden @ second + other_bias).numpy()
    close(ours(tmp_path / "web", inputs)[0], expected)
    close(node.run(tmp_path / "web", inputs)[0], expected)


# -- other files -------------------------------------------------------------------------------


def test_frozen_graphs(tmp_path: Path, node: NodeProcess) -> None:
    w = floats(4, 3)
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        y = tf.nn.relu(tf.matmul(x, w), name="y")
        tf.argmax(y, 1, name="best")
    (tmp_path / "frozen.pb").write_bytes(graph.as_graph_def().SerializeToString())
    inputs = {"x": floats(2, 4)}
    expected = np.maximum(inputs["x"] @ w, 0)
    convert_model(tmp_path / "frozen.pb", tmp_path / "all")
    close(ours(tmp_path / "all", inputs)[0], expected.argmax(1).astype("int32"))
    convert_model(tmp_path / "frozen.pb", tmp_path / "y", outputs=["y"])
    close(ours(tmp_path / "y", inputs)[0], expected)
    close(node.run(tmp_path / "y", inputs)[0], expected)


@pytest.mark.parametrize("use_resource", [False, True])
def test_models_of_tensorflow_1(use_resource: bool, tmp_path: Path, node: NodeProcess) -> None:
    w = floats(2, 2)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        variable = v1.get_variable("w", initializer=w, use_resource=use_resource)
        _, value = v1.while_loop(
            lambda i, _: i < 3, lambda i, value: (i + 1, tf.matmul(value, variable)), (0, x)
        )
        y = v1.cond(tf.reduce_sum(value) > 0, lambda: value + 1.0, lambda: value * 2.0)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x}, {"y": y})
        v1.enable_control_flow_v2()
    convert_model(tmp_path / "saved", tmp_path / "web")
    for sign in (1, -1):
        inputs = {"x": sign * np.abs(floats(2, 2))}
        value = inputs["x"] @ w @ w @ w
        expected = value + 1 if value.sum() > 0 else value * 2
        close(ours(tmp_path / "web", inputs)[0], expected)
        close(node.run(tmp_path / "web", inputs)[0], expected)


def test_vocabularies_of_tensorflow_1(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a\nb\nc\n")
    index = tf.lookup.TextFileIndex
    columns = (tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    with tf.Graph().as_default(), v1.Session() as session:
        lines = tf.lookup.TextFileInitializer(str(tmp_path / "words.txt"), *columns)
        x = v1.placeholder(tf.string, [None], name="x")
        y = tf.lookup.StaticHashTable(lines, -1).lookup(x)
        initializer = v1.tables_initializer()
        session.run(initializer)
        inputs, outputs = {"x": x}, {"y": y}
        v1.saved_model.simple_save(
            session, str(tmp_path / "saved"), inputs, outputs, legacy_init_op=initializer
        )
    (tmp_path / "words.txt").unlink()
    convert_model(tmp_path / "saved", tmp_path / "web")
    (actual,) = ours(tmp_path / "web", {"x": np.array([b"b", b"d"], object)})
    assert actual.tolist() == [1, -1]


def test_keras_files_become_layers_models(tmp_path: Path, node: NodeProcess) -> None:
    keras.utils.set_random_seed(4)
    layers = [keras.Input((9, 8, 3)), keras.layers.Conv2D(4, 3), keras.layers.Flatten()]
    model = keras.Sequential([*layers, keras.layers.Dense(2)])
    x = floats(2, 9, 8, 3)
    for suffix in ("keras", "h5"):
        model.save(tmp_path / f"model.{suffix}")
        convert_model(tmp_path / f"model.{suffix}", tmp_path / suffix)
        close(node.run(tmp_path / suffix, {"x": x}, "layers")[0], model.predict(x, verbose=0))
    convert_model(tmp_path / "h5", tmp_path / "back.keras")
    back = keras.saving.load_model(tmp_path / "back.keras")
    close(back.predict(x, verbose=0), model.predict(x, verbose=0))


@pytest.mark.parametrize("name", SIZES)
def test_keras_files_become_graphs(name: str, tmp_path: Path, node: NodeProcess) -> None:
    model = network_of_keras(name, SIZES[name])
    model.save(tmp_path / "model.keras")
    convert_model(tmp_path / "model.keras", tmp_path / "web", output_format="tfjs_graph_model")
    inputs = {model.layers[0].name: images(SIZES[name], 2)}
    expected = model.predict(*inputs.values(), verbose=0)
    close(ours(tmp_path / "web", inputs)[0], expected)
    close(node.run(tmp_path / "web", inputs)[0], expected)


def test_safetensors_of_keras(tmp_path: Path) -> None:
    x = keras.Input((8, 8, 3))
    y = keras.layers.BatchNormalization()(keras.layers.Conv2D(4, 3)(x))
    model = keras.Model(x, keras.layers.Dense(2)(keras.layers.Flatten()(y)))
    variables = {variable.path: np.array(variable) for variable in model.variables}
    save_file(variables, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(model.to_json())
    convert_model(tmp_path, tmp_path / "back.keras")
    back = keras.saving.load_model(tmp_path / "back.keras")
    image = floats(2, 8, 8, 3)
    close(back.predict(image, verbose=0), model.predict(image, verbose=0))


# -- facts about TensorFlow --------------------------------------------------------------------


def test_default_attributes_are_those_of_tensorflow() -> None:
    for op, defaults in DEFAULTS.items():
        graph = v1.GraphDef()
        attributes = {attribute.name: attribute for attribute in op_def_registry.get(op).attr}
        node = graph.node.add(name="n", op=op)
        for name in defaults:
            assert attributes[name].HasField("default_value"), (op, name)
            node.attr[name].CopyFrom(attributes[name].default_value)
        (read,) = read_graph(graph.SerializeToString(), "g").nodes
        assert {
            name: pytest.approx(value) if isinstance(value, float) else value
            for name, value in read.attributes.items()
        } == defaults


def test_names_of_outputs_are_those_of_tensorflow() -> None:
    """In functions, tensors are named by the outputs of their nodes."""
    for op in {*OPERATIONS, *table_rows({}), "Merge", "Switch"} - {"_Normalized"}:
        definition = op_def_registry.get(op)
        outputs = [] if definition is None else definition.output_arg
        if len(outputs) < 2 or op == "RaggedGather":
            continue
        node = NodeDef("n", op, (), {}, "")
        for index, output in enumerate(outputs):
            assert reference_of(f"n:{output.name}:0", "g", {"n": node}).output == index, op


# -- what `make test` converts -----------------------------------------------------------------

#: SavedModels that are small enough to be kept as text.
SAMPLES = [
    "LSTM",
    "MobileNet v2 block",
    "TensorArray",
    "blocks",
    "cases",
    "detection",
    "grouped convolutions",
    "hash tables",
    "ragged",
    "rows of a variable",
    "segments",
    "strings",
    "table in a loop",
    "while loop",
]


def write_samples() -> None:
    """Write the files that TensorFlow makes of some models, and what it computes with them."""
    samples = {}
    for name in SAMPLES:
        save, inputs = SMALL[name]
        folder = Path(tempfile.mkdtemp()) / "saved"
        save(folder)
        names = (
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        )
        samples[name] = {
            "files": {
                file: b64encode(zlib.compress((folder / file).read_bytes(), 9)).decode()
                for file in sorted(names)
                if file != "fingerprint.pb"
            },
            "inputs": {key: listed(array) for key, array in inputs.items()},
            "outputs": {key: listed(array) for key, array in theirs(folder, inputs).items()},
        }
    path = Path(__file__).parent / "convert" / "saved_models.json"
    path.write_text(json.dumps(samples, indent=1) + "\n")


def listed(array: Array) -> dict[str, Any]:
    """An array as JSON."""
    texts = array.dtype == object
    elements = [value.decode() for value in array.ravel()] if texts else array.ravel().tolist()
    dtype = "string" if texts else str(array.dtype)
    return {"dtype": dtype, "shape": list(array.shape), "elements": elements}


if __name__ == "__main__":
    write_samples()
