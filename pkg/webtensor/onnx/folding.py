"""Constants that follow from constants are computed once, when the model is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webtensor.engine import Tensor
from webtensor.formats.budgets import reading
from webtensor.graph.nodes import MISSING, Node, Nodes, Reference
from webtensor.graph.operations import Row
from webtensor.graph.ordering import ordered

__all__ = ["folded", "without_dropout"]

#: How many elements all constants that are computed may have; 1 GiB.
_MOST_ELEMENTS = 1 << 28


def folded(
    nodes: Nodes,
    constants: Mapping[str, Tensor],
    rows: Mapping[str, Row],
    where: str,
) -> tuple[Nodes, dict[str, Tensor]]:
    """Return nodes and constants, more of which are constants.

    Raises:
        ModelFormatError: a constant cannot be computed.
    """
    values = {Reference(name): value for name, value in constants.items()}
    computable = {MISSING, *values}
    results = dict(nodes)
    kept = dict(constants)
    elements = 0
    for node in ordered(nodes, nodes, where):
        row = rows.get(node.op)
        if row is None or not row.is_pure or not computable.issuperset(node.inputs):
            continue
        operands = {
            index: values[source] for index, source in enumerate(node.inputs) if source != MISSING
        }
        bound = row.bind(node, operands, where)
        with reading(f"{where}: node {node.name!r:.200} of operation {node.op}"):
            result = bound.function(*[operands[index] for index in bound.inputs])
        outputs = result if isinstance(result, (tuple, list)) else (result,)
        if not all(isinstance(output, Tensor) for output in outputs):
            continue
        elements += sum(output.size for output in outputs)
        if elements > _MOST_ELEMENTS:
            break
        for index, output in enumerate(outputs):
            values[Reference(node.name, index)] = output
            computable.add(Reference(node.name, index))
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
        if node.op == "Dropout-1" and len(node.inputs) < 3 and Reference(name, 1) not in used
        else node
        for name, node in nodes.items()
    }
