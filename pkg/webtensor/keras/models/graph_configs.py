"""The configurations of a functional model's layers, and of the calls that connect them."""

from __future__ import annotations

from typing import Any

from webtensor.keras.layers import InputLayer
from webtensor.keras.models.carried_masks import (
    kwargs_without_carried_masks,
    leaves_carried_masks_out,
)
from webtensor.keras.models.function import Graph
from webtensor.keras.models.functional import Functional, operation_of
from webtensor.keras.nodes import Node
from webtensor.keras.registry import serialize_keras_object
from webtensor.keras.symbols import KerasTensor
from webtensor.keras.types import Config, Tensors
from webtensor.nest import flatten, pack

__all__ = ["GraphConfigs"]

#: What Keras writes of a symbolic tensor: a layer's name, the index of its call, that of an output.
_History = list[str | int]


class GraphConfigs:
    """Writes the configurations of the operations and the ends of a graph.

    Args:
        graph: the graph of a functional model.
    """

    def __init__(self, graph: Graph) -> None:
        self._operations = graph.operations
        #: The keyword arguments of each call to write, by the identity of its node.
        self._kwargs = (
            kwargs_without_carried_masks(graph)
            if leaves_carried_masks_out()
            else {id(node): node.kwargs for node in graph.nodes}
        )
        #: The calls of each operation to write, by the identity of the operation.
        self._nodes = {
            id(operation): [node for node in operation._inbound_nodes if id(node) in self._kwargs]
            for operation in graph.operations
        }
        self._node_indices = {
            id(node): index for nodes in self._nodes.values() for index, node in enumerate(nodes)
        }

    def layers(self) -> list[Config]:
        """Return the configurations of the operations, with their calls."""
        configs = []
        for operation in self._operations:
            nodes = self._nodes[id(operation)]
            if not nodes:
                continue
            config = serialize_keras_object(operation)
            config["name"] = operation.name
            is_input = isinstance(operation, InputLayer)
            config["inbound_nodes"] = [] if is_input else [self._call(node) for node in nodes]
            configs.append(config)
        return configs

    def ends(self, structure: Tensors) -> Any:
        """Return the histories of the model's inputs or outputs in their structure."""
        return pack(structure, [self._end(symbol) for symbol in flatten(structure)])

    def _call(self, node: Node) -> Config:
        return {
            "args": self._argument(node.args),
            "kwargs": self._argument(self._kwargs[id(node)]),
        }

    def _argument(self, value: object) -> Any:
        if isinstance(value, KerasTensor):
            return {
                "class_name": "__keras_tensor__",
                "config": {
                    "shape": list(value.shape),
                    "dtype": str(value.dtype),
                    "keras_history": self._history(value),
                },
            }
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        if isinstance(value, dict):
            return {key: self._argument(item) for key, item in value.items()}
        return serialize_keras_object(value)

    def _history(self, symbol: KerasTensor) -> _History:
        history = symbol._keras_history
        assert history is not None
        node = history.operation._inbound_nodes[history.node_index]
        return [history.operation.name, self._node_indices[id(node)], history.tensor_index]

    def _end(self, symbol: KerasTensor) -> _History:
        # Keras counts the first call of a nested model from 1 here.
        name, node_index, tensor_index = self._history(symbol)
        is_nested_model = isinstance(operation_of(symbol), Functional)
        return [name, int(node_index) + is_nested_model, tensor_index]
