"""Making frozen graphs smaller: what is constant is computed, and nodes become one where they can.

Batch normalization and factors go into the filters of the products before them, sums into biases,
activations into fused operations. The rules are those of ``webtensor.graph.fusing``, as far as
TensorFlow.js has the fused operations.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import Any

from webtensor import ops
from webtensor.convert.constant_sizes import result_bound
from webtensor.convert.graphs import FrozenGraph, Scope
from webtensor.engine import Tensor
from webtensor.engine.placement import on_host
from webtensor.formats.budgets import reading
from webtensor.formats.graph_def import AttributeValue, ElementType
from webtensor.graph.fusing import (
    ACTIVATIONS,
    FUSED_OPERATIONS,
    Fusion,
    Program,
    activation,
    addition,
    fuse,
    scale,
)
from webtensor.graph.nodes import Node, Reference
from webtensor.graph.operations import OPERATIONS
from webtensor.graph.ordering import ordered

__all__ = ["fold_constants", "fuse_nodes", "prune"]

#: Constants with more elements than this are computed only if that makes the graph smaller.
_ALWAYS_FOLDED = 1 << 10
_NOT_COMPUTED = frozenset({"Const", "Placeholder"})
_NORMALIZATIONS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
_CHANNEL_WISE = frozenset({"Add", "AddV2", "BiasAdd", "Mul"})
_DEPTHWISE = frozenset({"DepthwiseConv2d", "DepthwiseConv2dNative"})
_FILTER_RANKS = {"MatMul": 2}


def prune(graph: FrozenGraph, where: str) -> None:
    """Leave out the nodes and constants that no output needs, and put the others in order.

    Inputs stay.
    """
    initializer = [] if graph.initializer is None else [graph.initializer]
    for scope in (*graph.scopes, *initializer):
        inputs = {name: node for name, node in scope.nodes.items() if node.op == "Placeholder"}
        scope.nodes = inputs | {node.name: node for node in _in_order(scope, where)}
    used = {name for scope in (*graph.scopes, *initializer) for name in scope.nodes}
    graph.constants = {name: value for name, value in graph.constants.items() if name in used}


def _in_order(scope: Scope, where: str) -> list[Node]:
    roots = [result.node for result in scope.results]
    fed = {
        reference.node
        for node in scope.nodes.values()
        for reference in node.inputs
        if reference.node not in scope.nodes
    }
    fed |= {result.node for result in scope.results if result.node not in scope.nodes}
    return ordered(scope.nodes, roots, where, fed=fed, follows_controls=True)


# -- constants ---------------------------------------------------------------------------------


def fold_constants(graph: FrozenGraph, where: str) -> int:
    """Compute what follows from constants alone, and return the number of such nodes.

    A tensor that would make the files larger stays to be computed.
    """
    with on_host("constants"):
        return sum(_fold(graph, scope, where) for scope in graph.scopes)


def _fold(graph: FrozenGraph, scope: Scope, where: str) -> int:
    count = 0
    #: The constants that stand for outputs of nodes that are folded.
    names: dict[Reference, Reference] = {}
    for node in _in_order(scope, where):
        node = node._replace(inputs=tuple(names.get(value, value) for value in node.inputs))
        scope.nodes[node.name] = node
        values = _folded(graph, node, where)
        if values is None:
            continue
        count += 1
        del scope.nodes[node.name]
        for index, value in enumerate(values):
            name = node.name if index == 0 else graph.name(f"{node.name}/{index}")
            scope.nodes[name] = Node(name, "Const", (), (), {})
            graph.constants[name] = value
            names[Reference(node.name, index)] = Reference(name)
    scope.results = [names.get(result, result) for result in scope.results]
    return count


def _folded(graph: FrozenGraph, node: Node, where: str) -> list[Tensor] | None:
    """Return the outputs of a node that is constant, if they are worth keeping."""
    row = OPERATIONS.get(node.op)
    if row is None or not row.is_pure or node.controls or not node.inputs:
        return None
    operands = [graph.constants.get(reference.node) for reference in node.inputs]
    constants = {index: value for index, value in enumerate(operands) if value is not None}
    if len(constants) < len(operands):
        return None
    limit = max(_ALWAYS_FOLDED, sum(value.size for value in constants.values()))
    if result_bound(node.op, list(constants.values())) > limit:
        return None
    bound = row.bind(node, constants, where)
    with reading(f"{where}: node {node.name!r:.200}"):
        result = bound.function(*(constants[index] for index in bound.inputs))
    values = [result] if isinstance(result, Tensor) else [*result]
    if not all(isinstance(value, Tensor) for value in values):
        return None
    return values if sum(value.size for value in values) <= limit else None


# -- fused operations --------------------------------------------------------------------------


def fuse_nodes(graph: FrozenGraph, where: str) -> int:
    """Make nodes one where TensorFlow.js computes them together; return how many fewer there are.

    Scopes in which nodes wait for others without using them stay as they are: when a node runs,
    and whether it does, depends on that.
    """
    scopes = [
        scope for scope in graph.scopes if not any(node.controls for node in scope.nodes.values())
    ]
    uses = Counter(name for scope in graph.scopes for name in scope.nodes)
    with on_host("fusing"):
        return sum(_fuse(graph, scope, uses, where) for scope in scopes)


def _fuse(graph: FrozenGraph, scope: Scope, uses: Counter[str], where: str) -> int:
    """Fuse the nodes of a scope; ``uses`` says how many scopes have a node of a name."""
    order = _in_order(scope, where)
    count = sum(node.op not in _NOT_COMPUTED for node in order)
    chains = _Chains(graph, scope, order)
    nodes = {node.name: node for node in chains.nodes}
    constants = {name: graph.constants[name] for name in nodes if name in graph.constants}
    program = Program(nodes, constants, chains.shapes, scope.results)
    fuse(program, (_slopes, scale, addition, _activation))
    inputs = {name: node for name, node in scope.nodes.items() if node.op == "Placeholder"}
    uses.subtract({*scope.nodes})
    scope.nodes = inputs | program.nodes
    uses.update({*scope.nodes})
    graph.constants.update(constants)
    _rename(graph, scope, chains.filters, uses)
    return count - sum(node.op not in _NOT_COMPUTED for node in scope.nodes.values())


class _Chains:
    """Products, and what is done to each of their channels after them.

    Attributes:
        nodes: the nodes, in which batch normalization of products is a factor and a sum.
        shapes: the shapes of tensors of which the number of channels is known.
        filters: the filter of the product that each of these follows from.
    """

    def __init__(self, graph: FrozenGraph, scope: Scope, order: list[Node]) -> None:
        self._constants = graph.constants
        self._uses = Counter(reference for node in order for reference in node.inputs)
        self._uses.update(scope.results)
        self.nodes: list[Node] = []
        self.shapes: dict[Reference, Any] = {}
        self.filters: dict[str, str] = {}
        for node in order:
            for part in self._parts(node):
                self.nodes.append(part)
                self._note(part)

    def _add_constant(self, name: str, value: Tensor) -> Reference:
        self.nodes.append(Node(name, "Const", (), (), {}))
        self._constants[name] = value
        return Reference(name)

    def _parts(self, node: Node) -> list[Node]:
        """Return a factor and a sum for the normalization of a product, else the node."""
        attributes = node.attributes
        is_inference = node.op in _NORMALIZATIONS and not attributes.get("is_training", True)
        if not is_inference or attributes.get("data_format", "NHWC") != "NHWC":
            return [node]
        x = node.inputs[0]
        values = [self._constants.get(reference.node) for reference in node.inputs[1:5]]
        numbers = [value for value in values if value is not None]
        is_read = any(self._uses[Reference(node.name, index)] for index in range(1, 6))
        if x not in self.shapes or self._uses[x] != 1 or len(numbers) < 4 or is_read:
            return [node]
        scale, offset, mean, variance = numbers
        epsilon: Any = attributes.get("epsilon", 1e-3)
        factors = ops.multiply(scale, ops.rsqrt(ops.add(variance, epsilon)))
        sums = ops.subtract(offset, ops.multiply(mean, factors))
        kind: dict[str, AttributeValue] = {"T": ElementType("float32")}
        scaled = f"{node.name}:scaled"
        factor = self._add_constant(f"{node.name}:factor", factors)
        sum_input = self._add_constant(f"{node.name}:sum", sums)
        self._uses[Reference(scaled)] += 1
        return [
            Node(scaled, "Mul", (x, factor), (), kind),
            Node(node.name, "AddV2", (Reference(scaled), sum_input), (), kind),
        ]

    def _note(self, node: Node) -> None:
        """Note the shape of a product, or of what follows from one channel by channel."""
        own = Reference(node.name)
        if node.op == "Const":
            self.shapes[own] = self._constants[node.name].shape
        elif node.op in FUSED_OPERATIONS:
            self._note_product(node)
        elif node.op in _CHANNEL_WISE and len(node.inputs) == 2:
            for x, other in (node.inputs, node.inputs[::-1]):
                shape, vector = self.shapes.get(x), self._constants.get(other.node)
                if x.node in self.filters and vector is not None and _fits(vector, shape):
                    self.shapes[own] = shape
                    self.filters[node.name] = self.filters[x.node]
        elif node.op in ACTIVATIONS and node.inputs[0].node in self.filters:
            self.shapes[own] = self.shapes[node.inputs[0]]
            self.filters[node.name] = self.filters[node.inputs[0].node]

    def _note_product(self, node: Node) -> None:
        filter = self._constants.get(node.inputs[1].node) if len(node.inputs) > 1 else None
        rank = _FILTER_RANKS.get(node.op, 4)
        if filter is None or len(filter.shape) != rank:
            return
        if node.op in _DEPTHWISE:
            channels = filter.shape[2] * filter.shape[3]
        else:
            channels = filter.shape[-2 if node.attributes.get("transpose_b") else -1]
        self.shapes[Reference(node.name)] = (None,) * (rank - 1) + (channels,)
        self.filters[node.name] = node.inputs[1].node


def _fits(vector: Tensor, shape: Any) -> bool:
    return bool(shape) and len(vector.shape) <= len(shape) and vector.size in (1, shape[-1])


def _slopes(fusion: Fusion, node: Node) -> Node | None:
    """Make PReLU of what Keras computes for it: relu(x) + slopes * relu(-x)."""
    if node.op != "AddV2":
        return None
    positive, product = (fusion.producer(reference) for reference in node.inputs)
    if positive is None or positive.op != "Relu" or product is None or product.op != "Mul":
        return None
    negative = fusion.producer(product.inputs[1])
    slopes = fusion.constant(product.inputs[0])
    if negative is None or negative.op != "Relu" or slopes is None:
        return None
    negated = fusion.producer(negative.inputs[0])
    if negated is None or negated.op != "Neg" or negated.inputs != positive.inputs:
        return None
    # What is multiplied there is minus the slopes, and so is the sign of the negative part.
    name = fusion.add_constant(f"{node.name}:slopes", ops.negative(slopes))
    inputs = (*positive.inputs, name)
    return Node(node.name, "Prelu", inputs, (), {"T": ElementType("float32")})


def _activation(fusion: Fusion, node: Node) -> Node | None:
    """Make an activation a part of a product; TensorFlow.js gives NaN for one of the pairs."""
    if node.op == "LeakyRelu":
        product = fusion.product(node.inputs[0])
        if product is not None and FUSED_OPERATIONS[product.op] == "FusedDepthwiseConv2dNative":
            return None
    return activation(fusion, node)


def _contents(value: Tensor) -> tuple[Any, ...]:
    return value.shape, value.dtype, sha256(value.bytes_sync()).digest()


def _rename(graph: FrozenGraph, scope: Scope, filters: dict[str, str], uses: Counter[str]) -> None:
    """Name the nodes that fusing added as files may name them; filters stay under their names.

    Equal constants get one name, so that a filter of several products is written once.
    """
    names: dict[str, str] = {}
    names_of_contents: dict[Any, str] = {}
    for node in scope.nodes.values():
        for index, reference in enumerate(node.inputs):
            old = reference.node
            if ":" not in old or old in names:
                continue
            value = graph.constants.get(old)
            contents = None if value is None else _contents(value)
            if contents in names_of_contents:
                names[old] = names_of_contents[contents]
                continue
            filter = filters.get(node.name)
            if index == 1 and filter is not None and not uses[filter]:
                names[old] = filter
                uses[filter] += 1
            else:
                names[old] = graph.name(old)
            if contents is not None:
                names_of_contents[contents] = names[old]
    scope.nodes = {
        names.get(name, name): node._replace(
            name=names.get(name, name),
            inputs=tuple(
                reference._replace(node=names.get(reference.node, reference.node))
                for reference in node.inputs
            ),
        )
        for name, node in scope.nodes.items()
    }
    for old, new in names.items():
        if old in graph.constants:
            graph.constants[new] = graph.constants.pop(old)
