"""Files that TensorFlow itself writes, and what it makes of ours; safetensors, too.

`make test-tensorflow` runs these tests in an environment of their own, which takes 1.7 GB.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import ml_dtypes
import numpy as np
import pytest
import safetensors
import tensorflow as tf
from google.protobuf.json_format import MessageToDict
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import saved_model_pb2, tensor_bundle_pb2
from tensorflow.lite.python import schema_py_generated as lite

from tests_py.formats.bundles import bundle, compressed
from tests_py.formats.google_messages import assert_equal, assert_rows_are_facts
from tests_py.formats.test_checkpoint import ARRAYS
from tests_py.formats.test_safetensors import packed, row, written
from tests_py.mutations import mutated, mutated_json
from webtensor import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.checkpoint import Checkpoint, read_checkpoint
from webtensor.formats.element_types import Elements
from webtensor.formats.graph_def import TensorValue, graph_of_json, graph_of_message, read_graph
from webtensor.formats.graph_writing import graph_bytes
from webtensor.formats.safetensors import read_safetensors
from webtensor.formats.saved_model import read_saved_model
from webtensor.formats.tensorflow_messages import DTYPES, SCHEMA
from webtensor.formats.tflite import Tensor, read_tflite
from webtensor.formats.tflite_tables import OPERATORS, SCHEMA as LITE_SCHEMA, TENSOR_TYPES

pytestmark = pytest.mark.filterwarnings("ignore")
v1 = tf.compat.v1


def numpy_of(elements: Elements) -> Any:
    """An array of our elements."""
    if elements.dtype == "string":
        return np.array(elements.data, object).reshape(elements.shape)
    dtype = np.dtype(getattr(ml_dtypes, elements.dtype, elements.dtype))
    return np.frombuffer(elements.data, dtype).reshape(elements.shape)


# -- messages ----------------------------------------------------------------------------------


def test_the_tables_are_facts():
    assert_rows_are_facts(
        SCHEMA,
        saved_model_pb2.SavedModel.DESCRIPTOR,
        tensor_bundle_pb2.BundleHeaderProto.DESCRIPTOR,
        tensor_bundle_pb2.BundleEntryProto.DESCRIPTOR,
    )
    numbers = SCHEMA.enumerations["DataType"]
    assert numbers == dict(types_pb2.DataType.items())
    assert {
        number: tf.as_dtype(number).name
        for number in numbers.values()
        if number and number % 100 < 33
    } | {33: "float4_e2m1fn", 133: "float4_e2m1fn_ref"} == DTYPES


TENSORS = [
    np.array([[1.5, -2], [3, 4]], "float32"),
    np.array([1e300], "float64"),
    np.array([1.5, -2], "float16"),
    np.array([1.5, -2], ml_dtypes.bfloat16),
    np.array([1.5, -2], ml_dtypes.float8_e4m3fn),
    np.array([-5, 300], "int16"),
    np.array([[-5, 3]], "int8"),
    np.array([0, 255], "uint8"),
    np.array([0, 65535], "uint16"),
    np.array([-7, 2**31 - 1], "int32"),
    np.array([-7, 2**62], "int64"),
    np.array([7, 2**32 - 1], "uint32"),
    np.array([7, 2**64 - 1], "uint64"),
    np.array([True, False]),
    np.array([1 + 2j], "complex64"),
    np.array([1 + 2j], "complex128"),
    np.array([b"a", b"\xff", b""], object),
    np.array(2.5, "float32"),
    np.zeros((0, 3), "float32"),
    np.full((4, 5), 3, "int32"),
]


@pytest.mark.parametrize("array", TENSORS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_tensors(array: Any):
    message = tf.make_tensor_proto(array)
    graph = v1.GraphDef()
    graph.node.add(name="c", op="Const").attr["value"].tensor.CopyFrom(message)
    for ours in (
        read_graph(graph.SerializeToString(), "g"),
        graph_of_json(MessageToDict(graph), "g"),
    ):
        value = ours.nodes[0].attributes["value"]
        assert isinstance(value, TensorValue)
        elements = value.complete("c", Budget("g"))
        np.testing.assert_array_equal(numpy_of(elements), tf.make_ndarray(message))
        assert elements.dtype == tf.as_dtype(message.dtype).name


# -- SavedModels -------------------------------------------------------------------------------


def dense(folder: Path) -> None:
    keras = tf.keras
    keras.utils.set_random_seed(1)
    layers = [keras.Input((4,)), keras.layers.Dense(3, activation="relu"), keras.layers.Dense(2)]
    keras.Sequential(layers).export(folder, verbose=False)


def recurrent(folder: Path) -> None:
    keras = tf.keras
    layers = [keras.Input((5, 3)), keras.layers.LSTM(4, return_sequences=True)]
    keras.Sequential([*layers, keras.layers.GRU(2)]).export(folder, verbose=False)


def convolution(folder: Path) -> None:
    keras = tf.keras
    layers = [keras.Input((8, 8, 3)), keras.layers.Conv2D(4, 3, padding="same")]
    keras.Sequential([*layers, keras.layers.BatchNormalization()]).export(folder, verbose=False)


def while_loop(folder: Path) -> None:
    class Loop(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def __call__(self, n: Any) -> Any:
            def body(i: Any, total: Any) -> Any:
                return i + 1, tf.cond(i > 2, lambda: total + i, lambda: total)

            return {"sum": tf.while_loop(lambda i, _: i < n, body, (0, 0))[1]}

    tf.saved_model.save(Loop(), folder)


def same_names(folder: Path) -> None:
    class Module(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = tf.Variable([1.0, 2.0], name="v")
            self.b = tf.Variable([[3.0]], name="v")
            self.c = tf.Variable(5.0, name="v")

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def f(self, x: Any) -> Any:
            return x * self.a + self.b * self.c

        @tf.function(input_signature=[tf.TensorSpec([2]), tf.TensorSpec(None, name="y")])
        def g(self, x: Any, y: Any) -> Any:
            return {"z": x + y + self.c}

    module = Module()
    tf.saved_model.save(module, folder, signatures={"f": module.f, "g": module.g})


def tables(folder: Path) -> None:
    words = folder.parent / "words.txt"
    words.write_text("a\nb\nc\n")

    class Tables(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            pairs = tf.lookup.KeyValueTensorInitializer(["x", "y"], [1, 2])
            self.fixed = tf.lookup.StaticHashTable(pairs, -1)
            lines = tf.lookup.TextFileInitializer(
                str(words),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            )
            self.words = tf.lookup.StaticVocabularyTable(lines, 2)
            self.growing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
            self.growing.insert(["q"], tf.constant([5], tf.int64))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, x: Any) -> Any:
            return self.fixed.lookup(x), self.words.lookup(x), self.growing.lookup(x)

    tf.saved_model.save(Tables(), folder)


MODELS: dict[str, Callable[[Path], None]] = {
    function.__name__: function
    for function in (dense, recurrent, convolution, while_loop, same_names, tables)
}


@pytest.fixture(scope="module", params=MODELS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a SavedModel."""
    path = tmp_path_factory.mktemp("models") / request.param
    MODELS[request.param](path)
    return path


