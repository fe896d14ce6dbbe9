"""TensorFlow's SavedModels: a folder with a graph, its variables' values and further files.

The graph itself says which of its variables has which value: its restore operation assigns tensors
of the checkpoint, by their key, to variables. These assignments are followed, through functions
where there are some; nothing is run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from typing import NamedTuple, Protocol, TypeAlias

from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.checkpoint import Checkpoint, read_checkpoint
from webtensor.formats.element_types import Buffer, Elements
from webtensor.formats.files import Folder
from webtensor.formats.graph_def import (
    FunctionName,
    Graph,
    NodeDef,
    Signature,
    TensorValue,
    graph_of_message,
    signature_of_message,
)
from webtensor.formats.paths import path_beside
from webtensor.formats.protobuf import Message
from webtensor.formats.tensorflow_messages import SCHEMA

__all__ = ["Files", "SavedModel", "TableSource", "read_saved_model"]

_GRAPH_FILE = "saved_model.pb"
_CHECKPOINT = "variables/variables"
#: Signatures that are none: the operations that initialize tables, and that train.
_INITIALIZER, _TRAINER = "__saved_model_init_op", "__saved_model_train_op"
#: Where older files name the operation that initializes tables, the preferred one first.
_INITIALIZER_COLLECTIONS = ("saved_model_main_op", "legacy_init_op")
#: Calls of functions in functions are followed to this depth.
_MAX_CALLS = 16


class Files(Protocol):
    """Files by their path, such as those of a folder or an archive."""

    @property
    def names(self) -> Collection[str]:
        """The paths of all files, with slashes."""

    def read(self, name: str, /) -> Buffer:
        """Return the contents of a file."""


class TableSource(NamedTuple):
    """The keys in the checkpoint of a table's keys and of its values."""

    keys: str
    values: str


