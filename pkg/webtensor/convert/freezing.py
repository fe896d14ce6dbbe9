"""Freezing: variables become constants, called functions a part of what calls them.

Nodes are copied from the graph into scopes as far as the outputs need them. On the way, whatever
only hands a tensor on disappears, and names become unique among all scopes, because the values of
constants are found by name. Loops and branches keep their functions, which get the values of
variables instead of their handles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from webtensor.convert.control_flow import InlineFunctions, lowered_branch, lowered_loop
from webtensor.convert.default_attributes import with_defaults
from webtensor.convert.graphs import (
    FrozenFunction,
    FrozenGraph,
    GraphSource,
    Scope,
    has_old_control_flow,
    ordered,
)
from webtensor.convert.rewriting import REWRITES, Rewriting
from webtensor.convert.vocabularies import rows_of_file
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import (
    AttributeValue,
    ElementType,
    FunctionDef,
    FunctionName,
    Placeholder,
    Signature,
    TensorInfo,
)
from webtensor.graph.nodes import Node, Nodes, Reference, nodes_of, reference_of
from webtensor.ops import tensor

__all__ = ["freeze"]

#: Functions may call functions to this depth.
_MAX_CALLS = 50
#: Operations whose only output is their first input.
_ALIASES = frozenset(
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
_DEBUG_ALIASES = frozenset({"CheckNumerics", "Print"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_VARIABLES = frozenset({"VarHandleOp", "Variable", "VariableV2"})
_TABLES = {
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


def freeze(source: GraphSource, strip_debug: bool = True) -> FrozenGraph:
    """Return the nodes that compute the outputs of a graph.

    Args:
        source: the graph.
        strip_debug: whether operations that only print or check are left out.

    Raises:
        ModelFormatError: a node, a function or a value is missing, or the graph assigns variables.
    """
    return _Freezing(source, strip_debug).run()


class _Freezing:
    def __init__(self, source: GraphSource, strip_debug: bool) -> None:
        self.source, self.where = source, source.label
        self.aliases = _ALIASES | (_DEBUG_ALIASES if strip_debug else frozenset())
        self.frozen = FrozenGraph()
        self.inline_functions = InlineFunctions(source.graph.functions)
        self.is_initializing = False
        #: The names of the constants that stand for variables, and of the nodes of tables.
        self.variables: set[str] = set()
        self.table_nodes: set[str] = set()
        #: What the initializer assigned to variables.
        self.assigned: dict[Reference, Reference] = {}
        #: The nodes of tables by their shared names.
        self.tables: dict[str, Node] = {}
        self._specialized: dict[tuple[str, tuple[str, ...]], FrozenFunction] = {}
        self._depth = 0
        self.handles = {node.name for node in source.graph.nodes if node.op in _VARIABLES}

    def run(self) -> FrozenGraph:
        """Freeze the graph and its initializer."""
        signature = self.source.signature
        nodes = nodes_of(self.source.graph.nodes, self.where)
        frozen, main = self.frozen, self.frozen.main
        fed, inputs = self._inputs(signature, nodes, main)
        definitions = {node.name: node for node in self.source.graph.nodes}
        targets: list[Reference] = []
        outputs: dict[str, TensorInfo] = {}
        for key, info in signature.outputs.items():
            for part, tensor_name in _components(key, info):
                targets.append(reference_of(tensor_name, self.where, definitions))
                is_whole = len(info.names) == 1
                shape = info.shape if is_whole else None
                name = frozen.name(part)
                outputs[part] = TensorInfo((f"{name}:0",), info.dtype if is_whole else "", shape)
        main.results = self.expand(nodes, targets, fed, main)
        frozen.signature = Signature(inputs, outputs, signature.method)
        self._initialize(frozen)
        return frozen

    def _inputs(
        self, signature: Signature, nodes: Nodes, main: Scope
    ) -> tuple[dict[str, Reference], dict[str, TensorInfo]]:
        """Add a placeholder for each input, and return what they feed, and their signature."""
        fed: dict[str, Reference] = {}
        infos: dict[str, TensorInfo] = {}
        for key, info in signature.inputs.items():
            for part, tensor_name in _components(key, info):
                reference = reference_of(tensor_name, self.where)
                given = nodes.get(reference.node)
                if given is None or reference.output:
                    raise ModelFormatError(f"{self.where}: there is no input {tensor_name!r:.200}")
                name = self.frozen.name(part)
                kept = info if len(info.names) == 1 else TensorInfo((), "", None)
                dtype = ElementType(given.attributes.get("dtype", info.dtype))
                declared = given.attributes.get("shape")
                shape = declared if isinstance(declared, tuple) else kept.shape
                attributes: dict[str, AttributeValue] = {"dtype": dtype, "shape": shape}
                main.nodes[name] = Node(name, "Placeholder", (), (), attributes)
                fed[reference.node] = Reference(name)
                infos[name] = TensorInfo((f"{name}:0",), dtype, shape, kept.resource_id)
        return fed, infos

    # -- nodes ---------------------------------------------------------------------------------

    def expand(
        self,
        nodes: Nodes,
        targets: Sequence[Reference],
        arguments: Mapping[str, Reference],
        scope: Scope,
        attributes: Mapping[str, AttributeValue] | None = None,
        roots: Sequence[str] = (),
    ) -> list[Reference]:
        """Copy the nodes that compute tensors into a scope, and return these tensors there.

        Args:
            nodes: the nodes of the graph or of a function's body.
            targets: the tensors.
            arguments: the tensors of the scope for the names of the function's arguments.
            scope: receives the nodes.
            attributes: the attributes of the function that is called.
            roots: further nodes that are needed.
        """
        self._depth += 1
        if self._depth > _MAX_CALLS:
            raise ModelFormatError(f"{self.where}: functions call themselves, or too many others")
        has_branches = has_old_control_flow(nodes.values())
        names = [*roots, *(target.node for target in targets)]
        order = ordered(nodes, names, arguments, self.where, self.is_initializing or has_branches)
        copying = _Copying(self, scope, arguments, attributes or {}, has_branches)
        self.source.budget.spend_items(len(order) + 1, self.where)
        for node in order:
            if not copying.disappears(node):
                copying.names[node.name] = self.frozen.name(node.name)
        for node in order:
            copying.copy(node)
        self._depth -= 1
        return [copying.resolved(target) for target in targets]

    def function(self, name: str) -> FunctionDef:
        """Return a function of the graph's library.

        Raises:
            ModelFormatError: there is none of this name.
        """
        functions = self.source.graph.functions
        if name not in functions:
            raise ModelFormatError(f"{self.where}: there is no function {name!r:.200}")
        return functions[name]

    def inline(
        self,
        function: FunctionDef,
        scope: Scope,
        attributes: Mapping[str, AttributeValue],
        inputs: Sequence[Reference],
    ) -> list[Reference]:
        """Copy what a function's results need into a scope, and return them."""
        label = f"{self.where}: function {function.name!r:.200}"
        if len(inputs) != len(function.inputs):
            raise ModelFormatError(
                f"{label} takes {len(function.inputs)} inputs, not {len(inputs)}"
            )
        arguments = {
            argument.name: given for argument, given in zip(function.inputs, inputs, strict=True)
        }
        definitions = {node.name: node for node in function.nodes}
        missing = [
            output.name for output in function.outputs if output.name not in function.returns
        ]
        if missing:
            raise ModelFormatError(f"{label} does not say what it returns")
        targets = [
            reference_of(function.returns[output.name], label, definitions)
            for output in function.outputs
        ]
        nodes = nodes_of(function.nodes, label)
        roots = [*function.control_returns.values()] if self.is_initializing else []
        return self.expand(nodes, targets, arguments, scope, attributes, roots)

    def specialized(
        self, name: FunctionName, inputs: Sequence[Reference], scope: Scope
    ) -> FrozenFunction:
        """Return a function for inputs of which some are variables or tables.

        These become nodes of the function itself, so that it has fewer arguments.
        """
        function = self.function(name.name)
        fixed = tuple(self.fixed_node(given, scope) for given in inputs)
        key = (name.name, tuple("" if node is None else node.name for node in fixed))
        if key in self._specialized:
            return self._specialized[key]
        body = Scope({node.name: node for node in fixed if node is not None}, [])
        arguments = [
            argument._replace(name=self.frozen.name(argument.name)) for argument in function.inputs
        ]
        given = [
            Reference(argument.name if node is None else node.name)
            for argument, node in zip(arguments, fixed, strict=True)
        ]
        body.results = self.inline(function, body, name.attributes, given)
        kept = [argument for argument, node in zip(arguments, fixed, strict=True) if node is None]
        own_name = self.frozen.name(name.name)
        frozen = FrozenFunction(own_name, tuple(kept), function.outputs, body)
        self._specialized[key] = self.frozen.functions[own_name] = frozen
        return frozen

    def fixed_node(self, given: Reference, scope: Scope) -> Node | None:
        """Return the node of a variable's value or of a table, if that is what a tensor is."""
        if given.node in self.variables or given.node in self.table_nodes:
            return scope.nodes[given.node]
        return None

    # -- tables --------------------------------------------------------------------------------

    def _initialize(self, frozen: FrozenGraph) -> None:
        """Add the nodes that fill tables."""
        graph, name = self.source.initializer, self.source.initializer_node
        self.is_initializing = True
        scope = Scope({}, [])
        used = {*self.tables}
        if graph is not None:
            given = self.source.initializer_signature
            definitions = nodes_of(graph.nodes, self.where)
            names = [name] if name else [*definitions]
            if given is not None:
                infos = {key: info for key, info in given.outputs.items() if info.names}
                targets = [reference_of(info.names[0], self.where) for info in infos.values()]
                results = self.expand(definitions, targets, {}, scope)
                scope.results += results
                frozen.initializer_signature = Signature(
                    given.inputs,
                    {
                        key: info._replace(names=(str(result),))
                        for (key, info), result in zip(infos.items(), results, strict=True)
                    },
                )
            else:
                self.expand(definitions, [], {}, scope, roots=names)
        for table in used & {*self.source.tables}:
            keys, values = self.source.tables[table]()
            self._fill(scope, self._table(scope, self.tables[table]), keys, values)
        if scope.results:
            frozen.initializer = scope

    def table(self, scope: Scope, node: Node) -> Reference:
        """Add a node of a table; nodes of one table have one name in all scopes."""
        label = str(node.attributes.get("shared_name") or node.name)
        if self.source.tables.get(node.name) is not None:
            label = node.name
        if label not in self.tables:
            name = self.frozen.name(node.name)
            attributes = {**node.attributes, "shared_name": name}
            self.tables[label] = Node(name, _TABLES[node.op], (), (), attributes)
        return self._table(scope, self.tables[label])

    def _table(self, scope: Scope, node: Node) -> Reference:
        scope.nodes[node.name] = node
        self.table_nodes.add(node.name)
        return Reference(node.name)

    def fill_from_file(self, scope: Scope, node: Node, table: Reference, path: Reference) -> None:
        """Fill a table with the lines of a file of the model."""
        texts = self.frozen.constants.get(path.node)
        if texts is None or str(texts.dtype) != "string" or texts.size != 1:
            raise ModelFormatError(f"{self.where}: node {node.name!r:.200} names no file")
        (file,) = texts.bytes_sync()
        dtypes = [
            str(scope.nodes[table.node].attributes.get(name))
            for name in ("key_dtype", "value_dtype")
        ]
        data = self.source.read_asset(file.decode())
        keys, values = rows_of_file(data, dtypes, node, self.where, self.source.budget)
        self._fill(scope, table, keys, values)

    def _fill(self, scope: Scope, table: Reference, keys: Tensor, values: Tensor) -> None:
        inputs = (
            table,
            self.frozen.add_constant(scope, f"{table.node}/keys", keys),
            self.frozen.add_constant(scope, f"{table.node}/values", values),
        )
        name = self.frozen.name(f"{table.node}/import")
        types = {
            "Tin": ElementType(str(keys.dtype)),
            "Tout": ElementType(str(values.dtype)),
        }
        scope.nodes[name] = Node(name, "LookupTableImportV2", inputs, (), types)
        scope.results.append(Reference(name))