def test_messages_are_those_that_tensorflow_reads(folder: Path):
    data = (folder / "saved_model.pb").read_bytes()
    theirs = saved_model_pb2.SavedModel.FromString(data)
    assert_equal(SCHEMA.decode("SavedModel", data, "m"), theirs)


def test_graphs_are_the_same_in_json(folder: Path):
    data = (folder / "saved_model.pb").read_bytes()
    theirs = saved_model_pb2.SavedModel.FromString(data).meta_graphs[0].graph_def
    message = SCHEMA.decode("SavedModel", data, "m")["meta_graphs"][0]["graph_def"]
    ours = graph_of_message(message, "m", Budget("m", len(data)))
    assert graph_of_json(MessageToDict(theirs), "m", Budget("m", len(data))) == ours


def test_graphs_are_written_as_they_were_read(folder: Path):
    ours = read_saved_model(folder).graph
    data = graph_bytes(ours)
    assert read_graph(data, "m") == ours
    theirs = v1.GraphDef.FromString(data)
    expected = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    names = {node.name: node.op for node in expected.meta_graphs[0].graph_def.node}
    assert {node.name: node.op for node in theirs.node} == names
    with tf.Graph().as_default():
        tf.import_graph_def(theirs)


def test_captured_variables_have_their_values(folder: Path):
    loaded = tf.saved_model.load(folder)
    ours = read_saved_model(folder)
    assert ours.signatures.keys() == loaded.signatures.keys()
    nodes = {node.name: node for node in ours.graph.nodes}
    for name, function in loaded.signatures.items():
        signature = ours.signatures[name]
        specs = function.structured_input_signature[1]
        assert {key: info.dtype for key, info in signature.inputs.items()} == {
            key: spec.dtype.name for key, spec in specs.items()
        }
        call = nodes[next(iter(signature.outputs.values())).names[0].partition(":")[0]]
        values = {id(variable.handle): variable for variable in function.variables}
        captured = call.inputs[len(signature.inputs) :]
        assert len(captured) == len(function.captured_inputs)
        for node, handle in zip(captured, function.captured_inputs, strict=True):
            if id(handle) in values:
                value = numpy_of(ours.variable(nodes[node]))
                np.testing.assert_array_equal(value, values[id(handle)].numpy())


