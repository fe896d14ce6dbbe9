"""Graph models as the parts of files: the graph that was loaded, not the steps that it became."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from webtensor.engine import Tensor
from webtensor.formats.graph_def import (
    AttributeValue,
    ElementType,
    Graph,
    NodeDef,
    Signature,
    TensorValue,
)
from webtensor.formats.graph_writing import graph_json, signature_json
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph.default_attributes import DEFAULTS
from webtensor.io.weights import Weight, encoded
from webtensor.version import __version__

__all__ = ["PRODUCER", "GraphOrigin", "constant_attributes"]

#: The version of graphs that is written where the model says none; readers want one.
PRODUCER = 1882


@dataclass(frozen=True)
class GraphOrigin:
    """What a graph model was made of.

    Attributes:
        graph: the graph.
        signature: its inputs and outputs.
        initializer: the graph that fills tables.
        initializer_signature: the outputs of that graph that are inputs of the other.
        metadata: what the author added to the model.
        stored: the other parts of the files that the model was loaded from, such as its weights as
            they are stored there; None where it was made of something else.
    """

    graph: Graph
    signature: Signature | None
    initializer: Graph | None
    initializer_signature: Signature | None
    metadata: Any
    stored: ModelArtifacts | None

    def artifacts(
        self, constant: Callable[[NodeDef], Tensor], own_operations: Collection[str], label: str
    ) -> ModelArtifacts:
        """Return the parts of the files that the model is saved in.

        Args:
            constant: returns the value of a constant.
            own_operations: the operations that no other model has.
            label: what errors call the model.

        Raises:
            ValueError: the model has operations that no other model has.
        """
        if self.stored is not None:
            return self._with_graphs(self.stored)
        used = sorted({node.op for node in self._nodes()} & {*own_operations})
        if used:
            raise ValueError(
                f"{label} cannot be saved: graph models have no {', '.join(used):.300}; keep the "
                "file that it was loaded from"
            )
        weights = {node.name: constant(node) for node in self._nodes() if node.op == "Const"}
        completed = replace(
            self,
            graph=_completed(self.graph, weights),
            initializer=self.initializer and _completed(self.initializer, weights),
        )
        specs, data = encoded(Weight(name, value) for name, value in weights.items())
        parts = ModelArtifacts(
            format="graph-model",
            converted_by=f"webtensor {__version__}",
            signature=self.signature and signature_json(self.signature),
            initializer_signature=(
                self.initializer_signature and signature_json(self.initializer_signature)
            ),
            user_defined_metadata=_json_of(self.metadata),
            weight_specs=specs,
            weight_data=data,
            label=label,
        )
        return completed._with_graphs(parts)

    def _with_graphs(self, parts: ModelArtifacts) -> ModelArtifacts:
        return replace(
            parts,
            model_topology=graph_json(self.graph),
            model_initializer=self.initializer and graph_json(self.initializer),
        )

    def _nodes(self) -> Iterator[NodeDef]:
        """Yield the nodes of the graphs and of their functions."""
        for graph in (self.graph, self.initializer):
            if graph is not None:
                yield from graph.nodes
                for function in graph.functions.values():
                    yield from function.nodes


def _completed(graph: Graph, weights: Mapping[str, Tensor]) -> Graph:
    """Return a graph with what files say of it, and other sources of models leave out."""
    functions = {
        name: function._replace(nodes=tuple(_node(node, weights) for node in function.nodes))
        for name, function in graph.functions.items()
    }
    return graph._replace(
        nodes=tuple(_node(node, weights) for node in graph.nodes),
        functions=functions,
        producer=graph.producer or PRODUCER,
    )


def _node(node: NodeDef, weights: Mapping[str, Tensor]) -> NodeDef:
    if node.op == "Const":
        return node._replace(attributes=constant_attributes(weights[node.name]))
    return node._replace(attributes={**DEFAULTS.get(node.op, {}), **node.attributes})


def constant_attributes(value: Tensor) -> dict[str, AttributeValue]:
    """Return the attributes of a constant whose elements are with the weights."""
    dtype = ElementType(str(value.dtype))
    return {"dtype": dtype, "value": TensorValue(value.shape, dtype, b"")}


def _json_of(metadata: Any) -> Any:
    """Return metadata without the bytes that other formats have in it."""
    if not isinstance(metadata, Mapping):
        return metadata
    return {key: value for key, value in metadata.items() if not isinstance(value, bytes)} or None
