"""Models: loading, executing, control flow, functions, layouts, and what is wrong with them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import webtensor as wt
from tests_py.io.web_server import serving
from tests_py.onnx.single_nodes import compare_models

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name: str, shape: Any = None, dtype: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name: str, values: Any, dtype: Any = np.float32) -> Any:
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def model_of(
    nodes: list[Any],
    inputs: list[Any],
    outputs: list[Any],
    initializers: list[Any] | None = None,
    opset: int = 17,
    **options: Any,
) -> ModelProto:
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers or [])
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, **options)


def array(values: Any) -> NDArray[np.float32]:
    return np.asarray(values, np.float32)


def bytes_of(model: ModelProto) -> bytes:
    return bytes(model.SerializeToString())


def check(model: ModelProto, **inputs: Any) -> None:
    """Compare all outputs with those of the package's own evaluator."""
    loaded = wt.load_onnx(bytes_of(model))
    feeds = {name: wt.tensor(array) for name, array in inputs.items()}
    expected = ReferenceEvaluator(model).run(None, inputs)
    for _ in range(2):  # the second run computes with fewer nodes
        results = loaded.execute(feeds, loaded.output_names)
        for result, expected_array in zip(results, expected, strict=True):
            np.testing.assert_allclose(result.numpy(), expected_array, rtol=1e-5, atol=1e-5)


# -- loading and executing ---------------------------------------------------------------------


def linear() -> ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["y"], name="sum"),
    ]
    weights = [constant("w", [[1.0], [-1.0]]), constant("b", [0.5])]
    return model_of(nodes, [value("x", ["batch", 2])], [value("y", ["batch", 1])], weights)


def test_inputs_and_outputs_have_names_shapes_and_dtypes() -> None:
    model: Any = wt.load_onnx(bytes_of(linear()))
    assert model.inputs == [("x", (None, 2), "float32")]
    assert model.output_names == ["y"]


def test_load_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "linear.onnx"
    path.write_bytes(bytes_of(linear()))
    for source in (path, str(path)):
        model: Any = wt.load_onnx(source)
        assert model.predict(array([[3, 1]])).tolist() == [[2.5]]


def test_execute_intermediate_values_from_others() -> None:
    model: Any = wt.load_onnx(bytes_of(linear()))
    x = array([[3, 1]])
    assert model.execute({"x": x}, "product").tolist() == [[2.0]]
    y, product = model.execute({"x": x}, ["y", "product"])
    assert (y.tolist(), product.tolist()) == ([[2.5]], [[2.0]])
    assert model.execute({"product": wt.tensor([[1.0]])}, "y").tolist() == [[1.5]]


def test_initializers_may_be_fed() -> None:
    model: Any = wt.load_onnx(bytes_of(linear()))
    inputs = {"x": array([[3, 1]]), "b": wt.tensor([1.0])}
    assert model.predict(inputs).tolist() == [[3.0]]


def test_load_and_execute_asynchronously() -> None:
    async def main() -> Any:
        model: Any = await wt.load_onnx_async(bytes_of(linear()))
        return await model.predict_async([array([[3, 1]])])

    assert asyncio.run(main()).tolist() == [[2.5]]


def test_external_tensors_are_read_beside_the_file(tmp_path: Path) -> None:
    import onnx

    onnx.save(
        linear(),
        tmp_path / "linear.onnx",
        save_as_external_data=True,
        size_threshold=0,
        location="weights.bin",
    )
    model: Any = wt.load_onnx(tmp_path / "linear.onnx")
    assert model.predict(array([[3, 1]])).tolist() == [[2.5]]
    names = ("linear.onnx", "weights.bin")
    with serving({f"/models/{name}": (tmp_path / name).read_bytes() for name in names}) as server:
        address = f"{server.url}/models/linear.onnx?version=2"
        for model in (wt.load_onnx(address), asyncio.run(wt.load_onnx_async(address))):
            assert model.predict(array([[3, 1]])).tolist() == [[2.5]]
        with pytest.raises(OSError, match="404"):
            wt.load_onnx(f"{server.url}/none.onnx")


@pytest.mark.parametrize(
    "inputs, message",
    [
        ({}, "'x' is missing"),
        ({"x": np.ones((1, 3), np.float32)}, r"'x' must have shape \(None, 2\)"),
        ({"x": np.ones((1, 2), np.int32)}, "'x' must have dtype float32"),
        ([np.ones((1, 2), np.float32)] * 2, r"has 1 inputs \(x\), but got 2"),
        ({"z": 1.0}, "no value 'z'"),
    ],
)
def test_wrong_inputs(inputs: Any, message: str) -> None:
    model: Any = wt.load_onnx(bytes_of(linear()))
    if isinstance(inputs, dict):
        inputs = {
            name: wt.tensor(value) if isinstance(value, np.ndarray) else value
            for name, value in inputs.items()
        }
    with pytest.raises(ValueError, match=message):
        model.predict(inputs)


