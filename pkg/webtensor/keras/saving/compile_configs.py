"""Arguments of ``compile`` as Keras 2, the older format of Keras 3 and TensorFlow.js save them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from warnings import warn

from webtensor import keras
from webtensor.engine import Tensor
from webtensor.keras.models import Model
from webtensor.keras.names import to_snake_case
from webtensor.keras.optimizers import Optimizer
from webtensor.keras.registry import serialize_keras_object
from webtensor.keras.types import Config

__all__ = ["assign_optimizer", "compile_as", "training_config"]

#: Arguments of optimizers that Keras 3 or TensorFlow.js renamed.
_RENAMED = {
    "lr": "learning_rate",
    "beta1": "beta_1",
    "beta2": "beta_2",
    "decay_rate": "rho",
    "use_nesterov": "nesterov",
}
_REMOVED = frozenset({"decay", "is_legacy_optimizer", "jit_compile", "schedule_decay"})
_OPTIMIZERS = {"Momentum": "SGD", "RMSProp": "RMSprop", "momentum": "SGD", "adam": "Adam"}
_LOSSES = {
    "cosine": "cosine_similarity",
    "cosine_proximity": "cosine_similarity",
    "kullback_leibler_divergence": "kl_divergence",
    "logcosh": "log_cosh",
}
#: Metrics that ``compile`` chooses by the shapes of the targets and the outputs.
_CHOSEN_BY_SHAPE = frozenset({"accuracy", "acc", "crossentropy", "ce"})


def training_config(model: Model) -> Config:
    """Return the arguments with which a model was compiled."""
    config = dict(model.get_compile_config())
    optimizer = config.pop("optimizer", None)
    if isinstance(optimizer, Mapping):
        optimizer = {"class_name": optimizer["class_name"], "config": optimizer["config"]}
    return {**serialize_keras_object(config), "optimizer_config": optimizer}


def compile_as(model: Model, config: object, is_old: bool = False) -> None:
    """Compile a model with the arguments in a file.

    In an old file, of Keras 2 or TensorFlow.js, a list of metrics is that of each output.

    Raises:
        ValueError: an optimizer, a loss or a metric is unknown.
    """
    if not isinstance(config, Mapping):
        raise ValueError(f"it is no mapping, but {config!r}")
    metrics = config.get("metrics")
    count = len(getattr(model, "outputs", ()))
    if is_old and count > 1 and isinstance(metrics, list) and list not in map(type, metrics):
        metrics = [metrics] * count
    model.compile(
        optimizer=_optimizer(config.get("optimizer_config")),
        # TensorFlow.js writes an empty mapping for a function.
        loss=_map_configs(_loss, config.get("loss") or None),
        loss_weights=config.get("loss_weights"),
        metrics=_map_configs(_metric, metrics),
        weighted_metrics=_map_configs(_metric, config.get("weighted_metrics")),
    )


def assign_optimizer(model: Model, values: Sequence[Tensor], label: str, is_keras2: bool) -> None:
    """Assign the optimizer's variables where they fit; older optimizers had others."""
    model.optimizer.build(model.trainable_variables)
    variables = model.optimizer.variables
    if is_keras2:  # whose configuration has the learning rate
        variables = [variable for variable in variables if variable.name != "learning_rate"]
    if [value.shape for value in values] == [variable.shape for variable in variables]:
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value.astype(variable.dtype))
    else:
        warn(
            f"{label}: the optimizer's state is of another kind of optimizer, so it begins anew",
            stacklevel=5,
        )


def _optimizer(config: object) -> str | Optimizer:
    if not isinstance(config, Mapping):
        return config if isinstance(config, str) else "rmsprop"
    class_name = str(config.get("class_name")).rpartition(">")[2]
    arguments = {
        to_snake_case(name) if name.isidentifier() else name: value
        for name, value in (config.get("config") or {}).items()
    }
    if class_name == "RMSProp" and "decay" in arguments:
        # TensorFlow.js calls the decay of an average so, Keras 2 that of a learning rate.
        arguments["rho"] = arguments.pop("decay")
    arguments = {
        _RENAMED.get(name, name): value
        for name, value in arguments.items()
        if name not in _REMOVED and value is not None
    }
    learning_rate = arguments.get("learning_rate")
    if isinstance(learning_rate, Mapping):
        schedule = {"module": "keras.optimizers.schedules", **learning_rate}
        arguments["learning_rate"] = schedule
    return keras.optimizers.deserialize(
        {"class_name": _OPTIMIZERS.get(class_name, class_name), "config": arguments}
    )


def _map_configs(deserialize: Callable[[object], object], configs: object) -> Any:
    """Call a function with each configuration in a nested structure."""
    if configs is None:
        return None
    if isinstance(configs, str) or (isinstance(configs, Mapping) and "class_name" in configs):
        return deserialize(configs)
    if isinstance(configs, Mapping):
        return {key: _map_configs(deserialize, config) for key, config in configs.items()}
    if isinstance(configs, (list, tuple)):
        return [_map_configs(deserialize, config) for config in configs]
    raise TypeError(f"a loss or a metric must be a name or a configuration, but got {configs!r}")


def _loss(config: object) -> object:
    """Return a loss; Keras 2 had a reduction "auto", other names, and named functions twice."""
    if isinstance(config, Mapping):
        arguments = config.get("config") or {}
        if isinstance(arguments, Mapping):
            removed = {"fn"} if config.get("class_name") != "LossFunctionWrapper" else set()
            if arguments.get("reduction") == "auto":
                removed.add("reduction")
            arguments = {name: value for name, value in arguments.items() if name not in removed}
        config = {**config, "config": arguments}
    elif isinstance(config, str):
        config = _LOSSES.get(config, config)
    return keras.losses.deserialize(config)


def _metric(config: object) -> object:
    """Return a metric, or the name of one, by which logs call it, too."""
    name = None
    if isinstance(config, Mapping) and config.get("class_name") == "MeanMetricWrapper":
        # Keras 2 wrapped functions, and saved their names.
        arguments = config.get("config") or {}
        function, name = arguments.get("fn"), arguments.get("name")
        config = function if isinstance(function, str) else name
    if isinstance(config, str) and config in _CHOSEN_BY_SHAPE:
        return config
    if isinstance(config, str) and config in _LOSSES:
        return _loss(config)
    metric: Any = keras.metrics.deserialize(config)
    if isinstance(name, str):
        metric.name = name
        return metric
    return config if isinstance(config, str) else metric
