"""Configurations as TensorFlow.js reads them, which are those of Keras 2.

Layers and arguments that TensorFlow.js does not have are written as others that compute the same
(``equivalents``), or refused when a model is saved, rather than when it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from webtensor.keras.dtypes import storage_dtype
from webtensor.keras.layers import Layer
from webtensor.keras.models import Model
from webtensor.keras.models.carried_masks import carried_masks_left_out
from webtensor.keras.names import nearest
from webtensor.keras.registry import serialize_keras_object
from webtensor.keras.saving.keras2_configs import CONTAINERS, WITH_INITIAL_STATE
from webtensor.keras.saving.layers_model.equivalents import check_masks, equivalent, lacking
from webtensor.keras.types import Config, Shape

__all__ = ["topology_of"]

#: The call that returned a tensor: the name of the layer, the call's index, the output's index.
_History: TypeAlias = tuple[str, int, int]
#: The values that an argument may have, by its name.
_RequiredValues: TypeAlias = dict[str, tuple[object, ...]]

_LAYERS = frozenset(
    {
        "Activation",
        "Add",
        "AlphaDropout",
        "Average",
        "AveragePooling1D",
        "AveragePooling2D",
        "AveragePooling3D",
        "BatchNormalization",
        "Bidirectional",
        "CategoryEncoding",
        "Concatenate",
        "Conv1D",
        "Conv2D",
        "Conv2DTranspose",
        "Conv3D",
        "Conv3DTranspose",
        "ConvLSTM2D",
        "ConvLSTM2DCell",
        "Cropping2D",
        "Dense",
        "DepthwiseConv2D",
        "Dot",
        "Dropout",
        "ELU",
        "Embedding",
        "Flatten",
        "GRU",
        "GRUCell",
        "GaussianDropout",
        "GaussianNoise",
        "GlobalAveragePooling1D",
        "GlobalAveragePooling2D",
        "GlobalMaxPooling1D",
        "GlobalMaxPooling2D",
        "InputLayer",
        "LSTM",
        "LSTMCell",
        "LayerNormalization",
        "LeakyReLU",
        "Masking",
        "MaxPooling1D",
        "MaxPooling2D",
        "MaxPooling3D",
        "Maximum",
        "Minimum",
        "Multiply",
        "PReLU",
        "Permute",
        "RNN",
        "ReLU",
        "RepeatVector",
        "Rescaling",
        "Reshape",
        "SeparableConv2D",
        "SimpleRNN",
        "SimpleRNNCell",
        "Softmax",
        "SpatialDropout1D",
        "StackedRNNCells",
        "ThresholdedReLU",
        "TimeDistributed",
        "UpSampling2D",
        "ZeroPadding2D",
    }
)
_ACTIVATIONS = frozenset(
    {
        "elu",
        "gelu",
        "linear",
        "log_softmax",
        "mish",
        "relu",
        "relu6",
        "selu",
        "sigmoid",
        "softmax",
        "softplus",
        "softsign",
        "swish",
        "tanh",
    }
)
#: The registered name of the ``hard_sigmoid`` of Keras 2, which is the one of TensorFlow.js.
_OLD_HARD_SIGMOID = "webtensor>hard_sigmoid"
_RENAMED = {
    "InputLayer": {"batch_shape": "batch_input_shape"},
    "LeakyReLU": {"negative_slope": "alpha"},
}
#: Arguments that TensorFlow.js does not have, and that do not change what a layer computes.
_OMITTED = frozenset(
    {
        "autocast",
        "lora_alpha",
        "optional",
        "quantization_config",
        "ragged",
        "renorm_clipping",
        "renorm_momentum",
        "seed",
        "synchronized",
        "zero_output_for_mask",
    }
)
#: The initializers, regularizers and constraints of TensorFlow.js.
_OBJECTS = frozenset(
    {
        *("Constant", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity"),
        *("L1L2", "MaxNorm", "MinMaxNorm", "NonNeg", "Ones", "Orthogonal", "RandomNormal"),
        *("RandomUniform", "TruncatedNormal", "UnitNorm", "VarianceScaling", "Zeros"),
    }
)
#: The names that TensorFlow.js allows.
_NAME = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._/]*")
#: The values of arguments that TensorFlow.js does not have, but behaves as if it had.
_REQUIRED_VALUES: _RequiredValues = {
    "activity_regularizer": (None,),
    "groups": (1,),
    "keepdims": (False,),
    "lora_rank": (None,),
    "output_padding": (None,),
    "renorm": (False,),
    "reset_after": (False,),
    "rms_scaling": (False,),
    "use_scale": (False,),
}
_NO_DILATION: _RequiredValues = {"dilation_rate": (1, (1, 1), [1, 1], (1, 1, 1), [1, 1, 1])}
_CHANNELS_LAST: _RequiredValues = {"data_format": ("channels_last", None)}
#: Such values by the classes of layers.
_REQUIRED_VALUES_OF: dict[str, _RequiredValues] = {
    "AveragePooling1D": _CHANNELS_LAST,
    "Conv1D": {**_CHANNELS_LAST, "padding": ("same", "valid")},
    "Conv2DTranspose": _NO_DILATION,
    "Conv3DTranspose": _NO_DILATION,
    "DepthwiseConv2D": _NO_DILATION,
    "ELU": {"alpha": (1, None)},
    "GlobalAveragePooling1D": _CHANNELS_LAST,
    "GlobalMaxPooling1D": _CHANNELS_LAST,
    "MaxPooling1D": _CHANNELS_LAST,
    "ReLU": {"negative_slope": (0, None), "threshold": (0, None)},
    "SeparableConv2D": _CHANNELS_LAST,
    # TensorFlow.js interpolates between corners of pixels, and Keras between centers.
    "UpSampling2D": {"interpolation": ("nearest",)},
}
#: Arguments with required values that are written nevertheless.
_WRITTEN = frozenset(
    {"alpha", "data_format", "dilation_rate", "interpolation", "padding", "reset_after"}
)
#: The distributions of initializers that TensorFlow.js writes as ``VarianceScaling``.
_LECUN_DISTRIBUTIONS = {"LecunNormal": "normal", "LecunUniform": "uniform"}


def topology_of(model: Model) -> Config:
    """Return the configuration of a model.

    Raises:
        ValueError: TensorFlow.js has no such layer, or no such argument.
    """
    with carried_masks_left_out():
        return _layer(serialize_keras_object(model), model, is_inner=False)


def _layer(entry: Config, layer: object, shape: Shape = (), is_inner: bool = True) -> Config:
    """Return the configuration of a layer whose entry in Keras 3 and inputs' shape these are."""
    class_name, config = str(entry["class_name"]), entry["config"]
    if is_inner and not _NAME.fullmatch(str(config.get("name", class_name))):
        raise ValueError(
            f"TensorFlow.js does not allow the name {config['name']!r:.200} of a layer: names "
            "consist of letters, digits, '.', '-', '_' and '/', and begin with a letter or a digit"
        )
    if isinstance(layer, Model) and "layers" in config:
        graph = getattr(layer, "_graph", None)
        check_masks(graph.nodes if graph else ())
        if "input_layers" in config:
            return {"class_name": "Model", "config": _functional(config, layer)}
        layers = _layers(config, layer)
        return {"class_name": "Sequential", "config": {"name": config["name"], "layers": layers}}
    if entry.get("registered_name") == "webtensor>UpSampling2D":
        return {"class_name": "UpSampling2D", "config": _arguments("", config, layer, shape)}
    name = config.get("name", class_name)
    module = str(entry.get("module", "keras.layers"))
    if ".ops" in module:
        raise ValueError(
            f"TensorFlow.js has no operations beside layers, but the model calls {class_name} of "
            f"keras.ops, as {name!r}"
        )
    if module.startswith("keras.layers"):
        class_name, config = equivalent(class_name, config, shape)
    if class_name not in _LAYERS or not module.startswith("keras.layers"):
        raise ValueError(
            f"TensorFlow.js has no layer {class_name}, of which {name!r} is one"
            f"{nearest(class_name, _LAYERS)}"
        )
    return {"class_name": class_name, "config": _arguments(class_name, config, layer, shape)}


