"""ONNX models as graph-models, beside ``onnx``'s own evaluator."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.onnx.networks import FOLDER, detector, encoder, mobilenet, spectrogram
from tests_py.onnx.test_models import masked_write
from webtensor.convert import convert_model
from webtensor.formats.onnx import read_onnx_tensor
from webtensor.onnx.stored_constants import constant_of


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    """TensorFlow.js."""
    with NodeProcess() as process:
        yield process


def close(actual: Any, expected: Any) -> None:
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(
    "network, shapes",
    [
        (encoder(2, 16, 4), [(3, 5, 16), (1, 1, 16), (2, 30, 16)]),
        (mobilenet(32, 0.25, 10), [(1, 3, 32, 32)]),
        (detector(), [(1, 3, 32, 64), (2, 3, 128, 96)]),
        (spectrogram(64), [(1, 64, 1), (3, 64, 1)]),
    ],
    ids=["encoder", "mobilenet", "detector", "spectrogram"],
)
def test_networks_compute_the_same_here_and_in_tensorflow_js(
    network: Any, shapes: list[tuple[int, ...]], tmp_path: Path, no_leak: None
) -> None:
    (tmp_path / "model.onnx").write_bytes(network.SerializeToString())
    report = convert_model(tmp_path / "model.onnx", tmp_path / "web")
    assert (report.input_format, report.output_format) == ("onnx", "tfjs_graph_model")
    assert report.counts.lacking == ()
    model: Any = wt.load_graph_model(tmp_path / "web")
    (output,) = network.graph.output
    assert (model.input_nodes, model.output_nodes) == (["x"], [output.name])
    with NodeProcess() as node:
        for shape in shapes:
            x = np.random.default_rng(1).standard_normal(shape).astype("float32")
            expected: Any
            (expected,) = ReferenceEvaluator(network).run(None, {"x": x})
            close(model.predict(x).numpy(), expected)
            close(node.run(tmp_path / "web", {"x": x})[0], expected)
    model.dispose()


def converted_with(
    nodes: list[onnx.NodeProto], rank: int, weights: dict[str, Any], folder: Path
) -> tuple[onnxruntime.InferenceSession, Any]:
    """Return a model of x and y whose axes but the channels are unknown, and its graph-model."""
    axes: list[int | str] = ["batch", 3, "height", "width"]
    return converted_of(nodes, axes[:rank], weights, folder, 17)


def converted_of(
    nodes: list[onnx.NodeProto],
    shape: list[int | str],
    weights: dict[str, Any],
    folder: Path,
    opset: int,
) -> tuple[onnxruntime.InferenceSession, Any]:
    """Return a model of x, which has a shape, and y, and its graph-model."""
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "graph",
        [value("x", onnx.TensorProto.FLOAT, shape)],
        [value("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    imports = [onnx.helper.make_opsetid("", opset)]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    convert_model(folder / "model.onnx", folder / "web")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    return session, wt.load_graph_model(folder / "web")


make = onnx.helper.make_node
FILTERS = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype("float32")
WINDOWS: dict[str, tuple[str, dict[str, Any]]] = {
    "padding on all sides": ("Conv", {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "padding behind": ("Conv", {"strides": [2, 2], "pads": [0, 0, 1, 1]}),
    "padding of strides of 5": ("Conv", {"strides": [5, 5], "pads": [2, 1, 2, 3]}),
    "padding by its name": ("Conv", {"strides": [3, 3], "auto_pad": "SAME_UPPER"}),
    "maxima of windows with padding": (
        "MaxPool",
        {"kernel_shape": [5, 5], "strides": [4, 4], "pads": [2, 2, 2, 2]},
    ),
    "maxima of all columns": (
        "MaxPool",
        {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
    ),
    "maxima of all columns of strides of 3": (
        "MaxPool",
        {"kernel_shape": [4, 3], "strides": [3, 3], "pads": [1, 0, 1, 0], "ceil_mode": 1},
    ),
    "means of all columns": (
        "AveragePool",
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
    ),
}


@pytest.mark.parametrize("only_large", [False, True], ids=["any size", "large images"])
@pytest.mark.parametrize("name", WINDOWS)
def test_the_padding_of_windows_is_that_of_the_model_for_all_sizes(
    name: str, only_large: bool, tmp_path: Path
) -> None:
    op, attributes = WINDOWS[name]
    inputs = ["x", "filters"] if op == "Conv" else ["x"]
    nodes = [make(op, inputs, ["windows"], **attributes)]
    nodes.append(
        make("MaxPool", ["windows"], ["y"], kernel_shape=[12, 12])
        if only_large
        else make("Neg", ["windows"], ["y"])
    )
    weights = {"filters": FILTERS} if op == "Conv" else {}
    session, model = converted_with(nodes, 4, weights, tmp_path)
    for size in (64, 65, 66, 99, 100):
        x = np.random.default_rng(size).standard_normal((1, 3, size, size + 1)).astype("float32")
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


def test_a_padding_that_differs_between_odd_and_even_images_is_refused(tmp_path: Path) -> None:
    attributes: dict[str, Any] = {"strides": [2, 2], "auto_pad": "SAME_LOWER"}
    weights = {
        "first": np.ones((4, 3, 5, 3), "float32"),
        "second": np.ones((4, 4, 5, 3), "float32"),
    }
    nodes = [
        make("Conv", ["x", "first"], ["images"], **attributes),
        make("Conv", ["images", "second"], ["y"], strides=[3, 3], dilations=[2, 2]),
    ]
    with pytest.raises(wt.ModelFormatError, match="a padding that depends on the size"):
        converted_with(nodes, 4, weights, tmp_path)


@pytest.mark.parametrize("groups", [1, 3])
def test_convolutions_with_strides_and_dilations(
    groups: int, tmp_path: Path, node: NodeProcess
) -> None:
    """TensorFlow.js has one or the other."""
    value = onnx.helper.make_tensor_value_info
    filters = np.random.default_rng(3).standard_normal((6, 3 // groups, 3, 2)).astype("float32")
    options: dict[str, Any] = {"strides": [2, 3], "dilations": [2, 1], "pads": [1, 2, 0, 3]}
    graph = onnx.helper.make_graph(
        [make("Conv", ["x", "filters"], ["y"], group=groups, **options)],
        "graph",
        [value("x", onnx.TensorProto.FLOAT, ["batch", 3, "height", "width"])],
        [value("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(filters, "filters")],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )
    compared(model, ([(2, 3, 9, 8)], [(1, 3, 12, 7)], [(1, 3, 31, 40)]), tmp_path, node)


@pytest.mark.parametrize("size, before", [(9, 2), (10, 1), (11, 2)])
def test_strides_and_dilations_with_the_padding_that_same_stands_for(
    size: int, before: int, tmp_path: Path, node: NodeProcess
) -> None:
    value = onnx.helper.make_tensor_value_info
    filters = np.random.default_rng(3).standard_normal((2, 3, 3, 2)).astype("float32")
    options: dict[str, Any] = {"strides": [2, 3], "dilations": [2, 1], "pads": [before, 0, 2, 0]}
    graph = onnx.helper.make_graph(
        [make("Conv", ["x", "filters"], ["y"], **options)],
        "graph",
        [value("x", onnx.TensorProto.FLOAT, ["batch", 3, size, 8])],
        [value("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(filters, "filters")],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )
    compared(model, ([(2, 3, size, 8)], [(1, 3, size, 8)]), tmp_path, node)


@pytest.mark.parametrize("head", ["means", "rows"])
def test_networks_of_many_strides_compute_the_same_for_all_sizes(head: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    nodes, weights, images = [], {}, "x"
    for layer, channels in enumerate((3, 4, 4, 4, 4)):
        weights[f"filters {layer}"] = draw.standard_normal((4, channels, 3, 3)).astype("float32")
        nodes += [
            make(
                "Conv",
                [images, f"filters {layer}"],
                [f"sums {layer}"],
                strides=[2, 2],
                pads=[1] * 4,
            ),
            make("Relu", [f"sums {layer}"], [f"images {layer}"]),
        ]
        images = f"images {layer}"
    if head == "means":
        nodes += [make("GlobalAveragePool", [images], ["means"]), make("Flatten", ["means"], ["y"])]
    else:
        weights["shape"] = np.array([0, 4, -1])
        nodes += [
            make("Reshape", [images, "shape"], ["columns"]),
            make("Transpose", ["columns"], ["rows"], perm=[0, 2, 1]),
            make("Softmax", ["rows"], ["y"], axis=1),
        ]
    session, model = converted_with(nodes, 4, weights, tmp_path)
    for shape in ((1, 3, 32, 32), (1, 3, 131, 160), (2, 3, 224, 97), (3, 3, 7, 20)):
        x = draw.random(shape, np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


#: Nodes that scale images up, pad or sample them, as PyTorch exports them, and constants.
IMAGE_NODES: dict[str, tuple[list[tuple[str, list[str], dict[str, Any]]], dict[str, Any]]] = {
    "twice the size": (
        [("Resize", ["x", "", "scales"], {"mode": "linear"})],
        {"scales": np.array([1, 1, 2, 2], "float32")},
    ),
    "twice the size, as PyTorch has it": (
        [
            (
                "Resize",
                ["x", "", "scales"],
                {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"},
            )
        ],
        {"scales": np.array([1, 1, 2, 2], "float32")},
    ),
    "the size of the image": (
        [
            ("Conv", ["x", "filters"], {"strides": [2, 2]}),
            ("Shape", ["x"], {"end": 1}),
            ("Shape", ["x"], {"start": 2}),
            ("Concat", ["1", "channels", "2"], {"axis": 0}),
            ("Resize", ["0", "", "", "3"], {"mode": "linear"}),
        ],
        {"filters": FILTERS, "channels": np.array([4])},
    ),
    **{
        mode: (
            [("Pad", ["x", "pads"], {"mode": mode})],
            {"pads": np.array([0, 0, 3, 1, 0, 0, 2, 4])},
        )
        for mode in ("reflect", "edge")
    },
    **{
        f"samples between {mode} {align_corners}": (
            [
                ("Shape", ["x"], {"end": 1}),
                ("Concat", ["0", "one"], {"axis": 0}),
                ("Tile", ["positions", "1"], {}),
                (
                    "GridSample",
                    ["x", "2"],
                    {"padding_mode": mode, "align_corners": align_corners},
                ),
            ],
            {
                "one": np.array([1, 1, 1]),
                "positions": np.random.default_rng(3)
                .uniform(-2, 2, (1, 4, 5, 2))
                .astype("float32"),
            },
        )
        for mode in ("zeros", "border", "reflection")
        for align_corners in (0, 1)
    },
}


@pytest.mark.parametrize("name", IMAGE_NODES)
def test_images_of_any_size_are_scaled_and_padded(name: str, tmp_path: Path) -> None:
    rows, weights = IMAGE_NODES[name]
    nodes = [
        onnx.helper.make_node(op, inputs, [str(index)], **attributes)
        for index, (op, inputs, attributes) in enumerate(rows)
    ]
    nodes.append(onnx.helper.make_node("Neg", [str(len(rows) - 1)], ["y"]))
    session, model = converted_with(nodes, 4, weights, tmp_path)
    for shape in ((1, 3, 32, 32), (1, 3, 9, 15), (1, 3, 101, 64)):
        x = np.random.default_rng(2).random(shape, np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "cubic"},
        {"mode": "cubic", "coordinate_transformation_mode": "align_corners"},
        {"mode": "cubic", "antialias": 1},
        {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
        {"mode": "linear", "antialias": 1},
    ],
    ids=str,
)
def test_images_are_resized_to_sizes_that_are_unknown(
    options: dict[str, Any], tmp_path: Path, node: NodeProcess
) -> None:
    value, float32 = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [
            make("Shape", ["x"], ["channels"], end=2),
            make("Shape", ["like"], ["size"], start=2),
            make("Concat", ["channels", "size"], ["sizes"], axis=0),
            make("Resize", ["x", "", "", "sizes"], ["y"], **options),
        ],
        "graph",
        [
            value("x", float32, ["batch", 2, "height", "width"]),
            value("like", float32, [1, 1, "rows", "columns"]),
        ],
        [value("y", float32, None)],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8
    )
    compared(model, ([(2, 2, 9, 8), (1, 1, 5, 13)], [(1, 2, 7, 30), (1, 1, 17, 8)]), tmp_path, node)


#: The masks of a transformer that keeps ``past`` steps, from the nodes of language models.
MASKS: dict[str, list[onnx.NodeProto]] = {
    "the triangle above a diagonal": [
        make("Concat", ["rows", "columns"], ["mask shape"], axis=0),
        make(
            "ConstantOfShape",
            ["mask shape"],
            ["low"],
            value=onnx.helper.make_tensor("low", onnx.TensorProto.FLOAT, [1], [-1e4]),
        ),
        make("Add", ["past size", "one"], ["diagonal"]),
        make("Trilu", ["low", "diagonal"], ["mask"], upper=1),
    ],
    "rows of the triangle below the diagonal": [
        make("Concat", ["columns", "columns"], ["mask shape"], axis=0),
        make(
            "ConstantOfShape",
            ["mask shape"],
            ["high"],
            value=onnx.helper.make_tensor("high", onnx.TensorProto.FLOAT, [1], [1e4]),
        ),
        make("Trilu", ["high"], ["triangle"], upper=0),
        make("Slice", ["triangle", "past size", "columns", "zero"], ["mask"]),
    ],
    "positions after others": [
        make("Squeeze", ["past size"], ["first"]),
        make("Squeeze", ["columns"], ["last"]),
        make("Range", ["first", "last", "step"], ["queries"]),
        make("Unsqueeze", ["queries", "one"], ["column"]),
        make("Range", ["start", "last", "step"], ["keys"]),
        make("Greater", ["keys", "column"], ["is later"]),
        make("Where", ["is later", "low", "nothing"], ["mask"]),
    ],
    "a diagonal": [
        make("Concat", ["rows", "columns"], ["mask shape"], axis=0),
        make("ConstantOfShape", ["mask shape"], ["zeros"]),
        make("EyeLike", ["zeros"], ["is own"], k=1, dtype=onnx.TensorProto.FLOAT),
        make("Mul", ["is own", "low"], ["mask"]),
    ],
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_of_any_length(name: str, tmp_path: Path, node: NodeProcess) -> None:
    value, float32 = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    constants = {
        "zero": np.array([0]),
        "one": np.array([1]),
        "start": np.array(0),
        "step": np.array(1),
        "low": np.array(-1e4, "float32"),
        "nothing": np.array(0, "float32"),
    }
    used = {input for node in MASKS[name] for input in node.input}
    made = {output for node in MASKS[name] for output in node.output}
    graph = onnx.helper.make_graph(
        [
            make("Concat", ["past", "x"], ["all"], axis=1),
            make("Shape", ["past"], ["past size"], start=1, end=2),
            make("Shape", ["x"], ["rows"], start=1, end=2),
            make("Add", ["past size", "rows"], ["columns"]),
            *MASKS[name],
            make("Transpose", ["all"], ["keys of heads"], perm=[0, 2, 1]),
            make("MatMul", ["x", "keys of heads"], ["scores"]),
            make("Add", ["scores", "mask"], ["masked"]),
            make("Softmax", ["masked"], ["shares"]),
            make("MatMul", ["shares", "all"], ["y"]),
        ],
        "graph",
        [value("x", float32, ["batch", "new", 4]), value("past", float32, ["batch", "old", 4])],
        [value("y", float32, None)],
        [
            onnx.numpy_helper.from_array(array, constant)
            for constant, array in constants.items()
            if constant in used - made
        ],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )
    shapes = ([(2, 5, 4), (2, 3, 4)], [(1, 1, 4), (1, 8, 4)], [(1, 3, 4), (1, 0, 4)])
    compared(model, shapes, tmp_path, node)


def compared(
    model: onnx.ModelProto,
    shapes: Iterable[Sequence[tuple[int, ...]]],
    folder: Path,
    node: NodeProcess,
) -> None:
    """Compare a model's graph-model with ONNX Runtime, here and in TensorFlow.js."""
    onnx.save(model, str(folder / "model.onnx"))
    convert_model(folder / "model.onnx", folder / "web")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    ours: Any = wt.load_graph_model(folder / "web")
    names = [value.name for value in model.graph.input]
    draw = np.random.default_rng(2)
    for shapes_of_inputs in shapes:
        arrays = [draw.random(shape, np.float32) for shape in shapes_of_inputs]
        inputs = dict(zip(names, arrays, strict=True))
        (expected,) = session.run(None, inputs)
        close(ours.predict(inputs).numpy(), expected)
        close(node.run(folder / "web", inputs)[0], expected)
    ours.dispose()


