"""Operators that become several nodes, or nodes of other options than TensorFlow's."""

from __future__ import annotations

from typing import Any

from webtensor.formats.flexbuffers import read_flexbuffer
from webtensor.formats.graph_def import ElementType, FunctionName
from webtensor.tflite.calls import Call
from webtensor.tflite.constants import along
from webtensor.tflite.quantization import RANGES, quantization_of

__all__ = [
    "assignment",
    "call_subgraph",
    "choice",
    "detections",
    "hard_swish",
    "initialization",
    "l2_normalization",
    "l2_pool",
    "landmarks",
    "loop",
    "reading",
    "reshape",
    "softmax",
    "strided_slice",
    "table",
    "unchanged",
]

#: Norms are at least this in TensorFlow Lite.
_SMALLEST_NORM = 1e-6


def unchanged(call: Call) -> list[str]:
    """Return the input."""
    return [call.input(0)]


def quantized(call: Call) -> list[str]:
    """Round to the scale of the output, or to one scale for each channel."""
    x, tensor = call.input(0), call.output()
    quantization = quantization_of(tensor)
    if quantization is None or len(quantization.scales) == 1:
        grid = call.grid(tensor)
        return [x if grid is None else call.on_grid(x, grid)]
    scales, zeros = (
        call.constant(along(values, tensor.shape, quantization.dimension), "float32")
        for values in (quantization.scales, quantization.zero_points)
    )
    low, high = map(float, RANGES[tensor.dtype])
    steps = call.node("AddV2", call.node("RealDiv", x, scales), zeros)
    integers = call.node("RoundToScale", steps, factor=1.0, low=low, high=high, scale=1.0)
    return [call.node("Mul", call.node("Sub", integers, zeros), scales)]


def hard_swish(call: Call) -> list[str]:
    """Return x · relu6(x + 3) / 6."""
    x = call.input(0)
    gate = call.node("Relu6", call.node("AddV2", x, call.constant(3.0, "float32")))
    return [call.node("Mul", call.node("Mul", x, gate), call.constant(1 / 6, "float32"))]


def softmax(call: Call) -> list[str]:
    """Return exponentials of ``beta`` times the input, of which the last axis sums to one."""
    x, beta = call.input(0), call.option("beta")
    if beta != 1:
        x = call.node("Mul", x, call.constant(beta, "float32"))
    return [call.node("Softmax", x)]


def l2_normalization(call: Call) -> list[str]:
    """Divide by the norm along the last axis."""
    x = call.input(0)
    total = call.node("Sum", call.node("Square", x), call.constant([-1]), keep_dims=True)
    smallest = call.constant(_SMALLEST_NORM, "float32")
    return [call.node("RealDiv", x, call.node("Maximum", call.node("Sqrt", total), smallest))]


def pool_attributes(call: Call) -> dict[str, Any]:
    """Return the attributes of windows."""
    options = call.option
    return {
        "ksize": [1, options("filter_height"), options("filter_width"), 1],
        "strides": [1, options("stride_h"), options("stride_w"), 1],
        "padding": options("padding"),
    }


def l2_pool(call: Call) -> list[str]:
    """Return square roots of mean squares of windows."""
    squares = call.node("Square", call.input(0))
    return [call.node("Sqrt", call.node("AvgPool", squares, **pool_attributes(call)))]


def reshape(call: Call) -> list[str]:
    """Reshape to the shape of the second input, or else of the options."""
    if call.has(1):
        return [call.node("Reshape", call.input(0), call.input(1))]
    shape = call.option("new_shape")
    return [call.reshaped(call.input(0), () if shape == (0,) else shape)]


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def strided_slice(call: Call) -> list[str]:
    """Take slices; ends may be given as distances from the beginnings."""
    end = call.input(2)
    if call.option("offset"):
        end = call.node("AddV2", call.input(1), end)
    masks = {name: call.option(name) for name in _MASKS}
    return [call.node("StridedSlice", call.input(0), call.input(1), end, call.input(3), **masks)]