def test_values_that_fusion_takes_over_can_be_fed_and_fetched() -> None:
    model: Any = wt.load_onnx(bytes_of(convolutional([node("Relu", "h")])))
    x = wt.tensor(np.random.default_rng(2).standard_normal((4, 3, 6, 5)).astype(np.float32))
    y, h = model.execute({"x": x}, ["y", "h"])
    assert wt.all(y == wt.relu(h)).item()
    np.testing.assert_allclose(model.predict(x).numpy(), y.numpy(), atol=1e-6)
    assert wt.all(model.execute({"h": -h}, "y") == wt.relu(-h)).item()
    zeros = wt.zeros((4, 3, 3, 3))
    assert len(set(model.execute({"x": x, "w": zeros}, "h").numpy().ravel().tolist())) == 4


# -- subgraphs and functions -------------------------------------------------------------------


def graph_of(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> Any:
    return helper.make_graph(nodes, "body", inputs, outputs)


def test_if_captures_outer_values_and_constants() -> None:
    then = graph_of([helper.make_node("Add", ["x", "one"], ["t"])], [], [value("t")])
    other = graph_of([helper.make_node("Mul", ["x", "x"], ["e"])], [], [value("e")])
    model = model_of(
        [helper.make_node("If", ["flag"], ["y"], then_branch=then, else_branch=other)],
        [value("flag", [], BOOL), value("x", [2])],
        [value("y")],
        [constant("one", 1.0)],
    )
    for flag in (True, False):
        check(model, flag=np.array(flag), x=array([2, 3]))


def test_what_a_branch_returns_is_disposed_by_itself(backend: str) -> None:
    branches = {
        f"{kind}_branch": helper.make_graph(
            [helper.make_node("Constant", [], ["b"], value=constant("b", [float(kind == "then")]))],
            kind,
            [],
            [value("b")],
        )
        for kind in ("then", "else")
    }
    nodes = [
        helper.make_node("If", ["is_first"], ["y"], **branches),
        helper.make_node("SequenceConstruct", ["x", "x"], ["pair"]),
    ]
    outputs = [value("y"), helper.make_tensor_sequence_value_info("pair", FLOAT, None)]
    inputs = [value("x", ["n"]), value("is_first", [], BOOL)]
    model: Any = wt.load_onnx(bytes_of(model_of(nodes, inputs, outputs)))
    x = wt.tensor([1.0, 2.0])
    for _ in range(4):
        y, pair = model.predict([x, wt.tensor(True)])
        assert y.tolist() == [1.0]
        wt.dispose([y, pair[0]])
        assert pair[1].tolist() == x.tolist() == [1.0, 2.0]


def test_loop_with_carried_values_scan_outputs_and_a_nested_if() -> None:
    then = graph_of([helper.make_node("Add", ["sum", "x"], ["more"])], [], [value("more")])
    other = graph_of([helper.make_node("Identity", ["sum"], ["same"])], [], [value("same")])
    body = graph_of(
        [
            helper.make_node("Less", ["trip", "three"], ["is_early"]),
            helper.make_node("If", ["is_early"], ["next"], then_branch=then, else_branch=other),
            helper.make_node("Identity", ["next"], ["seen"]),
            helper.make_node("Identity", ["goes_on"], ["still"]),
        ],
        [value("trip", [], INT64), value("goes_on", [], BOOL), value("sum", [2])],
        [value("still", [], BOOL), value("next", [2]), value("seen", [2])],
    )
    model = model_of(
        [helper.make_node("Loop", ["count", "go", "x"], ["last", "all"], body=body)],
        [value("count", [], INT64), value("x", [2])],
        [value("last"), value("all")],
        [constant("three", 3, np.int64), constant("go", True, np.bool_)],
    )
    check(model, count=np.array(5), x=array([1, 2]))


def test_a_loop_without_trips_stacks_nothing_of_the_declared_shapes_and_dtypes() -> None:
    body = graph_of(
        [
            helper.make_node("Identity", ["goes_on"], ["still"]),
            helper.make_node("Identity", ["sum"], ["next"]),
            helper.make_node("Shape", ["sum"], ["sizes"]),
            helper.make_node("Neg", ["sum"], ["seen"]),
        ],
        [value("trip", [], INT64), value("goes_on", [], BOOL), value("sum", ["n", 2])],
        [
            value("still", [], BOOL),
            value("next", ["n", 2]),
            value("sizes", [2], INT64),
            value("seen", ["n", 2]),
        ],
    )
    loop = helper.make_node("Loop", ["count", "", "x"], ["last", "sizes", "all"], body=body)
    inputs = [value("count", [], INT64), value("x", ["n", 2])]
    outputs = [value("last"), value("sizes", None, INT64), value("all")]
    model: Any = wt.load_onnx(bytes_of(model_of([loop], inputs, outputs)))
    for _ in range(2):
        last, sizes, every = model.predict([wt.tensor(0), wt.ones((3, 2))])
        assert last.shape == (3, 2)
        assert (sizes.shape, sizes.dtype) == ((0, 2), "int32")
        assert (every.shape, every.dtype) == ((0, 0, 2), "float32")


def test_scan_of_two_inputs_with_directions_and_axes() -> None:
    body = graph_of(
        [
            helper.make_node("Mul", ["a", "b"], ["product"]),
            helper.make_node("Add", ["state", "product"], ["new"]),
            helper.make_node("Identity", ["new"], ["out"]),
        ],
        [value("state", [2]), value("a", [2]), value("b", [2])],
        [value("new", [2]), value("out", [2])],
    )
    model = model_of(
        [
            helper.make_node(
                "Scan",
                ["s", "x", "y"],
                ["last", "all"],
                body=body,
                num_scan_inputs=2,
                scan_input_axes=[0, 1],
                scan_input_directions=[1, 0],
                scan_output_axes=[1],
                scan_output_directions=[1],
            )
        ],
        [value("s", [2]), value("x", [3, 2]), value("y", [2, 3])],
        [value("last"), value("all")],
    )
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    feeds = {"s": np.zeros(2, np.float32), "x": x, "y": x.reshape(2, 3) + 1}
    compare_models(bytes_of(model), feeds, 1e-6)


def doubling_scan() -> Any:
    """A model that adds up slices, and returns each twice."""
    body = graph_of(
        [
            helper.make_node("Add", ["state", "a"], ["new"]),
            helper.make_node("Concat", ["a", "b"], ["out"], axis=0),
        ],
        [value("state", [2]), value("a", [2]), value("b", [2])],
        [value("new", [2]), value("out", [4])],
    )
    scan = helper.make_node(
        "Scan",
        ["s", "x", "y"],
        ["last", "all"],
        body=body,
        num_scan_inputs=2,
        scan_input_axes=[0, 1],
        scan_output_axes=[-1],
    )
    inputs = [value("s", [2]), value("x", ["n", 2]), value("y", [2, "n"])]
    return wt.load_onnx(bytes_of(model_of([scan], inputs, [value("last"), value("all")])))


def test_scan_of_no_slices() -> None:
    """As the specification says; ONNX Runtime refuses them."""
    state = wt.tensor([1.0, 2.0])
    for _ in range(3):
        last, every = doubling_scan().predict([state, wt.zeros((0, 2)), wt.zeros((2, 0))])
        assert (last.tolist(), every.shape) == ([1.0, 2.0], (4, 0))


def test_scan_of_inputs_with_different_sizes() -> None:
    inputs = [wt.ones(2), wt.ones((3, 2)), wt.ones((2, 4))]
    with pytest.raises(ValueError, match=r"scan: .* 3 and 4 slices"):
        doubling_scan().predict(inputs)


def test_a_map_of_an_empty_sequence_is_empty() -> None:
    body = graph_of(
        [helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Abs", ["a"], ["c"])],
        [value("a")],
        [value("b"), value("c")],
    )
    nodes = [
        helper.make_node("SequenceEmpty", [], ["none"]),
        helper.make_node("SequenceMap", ["none"], ["b", "c"], body=body),
        helper.make_node("SequenceLength", ["c"], ["length"]),
        helper.make_node("Add", ["length", "x"], ["y"]),
    ]
    model: Any = wt.load_onnx(
        bytes_of(model_of(nodes, [value("x", [], INT64)], [value("y", None, INT64)]))
    )
    assert model.predict(wt.tensor(5)).tolist() == 5


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "shape, attribute, values",
    [
        ((1, 1, 4, 4), "scales", [1, 1, 0.1, 1]),
        ((1, 1, 4, 4), "sizes", [1, 1, 0, 4]),
        ((1, 1, 0, 4), "scales", [1, 1, 2, 2]),
        ((0, 1, 4, 4), "sizes", [0, 1, 8, 8]),
    ],
)
def test_resizing_to_no_elements(
    mode: str, shape: tuple[int, ...], attribute: str, values: list[float]
) -> None:
    names = ["x", "", "scales"] if attribute == "scales" else ["x", "", "", "sizes"]
    numbers = constant(attribute, values, np.float32 if attribute == "scales" else np.int64)
    nodes = [helper.make_node("Resize", names, ["y"], mode=mode)]
    model = model_of(nodes, [value("x", shape)], [value("y")], [numbers], opset=18)
    expected = tuple(
        int(number * size) if attribute == "scales" else int(number)
        for number, size in zip(values, shape, strict=True)
    )
    loaded: Any = wt.load_onnx(bytes_of(model))
    for _ in range(2):
        assert loaded.predict(wt.zeros(shape)).shape == expected


def test_nothing_is_resized_to_something() -> None:
    nodes = [helper.make_node("Resize", ["x", "", "", "sizes"], ["y"])]
    sizes = constant("sizes", [1, 1, 8, 4], np.int64)
    model = model_of(nodes, [value("x", [1, 1, 0, 4])], [value("y")], [sizes], opset=18)
    with pytest.raises(ValueError, match="resize: x has no elements along axis 2"):
        wt.load_onnx(bytes_of(model)).predict(wt.zeros((1, 1, 0, 4)))


def masked_write(shape: list[Any], mask_shape: list[Any]) -> ModelProto:
    """Return a model of ``x[mask] = -1``, as PyTorch's exporter writes it."""
    nodes = [
        helper.make_node("NonZero", ["mask"], ["coordinates"]),
        helper.make_node("Transpose", ["coordinates"], ["indices"], perm=[1, 0]),
        helper.make_node("Shape", ["indices"], ["rows"], end=1),
        helper.make_node("Shape", ["x"], ["sizes"], start=len(mask_shape)),
        helper.make_node("Concat", ["rows", "sizes"], ["shape"], axis=0),
        helper.make_node("Expand", ["value", "shape"], ["updates"]),
        helper.make_node("ScatterND", ["x", "indices", "updates"], ["y"]),
    ]
    inputs = [value("x", shape), value("mask", mask_shape, BOOL)]
    return model_of(nodes, inputs, [value("y", shape)], [constant("value", [-1.0])])


def test_updates_may_lack_what_is_written() -> None:
    model = masked_write([3], [3])
    model.graph.node[5].input[0] = ""
    with pytest.raises(wt.ModelFormatError, match="Expand"):
        wt.load_onnx(bytes_of(model)).predict([wt.zeros(3), wt.zeros(3, "bool")])


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 1, 3), (2, 0)], ids=str)
@pytest.mark.parametrize("element", [0, 1, -2])
def test_indices_of_equal_elements(element: int, shape: tuple[int, ...]) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node(
            "ConstantOfShape",
            ["shape"],
            ["elements"],
            value=helper.make_tensor("element", INT64, [1], [element]),
        ),
        node("NonZero", "elements"),
    ]
    x = value("x", [f"size {axis}" for axis in range(len(shape))])
    check(model_of(nodes, [x], [value("y", dtype=INT64)]), x=np.zeros(shape, np.float32))


