"""Operations that users add to the table of operations of graph models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, NamedTuple, TypeAlias

from webtensor.engine import Tensor
from webtensor.graph.blocks import Reads
from webtensor.graph.nodes import Node
from webtensor.graph.operations.rows import Attribute, Row, Tensors

__all__ = ["CUSTOM_OPERATIONS", "GraphNode", "deregister_graph_op", "register_graph_op"]


class GraphNode(NamedTuple):
    """A node as a registered operation sees it.

    Attributes:
        name: its name.
        inputs: the values of its inputs.
        attributes: its attributes; dtypes are names, and shapes tuples.
    """

    name: str
    inputs: list[Tensor]
    attributes: Mapping[str, Any]


_Results: TypeAlias = Tensor | Sequence[Tensor]

#: What users registered, by the name of the operation.
CUSTOM_OPERATIONS: dict[str, Row] = {}


def register_graph_op(
    name: str, function: Callable[[GraphNode], _Results | Awaitable[_Results]]
) -> None:
    """Say how nodes of an operation are computed in graph models that are loaded from now on.

    Args:
        name: the name of the operation in the graph; the library's own may be replaced.
        function: it takes a ``GraphNode``, and returns a tensor, or several. It may be a coroutine
            function, which ``execute_async`` and ``predict_async`` await.

    Raises:
        TypeError: ``function`` cannot be called.

    Example:
        >>> import webtensor as wt
        >>> wt.register_graph_op("Thrice", lambda node: node.inputs[0] * 3)
        >>> wt.deregister_graph_op("Thrice")
    """
    if not callable(function):
        raise TypeError(f"register_graph_op: function must be callable, but got {function!r}")

    def compute(inputs: list[Tensor], node: Node) -> Reads:
        result = function(GraphNode(node.name, inputs, node.attributes))
        return (yield result) if isawaitable(result) else result

    row = Row(compute, Tensors(), Attribute(lambda node: node))
    CUSTOM_OPERATIONS[name] = row.impure().dynamic().running_blocks()


def deregister_graph_op(name: str) -> None:
    """Forget an operation that ``register_graph_op`` added.

    Raises:
        KeyError: no such operation was registered.

    Example:
        >>> import webtensor as wt
        >>> wt.register_graph_op("Twice", lambda node: node.inputs[0] * 2)
        >>> wt.deregister_graph_op("Twice")
    """
    if name not in CUSTOM_OPERATIONS:
        raise KeyError(f"deregister_graph_op: no operation {name!r} was registered")
    del CUSTOM_OPERATIONS[name]
