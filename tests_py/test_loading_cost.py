"""Loading takes steps in proportion to what is in a file, not to its square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

import webtensor as wt
from tests_py.graph.flows import frame
from tests_py.graph.graphs import constant, model_of, node, topology
from webtensor.graph.unique_names import UniqueNames


def steps(function: Callable[[], Any]) -> int:
    """Count the lines of webtensor that a call runs, of comprehensions one for each item."""
    count = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if "webtensor" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return traced

    sys.settrace(traced)
    try:
        function()
    finally:
        sys.settrace(None)
    return count


def load_loops(count: int) -> Callable[[], Any]:
    nodes = [constant("limit", 1), constant("zero", 0), constant("one", 1)]
    for index in range(count):
        less, more = f"less{index}", f"more{index}"
        body = [
            node(less, "Less", f"i{index} limit{index}"),
            node(more, "AddV2", f"i{index}_now step{index}"),
        ]
        variables = {f"i{index}": ("zero", more)}
        invariants = {f"limit{index}": "limit", f"step{index}": "one"}
        nodes += frame(f"frame{index}", variables, invariants, less, body)
    nodes.append(node("y", "AddN", " ".join(f"i{index}_end" for index in range(count))))
    return lambda: model_of(topology(nodes)).execute({}, "y")


def load_aliases(count: int) -> Callable[[], Any]:
    """Aliases of aliases, each of which is used, and as many uses of the last one."""
    nodes = [constant("a0", 1.0)]
    for index in range(count):
        nodes.append(node(f"a{index + 1}", "Identity", f"a{index}"))
        nodes += [node(f"{op}{index}", op, f"a{index}") for op in ("Neg", "Exp")]
        nodes.append(node(f"last{index}", "Neg", f"a{count}"))
    uses = " ".join(f"Neg{index} Exp{index} last{index}" for index in range(count))
    nodes.append(node("y", "AddN", uses))
    return lambda: model_of(topology(nodes)).execute({}, "y")


def load_onnx(
    nodes: list[Any], inputs: list[Any], initializers: list[Any]
) -> Callable[[], wt.onnx.OnnxModel]:
    outputs = [helper.make_empty_tensor_value_info("y")]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 17)]
    data = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return lambda: wt.load_onnx(data)


def load_convolutions(count: int) -> Callable[[], Any]:
    """Convolutions that share their filter."""
    values = ["x", *(f"value {index}" for index in range(1, count)), "y"]
    nodes = [
        helper.make_node("Conv", [values[index], "filter"], [values[index + 1]])
        for index in range(count)
    ]
    filter = numpy_helper.from_array(np.ones((2, 2, 1, 1), np.float32), "filter")
    inputs = [helper.make_tensor_value_info("x", 1, (1, 2, 3, 3))]
    return load_onnx(nodes, inputs, [filter])


def load_nodes_of_one_name(count: int) -> Callable[[], Any]:
    inputs = [helper.make_tensor_value_info("x", 1, (2,))]
    nodes = [helper.make_node("Neg", ["x"], [""], name="same") for _ in range(count)]
    return load_onnx([*nodes, helper.make_node("Neg", ["x"], ["y"])], inputs, [])


@pytest.mark.parametrize(
    "load", [load_loops, load_aliases, load_convolutions, load_nodes_of_one_name]
)
def test_steps_grow_with_the_file(load: Callable[[int], Callable[[], Any]]) -> None:
    load(8)()  # modules are imported
    few, many = steps(load(100)), steps(load(800))
    assert many < 10 * few


def test_unique_names_are_numbered_without_searching() -> None:
    names = UniqueNames()
    assert steps(lambda: [names.new("x") for _ in range(400)]) < 400 * 10
    assert names.new("x") == "x_400"
    assert len(names) == 401
