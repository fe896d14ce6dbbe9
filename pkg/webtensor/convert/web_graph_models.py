"""Graph models of TensorFlow.js as sources, to be quantized or fused anew."""

from __future__ import annotations

from webtensor.convert.graphs import GraphSource
from webtensor.convert.saved_models import source_of_graph
from webtensor.engine import Tensor
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.graph_def import Signature, graph_of_json, signature_of_json
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph.nodes import Node
from webtensor.io.weights import decoded

__all__ = ["source_of_graph_model"]


def source_of_graph_model(artifacts: ModelArtifacts) -> GraphSource:
    """Return the graph of a graph model in TensorFlow.js's format.

    Args:
        artifacts: the parts of the model.

    Raises:
        ModelFormatError: a part is broken.
    """
    label = artifacts.label
    budget = artifacts.budget or Budget(label, artifacts.weight_size)
    with reading(label):
        specs, data = artifacts.weight_specs or [], artifacts.weight_data or b""
        weights = {weight.name: weight.value for weight in decoded(specs, data, label, budget)}
        graph = graph_of_json(artifacts.model_topology, label, budget)
        signatures = [
            None if value is None else signature_of_json(value, label, budget)
            for value in (artifacts.signature, artifacts.initializer_signature)
        ]
        initializer = None
        if artifacts.model_initializer is not None:
            where = f"{label}: modelInitializer"
            initializer = graph_of_json(artifacts.model_initializer, where, budget)
    plain = source_of_graph(graph, label, budget)

    def constant(node: Node) -> Tensor:
        value = weights.get(node.name)
        return plain.constant(node) if value is None else value

    given, own = signatures[0] or Signature({}, {}), plain.signature
    return GraphSource(
        label,
        graph,
        # Some files name only one side.
        Signature(given.inputs or own.inputs, given.outputs or own.outputs, given.method),
        constant,
        budget,
        initializer=initializer,
        initializer_signature=signatures[1],
        metadata=artifacts.user_defined_metadata,
        generated_by=artifacts.generated_by or "",
    )
