"""Optimizers, one per module; ``base`` has their base class, ``schedules`` the schedules."""

from collections.abc import Mapping
from typing import Any

from webtensor.keras.names import nearest
from webtensor.keras.optimizers import schedules as schedules
from webtensor.keras.optimizers.adadelta import Adadelta
from webtensor.keras.optimizers.adafactor import Adafactor
from webtensor.keras.optimizers.adagrad import Adagrad
from webtensor.keras.optimizers.adam import Adam, AdamW
from webtensor.keras.optimizers.adamax import Adamax
from webtensor.keras.optimizers.base import Optimizer
from webtensor.keras.optimizers.ftrl import Ftrl
from webtensor.keras.optimizers.lamb import Lamb
from webtensor.keras.optimizers.lion import Lion
from webtensor.keras.optimizers.loss_scale import LossScaleOptimizer
from webtensor.keras.optimizers.multi_optimizer import MultiOptimizer, OptimizerMap
from webtensor.keras.optimizers.muon import Muon
from webtensor.keras.optimizers.nadam import Nadam
from webtensor.keras.optimizers.rmsprop import RMSprop
from webtensor.keras.optimizers.schedule_free import ScheduleFreeAdamW
from webtensor.keras.optimizers.sgd import SGD, Momentum
from webtensor.keras.registry import Namespace, get_registered_object
from webtensor.keras.types import Config

__all__ = [
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lamb",
    "Lion",
    "LossScaleOptimizer",
    "Momentum",
    "MultiOptimizer",
    "Muon",
    "Nadam",
    "Optimizer",
    "OptimizerMap",
    "RMSprop",
    "ScheduleFreeAdamW",
    "deserialize",
    "get",
    "schedules",
    "serialize",
]

_CLASSES: dict[str, type[Optimizer]] = {
    cls.__name__: cls
    for cls in (
        SGD, Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, Ftrl, Lamb, Lion,
        LossScaleOptimizer, Momentum, MultiOptimizer, Muon, Nadam, RMSprop, ScheduleFreeAdamW,
    )
}  # fmt: skip
#: The names of classes by their lower case, as Keras ignores the case of names.
_NAMES = {name.lower(): name for name in _CLASSES}
_OPTIMIZERS = Namespace("optimizer", _CLASSES, ("optimizers",))


def serialize(optimizer: Optimizer) -> Config:
    """Return a configuration that ``deserialize`` takes."""
    config: Config = _OPTIMIZERS.serialize(optimizer)
    return config


def deserialize(config: Mapping[str, Any], custom_objects: Config | None = None) -> Optimizer:
    """Return the optimizer that a configuration describes.

    Example:
        >>> from webtensor import keras
        >>> config = keras.optimizers.serialize(keras.optimizers.SGD(0.5))
        >>> float(keras.optimizers.deserialize(config).learning_rate)
        0.5
    """
    name = str(config.get("class_name"))
    optimizer: Optimizer = _OPTIMIZERS.deserialize(
        {**config, "class_name": _NAMES.get(name.lower(), name)}, custom_objects
    )
    return optimizer


def get(identifier: str | Mapping[str, Any] | Optimizer | None) -> Optimizer | None:
    """Return the optimizer of a name or configuration; an optimizer and None are returned as is.

    Raises:
        ValueError: there is no such optimizer.

    Example:
        >>> from webtensor import keras
        >>> type(keras.optimizers.get("rmsprop")).__name__
        'RMSprop'
    """
    optimizer: object = identifier
    if isinstance(identifier, str):
        if identifier.lower() not in _NAMES and get_registered_object(identifier) is None:
            raise ValueError(
                f"optimizer {identifier!r} is not known{nearest(identifier, _CLASSES)}"
            )
        optimizer = deserialize({"class_name": identifier, "config": {}})
    elif isinstance(identifier, Mapping):
        optimizer = deserialize(identifier)
    if optimizer is not None and not isinstance(optimizer, Optimizer):
        raise ValueError(f"optimizer {identifier!r} is not an optimizer")
    return optimizer
