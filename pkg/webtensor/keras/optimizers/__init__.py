"""Optimizers: ``base`` is what all share; one module per optimizer; ``schedules`` for rates."""

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
    one.__name__: one
    for one in (
        SGD, Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, Ftrl, Lamb, Lion,
        LossScaleOptimizer, Momentum, MultiOptimizer, Muon, Nadam, RMSprop, ScheduleFreeAdamW,
    )
}  # fmt: skip
#: Keras takes names in any case.
_BY_NAME = {name.lower(): name for name in _CLASSES}
_OPTIMIZERS = Namespace("optimizer", _CLASSES, ("optimizers",))


def serialize(optimizer: Optimizer) -> dict[str, Any]:
    """Return a configuration that ``deserialize`` takes."""
    return _OPTIMIZERS.serialize(optimizer)  # type: ignore[no-any-return]


def deserialize(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the optimizer that a configuration describes.

    Example:
        >>> from webtensor import keras
        >>> config = keras.optimizers.serialize(keras.optimizers.SGD(0.5))
        >>> float(keras.optimizers.deserialize(config).learning_rate)
        0.5
    """
    name = str(config.get("class_name"))
    return _OPTIMIZERS.deserialize(
        {**config, "class_name": _BY_NAME.get(name.lower(), name)}, custom_objects
    )


def get(identifier: Any) -> Any:
    """Return the optimizer that a name, a configuration or an optimizer stands for.

    Raises:
        ValueError: there is no such optimizer.

    Example:
        >>> from webtensor import keras
        >>> type(keras.optimizers.get("rmsprop")).__name__
        'RMSprop'
    """
    found = identifier
    if isinstance(found, str):
        if found.lower() not in _BY_NAME and get_registered_object(found) is None:
            raise ValueError(f"optimizer {found!r} is not known{nearest(found, _CLASSES)}")
        found = {"class_name": found, "config": {}}
    if isinstance(found, Mapping):
        found = deserialize(found)
    if found is not None and not isinstance(found, Optimizer):
        raise ValueError(f"optimizer {identifier!r} is not an optimizer")
    return found
