"""Loops and branches as TensorFlow 1 had them, where TensorFlow.js cannot call their functions.

It disposes what a function computed when the function ends, also the elements that the function
wrote into a list, and it makes no tables in functions. Loops and branches whose functions do this
become nodes of the calling scope: a loop a frame of ``Enter``, ``Merge``, ``Switch``,
``NextIteration`` and ``Exit``, a branch ``Switch`` and ``Merge``. All others stay as they are,
which is quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from webtensor.convert.graphs import FrozenGraph, Scope
from webtensor.formats.graph_def import (
    AttributeValue,
    ElementType,
    FunctionDef,
    FunctionName,
    NodeDef,
)
from webtensor.graph.nodes import Node, Reference

__all__ = ["ControlFlowNodes", "Inline", "InlineFunctions"]

_NOT_IN_FUNCTIONS = frozenset(
    {
        "LookupTableFind",
        "LookupTableFindV2",
        "LookupTableSize",
        "LookupTableSizeV2",
        "TensorListPushBack",
        "TensorListScatterIntoExistingList",
        "TensorListSetItem",
    }
)
#: Copies a function's nodes into the scope for these arguments, and returns its results there.
Inline = Callable[[Sequence[Reference]], list[Reference]]


class InlineFunctions:
    """The functions of a library that TensorFlow.js cannot call: they write lists or use tables."""

    def __init__(self, functions: Mapping[str, FunctionDef]) -> None:
        self._functions = functions
        self._decisions: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        if name not in self._decisions:
            self._decisions[name] = False  # as long as nothing else is known: it may call itself
            function = self._functions.get(name)
            self._decisions[name] = function is not None and self._uses_any(function.nodes)
        return self._decisions[name]

    def _uses_any(self, nodes: Iterable[NodeDef]) -> bool:
        return any(
            node.op in _NOT_IN_FUNCTIONS or any(called in self for called in _called(node))
            for node in nodes
        )


def _called(node: NodeDef) -> list[str]:
    """Return the names of the functions that a node calls."""
    names = [value.name for value in node.attributes.values() if isinstance(value, FunctionName)]
    return [node.op, *names]


class ControlFlowNodes:
    """Adds the nodes that a loop or a pair of branches becomes.

    Args:
        graph: the graph, in which their names are unique.
        scope: receives the nodes.
        name: the name of the loop or of the branch.
    """

    def __init__(self, graph: FrozenGraph, scope: Scope, name: str) -> None:
        self._graph, self._scope, self._name = graph, scope, name

    def loop(
        self,
        inputs: Sequence[Reference],
        dtypes: Sequence[str],
        is_fixed: Sequence[bool],
        condition: Inline,
        body: Inline,
    ) -> list[Reference]:
        """Add the nodes of a loop, and return its results.

        Args:
            inputs: what the first iteration gets.
            dtypes: the dtypes of these.
            is_fixed: which of these no iteration changes; they are no variables of the loop.
            condition: copies the nodes of the condition.
            body: copies the nodes of the body.
        """
        types = {
            index: {"T": ElementType(dtypes[index])}
            for index, fixed in enumerate(is_fixed)
            if not fixed
        }
        merges = {index: self._merge(inputs[index], dtype) for index, dtype in types.items()}
        (goes_on,) = condition([merges.get(index, operand) for index, operand in enumerate(inputs)])
        loop_condition = self._add("LoopCond", [goes_on])
        switches = {
            index: self._add("Switch", [merges[index], loop_condition], dtype)
            for index, dtype in types.items()
        }
        results = body(
            [
                Reference(switches[index].node, 1) if index in switches else operand
                for index, operand in enumerate(inputs)
            ]
        )
        for index, dtype in types.items():
            self._close(merges[index], self._add("NextIteration", [results[index]], dtype))
        return [
            self._add("Exit", [switches[index]], types[index]) if index in switches else operand
            for index, operand in enumerate(inputs)
        ]

    def _merge(self, operand: Reference, dtype: Mapping[str, AttributeValue]) -> Reference:
        """Add the nodes that begin a variable of a loop; ``_close`` gives its next value.

        ``dtype`` is the attribute that says which its dtype is.
        """
        frame: dict[str, AttributeValue] = {
            **dtype,
            "frame_name": self._name,
            "is_constant": False,
            "parallel_iterations": 10,
        }
        enter = self._add("Enter", [operand], frame)
        return self._add("Merge", [enter, enter], {**dtype, "N": 2})

    def _close(self, merge: Reference, following: Reference) -> None:
        """Close a loop: its merge gets the value of the next iteration."""
        node = self._scope.nodes[merge.node]
        self._scope.nodes[merge.node] = node._replace(inputs=(node.inputs[0], following))

    def branch(
        self,
        condition: Reference,
        inputs: Sequence[Reference],
        is_fixed: Sequence[bool],
        branches: Sequence[Inline],
    ) -> list[Reference]:
        """Add the nodes of two branches, and return their results.

        Args:
            condition: whether the first branch is taken.
            inputs: what the branches get.
            is_fixed: which of these are constants and tables, which both branches may use at once.
            branches: copy the nodes of the branches.
        """
        switches = [
            operand if fixed else self._add("Switch", [operand, condition])
            for operand, fixed in zip(inputs, is_fixed, strict=True)
        ]
        taken: list[list[Reference]] = []
        for output, branch in zip((1, 0), branches, strict=True):
            arguments = [
                operand if fixed else Reference(operand.node, output)
                for operand, fixed in zip(switches, is_fixed, strict=True)
            ]
            before = len(self._scope.nodes)
            results = branch(arguments)
            follows = _following(self._scope, before, arguments, is_fixed)
            taken.append(
                [
                    result
                    if result.node in follows
                    else Reference(self._add("Switch", [result, condition]).node, output)
                    for result in results
                ]
            )
        return [
            self._add("Merge", [otherwise, then], {"N": 2})
            for then, otherwise in zip(*taken, strict=True)
        ]

    def _add(
        self,
        op: str,
        inputs: Sequence[Reference],
        attributes: Mapping[str, AttributeValue] | None = None,
    ) -> Reference:
        name = self._graph.name(f"{self._name}/{op}")
        self._scope.nodes[name] = Node(name, op, tuple(inputs), (), attributes or {})
        return Reference(name)


def _following(
    scope: Scope,
    before: int,
    arguments: Sequence[Reference],
    is_fixed: Sequence[bool],
) -> set[str]:
    """Return the names of nodes that wait for a branch, as they follow from its arguments.

    They were added to the scope after the first ``before`` nodes.
    """
    follows = {
        argument.node for argument, fixed in zip(arguments, is_fixed, strict=True) if not fixed
    }
    for name, node in islice(scope.nodes.items(), before, None):
        if any(reference.node in follows for reference in node.inputs):
            follows.add(name)
    return follows
