"""Loops of old graphs: frames of Enter, Merge, Switch, NextIteration and Exit nodes.

TensorFlow 1 wrote a loop as a cycle in the graph (Yu et al., 2018, "Dynamic Control Flow in
Large-Scale Machine Learning"). ``without_frames`` replaces each by one node, whose body is a block
without cycles that is run once for each iteration: a Merge becomes an argument of the body, which
the input of its NextIteration is the next value of, and an Exit becomes a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from webtensor.errors import ModelFormatError
from webtensor.graph.nodes import Node, Nodes, Reference

__all__ = ["LOOP", "Loop", "without_frames"]

#: The operation of the node that stands for a loop.
LOOP = "_Loop"
#: Loops may lie in loops to this depth.
_MAX_DEPTH = 50

_Path = tuple[str, ...]


class Loop(NamedTuple):
    """A loop.

    Attributes:
        nodes: the nodes of an iteration.
        feeds: the tensors that each iteration is given: first those that change.
        fetches: the next values of those that change, then the results.
        carried: how many change.
    """

    nodes: Nodes
    feeds: tuple[Reference, ...]
    fetches: tuple[Reference, ...]
    carried: int


def without_frames(nodes: Nodes, where: str) -> tuple[Nodes, dict[Reference, Reference]]:
    """Return nodes without frames, and what tensors are called now that came out of a frame.

    Raises:
        ModelFormatError: a loop is not made as TensorFlow makes them.
    """
    if not any(node.op == "Enter" for node in nodes.values()):
        return nodes, {}
    paths = _paths(nodes, where)
    inside: dict[_Path, dict[str, Node]] = {(): {}}
    exits: dict[_Path, list[str]] = {}
    for name, node in nodes.items():
        inside.setdefault(paths[name], {})[name] = node
        if node.op == "Exit" and node.inputs and node.inputs[0].node in paths:
            exits.setdefault(paths[node.inputs[0].node], []).append(name)
    renamed: dict[Reference, Reference] = {}
    for path in sorted(filter(None, inside), key=len, reverse=True):
        names = exits.get(path, [])
        if not names and all(node.op != "NextIteration" for node in inside[path].values()):
            inside[path[:-1]] |= inside[path]  # no loop: each node runs once
            continue
        results = [_renamed(inside[paths[name]].pop(name), renamed) for name in names]
        loop = _loop(path, _all_renamed(inside[path], renamed), results, where)
        inside[path[:-1]][loop.name] = loop
        renamed |= {Reference(name): Reference(loop.name, at) for at, name in enumerate(names)}
    return _all_renamed(inside[()], renamed), renamed


def _all_renamed(nodes: Nodes, renamed: Mapping[Reference, Reference]) -> Nodes:
    return {name: _renamed(node, renamed) for name, node in nodes.items()}


def _renamed(node: Node, renamed: Mapping[Reference, Reference]) -> Node:
    inputs = tuple(renamed.get(reference, reference) for reference in node.inputs)
    controls = tuple(renamed.get(Reference(name), (name,))[0] for name in node.controls)
    if (inputs, controls) == (node.inputs, node.controls):
        return node
    return node._replace(inputs=inputs, controls=controls)


def _paths(nodes: Nodes, where: str) -> dict[str, _Path]:
    """Return for each node the names of the frames that it is in, the outermost first."""
    paths: dict[str, _Path] = {}
    users: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for node in nodes.values():
        sources = [source for source in _sources(node) if source in nodes]
        waiting[node.name] = len(sources)
        for source in sources:
            if not (node.op == "Merge" and nodes[source].op == "NextIteration"):
                users.setdefault(source, []).append(node.name)
            else:
                waiting[node.name] -= 1
    ready = [name for name, count in waiting.items() if not count]
    while ready:
        node = nodes[ready.pop()]
        paths[node.name] = _path(node, paths, where)
        for user in users.get(node.name, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    if len(paths) < len(nodes):
        name = next(name for name in nodes if name not in paths)
        raise ModelFormatError(f"{where}: node {name!r:.200} depends on itself")
    return paths


def _sources(node: Node) -> list[str]:
    return [*(reference.node for reference in node.inputs), *node.controls]


def _path(node: Node, paths: dict[str, _Path], where: str) -> _Path:
    """Return the path of a node from those of its inputs; an Exit is inside still."""
    path: _Path = ()
    for source in _sources(node):
        other = paths.get(source, ())
        path = other if len(other) > len(path) else path
    if node.op == "Enter":
        frame = node.attributes.get("frame_name")
        path = (*path, str(frame))
    elif node.op == "Exit":
        path = path[:-1]
    if len(path) > _MAX_DEPTH:
        raise ModelFormatError(f"{where}: loops are nested more than {_MAX_DEPTH} levels deep")
    return path


def _loop(path: _Path, inside: Nodes, exits: Sequence[Node], where: str) -> Node:
    """Return the node for the loop of a frame, of the nodes inside it and its Exit nodes."""
    carried = {
        Reference(node.name): _values_of(node, inside, where)
        for node in inside.values()
        if node.op == "Merge"
        and any(_op(inside, source) == "NextIteration" for source in node.inputs)
    }
    results = [_only_input(node, where) for node in exits]
    body = {
        name: node._replace(controls=tuple(name for name in node.controls if name in inside))
        for name, node in inside.items()
        if node.op not in ("Enter", "NextIteration") and Reference(name) not in carried
    }
    invariants = {
        Reference(node.name): _only_input(node, where)
        for node in inside.values()
        if node.op == "Enter"
    }
    captured = {
        reference: reference
        for node in body.values()
        for reference in node.inputs
        if reference.node not in inside
    }
    operands = {**invariants, **captured}
    first = [value for value, _ in carried.values()]
    following = [value for _, value in carried.values()]
    loop = Loop(body, (*carried, *operands), (*following, *results), len(carried))
    return Node(
        "/".join(path) + "/loop",
        LOOP,
        (*first, *operands.values()),
        (),
        {"loop": loop},  # type: ignore[dict-item]
    )


def _values_of(merge: Node, inside: Nodes, where: str) -> tuple[Reference, Reference]:
    """Return the first and the next value of a Merge."""
    entries = [source for source in merge.inputs if _op(inside, source) == "Enter"]
    others = [source for source in merge.inputs if _op(inside, source) == "NextIteration"]
    if len(entries) != 1 or len(others) != 1:
        raise ModelFormatError(
            f"{where}: node {merge.name!r:.200} does not merge an Enter with a NextIteration"
        )
    return _only_input(inside[entries[0].node], where), _only_input(inside[others[0].node], where)


def _op(nodes: Nodes, reference: Reference) -> str:
    return nodes[reference.node].op if reference.node in nodes else ""


def _only_input(node: Node, where: str) -> Reference:
    if len(node.inputs) != 1:
        raise ModelFormatError(f"{where}: node {node.name!r:.200} must have one input")
    return node.inputs[0]
