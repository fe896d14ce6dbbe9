"""Opens models of all formats, and says of each what is in it.

`FORMATS` has the formats that are one file, save for the weights of ONNX. Folders and `model.json`
with its shards are models of TensorFlow.js, of either kind.
"""

import gc
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import js
import pyodide_js
from pyodide.ffi import to_js
from specifications import Specification

import webtensor as wt
from webtensor import keras
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.shapes import prod

if TYPE_CHECKING:
    from webtensor.formats.onnx import Node

Tensors = list[wt.Tensor]
Run = Callable[[Tensors], Awaitable[Tensors]]
Artifacts = Callable[[], Awaitable[ModelArtifacts]]
#: Files by their names without folders, each a JavaScript `Blob`.
Blobs = Mapping[str, Any]


class Contents(NamedTuple):
    """What a model is made of.

    Attributes:
        operations: how many there are of each operation; of each layer, for a model of layers.
        weights: the shapes of its weights.
    """

    operations: Mapping[str, int]
    weights: list[tuple[int, ...]]

    @property
    def parameters(self) -> int:
        """The number of elements of all weights."""
        return sum(map(prod, self.weights))


@dataclass
class OpenModel:
    """A model that computes.

    Attributes:
        format: the name of its format.
        inputs: its inputs.
        outputs: its outputs.
        contents: what it is made of.
        run: computes the outputs from the inputs, both in their order.
        close: gives its memory back.
        size: the number of bytes of its file, or of its files of weights.
        artifacts: loads its files again, for TensorFlow.js; None where that cannot read them.
    """

    format: str
    inputs: list[Specification]
    outputs: list[Specification]
    contents: Contents
    run: Run
    close: Callable[[], None]
    size: int = 0
    artifacts: Artifacts | None = None


# -- models of graphs ----------------------------------------------------------------------------


def _graph_model(model: Any, format: str, contents: Contents) -> OpenModel:
    """Return an open model for one of a graph, whose class has the methods of `wt.GraphModel`."""
    inputs = [Specification(*spec) for spec in model.inputs]
    outputs = [Specification(*spec) for spec in model.outputs]

    async def run(tensors: Tensors) -> Tensors:
        named = {spec.name: value for spec, value in zip(inputs, tensors, strict=True)}
        results = await model.execute_async(named)
        return results if isinstance(results, list) else [results]

    return OpenModel(format, inputs, outputs, contents, run, model.dispose)


async def _open_onnx(path: Path, other_files: Blobs) -> OpenModel:
    from webtensor.formats.onnx import read_onnx  # loaded when it is used, as the next one

    description = read_onnx(path.read_bytes(), path.name)
    files = {
        name: await _external(name, path.name, other_files) for name in description.external_files
    }
    contents = Contents(
        Counter(node.op for node in _onnx_nodes(description.graph.nodes)),
        [tensor.shape for tensor in description.graph.initializers.values()],
    )
    model = _graph_model(wt.load_onnx(path, files), "ONNX", contents)
    model.size = sum(map(len, files.values()))
    return model


async def _external(name: str, label: str, other_files: Blobs) -> bytes:
    """Return the content of a file with weights; browsers do not always know files' folders."""
    blob = other_files.get(PurePath(name).name)
    if blob is None:
        raise wt.ModelFormatError(
            f"{label}: weights are in the file {name!r:.200}, which is missing; drop or choose it "
            "together with the model"
        )
    content: bytes = (await blob.arrayBuffer()).to_bytes()
    return content


def _onnx_nodes(nodes: "Iterable[Node]") -> "Iterator[Node]":
    """Yield the nodes of a graph, and those of the graphs in their attributes."""
    for node in nodes:
        yield node
        for value in node.attributes.values():
            for part in value if isinstance(value, tuple) else (value,):
                yield from _onnx_nodes(getattr(part, "nodes", ()))


async def _open_tflite(path: Path, _: Blobs) -> OpenModel:
    contents = _tflite_contents(path)
    return _graph_model(wt.load_tflite(path), "TensorFlow Lite", contents)


def _tflite_contents(path: Path) -> Contents:
    from webtensor.formats.tflite import read_tflite

    graphs = read_tflite(path.read_bytes(), path.name).subgraphs
    tensors = [tensor for graph in graphs for tensor in graph.tensors]
    return Contents(
        Counter(operator.op for graph in graphs for operator in graph.operators),
        [tensor.shape for tensor in tensors if tensor.data is not None],
    )


