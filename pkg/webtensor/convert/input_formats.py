"""The formats that are converted, and how their files are recognized and read.

``INPUT_FORMATS`` is the table: a format that the converter is to read is one more row. What is read
is either a graph (``GraphSource``) or a Keras model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from webtensor import io, keras
from webtensor.convert.graph_models import source_of_graph_model
from webtensor.convert.graphs import GraphSource
from webtensor.convert.input_shapes import InputShapes
from webtensor.convert.safetensors_models import (
    is_safetensors_model,
    read_safetensors_model,
)
from webtensor.convert.saved_models import source_of_graph, source_of_saved_model
from webtensor.convert.tflite_models import source_of_tflite
from webtensor.convert.traced_models import source_of_onnx
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, parse_json
from webtensor.formats.files import label_of, path_beside, read_bytes
from webtensor.formats.graph_def import read_graph
from webtensor.formats.model_json import MODEL_JSON, weight_groups
from webtensor.formats.onnx import read_onnx
from webtensor.formats.saved_model import read_saved_model
from webtensor.keras.models import Model

__all__ = [
    "INPUT_FORMATS",
    "InputFormat",
    "ReadOptions",
    "Source",
    "format_named",
    "format_of",
    "size_of",
]

Source: TypeAlias = GraphSource | Model
_SAVED_MODEL = "saved_model.pb"


@dataclass(frozen=True)
class ReadOptions:
    """What is wanted of a model's files.

    Attributes:
        tags: those of the graph of a SavedModel; None is the only graph, or that with "serve".
        signature: the signature of a SavedModel, None is the only one or "serving_default"; or of
            a model of TensorFlow Lite, None is the first one.
        inputs: the inputs of a frozen graph; None are its placeholders.
        outputs: the outputs: of a frozen graph, None are the tensors that no node needs; of an
            ONNX model, None are all that it has.
        input_shapes: the shapes of inputs of an ONNX model.
    """

    tags: Sequence[str] | None = None
    signature: str | None = None
    inputs: Sequence[str] | None = None
    outputs: Sequence[str] | None = None
    input_shapes: InputShapes = field(default_factory=dict)


class InputFormat(NamedTuple):
    """A format that is converted.

    Attributes:
        name: what users call it.
        description: a few words for the list of formats.
        matches: whether a path looks like a model of this format.
        read: returns the model at a path.
    """

    name: str
    description: str
    matches: Callable[[Path], bool]
    read: Callable[[Path, ReadOptions], Source]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Format = TypeVar("_Format", bound=_Named)


def format_of(path: Path, name: str | None = None) -> InputFormat:
    """Return the format of the model at a path.

    Args:
        path: the file or the folder.
        name: the name of the format, where the path does not tell.

    Raises:
        FileNotFoundError: there is no such path.
        ModelFormatError: the path looks like no model.
        ValueError: there is no format of that name.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
    if name is not None:
        return format_named("input_format", name, INPUT_FORMATS)
    for row in INPUT_FORMATS:
        if row.matches(path):
            return row
    names = ", ".join(row.name for row in INPUT_FORMATS)
    raise ModelFormatError(f"{path} looks like no model; name its format, one of {names}")


def format_named(argument: str, name: str, formats: Sequence[_Format]) -> _Format:
    """Return the format that an argument of ``convert_model`` names.

    Raises:
        ValueError: there is no such format.
    """
    rows = {row.name: row for row in formats}
    if name not in rows:
        raise ValueError(
            f"convert_model: {argument} must be one of {', '.join(rows)}, but got {name!r}"
        )
    return rows[name]


def size_of(path: Path) -> int:
    """Return the number of bytes of a folder's files, or of a file and those that it names."""
    folder = path.parent if path.name == _SAVED_MODEL else path
    if folder.is_dir():
        return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    files = [path]
    if path.suffix == ".json":
        label = label_of(path)
        manifest = parse_json(path.read_bytes(), label).get("weightsManifest", [])
        names = (name for group in weight_groups(manifest, label) for name in group.paths)
        files += [path_beside(path, name) for name in names]
    return sum(file.stat().st_size for file in files)