def test_elements_at_coordinates_in_a_matrix_of_any_size(tmp_path: Path) -> None:
    """As PyTorch reads the masks of transformers."""
    make, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [make("GatherND", ["x", "coordinates"], ["y"])],
        "graph",
        [
            value("x", onnx.TensorProto.FLOAT, ["rows", "columns"]),
            value("coordinates", onnx.TensorProto.INT64, ["count", 2]),
        ],
        [value("y", onnx.TensorProto.FLOAT, ["count"])],
    )
    onnx.save(onnx.helper.make_model(graph), str(tmp_path / "model.onnx"))
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    model: Any = wt.load_graph_model(tmp_path / "web")
    for rows, columns in ((2, 3), (4, 1), (3, 7)):
        x = wt.reshape(wt.arange(rows * columns, dtype="float32"), (rows, columns))
        coordinates = wt.tensor([[1, 0], [rows - 1, columns - 1]])
        result = model.predict({"x": x, "coordinates": coordinates})
        assert result.tolist() == [columns, rows * columns - 1]
    model.dispose()


def test_a_constant_is_written_where_a_mask_of_any_size_is_true(tmp_path: Path) -> None:
    """As in ``x[mask] = -1``: how many elements are written, the mask says."""
    model_file = masked_write(["rows", "columns"], ["rows", "columns"])
    onnx.save(model_file, str(tmp_path / "model.onnx"))
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    model: Any = wt.load_graph_model(tmp_path / "web")
    for rows, columns in ((2, 3), (4, 1), (3, 7)):
        mask = np.random.default_rng(0).random((rows, columns)) < 0.5
        result = model.predict({"x": wt.ones((rows, columns)), "mask": wt.tensor(mask)})
        assert result.tolist() == np.where(mask, -1.0, 1.0).tolist()
    model.dispose()