@pytest.mark.parametrize("mask_shape", [(3, 4), (3,), (2, 3), (2,), (0,)], ids=str)
def test_a_constant_is_written_where_a_mask_is_true(mask_shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    model = masked_write([3, 4], list(mask_shape))
    x, mask = random.random((3, 4)).astype(np.float32), random.random(mask_shape) < 0.5
    check(model, x=x, mask=mask)
    assert "true_indices" not in kernels_of(model, x=x, mask=mask)


def test_functions_of_the_model_are_expanded() -> None:
    function = helper.make_function(
        "own",
        "Scaled",
        ["x"],
        ["y"],
        [
            helper.make_node("Elu", ["x"], ["e"]),
            helper.make_node("LeakyRelu", ["e"], ["y"]),
        ],
        [helper.make_opsetid("", 17)],
        ["alpha"],
    )
    function.node[1].attribute.add(name="alpha", ref_attr_name="alpha", type=AttributeProto.FLOAT)
    model = model_of(
        [
            helper.make_node("Scaled", ["x"], ["h"], domain="own", alpha=0.5),
            helper.make_node("Scaled", ["h"], ["y"], domain="own", alpha=0.25),
        ],
        [value("x", [3])],
        [value("y")],
        functions=[function],
    )
    loaded: Any = wt.load_onnx(bytes_of(model))
    expected = array([-1, 0, 2])
    for slope in (0.5, 0.25):
        expected = np.where(expected < 0, slope * np.expm1(np.minimum(expected, 0)), expected)
    np.testing.assert_allclose(loaded.predict(array([-1, 0, 2])).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("bits", [32, 64])
def test_shifted_integers_keep_their_sign(bits: int) -> None:
    """PyTorch's exporter shifts them without a sign, and sets the bits of negative ones."""
    signed, unsigned = np.dtype(f"int{bits}"), np.dtype(f"uint{bits}")
    kind = helper.np_dtype_to_tensor_dtype(signed)
    nodes = [
        helper.make_node("Cast", ["x"], ["bits"], to=helper.np_dtype_to_tensor_dtype(unsigned)),
        helper.make_node("BitShift", ["bits", "count"], ["shifted"], direction="RIGHT"),
        helper.make_node("BitwiseOr", ["shifted", "mask"], ["y bits"]),
        helper.make_node("Cast", ["y bits"], ["y"], to=kind),
    ]
    weights = [constant("count", 3, unsigned), constant("mask", 7 << (bits - 3), unsigned)]
    x, y = (value(name, [3], kind) for name in "xy")
    model = model_of(nodes, [x], [y], weights, opset=20, ir_version=10)
    compare_models(bytes_of(model), {"x": np.array([-9, -1, -128], signed)}, 0)


def test_integers_are_quantized_to_the_dtype_that_their_zero_is_cast_to() -> None:
    nodes = [
        helper.make_node("Cast", ["number"], ["cast"], to=TensorProto.INT8),
        helper.make_node("Reshape", ["cast", "shape"], ["zero"]),
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["steps"]),
        helper.make_node("DequantizeLinear", ["steps", "scale", "zero"], ["y"]),
    ]
    weights = [constant("number", [3], np.int64), constant("scale", 0.1)]
    weights.append(constant("shape", [], np.int64))
    model = model_of(nodes, [value("x", [3])], [value("y", [3])], weights, 20, ir_version=10)
    compare_models(bytes_of(model), {"x": array([-20, -3.04, 20])}, 1e-6)


# -- transformers ------------------------------------------------------------------------------


def test_an_encoder_block_as_exporters_write_it() -> None:
    """Attention of two heads by shapes that are computed, then two dense layers."""
    random = np.random.default_rng(0)
    nodes = [
        helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["n"]),
        helper.make_node("MatMul", ["n", "qkv"], ["all"]),
        helper.make_node("Split", ["all"], ["q", "k", "v"], axis=-1),
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"], axis=0),
        helper.make_node("Gather", ["shape", "one"], ["length"], axis=0),
        helper.make_node("Unsqueeze", ["batch", "first"], ["b"]),
        helper.make_node("Unsqueeze", ["length", "first"], ["l"]),
        helper.make_node("Concat", ["b", "l", "two_heads"], ["split"], axis=0),
    ]
    for name in "qkv":
        nodes += [
            helper.make_node("Reshape", [name, "split"], [f"{name}4"]),
            helper.make_node("Transpose", [f"{name}4"], [f"{name}h"], perm=[0, 2, 1, 3]),
        ]
    nodes += [
        helper.make_node("Transpose", ["kh"], ["kt"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["qh", "kt"], ["scores"]),
        helper.make_node("Div", ["scores", "root"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "vh"], ["heads"]),
        helper.make_node("Transpose", ["heads"], ["joined"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["joined", "flat"], ["merged"]),
        helper.make_node("Add", ["x", "merged"], ["residual"]),
        helper.make_node("MatMul", ["residual", "w"], ["dense"]),
        helper.make_node("Add", ["dense", "shift2"], ["biased"]),
        helper.make_node("Div", ["biased", "root2"], ["d"]),
        helper.make_node("Erf", ["d"], ["e"]),
        helper.make_node("Add", ["e", "unit"], ["f"]),
        helper.make_node("Mul", ["biased", "f"], ["y"]),
    ]
    weights = [
        constant("scale", random.standard_normal(8)),
        constant("shift", random.standard_normal(8)),
        constant("qkv", random.standard_normal((8, 24))),
        constant("w", random.standard_normal((8, 16))),
        constant("shift2", random.standard_normal(16)),
        constant("root", 2.0),
        constant("root2", np.sqrt(2)),
        constant("unit", 1.0),
        constant("zero", 0, np.int64),
        constant("one", 1, np.int64),
        constant("first", [0], np.int64),
        constant("two_heads", [2, 4], np.int64),
        constant("flat", [0, 0, -1], np.int64),
    ]
    model = model_of(nodes, [value("x", ["n", "t", 8])], [value("y")], weights)
    for shape in ((1, 5, 8), (3, 2, 8)):
        check(model, x=random.standard_normal(shape).astype(np.float32))


# -- layouts -----------------------------------------------------------------------------------


def convolutional(nodes: list[Any], channels: int = 4) -> ModelProto:
    """A convolution, some nodes that make "y" of "h", and one more."""
    random = np.random.default_rng(0)
    first = random.standard_normal((channels, 3, 3, 3))
    weights = [
        constant("w", first),
        constant("b", random.standard_normal(channels)),
        constant("scale", random.standard_normal(channels)),
        constant("mean", random.standard_normal(channels)),
        constant("variance", random.uniform(0.5, 2, channels)),
        constant("slope", random.standard_normal((channels, 1, 1))),
        constant("image", random.standard_normal((1, channels, 1, 1))),
        constant("pads", [0, 1, 2, 3, 0, 2, 1, 0], np.int64),
        constant("edges", [0, 0, 1, 2, 0, 0, 3, 0], np.int64),
        constant("starts", [1, 0], np.int64),
        constant("ends", [3, 2**62], np.int64),
        constant("axes", [1, -1], np.int64),
        constant("scales", [1, 1, 2, 3]),
        constant("shape", [0, -1], np.int64),
        constant("space", [2, 3], np.int64),
        constant("depth", random.standard_normal((channels, 1, 3, 3))),
        constant("zero", 0.0),
        constant("six", 6.0),
    ]
    used = {name for node in nodes for name in node.input} | {"w", "b"}
    return model_of(
        [helper.make_node("Conv", ["x", "w", "b"], ["h"], pads=[1, 1, 1, 1]), *nodes],
        [value("x", [4, 3, 6, 5])],
        [value("y")],
        [weight for weight in weights if weight.name in used],
        opset=18,
    )


def node(op: str, *inputs: str, **attributes: Any) -> Any:
    return helper.make_node(op, list(inputs), ["y"], **attributes)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Relu", "h")],
        [node("Add", "h", "h")],
        [node("Mul", "h", "image")],
        [node("Add", "slope", "h")],
        [node("PRelu", "h", "slope")],
        [node("BatchNormalization", "h", "scale", "b", "mean", "variance")],
        [node("MaxPool", "h", kernel_shape=[2, 3], strides=[2, 1], ceil_mode=1)],
        [node("AveragePool", "h", kernel_shape=[3, 3], pads=[1, 1, 0, 1])],
        [node("GlobalAveragePool", "h")],
        [node("GlobalMaxPool", "h")],
        [node("LRN", "h", size=3)],
        [node("Concat", "h", "h", axis=1)],
        [node("Concat", "h", "h", axis=-2)],
        [node("Softmax", "h", axis=1)],
        [node("ReduceMean", "h", "space")],
        [node("ReduceMean", "h", "space", keepdims=0)],
        [node("ReduceMax", "h", keepdims=0)],
        [node("Pad", "h", "pads")],
        [node("Slice", "h", "starts", "ends", "axes")],
        [node("Resize", "h", "", "scales", mode="nearest", nearest_mode="floor")],
        [node("Transpose", "h", perm=[0, 2, 3, 1])],
        [node("Transpose", "h", perm=[3, 1, 0, 2])],
        [node("Reshape", "h", "shape")],
        [node("Flatten", "h", axis=2)],
        [node("ArgMax", "h", axis=1)],
        [
            helper.make_node("Split", ["h"], ["p", "q"], axis=1, num_outputs=2),
            node("Mul", "p", "q"),
        ],
        [helper.make_node("Dropout", ["h"], ["d", "mask"]), node("Neg", "d")],
        [helper.make_node("Identity", ["h"], ["i"]), node("Sigmoid", "i")],
        [
            helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]),
            helper.make_node("Shape", ["h"], ["s"]),
            helper.make_node("Transpose", ["t"], ["u"], perm=[0, 2, 3, 1]),
            node("Add", "u", "u"),
        ],
        [
            helper.make_node(
                "BatchNormalization", ["h", "scale", "b", "mean", "variance"], ["n"], epsilon=0.1
            ),
            helper.make_node("Mul", ["n", "image"], ["m"]),
            helper.make_node("Add", ["slope", "m"], ["a"]),
            node("Relu", "a"),
        ],
        [
            helper.make_node("Sin", ["h"], ["s"]),
            helper.make_node("Conv", ["h", "depth", "b"], ["d"], pads=[1, 1, 1, 1], group=4),
            helper.make_node("Add", ["s", "d"], ["a"]),
            node("LeakyRelu", "a", alpha=0.3),
        ],
        [
            helper.make_node("GlobalMaxPool", ["h"], ["g"]),
            helper.make_node("Conv", ["h", "depth"], ["d"], pads=[1, 1, 1, 1], group=4),
            helper.make_node("Sum", ["d", "g"], ["a"]),
            node("Sigmoid", "a"),
        ],
        [node("Clip", "h", "zero", "six")],
        [helper.make_node("Relu", ["h"], ["r"]), node("Add", "h", "r")],
    ],
    ids=lambda nodes: "-".join(node.op_type for node in nodes),
)
def test_channels_last(nodes: list[Any]) -> None:
    random = np.random.default_rng(1)
    check(convolutional(nodes), x=random.standard_normal((4, 3, 6, 5)).astype(np.float32))