# -- models of layers ----------------------------------------------------------------------------


async def _open_keras(path: Path, _: Blobs) -> OpenModel:
    format = "Keras, HDF5" if path.suffix in (".h5", ".hdf5") else "Keras"
    return _keras_model(keras.saving.load_model(path, compile=False), format)


def _keras_model(model: Any, format: str) -> OpenModel:
    """Return an open model for one of layers."""
    models = [model]  # emptied by `close`, as the model lives as long as something refers to it
    inputs = _symbols(model, "input")

    async def run(tensors: Tensors) -> Tensors:
        batch = keras.tree.pack_sequence_as(models[0].input, tensors) if inputs else tensors[0]
        return list(keras.tree.flatten(models[0].predict_on_batch(batch)))

    def close() -> None:
        models.clear()
        gc.collect()

    return OpenModel(
        format,
        inputs or [Specification("input", None, "float32")],
        _symbols(model, "output"),
        Contents(
            Counter(type(layer).__name__ for layer in _layers(model)),
            [tuple(variable.shape) for variable in model.weights],
        ),
        run,
        close,
    )


def _symbols(model: Any, side: str) -> list[Specification]:
    """Return the inputs or outputs; none where a sequential model does not know them yet."""
    with suppress(AttributeError, ValueError):
        names, symbols = getattr(model, f"{side}_names"), getattr(model, f"{side}s")
        return [
            Specification(name, tuple(symbol.shape), str(symbol.dtype))
            for name, symbol in zip(names, symbols, strict=True)
        ]
    return []


def _layers(model: Any) -> Iterator[Any]:
    """Yield the layers of a model, and in place of nested models theirs."""
    for layer in model.layers:
        if hasattr(layer, "layers"):
            yield from _layers(layer)
        else:
            yield layer


# -- files ---------------------------------------------------------------------------------------


class Format(NamedTuple):
    """A format whose models are one file; those of ONNX may name others that have weights."""

    endings: tuple[str, ...]
    open: Callable[[Path, Blobs], Awaitable[OpenModel]]


FORMATS = [
    Format((".keras",), _open_keras),
    Format((".h5", ".hdf5"), _open_keras),
    Format((".onnx",), _open_onnx),
    Format((".tflite",), _open_tflite),
]
OPENERS = {ending: format.open for format in FORMATS for ending in format.endings}


def is_model_file(name: str) -> bool:
    """Whether a file of this name is a whole model."""
    return PurePath(name).suffix.lower() in OPENERS


async def open_file(name: str, blob: Any, other_files: Blobs) -> OpenModel:
    """Open a model that is one file, given as a `Blob`, or that has weights in other files.

    Raises:
        ModelFormatError: the file is broken, or has operations that are unknown, or another file
            is missing.
    """
    content = js.Uint8Array.new(await blob.arrayBuffer())
    path = Path(name)
    pyodide_js.FS.writeFile(name, content, to_js({"canOwn": True}))
    try:
        model = await OPENERS[path.suffix.lower()](path, other_files)
    finally:
        path.unlink()
    model.size += int(content.length)
    return model


async def open_web_model(artifacts: Artifacts) -> OpenModel:
    """Open a model of TensorFlow.js: a graph, or layers.

    Raises:
        ModelFormatError: a file is missing or broken, or there are operations that are unknown.
        OSError: a file cannot be read.
    """
    parts = await artifacts()
    source = wt.io.from_memory(parts)
    topology = parts.model_topology
    if isinstance(topology, Mapping) and "node" in topology:
        graph = wt.load_graph_model(source)
        contents = Contents(
            Counter(str(node["op"]) for node in _graph_nodes(topology)),
            [tensor.shape for tensors in graph.weights.values() for tensor in tensors],
        )
        model = _graph_model(graph, "TensorFlow.js graph model", contents)
    else:
        layers = await keras.saving.load_layers_model_async(source, compile=False)
        model = _keras_model(layers, "TensorFlow.js layers-model")
    model.size = parts.weight_size
    model.artifacts = artifacts
    return model


def _graph_nodes(topology: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    yield from topology["node"]
    for function in (topology.get("library") or {}).get("function") or ():
        yield from function.get("nodeDef") or ()