def test_ranges_that_are_written_as_the_indices_of_ones(tmp_path: Path) -> None:
    """As PyTorch's exporter to TorchScript writes ``x[:, 1:]`` beside other indices."""
    nodes = [
        make("Shape", ["x"], ["length"], start=1),
        make(
            "ConstantOfShape",
            ["length"],
            ["ones"],
            value=onnx.helper.make_tensor("one", onnx.TensorProto.INT64, [1], [1]),
        ),
        make("NonZero", ["ones"], ["positions"]),
        make("Cast", ["positions"], ["row"], to=onnx.TensorProto.FLOAT),
        make("Add", ["x", "row"], ["y"]),
    ]
    session, model = converted_of(nodes, ["batch", "length"], {}, tmp_path, 17)
    for shape in ((1, 1), (2, 5), (3, 400)):
        x = np.random.default_rng(2).random(shape, np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


def test_sums_at_indices_that_are_computed(tmp_path: Path) -> None:
    """As a graph network adds up what comes in along edges."""
    make, value = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [make("ScatterND", ["x", "nodes", "messages"], ["y"], reduction="add")],
        "graph",
        [
            value("x", onnx.TensorProto.FLOAT, [3, 2]),
            value("nodes", onnx.TensorProto.INT64, ["edges", 1]),
            value("messages", onnx.TensorProto.FLOAT, ["edges", 2]),
        ],
        [value("y", onnx.TensorProto.FLOAT, [3, 2])],
    )
    onnx.save(onnx.helper.make_model(graph), str(tmp_path / "model.onnx"))
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    model: Any = wt.load_graph_model(tmp_path / "web")
    nodes = wt.tensor([[2], [0], [2]])
    messages = wt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    result = model.predict({"x": wt.ones((3, 2)), "nodes": nodes, "messages": messages})
    assert result.tolist() == [[4.0, 5.0], [1.0, 1.0], [7.0, 9.0]]
    model.dispose()


