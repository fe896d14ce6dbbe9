"""Ensembles of decision trees: all rows go from all roots to leaves at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from webtensor.onnx.expansion.bodies import Body, Outputs, Write
from webtensor.onnx.expansion.classical_models import (
    DOMAIN,
    TRANSFORMS,
    classified,
    transformed,
)
from webtensor.onnx.operations.trees import TESTS

__all__ = ["FUNCTIONS"]

_MEMBER, _LEAF = "BRANCH_MEMBER", "LEAF"
_MODES = (*TESTS, _MEMBER)
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
#: How many weights of leaves there may be, with all their zeros.
_MAX_WEIGHTS = 1 << 24


class _Node(NamedTuple):
    """A node; its children are positions in the list of all nodes."""

    mode: str
    feature: int = 0
    value: float = 0.0
    if_true: int = 0
    if_false: int = 0
    if_missing: bool = False
    members: tuple[float, ...] = ()


class _Weight(NamedTuple):
    """The value that a leaf adds to an output."""

    leaf: int
    output: int
    value: float


def _depth(nodes: Sequence[_Node]) -> int:
    """Return how many tests the longest path has, where paths may meet again.

    Raises:
        ValueError: a path comes back to a node.
    """
    children = [() if node.mode == _LEAF else (node.if_true, node.if_false) for node in nodes]
    parents = Counter(chain.from_iterable(children))
    ready = [position for position in range(len(nodes)) if position not in parents]
    depths = [0] * len(nodes)
    # A node is ready when all its parents were: as many nodes as there are become it.
    for position in ready:
        for child in children[position]:
            depths[child] = max(depths[child], depths[position] + 1)
            parents[child] -= 1
            if not parents[child]:
                ready.append(child)
    if len(ready) < len(nodes):
        raise ValueError("a path through a tree comes back to a node")
    return max(depths, default=0)


def _total(
    body: Body,
    nodes: Sequence[_Node],
    roots: Sequence[int],
    weights: Sequence[_Weight],
    outputs: int,
    aggregate: str,
) -> str:
    """Return the aggregated weights of the leaves that rows reach, of shape (batch, outputs)."""
    if aggregate not in _AGGREGATES:
        raise ValueError(f"aggregate_function is {aggregate!r:.200}")
    if len(nodes) * outputs > _MAX_WEIGHTS:
        raise ValueError(f"{len(nodes)} nodes with {outputs} outputs are too many")
    table = [0.0] * (len(nodes) * outputs)
    for weight in weights:
        if not 0 <= weight.output < outputs:
            raise ValueError(f"a leaf adds to output {weight.output} of {outputs}")
        table[weight.leaf * outputs + weight.output] += weight.value
    added = body("Gather", body.floats(table, len(nodes), outputs), _leaves(body, nodes, roots))
    op = {"AVERAGE": "ReduceMean", "SUM": "ReduceSum", "MIN": "ReduceMin", "MAX": "ReduceMax"}[
        aggregate
    ]
    return body(op, added, body.integers(1), keepdims=0)


def _leaves(body: Body, nodes: Sequence[_Node], roots: Sequence[int]) -> str:
    """Return the positions of the leaves that rows reach, of shape (batch, trees)."""
    modes = sorted({node.mode for node in nodes} - {_LEAF})
    unknown = set(modes) - {*_MODES}
    if unknown:
        raise ValueError(f"a node has the mode {min(unknown)!r:.200}")
    missing, members = "", ""
    if any(node.if_missing for node in nodes):
        missing = body.integers(*[node.if_missing for node in nodes])
    width = max((len(node.members) for node in nodes), default=0)
    if len(nodes) * width > _MAX_WEIGHTS:
        raise ValueError(f"{len(nodes)} nodes with sets of {width} numbers are too many")
    if width:
        padded = [(*node.members, *[float("nan")] * (width - len(node.members))) for node in nodes]
        members = body.floats([value for row in padded for value in row], len(nodes), width)
    return body(
        "TreeLeaves",
        body.float_input(),
        body.integers(*roots),
        body.integers(*[modes.index(node.mode) if node.mode != _LEAF else 0 for node in nodes]),
        body.integers(*[node.feature for node in nodes]),
        body.floats([node.value for node in nodes]),
        body.integers(*[node.if_true for node in nodes]),
        body.integers(*[node.if_false for node in nodes]),
        missing,
        members,
        domain=DOMAIN,
        depth=_depth(nodes),
        modes=modes,
    )


# -- operators whose attributes list the nodes of trees ----------------------------------------

_Positions: TypeAlias = Mapping[tuple[int, int], int]


def _read_nodes(body: Body) -> tuple[list[_Node], list[int], _Positions]:
    """Return nodes, the positions of roots, and those of nodes by their trees and numbers."""
    keys = list(zip(body.take("nodes_treeids"), body.take("nodes_nodeids"), strict=True))
    positions = {key: position for position, key in enumerate(keys)}
    if len(positions) < len(keys):
        raise ValueError("two nodes of a tree have the same number")
    body.take_numbers("nodes_hitrates")
    columns = zip(
        keys,
        body.take("nodes_modes"),
        body.take("nodes_featureids"),
        body.take_numbers("nodes_values"),
        body.take("nodes_truenodeids"),
        body.take("nodes_falsenodeids"),
        body.take("nodes_missing_value_tracks_true", [0] * len(keys)),
        strict=True,
    )
    nodes: list[_Node] = []
    children: set[int] = set()
    for (tree, _), mode, feature, value, if_true, if_false, is_missing in columns:
        paths = (len(nodes), len(nodes))
        if mode != _LEAF:
            paths = (positions[tree, if_true], positions[tree, if_false])
            children.update(paths)
        nodes.append(_Node(mode, feature, value, *paths, bool(is_missing)))
    roots = [position for position in range(len(nodes)) if position not in children]
    if len(roots) != len({tree for tree, _ in keys}):
        raise ValueError("a tree must have one root")
    return nodes, roots, positions


def _read_weights(body: Body, kind: str, positions: _Positions) -> list[_Weight]:
    columns = zip(
        body.take(f"{kind}_treeids"),
        body.take(f"{kind}_nodeids"),
        body.take(f"{kind}_ids"),
        body.take_numbers(f"{kind}_weights"),
        strict=True,
    )
    return [
        _Weight(positions[tree, number], output, value) for tree, number, output, value in columns
    ]


def _shifted(body: Body, total: str, base: Sequence[float]) -> str:
    return body("Add", total, body.floats(base)) if base else total


def _regressor(body: Body) -> Outputs:
    nodes, roots, positions = _read_nodes(body)
    weights = _read_weights(body, "target", positions)
    aggregate, count = body.take("aggregate_function", "SUM"), body.take("n_targets", 1)
    if count == 1:
        # As in ONNX Runtime, the first weight of a leaf counts: skl2onnx repeats some.
        weights = list({weight.leaf: weight for weight in reversed(weights)}.values())
    total = _total(body, nodes, roots, weights, count, aggregate)
    base = body.take_numbers("base_values")
    return transformed(body, _shifted(body, total, base), body.take("post_transform", "NONE"))


def _classifier(body: Body) -> Outputs:
    nodes, roots, positions = _read_nodes(body)
    weights = _read_weights(body, "class", positions)
    base = body.take_numbers("base_values")
    texts = body.take("classlabels_strings", [])
    labels = texts or body.take("classlabels_int64s")
    outputs = {weight.output for weight in weights}
    is_single = len(labels) == 2 and len(outputs) == 1
    if is_single:
        weights = [weight._replace(output=0) for weight in weights]
        base = base[-1:]
    total = _total(body, nodes, roots, weights, 1 if is_single else len(labels), "SUM")
    is_probability = all(weight.value >= 0 for weight in weights)
    return classified(
        body,
        _shifted(body, total, base),
        labels,
        threshold=0.5 if is_probability else 0.0,
        is_probability=is_probability,
    )


# -- the operator whose attributes list tests and leaves ---------------------------------------


def _ensemble(body: Body) -> Outputs:
    modes = [_MODES[int(mode)] for mode in body.take_numbers("nodes_modes")]
    members = _sets(body.take_numbers("membership_values"))
    count = len(modes)
    body.take_numbers("nodes_hitrates")
    columns = zip(
        modes,
        body.take("nodes_featureids"),
        body.take_numbers("nodes_splits"),
        _children(body, "true", count),
        _children(body, "false", count),
        body.take("nodes_missing_value_tracks_true", [0] * count),
        [next(members, ()) if mode == _MEMBER else () for mode in modes],
        strict=True,
    )
    nodes = [_Node(*column) for column in columns]
    outputs, values = body.take("leaf_targetids"), body.take_numbers("leaf_weights")
    leaves = range(count, count + len(outputs))
    nodes += [_Node(_LEAF, if_true=leaf, if_false=leaf) for leaf in leaves]
    weights = [_Weight(*weight) for weight in zip(leaves, outputs, values, strict=True)]
    aggregate = _AGGREGATES[body.take("aggregate_function", 1)]
    roots = body.take("tree_roots")
    total = _total(body, nodes, roots, weights, body.take("n_targets", 1), aggregate)
    return transformed(body, total, TRANSFORMS[body.take("post_transform", 0)])


def _children(body: Body, side: str, count: int) -> list[int]:
    """Return positions in the list of all tests and then all leaves."""
    ids, are_leaves = body.take(f"nodes_{side}nodeids"), body.take(f"nodes_{side}leafs")
    return [number + count * bool(is_leaf) for number, is_leaf in zip(ids, are_leaves, strict=True)]


def _sets(values: Sequence[float]) -> Iterator[tuple[float, ...]]:
    """Give the sets of numbers, each of which ends with NaN."""
    members: list[float] = []
    for value in values:
        if value != value:
            yield tuple(members)
            members = []
        else:
            members.append(value)


FUNCTIONS: dict[str, Write] = {
    "TreeEnsemble": _ensemble,
    "TreeEnsembleClassifier": _classifier,
    "TreeEnsembleRegressor": _regressor,
}
