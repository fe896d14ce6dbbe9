"""TensorFlow Lite's models, one of which TensorFlow itself wrote."""

import base64
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
import pytest

from tests_py.formats.flatbuffer_files import encode
from webtensor import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.tflite import (
    Model,
    Quantization,
    Signature,
    SparseDimension,
    Sparsity,
    Tensor,
    read_tflite,
)
from webtensor.formats.tflite_tables import IDENTIFIER, OPERATORS, SCHEMA

WEIGHTS = np.arange(12, dtype="float32").reshape(3, 4)
STRINGS = pack("<4I", 2, 16, 17, 19) + b"abc"
SPARSE = {
    "traversal_order": [0, 1],
    "dim_metadata": [
        {"dense_size": 2},
        {
            "format": "SPARSE_CSR",
            "array_segments": ("Uint8Vector", {"values": [0, 1, 2]}),
            "array_indices": ("Int32Vector", {"values": [1, 0]}),
        },
    ],
}
MODEL: dict[str, Any] = {
    "version": 3,
    "description": "A model.",
    "operator_codes": [
        {"deprecated_builtin_code": OPERATORS.index("CONV_2D"), "version": 2},
        {"deprecated_builtin_code": 127, "builtin_code": OPERATORS.index("CUMSUM")},
        {"deprecated_builtin_code": OPERATORS.index("CUSTOM"), "custom_code": "Mine"},
        {"builtin_code": OPERATORS.index("WHILE")},
        {"builtin_code": 9999, "deprecated_builtin_code": 127},
    ],
    "buffers": [
        {},
        {"data": WEIGHTS.tobytes()},
        {"data": b"1.5.0"},
        {"data": STRINGS},
        {"data": b"\x01\x02"},
        {},
    ],
    "subgraphs": [
        {
            "name": "main",
            "inputs": [0],
            "outputs": [2],
            "tensors": [
                {"name": "x", "shape": [1, 3], "shape_signature": [-1, 3]},
                {"name": "weights", "shape": [3, 4], "buffer": 1},
                {
                    "name": "y",
                    "shape": [1, 4],
                    "type": "int8",
                    "quantization": {"scale": [0.5], "zero_point": [-3]},
                },
                {
                    "name": "per_axis",
                    "shape": [2, 3],
                    "type": "int8",
                    "quantization": {"scale": [0.5, 1, 2], "quantized_dimension": 1},
                },
                {"name": "texts", "shape": [2], "type": "string", "buffer": 3},
                {"name": "sparse", "shape": [2, 2], "type": "int8", "buffer": 4}
                | {"sparsity": SPARSE},
                {"name": "packed", "shape": [3], "type": "int4", "buffer": 4},
                {"name": "empty", "shape": [0, 3], "buffer": 5},
                {"name": "state", "shape": [1], "is_variable": True, "quantization": {}},
            ],
            "operators": [
                {
                    "opcode_index": 0,
                    "inputs": [0, 1, -1],
                    "outputs": [2],
                    "builtin_options": ("Conv2DOptions", {"padding": "VALID", "stride_w": 2}),
                },
                {
                    "opcode_index": 1,
                    "inputs": [0],
                    "outputs": [2],
                    "intermediates": [3],
                    "builtin_options": ("CumsumOptions", {"reverse": True}),
                },
                {"opcode_index": 2, "outputs": [2], "custom_options": b"\x01\x02\x03"},
                {
                    "opcode_index": 3,
                    "builtin_options": ("WhileOptions", {"body_subgraph_index": 1}),
                },
                {
                    "opcode_index": 4,
                    "builtin_options": ("SqueezeOptions", {"squeeze_dims": [1, 2]}),
                },
            ],
        },
        {"name": "body"},
    ],
    "metadata": [{"name": "min_runtime_version", "buffer": 2}],
    "signature_defs": [
        {
            "signature_key": "serving_default",
            "inputs": [{"name": "input", "tensor_index": 0}],
            "outputs": [{"name": "output", "tensor_index": 2}],
        }
    ],
}


def file(**changes: Any) -> bytes:
    return encode(SCHEMA, "Model", {**MODEL, **changes}, IDENTIFIER)


def opened(**changes: Any) -> Model:
    return read_tflite(file(**changes), "m.tflite")


def tensor_named(name: str) -> Tensor:
    return next(tensor for tensor in opened().subgraphs[0].tensors if tensor.name == name)


