"""ONNX models beside the package of its authors."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from tests_py.formats.google_messages import assert_rows_are_facts
from webtensor import ModelFormatError
from webtensor.formats.onnx import (
    AttributeReference,
    ExternalData,
    Graph,
    MapType,
    Model,
    Node,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensor,
    SparseTensorType,
    Tensor,
    TensorType,
    Type,
    ValueInfo,
    read_onnx,
    read_onnx_tensor,
)
from webtensor.formats.onnx_messages import DATA_TYPES, SCHEMA

BUNDLED = Path(onnx.__file__).parent / "backend" / "test" / "data"
MODELS = [
    *sorted(BUNDLED.glob("light/*.onnx")),
    *sorted(BUNDLED.glob("*/*/*.onnx")),
]


def test_the_tables_are_facts():
    assert_rows_are_facts(SCHEMA, onnx.ModelProto.DESCRIPTOR)
    for number, data_type in DATA_TYPES.items():
        assert data_type.name in ("string", helper.tensor_dtype_to_np_dtype(number).name)
        assert helper.tensor_dtype_to_field(number) == data_type.field


# -- comparison with the package's objects -----------------------------------------------------


def assert_model(ours: Model, theirs: Any) -> None:
    assert ours.ir_version == theirs.ir_version
    assert ours.opsets == {row.domain: row.version for row in theirs.opset_import}
    assert ours.producer == (theirs.producer_name, theirs.producer_version)
    assert (ours.domain, ours.version) == (theirs.domain, theirs.model_version)
    assert ours.description == theirs.doc_string
    assert ours.metadata == {row.key: row.value for row in theirs.metadata_props}
    assert_graph(ours.graph, theirs.graph)
    for function, expected in zip(ours.functions, theirs.functions, strict=True):
        assert (function.name, function.domain) == (expected.name, expected.domain)
        assert function.overload == expected.overload
        assert function.inputs == tuple(expected.input)
        assert function.outputs == tuple(expected.output)
        assert function.attributes == tuple(expected.attribute)
        assert function.opsets == {row.domain: row.version for row in expected.opset_import}
        assert_attributes(function.defaults, expected.attribute_proto)
        assert_nodes(function.nodes, expected.node)
        assert_values(function.values, expected.value_info)


def assert_graph(ours: Graph, theirs: Any) -> None:
    assert ours.name == theirs.name
    assert_nodes(ours.nodes, theirs.node)
    assert_values(ours.inputs, theirs.input)
    assert_values(ours.outputs, theirs.output)
    assert_values(ours.values, theirs.value_info)
    assert list(ours.initializers) == [tensor.name for tensor in theirs.initializer]
    for tensor in theirs.initializer:
        assert_tensor(ours.initializers[tensor.name], tensor)
    for tensor in theirs.sparse_initializer:
        assert_sparse_tensor(ours.sparse_initializers[tensor.values.name], tensor)
    assert ours.quantization == {
        row.tensor_name: {pair.key: pair.value for pair in row.quant_parameter_tensor_names}
        for row in theirs.quantization_annotation
    }


def assert_nodes(ours: tuple[Node, ...], theirs: Any) -> None:
    for node, expected in zip(ours, theirs, strict=True):
        assert (node.op, node.domain, node.name) == (
            expected.op_type,
            "" if expected.domain == "ai.onnx" else expected.domain,
            expected.name,
        )
        assert node.overload == expected.overload
        assert node.inputs == tuple(expected.input)
        assert node.outputs == tuple(expected.output)
        assert_attributes(node.attributes, expected.attribute)


def assert_attributes(ours: Mapping[str, Any], theirs: Any) -> None:
    assert list(ours) == [attribute.name for attribute in theirs]
    for attribute in theirs:
        value = ours[attribute.name]
        if attribute.ref_attr_name:
            assert value == AttributeReference(attribute.ref_attr_name)
            continue
        expected = helper.get_attribute_value(attribute)
        if isinstance(value, list):
            for item, expected_item in zip(value, expected, strict=True):
                assert_value(item, expected_item)
        else:
            assert_value(value, expected)


def assert_value(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, onnx.TensorProto):
        assert_tensor(ours, theirs)
    elif isinstance(theirs, onnx.SparseTensorProto):
        assert_sparse_tensor(ours, theirs)
    elif isinstance(theirs, onnx.GraphProto):
        assert_graph(ours, theirs)
    elif isinstance(theirs, onnx.TypeProto):
        assert ours == described(theirs)
    elif isinstance(theirs, bytes):
        assert (ours.encode() if isinstance(ours, str) else ours) == theirs
    else:
        np.testing.assert_equal(ours, theirs)
        assert type(ours) is type(theirs)


def assert_values(ours: tuple[ValueInfo, ...], theirs: Any) -> None:
    assert list(ours) == [ValueInfo(value.name, described(value.type)) for value in theirs]


def described(message: Any) -> Type:
    """A type from the package's message."""
    kind = message.WhichOneof("value")
    if not kind:
        return None
    value = getattr(message, kind)
    if kind in ("tensor_type", "sparse_tensor_type"):
        of_kind = TensorType if kind == "tensor_type" else SparseTensorType
        shape = None
        if value.HasField("shape"):
            shape = tuple(
                dimension.dim_value
                if dimension.HasField("dim_value")
                else dimension.dim_param or None
                for dimension in value.shape.dim
            )
        return of_kind(DATA_TYPES[value.elem_type].name if value.elem_type else "", shape)
    if kind == "sequence_type":
        return SequenceType(described(value.elem_type))
    if kind == "optional_type":
        return OptionalType(described(value.elem_type))
    if kind == "map_type":
        return MapType(DATA_TYPES[value.key_type].name, described(value.value_type))
    return OpaqueType(value.domain, value.name)