def test_images_are_padded_and_cut_into_windows(tmp_path: Path) -> None:
    """As in Swin transformers, which take multiples of a size; small images are a single window."""
    nodes = [
        make("SpaceToDepth", ["x"], ["blocks"], blocksize=8),
        make("ReduceMean", ["blocks"], ["means"], axes=[1]),
        make("Shape", ["means"], ["sizes"], start=2),
        make("Mod", ["sizes", "four"], ["remainders"]),
        make("Sub", ["four", "remainders"], ["lacking"]),
        make("Mod", ["lacking", "four"], ["ends"]),
        make("Concat", ["zeros", "ends"], ["pads"], axis=0),
        make("Pad", ["means", "pads"], ["padded"]),
        make("Shape", ["padded"], ["height"], start=2, end=3),
        make("Shape", ["padded"], ["width"], start=3),
        make("Div", ["height", "four"], ["rows"]),
        make("Div", ["width", "four"], ["columns"]),
        make("Concat", ["any", "rows", "four", "columns", "four"], ["split"], axis=0),
        make("Reshape", ["padded", "split"], ["grid"]),
        make("Transpose", ["grid"], ["windows"], perm=[0, 1, 3, 2, 4]),
        make("Reshape", ["windows", "flat"], ["rows of windows"]),
        make("Softmax", ["rows of windows"], ["y"]),
    ]
    constants = {"four": [4], "zeros": [0] * 6, "any": [-1], "flat": [-1, 16]}
    weights = {name: np.array(values) for name, values in constants.items()}
    session, model = converted_with(nodes, 4, weights, tmp_path)
    for shape in ((1, 3, 16, 24), (2, 3, 40, 8), (1, 3, 64, 96), (1, 3, 88, 40)):
        x = np.random.default_rng(2).random(shape, np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


def test_networks_of_even_images_that_attend_to_all_pixels(tmp_path: Path) -> None:
    nodes = [
        make("Conv", ["x", "filters"], ["half"], strides=[2, 2], pads=[1] * 4),
        make("Shape", ["half"], ["shape"]),
        make("Reshape", ["half", "flat"], ["columns"]),
        make("Transpose", ["columns"], ["rows"], perm=[0, 1, 3, 2]),
        make("MatMul", ["rows", "columns"], ["scores"]),
        make("Softmax", ["scores"], ["shares"]),
        make("MatMul", ["columns", "shares"], ["mixed"]),
        make("Reshape", ["mixed", "shape"], ["images"]),
        make("Resize", ["images", "", "scales"], ["full"]),
        make("Concat", ["full", "x"], ["y"], axis=1),
    ]
    weights = {
        "filters": FILTERS,
        "flat": np.array([0, 4, 1, -1]),
        "scales": np.array([1, 1, 2, 2], "float32"),
    }
    session, model = converted_with(nodes, 4, weights, tmp_path)
    for shape in ((1, 3, 32, 16), (2, 3, 12, 18)):
        x = np.random.default_rng(4).random(shape, np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


def test_an_axis_named_as_a_sum_has_the_sum_of_the_sizes(tmp_path: Path) -> None:
    """As masks of language models that keep keys and values are declared."""
    value, float32 = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Concat", ["past", "x", "sink"], ["keys"], axis=1),
            onnx.helper.make_node("Mul", ["keys", "mask"], ["y"]),
        ],
        "graph",
        [
            value("x", float32, [1, "new"]),
            value("past", float32, [1, "old"]),
            value("mask", float32, [1, "old + new + 1"]),
        ],
        [value("y", float32, None)],
        [onnx.numpy_helper.from_array(np.ones((1, 1), "float32"), "sink")],
    )
    onnx.save(onnx.helper.make_model(graph), str(tmp_path / "model.onnx"))
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    model: Any = wt.load_graph_model(tmp_path / "web")
    inputs = {"x": [[1.0]], "past": [[2.0, 3.0]], "mask": [[1.0, 0.0, 1.0, 4.0]]}
    assert model.predict(inputs).tolist() == [[2.0, 0.0, 1.0, 4.0]]
    model.dispose()