class _Copying:
    """Copies the nodes of a graph or of a function's body into a scope."""

    def __init__(
        self,
        freezing: _Freezing,
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
        """Copy a node, or put others in its place."""
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
        is_kept = [freezing.fixed_node(given, self.scope) is None for given in inputs[skipped:]]
        if node.op in _LOOPS and not all(is_kept):
            self._check_fixed(node, inputs, functions[-1].scope.results)
            functions[-1].drop_results(is_kept)
            numbers = iter(range(len(is_kept)))
            self.outputs[node.name] = [
                Reference(name, next(numbers)) if kept else given
                for given, kept in zip(inputs, is_kept, strict=True)
            ]
        dtypes: list[list[AttributeValue]] = [
            [ElementType(argument.dtype) for argument in arguments]
            for arguments in (functions[-1].inputs, functions[-1].outputs)
        ]
        attributes |= dict(zip(lists, dtypes, strict=False))
        if "output_shapes" in attributes:
            attributes["output_shapes"] = []
        kept_inputs = [given for given, kept in zip(inputs[skipped:], is_kept, strict=True) if kept]
        return [*inputs[:skipped], *kept_inputs]

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
            given != result and self.freezing.fixed_node(given, self.scope) is not None
            for given, result in zip(inputs, results, strict=True)
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
        is_fixed = [freezing.fixed_node(given, scope) is not None for given in inputs[skipped:]]
        name = freezing.frozen.name(node.name)
        new_name = freezing.frozen.name
        freezing.source.budget.spend_items(_LOWERED_NODES * len(inputs), freezing.where)
        if node.op in _LOOPS:
            dtypes = [argument.dtype for argument in functions[-1].inputs]
            return lowered_loop(scope, name, new_name, inputs, dtypes, is_fixed, *inlines)
        return lowered_branch(scope, name, new_name, inputs[0], inputs[1:], is_fixed, inlines)

    # -- rules ---------------------------------------------------------------------------------

    def constant(self, node: Node, _: list[Reference]) -> list[Reference]:
        """Copy a constant, with its value."""
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
        known = self.scope.variables
        shared = str(node.attributes.get("shared_name") or node.name)
        if shared not in known:
            original = _COPY.sub("", node.name)
            name = original if original in freezing.handles else node.name
            value = freezing.source.variable(node)
            known[shared] = freezing.frozen.add_constant(self.scope, name, value)
            freezing.variables.add(known[shared].node)
        return [known[shared]]

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
        is_fixed = [freezing.fixed_node(given, scope) is not None for given in inputs[1:]]

        return self._chosen(node, inputs[0], is_fixed, branches, 0, inputs[1:])

    def _chosen(
        self,
        node: Node,
        choice: Reference,
        is_fixed: Sequence[bool],
        branches: Sequence[Callable[[Sequence[Reference]], list[Reference]]],
        index: int,
        arguments: Sequence[Reference],
    ) -> list[Reference]:
        """Copy the nodes of a branch, taken if ``choice`` is its index, and of all that follow."""
        freezing, scope = self.freezing, self.scope
        freezing.source.budget.spend_items(_LOWERED_NODES * (len(arguments) + 1), freezing.where)
        if index + 1 == len(branches):
            return branches[index](arguments)
        value = tensor(index, dtype="int32")
        number = freezing.frozen.add_constant(scope, f"{node.name}/{index}", value)
        name = freezing.frozen.name(f"{node.name}/Equal")
        kind = {"T": ElementType("int32")}
        scope.nodes[name] = Node(name, "Equal", (choice, number), (), kind)
        others = partial(self._chosen, node, choice, is_fixed, branches, index + 1)
        pair = [branches[index], others]
        new_name = freezing.frozen.name
        return lowered_branch(scope, name, new_name, Reference(name), arguments, is_fixed, pair)

    def nothing(self, node: Node, inputs: list[Reference]) -> list[Reference]:
        """Leave out what has no outputs."""
        return []


_Rule = Callable[[_Copying, Node, list[Reference]], list[Reference]]
#: What is put in the place of a node, by its operation.
_RULES: dict[str, _Rule] = {
    "Const": _Copying.constant,
    "Placeholder": _Copying.placeholder,
    "AssignVariableOp": _Copying.assignment,
    "Assign": _Copying.assignment,
    "ResourceGather": _Copying.rows_of_variable,
    "ResourceGatherNd": _Copying.points_of_variable,
    **dict.fromkeys(("Case", "StatelessCase"), _Copying.case),
    **dict.fromkeys(_VARIABLES, _Copying.variable),
    **dict.fromkeys(_TABLES, _Copying.table),
    **dict.fromkeys(_FILE_FILLINGS, _Copying.file_filling),
    **dict.fromkeys(_CALLS, _Copying.call),
    **dict.fromkeys(_EFFECTS, _Copying.nothing),
}


def _components(key: str, info: TensorInfo) -> Iterable[tuple[str, str]]:
    """Return the names of an input's or output's tensors, of which sparse ones have three."""
    if len(info.names) == 1:
        return [(key, info.names[0])]
    return [(f"{key}_{index}", name) for index, name in enumerate(info.names)]