def test_tables_and_assets(tmp_path: Path):
    tables(tmp_path / "m")
    ours = read_saved_model(tmp_path / "m")
    ((tensor, path),) = ours.assets.items()
    assert path == "assets/words.txt"
    assert ours.asset(tensor) == b"a\nb\nc\n"
    (source,) = ours.tables.values()
    assert ours.checkpoint.elements(source.keys).data == (b"q",)
    assert numpy_of(ours.checkpoint.elements(source.values)) == 5
    operations = {node.name: node.op for node in ours.graph.nodes}
    assert operations[ours.initializer] == "NoOp"


@pytest.mark.parametrize("use_resource", [False, True])
def test_models_of_tensorflow_1(use_resource: bool, tmp_path: Path):
    value = np.array([[1, 2], [3, 4]], "float32")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=value, use_resource=use_resource)
        y = tf.matmul(x, w, name="y")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y})
        frozen = v1.graph_util.convert_variables_to_constants(session, session.graph_def, ["y"])
    ours = read_saved_model(tmp_path / "m")
    node = next(node for node in ours.graph.nodes if node.name == "w")
    np.testing.assert_array_equal(numpy_of(ours.variable(node)), value)
    constant = next(
        node for node in read_graph(frozen.SerializeToString(), "g").nodes if node.name == "w"
    )
    tensor = constant.attributes["value"]
    assert isinstance(tensor, TensorValue)
    np.testing.assert_array_equal(numpy_of(tensor.complete("w", Budget("g"))), value)


def test_partitioned_variables_are_refused(tmp_path: Path):
    with tf.Graph().as_default(), v1.Session() as session:
        partitioner = v1.fixed_size_partitioner(2)
        w = v1.get_variable("w", [4, 2], partitioner=partitioner, use_resource=False)
        session.run(v1.global_variables_initializer())
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        y = tf.matmul(x, w.as_tensor(), name="y")
        v1.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y})
    ours = read_saved_model(tmp_path / "m")
    node = next(node for node in ours.graph.nodes if node.name == "w/part_0")
    with pytest.raises(ModelFormatError, match="tensor 'w' is a partitioned variable"):
        ours.variable(node)


# -- checkpoints -------------------------------------------------------------------------------


def opened(prefix: Path) -> Checkpoint:
    index = prefix.with_suffix(".index").read_bytes()
    return read_checkpoint(index, lambda name: Path(f"{prefix}.{name}").read_bytes(), "c")


def test_checkpoints_that_tensorflow_writes(tmp_path: Path):
    arrays = [array for array in TENSORS if array.dtype != ml_dtypes.float8_e4m3fn]
    arrays += [np.random.default_rng(1).normal(size=(300, 1000))]
    arrays += [np.array(number, "float32") for number in range(500)]
    variables = [tf.Variable(array) for array in arrays]
    tf.train.Checkpoint(values=variables).write(str(tmp_path / "c"))
    ours = opened(tmp_path / "c")
    for number, variable in enumerate(variables):
        elements = ours.elements(f"values/{number}/.ATTRIBUTES/VARIABLE_VALUE")
        np.testing.assert_array_equal(numpy_of(elements), variable.numpy())


@pytest.mark.parametrize("compress", [None, compressed])
@pytest.mark.parametrize("shards", [1, 3])
def test_tensorflow_reads_the_checkpoints_of_our_tests(
    compress: Callable[[bytes], bytes] | None, shards: int, tmp_path: Path
):
    for name, data in bundle(ARRAYS, "c", shards, compress).items():
        (tmp_path / name).write_bytes(data)
    reader = tf.train.load_checkpoint(str(tmp_path / "c"))
    ours = opened(tmp_path / "c")
    assert reader.get_variable_to_shape_map().keys() == ours.entries.keys()
    for key in ARRAYS:
        np.testing.assert_array_equal(numpy_of(ours.elements(key)), reader.get_tensor(key))


