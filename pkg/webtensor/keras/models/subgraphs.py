"""Putting a functional model together from its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.nodes import Operation
from webtensor.keras.registry import deserialize_keras_object
from webtensor.keras.symbols import KerasTensor

__all__ = ["connected"]


class _NotYetError(ValueError):
    """A call needs the output of one that was not made yet."""


def connected(config: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the symbolic inputs and outputs that a configuration describes.

    Raises:
        ValueError: the configuration is malformed, or its calls form a circle.
    """
    from webtensor.keras.models.functional import Functional

    rows = config.get("layers")
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("the configuration of a functional model has no list of layers")
    operations: dict[str, Operation] = {}
    waiting: list[tuple[Operation, list[Any]]] = []
    for row in rows:
        operation = deserialize_keras_object(
            {key: value for key, value in row.items() if key not in ("name", "inbound_nodes")}
        )
        name = row.get("name", getattr(operation, "name", None))
        if not isinstance(operation, Operation) or not isinstance(name, str):
            raise ValueError(f"{row.get('class_name')!r} is no layer")
        if name in operations:
            raise ValueError(f"the configuration has two layers with the name {name!r}")
        operations[name] = operation
        calls = row.get("inbound_nodes") or []
        waiting.append((operation, list(calls)))

    def found(place: Any) -> KerasTensor:
        if not (isinstance(place, (list, tuple)) and len(place) >= 3 and place[0] in operations):
            raise ValueError(f"the configuration refers to {place!r}, which is no layer's output")
        operation = operations[place[0]]
        number, index = int(place[1]), int(place[2])
        if number >= len(operation._inbound_nodes):
            raise _NotYetError(f"the configuration refers to {place!r}, but there is no such call")
        outputs = operation._inbound_nodes[number].outputs
        if number < 0 or not 0 <= index < len(outputs):
            raise ValueError(f"the configuration refers to {place!r}, which is no layer's output")
        return outputs[index]

    while any(calls for _, calls in waiting):
        is_stuck = True
        for operation, calls in waiting:
            while calls:
                try:
                    args, kwargs = _arguments(calls[0], found)
                except _NotYetError:
                    break
                operation(*args, **kwargs)
                calls.pop(0)
                is_stuck = False
        if is_stuck:
            names = [operation.name for operation, calls in waiting if calls]
            raise ValueError(f"the layers {names} wait for each other's outputs")

    def ends(places: Any) -> Any:
        if isinstance(places, Mapping):
            return {key: ends(value) for key, value in places.items()}
        is_place = (
            isinstance(places, (list, tuple)) and len(places) == 3 and isinstance(places[0], str)
        )
        if not is_place:
            return type(places)(ends(one) for one in places)
        # To Keras, a nested model's first output here is the one that it has by itself.
        name, number, index = places
        return found([name, number - isinstance(operations.get(name), Functional), index])

    return ends(config.get("input_layers", [])), ends(config.get("output_layers", []))


def _arguments(call: Any, found: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments, with symbolic tensors where it names them."""

    def read(value: Any) -> Any:
        if isinstance(value, Mapping):
            if value.get("class_name") == "__keras_tensor__":
                return found(value["config"]["keras_history"])
            if "class_name" in value and "config" in value:
                return deserialize_keras_object(value)
            return {key: read(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [read(one) for one in value]
        return value

    if isinstance(call, Mapping):
        args = tuple(read(one) for one in call.get("args", ()))
        kwargs = {str(key): read(one) for key, one in (call.get("kwargs") or {}).items()}
        return args, kwargs
    return _old_arguments(call, found)


def _old_arguments(call: Any, found: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as Keras 2 and TensorFlow.js write it.

    It is a list of places ``[layer, node, tensor, arguments]``, or one such place.
    """
    if not isinstance(call, (list, tuple)) or not call:
        raise ValueError(f"a malformed call of a layer: {call!r}")
    rows = [call] if isinstance(call[0], str) else list(call)
    tensors = [found(row[:3]) for row in rows]
    kwargs = dict(rows[0][3]) if len(rows[0]) > 3 and isinstance(rows[0][3], Mapping) else {}
    return (tensors[0] if len(tensors) == 1 else tensors,), kwargs
