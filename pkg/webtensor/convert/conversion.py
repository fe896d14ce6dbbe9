"""Converting a model from a path to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from webtensor.convert.input_formats import ReadOptions, format_named, format_of, size_of
from webtensor.convert.input_shapes import InputShapes
from webtensor.convert.output_formats import (
    OUTPUT_FORMATS,
    WriteOptions,
    check_target,
    output_format_of,
)
from webtensor.convert.report import ConversionReport
from webtensor.formats.model_json import SHARD_BYTES
from webtensor.io.weights import QuantizationPatterns

__all__ = ["convert_model"]


def convert_model(
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    input_format: str | None = None,
    output_format: str | None = None,
    tags: Sequence[str] | None = None,
    signature: str | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    input_shapes: InputShapes | None = None,
    quantization: QuantizationPatterns | None = None,
    shard_bytes: int = SHARD_BYTES,
    strip_debug: bool = True,
    skip_operation_check: bool = False,
    metadata: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    on_step: Callable[[str], None] | None = None,
) -> ConversionReport:
    """Convert a model of TensorFlow, Keras, ONNX or TensorFlow.js, without any of these.

    A graph is reduced to what its outputs need: variables become constants, constants are computed,
    batch normalization goes into filters, biases and activations into products. A model that has no
    graph of TensorFlow's operations runs a few times, and what it computes becomes the graph. The
    files are written completely or not at all.

    Args:
        source: the path of the model, a file or a folder.
        target: the path of what it becomes: a folder for pages, or a file that ends with
            ``.keras`` or ``.h5``.
        input_format: the name of the model's format; None is what its files look like.
        output_format: the name of the format that it becomes, "tfjs_graph_model",
            "tfjs_layers_model", "keras" or "keras_h5"; None is the one that fits.
        tags: the tags of the graph in a SavedModel; None is the only graph, or that with "serve".
        signature: the key of a signature of a SavedModel, None is the only one or
            "serving_default"; or of a model of TensorFlow Lite, None is the first one.
        inputs: the names of the inputs of a frozen graph; None are its placeholders.
        outputs: the names of the outputs: of a frozen graph, None are the tensors that no node
            needs; of an ONNX model, None are all that it has.
        input_shapes: the shapes of inputs of an ONNX model that declares unknown sizes, by their
            names, in which None stays unknown; for a model that takes only some sizes, or whose
            graph is to be smaller.
        quantization: which weights are stored in fewer bytes: for "float16", "uint8" or "uint16" a
            pattern of names such as ``"*/kernel"``, a list of patterns, or True for those that
            match none.
        shard_bytes: the largest size of a file of weights, in bytes.
        strip_debug: whether operations that only print or check are left out.
        skip_operation_check: whether operations are kept that graph models do not have, for which
            the page calls ``register_graph_op``.
        metadata: values of JSON by their keys, which are added to the model's own metadata.
        overwrite: whether a model at the target is replaced.
        on_step: called with the name of each step.

    Returns:
        What happened to the model's nodes and bytes.

    Raises:
        FileExistsError: there is something at the target.
        FileNotFoundError: there is no such model.
        ModelFormatError: the file is no model or a broken one, or the model has operations that
            graph models do not have, or what it computes depends on the values of its inputs.
        TypeError: a size of an input is no integer.
        ValueError: there is no format of that name, the model cannot become what is wanted, a
            weight cannot be quantized so, or an input cannot have such a shape.

    Example:
        >>> import tempfile
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> folder = tempfile.mkdtemp()
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> model.save(f"{folder}/model.keras")
        >>> report = wt.convert_model(f"{folder}/model.keras", f"{folder}/web")
        >>> report.output_format
        'tfjs_layers_model'
        >>> keras.saving.load_layers_model(f"{folder}/web").output_shape
        (None, 1)
    """
    source_path, target_path = Path(source), Path(target)
    step = on_step or (lambda name: None)
    if output_format is not None:  # before the model is read, which may take long
        format_named("output_format", output_format, OUTPUT_FORMATS)
    step("reading")
    row = format_of(source_path, input_format)
    for argument, value, names in (
        ("input_shapes", input_shapes, ["onnx"]),
        ("inputs", inputs, ["tf_frozen_model"]),
        ("outputs", outputs, ["tf_frozen_model", "onnx"]),
    ):
        if value and row.name not in names:
            raise ValueError(
                f"convert_model: {argument} are for {' and '.join(names)}, "
                f"but {source_path} is {row.name}"
            )
    read_options = ReadOptions(tags, signature, inputs, outputs, input_shapes or {})
    model = row.read(source_path, read_options)
    input_bytes = size_of(source_path)
    written = output_format_of(model, target_path, output_format)
    check_target(target_path, written, overwrite)
    options = WriteOptions(
        quantization, shard_bytes, strip_debug, skip_operation_check, metadata, step
    )
    counts = written.write(model, target_path, options)
    return ConversionReport(
        str(source_path),
        str(target_path),
        row.name,
        written.name,
        input_bytes,
        size_of(target_path),
        counts,
    )