def assert_tensor(ours: Tensor, theirs: Any) -> None:
    array = numpy_helper.to_array(theirs)
    assert ours.name == theirs.name
    assert ours.shape == array.shape
    if ours.dtype == "string":
        assert ours.data == tuple(str(text).encode() for text in array.ravel())
        return
    assert ours.dtype == array.dtype.name
    assert isinstance(ours.data, (bytes, memoryview))
    # Elements of less than a byte are packed.
    assert bytes(ours.data) == numpy_helper.from_array(array).raw_data


def assert_sparse_tensor(ours: SparseTensor, theirs: Any) -> None:
    assert ours.shape == tuple(theirs.dims)
    assert_tensor(ours.values, theirs.values)
    assert_tensor(ours.indices, theirs.indices)


# -- models ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_bundled_models(path: Path):
    data = path.read_bytes()
    assert_model(read_onnx(data, path.name), onnx.load_from_string(data))


def everything() -> Any:
    """A model with something of everything."""
    make_value = helper.make_tensor_value_info
    inner = helper.make_graph(
        [helper.make_node("Identity", ["outer"], ["inner"])],
        "body",
        [],
        [make_value("inner", TensorProto.FLOAT, ["batch", 3])],
    )
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([1, 2], "float32"), "sparse"),
        numpy_helper.from_array(np.array([[0, 1], [2, 3]], "int64")),
        [3, 4],
    )
    tensor = numpy_helper.from_array(np.arange(6, dtype="int64").reshape(2, 3), "t")
    tensor_type = helper.make_tensor_type_proto(TensorProto.FLOAT16, ["n", 3, None])
    map_type = helper.make_map_type_proto(TensorProto.STRING, tensor_type)
    node = helper.make_node("Custom", ["x", "", "w"], ["", "y"], name="n", domain="test")
    node.overload = "v2"
    values = {
        "f": 0.1, "i": -5, "s": "text", "raw": b"\xff", "t": tensor, "g": inner, "sp": sparse,
        "floats": [1.5, -2.5], "ints": [2**40, -1], "strings": ["a", "ü", b"\xff"],
        "tensors": [tensor, tensor], "graphs": [inner, inner], "types": [tensor_type, map_type],
        "type": helper.make_sequence_type_proto(tensor_type), "sparse_tensors": [sparse],
    }  # fmt: skip
    node.attribute.extend(helper.make_attribute(name, value) for name, value in values.items())
    empty = node.attribute.add(name="no_ints", type=AttributeProto.INTS)
    assert not empty.ints
    reference = helper.make_node("Custom", ["a"], ["b"], domain="test")
    reference.attribute.add(name="i", ref_attr_name="axis", type=AttributeProto.INT)
    function = helper.make_function(
        "test",
        "f",
        ["a"],
        ["b"],
        [reference],
        [helper.make_opsetid("", 17)],
        attributes=["axis"],
        attribute_protos=[helper.make_attribute("alpha", 0.5)],
    )
    graph = helper.make_graph(
        [node, helper.make_node("Relu", ["y"], ["z"])],
        "main",
        [
            make_value("x", TensorProto.FLOAT, ["batch", None, 3]),
            make_value("any_rank", TensorProto.INT32, None),
            make_value("scalar", TensorProto.BOOL, []),
            helper.make_value_info("sequence", helper.make_sequence_type_proto(tensor_type)),
            helper.make_value_info("optional", helper.make_optional_type_proto(map_type)),
            helper.make_sparse_tensor_value_info("s", TensorProto.DOUBLE, [3, 4]),
            onnx.ValueInfoProto(name="untyped"),
        ],
        [make_value("z", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(np.array([1, 2, 3], "float32"), "w")],
        value_info=[make_value("y", TensorProto.FLOAT, ["batch"])],
        sparse_initializer=[sparse],
    )
    opaque = graph.input.add(name="opaque")
    opaque.type.opaque_type.domain, opaque.type.opaque_type.name = "test", "Thing"
    annotation = graph.quantization_annotation.add(tensor_name="w")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    model = helper.make_model(
        graph,
        functions=[function],
        producer_name="tests",
        producer_version="1",
        domain="org.example",
        doc_string="A model.",
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("test", 1)],
    )
    model.model_version = 3
    helper.set_model_props(model, {"author": "someone"})
    return model