def _layers(config: Config, model: Model) -> list[Config]:
    """Return the configurations of a model's layers."""
    layers: dict[str, Any] = {layer.name: layer for layer in model.layers}
    configs = []
    for entry in config["layers"]:
        layer = layers.get(entry["config"].get("name"))
        configs.append(_layer(entry, layer, _input_shape(layer)))
    return configs


def _input_shape(layer: Layer | None) -> Shape:
    """Return the shape of a layer's inputs; sizes that differ between its calls are None."""
    shapes = [node.inputs[0].shape for node in getattr(layer, "_inbound_nodes", ()) if node.inputs]
    if len({len(shape) for shape in shapes}) != 1:
        return ()
    return tuple(sizes[0] if len({*sizes}) == 1 else None for sizes in zip(*shapes, strict=True))


def _arguments(class_name: str, config: Config, layer: object, shape: Shape) -> Config:
    required = {**_REQUIRED_VALUES, **_REQUIRED_VALUES_OF.get(class_name, {})}
    renamed = _RENAMED.get(class_name, {})
    arguments: Config = {}
    for name, value in config.items():
        if name in required:
            if value not in required[name]:
                raise lacking(class_name, config, f"{name}={value!r}")
            if name not in _WRITTEN:
                continue
        if name not in _OMITTED:
            arguments[renamed.get(name, name)] = _argument(class_name, name, value, layer, shape)
    if class_name == "Bidirectional":
        # TensorFlow.js puts the prefix before the name itself.
        _check_backward_layer(arguments.pop("backward_layer", None), arguments)
        inner = arguments["layer"]["config"]
        inner["name"] = str(inner["name"]).removeprefix("forward_")
    return arguments