# -- TensorFlow Lite ---------------------------------------------------------------------------


def names_of(enumeration: Any) -> tuple[str, ...]:
    """The names of an enumeration in the order of their numbers."""
    numbers = {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}
    return tuple(numbers[number] for number in sorted(numbers))


def test_the_tables_of_tensorflow_lite_are_facts():
    assert names_of(lite.BuiltinOperator) == OPERATORS
    assert tuple(name.lower() for name in names_of(lite.TensorType)) == TENSOR_TYPES
    for name, enumeration in LITE_SCHEMA.enumerations.items():
        names = names_of(getattr(lite, name))
        assert tuple(name.lower() for name in enumeration.names) == tuple(map(str.lower, names))
    for union, members in LITE_SCHEMA.unions.items():
        names = names_of(getattr(lite, union))
        assert members == {number: names[number] for number in members}
    for table in LITE_SCHEMA.types.values():
        defaults = vars(getattr(lite, f"{table.name}T")())
        lower = {name.lower(): value for name, value in defaults.items()}
        slots = slots_of(table.name)
        for field in table.fields.values():
            squeezed = field.name.replace("_", "")
            assert slots[squeezed] == field.slot, (table.name, field)
            default = LITE_SCHEMA.default(field)
            if field.kind in LITE_SCHEMA.enumerations:
                default = LITE_SCHEMA.enumerations[field.kind].names.index(default)
            if not field.is_vector and field.kind != "string":
                assert lower[squeezed] == default, (table.name, field)


def slots_of(table: str) -> dict[str, int]:
    """The slots of the fields of a table: those to which the functions that write them write."""
    slots: dict[str, int] = {}

    class Builder:
        def __init__(self, name: str) -> None:
            self.name = name

        def __getattr__(self, method: str) -> Any:
            def prepend(slot: int, *_: Any) -> None:
                slots[self.name] = slot

            return prepend

    prefix = f"{table}Add"
    for name, function in vars(lite).items():
        if name.startswith(prefix) and name != prefix:
            function(Builder(name.removeprefix(prefix).lower()), 0)
    return slots


def convert(model: Any, **options: Any) -> bytes:
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    for name, value in options.items():
        setattr(converter, name, value)
    data: bytes = converter.convert()
    return data


def vision_model() -> Any:
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(2)
    return tf.keras.Sequential(
        [
            tf.keras.Input((16, 16, 3)),
            layers.Conv2D(8, 3, activation="relu6", padding="same", strides=2),
            layers.DepthwiseConv2D(3),
            layers.MaxPooling2D(),
            layers.UpSampling2D(interpolation="bilinear"),
            layers.Flatten(),
            layers.Dense(4),
            layers.Softmax(),
        ]
    )


def float_model() -> bytes:
    return convert(vision_model())


def half_model() -> bytes:
    optimize = [tf.lite.Optimize.DEFAULT]
    specification = tf.lite.TargetSpec(supported_types=[tf.float16])
    return convert(vision_model(), optimizations=optimize, target_spec=specification)


def integer_model() -> bytes:
    random = np.random.default_rng(1)
    images = [[random.normal(size=(1, 16, 16, 3)).astype("float32")] for _ in range(3)]
    return convert(
        vision_model(),
        optimizations=[tf.lite.Optimize.DEFAULT],
        representative_dataset=lambda: iter(images),
        target_spec=tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8]),
    )


def sequence_model() -> bytes:
    layers = tf.keras.layers
    return convert(tf.keras.Sequential([tf.keras.Input((5, 3), 1), layers.LSTM(4)]))


def loop_model() -> bytes:
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def run(n: Any) -> Any:
        return tf.while_loop(lambda i: i < n, lambda i: (i + 3,), (0,))[0]

    concrete = run.get_concrete_function()
    data: bytes = tf.lite.TFLiteConverter.from_concrete_functions([concrete], run).convert()
    return data


def string_model() -> bytes:
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def run(index: Any) -> Any:
        return tf.gather(tf.constant(["a", "", "üü"]), index)

    converter = tf.lite.TFLiteConverter.from_concrete_functions([run.get_concrete_function()], run)
    converter.target_spec.supported_ops = [
        tf.lite.OpsSet.TFLITE_BUILTINS,
        tf.lite.OpsSet.SELECT_TF_OPS,
    ]
    data: bytes = converter.convert()
    return data


