"""Graph models of known outputs, in the place of real weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests_py.graph.graphs import constant, node, placeholder, topology
from webtensor.engine import Tensor
from webtensor.formats.graph_def import Signature, TensorInfo, graph_of_json
from webtensor.graph import (
    GraphModel,
    GraphNode,
    deregister_graph_op,
    register_graph_op,
)

__all__ = ["computing_model", "constant_model"]

Shape = Sequence[int | None]


def constant_model(
    input_shape: Shape, outputs: Mapping[str, Any], dtype: str = "float32"
) -> GraphModel:
    """Return a model that has these outputs, whatever the input."""
    arrays = {name: np.asarray(value, np.float32) for name, value in outputs.items()}
    nodes = [constant(name, array) for name, array in arrays.items()]
    return _model(input_shape, dtype, nodes, {name: a.shape for name, a in arrays.items()})


def computing_model(
    input_shape: Shape,
    output_shape: tuple[int, ...],
    function: Callable[[Tensor], Tensor],
    dtype: str = "float32",
    constants: Mapping[str, np.ndarray] | None = None,
) -> GraphModel:
    """Return a model with the output "y", which a function computes from the input.

    Further outputs are constant.
    """

    def compute(graph_node: GraphNode) -> Tensor:
        (image,) = graph_node.inputs
        return function(image)

    arrays = {name: value.astype(np.float32) for name, value in (constants or {}).items()}
    nodes = [node("y", "Computed", "x"), *(constant(*pair) for pair in arrays.items())]
    shapes = {"y": output_shape, **{name: array.shape for name, array in arrays.items()}}
    register_graph_op("Computed", compute)
    try:
        return _model(input_shape, dtype, nodes, shapes)
    finally:
        deregister_graph_op("Computed")


def _model(
    input_shape: Shape,
    dtype: str,
    nodes: list[dict[str, Any]],
    output_shapes: Mapping[str, tuple[int, ...]],
) -> GraphModel:
    shape = [-1 if size is None else size for size in input_shape]
    inputs = {"x": TensorInfo(("x:0",), dtype, tuple(input_shape))}
    outputs = {
        name: TensorInfo((f"{name}:0",), "float32", shape) for name, shape in output_shapes.items()
    }
    graph = graph_of_json(topology([placeholder("x", dtype, shape), *nodes]), "a model")
    return GraphModel(graph, {}, "a model", signature=Signature(inputs, outputs))