def test_axes_are_not_taken_to_be_of_one_size_where_others_give_other_results(
    tmp_path: Path,
) -> None:
    """Signals that get the size of others, which this size would leave as they are."""
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            make("Shape", ["like"], ["size"], start=1),
            make("CenterCropPad", ["x", "size"], ["y"], axes=[1]),
        ],
        "graph",
        [value("x", 1, [1, "samples"]), value("like", 1, [1, "length"])],
        [value("y", 1, None)],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
    onnx.save(model, str(tmp_path / "model.onnx"))
    with pytest.raises(wt.ModelFormatError, match=r"something else .* \(1, 8\), \(1, 13\)"):
        convert_model(tmp_path / "model.onnx", tmp_path / "web")


def test_signals_of_any_length(tmp_path: Path) -> None:
    filters = np.random.default_rng(2).standard_normal((8, 3, 400)).astype("float32")
    nodes = [
        make("Conv", ["x", "filters"], ["frames"], strides=[160], pads=[200, 200]),
        make("Transpose", ["frames"], ["rows"], perm=[0, 2, 1]),
        make("ReduceMean", ["rows"], ["mean"], axes=[1]),
        make("Sub", ["rows", "mean"], ["y"]),
    ]
    session, model = converted_with(nodes, 3, {"filters": filters}, tmp_path)
    for shape in ((1, 3, 16000), (2, 3, 5001), (1, 3, 300)):
        x = np.random.default_rng(3).random(shape, np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


def test_signals_of_a_second_or_more(tmp_path: Path) -> None:
    filters = np.random.default_rng(2).standard_normal((4, 1, 400)).astype("float32")
    nodes = [
        make("Conv", ["x", "filters"], ["frames"], strides=[160]),
        make("MaxPool", ["frames"], ["y"], kernel_shape=[76], strides=[8]),
    ]
    weights = {"filters": filters}
    session, model = converted_of(nodes, ["batch", 1, "samples"], weights, tmp_path, 17)
    for shape in ((1, 1, 16000), (2, 1, 12400), (1, 1, 40001)):
        x = np.random.default_rng(3).random(shape, np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


SIGNALS: dict[str, tuple[list[onnx.NodeProto], dict[str, Any]]] = {
    "spectra of frames": (
        [
            make("Pad", ["x", "pads"], ["padded"]),
            make("STFT", ["padded", "step", "window"], ["spectra"], onesided=1),
            make("ReduceSumSquare", ["spectra", "last"], ["y"], keepdims=0),
        ],
        {
            "pads": np.array([0, 20, 0, 20]),
            "step": np.array(160),
            "window": np.hanning(400).astype("float32"),
            "last": np.array([3]),
        },
    ),
    "a padding that mirrors the signal": (
        [
            make("Pad", ["x", "pads"], ["padded"], mode="reflect"),
            make("Unsqueeze", ["padded", "one"], ["rows"]),
            make("Conv", ["rows", "filters"], ["y"], strides=[160]),
        ],
        {
            "pads": np.array([0, 200, 0, 200]),
            "one": np.array([1]),
            "filters": np.random.default_rng(4).random((2, 1, 400), np.float32),
        },
    ),
    "a size that the model computes": (
        [
            make("Shape", ["x"], ["shape"]),
            make("Gather", ["shape", "one"], ["samples"]),
            make("Mul", ["samples", "new rate"], ["product"]),
            make("Add", ["product", "rest"], ["sum"]),
            make("Div", ["sum", "old rate"], ["size"]),
            make("Slice", ["x", "zero", "size", "one"], ["y"]),
        ],
        {
            "zero": np.array([0]),
            "one": np.array([1]),
            "new rate": np.array(320),
            "old rate": np.array(441),
            "rest": np.array(440),
        },
    ),
    "a padding up to a number of samples": (
        [
            make("Shape", ["x"], ["shape"], start=1),
            make("Sub", ["width", "shape"], ["missing"]),
            make("Max", ["missing", "zero"], ["after"]),
            make("Concat", ["zeros", "after"], ["pads"], axis=0),
            make("Pad", ["x", "pads"], ["y"]),
        ],
        {"width": np.array([250]), "zero": np.array([0]), "zeros": np.array([0, 0, 0])},
    ),
}


@pytest.mark.parametrize("name", SIGNALS)
def test_signals_of_any_length_in_frames(name: str, tmp_path: Path) -> None:
    nodes, weights = SIGNALS[name]
    session, model = converted_of(nodes, ["batch", "samples"], weights, tmp_path, 18)
    with NodeProcess() as node:
        for shape in ((1, 16000), (2, 5001), (3, 600)):
            x = np.random.default_rng(3).random(shape, np.float32)
            (expected,) = session.run(None, {"x": x})
            close(model.predict(x).numpy(), expected)
            close(node.run(tmp_path / "web", {"x": x})[0], expected)
    model.dispose()


def test_signals_too_short_for_the_graph_are_errors(tmp_path: Path) -> None:
    """The model reflects them several times, as the reference does and ONNX Runtime does not."""
    filters = np.random.default_rng(5).random((2, 3, 128), np.float32)
    nodes = [
        make("Conv", ["x", "filters"], ["frames"], strides=[64]),
        make("Pad", ["frames", "few"], ["padded"], mode="reflect"),
        make("Pad", ["frames", "many"], ["padded more"], mode="reflect"),
        make("Concat", ["padded", "padded more"], ["y"], axis=2),
    ]
    few, many = (np.array([0, 0, count, 0, 0, 0]) for count in (3, 8))
    weights = {"filters": filters, "few": few, "many": many}
    session, model = converted_with(nodes, 3, weights, tmp_path)
    for length in (640, 1003, 16000):
        x = np.random.default_rng(3).random((2, 3, length), np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    with pytest.raises(ValueError, match="not longer than its mirror image"):
        model.predict(np.ones((1, 3, 463), "float32"))
    model.dispose()


SHAPE = make("Shape", ["x"], ["shape"], start=1)
BOUNDS: dict[str, list[onnx.NodeProto]] = {
    "a padding up to a size": [
        make("Sub", ["bound", "shape"], ["missing"]),
        make("Max", ["missing", "zero"], ["after"]),
        make("Concat", ["zero", "zero", "zero", "after"], ["pads"], axis=0),
        make("Pad", ["x", "pads"], ["y"]),
    ],
    "no more elements than a number": [
        make("Min", ["shape", "bound"], ["end"]),
        make("Slice", ["x", "zero", "end", "one"], ["y"]),
    ],
    "a part of long inputs": [
        make("Greater", ["shape", "bound"], ["is_long"]),
        make("Where", ["is_long", "bound", "shape"], ["end"]),
        make("Slice", ["x", "zero", "end", "one"], ["y"]),
    ],
}


@pytest.mark.parametrize("bound", [6, 300, 700])
@pytest.mark.parametrize("name", BOUNDS)
def test_sizes_are_compared_with_bounds_as_the_model_does(
    name: str, bound: int, tmp_path: Path
) -> None:
    weights = {"bound": np.array([bound]), "zero": np.array([0]), "one": np.array([1])}
    nodes = [SHAPE, *BOUNDS[name]]
    session, model = converted_of(nodes, ["batch", "samples"], weights, tmp_path, 18)
    for size in (2, 5, 6, 7, 299, 301, 699, 701, 1500):
        x = np.random.default_rng(3).random((2, size), np.float32)
        close(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


@pytest.mark.parametrize(
    "names, expected",
    [
        (("x:0", "serving/x:1", "y:0"), ["x", "serving/x_1"]),
        (("x:0", "x", "y"), ["x_1", "x"]),
        (("^x", ":0", "x"), ["x_1", "node"]),
        (("onnx::Sub_0", "onnx::Sub_1", "y"), ["onnx__Sub_0", "onnx__Sub_1"]),
    ],
)
def test_inputs_may_have_names_that_nodes_have_not(
    names: tuple[str, str, str], expected: list[str], tmp_path: Path
) -> None:
    first, second, output = names
    floats = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 3]) for name in names
    ]
    node = onnx.helper.make_node("Sub", [first, second], [output])
    graph = onnx.helper.make_graph([node], "difference", floats[:2], floats[2:])
    (tmp_path / "model.onnx").write_bytes(onnx.helper.make_model(graph).SerializeToString())
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    model: Any = wt.load_graph_model(tmp_path / "web")
    assert (model.input_nodes, model.output_nodes) == ([first, second], [output])
    assert [value.name for value in model.inputs] == expected
    x, y = np.array([[5, 6, 7]], "float32"), np.array([[1, 2, 3]], "float32")
    assert model.predict([x, y]).tolist() == [[4, 4, 4]]
    assert model.predict({first: x, second: y}).tolist() == [[4, 4, 4]]
    with NodeProcess() as process:
        (theirs,) = process.run(tmp_path / "web", {first: x, second: y})
    np.testing.assert_array_equal(theirs, x - y)


def test_an_output_may_be_listed_twice(tmp_path: Path) -> None:
    """As PyTorch lists a tensor that a model returns twice; graph-models have it once."""
    value, float32 = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [make("Neg", ["x"], ["y"]), make("Abs", ["x"], ["z"])],
        "graph",
        [value("x", float32, [2])],
        [value(name, float32, [2]) for name in "yyz"],
    )
    onnx.save(onnx.helper.make_model(graph, ir_version=8), str(tmp_path / "model.onnx"))
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    model: Any = wt.load_graph_model(tmp_path / "web")
    negative, absolute = model.execute({"x": wt.tensor([1.0, -2.0])}, ["y", "z"])
    assert negative.tolist() == [-1.0, 2.0]
    assert absolute.tolist() == [1.0, 2.0]
    model.dispose()


