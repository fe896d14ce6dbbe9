"""Lowering: from ONNX's graphs to the nodes that GraphModel's compiler takes.

A value becomes a reference to the output of a node, an initializer or a Constant node one to a
constant. Functions are expanded where they are called: those of the model, and those that
operators of other domains are (``webtensor.onnx.expansion``). Subgraphs become ``Body`` attributes,
which take the values that they use of the graphs around them as further inputs; constants they
share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats import onnx as format_
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.onnx_messages import DATA_TYPES
from webtensor.graph.nodes import MISSING, Node, Nodes, Reference
from webtensor.graph.unique_names import UniqueNames
from webtensor.onnx.operations import row_name
from webtensor.onnx.stored_constants import StoredConstants

__all__ = ["Body", "Lowered", "lowered"]

#: Functions may call functions to this depth, and graphs may lie in graphs.
_MAX_DEPTH = 50
#: How many nodes all functions may become.
_MAX_NODES = 100_000
#: Operations of which the number of outputs decides what they compute.
_COUNTED = frozenset({"BatchNormalization", "Dropout", "MaxPool", "Split"})


#: Operations whose results have the dtype of an input, by its index: integers of few bits, whose
#: tensors do not tell how many.
_TYPED = {
    "CastLike": 1,
    "GatherBlockQuantized": 0,
    "QLinearConv": 7,
    "QLinearMatMul": 7,
    "QuantizeLinear": 2,
}
#: Operations whose results have the dtype of their first input.
_KEEPING = frozenset({"Identity", "Reshape", "Squeeze", "Unsqueeze"})


class Body(NamedTuple):
    """A subgraph.

    Attributes:
        nodes: its nodes.
        feeds: its inputs, then the values that it captures.
        fetches: its outputs.
        inputs: the number of its inputs that are not captured.
        types: the types of its outputs, as far as the file says them.
    """

    nodes: Nodes
    feeds: tuple[Reference, ...]
    fetches: tuple[Reference, ...]
    inputs: int
    types: tuple[format_.Type, ...]


class Lowered(NamedTuple):
    """A graph of nodes.

    Attributes:
        nodes: the nodes.
        constants: the values of the constant ones.
        values: the references of the graph's values by their names.
    """

    nodes: Nodes
    constants: dict[str, Tensor]
    values: dict[str, Reference]


def lowered(model: format_.Model, where: str, files: Mapping[str, Buffer] | None = None) -> Lowered:
    """Return the nodes of a model.

    Args:
        model: the model.
        where: what errors call it.
        files: the contents of ``model.external_files``.

    Raises:
        ModelFormatError: it has unknown operators, or refers to something that is missing.
    """
    lowering = _Lowering(model, where, files)
    scope = _Scope("", None, {}, {})
    lowering.graph(model.graph, scope, _Context(model.opsets, {}, 0))
    lowering.check_operators()
    return Lowered(scope.nodes, lowering.constants, scope.values)


class _Context(NamedTuple):
    """The versions of operators, the attributes of the function, and its depth."""

    opsets: Mapping[str, int]
    attributes: Mapping[str, format_.AttributeValue]
    depth: int


@dataclass
class _Scope:
    """The values that nodes can use.

    Attributes:
        prefix: begins the names of its nodes.
        parent: the values of the graph around it.
        nodes: the nodes of the graph.
        values: the references of values by their names.
        captured: those of values of the parent, and what they are in it.
        dtypes: the dtypes of values in the file, as far as it says them.
    """

    prefix: str
    parent: _Scope | None
    nodes: Nodes
    values: dict[str, Reference]
    captured: dict[Reference, Reference] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)

    def dtype(self, name: str) -> str | None:
        """Return the dtype of a value in the file."""
        if name in self.dtypes or self.parent is None:
            return self.dtypes.get(name)
        return self.parent.dtype(name)


class _Lowering:
    def __init__(
        self, model: format_.Model, where: str, files: Mapping[str, Buffer] | None
    ) -> None:
        self.where = where
        self.stored = StoredConstants(where, files)
        self.constants: dict[str, Tensor] = {}
        self.unknown: set[str] = set()
        self.functions = {
            (function.domain, function.name, function.overload): function
            for function in model.functions
        }
        self.names = UniqueNames()

    def check_operators(self) -> None:
        if self.unknown:
            raise ModelFormatError(
                f"{self.where} has operators that are unknown: {', '.join(sorted(self.unknown))}"
            )

    def name(self, name: str) -> str:
        """Return a name that no node has."""
        unique = self.names.new(name)
        if len(self.names) > _MAX_NODES:
            raise ModelFormatError(f"{self.where} would become more than {_MAX_NODES} nodes")
        return unique

    def constant(self, scope: _Scope, name: str, value: Tensor) -> Reference:
        unique = self.name(name)
        self.constants[unique] = value
        scope.nodes[unique] = Node(unique, "Const", (), (), {})
        return Reference(unique)

    # -- graphs --------------------------------------------------------------------------------

    def graph(self, graph: format_.Graph, scope: _Scope, context: _Context) -> None:
        """Add the initializers, inputs and nodes of a graph."""
        if context.depth > _MAX_DEPTH:
            raise ModelFormatError(f"{self.where} has graphs nested more than {_MAX_DEPTH} deep")
        for value in (*graph.inputs, *graph.values):
            if isinstance(value.type, format_.TensorType):
                scope.dtypes[value.name] = value.type.dtype
        for name, stored in graph.initializers.items():
            scope.dtypes[name] = stored.dtype
        initializers = {**graph.initializers, **graph.sparse_initializers}
        for name, initializer in initializers.items():
            tensor = self.stored.tensor(initializer, f"{self.where}: initializer {name!r:.200}")
            scope.values[name] = self.constant(scope, scope.prefix + name, tensor)
        for value in graph.inputs:
            if value.name not in scope.values:
                self.placeholder(scope, value.name)
        self.body(graph.nodes, scope, context)

    def placeholder(self, scope: _Scope, name: str) -> Reference:
        unique = self.name(scope.prefix + name)
        scope.nodes[unique] = Node(unique, "Placeholder", (), (), {})
        scope.values[name] = Reference(unique)
        return scope.values[name]

    def body(self, definitions: Iterable[format_.Node], scope: _Scope, context: _Context) -> None:
        """Add nodes, whose values may be in any order."""
        named: list[tuple[str, format_.Node]] = []
        for definition in definitions:
            outputs = [name for name in definition.outputs if name]
            label = outputs[0] if outputs else definition.name or definition.op
            name = self.name(scope.prefix + label)
            named.append((name, definition))
            for index, output in enumerate(definition.outputs):
                if not output:
                    continue
                if output in scope.values:
                    raise ModelFormatError(
                        f"{self.where}: two nodes compute the value {output!r:.200}"
                    )
                scope.values[output] = Reference(name, index)
        for name, definition in named:
            self.node(name, definition, scope, context)

    def resolve(self, scope: _Scope, name: str, user: str) -> Reference:
        """Return the reference of a value, which may be one of a graph around."""
        if not name:
            return MISSING
        if name in scope.values:
            return scope.values[name]
        if scope.parent is None:
            raise ModelFormatError(
                f"{self.where}: {user} needs the value {name!r:.200}, which nothing computes"
            )
        outer = self.resolve(scope.parent, name, user)
        if outer.node in self.constants:
            scope.nodes[outer.node] = Node(outer.node, "Const", (), (), {})
            scope.values[name] = outer
            return outer
        inner = self.placeholder(scope, name)
        scope.captured[inner] = outer
        return inner

    # -- nodes ---------------------------------------------------------------------------------

    def node(self, name: str, definition: format_.Node, scope: _Scope, context: _Context) -> None:
        label = f"node {definition.name or name!r:.200} of operator {definition.op}"
        inputs = tuple(self.resolve(scope, value, label) for value in definition.inputs)
        attributes = _completed(definition.attributes, context.attributes)
        function = self.function(definition, attributes, scope, label)
        if function is not None:
            self.call(function, name, definition, inputs, attributes, scope, context)
            return
        if definition.op == "Constant" and not definition.domain:
            stored = attributes.get("value")
            if isinstance(stored, format_.Tensor):
                scope.dtypes[definition.outputs[0]] = stored.dtype
            self.constants[name] = self.stored.of_attributes(attributes, f"{self.where}: {label}")
            scope.nodes[name] = Node(name, "Const", (), (), {})
            return
        op = row_name(definition.domain, definition.op, context.opsets.get(definition.domain, 1))
        if op is None:
            self.unknown.add(".".join(filter(None, (definition.domain, definition.op))))
            return
        values: dict[str, Any] = {}
        for attribute, value in attributes.items():
            if isinstance(value, format_.Graph):
                inner = _deeper(context)
                body, captured = self.subgraph(value, f"{name}/{attribute}/", scope, inner)
                values[attribute] = body
                inputs = (*inputs, *captured)
            elif isinstance(value, format_.Tensor):
                where = f"{self.where}: {label}: attribute {attribute!r:.200}"
                values[attribute] = self.stored.tensor(value, where)
            else:
                values[attribute] = value
        _add_facts(values, definition, scope)
        scope.nodes[name] = Node(name, op, inputs, (), values)

    def function(
        self,
        definition: format_.Node,
        attributes: Mapping[str, format_.AttributeValue],
        scope: _Scope,
        label: str,
    ) -> format_.Function | None:
        """Return the function that a node calls: of the model, or one that its operator is."""
        key = (definition.domain, definition.op, definition.overload)
        function = self.functions.get(key)
        if function is not None or not definition.domain:
            return function
        from webtensor.onnx.expansion import expanded

        dtypes = [scope.dtype(value) or "" for value in definition.inputs]
        with reading(f"{self.where}: {label}"):
            return expanded(definition, attributes, dtypes)

    def subgraph(
        self, graph: format_.Graph, prefix: str, parent: _Scope, context: _Context
    ) -> tuple[Body, list[Reference]]:
        """Return a subgraph, and what it captures."""
        nodes: Nodes = {}
        scope = _Scope(prefix, parent, nodes, {})
        self.graph(graph, scope, context)
        feeds = [scope.values[value.name] for value in graph.inputs]
        fetches = [
            self.resolve(scope, value.name, f"output {value.name!r:.200}")
            for value in graph.outputs
        ]
        types = tuple(value.type for value in graph.outputs)
        body = Body(nodes, (*feeds, *scope.captured), tuple(fetches), len(feeds), types)
        return body, list(scope.captured.values())

    def call(
        self,
        function: format_.Function,
        name: str,
        definition: format_.Node,
        inputs: Sequence[Reference],
        attributes: Mapping[str, format_.AttributeValue],
        scope: _Scope,
        context: _Context,
    ) -> None:
        """Add the nodes of a function of the model."""
        if context.depth >= _MAX_DEPTH:
            raise ModelFormatError(
                f"{self.where}: function {function.name!r:.200} calls itself, or too many others"
            )
        if len(inputs) > len(function.inputs) or len(definition.outputs) > len(function.outputs):
            raise ModelFormatError(
                f"{self.where}: node {definition.name!r:.200} has {len(inputs)} inputs and "
                f"{len(definition.outputs)} outputs, but its function {function.name!r:.200} has "
                f"{len(function.inputs)} and {len(function.outputs)}"
            )
        all_attributes = {**function.defaults, **attributes}
        opsets = {**context.opsets, **function.opsets}
        padded = (*inputs, *[MISSING] * (len(function.inputs) - len(inputs)))
        values = dict(zip(function.inputs, padded, strict=True))
        inner = _Scope(f"{name}/", None, scope.nodes, values)
        for name_, value in zip(function.inputs, definition.inputs, strict=False):
            inner.dtypes[name_] = scope.dtype(value) or ""
        self.body(function.nodes, inner, _Context(opsets, all_attributes, context.depth + 1))
        results = []
        for output, _ in zip(function.outputs, definition.outputs, strict=False):
            results.append(self.resolve(inner, output, f"function {function.name!r:.200}"))
        op = "Identity" if len(results) == 1 else "IdentityN"
        scope.nodes[name] = Node(name, op, tuple(results), (), {})


def _add_facts(values: dict[str, Any], definition: format_.Node, scope: _Scope) -> None:
    """Add attributes for the dtype and the number of outputs, and note the dtype of a result."""
    index = _TYPED.get(definition.op)
    if index is not None and index < len(definition.inputs) and not values.get("output_dtype"):
        dtype = scope.dtype(definition.inputs[index])
        if dtype:
            values["output_dtype"] = dtype
    if definition.op in _COUNTED and not definition.domain:
        values.setdefault("num_outputs", len(definition.outputs))
    dtype, kind = None, values.get("to")
    if definition.op == "Cast" and isinstance(kind, int) and kind in DATA_TYPES:
        dtype = DATA_TYPES[kind].name
    elif definition.op in _KEEPING and definition.inputs:
        dtype = scope.dtype(definition.inputs[0])
    if dtype and definition.outputs:
        scope.dtypes.setdefault(definition.outputs[0], dtype)


def _deeper(context: _Context) -> _Context:
    """Return the context of a graph inside another."""
    return context._replace(depth=context.depth + 1)


def _completed(
    attributes: Mapping[str, format_.AttributeValue],
    of_function: Mapping[str, format_.AttributeValue],
) -> dict[str, format_.AttributeValue]:
    """Return attributes with the values of those that are the function's."""
    completed: dict[str, format_.AttributeValue] = {}
    for name, value in attributes.items():
        if not isinstance(value, format_.AttributeReference):
            completed[name] = value
        elif value.name in of_function:
            completed[name] = of_function[value.name]
    return completed
