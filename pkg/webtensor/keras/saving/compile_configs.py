"""What ``compile`` was told, as Keras 2, the older format of Keras 3 and TensorFlow.js write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webtensor.keras.names import to_snake_case
from webtensor.keras.registry import serialize_keras_object

__all__ = ["compile_as", "training_config"]

#: Arguments of optimizers that Keras 3 has no more, or that TensorFlow.js calls differently.
_RENAMED = {
    "lr": "learning_rate",
    "beta1": "beta_1",
    "beta2": "beta_2",
    "decay_rate": "rho",
    "use_nesterov": "nesterov",
}
_GONE = frozenset({"decay", "is_legacy_optimizer", "jit_compile", "schedule_decay"})
_OPTIMIZERS = {"Momentum": "SGD", "RMSProp": "RMSprop", "momentum": "SGD", "adam": "Adam"}
_LOSSES = {
    "cosine_proximity": "cosine_similarity",
    "kullback_leibler_divergence": "kl_divergence",
    "logcosh": "log_cosh",
}
_BY_SHAPE = frozenset({"accuracy", "acc", "crossentropy", "ce"})


def training_config(model: Any) -> dict[str, Any]:
    """Return what a model was compiled with."""
    config = dict(model.get_compile_config())
    optimizer = config.pop("optimizer", None)
    if isinstance(optimizer, Mapping):
        optimizer = {"class_name": optimizer["class_name"], "config": optimizer["config"]}
    return {**serialize_keras_object(config), "optimizer_config": optimizer}


def compile_as(model: Any, config: Any) -> None:
    """Compile a model as a file says.

    Raises:
        ValueError: an optimizer, a loss or a metric is unknown.
    """
    from webtensor.keras import losses, metrics

    if not isinstance(config, Mapping):
        raise ValueError(f"it is no mapping, but {config!r}")
    model.compile(
        optimizer=_optimizer(config.get("optimizer_config")),
        loss=_each(lambda one: losses.deserialize(_loss(one)), config.get("loss")),
        loss_weights=config.get("loss_weights"),
        metrics=_each(_metric(metrics), config.get("metrics")),
        weighted_metrics=_each(_metric(metrics), config.get("weighted_metrics")),
    )


def _optimizer(config: Any) -> Any:
    from webtensor.keras import optimizers

    if not isinstance(config, Mapping):
        return "rmsprop"
    held = config.get("config") or {}
    renamed = {
        to_snake_case(key) if key.isidentifier() else key: value for key, value in held.items()
    }
    name = str(config.get("class_name")).rpartition(">")[2]
    kind = _OPTIMIZERS.get(name, name)
    if name == "RMSProp" and "decay" in renamed:
        # TensorFlow.js's word for how an average decays; to Keras 2, learning rates decayed.
        renamed["rho"] = renamed.pop("decay")
    cleaned = {
        _RENAMED.get(key, key): value
        for key, value in renamed.items()
        if key not in _GONE and value is not None
    }
    if isinstance(cleaned.get("learning_rate"), Mapping):
        cleaned["learning_rate"] = {
            "module": "keras.optimizers.schedules",
            **cleaned["learning_rate"],
        }
    return optimizers.deserialize({"class_name": kind, "config": cleaned})


def _each(deserialize: Any, config: Any) -> Any:
    """Deserialize all in a nested structure."""
    if config is None:
        return None
    if isinstance(config, str) or (isinstance(config, Mapping) and "class_name" in config):
        return deserialize(config)
    if isinstance(config, Mapping):
        return {key: _each(deserialize, value) for key, value in config.items()}
    return [_each(deserialize, value) for value in config]


def _loss(config: Any) -> Any:
    """A loss without what Keras 2 alone knew: a reduction that is found out, other names."""
    if not isinstance(config, Mapping):
        return _LOSSES.get(config, config)
    held = config.get("config") or {}
    if isinstance(held, Mapping) and held.get("reduction") == "auto":
        held = {key: value for key, value in held.items() if key != "reduction"}
    return {**config, "config": held}


def _metric(metrics: Any) -> Any:
    def deserialize(config: Any) -> Any:
        if isinstance(config, Mapping) and config.get("class_name") == "MeanMetricWrapper":
            # Keras 2 wrapped functions that have a name.
            held = config.get("config") or {}
            name = held.get("fn")
            config = name if isinstance(name, str) else held.get("name")
        is_by_shape = isinstance(config, str) and config in _BY_SHAPE
        return config if is_by_shape else metrics.deserialize(config)

    return deserialize
