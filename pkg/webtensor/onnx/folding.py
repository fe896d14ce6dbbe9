"""Constants that follow from constants are computed once, when the model is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.graph.nodes import Node, Nodes, Reference
from webtensor.graph.operations import Row

__all__ = ["folded", "in_order", "without_dropout"]


def folded(
    nodes: Nodes,
    constants: Mapping[str, Tensor | None],
    rows: Mapping[str, Row],
    where: str,
) -> tuple[Nodes, dict[str, Tensor | None]]:
    """Return nodes and constants, more of which are constants.

    Raises:
        ModelFormatError: a constant cannot be computed.
    """
    values = {Reference(name): value for name, value in constants.items()}
    results = dict(nodes)
    kept = dict(constants)
    for node in in_order(nodes, where):
        row = rows.get(node.op)
        if row is None or not row.is_pure or not all(source in values for source in node.inputs):
            continue
        operands = [values[source] for source in node.inputs]
        known = {index: value for index, value in enumerate(operands) if value is not None}
        bound = row.bind(node, known, where)
        with reading(f"{where}: node {node.name!r:.200} of operation {node.op}"):
            result = bound.function(*[operands[index] for index in bound.inputs])
        outputs = result if isinstance(result, (tuple, list)) else (result,)
        if not all(isinstance(output, Tensor) for output in outputs):
            continue
        for index, output in enumerate(outputs):
            values[Reference(node.name, index)] = output
        if len(outputs) == 1:
            results[node.name] = Node(node.name, "Const", (), (), {})
            kept[node.name] = outputs[0]
        else:
            sources = []
            for index, output in enumerate(outputs):
                name = f"{node.name} {index}"
                while name in results:
                    name += "'"
                results[name] = Node(name, "Const", (), (), {})
                kept[name] = output
                sources.append(Reference(name))
            results[node.name] = Node(node.name, "IdentityN", tuple(sources), (), {})
    return results, kept


def without_dropout(nodes: Nodes, fetches: Iterable[Reference]) -> Nodes:
    """Return nodes whose dropout hands its input on, as it does outside training."""
    used = {source for node in nodes.values() for source in node.inputs} | set(fetches)
    return {
        name: node._replace(op="Identity", inputs=node.inputs[:1])
        if node.op == "Dropout" and len(node.inputs) < 3 and Reference(name, 1) not in used
        else node
        for name, node in nodes.items()
    }


def in_order(nodes: Nodes, where: str) -> list[Node]:
    """Return the nodes, each after those that it needs.

    Raises:
        ModelFormatError: a node depends on itself.
    """
    order: list[Node] = []
    states: dict[str, bool] = {}
    for start in nodes:
        stack = [(start, False)]
        while stack:
            name, is_ready = stack.pop()
            if is_ready:
                states[name] = True
                order.append(nodes[name])
                continue
            if name in states:
                if not states[name]:
                    raise ModelFormatError(f"{where}: node {name!r:.200} depends on itself")
                continue
            states[name] = False
            stack.append((name, True))
            stack += [
                (source.node, False)
                for source in nodes[name].inputs
                if not states.get(source.node, False)
            ]
    return order
