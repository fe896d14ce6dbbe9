"""Graph models of TensorFlow.js as sources of graphs."""

from __future__ import annotations

from collections.abc import Mapping

from webtensor.convert.graphs import GraphSource
from webtensor.convert.saved_models import source_of_graph
from webtensor.engine import Tensor
from webtensor.formats.graph_def import Signature
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph.loading import graph_parts
from webtensor.graph.nodes import Node

__all__ = ["source_of_graph_model"]


def source_of_graph_model(artifacts: ModelArtifacts) -> GraphSource:
    """Return the graph of a graph model in TensorFlow.js's format.

    Args:
        artifacts: the parts of the model.

    Raises:
        ModelFormatError: a part is missing or broken.
    """
    label = artifacts.label
    parts = graph_parts(artifacts)
    plain = source_of_graph(parts.graph, label, parts.budget)

    def constant(node: Node) -> Tensor:
        value = parts.weights.get(node.name)
        return plain.constant(node) if value is None else value

    stored, own = parts.signature or Signature({}, {}), plain.signature
    metadata = artifacts.user_defined_metadata
    if isinstance(metadata, Mapping):
        # That of older files would take the place of the new one.
        metadata = {key: metadata[key] for key in metadata if key != "signature"} or None
    return GraphSource(
        label,
        parts.graph,
        # Some files name only one side.
        Signature(stored.inputs or own.inputs, stored.outputs or own.outputs, stored.method),
        constant,
        parts.budget,
        initializer=parts.initializer,
        initializer_signature=parts.initializer_signature,
        metadata=metadata,
        generated_by=artifacts.generated_by or "",
    )
