"""Configurations as TensorFlow.js reads them, which are those of Keras 2.

What it has not, such as layers of Keras 3 alone, is refused when a model is saved, rather than when
somebody loads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.masks import carried_masks_left_out
from webtensor.keras.names import nearest
from webtensor.keras.registry import serialize_keras_object
from webtensor.keras.saving.keras2_configs import CONTAINERS
from webtensor.keras.types import Config

__all__ = ["topology_of"]

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
        "CenterCrop",
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
        "Resizing",
        "SeparableConv2D",
        "SimpleRNN",
        "SimpleRNNCell",
        "Softmax",
        "SpatialDropout1D",
        "StackedRNNCells",
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
_RENAMED = {
    "InputLayer": {"batch_shape": "batch_input_shape"},
    "LeakyReLU": {"negative_slope": "alpha"},
}
_GONE = frozenset(
    {
        "autocast",
        "backward_layer",
        "lora_alpha",
        "lora_rank",
        "optional",
        "quantization_config",
        "ragged",
        "seed",
        "synchronized",
        "zero_output_for_mask",
    }
)
#: Arguments that TensorFlow.js lacks, and so must be as it behaves.
_MUST_BE = {
    "groups": (1,),
    "output_padding": (None,),
    "renorm": (False,),
    "reset_after": (False,),
    "rms_scaling": (False,),
    "use_scale": (False,),
}
_OF_RELU = {"negative_slope": (0, None), "threshold": (0, None)}
_DROPPED_WITH = {"renorm": ("renorm_clipping", "renorm_momentum")}


def topology_of(model: Any) -> dict[str, Any]:
    """Return the configuration of a model.

    Raises:
        ValueError: TensorFlow.js has no such layer, or no such argument.
    """
    with carried_masks_left_out():
        return _layer(serialize_keras_object(model))


def _layer(row: Mapping[str, Any]) -> dict[str, Any]:
    kind, config = str(row["class_name"]), row["config"]
    if kind == "Functional" or "input_layers" in config:
        return {"class_name": "Model", "config": _functional(config)}
    if kind == "Sequential" or "layers" in config:
        layers = [_layer(one) for one in config["layers"]]
        return {"class_name": "Sequential", "config": {"name": config["name"], "layers": layers}}
    if kind not in _LAYERS or not str(row.get("module", "keras.layers")).startswith("keras.layers"):
        name = config.get("name", kind)
        raise ValueError(
            f"TensorFlow.js has no layer {kind}, of which {name!r} is one{nearest(kind, _LAYERS)}"
        )
    return {"class_name": kind, "config": _arguments(kind, config)}


def _arguments(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    must_be = {**_MUST_BE, **(_OF_RELU if kind == "ReLU" else {})}
    renamed = _RENAMED.get(kind, {})
    made: dict[str, Any] = {}
    for key, value in config.items():
        if key in must_be:
            if value not in must_be[key]:
                raise ValueError(
                    f"TensorFlow.js has no {key}={value!r} of {kind}, which layer "
                    f"{config.get('name')!r} has"
                )
            if key != "reset_after":
                continue
        if key not in _GONE and not any(key in names for names in _DROPPED_WITH.values()):
            made[renamed.get(key, key)] = _argument(kind, key, value)
    if kind == "Bidirectional":
        _without_prefix(made["layer"]["config"])
    return made


def _without_prefix(config: Config) -> None:
    """TensorFlow.js puts ``forward_`` before the name itself."""
    config["name"] = str(config["name"]).removeprefix("forward_")


def _argument(kind: str, key: str, value: Any) -> Any:
    if key in ("layer", "cell"):
        return _layer(value)
    if key == "cells":
        return [_layer(one) for one in value]
    if key == "dtype":
        return value["config"]["name"] if isinstance(value, Mapping) else value
    if key.endswith("activation"):
        return _activation(kind, value)
    if isinstance(value, Mapping) and "class_name" in value:
        return _object(value)
    if key == "target_shape":
        return [None if length == -1 else length for length in value]
    return value


def _activation(kind: str, value: Any) -> Any:
    if isinstance(value, Mapping) and value.get("registered_name") == "webtensor>hard_sigmoid":
        return "hard_sigmoid"
    name = {"silu": "swish"}.get(value, value) if isinstance(value, str) else value
    if name is not None and name not in _ACTIVATIONS:
        reason = ", whose hard_sigmoid is another formula" if name == "hard_sigmoid" else ""
        raise ValueError(f"TensorFlow.js has no activation {name!r}, which {kind} has{reason}")
    return name


def _object(value: Mapping[str, Any]) -> dict[str, Any]:
    """An initializer, a regularizer or a constraint."""
    kind = str(value["class_name"])
    config = {key: one for key, one in value["config"].items() if not key.endswith("_axes")}
    if kind in ("L1", "L2"):
        kind, config = "L1L2", {"l1": 0.0, "l2": 0.0, **config}
    if str(config.get("distribution", "")).endswith("truncated_normal"):
        config["distribution"] = "normal"
    return {"class_name": kind, "config": config}


# -- functional models -------------------------------------------------------------------------


def _functional(config: Mapping[str, Any]) -> dict[str, Any]:
    made = [(_layer(row), row) for row in config["layers"]]
    kinds = {row["name"]: layer["class_name"] for layer, row in made}

    def place(history: Any) -> list[Any]:
        """A nested model's own making is its first call."""
        name, number, index = history
        return [name, number + (kinds[name] in CONTAINERS), index]

    def end(history: Any) -> list[Any]:
        # In configurations of Keras 3, a functional model's ends count its making, too.
        name, number, index = history
        return [name, number, index] if kinds[name] == "Model" else place(history)

    def call(node: Mapping[str, Any], name: str) -> list[Any]:
        kwargs = {key: value for key, value in node["kwargs"].items() if value is not None}
        places = list(_histories(node["args"]))
        if not places or any(True for _ in _histories(list(kwargs.values()))):
            raise ValueError(
                f"TensorFlow.js gives layers their inputs as one argument only, but {name!r} is "
                "called otherwise"
            )
        return [[*place(one), kwargs] for one in places]

    layers = [
        {
            "name": row["name"],
            **layer,
            "inbound_nodes": [call(node, row["name"]) for node in row["inbound_nodes"]],
        }
        for layer, row in made
    ]
    return {
        "name": config["name"],
        "layers": layers,
        "input_layers": [end(one) for one in _places(config["input_layers"])],
        "output_layers": [end(one) for one in _places(config["output_layers"])],
    }


def _histories(value: Any) -> Any:
    """Places of symbolic tensors in arguments."""
    if isinstance(value, Mapping):
        if value.get("class_name") == "__keras_tensor__":
            yield value["config"]["keras_history"]
            return
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _histories(one)


def _places(ends: Any) -> list[Any]:
    """The ends of a model as a list, however they are nested."""
    if isinstance(ends, Mapping):
        return [place for key in sorted(ends) for place in _places(ends[key])]
    if len(ends) == 3 and isinstance(ends[0], str):
        return [ends]
    return [place for one in ends for place in _places(one)]
