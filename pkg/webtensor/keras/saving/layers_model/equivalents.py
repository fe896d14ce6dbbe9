"""Layers and arguments that TensorFlow.js lacks, as layers of it that compute the same.

Whatever has no equivalent is refused, also where TensorFlow.js has the layer but computes something
else.
"""

from __future__ import annotations

from collections.abc import Iterable

from webtensor.keras.layers import RNN, Bidirectional, GlobalAveragePooling1D
from webtensor.keras.layers.merging import Concatenate, Maximum, Merge, Minimum, Multiply
from webtensor.keras.masks import mask_of
from webtensor.keras.nodes import Node, Operation
from webtensor.keras.types import Config, Shape
from webtensor.nest import flatten

__all__ = ["check_masks", "equivalent", "lacking"]

#: The arguments that all layers have.
_COMMON = ("name", "trainable", "dtype")


def lacking(class_name: str, config: Config, part: str) -> ValueError:
    """Return the error about a part of a layer that TensorFlow.js does not have."""
    return ValueError(
        f"TensorFlow.js has no {part:.200} of {class_name}, which layer {config.get('name')!r} has"
    )


def equivalent(class_name: str, config: Config, shape: Shape) -> tuple[str, Config]:
    """Return the class and the arguments of a layer that computes the same in TensorFlow.js.

    The shape is that of its inputs, or () where it is unknown.

    Raises:
        ValueError: there is no such layer.
    """
    common = {name: config[name] for name in _COMMON if name in config}
    rank = len(shape)
    if class_name.startswith("Global") and config.get("keepdims"):
        is_last = config["data_format"] == "channels_last"
        sizes = shape[1:-1] if is_last else shape[2:]
        if not sizes or None in sizes:
            raise lacking(class_name, config, "keepdims=True for inputs of unknown size")
        pool = {"pool_size": sizes, "strides": sizes, "padding": "valid"}
        return class_name.removeprefix("Global"), {
            **common, **pool, "data_format": config["data_format"]
        }  # fmt: skip
    if class_name == "ReLU" and config["max_value"] is None:
        slope, threshold = config["negative_slope"], config["threshold"]
        if slope and not threshold:
            return "LeakyReLU", {**common, "negative_slope": slope}
        if threshold and not slope:
            return "ThresholdedReLU", {**common, "theta": threshold}
    if class_name == "Flatten" and rank in (1, 2):
        return "Reshape", {**common, "target_shape": [*shape[1:]] if rank == 2 else [1]}
    if class_name == "CenterCrop":
        return "Cropping2D", {**common, **_center_crop(config, shape)}
    if class_name == "PReLU" and config["shared_axes"]:
        axes = [axis if axis > 0 else axis + rank - 1 for axis in config["shared_axes"]]
        return class_name, {**config, "shared_axes": axes}
    _check(class_name, config, shape)
    return class_name, config


def _center_crop(config: Config, shape: Shape) -> Config:
    is_last = config["data_format"] == "channels_last"
    cropping = []
    sizes = shape[-3:-1] if is_last else shape[-2:]
    for name, size in zip(("height", "width"), sizes, strict=False):
        excess = -1 if size is None else size - config[name]
        if excess < 0:
            raise lacking("CenterCrop", config, f"{name}={config[name]} for inputs of size {size}")
        cropping.append([excess // 2, excess - excess // 2])
    return {"cropping": cropping, "data_format": config["data_format"]}


def _check(class_name: str, config: Config, shape: Shape) -> None:
    """Refuse a layer of which TensorFlow.js computes something else, or nothing."""
    rank = len(shape)
    if class_name == "Resizing":
        raise ValueError(
            f"TensorFlow.js has a layer Resizing, of which {config.get('name')!r} is one, but it "
            "fails in each of its models"
        )
    if class_name in ("BatchNormalization", "Softmax"):
        axes = flatten(config["axis"])
        if len(axes) == 1 and axes[0] not in (-1, rank - 1):
            raise lacking(class_name, config, f"axis={axes[0]}")
        if class_name == "BatchNormalization" and rank > 4:
            raise lacking(class_name, config, f"inputs of {rank} dimensions")
    if (
        class_name == "Conv3DTranspose"
        and config["padding"] == "same"
        and any(map(int.__gt__, config["strides"], config["kernel_size"]))
    ):
        raise lacking(class_name, config, "strides larger than kernel_size")
    if class_name == "Bidirectional" and config["layer"]["class_name"] == "RNN":
        raise lacking(class_name, config, "layer of class RNN")


def check_masks(nodes: Iterable[Node]) -> None:
    """Refuse layers whose inputs carry a mask, where TensorFlow.js computes something else.

    Its merging layers make masks that recurrent layers cannot take, its models lose those that they
    make, and a layer whose inputs have none gets the last one of the layers before it.
    """
    other = object()  # a mask that is another one in TensorFlow.js
    changed: dict[int, object] = {}  # masks by ``id`` of their symbolic tensors
    last = None
    for node in nodes:
        layer = node.operation
        graph = getattr(layer, "_graph", None)
        operations = _operations(node)
        masks = [changed.get(id(symbol), mask_of(symbol)) for symbol in node.inputs]
        has_mask = any(mask is not None for mask in masks)
        is_other = any(mask is other for mask in masks)
        if has_mask and not is_other:
            last = masks[0]
        if any(
            (isinstance(operation, (RNN, Bidirectional)) and masks[0] is not last)
            or (has_mask and _uses_mask_otherwise(operation))
            for operation in operations
        ):
            raise ValueError(
                f"TensorFlow.js uses masks differently in layer {layer.name!r} "
                f"({type(layer).__name__})"
            )
        if isinstance(layer, Merge) and has_mask:
            is_other = not isinstance(layer, Concatenate) or (
                layer.axis % len(node.inputs[0].shape) == len(node.inputs[0].shape) - 1
                and len({*map(id, masks)}) > 1
            )
        hands_on = all(getattr(operation, "supports_masking", False) for operation in operations)
        if is_other and hands_on:
            changed |= dict.fromkeys(map(id, node.outputs), other)
        elif graph:
            for symbol, inner in zip(node.outputs, graph.outputs, strict=True):
                makes_mask = mask_of(inner) is not None
                changed[id(symbol)] = other if makes_mask else masks[0] if hands_on else None


def _operations(node: Node) -> list[Operation]:
    """Return the operation of a node, or those with inputs in it, if it is a model."""
    graph = getattr(node.operation, "_graph", None)
    if not graph:
        return [node.operation]
    return [operation for inner in graph.nodes if inner.inputs for operation in _operations(inner)]


def _uses_mask_otherwise(operation: Operation) -> bool:
    return (
        isinstance(operation, (GlobalAveragePooling1D, Maximum, Minimum, Multiply))
        or getattr(operation, "zero_output_for_mask", False)
        or (isinstance(operation, Bidirectional) and operation.return_sequences)
    )
