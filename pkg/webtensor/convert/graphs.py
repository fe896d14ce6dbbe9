"""Graphs on their way through the converter: as they are read, and frozen.

A ``GraphSource`` is a graph with what its values are read from. Freezing makes a ``FrozenGraph`` of
it: scopes of nodes without calls and variables, whose constants have values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget
from webtensor.formats.element_types import Buffer
from webtensor.formats.graph_def import Argument, Graph, Shape, Signature
from webtensor.graph.default_attributes import Defaults
from webtensor.graph.nodes import Node, Nodes, Reference
from webtensor.graph.unique_names import UniqueNames, node_name

__all__ = ["FrozenFunction", "FrozenGraph", "GraphSource", "Scope"]

#: Operations that belong to branches and loops of TensorFlow 1, where control inputs matter.
_OLD_CONTROL_FLOW = frozenset({"Enter", "Exit", "Merge", "NextIteration", "Switch"})


def _nothing(_: Any) -> Any:
    raise ModelFormatError("the graph has variables, but there are no values of variables")


@dataclass(frozen=True)
class GraphSource:
    """A graph that is to be converted.

    Attributes:
        label: what errors call the model.
        graph: the graph.
        signature: its inputs and outputs.
        constant: returns the value of a constant node.
        budget: limits what the conversion may cost.
        variable: returns the value of a variable's node.
        initializer: the graph that fills tables.
        initializer_node: the name of its node that must run, or "" for all of them.
        initializer_signature: the outputs of that graph that are inputs of the other.
        tables: returns the keys and the values of tables that are not in the graph.
        assets: the path of a file for the name of each tensor whose value that path is.
        read_asset: returns the contents of the file of such a tensor.
        defaults: attributes that are left out in the graph.
        metadata: what the author of the model added.
        generated_by: the library that made the model.
    """

    label: str
    graph: Graph
    signature: Signature
    constant: Callable[[Node], Tensor]
    budget: Budget
    variable: Callable[[Node], Tensor] = _nothing
    initializer: Graph | None = None
    initializer_node: str = ""
    initializer_signature: Signature | None = None
    tables: Mapping[str, Callable[[], tuple[Tensor, Tensor]]] = field(default_factory=dict)
    assets: Mapping[str, str] = field(default_factory=dict)
    read_asset: Callable[[str], Buffer] = _nothing
    defaults: Defaults = field(default_factory=dict)
    metadata: Any = None
    generated_by: str = ""


@dataclass
class Scope:
    """Nodes that compute ``results``; those of a function are a scope of their own.

    ``variables`` has the constants that stand for variables, by the variables' names.
    """

    nodes: Nodes
    results: list[Reference]
    variables: dict[str, Reference] = field(default_factory=dict)

    @property
    def has_old_control_flow(self) -> bool:
        """Whether there are branches or loops of TensorFlow 1."""
        return has_old_control_flow(self.nodes.values())


@dataclass
class FrozenFunction:
    """A function that a loop or a branch calls; its results are those of ``scope``."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    scope: Scope

    def drop_results(self, is_result: Sequence[bool]) -> None:
        """Leave out the results of a loop's body that are always the same."""
        if len(self.outputs) == len(is_result):
            self.outputs = tuple(compress(self.outputs, is_result))
            self.scope.results = [*compress(self.scope.results, is_result)]


@dataclass
class FrozenGraph:
    """A graph without calls and variables.

    Attributes:
        main: the nodes that compute the outputs.
        functions: what loops and branches call, by name.
        constants: the values of constants, by the names of their nodes, which are unique among all
            scopes.
        shapes: those of tensors, as far as the file says them.
        signature: the inputs and outputs; those of ``main.results`` are in its order.
        initializer: the nodes that fill tables, if there are some.
        initializer_signature: its outputs that are inputs of ``main``.
    """

    main: Scope = field(default_factory=lambda: Scope({}, []))
    functions: dict[str, FrozenFunction] = field(default_factory=dict)
    constants: dict[str, Tensor] = field(default_factory=dict)
    shapes: dict[Reference, Shape] = field(default_factory=dict)
    signature: Signature = field(default_factory=lambda: Signature({}, {}))
    initializer: Scope | None = None
    initializer_signature: Signature | None = None

    def __post_init__(self) -> None:
        self._names = UniqueNames()

    def name(self, base: str) -> str:
        """Return a name that no node has yet, and that files may have."""
        return self._names.new(node_name(base))

    def add_constant(self, scope: Scope, name: str, value: Tensor) -> Reference:
        """Add a constant to a scope."""
        name = self.name(name)
        scope.nodes[name] = Node(name, "Const", (), (), {})
        self.constants[name] = value
        return Reference(name)

    @property
    def scopes(self) -> list[Scope]:
        """The scopes whose nodes compute the outputs."""
        return [self.main, *(function.scope for function in self.functions.values())]

    @property
    def node_count(self) -> int:
        """The number of nodes of all scopes."""
        more = [] if self.initializer is None else [self.initializer]
        return sum(len(scope.nodes) for scope in (*self.scopes, *more))


def has_old_control_flow(nodes: Iterable[Node]) -> bool:
    """Whether there are branches or loops of TensorFlow 1."""
    return any(node.op in _OLD_CONTROL_FLOW for node in nodes)
