"""Copying the nodes of a graph or of a function's body into a scope, as freezing asks for it.

``_RULES`` is the table of what is put in the place of a node that graph models do not have:
variables, tables, calls. Loops and branches are copied with functions of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, TypeAlias

from webtensor.convert.control_flow import ControlFlowNodes, Inline
from webtensor.convert.graphs import Scope
from webtensor.convert.rewriting import REWRITES, Rewriting
from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import AttributeValue, ElementType, FunctionName, Placeholder
from webtensor.graph.default_attributes import with_defaults
from webtensor.graph.nodes import Node, Reference
from webtensor.ops import tensor

if TYPE_CHECKING:
    from webtensor.convert.freezing import Freezing

__all__ = ["ALIASES", "DEBUG_ALIASES", "TABLES", "VARIABLES", "Copying"]

#: Operations whose only output is their first input.
ALIASES = frozenset(
    {
        "DisableCopyOnRead",
        "EnsureShape",  # TensorFlow.js looks for the shape in an input, which there is none of
        "Identity",
        "PreventGradient",
        "ReadVariableOp",
        "Snapshot",
        "StopGradient",
    }
)
DEBUG_ALIASES = frozenset({"CheckNumerics", "Print"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
VARIABLES = frozenset({"VarHandleOp", "Variable", "VariableV2"})
TABLES = {
    "HashTable": "HashTable",
    "HashTableV2": "HashTableV2",
    "MutableHashTable": "HashTable",
    "MutableHashTableV2": "HashTableV2",
}
_FILLINGS = frozenset(
    {"InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2"}
)
_FILE_FILLINGS = frozenset({"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"})
#: What has only control outputs, which are not followed.
_EFFECTS = frozenset({"Assert", "NoOp"})
#: For each operation that calls functions: their attributes, the lists of the dtypes of inputs and
#: outputs, and how many inputs come before those of the functions.
_CALLERS: dict[str, tuple[tuple[str, ...], tuple[str, ...], int]] = {
    **dict.fromkeys(("If", "StatelessIf"), (("then_branch", "else_branch"), ("Tin", "Tout"), 1)),
    **dict.fromkeys(("StatelessWhile", "While"), (("cond", "body"), ("T",), 0)),
}
#: How many nodes a loop or a branch that becomes nodes of the scope has for each input, at most.
_LOWERED_NODES = 6
_LOOPS = frozenset({"StatelessWhile", "While"})
#: Keras saves a second variable for each, whose name ends so.
_COPY = re.compile(r"_\d+$")


class Copying:
    """Copies the nodes of a graph or of a function's body into a scope."""

    def __init__(
        self,
        freezing: Freezing,
        scope: Scope,
        arguments: Mapping[str, Reference],
        attributes: Mapping[str, AttributeValue],
        has_branches: bool,
    ) -> None:
        self.freezing, self.scope = freezing, scope
        self.arguments, self.attributes, self.has_branches = arguments, attributes, has_branches
        #: The names in the scope of nodes that are copied.
        self.names: dict[str, str] = {}
        #: The outputs of those that are not.
        self.outputs: dict[str, list[Reference]] = {}

    def disappears(self, node: Node) -> bool:
        """Whether a node has no copy, but other nodes in its place."""
        if node.op in self.freezing.aliases or node.op == "IdentityN":
            return not self.has_branches
        if node.op in _CALLERS:
            return self._is_lowered(node)
        return node.op in _RULES or node.op in self.freezing.source.graph.functions

    def _is_lowered(self, node: Node) -> bool:
        """Whether a loop or a branch becomes nodes of the scope."""
        called = (node.attributes.get(name) for name in _CALLERS[node.op][0])
        return any(
            isinstance(function, FunctionName) and function.name in self.freezing.inline_functions
            for function in called
        )

    def resolved(self, reference: Reference) -> Reference:
        """Return what a tensor is called in the scope."""
        if reference.node in self.arguments:
            return self.arguments[reference.node]
        outputs = self.outputs.get(reference.node)
        if outputs is None:
            return Reference(self.names[reference.node], reference.output)
        if reference.output >= len(outputs):
            raise ModelFormatError(
                f"{self.freezing.where}: node {reference.node!r:.200} has no output "
                f"{reference.output}"
            )
        return outputs[reference.output]

    def copy(self, node: Node) -> None:
        """Copy a node, or put others in its place, and note the shapes that the file says."""
        self._copy(node)
        outputs = self.outputs.get(node.name)
        shapes = node.attributes.get("_output_shapes")
        for index, shape in enumerate(shapes if isinstance(shapes, list) else []):
            if isinstance(shape, tuple) and (outputs is None or index < len(outputs)):
                self.freezing.frozen.shapes[self.resolved(Reference(node.name, index))] = shape

    def _copy(self, node: Node) -> None:
        inputs = [self.resolved(reference) for reference in node.inputs]
        if self.disappears(node):
            self.outputs[node.name] = self._replaced(node, inputs)
            return
        op = "Identity" if node.op in self.freezing.aliases else node.op
        name = self.names[node.name]
        controls = (
            tuple(self.names[control] for control in node.controls if control in self.names)
            if self.has_branches and not self.freezing.is_initializing
            else ()
        )
        attributes = self._bound(node.attributes)
        if node.op in _CALLERS:
            inputs = self._calling(node, name, inputs, attributes)
        copied = Node(name, op, tuple(inputs), controls, attributes)
        if self._rewritten(node, copied):
            return
        self.scope.nodes[name] = with_defaults(copied, self.freezing.source.defaults)
        if node.op in _FILLINGS:
            self.scope.results.append(Reference(name))

    def _rewritten(self, node: Node, copied: Node) -> bool:
        """Put others in the place of a copied node, if graph models have no such operation."""
        rewrite = REWRITES.get(copied.op)
        if rewrite is None or copied.controls:
            return False
        rewriting = Rewriting(self.freezing.frozen, self.scope, copied, copied.inputs)
        results = rewrite(rewriting)
        if results is None:
            return False
        self.outputs[node.name] = results
        self.names[node.name] = results[0].node  # what waits for the node waits for this one
        return True

    def _replaced(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        freezing = self.freezing
        if node.op in freezing.aliases or node.op == "IdentityN":
            return [freezing.assigned.get(value, value) for value in inputs]
        if node.op in _CALLERS:
            return self._lowered(node, inputs)
        if node.op in freezing.source.graph.functions:
            return freezing.inline(
                freezing.function(node.op), self.scope, self._bound(node.attributes), inputs
            )
        return _RULES[node.op](self, node, inputs)

    def _bound(self, attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Return attributes with the values of those that the function has."""
        return {
            name: self.attributes.get(value) if isinstance(value, Placeholder) else value
            for name, value in attributes.items()
            if not name.startswith("_")
        }

    def _calling(
        self,
        node: Node,
        name: str,
        inputs: list[Reference],
        attributes: dict[str, AttributeValue],
    ) -> list[Reference]:
        """Set the attributes of a loop or a branch, and return the inputs that it still has.

        Variables and tables are no inputs any more, and no outputs of loops.
        """
        freezing = self.freezing
        names, lists, skipped = _CALLERS[node.op]
        called = self._called(node)
        functions = [
            freezing.specialized(function, inputs[skipped:], self.scope) for function in called
        ]
        for attribute, function in zip(names, functions, strict=True):
            attributes[attribute] = FunctionName(function.name, {})
        is_argument = [
            freezing.fixed_node(operand, self.scope) is None for operand in inputs[skipped:]
        ]
        if node.op in _LOOPS and not all(is_argument):
            self._check_fixed(node, inputs, functions[-1].scope.results)
            functions[-1].drop_results(is_argument)
            numbers = iter(range(len(is_argument)))
            self.outputs[node.name] = [
                Reference(name, next(numbers)) if remains else operand
                for operand, remains in zip(inputs, is_argument, strict=True)
            ]
        dtypes: list[list[AttributeValue]] = [
            [ElementType(argument.dtype) for argument in arguments]
            for arguments in (functions[-1].inputs, functions[-1].outputs)
        ]
        attributes |= dict(zip(lists, dtypes, strict=False))
        if "output_shapes" in attributes:
            attributes["output_shapes"] = []
        return [*inputs[:skipped], *compress(inputs[skipped:], is_argument)]

    def _called(self, node: Node) -> list[FunctionName]:
        """Return the functions that a loop or a branch calls."""
        called = []
        for attribute in _CALLERS[node.op][0]:
            function = node.attributes.get(attribute)
            if not isinstance(function, FunctionName):
                raise ModelFormatError(
                    f"{self.freezing.where}: node {node.name!r:.200} has no function {attribute!r}"
                )
            called.append(function)
        return called

    def _check_fixed(
        self, node: Node, inputs: Sequence[Reference], results: Sequence[Reference]
    ) -> None:
        """Refuse a loop whose iterations exchange variables or tables."""
        if len(results) == len(inputs) and any(
            operand != result and self.freezing.fixed_node(operand, self.scope) is not None
            for operand, result in zip(inputs, results, strict=True)
        ):
            raise ModelFormatError(
                f"{self.freezing.where}: the loop {node.name!r:.200} exchanges variables"
            )

    def _lowered(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Copy the nodes of a loop or of branches into the scope."""
        freezing, scope = self.freezing, self.scope
        skipped = _CALLERS[node.op][2]
        functions = [freezing.function(function.name) for function in self._called(node)]
        inlines = [
            partial(freezing.inline, function, scope, called.attributes)
            for function, called in zip(functions, self._called(node), strict=True)
        ]
        is_fixed = [freezing.fixed_node(operand, scope) is not None for operand in inputs[skipped:]]
        nodes = ControlFlowNodes(freezing.frozen, scope, freezing.frozen.name(node.name))
        freezing.source.budget.spend_items(_LOWERED_NODES * len(inputs), freezing.where)
        if node.op in _LOOPS:
            dtypes = [argument.dtype for argument in functions[-1].inputs]
            return nodes.loop(inputs, dtypes, is_fixed, *inlines)
        return nodes.branch(inputs[0], inputs[1:], is_fixed, inlines)

    # -- rules ---------------------------------------------------------------------------------

    def constant(self, node: Node, _: list[Reference]) -> list[Reference]:
        """Copy a constant, with its value, unless that is the path of a file."""
        if f"{node.name}:0" in self.freezing.source.assets:
            return self.placeholder(node, [])
        value = self.freezing.source.constant(node)
        return [self._placed(node, self.freezing.frozen.add_constant(self.scope, node.name, value))]

    def _placed(self, node: Node, reference: Reference) -> Reference:
        """Have a constant on a branch of TensorFlow 1 wait for the branch."""
        if self.has_branches and not self.freezing.is_initializing:
            controls = tuple(self.names[name] for name in node.controls if name in self.names)
            copied = self.scope.nodes[reference.node]
            self.scope.nodes[reference.node] = copied._replace(controls=controls)
        return reference

    def placeholder(self, node: Node, _: list[Reference]) -> list[Reference]:
        """Put the path of a file in the place of an input that is one."""
        path = self.freezing.source.assets.get(f"{node.name}:0")
        if path is None:
            raise ModelFormatError(
                f"{self.freezing.where}: the outputs need the tensor {node.name!r:.200}, which is "
                "no input of the signature"
            )
        value = tensor(f"{node.name}:0", dtype="string")
        return [self.freezing.frozen.add_constant(self.scope, node.name, value)]

    def variable(self, node: Node, _: list[Reference]) -> list[Reference]:
        """Put the value of a variable in the place of its handle."""
        freezing = self.freezing
        if freezing.is_initializing:
            return [Reference(node.name)]
        variables = self.scope.variables
        shared = str(node.attributes.get("shared_name") or node.name)
        if shared not in variables:
            original = _COPY.sub("", node.name)
            name = original if original in freezing.handles else node.name
            value = freezing.source.variable(node)
            variables[shared] = freezing.frozen.add_constant(self.scope, name, value)
            freezing.variables.add(variables[shared].node)
        return [variables[shared]]

    def assignment(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Remember what the initializer assigns to a variable."""
        if not self.freezing.is_initializing:
            raise ModelFormatError(
                f"{self.freezing.where}: node {node.name!r:.200} assigns a variable, which graph "
                "models do not have"
            )
        self.freezing.assigned[inputs[0]] = inputs[1]
        return []

    def rows_of_variable(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Gather rows of a variable's value."""
        freezing = self.freezing
        axis = node.attributes.get("batch_dims", 0)
        axis_input = freezing.frozen.add_constant(
            self.scope, f"{node.name}/axis", tensor(axis, dtype="int32")
        )
        name = freezing.frozen.name(node.name)
        attributes: dict[str, AttributeValue] = {
            "Tparams": node.attributes.get("dtype"),
            "Tindices": node.attributes.get("Tindices"),
            "Taxis": ElementType("int32"),
            "batch_dims": axis,
        }
        self.scope.nodes[name] = Node(name, "GatherV2", (*inputs[:2], axis_input), (), attributes)
        return [Reference(name)]

    def points_of_variable(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Gather elements of a variable's value."""
        name = self.freezing.frozen.name(node.name)
        attributes = {
            "Tparams": node.attributes.get("dtype"),
            "Tindices": node.attributes.get("Tindices"),
        }
        self.scope.nodes[name] = Node(name, "GatherNd", tuple(inputs[:2]), (), attributes)
        return [Reference(name)]

    def table(self, node: Node, _: list[Reference]) -> list[Reference]:
        """Copy the node of a table."""
        return [self.freezing.table(self.scope, node)]

    def file_filling(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Fill a table with the lines of a file."""
        self.freezing.fill_from_file(self.scope, node, inputs[0], inputs[1])
        return []

    def call(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Put a function's nodes in the place of its call."""
        called = node.attributes.get("f")
        if not isinstance(called, FunctionName):
            raise ModelFormatError(
                f"{self.freezing.where}: node {node.name!r:.200} has no function 'f'"
            )
        function = self.freezing.function(called.name)
        return self.freezing.inline(function, self.scope, called.attributes, inputs)

    def case(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Copy the nodes of several branches, of which an index chooses one, else the last."""
        freezing, scope = self.freezing, self.scope
        called = node.attributes.get("branches")
        if not isinstance(called, list) or not called:
            raise ModelFormatError(f"{freezing.where}: node {node.name!r:.200} has no branches")
        branches = [
            partial(freezing.inline, freezing.function(function.name), scope, function.attributes)
            for function in called
            if isinstance(function, FunctionName)
        ]
        is_fixed = [freezing.fixed_node(operand, scope) is not None for operand in inputs[1:]]
        return self._chosen(node, inputs[0], is_fixed, [*enumerate(branches)], inputs[1:])

    def _chosen(
        self,
        node: Node,
        choice: Reference,
        is_fixed: Sequence[bool],
        cases: Sequence[tuple[int, Inline]],
        arguments: Sequence[Reference],
    ) -> list[Reference]:
        """Copy the nodes of the first case, taken if ``choice`` is its index, and of the others."""
        freezing, scope = self.freezing, self.scope
        freezing.source.budget.spend_items(_LOWERED_NODES * (len(arguments) + 1), freezing.where)
        (index, branch), *others = cases
        if not others:
            return branch(arguments)
        value = tensor(index, dtype="int32")
        number = freezing.frozen.add_constant(scope, f"{node.name}/{index}", value)
        name = freezing.frozen.name(f"{node.name}/Equal")
        kind = {"T": ElementType("int32")}
        scope.nodes[name] = Node(name, "Equal", (choice, number), (), kind)
        otherwise = partial(self._chosen, node, choice, is_fixed, others)
        nodes = ControlFlowNodes(freezing.frozen, scope, name)
        return nodes.branch(Reference(name), arguments, is_fixed, [branch, otherwise])

    def optional(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Replace an optional value by its tensor, and an empty one by zero."""
        add_constant = self.freezing.frozen.add_constant
        return inputs or [add_constant(self.scope, node.name, tensor(0.0))]

    def nothing(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Leave out what has no outputs."""
        return []


_Rule: TypeAlias = Callable[[Copying, Node, list[Reference]], list[Reference]]
#: What is put in the place of a node, by its operation.
_RULES: dict[str, _Rule] = {
    "Const": Copying.constant,
    "Placeholder": Copying.placeholder,
    "AssignVariableOp": Copying.assignment,
    "Assign": Copying.assignment,
    "ResourceGather": Copying.rows_of_variable,
    "ResourceGatherNd": Copying.points_of_variable,
    **dict.fromkeys(("Case", "StatelessCase"), Copying.case),
    **dict.fromkeys(VARIABLES, Copying.variable),
    **dict.fromkeys(TABLES, Copying.table),
    **dict.fromkeys(_FILE_FILLINGS, Copying.file_filling),
    **dict.fromkeys(_CALLS, Copying.call),
    **dict.fromkeys(_EFFECTS, Copying.nothing),
    **{f"Optional{name}": Copying.optional for name in ("FromValue", "GetValue", "None")},
}
