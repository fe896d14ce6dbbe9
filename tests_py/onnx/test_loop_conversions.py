"""Loops of ONNX models over sizes and elements that only a prediction knows, as graph-models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx.helper import make_graph, make_node, make_tensor_value_info

import webtensor as wt
from tests_py.convert.node import NodeProcess
from webtensor.convert import convert_model

FLOAT, INT32, INT64, BOOL = (
    getattr(onnx.TensorProto, name) for name in ("FLOAT", "INT32", "INT64", "BOOL")
)
DTYPES = {"float32": FLOAT, "int32": INT32, "int64": INT64}
#: The sizes of the inputs: batches, and steps of time.
SIZES = ((1, 6), (3, 1), (2, 31))


class Case(NamedTuple):
    """A model.

    Attributes:
        nodes: its nodes, which compute y and, where there are further outputs, h and c.
        inputs: the shapes of its inputs, in which "batch" and "time" are sizes.
        weights: its initializers.
        outputs: the names of its outputs.
        integers: how to draw the integers of inputs, from the sizes.
    """

    nodes: Sequence[onnx.NodeProto]
    inputs: Mapping[str, Sequence[int | str]]
    weights: Mapping[str, NDArray[Any]]
    outputs: Sequence[str] = ("y",)
    integers: Mapping[str, str] = {}


def numbers(seed: int, *shape: int) -> NDArray[Any]:
    return 0.6 * np.random.default_rng(seed).standard_normal(shape).astype("float32")


def recurrent(op: str, direction: str, *options: str, **attributes: Any) -> Case:
    """A network of 3 features and 4 units."""
    gates, directions = {"RNN": 1, "GRU": 3, "LSTM": 4}[op], 1 + (direction == "bidirectional")
    weights = {
        "w": numbers(1, directions, gates * 4, 3),
        "r": numbers(2, directions, gates * 4, 4),
        "b": numbers(3, directions, gates * 8),
        "p": numbers(4, directions, 12),
    }
    inputs: dict[str, Sequence[int | str]] = {"x": ["time", "batch", 3]}
    outputs = ["y", "h"] + ["c"] * (op == "LSTM")
    integers = {}
    if "lengths" in options:
        inputs["lengths"], integers["lengths"] = ["batch"], "time"
    states = ["h0", "c0"][: len(outputs) - 1] if "states" in options else [""]
    for state in filter(None, states):
        inputs[state] = [directions, "batch", 4]
    node_inputs = ["x", "w", "r", "b", "lengths" if integers else "", *states]
    if "peepholes" in options:
        node_inputs += ["p"]
    node = make_node(op, node_inputs, outputs, hidden_size=4, direction=direction, **attributes)
    return Case([node], inputs, weights, outputs, integers)


def body(
    nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, int], outputs: Mapping[str, int]
) -> onnx.GraphProto:
    """A graph of values of these types; only those of indices and conditions have a shape."""
    infos = [
        [
            make_tensor_value_info(name, kind, None if kind == FLOAT else [])
            for name, kind in names.items()
        ]
        for names in (inputs, outputs)
    ]
    return make_graph(nodes, "body", infos[0], infos[1])


STEPS = [make_node("Shape", ["x"], ["steps"], end=1), make_node("Squeeze", ["steps"], ["count"])]
LOOP = {"i": INT64, "on": BOOL}
ON = make_node("Identity", ["on"], ["goes_on"])
#: A state s to which slices of x are added.
ADD = [
    make_node("Gather", ["x", "i"], ["slice"]),
    make_node("Mul", ["s", "half"], ["less"]),
    make_node("Add", ["less", "slice"], ["next"]),
]
HALF = {"half": np.array(0.5, "float32"), "zero": np.array(0)}
START = make_node("Gather", ["x", "zero"], ["start"])
X = {"x": ["time", "batch"]}


def nested() -> Case:
    """Each row gets the sum of the products of its elements and those of all rows."""
    inner = body(
        [
            make_node("Gather", ["x", "j"], ["other"]),
            make_node("Mul", ["slice", "other"], ["product"]),
            make_node("Add", ["t", "product"], ["sum"]),
            make_node("Identity", ["inner_on"], ["inner_goes_on"]),
        ],
        {"j": INT64, "inner_on": BOOL, "t": FLOAT},
        {"inner_goes_on": BOOL, "sum": FLOAT},
    )
    outer = body(
        [
            *ADD,
            make_node("Loop", ["count", "", "next"], ["total"], body=inner),
            make_node("Identity", ["total"], ["out"]),
            ON,
        ],
        {**LOOP, "s": FLOAT},
        {"goes_on": BOOL, "next": FLOAT, "out": FLOAT},
    )
    loop = make_node("Loop", ["count", "", "start"], ["h", "y"], body=outer)
    return Case([*STEPS, START, loop], X, HALF, ("y", "h"))


CASES: dict[str, Case] = {
    **{
        f"{op}, {direction}": recurrent(op, direction)
        for op in ("RNN", "GRU", "LSTM")
        for direction in ("forward", "reverse", "bidirectional")
    },
    **{
        f"{op} with {' and '.join(options)}, {direction}": recurrent(op, direction, *options)
        for op in ("RNN", "GRU", "LSTM")
        for options in (["lengths"], ["states"], ["lengths", "states"])
        for direction in ("forward", "reverse", "bidirectional")
    },
    "GRU, reset after the product": recurrent("GRU", "bidirectional", linear_before_reset=1),
    "LSTM with peepholes": recurrent("LSTM", "forward", "states", "peepholes", clip=0.4),
    "RNN of other activations": recurrent("RNN", "bidirectional", activations=["Relu", "Softsign"]),
    "Loop over slices": Case(
        [
            *STEPS,
            START,
            make_node(
                "Loop",
                ["count", "", "start"],
                ["h", "y"],
                body=body(
                    [*ADD, make_node("Neg", ["next"], ["out"]), ON],
                    {**LOOP, "s": FLOAT},
                    {"goes_on": BOOL, "next": FLOAT, "out": FLOAT},
                ),
            ),
        ],
        X,
        HALF,
        ("y", "h"),
    ),
    "Loop of parts that the index decides": Case(
        [
            *STEPS,
            make_node(
                "Loop",
                ["count", ""],
                ["y"],
                body=body(
                    [
                        make_node("Unsqueeze", ["i", "axis"], ["begin"]),
                        make_node("Add", ["begin", "axis_one"], ["end"]),
                        make_node("Slice", ["x", "begin", "end"], ["part"]),
                        make_node("Cast", ["i"], ["number"], to=FLOAT),
                        make_node("Mul", ["part", "number"], ["out"]),
                        ON,
                    ],
                    LOOP,
                    {"goes_on": BOOL, "out": FLOAT},
                ),
            ),
        ],
        X,
        {"axis": np.array([0]), "axis_one": np.array([1])},
    ),
    "Loop whose state grows": Case(
        [
            *STEPS,
            make_node("Slice", ["x", "axis", "two"], ["start"]),
            make_node(
                "Loop",
                ["count", "", "start"],
                ["y"],
                body=body(
                    [
                        make_node("ReduceMean", ["s"], ["mean"], axes=[0]),
                        make_node("Concat", ["s", "mean"], ["next"], axis=0),
                        ON,
                    ],
                    {**LOOP, "s": FLOAT},
                    {"goes_on": BOOL, "next": FLOAT},
                ),
            ),
        ],
        X,
        {"axis": np.array([0]), "two": np.array([2])},
    ),
    "Loop as often as an input says": Case(
        [
            make_node(
                "Loop",
                ["count", "", "x"],
                ["h", "y"],
                body=body(
                    [
                        make_node("Mul", ["s", "half"], ["next"]),
                        make_node("ReduceSum", ["next"], ["out"], keepdims=0),
                        ON,
                    ],
                    {**LOOP, "s": FLOAT},
                    {"goes_on": BOOL, "next": FLOAT, "out": FLOAT},
                ),
            ),
        ],
        {**X, "count": []},
        HALF,
        ("y", "h"),
        {"count": "time"},
    ),
    "Loop until a sum is small": Case(
        [
            make_node(
                "Loop",
                ["most", "", "x"],
                ["h", "y"],
                body=body(
                    [
                        make_node("Mul", ["s", "half"], ["next"]),
                        make_node("Abs", ["next"], ["sizes"]),
                        make_node("ReduceSum", ["sizes"], ["out"], keepdims=0),
                        make_node("Greater", ["out", "half"], ["goes_on"]),
                    ],
                    {**LOOP, "s": FLOAT},
                    {"goes_on": BOOL, "next": FLOAT, "out": FLOAT},
                ),
            ),
        ],
        X,
        {**HALF, "most": np.array(40)},
        ("y", "h"),
    ),
    "Loop while a first condition holds": Case(
        [
            make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
            make_node("Greater", ["sum", "half"], ["is_large"]),
            make_node(
                "Loop",
                ["", "is_large", "x"],
                ["y"],
                body=body(
                    [
                        make_node("Mul", ["s", "half"], ["next"]),
                        make_node("ReduceSum", ["next"], ["left"], keepdims=0),
                        make_node("Greater", ["left", "half"], ["goes_on"]),
                    ],
                    {**LOOP, "s": FLOAT},
                    {"goes_on": BOOL, "next": FLOAT},
                ),
            ),
        ],
        X,
        HALF,
    ),
    "Loop that the index ends": Case(
        [
            *STEPS,
            make_node(
                "Loop",
                ["count", "", "x"],
                ["y"],
                body=body(
                    [
                        make_node("Mul", ["s", "half"], ["next"]),
                        make_node("Less", ["i", "three"], ["goes_on"]),
                    ],
                    {**LOOP, "s": FLOAT},
                    {"goes_on": BOOL, "next": FLOAT},
                ),
            ),
        ],
        X,
        {**HALF, "three": np.array(3)},
    ),
    "Loop in a Loop": nested(),
    "Scan of two inputs, one reversed": Case(
        [
            START,
            make_node(
                "Scan",
                ["start", "x", "z"],
                ["h", "y", "reversed"],
                num_scan_inputs=2,
                scan_input_axes=[0, 1],
                scan_input_directions=[0, 1],
                scan_output_axes=[1, 0],
                scan_output_directions=[0, 1],
                body=body(
                    [
                        make_node("Mul", ["s", "slice"], ["product"]),
                        make_node("Add", ["product", "other"], ["next"]),
                        make_node("Tanh", ["next"], ["out"]),
                        make_node("Identity", ["next"], ["second"]),
                    ],
                    {"s": FLOAT, "slice": FLOAT, "other": FLOAT},
                    {"next": FLOAT, "out": FLOAT, "second": FLOAT},
                ),
            ),
        ],
        {**X, "z": ["batch", "time"]},
        HALF,
        ("y", "h", "reversed"),
    ),
}


@pytest.fixture(scope="module")
def node() -> Iterator[NodeProcess]:
    with NodeProcess() as process:
        yield process


def feeds_of(case: Case, batch: int, time: int) -> dict[str, NDArray[Any]]:
    sizes = {"batch": batch, "time": time}
    draw = np.random.default_rng(time)
    feeds = {}
    for name, axes in case.inputs.items():
        shape = [size if isinstance(size, int) else sizes[size] for size in axes]
        if name in case.integers:
            high = sizes[case.integers[name]]
            feeds[name] = draw.integers(1, high + 1, shape, np.int32)
        else:
            feeds[name] = draw.uniform(-1, 1, shape).astype("float32")
    return feeds


def saved(case: Case, path: Path) -> None:
    graph = make_graph(
        case.nodes,
        "graph",
        [
            make_tensor_value_info(
                name, INT64 if name == "count" else INT32 if name in case.integers else FLOAT, shape
            )
            for name, shape in case.inputs.items()
        ],
        [make_tensor_value_info(name, FLOAT, None) for name in case.outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in case.weights.items()],
    )
    imports = [onnx.helper.make_opsetid("", 15)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=imports, ir_version=8), str(path))


@pytest.mark.parametrize("name", CASES)
def test_loops_compute_the_same_here_and_in_tensorflow_js(
    name: str, node: NodeProcess, tmp_path: Path, no_leak: None
) -> None:
    case = CASES[name]
    saved(case, tmp_path / "model.onnx")
    report = convert_model(tmp_path / "model.onnx", tmp_path / "web")
    assert report.counts.lacking == ()
    assert ": -" not in str(report)  # frames have more nodes than the file
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    model: Any = wt.load_graph_model(tmp_path / "web")
    for batch, time in SIZES:
        feeds = feeds_of(case, batch, time)
        theirs = {
            key: array.astype(np.int64) if key == "count" else array for key, array in feeds.items()
        }
        expected = session.run([*case.outputs], theirs)
        results = model.execute(feeds, [*case.outputs])
        in_javascript = node.run(tmp_path / "web", feeds)
        for expected_array, ours, other in zip(expected, results, in_javascript, strict=True):
            np.testing.assert_allclose(ours.numpy(), expected_array, rtol=0, atol=2e-6)
            np.testing.assert_allclose(other, expected_array, rtol=0, atol=2e-6)
    model.dispose()


def test_loops_of_one_number_of_steps_have_no_loop_in_the_graph(tmp_path: Path) -> None:
    """So that what follows from constants is folded, and nothing waits for a condition."""
    case = recurrent("LSTM", "bidirectional", "states")
    saved(case._replace(inputs={**case.inputs, "x": [5, "batch", 3]}), tmp_path / "model.onnx")
    convert_model(tmp_path / "model.onnx", tmp_path / "web")
    topology = json.loads((tmp_path / "web" / "model.json").read_text())["modelTopology"]
    assert not {"Enter", "StatelessWhile"} & {node["op"] for node in topology["node"]}


def test_a_loop_that_does_not_end_is_refused(tmp_path: Path) -> None:
    nodes = [
        make_node("Mul", ["s", "half"], ["next"]),
        make_node("ReduceSum", ["next"], ["left"], keepdims=0),
        make_node("Less", ["left", "big"], ["goes_on"]),
    ]
    inner = body(nodes, {**LOOP, "s": FLOAT}, {"goes_on": BOOL, "next": FLOAT})
    loop = make_node("Loop", ["", "", "x"], ["y"], body=inner)
    case = Case([loop], X, {**HALF, "big": np.array(9e9, "float32")})
    saved(case, tmp_path / "model.onnx")
    with pytest.raises(wt.ModelFormatError, match="y: a loop does not end"):
        convert_model(tmp_path / "model.onnx", tmp_path / "web")