def test_outputs_may_be_left_out(tmp_path: Path) -> None:
    """As labels that are texts are, which no graph computes."""
    value, kinds = onnx.helper.make_tensor_value_info, onnx.TensorProto
    graph = onnx.helper.make_graph(
        [make("Neg", ["x"], ["y"]), make("Cast", ["x"], ["text"], to=kinds.STRING)],
        "graph",
        [value("x", kinds.FLOAT, [2])],
        [value("text", kinds.STRING, [2]), value("y", kinds.FLOAT, [2])],
    )
    onnx.save(onnx.helper.make_model(graph, ir_version=8), str(tmp_path / "model.onnx"))
    convert_model(tmp_path / "model.onnx", tmp_path / "web", outputs=["y"])
    model: Any = wt.load_graph_model(tmp_path / "web")
    assert model.output_nodes == ["y"]
    assert model.predict(wt.tensor([1.0, -2.0])).tolist() == [-1.0, 2.0]
    with pytest.raises(wt.ModelFormatError, match=r"model.onnx: there is no output 'z'"):
        convert_model(tmp_path / "model.onnx", tmp_path / "other", outputs=["z"])
    model.dispose()


def test_external_tensors_are_read_beside_the_file(tmp_path: Path) -> None:
    weights = onnx.numpy_helper.from_array(np.array([2.0, 3.0], "float32"), "w")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Mul", ["x", "w"], ["y"])],
        "graph",
        [value("x", onnx.TensorProto.FLOAT, ["rows", 2])],
        [value("y", onnx.TensorProto.FLOAT, None)],
        [weights],
    )
    onnx.save_model(
        onnx.helper.make_model(graph),
        str(tmp_path / "model.onnx"),
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
    )
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    model: Any = wt.load_graph_model(tmp_path / "web")
    assert model.predict([[1.0, 1.0]]).tolist() == [[2, 3]]
    assert [*model.weights] == ["w"]
    model.dispose()


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"\xff" * 20)
    with pytest.raises(wt.ModelFormatError, match=r"model\.onnx"):
        convert_model(tmp_path / "model.onnx", tmp_path / "web")
    (tmp_path / "model.onnx").write_bytes(encoder(1, 8, 2).SerializeToString())
    with pytest.raises(ValueError, match="a graph cannot become a keras"):
        convert_model(tmp_path / "model.onnx", tmp_path / "web", output_format="keras")
    assert not (tmp_path / "web").exists()