def real_transform(call: Call) -> list[str]:
    """Transform images; those of one row are rows, which TensorFlow.js transforms, too."""
    lengths, shape = call.graph.library.constants.get(call.input(1)), call.tensor(0).shape
    if lengths is not None and lengths.tolist() == [*shape[-2:]] == [1, *shape[-1:]]:
        return [call.node("RFFT", call.input(0), call.constant([*shape[-1:]]))]
    return [call.node("RFFT2D", call.input(0), call.input(1))]


# -- control flow ------------------------------------------------------------------------------


def _function(call: Call, option: str) -> FunctionName:
    return FunctionName(call.graph.library.need(call.option(option)), {})


def choice(call: Call) -> list[str]:
    """Run one of two subgraphs."""
    branches = {
        "then_branch": _function(call, "then_subgraph_index"),
        "else_branch": _function(call, "else_subgraph_index"),
    }
    return call.outputs(call.node("If", *call.inputs(), **branches))


def loop(call: Call) -> list[str]:
    """Run a subgraph as long as another one says so."""
    parts = {
        "cond": _function(call, "cond_subgraph_index"),
        "body": _function(call, "body_subgraph_index"),
    }
    return call.outputs(call.node("While", *call.inputs(), **parts))


def call_subgraph(call: Call) -> list[str]:
    """Run a subgraph."""
    function = _function(call, "subgraph")
    return call.outputs(call.node("PartitionedCall", *call.inputs(), f=function))


# -- variables and tables ----------------------------------------------------------------------


def initialization(call: Call) -> list[str]:
    """Run a subgraph once, when the model is loaded."""
    call.graph.library.need(call.option("init_subgraph_index"), runs_once=True)
    return []


def variable(call: Call) -> list[str]:
    """Return what stands for a variable."""
    name = "/".join((call.option("container"), call.option("shared_name")))
    return [call.node("VariableName", name=name)]


def reading(call: Call) -> list[str]:
    """Return the value of a variable."""
    return [_in_order(call, "ReadVariable", call.input(0))]


def assignment(call: Call) -> list[str]:
    """Set a variable."""
    _in_order(call, "AssignVariable", call.input(0), call.input(1))
    return []


def _in_order(call: Call, op: str, *inputs: str) -> str:
    """Add an operation on a variable, which takes what the one before it returned."""
    before = () if call.graph.last is None else (call.graph.last,)
    call.graph.last = call.node(op, *inputs, *before)
    return call.graph.last


def table(call: Call) -> list[str]:
    """Return a hash table, which all operators with its number share."""
    dtypes = {name: ElementType(call.option(name)) for name in ("key_dtype", "value_dtype")}
    name = f"table {call.option('table_id')}"
    return [call.node("HashTableV2", shared_name=name, **dtypes)]


# -- custom operators --------------------------------------------------------------------------


def _custom_options(call: Call) -> dict[str, Any]:
    """Return the numbers and lists of numbers among a custom operator's options."""
    where = f"{call.graph.label}: {call.where}"
    options = read_flexbuffer(call.operator.custom_options, where, call.graph.library.budget)
    if not isinstance(options, dict):
        raise call.broken("its options are no map")
    numbers = (bool, int, float)
    return {
        name: value
        for name, value in options.items()
        if isinstance(value, numbers)
        or (isinstance(value, list) and all(isinstance(item, numbers) for item in value))
    }


def detections(call: Call) -> list[str]:
    """Choose boxes."""
    options = _custom_options(call)
    return call.outputs(call.node("DetectionPostProcess", *call.inputs(0, 3), **options))


def landmarks(call: Call) -> list[str]:
    """Look at landmarks again, as MediaPipe's face mesh with attention does."""
    if call.operator.version != 2:
        raise call.broken(f"its version must be 2, but it is {call.operator.version}")
    options = _custom_options(call) if call.operator.custom_options else {}
    return [call.node(call.operator.op, *call.inputs(), **options)]
