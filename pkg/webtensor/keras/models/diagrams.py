"""What a picture of a model shows: the layers, the arrows between them, the text of each box.

``dot`` and ``svg`` draw it, each in its own language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from webtensor.arguments import check_choice
from webtensor.keras.layers import Layer
from webtensor.keras.nodes import Operation
from webtensor.keras.symbols import KerasTensor

__all__ = ["Diagram", "LayerContainer", "PictureOptions", "as_container", "diagram_of"]

_DIRECTIONS = ("TB", "BT", "LR", "RL")


@runtime_checkable
class LayerContainer(Protocol):
    """A model, or a layer that consists of layers."""

    name: str

    @property
    def layers(self) -> list[Layer]:
        """The layers."""


class Diagram(NamedTuple):
    """The operations of a model, and arrows: pairs of an operation's index and its user's."""

    operations: list[Operation]
    arrows: set[tuple[int, int]]


@dataclass(frozen=True)
class PictureOptions:
    """The options of ``plot_model`` that say what a picture shows.

    Raises:
        ValueError: ``rankdir`` is not a direction.
    """

    #: The function that errors will name.
    function: str
    show_shapes: bool
    show_dtype: bool
    show_layer_names: bool
    rankdir: str
    expand_nested: bool
    show_layer_activations: bool
    show_trainable: bool

    def __post_init__(self) -> None:
        check_choice(self.function, "rankdir", self.rankdir, _DIRECTIONS)

    def title(self, operation: Operation) -> str:
        """Return the first line of an operation's box."""
        class_name = type(operation).__name__
        return f"{operation.name} ({class_name})" if self.show_layer_names else class_name

    def details(self, operation: Operation) -> Iterator[str]:
        """Yield the lines below the title."""
        activation = getattr(operation, "activation", None)
        if self.show_layer_activations and activation is not None:
            yield f"Activation: {getattr(activation, '__name__', type(activation).__name__)}"
        node = operation._inbound_nodes[-1] if operation._inbound_nodes else None
        if self.show_shapes:
            if node is not None and node.inputs:
                yield f"Input shape: {_shapes(node.inputs)}"
            yield f"Output shape: {_shapes(node.outputs) if node else '?'}"
        if self.show_dtype:
            dtypes = ", ".join(str(output.dtype) for output in node.outputs) if node else "?"
            yield f"Output dtype: {dtypes}"
        if self.show_trainable and isinstance(operation, Layer) and operation.weights:
            yield f"Trainable: {'Yes' if operation.trainable else 'No'}"


def _shapes(symbols: Iterable[KerasTensor]) -> str:
    return ", ".join(str(tuple(symbol.shape)) for symbol in symbols)


def as_container(operation: Operation) -> LayerContainer | None:
    """Return an operation that consists of layers, or None if it does not."""
    return operation if isinstance(operation, LayerContainer) and operation.layers else None


def diagram_of(model: LayerContainer) -> Diagram:
    """Return the operations of a model and the arrows between them."""
    graph = getattr(model, "_graph", None)
    if graph is None:
        is_sequential = hasattr(model, "add") and hasattr(model, "pop")
        arrow_count = len(model.layers) - 1 if is_sequential else 0
        return Diagram(list(model.layers), {(index, index + 1) for index in range(arrow_count)})
    operations = list(graph.operations)
    indices = {id(operation): index for index, operation in enumerate(operations)}
    arrows = set()
    for node in graph.nodes:
        for symbol in node.inputs:
            source = indices[id(symbol._keras_history.operation)]
            target = indices[id(node.operation)]
            # A layer that is called with its own output needs no arrow to itself.
            if source != target:
                arrows.add((source, target))
    return Diagram(operations, arrows)
