"""Models of TensorFlow Lite as sources: what ``webtensor.tflite`` makes graphs of."""

from __future__ import annotations

from webtensor.convert.graphs import GraphSource
from webtensor.convert.traced_models import source_of_quantized_tflite
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.tflite import read_tflite
from webtensor.graph.default_attributes import DEFAULTS
from webtensor.graph.nodes import Node
from webtensor.tflite.lowering import lowered, signature_of
from webtensor.tflite.model import TFLiteModel, rows_of
from webtensor.tflite.states import States

__all__ = ["source_of_tflite"]


def source_of_tflite(data: Buffer, label: str, signature: str | None) -> GraphSource:
    """Return the graph of a model of TensorFlow Lite.

    Args:
        data: the bytes of the file.
        label: what errors call it.
        signature: the key of its signature; None is the first one of the main subgraph.

    Raises:
        ModelFormatError: it is no such model, or has operators that are unknown, or that graph
            models do not have.
        ValueError: it has no such signature.
    """
    budget = Budget(label, len(data))
    with reading(label):
        model = read_tflite(data, label, budget)
        chosen = signature_of(model, signature, label)
        lowering = lowered(model, chosen, label, budget)
    graph = lowering.graph
    bodies = [graph.nodes, *(function.nodes for function in graph.functions.values())]
    own = {node.op for body in bodies for node in body} & {*rows_of(States())}
    if own:
        traced = TFLiteModel(model, label, signature=signature, budget=budget)
        return source_of_quantized_tflite(traced, label, budget)

    def constant(node: Node) -> Tensor:
        value = lowering.weights.get(node.name)
        if value is None:
            raise ModelFormatError(f"{label}: node {node.name!r:.200} has no value")
        return value

    return GraphSource(
        label,
        graph,
        lowering.signature,
        constant,
        budget,
        initializer=lowering.initializer,
        defaults=DEFAULTS,
    )