def test_a_model():
    model = opened()
    assert model.description == "A model."
    assert {name: bytes(data) for name, data in model.metadata.items()} == {
        "min_runtime_version": b"1.5.0"
    }
    assert model.signatures == (Signature("serving_default", {"input": 0}, {"output": 2}, 0),)
    main, body = model.subgraphs
    assert (main.name, main.inputs, main.outputs) == ("main", (0,), (2,))
    assert (body.name, body.tensors, body.operators) == ("body", (), ())


def test_operators():
    conv, cumsum, custom, loop, newer = opened().subgraphs[0].operators
    assert (conv.op, conv.version, conv.is_custom) == ("CONV_2D", 2, False)
    assert (conv.inputs, conv.outputs) == ((0, 1, -1), (2,))
    assert conv.options == {
        "padding": "VALID",
        "stride_w": 2,
        "stride_h": 0,
        "fused_activation_function": "NONE",
        "dilation_w_factor": 1,
        "dilation_h_factor": 1,
        "quantized_bias_type": "float32",
    }
    assert (cumsum.op, cumsum.version) == ("CUMSUM", 1)
    assert cumsum.options == {"exclusive": False, "reverse": True}
    assert cumsum.intermediates == (3,)
    assert (custom.op, custom.is_custom, custom.options) == ("Mine", True, {})
    assert bytes(custom.custom_options) == b"\x01\x02\x03"
    assert loop.options == {"cond_subgraph_index": 0, "body_subgraph_index": 1}
    assert (newer.op, newer.options) == ("BUILTIN_9999", {"squeeze_dims": (1, 2)})


def test_shapes_and_dtypes():
    x, weights, y = opened().subgraphs[0].tensors[:3]
    assert (x.shape, x.signature, x.dtype, x.data) == ((1, 3), (None, 3), "float32", None)
    assert (weights.shape, weights.signature) == ((3, 4), (3, 4))
    assert y.dtype == "int8"
    assert tensor_named("state").is_variable


def test_quantization():
    assert tensor_named("y").quantization == Quantization((0.5,), (-3,), 0)
    expected = Quantization((0.5, 1.0, 2.0), (0, 0, 0), 1)
    assert tensor_named("per_axis").quantization == expected
    assert tensor_named("x").quantization is None
    assert tensor_named("state").quantization is None


@pytest.mark.parametrize(
    "name, expected",
    [
        ("weights", WEIGHTS.tobytes()),
        ("texts", (b"a", b"bc")),
        ("packed", b"\x01\x02"),
        ("empty", b""),
    ],
)
def test_constants(name: str, expected: Any):
    data = tensor_named(name).elements("m", Budget("m")).data
    assert (data if isinstance(data, tuple) else bytes(data)) == expected


def test_constants_are_views_of_the_file():
    data = file()
    constant = read_tflite(data, "m").subgraphs[0].tensors[1].data
    assert isinstance(constant, memoryview)
    assert constant.obj is data


def test_sparse_constants():
    sparsity = tensor_named("sparse").sparsity
    assert isinstance(sparsity, Sparsity)
    assert sparsity.traversal_order == (0, 1)
    assert sparsity.dimensions[0] == SparseDimension("DENSE", 2, (), ())
    assert list(sparsity.dimensions[1].segments) == [0, 1, 2]
    assert list(sparsity.dimensions[1].indices) == [1, 0]


def test_files_whose_buffers_are_outside_of_tables():
    data = file(buffers=[{}, {"offset": 16, "size": 48}, *MODEL["buffers"][2:]])
    constant = read_tflite(data, "m").subgraphs[0].tensors[1].data
    assert constant is not None
    assert bytes(constant) == data[16:64]


def test_a_model_that_tensorflow_wrote():
    text = (Path(__file__).parent / "tflite.txt").read_text()
    model = read_tflite(base64.b64decode(text), "m.tflite")
    (main,) = model.subgraphs
    assert [operator.op for operator in main.operators] == ["FULLY_CONNECTED"]
    (operator,) = main.operators
    assert operator.options["fused_activation_function"] == "RELU"
    assert main.tensors[main.inputs[0]].signature == (None, 2)
    kernel = main.tensors[operator.inputs[1]].elements("m", Budget("m"))
    assert kernel.shape == (3, 2)
    np.testing.assert_array_equal(np.frombuffer(kernel.data, "f4"), [1, 4, 2, 5, 3, 6])
    assert model.signatures[0].key == "serving_default"


# -- what is refused ---------------------------------------------------------------------------


def graph(**changes: Any) -> dict[str, Any]:
    return {"subgraphs": [{**MODEL["subgraphs"][0], **changes}, {"name": "body"}]}


def one_tensor(**fields: Any) -> dict[str, Any]:
    subgraph = {"tensors": [{"name": "t", **fields}]}
    return {"subgraphs": [subgraph], "signature_defs": []}