if "WEBTENSOR_ALL_ONNX" in os.environ:

    @pytest.mark.parametrize(
        "name",
        ["densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet"],
    )
    def test_light_models_with_equal_weights(name: str, tmp_path: Path) -> None:
        wt.set_backend("wasm")  # whose products have equal elements for equal weights
        path = FOLDER / f"light_{name}.onnx"
        stored = path.with_name(f"{path.stem}_output_0.pb")
        expected: Any = constant_of(read_onnx_tensor(stored.read_bytes(), stored.name), stored.name)
        convert_model(path, tmp_path / "web")
        model: Any = wt.load_graph_model(tmp_path / "web")
        size = 3 * 224 * 224
        x = wt.reshape(wt.arange(size, dtype="float32") / size, model.inputs[0].shape)
        np.testing.assert_allclose(model.predict(x).numpy(), expected.numpy(), atol=1e-5)
        model.dispose()


def test_sequences_of_a_batch_of_any_size_are_reversed(tmp_path: Path) -> None:
    """As tf2onnx writes what goes backward in Keras's Bidirectional."""
    nodes = [
        make("Shape", ["x"], ["size"], start=0, end=1),
        make("Expand", ["two", "size"], ["lengths"]),
        make("ReverseSequence", ["x", "lengths"], ["y"], batch_axis=0, time_axis=1),
    ]
    session, model = converted_with(nodes, 4, {"two": np.array([2])}, tmp_path)
    for batch in (1, 3):
        x = np.random.default_rng(2).standard_normal((batch, 3, 2, 2)).astype("float32")
        np.testing.assert_array_equal(model.predict(x).numpy(), session.run(None, {"x": x})[0])
    model.dispose()


