"""SavedModels and frozen graphs as sources of graphs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from webtensor.convert.graphs import GraphSource
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Elements
from webtensor.formats.graph_def import Graph, Signature, TensorInfo, TensorValue
from webtensor.formats.saved_model import SavedModel
from webtensor.graph.default_attributes import DEFAULTS
from webtensor.graph.nodes import SEVERAL_OUTPUTS, Node, nodes_of, reference_of
from webtensor.graph.operations import OPERATIONS
from webtensor.graph.unique_names import node_name
from webtensor.io.stored_integers import with_int32_limits
from webtensor.io.stored_tensors import tensor_of

__all__ = ["source_of_graph", "source_of_saved_model"]

_DEFAULT_SIGNATURE = "serving_default"
_ONE_OUTPUT = {"Const", "Placeholder", *OPERATIONS} - SEVERAL_OUTPUTS
_DIGITS = re.compile(r"(\d+)")


def source_of_saved_model(model: SavedModel, signature: str | None = None) -> GraphSource:
    """Return the graph of a signature of a SavedModel.

    Args:
        model: the model.
        signature: the key of the signature; None is the only one, or "serving_default".

    Raises:
        ModelFormatError: there is no such signature.
    """
    nodes = {node.name: node for node in model.graph.nodes}

    def variable(node: Node) -> Tensor:
        return _tensor(model.variable(nodes[node.name]), node, model.label)

    def table(name: str) -> tuple[Tensor, Tensor]:
        keys, values = (model.checkpoint.elements(key) for key in model.tables[name])
        node = Node(name, "", (), (), {})
        return _tensor(keys, node, model.label), _tensor(values, node, model.label)

    return GraphSource(
        model.label,
        model.graph,
        _sorted(_chosen(model.signatures, signature, model.label)),
        _Constants(model.label, model.budget),
        model.budget,
        variable=variable,
        initializer=model.graph if model.initializer else None,
        initializer_node=model.initializer,
        tables={name: partial(table, name) for name in model.tables},
        assets=model.assets,
        read_asset=model.asset,
        defaults=DEFAULTS,
        generated_by=model.version,
    )


def source_of_graph(
    graph: Graph,
    label: str,
    budget: Budget,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> GraphSource:
    """Return a frozen graph with the inputs and outputs that have been chosen.

    Args:
        graph: the graph.
        label: what errors call it.
        budget: limits what the conversion may cost.
        inputs: the names of the inputs; None are all placeholders.
        outputs: the names of the outputs; None are the tensors that no node needs.

    Raises:
        ModelFormatError: there is no such tensor, or nothing that could be an output.
    """
    nodes = nodes_of(graph.nodes, label)
    needed = {reference.node for node in nodes.values() for reference in node.inputs}
    needed |= {name for node in nodes.values() for name in node.controls}
    if inputs is None:
        inputs = [name for name, node in nodes.items() if node.op == "Placeholder"]
    if outputs is None:
        others = ("Assert", "Const", "NoOp", "Placeholder")
        outputs = [
            name for name, node in nodes.items() if name not in needed and node.op not in others
        ]
    if not outputs:
        raise ModelFormatError(f"{label}: no node could be an output; name the outputs")
    for name in (*inputs, *outputs):
        node, output = reference_of(name, label)
        if node not in nodes or (output and nodes[node].op in _ONE_OUTPUT):
            raise ModelFormatError(f"{label}: there is no tensor {name!r:.200}")
    signature = Signature(
        {node_name(name): _described(name, nodes) for name in inputs},
        {node_name(name): TensorInfo((name,), "", None) for name in outputs},
    )
    return GraphSource(
        label, graph, signature, _Constants(label, budget), budget, defaults=DEFAULTS
    )


class _Constants:
    """Returns the values of constant nodes."""

    def __init__(self, label: str, budget: Budget) -> None:
        self._label, self._budget = label, budget

    def __call__(self, node: Node) -> Tensor:
        value = node.attributes.get("value")
        if not isinstance(value, TensorValue):
            raise ModelFormatError(f"{self._label}: node {node.name!r:.200} has no value")
        where = f"{self._label}: node {node.name!r:.200}"
        elements = with_int32_limits(value.complete(where, self._budget))
        return _tensor(elements, node, self._label)


def _tensor(elements: Elements, node: Node, label: str) -> Tensor:
    where = f"{label}: node {node.name!r:.200}"
    with reading(where):
        return tensor_of(elements, where)


# -- signatures --------------------------------------------------------------------------------


def _chosen(signatures: Mapping[str, Signature], key: str | None, label: str) -> Signature:
    """Return the signature of a key."""
    if key is None:
        key = next(iter(signatures)) if len(signatures) == 1 else _DEFAULT_SIGNATURE
    if key not in signatures:
        raise ModelFormatError(
            f"{label} has no signature {key!r:.100}; there are {_listed(signatures)}"
        )
    return signatures[key]


def _listed(names: Collection[str]) -> str:
    return f"{', '.join(map(repr, sorted(names))):.200}" or "none"


def _sorted(signature: Signature) -> Signature:
    """Return a signature whose inputs and outputs are in the order of their names.

    Files have them in any order; TensorFlow flattens mappings in the order of their keys.
    """
    sides = [
        {key: side[key] for key in sorted(side, key=_natural)}
        for side in (signature.inputs, signature.outputs)
    ]
    return Signature(sides[0], sides[1], signature.method)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key for sorting, by which "output_10" comes after "output_9"."""
    return [
        (int(part), "") if part.isdecimal() and len(part) < 10 else (-1, part)
        for part in _DIGITS.split(name)
    ]


def _described(name: str, nodes: Mapping[str, Any]) -> TensorInfo:
    attributes = nodes[reference_of(name, "inputs").node].attributes
    dtype = attributes.get("dtype") or attributes.get("T") or "float32"
    return TensorInfo((name,), str(dtype), attributes.get("shape"))
