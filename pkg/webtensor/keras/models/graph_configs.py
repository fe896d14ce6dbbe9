"""The layers of functional models and the calls that connect them, as configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from webtensor.keras import models
from webtensor.keras.layers import InputLayer
from webtensor.keras.models.carried_masks import (
    kwargs_without_carried_masks,
    leaves_carried_masks_out,
)
from webtensor.keras.models.function import Graph
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.registry import deserialize_keras_object, serialize_keras_object
from webtensor.keras.symbols import History, KerasTensor
from webtensor.keras.types import Config, Tensors
from webtensor.nest import flatten, pack

__all__ = ["connected", "graph_config"]


# -- writing -----------------------------------------------------------------------------------


def graph_config(graph: Graph, inputs: Tensors, outputs: Tensors) -> Config:
    """Return the configuration of a graph between structures of symbolic inputs and outputs."""
    writer = _Writer(graph)
    return {
        "layers": writer.layers(),
        "input_layers": writer.ends(inputs),
        "output_layers": writer.ends(outputs),
    }


class _Writer:
    """Writes the configurations of a graph's layers and calls."""

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
        return pack(structure, [self._end(symbol._keras_history) for symbol in flatten(structure)])

    def _call(self, node: Node) -> Config:
        return {
            "args": self._argument(node.args),
            "kwargs": self._argument(self._kwargs[id(node)]),
        }

    def _argument(self, value: object) -> Any:
        if isinstance(value, KerasTensor):
            assert value._keras_history is not None
            return {
                "class_name": "__keras_tensor__",
                "config": {
                    "shape": list(value.shape),
                    "dtype": str(value.dtype),
                    "keras_history": self._history(value._keras_history),
                },
            }
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        if isinstance(value, dict):
            return {key: self._argument(item) for key, item in value.items()}
        return serialize_keras_object(value)

    def _history(self, history: History) -> list[str | int]:
        """Return a layer's name, the index of one of its calls, and that of an output of this."""
        node = history.operation._inbound_nodes[history.node_index]
        return [history.operation.name, self._node_indices[id(node)], history.tensor_index]

    def _end(self, history: History) -> list[str | int]:
        # Keras counts the first call of a nested model from 1 here.
        name, node_index, tensor_index = self._history(history)
        is_nested_model = isinstance(history.operation, models.Functional)
        return [name, int(node_index) + is_nested_model, tensor_index]


# -- reading -----------------------------------------------------------------------------------

#: A call: its arguments in the format of Keras 3, or entries in that of Keras 2.
_CallConfig: TypeAlias = Mapping[str, Any] | Sequence[Any]


#: Keys of a layer's entry that belong to the model.
_MODEL_KEYS = ("name", "inbound_nodes")


class _LayerCalls(NamedTuple):
    """A layer and the nodes of its calls in this model.

    A layer that a nested model shares has nodes of that model, too, which are not in the list.
    """

    operation: Operation
    nodes: list[Node]


#: The layers of a model by the names that its configuration has for them.
_Operations: TypeAlias = dict[str, _LayerCalls]


class _NotYetError(ValueError):
    """A call needs the output of another call, which is not made yet."""


def connected(config: Config) -> tuple[Tensors, Tensors]:
    """Return the symbolic inputs and outputs that a configuration describes.

    Raises:
        ValueError: the configuration is malformed, or its calls form a cycle.
    """
    layer_configs = config.get("layers")
    if not isinstance(layer_configs, (list, tuple)) or not all(
        isinstance(layer_config, Mapping) for layer_config in layer_configs
    ):
        raise ValueError("the configuration of a functional model has no list of layers")
    operations: _Operations = {}
    calls: dict[str, list[_CallConfig]] = {}
    for layer_config in layer_configs:
        name, operation = _operation(layer_config)
        if name in operations:
            raise ValueError(f"the configuration has two layers with the name {name!r}")
        # The node of an input layer is not that of a call, but exists from the beginning.
        nodes = operation._inbound_nodes[:1] if isinstance(operation, InputLayer) else []
        operations[name] = _LayerCalls(operation, nodes)
        calls[name] = list(layer_config.get("inbound_nodes") or [])
    _make_calls(operations, calls)
    inputs, outputs = config.get("input_layers", []), config.get("output_layers", [])
    return _symbols_of(inputs, operations), _symbols_of(outputs, operations)