# -- formats -----------------------------------------------------------------------------------


def _is_saved_model(path: Path) -> bool:
    return path.name == _SAVED_MODEL or (path / _SAVED_MODEL).is_file()


def _saved_model(path: Path, options: ReadOptions) -> Source:
    folder = path.parent if path.is_file() else path
    model = read_saved_model(folder, tags=options.tags)
    return source_of_saved_model(model, options.signature)


def _frozen_graph(path: Path, options: ReadOptions) -> Source:
    data = read_bytes(path)
    label = label_of(path)
    budget = Budget(label, len(data))
    graph = read_graph(data, label, budget)
    return source_of_graph(graph, label, budget, inputs=options.inputs, outputs=options.outputs)


def _tflite(path: Path, options: ReadOptions) -> Source:
    return source_of_tflite(read_bytes(path), label_of(path), options.signature)


def _onnx(path: Path, options: ReadOptions) -> Source:
    data, label = read_bytes(path), label_of(path)
    names = read_onnx(data, label).external_files
    files = {name: read_bytes(path_beside(path, name)) for name in names}
    return source_of_onnx(data, label, files, options.input_shapes, options.outputs)


def _keras_model(path: Path, _: ReadOptions) -> Source:
    return keras.models.load_model(path, compile=False)


def _json_of(path: Path) -> Path:
    return path / MODEL_JSON if path.is_dir() else path


def _has_format(path: Path, name: str) -> bool:
    """Whether there is a ``model.json`` that says that it is of a format."""
    file = _json_of(path)
    if file.suffix != ".json" or not file.is_file():
        return False
    fields = parse_json(file.read_bytes(), label_of(file))
    if not isinstance(fields, dict):
        return False
    topology = fields.get("modelTopology")
    is_graph = isinstance(topology, dict) and "node" in topology
    return bool(fields.get("format", "graph-model" if is_graph else "layers-model") == name)


def _graph_model(path: Path, _: ReadOptions) -> Source:
    return source_of_graph_model(io.load_artifacts(str(_json_of(path))))


def _layers_model(path: Path, _: ReadOptions) -> Source:
    return keras.saving.load_layers_model(str(_json_of(path)), compile=False)


INPUT_FORMATS: tuple[InputFormat, ...] = (
    InputFormat(
        "tf_saved_model", "a SavedModel of TensorFlow, a folder", _is_saved_model, _saved_model
    ),
    InputFormat(
        "tf_frozen_model",
        "a frozen graph of TensorFlow (.pb)",
        lambda path: path.is_file() and path.suffix == ".pb",
        _frozen_graph,
    ),
    InputFormat(
        "tflite",
        "a model of TensorFlow Lite (.tflite)",
        lambda path: path.is_file() and path.suffix == ".tflite",
        _tflite,
    ),
    InputFormat(
        "onnx",
        "an ONNX model (.onnx)",
        lambda path: path.is_file() and path.suffix == ".onnx",
        _onnx,
    ),
    InputFormat(
        "keras", "a model of Keras 3 (.keras)", lambda path: path.suffix == ".keras", _keras_model
    ),
    InputFormat(
        "keras_h5",
        "a model of Keras in HDF5 (.h5, .hdf5)",
        lambda path: path.is_file() and path.suffix in (".h5", ".hdf5"),
        _keras_model,
    ),
    InputFormat(
        "keras_safetensors",
        "config.json of Keras, and variables in model.safetensors",
        is_safetensors_model,
        lambda path, _: read_safetensors_model(path),
    ),
    InputFormat(
        "tfjs_graph_model",
        "a graph-model of TensorFlow.js (model.json)",
        lambda path: _has_format(path, "graph-model"),
        _graph_model,
    ),
    InputFormat(
        "tfjs_layers_model",
        "a layers-model of TensorFlow.js (model.json)",
        lambda path: _has_format(path, "layers-model"),
        _layers_model,
    ),
)
