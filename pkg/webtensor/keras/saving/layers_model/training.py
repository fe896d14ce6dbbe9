"""Training in layers-models: the arguments of ``compile``, and the optimizer's variables.

TensorFlow.js saves the number of steps as ``iter``, then one slot of all weights after the other.
Its momentum is not multiplied by the learning rate, while that of Keras is, and by -1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from webtensor import keras
from webtensor.engine import Tensor, Variable
from webtensor.io.weights import Weight
from webtensor.keras.models import Model
from webtensor.keras.names import to_snake_case
from webtensor.keras.saving.compile_configs import training_config
from webtensor.keras.types import Config
from webtensor.ops import tensor, zeros_like

if TYPE_CHECKING:
    from webtensor.keras.optimizers import Optimizer

__all__ = ["GROUP", "load_optimizer", "optimizer_weights", "training_config_of"]

#: Variables by their names in a file.
_Named: TypeAlias = Sequence[tuple[str, Variable]]

#: The group of an optimizer's variables.
GROUP = "optimizer"
_STEPS = "iter"
#: For each optimizer, the names of its slots in TensorFlow.js and in Keras.
_SLOTS: dict[str, tuple[tuple[str, str], ...]] = {
    "Adadelta": (("accum_grad", "accumulated_grad"), ("accum_var", "accumulated_delta_var")),
    "Adagrad": (("accumulator", "accumulator"),),
    "Adam": (("m", "momentum"), ("v", "velocity")),
    "RMSprop": (("rms", "velocity"), ("momentum", "momentum"), ("mg", "average_gradient")),
    "SGD": (("momentum", "momentum"),),
}
_LOSSES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "cosine_similarity": "cosine_proximity",
    "log_cosh": "logcosh",
    "kl_divergence": "kullback_leibler_divergence",
}
#: The losses of TensorFlow.js.
_TFJS_LOSSES = frozenset(
    {
        *_LOSSES.values(),
        "binary_crossentropy",
        "categorical_crossentropy",
        "categorical_hinge",
        "hinge",
        "poisson",
        "sparse_categorical_crossentropy",
        "squared_hinge",
    }
)
_METRICS = {
    "mean_squared_error": "mse",
    "mean_absolute_error": "mae",
    "mean_absolute_percentage_error": "mape",
}
#: The metrics of TensorFlow.js.
_TFJS_METRICS = frozenset(
    {
        *_METRICS.values(),
        *map(str.upper, _METRICS.values()),
        *("acc", "accuracy", "ce", "crossentropy"),
        "binary_accuracy",
        "categorical_accuracy",
        "categorical_crossentropy",
        "precision",
        "sparse_categorical_crossentropy",
    }
)
#: Arguments with which optimizers take other steps, and which TensorFlow.js does not have.
_LACKING = (
    *("amsgrad", "clipnorm", "clipvalue", "global_clipnorm"),
    *("gradient_accumulation_steps", "use_ema", "weight_decay"),
)


def training_config_of(model: Model) -> Config:
    """Return the arguments of ``compile`` as TensorFlow.js reads them.

    Raises:
        ValueError: TensorFlow.js has no such optimizer, loss or metric.
    """
    config = training_config(model)
    optimizer = config["optimizer_config"]
    class_name, arguments = str(optimizer["class_name"]), optimizer["config"]
    if class_name not in _SLOTS or not isinstance(arguments.get("learning_rate"), (int, float)):
        raise ValueError(
            f"TensorFlow.js has no optimizer {class_name} with learning_rate="
            f"{arguments.get('learning_rate')}; save the model without include_optimizer"
        )
    for name in _LACKING:
        if arguments.get(name):
            raise ValueError(
                f"TensorFlow.js has no {name}={arguments[name]} of {class_name}; save the model "
                "without include_optimizer"
            )
    if config.get("loss_weights") or config.get("weighted_metrics"):
        raise ValueError("TensorFlow.js has neither loss_weights nor weighted_metrics")
    metrics, outputs = config.get("metrics"), getattr(model, "output_names", ())
    if isinstance(metrics, list) and len(metrics) == len(outputs) > 1:
        # TensorFlow.js takes a list for the metrics of each output.
        is_same = isinstance(metrics[0], list) and metrics.count(metrics[0]) == len(metrics)
        metrics = metrics[0] if is_same else dict(zip(outputs, metrics, strict=True))
    return {
        "loss": _names(_loss_name, config.get("loss")),
        "metrics": _names(_metric_name, metrics),
        "optimizer_config": {
            "class_name": _optimizer_name(class_name, arguments),
            "config": _optimizer_arguments(class_name, arguments),
        },
    }


def _names(name_of: Callable[[object], str], configs: object) -> object:
    """Return the names of losses or metrics in a list, in a dictionary, or of one."""
    if isinstance(configs, list):
        return [name_of(config) for config in configs]
    if isinstance(configs, Mapping) and "class_name" not in configs:
        return {key: name_of(config) for key, config in configs.items()}
    return None if configs is None else name_of(configs)


def _function_name(config: object) -> object:
    """Return the name in the configuration of a function, which a loaded model has."""
    if isinstance(config, Mapping) and config.get("class_name") == "function":
        return config.get("config")
    return config


def _loss_name(config: object) -> str:
    name = _function_name(config)
    if isinstance(config, Mapping) and config.get("module") == "keras.losses":
        arguments = config["config"]
        default = getattr(keras.losses, config["class_name"])()
        name = arguments["name"] if arguments == default.get_config() else None
    name = _LOSSES.get(name, name) if isinstance(name, str) else None
    if name not in _TFJS_LOSSES:
        raise ValueError(
            f"TensorFlow.js has no loss {config!r:.200}; save the model without include_optimizer"
        )
    return str(name)


def _metric_name(config: object) -> str:
    name = _function_name(config)
    if isinstance(config, Mapping) and config.get("module") == "keras.metrics":
        arguments = config["config"]
        is_default = arguments == {
            "name": to_snake_case(config["class_name"]),
            "dtype": arguments.get("dtype"),
        }
        name = arguments["name"] if is_default else None
    name = _METRICS.get(name, name) if isinstance(name, str) else None
    if name not in _TFJS_METRICS:
        raise ValueError(
            f"TensorFlow.js has no metric {config!r:.200}; save the model without include_optimizer"
        )
    return str(name)


def _optimizer_name(class_name: str, arguments: Config) -> str:
    if class_name == "SGD":
        return "Momentum" if arguments["momentum"] else "SGD"
    return "RMSProp" if class_name == "RMSprop" else class_name


def _optimizer_arguments(class_name: str, arguments: Config) -> Config:
    renamed = {
        "learning_rate": "learningRate",
        "beta_1": "beta1",
        "beta_2": "beta2",
        "epsilon": "epsilon",
        "initial_accumulator_value": "initialAccumulatorValue",
        "rho": "decay" if class_name == "RMSprop" else "rho",
        "centered": "centered",
    }
    config = {renamed[name]: value for name, value in arguments.items() if name in renamed}
    if arguments.get("momentum") or class_name == "RMSprop":
        config["momentum"] = arguments["momentum"]
    if arguments.get("nesterov"):
        config["useNesterov"] = True
    return config


# -- state -------------------------------------------------------------------------------------


def optimizer_weights(optimizer: Optimizer, trainable: _Named) -> Iterator[Weight]:
    """Yield the variables of an optimizer, which has a slot for each trainable variable."""
    yield Weight(_STEPS, tensor(int(optimizer.iterations), dtype="int32"), GROUP)
    slot_names = _slot_names(optimizer)
    class_name = type(optimizer).__name__
    for tfjs_name, keras_name in _SLOTS[class_name]:
        # RMSProp of TensorFlow.js has a momentum even where it is 0.
        is_momentum = class_name == "RMSprop" and keras_name == "momentum"
        if keras_name not in slot_names and not is_momentum:
            continue
        for name, variable in trainable:
            value = _slot_value(optimizer, slot_names, keras_name, variable)
            yield Weight(f"{name}/{tfjs_name}", value, GROUP)


def _slot_names(optimizer: Optimizer) -> list[str]:
    return [name for group in optimizer.slot_groups for name in group]


def _slot_value(
    optimizer: Optimizer, slot_names: list[str], name: str, variable: Variable
) -> Tensor:
    if name not in slot_names:
        return zeros_like(variable.value)
    value: Tensor = optimizer.slots_of(variable)[slot_names.index(name)].value
    if type(optimizer).__name__ == "SGD":
        return value * (-1 / float(optimizer.learning_rate))
    return value


def load_optimizer(
    optimizer: Optimizer, weights: Sequence[Weight], trainable: _Named, where: str
) -> None:
    """Assign an optimizer's variables, after all of them were checked.

    Raises:
        ValueError: a variable is missing, or has another shape.
    """
    values = {weight.name: weight.value for weight in weights}
    steps = values.pop(_STEPS, None)
    slot_names = _slot_names(optimizer)
    assignments = []
    for tfjs_name, keras_name in _SLOTS.get(type(optimizer).__name__, ()):
        # Before the first step TensorFlow.js has no slots.
        for name, variable in trainable if values and keras_name in slot_names else ():
            key = f"{name}/{tfjs_name}"
            if key not in values:
                raise ValueError(f"{where}: the optimizer's {key!r} is missing")
            value = values[key]
            if type(optimizer).__name__ == "SGD":
                value = value * -float(optimizer.learning_rate)
            if value.shape != variable.shape:
                raise ValueError(
                    f"{where}: the optimizer's {key!r} must have shape {variable.shape}, but has "
                    f"{value.shape}"
                )
            slot = optimizer.slots_of(variable)[slot_names.index(keras_name)]
            assignments.append((slot, value))
    for slot, value in assignments:
        slot.assign(value)
    if steps is not None and steps.size == 1:
        optimizer.iterations = int(steps.item())