@dataclass(frozen=True)
class SavedModel:
    """A model as TensorFlow saves it.

    Attributes:
        label: what errors call it.
        tags: what its graph is for, such as "serve".
        version: the version of TensorFlow that wrote it.
        graph: its graph.
        signatures: inputs and outputs of the graph, by the name of the signature.
        initializer: the name of the node that must run first, to fill tables, or "".
        variables: the key in the checkpoint for the name of each variable's node.
        tables: the keys in the checkpoint for the name of each node of a table that is there.
        assets: the path of a file for the name of each tensor whose value that path is.
        files: the model's files.
        budget: limits what reading may cost.
    """

    label: str
    tags: tuple[str, ...]
    version: str
    graph: Graph
    signatures: Mapping[str, Signature]
    initializer: str
    variables: Mapping[str, str]
    tables: Mapping[str, TableSource]
    assets: Mapping[str, str]
    files: Files = field(repr=False)
    budget: Budget = field(repr=False)

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The values of variables, of which there are none in a frozen graph.

        Raises:
            ModelFormatError: the index is broken.
        """
        index = f"{_CHECKPOINT}.index"
        if index not in self.files.names:
            return Checkpoint({}, self.files.read, self.label, self.budget)
        where = f"{self.label}: {index}"
        contents = self.files.read(index)
        return read_checkpoint(contents, self._read_shard, where, self.budget)

    def _read_shard(self, name: str) -> Buffer:
        path = f"{_CHECKPOINT}.{name}"
        if path not in self.files.names:
            raise ModelFormatError(f"{self.label} has no file {path!r}")
        return self.files.read(path)

    def variable(self, node: NodeDef) -> Elements:
        """Return the value of the variable of a node.

        Raises:
            ModelFormatError: it is missing or broken.
        """
        key = self.variables.get(node.name)
        if key is None:
            # Files without a restore operation call variables by their names.
            shared_name = node.attributes.get("shared_name")
            key = shared_name if isinstance(shared_name, str) and shared_name else node.name
            if key not in self.checkpoint.entries:
                raise ModelFormatError(
                    f"{self.label}: there is no value of the variable {node.name!r:.200}"
                )
        return self.checkpoint.elements(key)

    def asset(self, tensor: str) -> Buffer:
        """Return the contents of the file whose path is the value of a tensor.

        Raises:
            ModelFormatError: there is no such tensor or file.
        """
        path = self.assets.get(tensor)
        if path is None or path not in self.files.names:
            raise ModelFormatError(f"{self.label} has no file {path or tensor!r:.200}")
        return self.files.read(path)


def read_saved_model(
    source: str | PathLike[str] | Mapping[str, Buffer] | Files,
    label: str = "",
    *,
    tags: Collection[str] | None = None,
    budget: Budget | None = None,
) -> SavedModel:
    """Return the SavedModel in a folder; values of variables are read when they are needed.

    Args:
        source: the folder's path, or files by their path; all may lie in one folder of these.
        label: what errors call it.
        tags: those of the graph; None is the only graph, or that with the tag "serve".
        budget: limits what reading may cost; None is that of files of this size.

    Raises:
        ModelFormatError: a file is missing or broken, or no graph has these tags.

    Example:
        >>> graph = {"node": [{"name": "x", "op": "Placeholder"}]}
        >>> data = SCHEMA.encode("SavedModel", {"meta_graphs": [{"graph_def": graph}]})
        >>> read_saved_model({"saved_model.pb": data}).graph.nodes[0].name
        'x'
    """
    files = _files(source)
    label = label or (fspath(source) if isinstance(source, (str, PathLike)) else "the SavedModel")
    if _GRAPH_FILE not in files.names:
        raise ModelFormatError(f"{label} has no file {_GRAPH_FILE!r}")
    data = files.read(_GRAPH_FILE)
    where = f"{label}: {_GRAPH_FILE}"
    budget = budget or Budget(label, len(data))
    message = SCHEMA.decode("SavedModel", data, where, budget)
    with reading(where):
        return _saved_model(_meta_graph(message, tags, where), files, label, where, budget)


def _saved_model(
    message: Message, files: Files, label: str, where: str, budget: Budget
) -> SavedModel:
    graph = graph_of_message(message["graph_def"], where, budget)
    signatures = {
        name: signature_of_message(signature, f"{where}: signature {name!r:.200}", budget)
        for name, signature in message["signature_def"].items()
    }
    variables, tables = variable_sources(graph, message["saver_def"]["restore_op_name"], budget)
    return SavedModel(
        label,
        tuple(message["meta_info_def"]["tags"]),
        message["meta_info_def"]["tensorflow_version"],
        graph,
        {key: value for key, value in signatures.items() if key not in (_INITIALIZER, _TRAINER)},
        _initializer(message, signatures),
        variables,
        tables,
        dict(_assets(message, where, budget)),
        files,
        budget,
    )


# -- files -------------------------------------------------------------------------------------


class _FilesInFolder:
    """Files of a mapping, or of other files, that lie in a folder."""

    def __init__(self, files: Mapping[str, Buffer] | Files, folder: str) -> None:
        self._files, self._folder = files, folder
        paths = files if isinstance(files, Mapping) else files.names
        self.names = {path.removeprefix(folder) for path in paths if path.startswith(folder)}

    def read(self, name: str) -> Buffer:
        path = self._folder + name
        return self._files[path] if isinstance(self._files, Mapping) else self._files.read(path)


def _files(source: str | PathLike[str] | Mapping[str, Buffer] | Files) -> Files:
    files = Folder(source) if isinstance(source, (str, PathLike)) else source
    paths = files if isinstance(files, Mapping) else files.names
    folders = [
        path.removesuffix(_GRAPH_FILE) for path in paths if f"/{path}".endswith(f"/{_GRAPH_FILE}")
    ]
    return _FilesInFolder(files, min(folders, key=len, default=""))


# -- parts of the message ----------------------------------------------------------------------


def _meta_graph(message: Message, tags: Collection[str] | None, where: str) -> Message:
    """Return the graph with some tags."""
    graphs: list[Message] = list(message["meta_graphs"])
    if tags is None and len(graphs) == 1:
        return graphs[0]
    expected = {"serve"} if tags is None else {*tags}
    for graph in graphs:
        if {*graph["meta_info_def"]["tags"]} == expected:
            return graph
    available = ", ".join(repr(list(graph["meta_info_def"]["tags"])) for graph in graphs)
    raise ModelFormatError(
        f"{where}: no graph has the tags {sorted(expected)}; there are {available or 'none'}"
    )


def _initializer(message: Message, signatures: Mapping[str, Signature]) -> str:
    """Return the name of the node that must run before others, or ""."""
    names: list[str] = []
    if _INITIALIZER in signatures:
        names += [name for info in signatures[_INITIALIZER].outputs.values() for name in info.names]
    for collection in _INITIALIZER_COLLECTIONS:
        if collection in message["collection_def"]:
            names += message["collection_def"][collection]["node_list"]["value"]
    return names[0].partition(":")[0] if names else ""


def _assets(message: Message, where: str, budget: Budget) -> Iterator[tuple[str, str]]:
    """Yield tensors that are paths of files, and these paths."""
    collection = message["collection_def"].get("saved_model_assets")
    older = [
        SCHEMA.decode("AssetFileDef", item["value"], where, budget)
        for item in (collection["any_list"]["value"] if collection is not None else ())
    ]
    for asset in (*older, *message["asset_file_def"]):
        path = path_beside(asset["filename"], f"{where}: an asset")
        yield asset["tensor_info"]["name"], f"assets/{path}"


# -- variables ---------------------------------------------------------------------------------


class _Restored(NamedTuple):
    """A tensor of the checkpoint, by its key."""

    key: str


#: A tensor of the checkpoint, a node of the main graph by its name, or something else.
_Source: TypeAlias = _Restored | str | None


class _Scope(NamedTuple):
    """The nodes of a graph or a function, and what its arguments are."""

    nodes: Mapping[str, NodeDef]
    arguments: Mapping[str, _Source]
    is_main: bool


def variable_sources(
    graph: Graph, restore: str, budget: Budget
) -> tuple[dict[str, str], dict[str, TableSource]]:
    """Return the keys in the checkpoint of the variables' and the tables' nodes.

    Args:
        graph: the graph.
        restore: the name of the node that restores them, or "".
        budget: limits what following the assignments may cost.
    """
    tracer = _Tracer(graph, budget)
    tracer.follow(restore)
    tracer.follow_initial_values()
    return tracer.variables, tracer.tables


class _Tracer:
    def __init__(self, graph: Graph, budget: Budget) -> None:
        self.graph, self.budget = graph, budget
        self.variables: dict[str, str] = {}
        self.tables: dict[str, TableSource] = {}

    def follow(self, restore: str) -> None:
        """Follow the assignments of the nodes that run before a node, and of itself."""
        scope = _Scope({node.name: node for node in self.graph.nodes}, {}, True)
        waiting, visited = [restore], {restore}
        while waiting:
            node = scope.nodes.get(waiting.pop())
            if node is None:
                continue
            self.assignment(node, scope, 0)
            for name in map(_node_name, node.inputs):
                if name not in visited:
                    visited.add(name)
                    waiting.append(name)

    def follow_initial_values(self) -> None:
        """Record the values of variables that only copies of them restore, as Keras 3 saves them.

        The copy's initial value is that of the variable, which is read once.
        """
        nodes = {node.name: node for node in self.graph.nodes}
        for node in self.graph.nodes:
            if node.op != "AssignVariableOp" or len(node.inputs) < 2:
                continue
            copy, value = map(_node_name, node.inputs[:2])
            reader = nodes.get(value)
            if copy in self.variables and reader is not None and reader.op == "ReadVariableOp":
                for variable in map(_node_name, reader.inputs[:1]):
                    self.variables.setdefault(variable, self.variables[copy])

    def assignment(self, node: NodeDef, scope: _Scope, depth: int) -> None:
        """Record what a node assigns; of a call, what its function's nodes assign."""
        self.budget.spend_items(1)
        sources = [self.source(name, scope) for name in node.inputs if not name.startswith("^")]
        match node.op, sources:
            case (("Assign" | "AssignVariableOp"), [str(variable), _Restored(key), *_]):
                self.variables[variable] = key
            case "LookupTableImportV2", [str(table), _Restored(keys), _Restored(values)]:
                self.tables[table] = TableSource(keys, values)
            case (("PartitionedCall" | "StatefulPartitionedCall"), _) if depth < _MAX_CALLS:
                self.call(node, sources, depth)

    def call(self, node: NodeDef, sources: list[_Source], depth: int) -> None:
        """Record what the nodes of a called function assign."""
        name = node.attributes.get("f")
        if not isinstance(name, FunctionName) or name.name not in self.graph.functions:
            return
        function = self.graph.functions[name.name]
        names = [argument.name for argument in function.inputs]
        nodes = {inner.name: inner for inner in function.nodes}
        scope = _Scope(nodes, dict(zip(names, sources, strict=False)), False)
        for inner in function.nodes:
            self.assignment(inner, scope, depth + 1)

    def source(self, tensor: str, scope: _Scope) -> _Source:
        """Return the tensor of the checkpoint that a tensor is, or the main graph's node."""
        for _ in range(len(scope.nodes) + 1):
            self.budget.spend_items(1)
            name = _node_name(tensor)
            if name in scope.arguments:
                return scope.arguments[name]
            node = scope.nodes.get(name)
            if node is None:
                return None
            if node.op == "RestoreV2" and len(node.inputs) > 1:
                return self.restored(tensor, node, scope)
            if node.op != "Identity" or not node.inputs:
                return name if scope.is_main else None
            tensor = node.inputs[0]
        return None

    def restored(self, tensor: str, node: NodeDef, scope: _Scope) -> _Restored | None:
        """Return the tensor of the checkpoint that is an output of a node."""
        constant = scope.nodes.get(_node_name(node.inputs[1]))
        value = constant.attributes.get("value") if constant is not None else None
        index = tensor.rpartition(":")[2] if ":" in tensor else "0"
        if not isinstance(value, TensorValue) or not isinstance(value.data, tuple):
            return None
        if not index.isdecimal() or len(index) > 9 or int(index) >= len(value.data):
            return None
        return _Restored(value.data[int(index)].decode())


def _node_name(tensor: str) -> str:
    """Return the name of the node in the name of a tensor."""
    return tensor.removeprefix("^").partition(":")[0]