@pytest.mark.parametrize("dtype", ["UINT8", "INT8", "UINT16"])
def test_integers_of_few_bits_wrap_around(dtype: str, tmp_path: Path) -> None:
    kinds = ["INT32", dtype, "FLOAT"]
    names = ["x", "whole", "few bits", "y"]
    nodes = [
        make("Cast", [names[index]], [names[index + 1]], to=getattr(onnx.TensorProto, kind))
        for index, kind in enumerate(kinds)
    ]
    session, model = converted_with(nodes, 2, {}, tmp_path)
    x = np.array([[-70000, -1, 3], [255, 256, 1000]], "float32")
    (expected,) = session.run(None, {"x": x})
    np.testing.assert_array_equal(model.predict(x).numpy(), expected)
    with NodeProcess() as process:
        np.testing.assert_array_equal(process.run(tmp_path / "web", {"x": x})[0], expected)
    model.dispose()


def branches(*others: str) -> dict[str, onnx.GraphProto]:
    """The branches of an If: the square of x, or the result of these operators."""
    value = onnx.helper.make_tensor_value_info
    nodes = {
        "then_branch": [onnx.helper.make_node("Mul", ["x", "x"], ["square"])],
        "else_branch": [
            onnx.helper.make_node(op, [f"h{index}" if index else "x"], [f"h{index + 1}"])
            for index, op in enumerate(others)
        ],
    }
    return {
        name: onnx.helper.make_graph(
            body, name, [], [value(body[-1].output[0], onnx.TensorProto.FLOAT, None)]
        )
        for name, body in nodes.items()
    }


def choice(**graphs: onnx.GraphProto) -> list[onnx.NodeProto]:
    """Nodes that run a branch where the sum of x is positive, and the other elsewhere."""
    return [
        make("ReduceSum", ["x"], ["sum"]),
        make("Greater", ["sum", "zero"], ["positive"]),
        make("If", ["positive"], ["y"], **graphs),
    ]


def test_branches_that_elements_decide_are_both_computed(tmp_path: Path) -> None:
    nodes = choice(**branches("Exp", "Neg"))
    session, model = converted_with(nodes, 2, {"zero": np.float32(0)}, tmp_path)
    with NodeProcess() as process:
        for rows in ([[1, 2, 3]], [[1, -2, -3], [0.5, 0, 1]]):
            x = np.array(rows, "float32")
            (expected,) = session.run(None, {"x": x})
            close(model.predict(x).numpy(), expected)
            close(process.run(tmp_path / "web", {"x": x})[0], expected)
    model.dispose()


def test_branches_of_other_shapes_that_elements_decide_are_refused(tmp_path: Path) -> None:
    with pytest.raises(wt.ModelFormatError, match="values that only the inputs decide are read"):
        converted_with(choice(**branches("Transpose")), 2, {"zero": np.float32(0)}, tmp_path)