# -- what is wrong with models -----------------------------------------------------------------


@pytest.mark.parametrize(
    "nodes",
    [
        [
            helper.make_node("BatchNormalization", ["h", "scale", "b", "mean", "variance"], ["z"]),
            node("Relu", "z"),
        ],
        [helper.make_node("Add", ["image", "h"], ["z"]), node("Clip", "z", "zero", "six")],
        [helper.make_node("Mul", ["h", "six"], ["z"]), node("LeakyRelu", "z", alpha=0.3)],
        [node("PRelu", "h", "slope")],
        [node("Elu", "h")],
        [
            helper.make_node("Pad", ["h", "edges"], ["padded"]),
            node("Conv", "padded", "depth", group=4, strides=[2, 1], auto_pad="VALID"),
        ],
    ],
    ids=lambda nodes: "-".join(node.op_type for node in nodes),
)
def test_nodes_after_convolutions_are_fused(nodes: list[Any]) -> None:
    model = convolutional(nodes)
    x = np.random.default_rng(1).standard_normal((4, 3, 6, 5)).astype(np.float32)
    check(model, x=x)
    kernels = kernels_of(model, x=x)
    assert {kernel for kernel in kernels if "conv2d" not in kernel} == {"permute_dims"}


COORDINATES = "coordinate_transformation_mode"


