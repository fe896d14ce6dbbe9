"""Nodes of a graph, whose inputs refer to tensors of other nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import AttributeValue, NodeDef

__all__ = ["MISSING", "SEVERAL_OUTPUTS", "Node", "Nodes", "Reference", "nodes_of", "reference_of"]


class Reference(NamedTuple):
    """A tensor: the output of this index of the node of this name."""

    node: str
    output: int = 0

    def __str__(self) -> str:
        return f"{self.node}:{self.output}"


#: Stands for an optional input that a node does not have.
MISSING = Reference("")


class Node(NamedTuple):
    """A node.

    Attributes:
        name: its name.
        op: the name of its operation, or of a function.
        inputs: the tensors that it computes with; ``MISSING`` where it has an optional one not.
        controls: the names of nodes that must run before.
        attributes: its attributes.
    """

    name: str
    op: str
    inputs: tuple[Reference, ...]
    controls: tuple[str, ...]
    attributes: Mapping[str, AttributeValue]


Nodes = dict[str, Node]

#: The names of the outputs of operations that have several, as function bodies refer to them.
_OUTPUTS = {
    op: names.split()
    for op, names in {
        "BroadcastGradientArgs": "r0 r1",
        "CTCGreedyDecoder": "decoded_indices decoded_values decoded_shape log_probability",
        "CombinedNonMaxSuppression": ("nmsed_boxes nmsed_scores nmsed_classes valid_detections"),
        "FusedBatchNorm": "y batch_mean batch_variance reserve_space_1 reserve_space_2",
        "FusedBatchNormGradV3": (
            "x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5"
        ),
        "FusedBatchNormV2": "y batch_mean batch_variance reserve_space_1 reserve_space_2",
        "FusedBatchNormV3": (
            "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"
        ),
        "ListDiff": "out idx",
        "LogMatrixDeterminant": "sign log_abs_determinant",
        "MaxPoolWithArgmax": "output argmax",
        "Merge": "output value_index",
        "NonMaxSuppressionV4": "selected_indices valid_outputs",
        "NonMaxSuppressionV5": "selected_indices selected_scores valid_outputs",
        "Qr": "q r",
        "RaggedRange": "rt_nested_splits rt_dense_values",
        "RaggedTensorToSparse": "sparse_indices sparse_values sparse_dense_shape",
        "SelfAdjointEigV2": "e v",
        "SoftmaxCrossEntropyWithLogits": "loss backprop",
        "SparseAdd": "sum_indices sum_values sum_shape",
        "SparseConcat": "output_indices output_values output_shape",
        "SparseCross": "output_indices output_values output_shape",
        "SparseFillEmptyRows": (
            "output_indices output_values empty_row_indicator reverse_index_map"
        ),
        "SparseReorder": "output_indices output_values",
        "SparseReshape": "output_indices output_shape",
        "SparseSlice": "output_indices output_values output_shape",
        "SparseSoftmaxCrossEntropyWithLogits": "loss backprop",
        "StringNGrams": "ngrams ngrams_splits",
        "StringSplit": "indices values shape",
        "StringSplitV2": "indices values shape",
        "Svd": "s u v",
        "Switch": "output_false output_true",
        "TensorArrayConcatV3": "value lengths",
        "TensorArrayV3": "handle flow",
        "TensorListConcat": "tensor lengths",
        "TensorListConcatV2": "tensor lengths",
        "TensorListPopBack": "output_handle tensor",
        "TopKV2": "values indices",
        "UnicodeDecode": "row_splits char_values",
        "Unique": "y idx",
        "UniqueV2": "y idx",
        "UniqueWithCounts": "y idx count",
    }.items()
}

_LISTS_OF_OUTPUTS = (
    "ConcatOffset DynamicPartition RaggedGather RaggedTensorFromVariant ShapeN Split SplitV Unpack"
)
#: Operations that may have several outputs.
SEVERAL_OUTPUTS = {*_OUTPUTS, *_LISTS_OF_OUTPUTS.split()}


def nodes_of(definitions: Iterable[NodeDef], where: str) -> Nodes:
    """Return the nodes of a graph or of a function's body by their names.

    Raises:
        ModelFormatError: the name of an input is malformed.
    """
    definitions = tuple(definitions)
    ops = {definition.name: definition for definition in definitions}
    nodes = {definition.name: _node(definition, ops, where) for definition in definitions}
    return {
        name: node._replace(controls=_waits(node, nodes)) if node.controls else node
        for name, node in nodes.items()
    }


def _waits(node: Node, nodes: Nodes) -> tuple[str, ...]:
    """Return the nodes whose first outputs one waits for.

    A NoOp has no output: what waits for it waits for what it waits for itself. Of the outputs of a
    Switch only one is computed, whereas its inputs are. A Merge waits for one input alone.
    """
    waits: dict[str, None] = {}
    visited: set[str] = set()
    stack = [] if node.op == "Merge" else [*reversed(node.controls)]
    while stack:
        name = stack.pop()
        if name in visited:
            continue
        visited.add(name)
        op = nodes[name].op if name in nodes else ""
        if op == "NoOp":
            stack += reversed(nodes[name].controls)
        elif op == "Switch":
            waits |= {value.node: None for value in nodes[name].inputs if not value.output}
        else:
            waits[name] = None
    return (*waits,)


def _node(definition: NodeDef, ops: Mapping[str, NodeDef], where: str) -> Node:
    name, op, texts, attributes, _ = definition
    inputs: list[Reference] = []
    controls: list[str] = []
    for text in texts:
        if text.startswith("^"):
            controls.append(text[1:])
        elif ":" in text:
            inputs.append(reference_of(text, f"{where}: node {name!r:.200}", ops))
        else:
            inputs.append(Reference(text))
    return Node(name, op, tuple(inputs), tuple(controls), attributes)


def reference_of(text: str, label: str, ops: Mapping[str, NodeDef] | None = None) -> Reference:
    """Return the tensor that a name such as "a", "a:1" or, in functions, "a:indices:0" stands for.

    Args:
        text: the name.
        label: what errors call the place of the name.
        ops: the nodes by their names, which names of outputs depend on.

    Raises:
        ModelFormatError: the name is malformed.

    Example:
        >>> reference_of("a:1", "a model")
        Reference(node='a', output=1)
    """
    name, colon, suffix = text.partition(":")
    if not colon:
        return Reference(name)
    output, _, index = suffix.rpartition(":")
    if not (index.isascii() and index.isdigit() and len(index) < 10 and ":" not in output):
        raise ModelFormatError(f"{label}: an input is called {text!r:.200}")
    offset = _offset(ops[name], output) if output and ops is not None and name in ops else 0
    return Reference(name, offset + int(index))


def _offset(node: NodeDef, output: str) -> int:
    """Return the index of the first tensor of an output that has a name."""
    if output == "output_dense_values":
        name = "OUTPUT_RAGGED_RANK" if node.op == "RaggedGather" else "output_ragged_rank"
        rank = node.attributes.get(name, 0)
        return rank if isinstance(rank, int) else 0
    names = _OUTPUTS.get(node.op, ())
    return names.index(output) if output in names else 0
