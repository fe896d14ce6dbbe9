"""Frozen graphs as TensorFlow.js's graph models: the graph as JSON, and the list of weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from webtensor.convert.graphs import FrozenFunction, FrozenGraph, GraphSource, Scope
from webtensor.engine import Tensor
from webtensor.formats.budgets import reading
from webtensor.formats.graph_def import (
    Argument,
    AttributeValue,
    ElementType,
    FunctionDef,
    Graph,
    NodeDef,
    Signature,
)
from webtensor.formats.graph_writing import graph_json, signature_json
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph.nodes import Node, Reference
from webtensor.graph.saving import PRODUCER, constant_attributes
from webtensor.io.weights import QuantizationPatterns, Weight, check_patterns, encoded
from webtensor.version import __version__

__all__ = ["graph_model_artifacts"]

#: What fused operations take beside the operands of the product.
_OPERAND_COUNTS = {"_FusedConv2D": 2, "_FusedMatMul": 2, "FusedDepthwiseConv2dNative": 2}


def graph_model_artifacts(
    frozen: FrozenGraph, source: GraphSource, quantization: QuantizationPatterns | None = None
) -> ModelArtifacts:
    """Return the parts of a graph model.

    Args:
        frozen: the graph.
        source: what it was read from.
        quantization: which weights are stored in fewer bytes.

    Raises:
        ValueError: a weight cannot be stored so.
    """
    with reading(source.label):
        artifacts = _artifacts_of(frozen, source)
    weights = [Weight(name, value) for name, value in _in_order(frozen)]
    check_patterns(filter(_is_quantized, weights), quantization)
    artifacts.weight_specs, artifacts.weight_data = [], []
    for weight in weights:
        # Integers are shapes and indices, which must stay as they are.
        specs, pieces = encoded([weight], quantization if _is_quantized(weight) else None)
        artifacts.weight_specs += specs
        artifacts.weight_data += pieces
    return artifacts


def _artifacts_of(frozen: FrozenGraph, source: GraphSource) -> ModelArtifacts:
    """Return the parts of a graph model, without the weights."""
    signature = _named_outputs(frozen)
    topology = Graph(
        tuple(_node(frozen, node) for node in frozen.main.nodes.values()),
        {name: _function(frozen, function) for name, function in frozen.functions.items()},
        {},
        source.graph.producer or PRODUCER,
        source.graph.min_consumer,
    )
    artifacts = ModelArtifacts(
        model_topology=graph_json(topology),
        format="graph-model",
        generated_by=source.generated_by or None,
        converted_by=f"webtensor {__version__}",
        signature=signature_json(signature),
        user_defined_metadata=source.metadata,
        label=source.label,
    )
    if frozen.initializer is not None:
        nodes = frozen.initializer.nodes.values()
        initializer = topology._replace(
            nodes=tuple(_node(frozen, node) for node in nodes), functions={}
        )
        artifacts.model_initializer = graph_json(initializer)
        if frozen.initializer_signature is not None:
            artifacts.initializer_signature = signature_json(frozen.initializer_signature)
    return artifacts


def _is_quantized(weight: Weight) -> bool:
    return str(weight.value.dtype) == "float32"


def _in_order(frozen: FrozenGraph) -> Iterable[tuple[str, Tensor]]:
    """Yield the constants in the order of their nodes."""
    more = [] if frozen.initializer is None else [frozen.initializer]
    for scope in (*frozen.scopes, *more):
        for name in scope.nodes:
            if name in frozen.constants:
                yield name, frozen.constants[name]


def _named_outputs(frozen: FrozenGraph) -> Signature:
    """Add a node for each output that has its name, and return the signature."""
    infos = frozen.signature.outputs.values()
    for info, result in zip(infos, frozen.main.results, strict=True):
        name = info.names[0].removesuffix(":0")
        frozen.main.nodes[name] = _identity(name, result, ElementType(info.dtype or "float32"))
    return frozen.signature


def _identity(name: str, value: Reference, dtype: ElementType) -> Node:
    return Node(name, "Identity", (value,), (), {"T": dtype})


# -- nodes -------------------------------------------------------------------------------------


def _node(frozen: FrozenGraph, node: Node) -> NodeDef:
    inputs = [*map(_input, node.inputs), *(f"^{name}" for name in node.controls)]
    return NodeDef(node.name, node.op, tuple(inputs), _attributes(frozen, node), "")


def _input(reference: Reference) -> str:
    return str(reference) if reference.output else reference.node


def _attributes(frozen: FrozenGraph, node: Node) -> Mapping[str, AttributeValue]:
    value = frozen.constants.get(node.name)
    if value is not None:
        return constant_attributes(value)
    attributes = {
        # TensorFlow.js knows no bfloat16; tensors are float32.
        name: ElementType("float32") if attribute == "bfloat16" else attribute
        for name, attribute in node.attributes.items()
    }
    if node.op in _OPERAND_COUNTS:
        attributes["num_args"] = len(node.inputs) - _OPERAND_COUNTS[node.op]
        attributes.setdefault("T", ElementType("float32"))
    return attributes


def _function(frozen: FrozenGraph, function: FrozenFunction) -> FunctionDef:
    """Return a function; each output has a node of its own, as TensorFlow.js wants it."""
    scope: Scope = function.scope
    outputs: list[Argument] = []
    returns: dict[str, str] = {}
    for output, result in zip(function.outputs, scope.results, strict=True):
        name = frozen.name(f"{function.name}/{output.name}")
        scope.nodes[name] = _identity(name, result, ElementType(output.dtype))
        outputs.append(output)
        returns[output.name] = name
    nodes: Any = [_node(frozen, node) for node in scope.nodes.values()]
    return FunctionDef(
        function.name, function.inputs, tuple(outputs), tuple(nodes), returns, {}, {}, {}, False
    )