def _operation(layer_config: Mapping[str, Any]) -> tuple[str, Operation]:
    """Return the name by which calls refer to a layer, and the layer."""
    own = {key: value for key, value in layer_config.items() if key not in _MODEL_KEYS}
    operation = deserialize_keras_object(own)
    name = layer_config.get("name", getattr(operation, "name", None))
    if not isinstance(operation, Operation) or not isinstance(name, str):
        raise ValueError(f"{layer_config.get('class_name')!r} is no layer")
    return name, operation


def _make_calls(operations: _Operations, calls: dict[str, list[_CallConfig]]) -> None:
    """Call layers by name, each call as soon as its arguments exist."""
    while any(calls.values()):
        is_stuck = True
        for name, pending in calls.items():
            while pending and _make_call(operations, name, pending[0]):
                pending.pop(0)
                is_stuck = False
        if is_stuck:
            names = [name for name, pending in calls.items() if pending]
            raise ValueError(f"the layers {names} wait for each other's outputs")


def _make_call(operations: _Operations, name: str, call: _CallConfig) -> bool:
    """Call a layer if its arguments exist, and return whether they do."""
    try:
        args, kwargs = _arguments(call, partial(_symbol_at, operations))
    except _NotYetError:
        return False
    operation, nodes = operations[name]
    earlier_nodes = len(operation._inbound_nodes)
    operation(*args, **kwargs)
    nodes += operation._inbound_nodes[earlier_nodes:]
    return True


def _symbol_at(operations: _Operations, history: object) -> KerasTensor:
    """Return the symbolic tensor of a history: a layer's name, a call's number, an output's."""
    if not (isinstance(history, (list, tuple)) and len(history) >= 3 and history[0] in operations):
        raise _no_output(history)
    nodes = operations[history[0]].nodes
    node_index, tensor_index = int(history[1]), int(history[2])
    if node_index >= len(nodes):
        raise _NotYetError(f"the configuration refers to {history!r}, but there is no such call")
    outputs = nodes[node_index].outputs
    if node_index < 0 or not 0 <= tensor_index < len(outputs):
        raise _no_output(history)
    return outputs[tensor_index]


def _no_output(history: object) -> ValueError:
    return ValueError(f"the configuration refers to {history!r}, which is no layer's output")


def _symbols_of(histories: Any, operations: _Operations) -> Any:
    """Return the symbolic tensors in a structure of histories."""
    if isinstance(histories, Mapping):
        return {key: _symbols_of(value, operations) for key, value in histories.items()}
    is_history = (
        isinstance(histories, (list, tuple))
        and len(histories) == 3
        and isinstance(histories[0], str)
    )
    if not is_history:
        return type(histories)(_symbols_of(history, operations) for history in histories)
    # Keras counts the first call of a nested model from 1 here.
    name, node_index, tensor_index = histories
    is_nested_model = name in operations and isinstance(
        operations[name].operation, models.Functional
    )
    return _symbol_at(operations, [name, node_index - is_nested_model, tensor_index])


def _arguments(
    call: _CallConfig, symbol_at: Callable[[object], KerasTensor]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call; ``symbol_at`` returns the symbolic tensor of a history."""

    def argument(config: object) -> Any:
        if isinstance(config, Mapping):
            if config.get("class_name") == "__keras_tensor__":
                return symbol_at(config["config"]["keras_history"])
            if "class_name" in config and "config" in config:
                return deserialize_keras_object(config)
            return {key: argument(value) for key, value in config.items()}
        if isinstance(config, (list, tuple)):
            return [argument(value) for value in config]
        return config

    if isinstance(call, Mapping):
        args = tuple(argument(value) for value in call.get("args", ()))
        kwargs = {str(key): argument(value) for key, value in (call.get("kwargs") or {}).items()}
        return args, kwargs
    return _keras2_arguments(call, symbol_at)


def _keras2_arguments(
    call: Sequence[Any], symbol_at: Callable[[object], KerasTensor]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call in the format of Keras 2 and TensorFlow.js.

    The call is a list of entries ``[layer, node, tensor, arguments]``, or one such entry.
    """
    if not isinstance(call, (list, tuple)) or not call:
        raise ValueError(f"a malformed call of a layer: {call!r}")
    entries = [call] if isinstance(call[0], str) else list(call)
    symbols = [symbol_at(entry[:3]) for entry in entries]
    first = entries[0]
    kwargs = dict(first[3]) if len(first) > 3 and isinstance(first[3], Mapping) else {}
    return (symbols[0] if len(symbols) == 1 else symbols,), kwargs