def one_operator(**fields: Any) -> dict[str, Any]:
    return graph(operators=[fields])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"version": 2}, "its format is of version 2, not 3"),
        ({"subgraphs": []}, "it has no subgraph"),
        (graph(inputs=[9]), "subgraph 0: an input is 9, but there are 9"),
        (graph(outputs=[-1]), "subgraph 0: an output is -1, but there are 9"),
        (one_operator(opcode_index=5), "operator 0: its code is 5, but there are 5"),
        (one_operator(inputs=[-2]), "operator 0, CONV_2D: an input is -2, but there are 9"),
        (one_operator(outputs=[-1]), "operator 0, CONV_2D: an output is -1"),
        (one_operator(intermediates=[10]), "an intermediate is 10"),
        (
            one_operator(builtin_options=("IfOptions", {"else_subgraph_index": 2})),
            "else_subgraph_index is 2, but there are 2",
        ),
        (
            one_operator(large_custom_options_offset=10**9, large_custom_options_size=1),
            "1 bytes at 1000000000 are needed",
        ),
        (one_operator(builtin_options=("Conv2DOptions", {"padding": 7})), "padding is 7"),
        ({"metadata": [{"name": "n", "buffer": 6}]}, "metadata 'n': its buffer is 6"),
        ({"signature_defs": [{"subgraph_index": 2}]}, "signature '': its subgraph is 2"),
        ({"signature_defs": [{"inputs": [{"tensor_index": 9}]}]}, "a tensor is 9"),
        ({"buffers": [{"offset": 10**6, "size": 10}]}, "10 bytes at 1000000 are needed"),
        (one_tensor(buffer=6), "subgraph 0: tensor 0, 't': its buffer is 6, but there are 6"),
        (one_tensor(shape=[-1]), r"tensor 0, 't' has the shape \(-1,\)"),
        (one_tensor(shape=[2**31 - 1] * 3), "too many elements"),
        (one_tensor(shape=[1], shape_signature=[1, 1]), "but the signature"),
        (one_tensor(shape=[1], shape_signature=[-2]), "but the signature"),
        (one_tensor(type=21), "Tensor.type is 21"),
        (one_tensor(external_buffer=1), "is in another file, which is not supported"),
        (one_tensor(shape=[2], quantization={"scale": [1, 1, 1]}), "has 3 scales and 0 zero"),
        (one_tensor(shape=[2], quantization={"scale": [1], "zero_point": [1, 2]}), "2 zero points"),
        (
            one_tensor(shape=[2], quantization={"scale": [1, 1], "quantized_dimension": 1}),
            "along dimension 1",
        ),
        (one_tensor(quantization={"details_type": 2}), "is quantized in blocks"),
        (one_tensor(shape=[2], sparsity={"traversal_order": [1]}), "sparse in an impossible way"),
        (
            one_tensor(shape=[2], sparsity={"traversal_order": [0, 1], "block_map": [1]}),
            "sparse in an impossible way",
        ),
    ],
)
def test_broken_models(changes: dict[str, Any], message: str):
    with pytest.raises(ModelFormatError, match=message) as info:
        opened(**changes)
    assert str(info.value).startswith("m.tflite: ")


@pytest.mark.parametrize(
    "name, data, message",
    [
        ("x", None, "is no constant"),
        ("sparse", b"\1\2", "is sparse"),
        ("weights", bytes(47), r"of dtype float32 and shape \(3, 4\) has 47 bytes"),
        ("packed", b"\1", "of dtype int4"),
        ("texts", pack("<I", 3), "needs 2 strings, but has 3"),
        ("texts", pack("<I", 2), "needs 2 strings, but has 2"),
        ("texts", pack("<4I", 2, 15, 16, 16), "has strings outside of its bytes"),
        ("texts", pack("<4I", 2, 16, 16, 17), "has strings outside of its bytes"),
        ("texts", pack("<4I", 2, 18, 17, 18) + b"ab", "has strings outside of its bytes"),
    ],
)
def test_broken_constants(name: str, data: bytes | None, message: str):
    index = next(
        row.get("buffer", 0) for row in MODEL["subgraphs"][0]["tensors"] if row["name"] == name
    )
    buffers = list(MODEL["buffers"])
    if data is not None:
        buffers[index] = {"data": data}
    model = opened(buffers=buffers)
    tensor = next(tensor for tensor in model.subgraphs[0].tensors if tensor.name == name)
    with pytest.raises(ModelFormatError, match=f"m: tensor '{name}'.*{message}"):
        tensor.elements("m", Budget("m"))