def test_a_model_with_everything():
    model = everything()
    assert_model(read_onnx(model.SerializeToString(), "m.onnx"), model)


def test_domains_of_two_names():
    model = helper.make_model(
        helper.make_graph([helper.make_node("Relu", ["x"], ["y"], domain="ai.onnx")], "g", [], []),
        opset_imports=[helper.make_opsetid("ai.onnx", 17)],
    )
    ours = read_onnx(model.SerializeToString(), "m.onnx")
    assert (ours.opsets, ours.graph.nodes[0].domain) == ({"": 17}, "")


def test_a_size_of_minus_one_is_unknown():
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [-1, 3])
    data = helper.make_model(helper.make_graph([], "main", [value], [])).SerializeToString()
    assert read_onnx(data, "m.onnx").graph.inputs == (
        ValueInfo("x", TensorType("float32", (None, 3))),
    )


def test_attributes_of_old_files_have_no_kind():
    node = {"attribute": [{"name": "axis", "i": 1}, {"name": "pads", "ints": [1, 2]}]}
    values = {"ir_version": 1, "graph": {"node": [node]}}
    ours = read_onnx(SCHEMA.encode("ModelProto", values), "m.onnx")
    assert ours.graph.nodes[0].attributes == {"axis": 1, "pads": [1, 2]}


# -- tensors -----------------------------------------------------------------------------------


def array_of(dtype: str) -> Any:
    """An array of 7 elements, which do not fill the last byte of small ones."""
    if dtype == "string":
        return np.array(["", "a", "ü", "a b", "1", "2", "3"], object)
    if dtype == "bool":
        return np.array([0, 1, 1, 0, 1, 0, 0], bool)
    values = np.array([-4, -1, 0, 1, 1.5, 2, 3])
    if dtype.startswith(("uint", "float8_e8m0")):
        values = abs(values)
    if dtype in ("int2", "uint2"):
        values = values % 2
    values = values * 1j if dtype.startswith("complex") else values
    return values.astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))


@pytest.mark.parametrize("number", DATA_TYPES)
@pytest.mark.parametrize("is_raw", [False, True])
def test_tensors_of_all_dtypes(number: int, is_raw: bool):
    array = array_of(DATA_TYPES[number].name)
    if is_raw and array.dtype != object:
        theirs = numpy_helper.from_array(array, "t")
    else:
        theirs = helper.make_tensor("t", number, array.shape, array.tolist())
    assert_tensor(read_onnx_tensor(theirs.SerializeToString(), "t.pb"), theirs)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3)])