@pytest.mark.parametrize(
    "kernel, scales, attributes",
    [
        (
            "resize_nearest",
            (2, 3),
            {"mode": "nearest", "nearest_mode": "floor", COORDINATES: "asymmetric"},
        ),
        ("resize_nearest", (3, 2), {"mode": "nearest"}),
        ("resize_nearest", (2, 1), {"mode": "nearest", "nearest_mode": "round_prefer_ceil"}),
        ("gather", (1.5, 2), {"mode": "nearest"}),
        ("gather", (3, 2), {"mode": "nearest", "nearest_mode": "floor"}),
        ("resize_bilinear", (2, 3), {"mode": "linear"}),
        ("resize_bilinear", (0.5, 2), {"mode": "linear"}),
        ("resize_bilinear", (2, 3), {"mode": "linear", COORDINATES: "asymmetric"}),
        ("resize_bilinear", (2, 3), {"mode": "linear", COORDINATES: "align_corners"}),
        ("matmul", (0.5, 1), {"mode": "linear", "antialias": 1}),
        ("gather", (1.3, 1), {"mode": "linear"}),
        ("gather", (2, 2), {"mode": "cubic"}),
    ],
)
def test_images_are_resized_at_once(
    kernel: str, scales: tuple[float, float], attributes: dict[str, Any]
) -> None:
    model = convolutional([node("Resize", "h", "", "scales", **attributes)])
    (stored,) = (tensor for tensor in model.graph.initializer if tensor.name == "scales")
    stored.CopyFrom(constant("scales", [1, 1, *scales]))
    x = np.random.default_rng(1).standard_normal((4, 3, 6, 5)).astype(np.float32)
    check(model, x=x)
    kernels = kernels_of(model, x=x)
    assert {
        name
        for name in kernels
        if name in ("gather", "matmul", "resize_bilinear", "resize_nearest")
    } == {kernel}