def _check_backward_layer(backward_layer: Config | None, arguments: Config) -> None:
    """Refuse a backward layer that is not the forward one with ``go_backwards`` inverted."""
    if backward_layer is None:
        return
    layer = arguments["layer"]
    forward, backward = ({**entry["config"], "name": None} for entry in (layer, backward_layer))
    forward["go_backwards"] = not forward.get("go_backwards")
    if layer["class_name"] != backward_layer["class_name"] or forward != backward:
        raise lacking("Bidirectional", arguments, "backward_layer")


def _argument(class_name: str, name: str, value: Any, layer: object, shape: Shape) -> object:
    if name == "layer" or (name == "backward_layer" and value is not None):
        inner = getattr(layer, "forward_layer" if class_name == "Bidirectional" else "layer", None)
        is_each_step = class_name == "TimeDistributed"
        return _layer(value, inner, (*shape[:1], *shape[2:]) if is_each_step else shape)
    if name == "cell":
        return _layer(value, None)
    if name == "cells":
        return [_layer(cell, None) for cell in value]
    if name == "dtype":
        dtype = value["config"]["name"] if isinstance(value, Mapping) else value
        # TensorFlow.js casts what is fed to this dtype, and fails for those that it does not have.
        return storage_dtype(dtype).name if class_name == "InputLayer" else dtype
    if name.endswith("activation"):
        return _activation(class_name, value)
    if isinstance(value, dict) and "class_name" in value:
        return _object(class_name, name, value)
    if name == "target_shape":
        return [None if size == -1 else size for size in value]
    return value


def _activation(class_name: str, value: object) -> object:
    name = value
    if isinstance(value, Mapping):
        name = value.get("config") if value.get("class_name") == "function" else value["class_name"]
        if name == _OLD_HARD_SIGMOID:
            return "hard_sigmoid"
    elif value == "silu":
        return "swish"
    if name is None or (isinstance(value, str) and name in _ACTIVATIONS):
        return name
    reason = ", whose hard_sigmoid is another formula" if name == "hard_sigmoid" else ""
    raise ValueError(f"TensorFlow.js has no activation {name!r}, which {class_name} has{reason}")


