"""Configurations of Keras 2 and TensorFlow.js, turned into those of Keras 3.

What changed since: names of classes and of arguments, which of them exist, shapes as lists, how
layers are connected, and one formula: ``hard_sigmoid`` was ``0.2 x + 0.5``, and is ``x / 6 + 0.5``.
Models from before keep the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.registry import register_keras_serializable
from webtensor.ops import clip

__all__ = ["CONTAINERS", "is_old", "modernized", "old_hard_sigmoid"]

#: Models that can be layers: they count their own making as a call.
CONTAINERS = frozenset({"Functional", "Model", "Sequential"})
_CLASSES = {
    "BatchNormalizationV1": "BatchNormalization",
    "BatchNormalizationV2": "BatchNormalization",
    "GRUV2": "GRU",
    "LSTMV2": "LSTM",
    "Model": "Functional",
}
#: Arguments that were renamed, by class.
_RENAMED = {
    "InputLayer": {"batch_input_shape": "batch_shape"},
    "LeakyReLU": {"alpha": "negative_slope"},
}
#: Arguments that are gone: those that only said how to compute, and those of the shape of inputs
#: where it is known anyway.
_GONE = {
    "": frozenset({"batch_size", "input_shape", "implementation", "time_major"}),
    "BatchNormalization": frozenset(
        {"adjustment", "fused", "renorm", "renorm_clipping", "renorm_momentum"}
        | {"virtual_batch_size"}
    ),
    "Embedding": frozenset({"input_length"}),
    "Bidirectional": frozenset({"go_backwards", "return_sequences", "stateful"}),
}
#: Arguments that TensorFlow.js writes as null where they have their default.
_NULL_IS_DEFAULT = frozenset(
    {"unit_forget_bias", "seed", "noise_shape", "max_value", "data_format"}
)
_RECURRENT = frozenset({"GRU", "GRUCell"})


def is_old(version: str) -> bool:
    """Whether a version of Keras is older than 3, or TensorFlow.js's."""
    return version.startswith(("0", "1", "2", "tfjs"))


@register_keras_serializable("webtensor", "hard_sigmoid")
def old_hard_sigmoid(x: Any) -> Any:
    """The ``hard_sigmoid`` of Keras 2 and TensorFlow.js: ``0.2 x + 0.5``, between 0 and 1."""
    return clip(x * 0.2 + 0.5, 0, 1)


def modernized(described: Any) -> dict[str, Any]:
    """Return the configuration of a model, or of a layer, for Keras 3.

    Raises:
        ValueError: it is malformed.
    """
    if not isinstance(described, Mapping) or not isinstance(described.get("class_name"), str):
        raise ValueError(f"a configuration with a class_name is wanted, but got {described!r:.200}")
    kind = _class(str(described["class_name"]))
    config = described.get("config", {})
    if isinstance(config, list) and kind == "Sequential":
        config = {"name": "sequential", "layers": config}
    if not isinstance(config, Mapping):
        raise ValueError(f"{kind} has a malformed config: {config!r:.200}")
    if kind == "Functional":
        made = _functional(config)
    elif kind == "Sequential":
        made = _sequential(config)
    else:
        made = _layer(kind, config)
    kind = "ReLU" if kind == "ThresholdedReLU" else kind
    module = "keras.layers"
    if kind in CONTAINERS:
        module = "keras.models" if kind == "Functional" else "keras"
    if described.get("registered_name"):
        return {**described, "config": made}
    return {"module": module, "class_name": kind, "config": made, "registered_name": None}


def _class(name: str) -> str:
    return _CLASSES.get(name, name)


# -- layers ------------------------------------------------------------------------------------


def _layer(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    gone = _GONE[""] | _GONE.get(kind, frozenset())
    renamed = _RENAMED.get(kind, {})
    made: dict[str, Any] = {}
    for key, value in config.items():
        if key in gone or (value is None and key in _NULL_IS_DEFAULT):
            continue
        made[renamed.get(key, key)] = _argument(key, value)
    if kind == "ThresholdedReLU":
        made["threshold"] = made.pop("theta", 1.0)
    if kind in _RECURRENT:
        made.setdefault("reset_after", False)
    if config.get("time_major"):
        raise ValueError(f"{kind}: time_major must be False")
    return made


def _argument(key: str, value: Any) -> Any:
    if key in ("layer", "backward_layer", "cell") and isinstance(value, Mapping):
        return modernized(value)
    if key == "cells" and isinstance(value, list):
        return [modernized(one) for one in value]
    if key == "axis" and isinstance(value, list) and len(value) == 1:
        return value[0]
    if key == "target_shape" and isinstance(value, list):
        return [-1 if length is None else length for length in value]
    if key.endswith("activation"):
        return _activation(value)
    if key.endswith("initializer") and isinstance(value, Mapping):
        return _initializer(value)
    if key == "dtype" and isinstance(value, Mapping):
        # Keras 2 called a dtype policy so; mixed ones compute in float32 here.
        name = str((value.get("config") or {}).get("name", "float32"))
        return "float32" if name.startswith("mixed") else name
    return value


def _activation(value: Any) -> Any:
    if isinstance(value, Mapping):
        value = value.get("config") if value.get("class_name") == "function" else value
    if value == "hard_sigmoid":
        return {
            "module": "webtensor",
            "class_name": "function",
            "config": "hard_sigmoid",
            "registered_name": "webtensor>hard_sigmoid",
        }
    return value


def _initializer(value: Mapping[str, Any]) -> dict[str, Any]:
    held = {key: one for key, one in (value.get("config") or {}).items() if key != "dtype"}
    if value.get("class_name") == "VarianceScaling" and held.get("distribution") == "normal":
        held["distribution"] = "truncated_normal"
    return {**value, "config": held}


# -- models ------------------------------------------------------------------------------------


def _rows(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = config.get("layers")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("the configuration of a model has no list of layers")
    return rows


def _sequential(config: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"layers": [modernized(row) for row in _rows(config)]}
    if config.get("name"):
        made["name"] = config["name"]
    if config.get("build_input_shape"):
        made["build_input_shape"] = config["build_input_shape"]
    return made


def _functional(config: Mapping[str, Any]) -> dict[str, Any]:
    rows = _rows(config)
    kinds = {row.get("name"): _class(str(row.get("class_name"))) for row in rows}

    def inner(place: Any) -> Any:
        """A place in a call, where a nested model's first call is its second use."""
        if isinstance(place, list) and len(place) >= 3 and kinds.get(place[0]) in CONTAINERS:
            return [place[0], max(int(place[1]) - 1, 0), *place[2:]]
        return place

    def end(place: Any) -> Any:
        if kinds.get(place[0]) == "Functional":
            return [place[0], max(int(place[1]), 1), *place[2:]]
        return inner(place)

    def calls(held: Any) -> list[Any]:
        if not isinstance(held, list):
            raise ValueError(f"a malformed list of a layer's calls: {held!r:.200}")
        return [[inner(place) for place in call] for call in held]

    def ends(held: Any) -> Any:
        if not isinstance(held, list) or not all(isinstance(one, list) and one for one in held):
            raise ValueError(f"a malformed list of a model's ends: {held!r:.200}")
        return end(held[0]) if len(held) == 1 else [end(one) for one in held]

    layers = [
        {
            **modernized(row),
            "name": row.get("name"),
            "inbound_nodes": calls(row.get("inbound_nodes") or []),
        }
        for row in rows
    ]
    made = {
        "layers": layers,
        "input_layers": ends(config.get("input_layers")),
        "output_layers": ends(config.get("output_layers")),
    }
    return {**made, "name": config["name"]} if config.get("name") else made
