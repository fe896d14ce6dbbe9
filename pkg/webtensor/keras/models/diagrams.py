"""What a picture of a model shows: its layers, the arrows between them, the words in each box."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["Details", "Diagram", "check_direction", "diagram_of"]

_DIRECTIONS = ("TB", "BT", "LR", "RL")


class Diagram(NamedTuple):
    """The layers of a model, and pairs of indices: a layer, and one that takes its output."""

    layers: list[Any]
    arrows: set[tuple[int, int]]


class Details(NamedTuple):
    """Which facts about a layer are shown, as the arguments of ``plot_model`` say."""

    shapes: bool
    dtype: bool
    names: bool
    activations: bool
    trainable: bool

    def title(self, layer: Any) -> str:
        """Return the first line of a layer's box."""
        kind = type(layer).__name__
        return f"{layer.name} ({kind})" if self.names else kind

    def facts(self, layer: Any) -> Iterator[str]:
        """Yield the lines below the title."""
        activation = getattr(layer, "activation", None)
        if self.activations and activation is not None:
            yield f"Activation: {getattr(activation, '__name__', type(activation).__name__)}"
        node = layer._inbound_nodes[-1] if layer._inbound_nodes else None
        if self.shapes:
            if node is not None and node.inputs:
                yield f"Input shape: {_shapes(node.inputs)}"
            yield f"Output shape: {_shapes(node.outputs) if node else '?'}"
        if self.dtype:
            dtypes = ", ".join(str(output.dtype) for output in node.outputs) if node else "?"
            yield f"Output dtype: {dtypes}"
        if self.trainable and getattr(layer, "weights", None):
            yield f"Trainable: {'Yes' if layer.trainable else 'No'}"


def _shapes(symbols: Iterable[Any]) -> str:
    return ", ".join(str(tuple(symbol.shape)) for symbol in symbols)


def check_direction(function: str, rankdir: Any) -> None:
    """Check the direction that a picture is drawn in.

    Raises:
        ValueError: there is no such direction.
    """
    if rankdir not in _DIRECTIONS:
        raise ValueError(f"{function}: rankdir must be one of {_DIRECTIONS}, but got {rankdir!r}")


def diagram_of(model: Any) -> Diagram:
    """Return the layers of a model and the arrows between them."""
    graph = getattr(model, "_graph", None)
    if graph is None:
        layers = list(model.layers)
        is_sequential = hasattr(model, "add") and hasattr(model, "pop")
        count = len(layers) - 1 if is_sequential else 0
        return Diagram(layers, {(index, index + 1) for index in range(count)})
    layers = list(graph.operations)
    indices = {id(layer): index for index, layer in enumerate(layers)}
    arrows = set()
    for node in graph.nodes:
        for symbol in node.inputs:
            source = indices[id(symbol._keras_history.operation)]
            target = indices[id(node.operation)]
            # A layer that is called with its own output needs no arrow to itself.
            if source != target:
                arrows.add((source, target))
    return Diagram(layers, arrows)