def test_tensors_of_all_ranks(shape: tuple[int, ...]):
    theirs = numpy_helper.from_array(np.ones(shape, "float32"))
    ours = read_onnx_tensor(theirs.SerializeToString(), "t.pb")
    assert ours.shape == shape
    assert ours.elements("t").shape == shape


def test_numbers_of_fewer_bits_may_be_negative():
    for number, expected in ((10, "00fc"), (2, "ff"), (12, "feffffff")):
        field = DATA_TYPES[number].field
        value = 2**64 - 2 if field == "uint64_data" else -1 if number == 2 else -1024
        data = SCHEMA.encode("TensorProto", {"data_type": number, "dims": [1], field: [value]})
        assert bytes(read_onnx_tensor(data, "t.pb").elements("t").data).hex() == expected


def test_raw_data_is_a_view_of_the_file():
    data = numpy_helper.from_array(np.ones(100, "float32")).SerializeToString()
    ours = read_onnx_tensor(data, "t.pb")
    assert isinstance(ours.data, memoryview)
    assert ours.data.obj is data


# -- other files -------------------------------------------------------------------------------


def external(**entries: Any) -> bytes:
    tensor = {
        "name": "w",
        "data_type": 1,
        "dims": [2],
        "data_location": 1,
        "external_data": [{"key": key, "value": str(value)} for key, value in entries.items()],
    }
    values = {"ir_version": 8, "graph": {"initializer": [tensor]}}
    return SCHEMA.encode("ModelProto", values)


def test_external_data_as_the_package_writes_it(tmp_path: Path):
    model = everything()
    path = tmp_path / "m.onnx"
    onnx.save(
        model, path, save_as_external_data=True, location="w.bin", size_threshold=0,
        convert_attribute=True,
    )  # fmt: skip
    ours = read_onnx(path.read_bytes(), "m.onnx")
    assert ours.external_files == ("w.bin",)
    files = {"w.bin": (tmp_path / "w.bin").read_bytes()}
    tensors = {
        "w": ours.graph.initializers["w"],
        "t": ours.graph.nodes[0].attributes["t"],
    }
    arrays = {"w": np.array([1, 2, 3], "float32"), "t": np.arange(6)}
    for name, tensor in tensors.items():
        assert isinstance(tensor, Tensor)
        assert isinstance(tensor.data, ExternalData)
        assert bytes(tensor.elements(name, files).data) == arrays[name].tobytes()


@pytest.mark.parametrize(
    "entries, expected",
    [
        ({}, (0, None)),
        ({"offset": 4, "length": 8}, (4, 8)),
        ({"offset": 4, "checksum": "x"}, (4, None)),
    ],
)
def test_external_data(entries: dict[str, Any], expected: tuple[int, int | None]):
    model = read_onnx(external(location="a/b.bin", **entries), "m.onnx")
    assert model.external_files == ("a/b.bin",)
    tensor = model.graph.initializers["w"]
    assert tensor.data == ExternalData("a/b.bin", *expected)
    contents = bytes(range(8 + expected[0]))
    assert bytes(tensor.elements("w", {"a/b.bin": contents}).data) == contents[expected[0] :]
    for wrong in (contents[:-1], b""):
        with pytest.raises(ModelFormatError, match="w: 8 bytes are needed, but"):
            tensor.elements("w", {"a/b.bin": wrong})
    with pytest.raises(ModelFormatError, match=r"'a/b\.bin', which is missing"):
        tensor.elements("w")