def kernels_of(model: ModelProto, **inputs: Any) -> list[str]:
    """Return the kernels that later predictions run, without those that move nothing."""
    loaded = wt.load_onnx(bytes_of(model))
    loaded.predict(inputs)
    profile = wt.profile(lambda: loaded.predict(inputs))
    return [record.name for record in profile.kernels if record.name != "reshape"]


def test_filters_are_normalized_once_for_all_shapes() -> None:
    nodes = [node("BatchNormalization", "h", "scale", "b", "mean", "variance")]
    proto = convolutional(nodes)
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    model: Any = wt.load_onnx(bytes_of(proto))
    sizes = []
    for size in (5, 6, 7, 8):
        for _ in range(2):
            model.predict(wt.zeros((1, 3, size, size)))
        sizes.append(wt.memory()["num_bytes"])
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    "nodes, shape",
    [
        (
            [
                helper.make_node("MatMul", ["x", "w"], ["product"]),
                helper.make_node("Add", ["b", "product"], ["z"]),
                node("Relu", "z"),
            ],
            (2, 5, 3),
        ),
        ([helper.make_node("Gemm", ["x", "w", "b"], ["z"]), node("Sigmoid", "z")], (5, 3)),
        ([helper.make_node("Gemm", ["x", "v"], ["z"], transB=1), node("Add", "z", "b")], (5, 3)),
    ],
)
def test_nodes_after_products_are_fused(nodes: list[Any], shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    w = random.standard_normal((3, 4))
    weights = [constant("w", w), constant("v", w.T), constant("b", random.standard_normal(4))]
    model = model_of(nodes, [value("x", shape)], [value("y")], weights)
    x = random.standard_normal(shape).astype(np.float32)
    check(model, x=x)
    assert kernels_of(model, x=x) == ["fused_matmul"]


def test_unknown_operators_are_reported_together() -> None:
    nodes = [
        helper.make_node("Relux", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conw", ["b"], ["c"], domain="own"),
        helper.make_node("Sin", ["c"], ["y"]),
    ]
    model = model_of(nodes, [value("x")], [value("y")])
    with pytest.raises(wt.ModelFormatError, match=r"unknown: Relux, own\.Conw"):
        wt.load_onnx(bytes_of(model))


def relu(source: str, target: str) -> Any:
    return helper.make_node("Relu", [source], [target])


@pytest.mark.parametrize(
    "nodes, message",
    [
        ([relu("y", "z"), relu("z", "y")], "depends on itself"),
        ([relu("nothing", "y")], "needs the value 'nothing', which nothing computes"),
        ([relu("x", "y"), relu("x", "y")], "two nodes compute the value 'y'"),
        ([relu("x", "z")], "nothing computes"),
        ([helper.make_node("Relu", [], ["y"])], "node 'y' of operation Relu-1: it needs the input"),
        ([helper.make_node("Relu", ["x", "x"], ["y"])], "it has 2 inputs, but takes 1"),
        ([helper.make_node("Relu", ["x"], ["y"], slope=1)], "attribute 'slope' is unknown"),
        ([helper.make_node("LRN", ["x"], ["y"])], "it needs the attribute 'size'"),
        ([helper.make_node("Constant", [], ["y"])], "has no value"),
        ([helper.make_node("If", ["x"], ["y"])], "it needs the graphs then_branch, else_branch"),
        ([helper.make_node("Concat", [], ["y"], axis=0)], "Concat"),
    ],
)
def test_broken_graphs(nodes: list[Any], message: str) -> None:
    model = model_of(nodes, [value("x")], [value("y")])
    with pytest.raises(wt.ModelFormatError, match=message):
        wt.load_onnx(bytes_of(model)).predict(wt.tensor([1.0]))


@pytest.mark.parametrize(
    "op, inputs, attributes",
    [
        ("ConstantOfShape", ["shape"], {}),
        ("Expand", ["x0", "shape"], {}),
        ("Tile", ["x0", "shape"], {}),
        ("OneHot", ["x0", "count", "pair"], {}),
        ("MatMul", ["column", "row"], {}),
        ("HannWindow", ["count"], {}),
        ("MelWeightMatrix", ["count", "count", "count", "low", "high"], {}),
        ("CenterCropPad", ["x0", "shape"], {}),
        ("ConvTranspose", ["image", "image"], {"strides": [1 << 20, 1 << 20]}),
        ("AveragePool", ["image"], {"kernel_shape": [1, 1], "pads": [1 << 20] * 4}),
        ("MaxPool", ["image"], {"kernel_shape": [1 << 20] * 2, "dilations": [2, 2]}),
        ("Resize", ["image", "", "scales"], {}),
    ],
)
def test_giant_constants(op: str, inputs: list[str], attributes: Any) -> None:
    weights = [
        constant("shape", [1 << 20, 1 << 20], np.int64),
        constant("x0", [[1.0]]),
        constant("count", 1 << 31, np.int64),
        constant("pair", [0.0, 1.0]),
        constant("column", np.ones((1 << 18, 1))),
        constant("row", np.ones((1, 1 << 18))),
        constant("low", 0.0),
        constant("high", 8000.0),
        constant("image", np.ones((1, 1, 2, 2))),
        constant("scales", [1, 1, 1e9, 1e9]),
    ]
    model = model_of(
        [helper.make_node(op, inputs, ["y"], **attributes)],
        [],
        [value("y")],
        [weight for weight in weights if weight.name in inputs],
        opset=20,
    )
    with pytest.raises(wt.ModelFormatError, match=f"node 'y' of operation {op}"):
        wt.load_onnx(bytes_of(model))


def test_constants_beyond_the_limit_are_computed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webtensor.onnx.folding._MAX_ELEMENTS", 100)
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("Cos", ["zeros"], ["ones"]),
        helper.make_node("Add", ["x", "ones"], ["y"]),
    ]
    shape = [constant("shape", [8, 10], np.int64)]
    data = bytes_of(model_of(nodes, [value("x", [1])], [value("y")], shape))
    before = wt.memory()["num_bytes"]
    model: Any = wt.load_onnx(data)
    assert wt.memory()["num_bytes"] - before < 4 * 100
    assert model.predict(wt.tensor([2.0])).numpy().min() == 3.0


def test_nodes_that_share_a_constant_share_its_memory() -> None:
    """A filter of 4 MiB, and a constant of 4 MiB in a function, of ten nodes each."""
    constants = [constant("filter", np.ones((1 << 10, 1 << 10, 1, 1)))]
    large = constant("large", np.ones(1 << 20))
    body = [
        helper.make_node("Constant", [], ["large"], value=large),
        helper.make_node("Mul", ["x", "large"], ["product"]),
        helper.make_node("ReduceMax", ["product"], ["y"], keepdims=0),
    ]
    function = helper.make_function(
        "own", "Scaled", ["x"], ["y"], body, [helper.make_opsetid("", 17)]
    )
    nodes = [
        *(helper.make_node("Conv", ["x", "filter"], [f"conv{index}"]) for index in range(10)),
        *(
            helper.make_node("Scaled", ["x"], [f"scaled{index}"], domain="own")
            for index in range(10)
        ),
        helper.make_node(
            "Sum", [f"{name}{index}" for name in ("conv", "scaled") for index in range(10)], ["y"]
        ),
    ]
    model = model_of(
        nodes, [value("x", [1, 1 << 10, 1, 1])], [value("y")], constants, functions=[function]
    )
    before = wt.memory()["num_bytes"]
    loaded = wt.load_onnx(bytes_of(model))
    assert wt.memory()["num_bytes"] - before <= 3 * (4 << 20)
    del loaded


def test_sparse_constants_that_claim_to_be_large_are_refused_before_memory_is_taken() -> None:
    def sparse(name: str) -> Any:
        values, indices = constant(name, [1.0]), constant("", [0], np.int64)
        return helper.make_sparse_tensor(values, indices, [1 << 25])

    names = [f"sparse{index}" for index in range(9)]
    model = model_of([helper.make_node("Sum", names, ["y"])], [], [value("y")])
    model.graph.sparse_initializer.extend(map(sparse, names))
    with pytest.raises(wt.ModelFormatError, match=r"'sparse7' would become .* bytes"):
        wt.load_onnx(bytes_of(model))


def test_external_tensors_of_the_same_bytes_are_refused_where_they_become_too_many() -> None:
    names = [f"constant{index}" for index in range(70)]
    model = model_of([helper.make_node("Sum", names, ["y"])], [], [value("y")])
    for name in names:
        tensor = model.graph.initializer.add(name=name, data_type=TensorProto.BOOL)
        tensor.dims.append(1 << 23)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights.bin")
    with pytest.raises(wt.ModelFormatError, match=r"would become .* bytes"):
        wt.load_onnx(bytes_of(model), files={"weights.bin": bytes(1 << 23)})


def test_functions_that_call_themselves() -> None:
    function = helper.make_function(
        "own",
        "Again",
        ["x"],
        ["y"],
        [helper.make_node("Again", ["x"], ["y"], domain="own")],
        [helper.make_opsetid("own", 1)],
    )
    model = model_of(
        [helper.make_node("Again", ["x"], ["y"], domain="own")],
        [value("x")],
        [value("y")],
        functions=[function],
    )
    with pytest.raises(wt.ModelFormatError, match="'Again' calls itself"):
        wt.load_onnx(bytes_of(model))


def test_functions_that_would_become_too_many_nodes() -> None:
    functions = [
        helper.make_function(
            "own",
            f"F{level}",
            ["x"],
            ["y"],
            [
                helper.make_node(
                    f"F{level + 1}" if level < 12 else "Relu",
                    ["x"],
                    [f"y{index}" if index else "y"],
                    domain="own" if level < 12 else "",
                )
                for index in range(8)
            ],
            [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)],
        )
        for level in range(13)
    ]
    model = model_of(
        [helper.make_node("F0", ["x"], ["y"], domain="own")],
        [value("x")],
        [value("y")],
        functions=functions,
    )
    with pytest.raises(wt.ModelFormatError, match="would become more than"):
        wt.load_onnx(bytes_of(model))


def test_missing_external_files() -> None:
    model = linear()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    with pytest.raises(wt.ModelFormatError, match=r"'weights\.bin', which is missing"):
        wt.load_onnx(bytes_of(model), files={})


def test_errors_while_executing_name_the_node() -> None:
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], name="flat")
    shape = [constant("shape", [2, 2], np.int64)]
    model: Any = wt.load_onnx(bytes_of(model_of([node], [value("x")], [value("y")], shape)))
    with pytest.raises(ValueError, match="reshape") as caught:
        model.predict([wt.ones((3,))])
    assert "node 'y' of operation Reshape-1 in model.onnx" in caught.value.__notes__[0]
