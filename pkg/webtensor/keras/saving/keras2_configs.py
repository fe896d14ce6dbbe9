"""Configurations of Keras 2 and TensorFlow.js, turned into those of Keras 3.

Keras 3 renamed and removed classes and arguments, refuses slashes in names of layers, writes shapes
and the connections of layers in another way, and changed one formula: ``hard_sigmoid`` was
``0.2 x + 0.5``, and is ``x / 6 + 0.5``. Older models are loaded with the older formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from webtensor.keras.saving.older_objects import LocallyConnected1D, LocallyConnected2D
from webtensor.keras.saving.tensorflow_functions import TFOpLambda
from webtensor.keras.types import Config

__all__ = ["CONTAINERS", "WITH_INITIAL_STATE", "is_old", "modernized"]

#: Models that can be layers. Making such a model counts as its first call.
CONTAINERS = frozenset({"Functional", "Model", "Sequential"})
_CLASSES = {
    "BatchNormalizationV1": "BatchNormalization",
    "BatchNormalizationV2": "BatchNormalization",
    "CuDNNGRU": "GRU",
    "CuDNNLSTM": "LSTM",
    "GRUV2": "GRU",
    "LSTMV2": "LSTM",
    "Model": "Functional",
    "SlicingOpLambda": "TFOpLambda",
    "SyncBatchNormalization": "BatchNormalization",
    "UnifiedGRU": "GRU",
    "UnifiedLSTM": "LSTM",
}
#: Arguments that Keras 3 renamed, by class.
_RENAMED = {
    "InputLayer": {"batch_input_shape": "batch_shape"},
    "LeakyReLU": {"alpha": "negative_slope"},
}
_CONVOLUTION_KERNEL = frozenset({"kernel_constraint", "kernel_initializer", "kernel_regularizer"})
#: Arguments that Keras 3 removed, by class; "" stands for all classes. They chose between
#: equivalent computations, repeated the shape of the inputs, or described weights that the layer
#: does not have.
_REMOVED = {
    "": frozenset({"batch_size", "input_shape", "rng_type"}),
    **dict.fromkeys(
        ("GRU", "GRUCell", "LSTM", "LSTMCell", "SimpleRNN", "SimpleRNNCell", "ConvLSTM2D"),
        frozenset({"implementation"}),
    ),
    "BatchNormalization": frozenset(
        {"adjustment", "fused", "renorm_clipping", "renorm_momentum", "virtual_batch_size"}
    ),
    "Bidirectional": frozenset({"go_backwards", "return_sequences", "stateful"}),
    "DepthwiseConv1D": _CONVOLUTION_KERNEL,
    "DepthwiseConv2D": _CONVOLUTION_KERNEL,
    "Discretization": frozenset({"batch_input_shape", "trainable"}),
    "Embedding": frozenset({"input_length"}),
    "MultiHeadAttention": frozenset(
        {"key_shape", "query_shape", "softmax_robust_masking", "value_shape"}
    ),
    "SeparableConv1D": _CONVOLUTION_KERNEL,
    "SeparableConv2D": _CONVOLUTION_KERNEL,
    **dict.fromkeys(
        ("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
        frozenset({"batch_input_shape", "trainable"}),
    ),
}
#: Convolutions for which Keras 2 wrote ``groups``, too, though it was always 1.
_WITHOUT_GROUPS = frozenset(
    {
        "Conv1DTranspose",
        "Conv2DTranspose",
        "Conv3DTranspose",
        "DepthwiseConv1D",
        "DepthwiseConv2D",
        "SeparableConv1D",
        "SeparableConv2D",
    }
)
#: The arguments of RNN. TensorFlow.js adds those of the cell to them.
_RNN_ARGUMENTS = frozenset(
    {
        "batch_input_shape",
        "cell",
        "dtype",
        "go_backwards",
        "name",
        "num_constants",
        "return_sequences",
        "return_state",
        "stateful",
        "trainable",
        "unroll",
        "zero_output_for_mask",
    }
)
#: Arguments whose default TensorFlow.js writes as null.
_NULL_IS_DEFAULT = frozenset(
    {"unit_forget_bias", "seed", "noise_shape", "max_value", "data_format"}
)
_RECURRENT = frozenset({"GRU", "GRUCell"})
#: Layers whose inputs but the first are the initial state.
WITH_INITIAL_STATE = frozenset(
    {"Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN"}
)


#: The values that arguments must have, which are left out.
_REQUIRED_VALUES: dict[str, Config] = {
    "": {"time_major": False},
    "BatchNormalization": {"renorm": False},
    **{
        layer.__name__: {"padding": "valid", "data_format": "channels_last", "implementation": 1}
        for layer in (LocallyConnected1D, LocallyConnected2D)
    },
}
_MODULES = {"Functional": "keras.models", "Sequential": "keras"}
#: Layers that Keras 3 has no more.
_KERAS2_LAYERS = frozenset(
    {LocallyConnected1D.__name__, LocallyConnected2D.__name__, TFOpLambda.__name__}
)


def is_old(version: str) -> bool:
    """Whether a version is one of Keras before 3, or of TensorFlow.js."""
    return version.startswith(("0", "1", "2", "tfjs"))


def _of_tensorflow_js(value: Any) -> Any:
    """Return a configuration with the layers that TensorFlow.js computes otherwise than Keras."""
    if isinstance(value, list):
        return [_of_tensorflow_js(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    config = {name: _of_tensorflow_js(item) for name, item in value.items()}
    arguments = config.get("config")
    if not isinstance(arguments, dict):
        return config
    class_name = config.get("class_name")
    if class_name == "UpSampling2D" and arguments.get("interpolation") == "bilinear":
        config["registered_name"] = "webtensor>UpSampling2D"
    if class_name == "DepthwiseConv2D":
        # TensorFlow.js writes the dilation, but does not dilate.
        arguments.pop("dilation_rate", None)
    return config


def modernized(layer: object, version: str = "2") -> Config:
    """Return the configuration of a layer or a model for Keras 3; ``version`` wrote it.

    Raises:
        ValueError: the configuration is malformed.
    """
    if version.startswith("tfjs"):
        layer = _of_tensorflow_js(layer)
    if not isinstance(layer, Mapping) or not isinstance(layer.get("class_name"), str):
        raise ValueError(f"expected a configuration with a class_name, but got {layer!r:.200}")
    class_name = _current_class_name(layer)
    arguments = layer.get("config", {})
    if isinstance(arguments, list) and class_name == "Sequential":
        arguments = {"name": "sequential", "layers": arguments}
    if not isinstance(arguments, Mapping):
        raise ValueError(f"{class_name} has a malformed config: {arguments!r:.200}")
    if layer["class_name"] == "CuDNNGRU":
        arguments = {**arguments, "reset_after": True}
    if class_name == "Functional":
        config = _functional(arguments)
    elif class_name == "Sequential":
        config = _sequential(arguments)
    elif class_name == TFOpLambda.__name__:
        config = {"function": arguments.get("function"), "name": _name(arguments.get("name"))}
    else:
        config = _layer(class_name, arguments)
    is_keras2_layer = class_name in _KERAS2_LAYERS
    if layer.get("registered_name") and not is_keras2_layer:
        return {**layer, "config": config}
    module = "webtensor" if is_keras2_layer else _MODULES.get(class_name, "keras.layers")
    return {
        "module": module,
        "class_name": "ReLU" if class_name == "ThresholdedReLU" else class_name,
        "config": config,
        "registered_name": f"webtensor>{class_name}" if is_keras2_layer else None,
    }


def _current_class_name(layer: Mapping[str, object]) -> str:
    name = str(layer.get("class_name"))
    return _CLASSES.get(name, name)


# -- layers ------------------------------------------------------------------------------------


def _layer(class_name: str, arguments: Mapping[str, object]) -> Config:
    removed = _REMOVED[""] | _REMOVED.get(class_name, frozenset())
    if class_name in _WITHOUT_GROUPS and arguments.get("groups") == 1:
        removed |= {"groups"}
    if class_name == "RNN":
        removed |= arguments.keys() - _RNN_ARGUMENTS
    renamed = _RENAMED.get(class_name, {})
    config: Config = {}
    for name, value in arguments.items():
        if name in removed or (value is None and name in _NULL_IS_DEFAULT):
            continue
        config[renamed.get(name, name)] = _argument(name, value)
    if class_name == "ThresholdedReLU":
        config["threshold"] = config.pop("theta", 1.0)
    if class_name in _RECURRENT:
        config.setdefault("reset_after", False)
    for name, required in {**_REQUIRED_VALUES[""], **_REQUIRED_VALUES.get(class_name, {})}.items():
        value = config.get(name, required)
        if value != required:
            raise ValueError(f"{class_name}: {name} must be {required!r}, but is {value!r}")
        config.pop(name, None)
    if class_name == "Bidirectional" and config["layer"]["config"].get("go_backwards"):
        config.setdefault("backward_layer", _forwards(config["layer"]))
    if class_name == "RNN" and "cells" in arguments and arguments.get("return_state"):
        raise ValueError(
            "RNN: return_state must be False in a layers-model with stacked cells, since "
            "TensorFlow.js returns their states in another order"
        )
    return config


def _forwards(layer: Config) -> Config:
    """Return the configuration of a layer in the direction that Bidirectional does not choose."""
    config = layer["config"]
    name = str(config["name"]).removeprefix("forward_")
    return {**layer, "config": {**config, "name": f"backward_{name}", "go_backwards": False}}


def _plain(value: object) -> object:
    """Return the numbers of an array, which Keras 2 wrote with its type."""
    if isinstance(value, Mapping) and value.get("type") == "ndarray":
        return value.get("value")
    return value


def _argument(name: str, value: object) -> object:
    value = _plain(value)
    if name == "name":
        return _name(value)
    if name in ("layer", "backward_layer", "cell") and isinstance(value, Mapping):
        return modernized(value)
    if name == "cells" and isinstance(value, list):
        return [modernized(cell) for cell in value]
    if name == "axis" and isinstance(value, list) and len(value) == 1:
        return value[0]
    if name == "target_shape" and isinstance(value, list):
        return [-1 if size is None else size for size in value]
    if name.endswith("activation"):
        return _activation(value)
    if name.endswith("initializer") and isinstance(value, Mapping):
        return _initializer(value)
    if name == "dtype" and isinstance(value, Mapping):
        # This is a dtype policy; mixed ones compute in float32 here.
        policy = str((value.get("config") or {}).get("name", "float32"))
        return "float32" if policy.startswith("mixed") else policy
    return value


def _name(value: Any) -> Any:
    """Return the name of a layer without slashes, which Keras 3 refuses."""
    return value.replace("/", "_") if isinstance(value, str) else value


def _activation(value: object) -> object:
    if isinstance(value, Mapping) and not value.get("registered_name"):
        value = value.get("config") if value.get("class_name") == "function" else value
    if value in ("gelu_new", "hard_sigmoid"):
        return {
            "module": "webtensor",
            "class_name": "function",
            "config": value,
            "registered_name": f"webtensor>{value}",
        }
    return value


def _initializer(initializer: Mapping[str, Any]) -> Config:
    config = {name: _plain(value) for name, value in (initializer.get("config") or {}).items()}
    config.pop("dtype", None)
    is_scaling = initializer.get("class_name") == "VarianceScaling"
    if is_scaling and config.get("distribution") == "normal":
        config["distribution"] = "truncated_normal"
    return {**initializer, "config": config}


# -- models ------------------------------------------------------------------------------------


def _layers(arguments: Mapping[str, object]) -> list[Mapping[str, Any]]:
    layers = arguments.get("layers")
    if not isinstance(layers, list) or not all(isinstance(layer, Mapping) for layer in layers):
        raise ValueError("the configuration of a model has no list of layers")
    return layers


def _sequential(arguments: Mapping[str, object]) -> Config:
    layers = _layers(arguments)
    config: Config = {"layers": [*_input(layers), *map(modernized, layers)]}
    for name in ("name", "build_input_shape"):
        if arguments.get(name):
            config[name] = _name(arguments[name])
    return config


def _input(layers: Sequence[Mapping[str, Any]]) -> list[Config]:
    """Return the input layer, in a list, if the first layer has the shape but does not take it."""
    first = layers[0] if layers else {}
    config = first.get("config")
    is_refused = "batch_input_shape" in _REMOVED.get(_current_class_name(first), ())
    if not is_refused or not isinstance(config, Mapping) or "batch_input_shape" not in config:
        return []
    names = ("batch_input_shape", "dtype")
    entry = {name: config[name] for name in names if name in config}
    return [modernized({"class_name": "InputLayer", "config": entry})]


def _is_history(value: object) -> bool:
    """Whether a value is a layer's name, a call's index, an output's index, and perhaps more."""
    return isinstance(value, list) and len(value) >= 3 and isinstance(value[0], str)


