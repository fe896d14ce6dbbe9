"""An order in which the nodes of a graph can run."""

from __future__ import annotations

from collections.abc import Iterable

from webtensor.errors import ModelFormatError
from webtensor.graph.nodes import MISSING, Node, Nodes

__all__ = ["ordered"]


def ordered(
    nodes: Nodes,
    roots: Iterable[str],
    where: str,
    *,
    fed: Iterable[str] = (),
    follows_controls: bool = False,
) -> list[Node]:
    """Return the nodes that others need, each after those that it needs itself.

    Loops of TensorFlow 1 lead back to where they begin; the node that does comes later.

    Args:
        nodes: the nodes by their names.
        roots: the names of the nodes that are needed.
        where: what errors call the graph.
        fed: the names of nodes whose results are inputs.
        follows_controls: whether nodes are needed that must run before others.

    Raises:
        ModelFormatError: a node is missing, or depends on itself.
    """
    inputs = {*fed}
    order: list[Node] = []
    is_done: dict[str, bool] = {}
    later = [*roots][::-1]
    stack: list[tuple[str, bool]] = []
    while stack or later:
        name, is_ready = stack.pop() if stack else (later.pop(), False)
        if is_ready:
            is_done[name] = True
            order.append(nodes[name])
            continue
        if name in inputs or is_done.get(name):
            continue
        if name in is_done:
            raise ModelFormatError(f"{where}: node {name!r:.200} depends on itself")
        if name not in nodes:
            raise ModelFormatError(f"{where}: there is no node {name!r:.200}")
        is_done[name] = False
        stack.append((name, True))
        node = nodes[name]
        for needed in _needed(node, follows_controls):
            leads_back = node.op == "Merge" and needed in nodes
            if leads_back and nodes[needed].op == "NextIteration":
                later.append(needed)
            else:
                stack.append((needed, False))
    return order


def _needed(node: Node, follows_controls: bool) -> list[str]:
    """Return the names of the nodes that one needs, the first one last."""
    controls = node.controls if follows_controls else ()
    inputs = (reference.node for reference in node.inputs if reference != MISSING)
    return [*controls, *inputs][::-1]
