"""Graphs that cannot be computed are refused, and errors name the node."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webtensor as wt
from tests_py.convert.node import NodeProcess
from tests_py.graph.flows import frame
from tests_py.graph.graphs import (
    Dtype,
    Function,
    JsonNode,
    Shape,
    arrays_of,
    constant,
    function,
    model_of,
    node,
    placeholder,
    topology,
)
from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import graph_of_json, signature_of_json
from webtensor.graph.model import GraphModel

FLOAT, INT = Dtype("float32"), Dtype("int32")
X = constant("x", [[1.0, 2.0], [3.0, 4.0]])
IMAGE = constant("image", [[[[1.0]] * 3] * 3])
FILTER = constant("filter", [[[[1.0]]]])
FLAG = constant("flag", True)
ZERO, ONE = constant("zero", 0), constant("one", 1)
HUGE = constant("huge", 2**30)


def error_of(nodes: Iterable[JsonNode], functions: Iterable[Any] = (), fetch: str = "y") -> str:
    """What loading or running a graph says is wrong with it, with the note of where."""
    with pytest.raises((ValueError, MemoryError)) as caught:
        model_of(topology(nodes, functions)).execute({}, fetch)
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


# -- structure ---------------------------------------------------------------------------------

STRUCTURE: dict[str, tuple[list[JsonNode], str]] = {
    "cycle": ([node("y", "Neg", "z"), node("z", "Neg", "y")], "node 'y' depends on itself"),
    "itself": ([node("y", "Neg", "y")], "node 'y' depends on itself"),
    "cycle of identities": (
        [node("y", "Neg", "a"), node("a", "Identity", "b"), node("b", "Identity", "a")],
        "depends on itself",
    ),
    "cycle of control inputs": (
        [node("y", "Neg", "x ^z"), node("z", "Neg", "y"), X],
        "depends on itself",
    ),
    "missing node": ([node("y", "Neg", "gone")], "there is no node 'gone'"),
    "missing control input": ([X, node("y", "Neg", "x ^gone")], "there is no node 'gone'"),
    "missing input of a node": ([X, node("y", "Add", "x")], "node 'y' of operation Add"),
    "no inputs at all": ([node("y", "ConcatV2", "")], "node 'y' of operation ConcatV2"),
    "identity of nothing": ([node("y", "Identity")], "node 'y' has no input 0"),
    "missing feed": ([placeholder("x"), node("y", "Neg", "x")], "the input 'x' is missing"),
    "output out of range": (
        [X, ONE, node("s", "Split", "one x", num_split=2), node("y", "Neg", "s:5")],
        "'s",
    ),
    "output of a node with one": ([X, node("n", "Neg", "x"), node("y", "Neg", "n:1")], "'n"),
    "output of a constant": ([X, node("y", "Neg", "x:1")], "'x:1'"),
    "output of an identity": (
        [X, node("n", "IdentityN", "x"), node("y", "Neg", "n:3")],
        "node 'n' has no input 3",
    ),
    "malformed reference": ([X, node("y", "Neg", "x:a")], "an input is called 'x:a'"),
    "negative reference": ([X, node("y", "Neg", "x:-1")], "an input is called 'x:-1'"),
    "constant without a value": (
        [node("x", "Const", dtype=FLOAT), node("y", "Neg", "x")],
        "node 'x' has no value",
    ),
    "nothing": ([node("y", "NoOp")], "'y"),
    "two of one name": ([X, X], "two have the name 'x'"),
    "list where a tensor is needed": (
        [constant("s", [2]), ONE, node("l", "TensorListReserve", "s one", element_dtype=FLOAT),
         node("y", "Neg", "l")],
        "node 'y' of operation Neg",
    ),
    "tensor where a list is needed": (
        [X, node("y", "TensorListLength", "x")],
        "node 'y' of operation TensorListLength",
    ),
    "element written beyond the end of an array": (
        [X, ONE, node("a", "TensorArrayV3", "one", dtype=FLOAT),
         node("y", "TensorArrayWriteV3", "a one x a:1")],
        "TensorArrayWriteV3: there is no element 1 among 1",
    ),
    "element read beyond the end of an array": (
        [ONE, node("a", "TensorArrayV3", "one", dtype=FLOAT),
         node("y", "TensorArrayReadV3", "a one a:1")],
        "TensorArrayReadV3: there is no element 1 among 1",
    ),
    "element set beyond the end of a list": (
        [X, constant("s", [2]), ONE, node("l", "TensorListReserve", "s one", element_dtype=FLOAT),
         node("y", "TensorListSetItem", "l one x")],
        "TensorListSetItem: there is no element 1 among 1",
    ),
    "element set before the start of a list": (
        [X, constant("s", [2]), ONE, node("l", "TensorListReserve", "s one", element_dtype=FLOAT),
         constant("i", -1), node("y", "TensorListSetItem", "l i x")],
        "TensorListSetItem: there is no element -1 among 1",
    ),
    "last element of an empty list": (
        [constant("s", [2]), ONE, node("l", "EmptyTensorList", "s one", element_dtype=FLOAT),
         node("y", "TensorListPopBack", "l s", element_dtype=FLOAT)],
        "TensorListPopBack: the list is empty",
    ),
    "tensor where a table is needed": (
        [X, node("y", "LookupTableSizeV2", "x")],
        "node 'y' of operation LookupTableSizeV2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure(name: str):
    nodes, message = STRUCTURE[name]
    assert message in error_of(nodes)


# -- elements of arrays and lists --------------------------------------------------------------

WHOLE = constant("whole", [1, 2])
ROWS = constant("rows", [[1.0], [2.0], [3.0]])
ROW_SHAPE, TALL_SHAPE = constant("row_shape", [2]), constant("tall_shape", [3])
ARRAY = node("a", "TensorArrayV3", "two", dtype=FLOAT, element_shape=Shape((2,)))
WRITTEN = node("w", "TensorArrayWriteV3", "a zero row a:1", T=FLOAT)
SET = node("s", "TensorListSetItem", "l zero row", element_dtype=FLOAT)
ELEMENT_SOURCES = [
    X, ZERO, ONE, WHOLE, ROWS, ROW_SHAPE, TALL_SHAPE, constant("two", 2),
    constant("row", [1.0, 2.0]), constant("both", [0, 1]), constant("far", [0, 1, 5]),
    constant("ones", [1, 1, 1]),
    node("l", "TensorListReserve", "row_shape two", element_dtype=FLOAT),
    node("short", "EmptyTensorList", "row_shape one", element_dtype=FLOAT), ARRAY,
]  # fmt: skip

#: The last nodes of each graph, and what the library and TensorFlow.js say.
ELEMENTS: dict[str, tuple[list[JsonNode], str, str]] = {
    "write of another dtype": (
        [node("w", "TensorArrayWriteV3", "a zero whole a:1", T=INT),
         node("y", "TensorArrayReadV3", "a zero w", dtype=FLOAT)],
        "TensorArrayWriteV3: the elements have dtype float32, but got int32",
        "value dtype is int32",
    ),
    "write of another shape": (
        [node("w", "TensorArrayWriteV3", "a zero x a:1", T=FLOAT),
         node("y", "TensorArrayReadV3", "a zero w", dtype=FLOAT)],
        "TensorArrayWriteV3: the elements have shape (2,), but got (2, 2)",
        "Shapes 2 and 2,2 must match",
    ),
    "second write": (
        [WRITTEN, node("v", "TensorArrayWriteV3", "a zero row w", T=FLOAT),
         node("y", "TensorArrayReadV3", "a zero v", dtype=FLOAT)],
        "TensorArrayWriteV3: element 0 was written before",
        "already been written",
    ),
    "read of another dtype": (
        [WRITTEN, node("y", "TensorArrayConcatV3", "a w", dtype=INT)],
        "the elements have dtype float32, not int32",
        "concat requested dtype int32",
    ),
    "scatter of fewer": (
        [node("w", "TensorArrayScatterV3", "a both rows a:1", T=FLOAT),
         node("y", "TensorArrayReadV3", "a zero w", dtype=FLOAT)],
        "TensorArrayScatterV3: there are 2 indices, but 3 elements",
        "saw: 2 vs. 3",
    ),
    "split into more": (
        [node("w", "TensorArraySplitV3", "a rows ones a:1", T=FLOAT),
         node("y", "TensorArrayReadV3", "a zero w", dtype=FLOAT)],
        "TensorArraySplitV3: there are 2 elements, but 3 lengths",
        "size of lengths",
    ),
    "set of another dtype": (
        [node("s", "TensorListSetItem", "l zero whole", element_dtype=INT),
         node("y", "TensorListLength", "s")],
        "TensorListSetItem: the elements have dtype float32, but got int32",
        "Invalid data types",
    ),
    "push of another shape": (
        [node("s", "TensorListPushBack", "short x", element_dtype=FLOAT),
         node("y", "TensorListLength", "s")],
        "TensorListPushBack: the elements have shape (2,), but got (2, 2)",
        "shape mismatch",
    ),
    "push to a full list": (
        [node("s", "TensorListPushBack", "short row", element_dtype=FLOAT),
         node("t", "TensorListPushBack", "s row", element_dtype=FLOAT),
         node("y", "TensorListLength", "t")],
        "TensorListPushBack: the list has 1 elements at most",
        "full list",
    ),
    "stack of another dtype": (
        [SET, node("y", "TensorListStack", "s row_shape", element_dtype=INT)],
        "the elements have dtype float32, not int32",
        "Invalid data types",
    ),
    "item of another shape": (
        [SET, node("y", "TensorListGetItem", "s zero tall_shape", element_dtype=FLOAT)],
        "the elements have shape (2,), not (3,)",
        "shape mismatch",
    ),
    "scatter beyond the end": (
        [node("s", "TensorListScatterV2", "rows far one two", element_dtype=FLOAT),
         node("y", "TensorListLength", "s")],
        "TensorListScatter: there is no element 5 among 2",
        "Max index",
    ),
    "slices of a number": (
        [node("s", "TensorListFromTensor", "one row_shape", element_dtype=INT),
         node("y", "TensorListLength", "s")],
        "TensorListFromTensor: a tensor without axes has no slices",
        "at least a vector",
    ),
    "slices of another shape": (
        [node("s", "TensorListFromTensor", "x tall_shape", element_dtype=FLOAT),
         node("y", "TensorListLength", "s")],
        "TensorListFromTensor: the elements have shape (3,), but got (2,)",
        "shape mismatch",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def tensorflow_js() -> Iterator[NodeProcess]:
    with NodeProcess() as process:
        yield process


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_as_in_tensorflow_js(name: str, tmp_path: Path, tensorflow_js: NodeProcess):
    last_nodes, message, their_message = ELEMENTS[name]
    nodes = [*ELEMENT_SOURCES, *last_nodes]
    assert message in error_of(nodes)
    signature = signature_of_json({"outputs": {"y": {"name": "y:0"}}}, "a model")
    graph = graph_of_json(topology(nodes), "a model")
    GraphModel(graph, {}, "a model", signature=signature).save(tmp_path)
    with pytest.raises(AssertionError, match=re.escape(their_message)):
        tensorflow_js.run(tmp_path, {})


@pytest.mark.parametrize("fetch", ["l", "a"])
def test_lists_are_no_results(fetch: str):
    assert f"has not computed '{fetch}', which is no tensor" in error_of(ELEMENT_SOURCES, (), fetch)


@pytest.mark.parametrize("fetch", ["gone", "gone:1", "x:1", "n:7", "x:", ":", ""])
def test_fetches(fetch: str):
    assert repr(fetch.partition(":")[0])[1:-1] in error_of([X, node("n", "Neg", "x")], (), fetch)


def unary(name: str, op: str, **attributes: Any) -> dict[str, Any]:
    """A function of one operation."""
    body = [node("y", op, "a", **attributes)]
    return function(name, {"a": "float32"}, {"r": ("float32", "y")}, body)


def test_unknown_operations_are_reported_at_once():
    calls_h = unary("f", "PartitionedCall", f=Function("h"))
    functions = [calls_h, unary("g", "Third"), unary("h", "Fourth"), unary("unused", "Fifth")]
    nodes = [
        X,
        node("y", "First", "x"),
        node("z", "Second", "x"),
        node("w", "First", "x"),
        node("called", "PartitionedCall", "x", f=Function("f")),
        node("by_name", "g", "x"),
    ]
    with pytest.raises(ModelFormatError, match="unknown: First, Fourth, Second, Third;"):
        model_of(topology(nodes, functions))


def test_functions_that_nothing_calls_may_have_unknown_operations():
    functions = [unary("f", "Unknown"), unary("g", "PartitionedCall", f=Function("f"))]
    model = model_of(topology([X, node("y", "Neg", "x")], functions))
    (y,) = arrays_of(model.execute({}, "y"))
    assert y.tolist() == [[-1.0, -2.0], [-3.0, -4.0]]


def test_nodes_that_the_outputs_do_not_need_may_have_unknown_operations():
    nodes = [X, node("y", "Neg", "x"), node("other", "Unknown", "x"), node("more", "Neg", "other")]
    described = {"dtype": "DT_FLOAT", "tensorShape": {}}
    signature = {"outputs": {"y": {"name": "y:0", **described}}}
    fields = {"modelTopology": topology(nodes), "signature": signature, "weightsManifest": []}
    model = wt.load_graph_model({"model.json": json.dumps(fields).encode()})
    (y,) = arrays_of(model.execute({"x": [[1.0, -2.0]]}))
    assert y.tolist() == [[-1.0, 2.0]]
    with pytest.raises(ModelFormatError, match="operation 'Unknown' is unknown"):
        model.execute({"x": [[1.0]]}, "more")


# -- attributes --------------------------------------------------------------------------------

WINDOW: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME", "dilations": [1, 1, 1, 1]}

ATTRIBUTES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "missing strides": ("Conv2D", "image filter", {"padding": "SAME"}),
    "strides that are a text": ("Conv2D", "image filter", {**WINDOW, "strides": "1"}),
    "strides that are texts": ("Conv2D", "image filter", {**WINDOW, "strides": ["a"] * 4}),
    "two strides": ("Conv2D", "image filter", {**WINDOW, "strides": [1, 1]}),
    "strides of zero": ("Conv2D", "image filter", {**WINDOW, "strides": [1, 0, 0, 1]}),
    "negative strides": ("MaxPool", "image", {**WINDOW, "ksize": [1, 2, 2, 1],
                                              "strides": [1, -1, -1, 1]}),
    "window of zero": ("AvgPool", "image", {**WINDOW, "ksize": [1, 0, 0, 1]}),
    "dilations of zero": ("Conv2D", "image filter", {**WINDOW, "dilations": [1, 0, 0, 1]}),
    "missing padding": ("Conv2D", "image filter", {"strides": [1, 1, 1, 1]}),
    "unknown padding": ("Conv2D", "image filter", {**WINDOW, "padding": "WIDE"}),
    "padding that is a number": ("Conv2D", "image filter", {**WINDOW, "padding": 3}),
    "odd explicit paddings": (
        "Conv2D", "image filter", {**WINDOW, "padding": "EXPLICIT", "explicit_paddings": [1]}
    ),
    "explicit paddings that are missing": (
        "Conv2D", "image filter", {**WINDOW, "padding": "EXPLICIT"}
    ),
    "unknown layout": ("Conv2D", "image filter", {**WINDOW, "data_format": "HWNC"}),
    "unknown fused operation": (
        "_FusedConv2D", "image filter", {**WINDOW, "fused_ops": ["Explode"]}
    ),
    "fused operation that is a number": (
        "_FusedConv2D", "image filter", {**WINDOW, "fused_ops": [1]}
    ),
    "bias that is missing": ("_FusedConv2D", "image filter", {**WINDOW, "fused_ops": ["BiasAdd"]}),
    "dtype without elements": ("Cast", "x", {"DstT": Dtype("resource")}),
    "dtype that is missing": ("Cast", "x", {}),
    "dtype that is a number": ("Cast", "x", {"DstT": 7}),
    "axis that is a text": ("Pack", "x x", {"axis": "first"}),
    "axis out of range": ("Pack", "x x", {"axis": 9}),
    "squeezed axis of another size": ("Squeeze", "x", {"squeeze_dims": [0]}),
    "squeezed axes that are a number": ("Squeeze", "x", {"squeeze_dims": 0}),
    "equation that is missing": ("Einsum", "x x", {}),
    "equation that is none": ("Einsum", "x x", {"equation": "->->"}),
    "equation that is a number": ("Einsum", "x x", {"equation": 1.5}),
    "split into none": ("Split", "zero x", {"num_split": 0}),
    "uneven split": ("Split", "zero x", {"num_split": 3}),
    "split into a text": ("Split", "zero x", {"num_split": "two"}),
    "shape that does not fit": ("EnsureShape", "x", {"shape": Shape((5, 5))}),
    "shape that is a number": ("EnsureShape", "x", {"shape": 5}),
    "mode that is unknown": ("MirrorPad", "x pads", {"mode": "WRAP"}),
    "mode that is a number": ("MirrorPad", "x pads", {"mode": 1}),
    "block of zero": ("DepthToSpace", "image", {"block_size": 0}),
    "block that is a text": ("DepthToSpace", "image", {"block_size": "b"}),
    "alpha that is a text": ("LeakyRelu", "x", {"alpha": "steep"}),
    "bits that are none": ("FakeQuantWithMinMaxArgs", "x", {"num_bits": 0}),
    "too many bits": ("FakeQuantWithMinMaxArgs", "x", {"num_bits": 1 << 40}),
    "no range": ("FakeQuantWithMinMaxArgs", "x", {"min": 1.0, "max": 1.0}),
    "group that is no pattern": ("StaticRegexReplace", "text", {"pattern": "(", "rewrite": ""}),
    "pattern that would take years": (
        "StaticRegexReplace", "text", {"pattern": "(a+)+b", "rewrite": ""}
    ),
    "pattern that whole texts would take years to match": (
        "StaticRegexFullMatch", "text", {"pattern": "(a|a)*b"}
    ),
    "pattern that is missing": ("StaticRegexReplace", "text", {"rewrite": ""}),
    "buckets that are none": ("StringToHashBucketFast", "text", {"num_buckets": 0}),
    "buckets that are a text": ("StringToHashBucketFast", "text", {"num_buckets": "b"}),
    "method that is unknown": ("CropAndResize", "image x zeros zeros", {"method": "magic"}),
    "epsilon that is a text": ("FusedBatchNormV3", "image one one one one", {"epsilon": "e"}),
    "unknown data format": ("FusedBatchNormV3", "image ones ones ones ones",
                            {"data_format": "WORD"}),
    "partition types that are unknown": (
        "RaggedTensorToTensor", "zeros x zero zeros", {"row_partition_types": ["ROWS"]}
    ),
    "rank that is a text": ("RaggedGather", "zeros x zeros", {"OUTPUT_RAGGED_RANK": "r"}),
    "radius that is a text": ("LRN", "image", {"depth_radius": "r"}),
    "rates that are missing": ("Dilation2D", "image volume", WINDOW),
    "rates that are a number": ("Dilation2D", "image volume", {**WINDOW, "rates": 1}),
    "element shape of negative size": ("TensorArrayV3", "one", {
        "dtype": FLOAT, "element_shape": {"shape": {"dim": [{"size": "-7"}]}}}),
    "list of dtype none": ("TensorListReserve", "zeros one", {"element_dtype": Dtype("variant")}),
}  # fmt: skip

OPERANDS = [
    X, IMAGE, FILTER, ZERO, ONE,
    constant("zeros", [0, 0]), constant("ones", [1.0]), constant("pads", [[1, 1], [0, 0]]),
    constant("volume", [[[1.0]]]), constant("text", np.array([b"a"], object)),
]  # fmt: skip


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name: str):
    op, inputs, attributes = ATTRIBUTES[name]
    message = error_of([*OPERANDS, node("y", op, inputs, **attributes)])
    assert "'y'" in message or "size -7" in message


# -- functions ---------------------------------------------------------------------------------


def calling(name: str, other: str) -> dict[str, Any]:
    """A function that calls another."""
    body = [node("c", "PartitionedCall", "a", f=Function(other))]
    return function(name, {"a": "float32"}, {"r": ("float32", "c:output:0")}, body)


SAME = function("same", {"a": "float32"}, {"r": ("float32", "a")}, [])
TWO = function("two", {"a": "float32", "b": "float32"}, {"r": ("float32", "a")}, [])
NONE = function("none", {"a": "float32"}, {}, [])
BOTH = function("both", {"a": "float32"}, {"r": ("float32", "a"), "s": ("float32", "a")}, [])
LOST = function("lost", {"a": "float32"}, {"r": ("float32", "gone:z:0")}, [])
SILENT = {**SAME, "signature": {**SAME["signature"], "name": "silent"}, "ret": {}}
TRUE = function("true", {"a": "float32"}, {"r": ("bool", "t:output:0")}, [constant("t", True)])
LIBRARY = [SAME, TWO, NONE, BOTH, LOST, SILENT, TRUE]

CALLS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "function that calls itself": ("PartitionedCall", "x", {"f": Function("again")}, "again"),
    "functions that call each other": ("PartitionedCall", "x", {"f": Function("left")}, "left"),
    "function that is missing": ("PartitionedCall", "x", {"f": Function("gone")}, "gone"),
    "no function": ("PartitionedCall", "x", {}, "'y' has no function 'f'"),
    "function that is a text": ("PartitionedCall", "x", {"f": "same"}, "'y' has no function 'f'"),
    "missing argument": ("PartitionedCall", "x", {"f": Function("two")}, "'y'"),
    "another argument": ("PartitionedCall", "x x", {"f": Function("same")}, "'y'"),
    "result of a missing node": ("PartitionedCall", "x", {"f": Function("lost")}, "gone"),
    "function that returns nothing": ("PartitionedCall", "x", {"f": Function("none")}, "'y"),
    "function that does not say what": (
        "PartitionedCall", "x", {"f": Function("silent")}, "'silent' does not say what it returns"
    ),
    "missing branch": ("If", "flag x", {"then_branch": Function("same")}, "else_branch"),
    "branch of two arguments": (
        "If", "flag x", {"then_branch": Function("two"), "else_branch": Function("same")}, "'y'"
    ),
    "no condition": (
        "If", "", {"then_branch": Function("none"), "else_branch": Function("none")}, "'y'"
    ),
    "condition of many elements": (
        "If", "x x", {"then_branch": Function("same"), "else_branch": Function("same")}, "'y'"
    ),
    "condition of two results": (
        "While", "x", {"cond": Function("both"), "body": Function("same")}, "'y'"
    ),
    "condition of no results": (
        "While", "x", {"cond": Function("none"), "body": Function("same")}, "'y'"
    ),
    "condition that is no number": (
        "While", "x", {"cond": Function("same"), "body": Function("same")}, "'y'"
    ),
    "body that returns too much": (
        "While", "x", {"cond": Function("true"), "body": Function("both")}, "'y'"
    ),
    "body that returns nothing": (
        "While", "x", {"cond": Function("true"), "body": Function("none")}, "'y'"
    ),
    "missing body": ("While", "x", {"cond": Function("true")}, "'body'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_functions(name: str):
    op, inputs, attributes, message = CALLS[name]
    library = [*LIBRARY, calling("again", "again"), calling("left", "right"),
               calling("right", "left")]  # fmt: skip
    assert message in error_of([X, FLAG, node("y", op, inputs, **attributes)], library)


def test_functions_that_call_too_deep():
    library = [calling(f"f{index}", f"f{index + 1}") for index in range(60)]
    nodes = [X, node("y", "PartitionedCall", "x", f=Function("f0"))]
    assert "calls itself, or too many others" in error_of(nodes, [*library, calling("f60", "same")])


# -- frames ------------------------------------------------------------------------------------

COUNTING = frame(
    "counting",
    {"i": ("zero", "more")},
    {"limit": "ten", "step": "one"},
    "less",
    [node("less", "Less", "i limit"), node("more", "AddV2", "i_now step")],
)
COUNT = [ZERO, ONE, constant("ten", 10), *COUNTING, node("y", "Identity", "i_end")]


def changed(name: str, **changes: Any) -> list[JsonNode]:
    """The counting loop with another node in the place of one."""
    return [{**part, **changes} if part["name"] == name else part for part in COUNT]


def without(name: str) -> list[JsonNode]:
    """The counting loop without a node."""
    return [part for part in COUNT if part["name"] != name]


FRAMES = {
    "no Exit": without("i_end"),
    "no Switch": without("i_switch"),
    "no NextIteration": without("i_next"),
    "no Enter": without("i_enter"),
    "no LoopCond": without("counting_cond"),
    "no Merge": without("i"),
    "no entry": changed("i_enter", input=[]),
    "two entries": changed("i_enter", input=["zero", "one"]),
    "no next value": changed("i_next", input=[]),
    "Merge of one": changed("i", input=["i_next"]),
    "Merge of an Enter alone": changed("i", input=["i_enter"]),
    "Merge of two NextIterations": changed("i", input=["i_next", "i_next"]),
    "Merge of three": changed("i", input=["i_enter", "i_next", "i_next"]),
    "Exit of nothing": changed("i_end", input=[]),
    "Exit from outside": changed("i_end", input=["gone"]),
    "cycle in the body": changed("more", input=["more", "step"]),
    "cycle around the Merge": changed("i", input=["i_enter", "more"]),
    "condition that is not there": changed("counting_cond", input=["gone"]),
    "condition of nothing": changed("counting_cond", input=[]),
    "NextIteration outside": [ZERO, node("y", "NextIteration", "y")],
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name: str):
    assert "a model" in error_of(FRAMES[name])


def test_an_exit_that_is_never_reached():
    nodes = [
        *COUNT,
        node("never", "Exit", "dead_switch"),
        node("dead_switch", "Switch", "i_now counting_cond"),
    ]
    assert arrays_of(model_of(topology(nodes)).execute({}, "y"))[0] == 10
    assert "not computed 'never'" in error_of(nodes, (), "never")


def test_frames_that_nest_too_deep():
    nodes = [ZERO]
    source = "zero"
    for index in range(60):
        nodes.append(node(f"e{index}", "Enter", source, frame_name=f"f{index}"))
        source = f"e{index}"
    assert "nested more than 50" in error_of([*nodes, node("y", "Neg", source)])


# -- sizes -------------------------------------------------------------------------------------

GIANT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Fill": ("Fill", "sizes one", {}),
    "Zeros": ("Zeros", "sizes", {"T": FLOAT}),
    "Ones": ("Ones", "sizes", {"T": FLOAT}),
    "negative Fill": ("Fill", "negative one", {}),
    "Range": ("Range", "zero huge one", {}),
    "Range without steps": ("Range", "zero huge zero", {}),
    "LinSpace": ("LinSpace", "half half huge", {}),
    "OneHot": ("OneHot", "zeros huge half half", {"axis": -1}),
    "BroadcastTo": ("BroadcastTo", "half sizes", {}),
    "Tile": ("Tile", "row tall", {}),
    "Pad": ("Pad", "row pads", {}),
    "SpaceToBatchND": ("SpaceToBatchND", "image block wide", {}),
    "ScatterNd": ("ScatterNd", "places row sizes", {}),
    "SparseToDense": ("SparseToDense", "places sizes row half", {}),
    "ResizeBilinear": ("ResizeBilinear", "image large", {}),
    "ResizeNearestNeighbor": ("ResizeNearestNeighbor", "image large", {}),
    "CropAndResize": ("CropAndResize", "image box zero_row large", {}),
    "RandomUniform": ("RandomUniform", "sizes", {"dtype": FLOAT}),
    "RandomStandardNormal": ("RandomStandardNormal", "sizes", {"dtype": FLOAT}),
    "TruncatedNormal": ("TruncatedNormal", "sizes", {"dtype": FLOAT}),
    "RandomUniformInt": ("RandomUniformInt", "sizes zero one", {}),
    "Multinomial": ("Multinomial", "logits huge", {}),
    "Bincount": ("Bincount", "zeros huge no_weights", {}),
    "DenseBincount": ("DenseBincount", "zeros huge no_weights", {}),
    "RFFT": ("RFFT", "row tall", {}),
    "IRFFT": ("IRFFT", "row tall", {}),
    "RaggedRange": ("RaggedRange", "zero_row tall one_row", {}),
    "RaggedTensorToTensor": (
        "RaggedTensorToTensor", "sizes row half splits", {"row_partition_types": ["ROW_SPLITS"]}
    ),
    "SparseFillEmptyRows": ("SparseFillEmptyRows", "places row deep half", {}),
    "StringNGrams": (
        "StringNGrams", "texts splits",
        {"separator": "", "ngram_widths": [2**30], "left_pad": "a", "right_pad": "b",
         "pad_width": -1, "preserve_short_sequences": False},
    ),
    "Conv2DBackpropInput": (
        "Conv2DBackpropInput", "giant filter image",
        {"strides": [1, 65536, 65536, 1], "padding": "SAME"},
    ),
    "explicit padding": (
        "Conv2D", "image filter",
        {"strides": [1, 1, 1, 1], "padding": "EXPLICIT",
         "explicit_paddings": [0, 0, 65536, 0, 65536, 0, 0, 0]},
    ),
    "Split": ("Split", "zero no_weights", {"num_split": 2**30}),
    "Unpack": ("Unpack", "hollow", {"num": 2**30}),
    "TensorListReserve": ("TensorListReserve", "tall huge", {"element_dtype": FLOAT}),
    "TensorListResize": ("TensorListResize", "list huge", {}),
    "TensorListScatterV2": (
        "TensorListScatterV2", "row zero_row zero_row huge", {"element_dtype": FLOAT}
    ),
    "TensorListScatter": ("TensorListScatter", "row tall zero_row", {"element_dtype": FLOAT}),
    "TensorListSetItem": (
        "TensorListSetItem", "list huge half", {"resize_if_index_out_of_bounds": True}
    ),
    "TensorArrayV3": ("TensorArrayV3", "huge", {"dtype": FLOAT}),
    "TensorArrayWriteV3": ("TensorArrayWriteV3", "array huge half array:1", {}),
    "zeros of a list": ("TensorListGetItem", "list zero sizes", {"element_dtype": FLOAT}),
    "bits": ("StringToHashBucketFast", "texts", {"num_buckets": 2**62}),
}  # fmt: skip


def sizes() -> list[JsonNode]:
    """Operands that ask for much."""
    texts = np.array([b"a"], object)
    return [
        ZERO, ONE, HUGE, IMAGE, FILTER,
        constant("sizes", [2**16, 2**16]), constant("negative", [-5]), constant("half", 0.5),
        constant("zeros", [0, 0]), constant("row", [1.0]), constant("tall", [2**30]),
        constant("pads", [[2**30, 0]]), constant("block", [1, 1]),
        constant("wide", [[2**16, 0], [2**16, 0]]), constant("places", [[0, 0]]),
        constant("large", [2**16, 2**16]), constant("box", [[0.0, 0.0, 1.0, 1.0]]),
        constant("zero_row", [0]), constant("one_row", [1]), constant("deep", [2**30, 1]),
        constant("logits", [[1.0, 1.0]]),
        constant("no_weights", [], "float32"), constant("splits", [0, 1]),
        constant("hollow", np.zeros((2**30, 0), np.float32)),
        constant("texts", texts), constant("giant", [1, 196608, 196608, 1]),
        node("list", "TensorListReserve", "zero_row one", element_dtype=FLOAT),
        node("array", "TensorArrayV3", "one", dtype=FLOAT, dynamic_size=True),
    ]  # fmt: skip


@pytest.mark.parametrize("name", GIANT)
def test_giant_sizes(name: str):
    op, inputs, attributes = GIANT[name]
    start = time.process_time()
    assert "'y'" in error_of([*sizes(), node("y", op, inputs, **attributes)])
    assert time.process_time() - start < 5


def test_giant_constants():
    value = {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": str(2**40)}]},
                        "floatVal": [1.0]}}  # fmt: skip
    nodes = [node("x", "Const", dtype=FLOAT, value=value), node("y", "Neg", "x")]
    assert "a model" in error_of(nodes)


# -- long graphs -------------------------------------------------------------------------------


def test_long_chains_are_no_trouble():
    chain = [node(f"n{index}", "Neg", f"n{index - 1}" if index else "x") for index in range(3000)]
    model = model_of(topology([X, *chain]))
    assert arrays_of(model.execute({}, "n2999"))[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_aliases_of_aliases_are_no_trouble():
    chain = [
        node(f"a{index}", "Identity", f"a{index - 1}" if index else "x") for index in range(4000)
    ]
    users = [node(f"u{index}", "Neg", "a3999") for index in range(1000)]
    total = node("y", "AddN", [user["name"] for user in users])
    model = model_of(topology([X, *chain, *users, total]))
    assert arrays_of(model.execute({}, "y"))[0].tolist() == [[-1000.0, -2000.0], [-3000.0, -4000.0]]
