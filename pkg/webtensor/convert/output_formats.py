"""The formats that models are converted to, and how their files are written.

Files are written completely or not at all: into a folder or a file beside the target, which then
gets its name.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from webtensor.convert.folding import fold_constants, fuse_nodes, prune
from webtensor.convert.freezing import freeze
from webtensor.convert.graph_model_writing import graph_model_artifacts
from webtensor.convert.graphs import FrozenGraph, GraphSource
from webtensor.convert.input_formats import Source, format_named
from webtensor.convert.report import Counts, tensorflow_js_lacks
from webtensor.convert.traced_models import source_of_keras
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.files import write_file
from webtensor.formats.model_json import MODEL_JSON, SHARD_BYTES, model_files
from webtensor.graph.compilation import unknown_operations
from webtensor.graph.custom_operations import CUSTOM_OPERATIONS
from webtensor.graph.hash_tables import table_rows
from webtensor.graph.operations import OPERATIONS
from webtensor.io.weights import QuantizationPatterns
from webtensor.keras.models import Model
from webtensor.keras.saving.layers_model.artifacts import artifacts_of

__all__ = ["OUTPUT_FORMATS", "OutputFormat", "WriteOptions", "check_target", "output_format_of"]


@dataclass(frozen=True)
class WriteOptions:
    """How a model is written.

    Attributes:
        quantization: for "float16", "uint8" or "uint16" patterns of the names of weights.
        shard_bytes: the largest size of a file of weights.
        strip_debug: whether operations that only print or check are left out.
        skip_operation_check: whether operations are kept that nothing computes.
        metadata: what is added to the model's own metadata.
        on_step: called with the name of each step.
    """

    quantization: QuantizationPatterns | None = None
    shard_bytes: int = SHARD_BYTES
    strip_debug: bool = True
    skip_operation_check: bool = False
    metadata: Mapping[str, Any] | None = None
    on_step: Callable[[str], None] = lambda step: None


class OutputFormat(NamedTuple):
    """A format that models are converted to.

    Attributes:
        name: what users call it.
        description: a few words for the list of formats.
        takes: what it is made of, a graph or a Keras model; by default the first of them becomes
            this format.
        suffix: the suffix of the file, or "" for a folder.
        write: writes a model to a path, and returns what happened to its nodes.
    """

    name: str
    description: str
    takes: tuple[type[GraphSource] | type[Model], ...]
    suffix: str
    write: Callable[[Any, Path, WriteOptions], Counts]


def output_format_of(source: Source, target: Path, name: str | None = None) -> OutputFormat:
    """Return the format that a model becomes.

    Args:
        source: the model.
        target: where it is written.
        name: the name of the format; None is that of the target's suffix, else a folder for pages.

    Raises:
        ValueError: there is no such format, or the model cannot become one.
    """
    if name is None:
        fitting = [row for row in OUTPUT_FORMATS if isinstance(source, row.takes[0])]
        by_suffix = [row for row in OUTPUT_FORMATS if row.suffix and row.suffix == target.suffix]
        name = (by_suffix or fitting)[0].name
    row = format_named("output_format", name, OUTPUT_FORMATS)
    if not isinstance(source, row.takes):
        raise ValueError(
            f"a graph cannot become a {name}: it has no layers; write a tfjs_graph_model"
        )
    return row


def check_target(target: Path, row: OutputFormat, overwrite: bool) -> None:
    """Refuse to write over what is no model, and over a model unless ``overwrite``.

    Raises:
        FileExistsError: there is something already.
    """
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not overwrite:
        raise FileExistsError(f"{target} exists already; overwrite=True (--overwrite) replaces it")
    is_file = bool(row.suffix)
    if is_file != target.is_file():
        raise FileExistsError(f"{target} is {'a folder' if is_file else 'a file'}; it stays")
    others = [] if is_file else [path.name for path in target.iterdir() if not _is_of_model(path)]
    if others:
        raise FileExistsError(
            f"{target} has files that belong to no model, such as {min(others)!r:.100}; it stays"
        )


def _is_of_model(path: Path) -> bool:
    return path.is_file() and (path.name == MODEL_JSON or path.suffix == ".bin")


# -- formats -----------------------------------------------------------------------------------


def _write_graph_model(source: GraphSource | Model, target: Path, options: WriteOptions) -> Counts:
    if isinstance(source, Model):
        options.on_step("tracing")
        source = source_of_keras(source, f"model {source.name!r:.100}")
    frozen, folded, fused, needed = _reduced(source, options)
    options.on_step("encoding weights")
    artifacts = graph_model_artifacts(frozen, source, options.quantization)
    _add_metadata(artifacts, options.metadata)
    options.on_step("writing")
    _write_whole_folder(target, model_files(artifacts, shard_bytes=options.shard_bytes))
    bodies = (len(function.nodes) for function in source.graph.functions.values())
    read = len(source.graph.nodes) + sum(bodies)
    operations = {node.op for scope in frozen.scopes for node in scope.nodes.values()}
    return Counts(read, needed, folded, fused, frozen.node_count, tensorflow_js_lacks(operations))


def _reduced(source: GraphSource, options: WriteOptions) -> tuple[FrozenGraph, int, int, int]:
    """Return what the outputs need of a graph, and how many nodes were folded, fused and needed."""
    with reading(source.label):
        options.on_step("freezing")
        frozen = freeze(source, options.strip_debug)
        _check_operations(frozen, source, options)
        needed = frozen.node_count
        options.on_step("folding constants")
        folded = fold_constants(frozen, source.label)
        options.on_step("fusing")
        fused = fuse_nodes(frozen, source.label)
        prune(frozen, source.label)
    return frozen, folded, fused, needed


def _check_operations(frozen: FrozenGraph, source: GraphSource, options: WriteOptions) -> None:
    rows = {**OPERATIONS, **table_rows({}), **CUSTOM_OPERATIONS}
    nodes = [node for scope in frozen.scopes for node in scope.nodes.values()]
    unknown = unknown_operations(nodes, (), rows)
    if unknown and not options.skip_operation_check:
        listed = f"{', '.join(unknown):.300}"
        raise ModelFormatError(
            f"{source.label} has operations that are unknown: {listed}; "
            "skip_operation_check=True keeps them for register_graph_op"
        )


def _write_layers_model(model: Model, target: Path, options: WriteOptions) -> Counts:
    options.on_step("encoding weights")
    artifacts = artifacts_of(model, False, options.quantization)
    _add_metadata(artifacts, options.metadata)
    options.on_step("writing")
    _write_whole_folder(target, model_files(artifacts, shard_bytes=options.shard_bytes))
    return Counts()


def _write_keras(model: Model, target: Path, options: WriteOptions) -> Counts:
    if options.quantization:
        raise ValueError("files of Keras have no quantized weights; write a tfjs_layers_model")
    if options.metadata:
        raise ValueError("files of Keras have no place for metadata; write a tfjs_layers_model")
    options.on_step("writing")
    model.save(target)
    return Counts()


def _add_metadata(artifacts: Any, metadata: Mapping[str, Any] | None) -> None:
    if metadata:
        artifacts.user_defined_metadata = {
            **(artifacts.user_defined_metadata or {}),
            **metadata,
        }


def _write_whole_folder(target: Path, files: Iterable[tuple[str, Buffer]]) -> None:
    """Write files into a new folder, which then takes the target's place."""
    target = target.absolute()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    target.parent.mkdir(parents=True, exist_ok=True)
    part.mkdir()
    try:
        for name, data in files:
            write_file(part / name, lambda opened, data=data: opened.write(data))  # type: ignore[misc]
        if target.exists():
            target.replace(old)
        try:
            part.replace(target)
        except OSError:
            if old.exists():
                old.replace(target)
            raise
    finally:
        for folder in (part, old):
            shutil.rmtree(folder, ignore_errors=True)


OUTPUT_FORMATS: tuple[OutputFormat, ...] = (
    OutputFormat(
        "tfjs_graph_model",
        "a graph-model of TensorFlow.js, a folder",
        (GraphSource, Model),
        "",
        _write_graph_model,
    ),
    OutputFormat(
        "tfjs_layers_model",
        "a layers-model of TensorFlow.js, a folder",
        (Model,),
        "",
        _write_layers_model,
    ),
    OutputFormat("keras", "a model of Keras 3 (.keras)", (Model,), ".keras", _write_keras),
    OutputFormat("keras_h5", "a model of Keras in HDF5 (.h5)", (Model,), ".h5", _write_keras),
)
