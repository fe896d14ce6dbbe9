"""What layers-models keep of training: how the model was compiled, and the optimizer's state.

TensorFlow.js keeps the number of steps as ``iter``, then one slot of all weights after the other.
Its momentum has no learning rate in it, whereas Keras's has it, and another sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from webtensor.keras.saving.compile_configs import training_config
from webtensor.keras.saving.layers_model.manifest import Weight
from webtensor.ops import tensor, zeros_like

__all__ = ["GROUP", "load_optimizer", "optimizer_weights", "training_config_of"]

#: The group of weights that an optimizer remembers.
GROUP = "optimizer"
_STEPS = "iter"
#: For each optimizer: what TensorFlow.js calls a slot, and what Keras does.
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
    "log_cosh": "logcosh",
    "kl_divergence": "kullback_leibler_divergence",
}
_KNOWN_LOSSES = frozenset(
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


def training_config_of(model: Any) -> dict[str, Any]:
    """Return how a model was compiled, as TensorFlow.js reads it.

    Raises:
        ValueError: TensorFlow.js has no such optimizer or loss.
    """
    config = training_config(model)
    optimizer = config["optimizer_config"]
    kind, held = str(optimizer["class_name"]), optimizer["config"]
    if kind not in _SLOTS or not isinstance(held.get("learning_rate"), (int, float)):
        raise ValueError(
            f"TensorFlow.js has no optimizer {kind} with learning_rate="
            f"{held.get('learning_rate')}; save the model without include_optimizer"
        )
    if config.get("loss_weights") or config.get("weighted_metrics"):
        raise ValueError("TensorFlow.js has neither loss_weights nor weighted_metrics")
    return {
        "loss": _named(_loss, config.get("loss")),
        "metrics": _named(_metric, config.get("metrics")),
        "optimizer_config": {"class_name": _class(kind, held), "config": _options(kind, held)},
    }


def _named(name: Any, config: Any) -> Any:
    if isinstance(config, list):
        return [name(one) for one in config]
    if isinstance(config, Mapping) and "class_name" not in config:
        return {key: name(one) for key, one in config.items()}
    return None if config is None else name(config)


def _loss(given: Any) -> str:
    name = _LOSSES.get(given, given) if isinstance(given, str) else None
    if name not in _KNOWN_LOSSES:
        raise ValueError(
            f"TensorFlow.js has no loss {given!r:.200}; save the model without include_optimizer"
        )
    return str(name)


def _metric(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError(f"TensorFlow.js knows metrics by name only, but there is {given!r:.200}")
    return given


def _class(kind: str, held: Mapping[str, Any]) -> str:
    if kind == "SGD":
        return "Momentum" if held["momentum"] else "SGD"
    return "RMSProp" if kind == "RMSprop" else kind


def _options(kind: str, held: Mapping[str, Any]) -> dict[str, Any]:
    renamed = {
        "learning_rate": "learningRate",
        "beta_1": "beta1",
        "beta_2": "beta2",
        "epsilon": "epsilon",
        "initial_accumulator_value": "initialAccumulatorValue",
        "rho": "decay" if kind == "RMSprop" else "rho",
        "centered": "centered",
    }
    found = {renamed[key]: value for key, value in held.items() if key in renamed}
    if held.get("momentum") or kind == "RMSprop":
        found["momentum"] = held["momentum"]
    if held.get("nesterov"):
        found["useNesterov"] = True
    return found


# -- state -------------------------------------------------------------------------------------


def optimizer_weights(optimizer: Any, named: Sequence[tuple[str, Any]]) -> Iterator[Weight]:
    """Yield an optimizer's state; ``named`` are the trainable variables, with their names."""
    yield Weight(_STEPS, tensor(int(optimizer.iterations), dtype="int32"), GROUP)
    names = _slot_names(optimizer)
    kind = type(optimizer).__name__
    for theirs, ours in _SLOTS[kind]:
        if ours not in names and not (kind == "RMSprop" and ours == "momentum"):
            continue
        for name, variable in named:
            yield Weight(f"{name}/{theirs}", _slot(optimizer, names, ours, variable), GROUP)


def _slot_names(optimizer: Any) -> list[str]:
    return [name for group in optimizer.slot_groups for name in group]


def _slot(optimizer: Any, names: list[str], name: str, variable: Any) -> Any:
    if name not in names:
        # RMSProp of TensorFlow.js remembers a momentum even where it is 0.
        return zeros_like(variable.value)
    value = optimizer.slots_of(variable)[names.index(name)].value
    if type(optimizer).__name__ == "SGD":
        return value * (-1 / float(optimizer.learning_rate))
    return value


def load_optimizer(
    optimizer: Any, weights: Sequence[Weight], named: Sequence[tuple[str, Any]], where: str
) -> None:
    """Give an optimizer the state of one in TensorFlow.js; checked before any of it is assigned.

    Raises:
        ValueError: something is missing, or has another shape.
    """
    values = {one.name: one.value for one in weights}
    steps = values.pop(_STEPS, None)
    names = _slot_names(optimizer)
    rows = []
    for theirs, ours in _SLOTS.get(type(optimizer).__name__, ()):
        for name, variable in named if ours in names else ():
            key = f"{name}/{theirs}"
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
            rows.append((optimizer.slots_of(variable)[names.index(ours)], value))
    for slot, value in rows:
        slot.assign(value)
    if steps is not None and steps.size == 1:
        optimizer.iterations.assign(int(steps.item()))
