"""Opens models of all formats, and says of each what is in it.

`FORMATS` has the formats that are one file. Folders and `model.json` with its shards are models of
TensorFlow.js, of either kind.
"""

import gc
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import js
import pyodide_js
from pyodide.ffi import to_js

import webtensor as wt
from webtensor import keras
from webtensor.formats import onnx, tflite
from webtensor.formats.model_artifacts import ModelArtifacts
from webtensor.graph import ModelTensor
from webtensor.shapes import prod

#: None in versions that do not read these files.
_LOAD_TFLITE: Any = getattr(wt, "load_tflite", None)

Tensors = list[wt.Tensor]
Run = Callable[[Tensors], Awaitable[Tensors]]
Artifacts = Callable[[], Awaitable[ModelArtifacts]]
Progress = Callable[[float], object]


@dataclass
class OpenModel:
    """A model that computes.

    Attributes:
        format: the name of its format.
        inputs: its inputs.
        outputs: its outputs.
        operations: how many there are of each operation, layers for a model of layers.
        weights: the shapes of its weights.
        run: computes the outputs from the inputs, both in their order.
        close: gives its memory back.
        size: the number of bytes of its file, or of its files of weights.
        artifacts: loads its files again, for TensorFlow.js; None where that cannot read them.
    """

    format: str
    inputs: list[ModelTensor]
    outputs: list[ModelTensor]
    operations: Mapping[str, int]
    weights: list[tuple[int, ...]]
    run: Run
    close: Callable[[], None]
    size: int = 0
    artifacts: Artifacts | None = field(default=None, repr=False)

    @property
    def parameters(self) -> int:
        """The number of elements of all weights."""
        return sum(map(prod, self.weights))


# -- models of graphs ----------------------------------------------------------------------------


def _graph_model(
    model: Any, format: str, operations: Mapping[str, int], weights: list[tuple[int, ...]]
) -> OpenModel:
    """Return an open model for one of a graph, whose class has the methods of `wt.GraphModel`."""
    inputs, outputs = list(model.inputs), list(model.outputs)

    async def run(tensors: Tensors) -> Tensors:
        named = {spec.name: value for spec, value in zip(inputs, tensors, strict=True)}
        results = await model.execute_async(named)
        return results if isinstance(results, list) else [results]

    return OpenModel(format, inputs, outputs, operations, weights, run, model.dispose)


def _open_onnx(path: Path) -> OpenModel:
    description = onnx.read_onnx(path.read_bytes(), path.name)
    if description.external_files:
        raise wt.ModelFormatError(
            f"{path.name}: weights are in {description.external_files[0]!r:.200}; this page opens "
            "ONNX models that are one file"
        )
    weights = [tensor.shape for tensor in description.graph.initializers.values()]
    operations = Counter(node.op for node in _onnx_nodes(description.graph))
    return _graph_model(wt.load_onnx(path), "ONNX", operations, weights)


def _onnx_nodes(graph: onnx.Graph) -> Iterator[onnx.Node]:
    """Yield the nodes of a graph, and of the graphs in their attributes."""
    for node in graph.nodes:
        yield node
        for value in node.attributes.values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, onnx.Graph):
                    yield from _onnx_nodes(part)


def _open_tflite(path: Path) -> OpenModel:
    description = tflite.read_tflite(path.read_bytes(), path.name)
    weights = [
        tensor.shape
        for graph in description.subgraphs
        for tensor in graph.tensors
        if tensor.data is not None
    ]
    operations = Counter(
        operator.op for graph in description.subgraphs for operator in graph.operators
    )
    return _graph_model(_LOAD_TFLITE(path), "TensorFlow Lite", operations, weights)


# -- models of layers ----------------------------------------------------------------------------


def _open_keras(path: Path) -> OpenModel:
    format = "Keras, HDF5" if path.suffix in (".h5", ".hdf5") else "Keras"
    return _keras_model(keras.saving.load_model(path, compile=False), format)


def _keras_model(model: Any, format: str) -> OpenModel:
    """Return an open model for one of layers."""
    models = [model]  # emptied by `close`, as the model lives as long as something refers to it
    inputs = _symbols(model, "input")

    async def run(tensors: Tensors) -> Tensors:
        given = keras.tree.pack_sequence_as(models[0].input, tensors) if inputs else tensors[0]
        batch = max(tensors[0].shape[0], 1) if tensors[0].shape else None
        results = await models[0].predict_async(given, batch_size=batch, verbose=0)
        return list(keras.tree.flatten(results))

    def close() -> None:
        models.clear()
        gc.collect()

    return OpenModel(
        format,
        inputs or [ModelTensor("input", None, "float32")],
        _symbols(model, "output"),
        Counter(type(layer).__name__ for layer in _layers(model)),
        [tuple(variable.shape) for variable in model.weights],
        run,
        close,
    )


def _symbols(model: Any, side: str) -> list[ModelTensor]:
    """Return the inputs or outputs; none where a sequential model does not know them yet."""
    with suppress(AttributeError, ValueError):
        names, symbols = getattr(model, f"{side}_names"), getattr(model, f"{side}s")
        return [
            ModelTensor(name, tuple(symbol.shape), str(symbol.dtype))
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
    """A format whose models are one file."""

    endings: tuple[str, ...]
    open: Callable[[Path], OpenModel]


FORMATS = [
    Format((".keras",), _open_keras),
    Format((".h5", ".hdf5"), _open_keras),
    Format((".onnx",), _open_onnx),
    *([Format((".tflite",), _open_tflite)] if _LOAD_TFLITE else []),
]
OPENERS = {ending: format.open for format in FORMATS for ending in format.endings}


def is_model_file(name: str) -> bool:
    """Whether a file of this name is a whole model."""
    return PurePath(name).suffix.lower() in OPENERS


async def open_file(name: str, blob: Any) -> OpenModel:
    """Open a model that is one file, given as a `Blob`.

    Raises:
        ModelFormatError: the file is broken, or has operations that are unknown.
    """
    content = js.Uint8Array.new(await blob.arrayBuffer())
    path = Path(name)
    pyodide_js.FS.writeFile(name, content, to_js({"canOwn": True}))
    try:
        model = OPENERS[path.suffix.lower()](path)
    finally:
        path.unlink()
    model.size = int(content.length)
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
        model = _graph_model(
            graph,
            "TensorFlow.js graph model",
            Counter(str(node["op"]) for node in _graph_nodes(topology)),
            [tensor.shape for tensors in graph.weights.values() for tensor in tensors],
        )
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