def _object(layer_class: str, argument_name: str, value: Config) -> Config:
    """Return the configuration of an initializer, a regularizer or a constraint."""
    class_name = str(value["class_name"])
    config = {
        name: argument for name, argument in value["config"].items() if not name.endswith("_axes")
    }
    if class_name in _LECUN_DISTRIBUTIONS:
        distribution = _LECUN_DISTRIBUTIONS[class_name]
        config = {"scale": 1.0, "mode": "fan_in", "distribution": distribution, **config}
        class_name = "VarianceScaling"
    if class_name in ("L1", "L2"):
        class_name, config = "L1L2", {"l1": 0.0, "l2": 0.0, **config}
    if class_name not in _OBJECTS or not str(value.get("module")).startswith("keras."):
        raise ValueError(
            f"TensorFlow.js has no {class_name}, which is the {argument_name} of {layer_class}"
        )
    if str(config.get("distribution", "")).endswith("truncated_normal"):
        config["distribution"] = "normal"
    return {"class_name": class_name, "config": config}


# -- functional models -------------------------------------------------------------------------


def _functional(config: Config, model: Model) -> Config:
    layers = [
        {"name": layer["config"]["name"], **layer, "inbound_nodes": []}
        for layer in _layers(config, model)
    ]
    class_names = {layer["name"]: layer["class_name"] for layer in layers}
    for layer, converted in zip(config["layers"], layers, strict=True):
        converted["inbound_nodes"] = [
            _call(node, layer["name"], class_names) for node in layer["inbound_nodes"]
        ]
    input_layers, output_layers = (
        [list(_end_history(end, class_names)) for end in _ends(config[argument])]
        for argument in ("input_layers", "output_layers")
    )
    return {
        "name": config["name"],
        "layers": layers,
        "input_layers": input_layers,
        "output_layers": output_layers,
    }


def _call(node: Config, name: str, class_names: Mapping[str, str]) -> list[object]:
    """Return a call of the layer ``name``; ``class_names`` are those of all layers by their names.

    Raises:
        ValueError: the layer has inputs in further arguments, or none.
    """
    kwargs = {key: value for key, value in node["kwargs"].items() if value is not None}
    histories = list(_histories(node["args"]))
    if class_names[name] in WITH_INITIAL_STATE:
        histories += _histories(kwargs.pop("initial_state", None))
    if not histories or any(True for _ in _histories(list(kwargs.values()))):
        raise ValueError(
            f"TensorFlow.js gives layers their inputs as one argument only, but {name!r} is "
            "called otherwise"
        )
    return [[*_input_history(history, class_names), kwargs] for history in histories]


def _input_history(history: _History, class_names: Mapping[str, str]) -> _History:
    """Return the history of a layer's input; making a nested model counts as its first call."""
    name, node_index, tensor_index = history
    return name, node_index + (class_names[name] in CONTAINERS), tensor_index


def _end_history(history: _History, class_names: Mapping[str, str]) -> _History:
    """Return the history of a model's input or output.

    In configurations of Keras 3, too, making a functional model counts as a call here.
    """
    is_functional = class_names[history[0]] == "Model"
    return history if is_functional else _input_history(history, class_names)


def _histories(value: object) -> Iterator[_History]:
    """Yield the histories of the symbolic tensors in a nested structure of arguments."""
    if isinstance(value, Mapping):
        if value.get("class_name") == "__keras_tensor__":
            yield value["config"]["keras_history"]
            return
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _histories(item)


def _ends(structure: Any) -> list[_History]:
    """Return the inputs or outputs in a nested structure as a list."""
    if isinstance(structure, Mapping):
        return [end for key in sorted(structure) for end in _ends(structure[key])]
    if len(structure) == 3 and isinstance(structure[0], str):
        return [structure]
    return [end for inner in structure for end in _ends(inner)]