def _functional(arguments: Mapping[str, object]) -> Config:
    layers = _layers(arguments)
    connections = _Connections(layers)
    config: Config = {
        "layers": [
            {
                **modernized(layer),
                "name": _name(layer.get("name")),
                "inbound_nodes": connections.calls(layer),
            }
            for layer in layers
        ],
        "input_layers": connections.end_or_ends(arguments.get("input_layers")),
        "output_layers": connections.end_or_ends(arguments.get("output_layers")),
    }
    return {**config, "name": _name(arguments["name"])} if arguments.get("name") else config


class _Connections:
    """The connections of a functional model's layers, turned into those of Keras 3.

    A history is a list: the name of a layer, the index of one of its calls, and the index of an
    output of that. Keras 2 counted the making of a nested model as its first call.

    Args:
        layers: the configurations of the layers.
    """

    def __init__(self, layers: Sequence[Mapping[str, Any]]) -> None:
        self._class_names: dict[object, str] = {
            layer.get("name"): _current_class_name(layer) for layer in layers
        }

    # -- ends of the model --------------------------------------------------------------------

    def end_or_ends(self, structure: object) -> object:
        """Return a single input or output, which Keras 2 wrote as a list of one, without a list."""
        if isinstance(structure, list) and len(structure) == 1:
            structure = structure[0]
        return self._ends(structure)

    def _ends(self, structure: object) -> object:
        """Return the histories in the structure of the model's inputs or outputs."""
        if isinstance(structure, Mapping):
            return {key: self._ends(item) for key, item in structure.items()}
        if isinstance(structure, list) and _is_history(structure):
            return self._end_history(structure)
        if not isinstance(structure, list):
            raise ValueError(f"malformed inputs or outputs of a model: {structure!r:.200}")
        return [self._ends(item) for item in structure]

    def _end_history(self, history: Sequence[Any]) -> object:
        """Return the history of the model's input or output, where Keras 3 counts as Keras 2."""
        if self._class_names.get(history[0]) == "Functional":
            return [_name(history[0]), max(int(history[1]), 1), *history[2:]]
        return self._input_history(history)

    # -- calls of layers ----------------------------------------------------------------------

    def calls(self, layer: Mapping[str, Any]) -> list[object]:
        """Return the calls of a layer."""
        nodes = layer.get("inbound_nodes") or []
        if not isinstance(nodes, list):
            raise ValueError(f"a malformed list of a layer's calls: {nodes!r:.200}")
        return [self._call(node, layer) for node in nodes]

    def _call(self, node: object, layer: Mapping[str, Any]) -> object:
        """Return a call in the format of Keras 3 if arguments besides the first are tensors."""
        if not isinstance(node, list):
            raise ValueError(f"a malformed call of a layer: {node!r:.200}")
        if _current_class_name(layer) == TFOpLambda.__name__:
            return self._function_call(node)
        histories = [node] if _is_history(node) else node
        converted = [self._input_history(history) for history in histories]
        if not all(map(_is_history, histories)):
            return converted
        kwargs = histories[0][3] if histories and len(histories[0]) > 3 else {}
        new_kwargs = self._argument(kwargs)
        has_state = len(histories) > 1 and _current_class_name(layer) in WITH_INITIAL_STATE
        if not isinstance(new_kwargs, dict) or (new_kwargs == kwargs and not has_state):
            return converted
        inputs = [self._symbol(history) for history in histories]
        if has_state:
            if "cells" in layer.get("config", {}):
                raise ValueError(
                    "RNN: stacked cells in a layers-model must not have an initial_state, since "
                    "TensorFlow.js has their states in another order"
                )
            new_kwargs["initial_state"] = inputs[1:]
            del inputs[1:]
        return {"args": [inputs[0] if len(inputs) == 1 else inputs], "kwargs": new_kwargs}

    def _function_call(self, node: list[Any]) -> Config:
        """Return a call of a function, whose first argument is an operand or a list of some."""
        histories = [node] if _is_history(node) else node
        if not histories or not all(map(_is_history, histories)):
            raise ValueError(f"a malformed call of a function: {node!r:.200}")
        operands = [
            history[2] if history[0] == "_CONSTANT_VALUE" else self._symbol(history)
            for history in histories
        ]
        kwargs = histories[0][3] if len(histories[0]) > 3 else {}
        return {
            "args": operands if _is_history(node) else [operands],
            "kwargs": self._argument(kwargs),
        }

    def _argument(self, value: object) -> object:
        """Return a keyword argument, where Keras 2 wrote symbolic tensors as histories."""
        if isinstance(value, Mapping):
            return {key: self._argument(item) for key, item in value.items()}
        if not isinstance(value, list):
            return value
        if _is_history(value) and len(value) == 3 and value[0] in self._class_names:
            return self._symbol(value)
        return [self._argument(item) for item in value]

    def _symbol(self, history: Sequence[Any]) -> Config:
        """Return the configuration of an argument that is a symbolic tensor."""
        keras_history = self._input_history(list(history[:3]))
        return {"class_name": "__keras_tensor__", "config": {"keras_history": keras_history}}

    def _input_history(self, history: object) -> object:
        """Return the history of a layer's input; ``connected`` refuses a malformed one."""
        if not isinstance(history, list) or len(history) < 3:
            return history
        name, node_index, *rest = history
        if self._class_names.get(name) in CONTAINERS:
            node_index = max(int(node_index) - 1, 0)
        return [_name(name), node_index, *rest]
