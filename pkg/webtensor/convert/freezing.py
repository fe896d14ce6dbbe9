"""Freezing: variables become constants, called functions a part of what calls them.

Nodes are copied from the graph into scopes as far as the outputs need them. On the way, whatever
only hands a tensor on disappears, and names become unique among all scopes, because the values of
constants are found by name. Loops and branches keep their functions, which get the values of
variables instead of their handles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from webtensor.convert.control_flow import InlineFunctions
from webtensor.convert.copying import ALIASES, DEBUG_ALIASES, TABLES, VARIABLES, Copying
from webtensor.convert.graphs import (
    FrozenFunction,
    FrozenGraph,
    GraphSource,
    Scope,
    has_old_control_flow,
)
from webtensor.convert.table_files import rows_of_file
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.graph_def import (
    AttributeValue,
    ElementType,
    FunctionDef,
    FunctionName,
    Signature,
    TensorInfo,
)
from webtensor.graph.nodes import Node, Nodes, Reference, nodes_of, reference_of
from webtensor.graph.ordering import ordered
from webtensor.graph.unique_names import node_name

__all__ = ["freeze"]

_READINGS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
#: Operations that draw by themselves, for those that draw by a key and a counter.
_RANDOM = {
    "StatelessRandomNormalV2": "RandomStandardNormal",
    "StatelessRandomUniformIntV2": "RandomUniformInt",
    "StatelessRandomUniformV2": "RandomUniform",
    "StatelessTruncatedNormalV2": "TruncatedNormal",
}
#: Functions may call functions to this depth.
_MAX_CALLS = 50


def freeze(source: GraphSource, strip_debug: bool = True) -> FrozenGraph:
    """Return the nodes that compute the outputs of a graph.

    Args:
        source: the graph.
        strip_debug: whether operations that only print or check are left out.

    Raises:
        ModelFormatError: a node, a function or a value is missing, or the graph assigns variables.
    """
    return Freezing(source, strip_debug).run()


class Freezing:
    """A graph that is being frozen, with what was found out about it so far."""

    def __init__(self, source: GraphSource, strip_debug: bool) -> None:
        self.source, self.where = source, source.label
        self.aliases = ALIASES | (DEBUG_ALIASES if strip_debug else frozenset())
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
        self.handles = {node.name for node in source.graph.nodes if node.op in VARIABLES}

    def run(self) -> FrozenGraph:
        """Freeze the graph and its initializer."""
        signature = self.source.signature
        nodes = nodes_of(self.source.graph.nodes, self.where)
        frozen, main = self.frozen, self.frozen.main
        names = self._names_of(signature)
        fed, inputs = self._inputs(signature, names, nodes, main)
        definitions = {node.name: node for node in self.source.graph.nodes}
        targets: list[Reference] = []
        outputs: dict[str, TensorInfo] = {}
        for key, info in signature.outputs.items():
            for part, tensor_name in _components(key, info):
                targets.append(reference_of(tensor_name, self.where, definitions))
                is_whole = len(info.names) == 1
                shape = info.shape if is_whole else None
                name = next(names)
                outputs[part] = TensorInfo((f"{name}:0",), info.dtype if is_whole else "", shape)
        main.results = self.expand(nodes, targets, fed, main)
        frozen.signature = Signature(inputs, outputs, signature.method)
        self._initialize(frozen)
        return frozen

    def _names_of(self, signature: Signature) -> Iterator[str]:
        """Return the names of the nodes of inputs and outputs; those that nodes may have stay."""
        parts = [
            part
            for side in (signature.inputs, signature.outputs)
            for key, info in side.items()
            for part, _ in _components(key, info)
        ]
        changed = [node_name(part) != part for part in parts]
        order = sorted(range(len(parts)), key=changed.__getitem__)
        names = {index: self.frozen.name(parts[index]) for index in order}
        return (names[index] for index in range(len(parts)))

    def _inputs(
        self, signature: Signature, names: Iterator[str], nodes: Nodes, main: Scope
    ) -> tuple[dict[str, Reference], dict[str, TensorInfo]]:
        """Add a placeholder for each input, and return what they feed, and their signature."""
        fed: dict[str, Reference] = {}
        infos: dict[str, TensorInfo] = {}
        for key, info in signature.inputs.items():
            for part, tensor_name in _components(key, info):
                reference = reference_of(tensor_name, self.where)
                node = nodes.get(reference.node)
                if node is None or reference.output:
                    raise ModelFormatError(f"{self.where}: there is no input {tensor_name!r:.200}")
                name = next(names)
                tensor_info = info if len(info.names) == 1 else TensorInfo((), "", None)
                dtype = ElementType(node.attributes.get("dtype", info.dtype))
                declared = node.attributes.get("shape")
                shape = declared if isinstance(declared, tuple) else tensor_info.shape
                attributes: dict[str, AttributeValue] = {"dtype": dtype, "shape": shape}
                main.nodes[name] = Node(name, "Placeholder", (), (), attributes)
                fed[reference.node] = Reference(name)
                self.frozen.shapes[fed[reference.node]] = shape
                infos[part] = TensorInfo((f"{name}:0",), dtype, shape, tensor_info.resource_id)
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
        nodes = self._drawing_anew(nodes, arguments)
        has_branches = has_old_control_flow(nodes.values())
        names = [*roots, *(target.node for target in targets)]
        order = ordered(
            nodes,
            names,
            self.where,
            fed=arguments,
            follows_controls=self.is_initializing or has_branches,
        )
        self._refuse_states(nodes, order, arguments)
        copying = Copying(self, scope, arguments, attributes or {}, has_branches)
        self.source.budget.spend_items(len(order) + 1, self.where)
        for node in order:
            if not copying.disappears(node):
                copying.names[node.name] = self.frozen.name(node.name)
        for node in order:
            copying.copy(node)
        self._depth -= 1
        return [copying.resolved(target) for target in targets]

    def _drawing_anew(self, nodes: Nodes, arguments: Mapping[str, Reference]) -> Nodes:
        """Let random operations draw by themselves whose key depends on an assigned variable."""
        assigned = {
            reference.node
            for node in nodes.values()
            if node.op.startswith("Assign")
            for reference in node.inputs[:1]
        }
        if assigned.isdisjoint(arguments):
            return nodes
        changed: Nodes = {}
        for node in nodes.values():
            if node.op not in _RANDOM or len(node.inputs) < 4:
                continue
            shape, key, _counter, _algorithm, *limits = node.inputs
            sources = ordered(nodes, [key.node], self.where, fed=arguments)
            self.source.budget.spend_items(len(sources), self.where)
            if any(value.node in assigned for source in sources for value in source.inputs):
                attributes = {"dtype": ElementType("float32"), **node.attributes}
                changed[node.name] = Node(
                    node.name, _RANDOM[node.op], (shape, *limits), node.controls, attributes
                )
        return nodes | changed

    def _refuse_states(
        self, nodes: Nodes, order: Iterable[Node], arguments: Mapping[str, Reference]
    ) -> None:
        """Refuse a function that assigns a variable and needs its value."""
        if self.is_initializing:
            return
        read = {node.inputs[0].node for node in order if node.op in _READINGS and node.inputs}
        for node in nodes.values():
            variables = {reference.node for reference in node.inputs[:1]} & read
            if node.op.startswith("Assign") and variables & {*arguments}:
                raise ModelFormatError(
                    f"{self.where}: node {node.name!r:.200} assigns a variable that the outputs "
                    "need, but graph models have none"
                )

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
            argument.name: reference
            for argument, reference in zip(function.inputs, inputs, strict=True)
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
        fixed = tuple(self.fixed_node(reference, scope) for reference in inputs)
        key = (name.name, tuple("" if node is None else node.name for node in fixed))
        if key in self._specialized:
            return self._specialized[key]
        body = Scope({node.name: node for node in fixed if node is not None}, [])
        arguments = [
            argument._replace(name=self.frozen.name(argument.name)) for argument in function.inputs
        ]
        references = [
            Reference(argument.name if node is None else node.name)
            for argument, node in zip(arguments, fixed, strict=True)
        ]
        body.results = self.inline(function, body, name.attributes, references)
        varying = [
            argument for argument, node in zip(arguments, fixed, strict=True) if node is None
        ]
        own_name = self.frozen.name(name.name)
        frozen = FrozenFunction(own_name, tuple(varying), function.outputs, body)
        self._specialized[key] = self.frozen.functions[own_name] = frozen
        return frozen

    def fixed_node(self, reference: Reference, scope: Scope) -> Node | None:
        """Return the node of a variable's value or of a table, if that is what a tensor is."""
        if reference.node in self.variables or reference.node in self.table_nodes:
            return scope.nodes[reference.node]
        return None

    # -- tables --------------------------------------------------------------------------------

    def _initialize(self, frozen: FrozenGraph) -> None:
        """Add the nodes that fill tables."""
        graph, name = self.source.initializer, self.source.initializer_node
        self.is_initializing = True
        scope = Scope({}, [])
        used = {*self.tables}
        if graph is not None:
            signature = self.source.initializer_signature
            definitions = nodes_of(graph.nodes, self.where)
            names = [name] if name else [*definitions]
            if signature is not None:
                infos = {key: info for key, info in signature.outputs.items() if info.names}
                targets = [reference_of(info.names[0], self.where) for info in infos.values()]
                results = self.expand(definitions, targets, {}, scope)
                scope.results += results
                frozen.initializer_signature = Signature(
                    signature.inputs,
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
            self.tables[label] = Node(name, TABLES[node.op], (), (), attributes)
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


def _components(key: str, info: TensorInfo) -> Iterable[tuple[str, str]]:
    """Return the names of an input's or output's tensors, of which sparse ones have three."""
    if len(info.names) == 1:
        return [(key, info.names[0])]
    return [(f"{key}_{index}", name) for index, name in enumerate(info.names)]