LITE_MODELS = (
    float_model, half_model, integer_model, sequence_model, loop_model, string_model
)  # fmt: skip


@pytest.mark.parametrize("make", LITE_MODELS, ids=lambda make: make.__name__)
def test_lite_models(make: Callable[[], bytes]):
    data = make()
    theirs = lite.ModelT.InitFromPackedBuf(data)
    ours = read_tflite(data, "m", Budget("m", len(data)))
    assert [graph.name for graph in ours.subgraphs] == [text(row.name) for row in theirs.subgraphs]
    for graph, expected in zip(ours.subgraphs, theirs.subgraphs, strict=True):
        assert graph.inputs == tuple(expected.inputs)
        assert graph.outputs == tuple(expected.outputs)
        for tensor, their_tensor in zip(graph.tensors, expected.tensors, strict=True):
            assert_tensor(tensor, their_tensor, theirs.buffers[their_tensor.buffer])
        for operator, their_operator in zip(graph.operators, expected.operators, strict=True):
            code = theirs.operatorCodes[their_operator.opcodeIndex]
            assert operator.op == text(code.customCode) or not operator.is_custom
            assert operator.is_custom or operator.op == OPERATORS[code.builtinCode]
            assert operator.version == code.version
            assert operator.inputs == tuple(their_operator.inputs)
            assert operator.outputs == tuple(their_operator.outputs)
            options = their_operator.builtinOptions
            lower = {name.lower(): value for name, value in vars(options or object).items()}
            for name, value in operator.options.items():
                assert number_of(value) == lower[name.replace("_", "")], name


def text(value: bytes | None) -> str:
    return (value or b"").decode()


def number_of(value: Any) -> Any:
    """The number of an option, which may be a name of an enumeration."""
    if not isinstance(value, str):
        return value
    names = next(row.names for row in LITE_SCHEMA.enumerations.values() if value in row.names)
    return names.index(value)


def assert_tensor(ours: Tensor, theirs: Any, buffer: Any) -> None:
    shape = () if theirs.shape is None else tuple(theirs.shape)
    assert (ours.name, ours.shape) == (text(theirs.name), shape)
    assert ours.dtype == TENSOR_TYPES[theirs.type]
    if ours.data is None:
        assert buffer.data is None or not len(buffer.data)
    else:
        assert bytes(ours.data) == bytes(buffer.data)
        ours.elements("m", Budget("m"))
    quantization = theirs.quantization
    if quantization is not None and quantization.scale is not None:
        assert ours.quantization is not None
        assert list(ours.quantization.scales) == list(quantization.scale)
        assert list(ours.quantization.zero_points) == list(quantization.zeroPoint)
        assert ours.quantization.dimension == quantization.quantizedDimension
    else:
        assert ours.quantization is None


# -- safetensors -------------------------------------------------------------------------------


def test_safetensors():
    theirs = dict(safetensors.deserialize(written()))
    ours = read_safetensors(written(), "m.st").tensors
    assert ours.keys() == theirs.keys()
    for name, elements in ours.items():
        assert list(elements.shape) == theirs[name]["shape"]
        assert bytes(elements.data) == bytes(theirs[name]["data"])


#: What the specification forbids, and their library does not look for.
FORBIDDEN = ("given twice", "begin with a brace", "axes")


def refusal(data: bytes) -> str:
    """Why we refuse a file, or ""."""
    try:
        read_safetensors(data, "m.st")
    except ModelFormatError as error:
        return str(error)
    return ""


def test_safetensors_that_their_library_refuses():
    random = Random(3)
    header = {"a": row("F32", [2], 0, 8), "b": row("U8", [0, 3], 8, 8), "c": row("I16", [], 8, 10)}
    contents = bytes(range(10))
    refused = 0
    for _ in range(3000):
        data = packed(mutated_json(json.dumps(header).encode(), random), contents)
        if random.random() < 0.3:
            data = mutated(data, random)
        reason = refusal(data)
        try:
            theirs = dict(safetensors.deserialize(data))
        except safetensors.SafetensorError:
            refused += 1
            assert reason
        else:
            assert not reason or any(text in reason for text in FORBIDDEN)
            assert reason or read_safetensors(data, "m.st").tensors.keys() == theirs.keys()
    assert 1000 < refused < 3000