@pytest.mark.parametrize(
    "entries, message",
    [
        ({}, "names a file that lies elsewhere: ''"),
        ({"location": "/etc/passwd"}, "lies elsewhere"),
        ({"location": "../w.bin"}, "lies elsewhere"),
        ({"location": "a\\..\\w.bin"}, "lies elsewhere"),
        ({"location": "https://example.org/w.bin"}, "lies elsewhere"),
        ({"location": "C:w.bin"}, "lies elsewhere"),
        ({"location": "a//b"}, "lies elsewhere"),
        ({"location": "w", "offset": -1}, "has the offset '-1'"),
        ({"location": "w", "length": "1e9"}, "has the length '1e9'"),
    ],
)
def test_external_data_that_is_refused(entries: dict[str, Any], message: str):
    with pytest.raises(ModelFormatError, match=message):
        read_onnx(external(**entries), "m.onnx")


# -- what is refused ---------------------------------------------------------------------------


def model(**graph: Any) -> dict[str, Any]:
    return {"ir_version": 8, "graph": graph}


def attributes(*rows: Any) -> dict[str, Any]:
    return model(node=[{"op_type": "Op", "attribute": list(rows)}])


def tensor(**fields: Any) -> dict[str, Any]:
    return model(initializer=[{"name": "w", "data_type": 1, "dims": [2], **fields}])


INT64 = {"data_type": 7, "dims": [1], "int64_data": [0]}


@pytest.mark.parametrize(
    "values, message",
    [
        ({}, "m.onnx is no model of ONNX"),
        ({"ir_version": 3}, "m.onnx is no model of ONNX"),
        (tensor(data_type=99, raw_data=bytes(8)), "'w' has a dtype of the unknown number 99"),
        (tensor(data_type=0), "'w' has a dtype of the unknown number 0"),
        (tensor(dims=[-1]), r"'w' has the shape \(-1,\)"),
        (tensor(raw_data=bytes(7)), "needs 8 bytes, but has 7"),
        (tensor(float_data=[1.0]), "needs 8 bytes, but has 4"),
        (tensor(dims=[2**40, 2**40]), "too many elements"),
        (tensor(dims=[1] * 65), "a shape has 65 axes"),
        (tensor(data_type=8, string_data=[b"a"]), "needs 2 strings, but has 1"),
        (tensor(data_type=8, raw_data=b"a"), "needs 2 strings, but has 0"),
        (tensor(data_type=8, dims=[10**12]), "would become"),
        (tensor(segment={"begin": 0}), "is a part of a tensor, which is not supported"),
        (model(initializer=[INT64, INT64]), "initializer 1, '': another one has this name"),
        (model(sparse_initializer=[{"values": INT64, "indices": INT64, "dims": [-3]}]), "shape"),
        (
            model(sparse_initializer=[{"values": INT64, "indices": {"data_type": 7, "dims": [0]}}]),
            r"has values of shape \(1,\), and indices of dtype int64 and shape \(0,\)",
        ),
        (attributes({"name": "a", "type": 99}), "node 0, 'Op': attribute 'a' is of the unknown"),
        (attributes({"name": "a"}), "is of the unknown kind 0"),
        (attributes({"name": "a", "type": 2}, {"name": "a", "type": 2}), "'a' is given twice"),
        (
            model(input=[{"name": "x", "type": {"tensor_type": {"elem_type": 50}}}]),
            "value 'x' has a dtype of the unknown number 50",
        ),
        (
            model(
                input=[
                    {"name": "x"}
                    | {"type": {"tensor_type": {"shape": {"dim": [{"dim_value": -7}]}}}}
                ]
            ),
            "value 'x' has a shape with the size -7",
        ),
        ({**model(), "opset_import": [{"version": 1}, {"version": 2}]}, "two versions of"),
        ({**model(), "functions": [{"name": "f"}, {"name": "f"}]}, "two functions have the same"),
    ],
)
def test_broken_models(values: dict[str, Any], message: str):
    with pytest.raises(ModelFormatError, match=message) as info:
        read_onnx(SCHEMA.encode("ModelProto", values), "m.onnx")
    assert str(info.value).startswith("m.onnx")


def test_graphs_nested_too_deeply():
    graph: dict[str, Any] = {}
    for _ in range(40):
        graph = {"node": [{"attribute": [{"name": "body", "type": 5, "g": graph}]}]}
    with pytest.raises(ModelFormatError, match="nested more than 100 levels deep"):
        read_onnx(SCHEMA.encode("ModelProto", model(**graph)), "m.onnx")
