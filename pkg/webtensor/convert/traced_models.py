"""Models of Keras, ONNX and TensorFlow Lite as graphs of what they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from webtensor.convert.graphs import GraphSource
from webtensor.convert.input_shapes import InputShapes, fixed_shapes
from webtensor.convert.recording import Recorder, TracedInput, TracedModel, Unknown
from webtensor.convert.tracing import traced_graph
from webtensor.engine import Tensor
from webtensor.errors import ModelFormatError
from webtensor.formats.budgets import Budget, reading
from webtensor.formats.element_types import Buffer
from webtensor.formats.onnx import TensorType, read_onnx
from webtensor.graph.blocks import Block, Reads, compute, finish
from webtensor.graph.operations.arguments import dtype_name
from webtensor.graph.unique_names import UniqueNames
from webtensor.keras.models import Model
from webtensor.keras.models.functional import operation_of
from webtensor.keras.names import current_path
from webtensor.keras.symbols import KerasTensor
from webtensor.nest import flatten, pack
from webtensor.onnx.model import OnnxModel
from webtensor.tflite.model import TFLiteModel

__all__ = ["source_of_keras", "source_of_onnx", "source_of_quantized_tflite"]


def source_of_keras(model: Model, label: str) -> GraphSource:
    """Return the graph of a model of Keras.

    Args:
        model: the model.
        label: what errors call it.

    Raises:
        ModelFormatError: no graph computes what it does, or it does not say what its inputs are.
    """
    symbols: Any = getattr(model, "inputs", None)
    outputs: Any = getattr(model, "outputs", None)
    if not symbols or not outputs:
        raise ModelFormatError(
            f"{label}: model {model.name!r:.200} does not say what its inputs are; build it first"
        )
    inputs = [
        TracedInput(
            name,
            str(symbol.dtype),
            tuple(
                ("batch" if axis == 0 else Unknown(name, axis)) if size is None else size
                for axis, size in enumerate(symbol.shape)
            ),
        )
        for name, symbol in zip(_names(symbols), symbols, strict=True)
    ]

    def run(tensors: Sequence[Tensor], recorder: Recorder) -> list[Tensor]:
        recorder.place = lambda: current_path().partition("/")[2]
        return flatten(model(pack(model.input, [*tensors]), training=False))

    values = [(variable.path, variable.value) for variable in model.variables]
    size = sum(value.storage.nbytes for _, value in values)
    return traced_graph(
        TracedModel(
            label,
            inputs,
            _names(outputs),
            run,
            Budget(label, size),
            {id(value.storage): path for path, value in values},
        )
    )


def _names(symbols: Sequence[KerasTensor]) -> list[str]:
    """Return the names of the layers of tensors, with a number where one comes again."""
    layers = [operation_of(symbol).name for symbol in symbols]
    names = UniqueNames(layers)
    first = dict(zip(reversed(layers), reversed(range(len(layers))), strict=True))
    return [
        layer if first[layer] == index else names.new(layer) for index, layer in enumerate(layers)
    ]


# -- models of steps -----------------------------------------------------------------------------


def source_of_onnx(
    data: Buffer,
    label: str,
    files: Mapping[str, Buffer],
    shapes: InputShapes,
    outputs: Sequence[str] | None = None,
) -> GraphSource:
    """Return the graph of an ONNX model.

    Its inputs and outputs keep their names, but nodes have none with ":" (see ``node_name``).

    Args:
        data: the bytes of the file.
        label: what errors call it.
        files: the contents of the files that have its external tensors, by their paths.
        shapes: the shapes of inputs that declare unknown sizes, by their names.
        outputs: the names of the outputs that the graph has; None are all.

    Raises:
        ModelFormatError: it is no such model, no graph computes what it does, it does not say the
            ranks of its inputs, or it has no such output.
        ValueError: a shape contradicts what the model declares.
    """
    budget = Budget(label, len(data) + sum(map(len, files.values())))
    described = read_onnx(data, label)
    model = OnnxModel(described, label, files)
    kinds = {
        value.name: value.type
        for value in described.graph.inputs
        if value.name not in described.graph.initializers
    }
    declared = {
        name: kind.shape if isinstance(kind, TensorType) else None for name, kind in kinds.items()
    }
    inputs = []
    for name, shape in fixed_shapes(label, declared, shapes).items():
        kind = kinds[name]
        if not isinstance(kind, TensorType) or shape is None:
            advice = "; input_shapes can give it one" if isinstance(kind, TensorType) else ""
            raise ModelFormatError(f"{label}: the input {name!r:.200} has no known rank{advice}")
        inputs.append(_input(label, name, kind.dtype, shape))
    names, metadata = [*dict.fromkeys(outputs or model.output_names)], dict(model.metadata)
    for name in names:
        if name not in model.output_names:
            raise ModelFormatError(f"{label}: there is no output {name!r:.200}")
    source = traced_graph(_traced(label, inputs, names, model.block(names), budget, metadata))
    model.dispose()
    return source


def source_of_quantized_tflite(model: TFLiteModel, label: str, budget: Budget) -> GraphSource:
    """Return the graph of a model of TensorFlow Lite that has quantized tensors.

    Its inputs and outputs are the integers of the file, as int32. The model is disposed.

    Args:
        model: the model.
        label: what errors call it.
        budget: limits what writing the graph may cost.

    Raises:
        ModelFormatError: no graph computes what it does.
    """
    signature = model.model_signature
    assert signature is not None
    inputs = [
        _input(label, name, info.dtype, info.shape or ()) for name, info in signature.inputs.items()
    ]
    source = traced_graph(_traced(label, inputs, [*signature.outputs], model.block(), budget))
    model.dispose()
    return source


def _traced(
    label: str,
    inputs: Sequence[TracedInput],
    outputs: Sequence[str],
    block: Block,
    budget: Budget,
    metadata: Mapping[str, str] | None = None,
) -> TracedModel:
    """Return a model that runs the steps of a graph."""
    weights = {
        id(value.storage): reference.node
        for reference, value in zip(block.references, block.initial, strict=True)
        if isinstance(value, Tensor)
    }
    run = partial(_run, block)
    return TracedModel(label, inputs, outputs, run, budget, weights, metadata or None)


def _run(block: Block, tensors: Sequence[Tensor], recorder: Recorder) -> list[Tensor]:
    """Run the steps of a graph; the recorder gets the name of the node of each."""
    results: list[Tensor] = finish(_steps(block, tensors, recorder))
    return results


def _steps(block: Block, tensors: Sequence[Tensor], recorder: Recorder) -> Reads:
    values = block.initial.copy()
    for slot, value in zip(block.feeds, tensors, strict=True):
        values[slot] = value
    for step, releases in zip(block.steps, block.releases, strict=True):
        recorder.place = partial(str, step.node.name)
        yield from compute(step, values, block.where)
        for slot in releases:
            values[slot] = None
    return [values[slot] for slot in block.fetches]


def _input(label: str, name: str, dtype: str, shape: Sequence[int | str | None]) -> TracedInput:
    """Return an input, in whose shape each unknown size stands for itself."""
    with reading(f"{label}: input {name!r:.200}"):
        kind = dtype_name(dtype)
    sizes = tuple(
        Unknown(name, axis) if size is None or size == -1 else size
        for axis, size in enumerate(shape)
    )
    return TracedInput(name, kind, sizes)
