"""Optimizers, one per module; ``base`` has their base class, ``schedules`` the schedules."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from webtensor.keras.names import nearest
from webtensor.keras.optimizers.base import Optimizer as Optimizer
from webtensor.keras.registry import Namespace, get_registered_object, serialize_keras_object
from webtensor.keras.types import Config
from webtensor.lazy_contents import Members, contents, lazy_contents

_CONTENTS = contents(
    """
    adadelta: Adadelta
    adafactor: Adafactor
    adagrad: Adagrad
    adam: Adam AdamW
    adamax: Adamax
    base: Optimizer
    ftrl: Ftrl
    lamb: Lamb
    lion: Lion
    loss_scale: LossScaleOptimizer
    multi_optimizer: MultiOptimizer OptimizerMap
    muon: Muon
    nadam: Nadam
    rmsprop: RMSprop
    schedule_free: ScheduleFreeAdamW
    sgd: Momentum SGD
    """
)

if TYPE_CHECKING:
    from webtensor.keras.optimizers import schedules as schedules
    from webtensor.keras.optimizers.adadelta import *
    from webtensor.keras.optimizers.adafactor import *
    from webtensor.keras.optimizers.adagrad import *
    from webtensor.keras.optimizers.adam import (
        Adam as Adam,
        AdamW as AdamW,
    )
    from webtensor.keras.optimizers.adamax import *
    from webtensor.keras.optimizers.base import Optimizer as Optimizer
    from webtensor.keras.optimizers.ftrl import *
    from webtensor.keras.optimizers.lamb import *
    from webtensor.keras.optimizers.lion import *
    from webtensor.keras.optimizers.loss_scale import *
    from webtensor.keras.optimizers.multi_optimizer import *
    from webtensor.keras.optimizers.muon import *
    from webtensor.keras.optimizers.nadam import *
    from webtensor.keras.optimizers.rmsprop import *
    from webtensor.keras.optimizers.schedule_free import *
    from webtensor.keras.optimizers.sgd import *
else:
    __all__ = [  # noqa: PLE0604  (they are strings)
        "deserialize",
        "get",
        "schedules",
        "serialize",
        *(name for names in _CONTENTS.values() for name in names),
    ]

    __getattr__, __dir__ = lazy_contents(__name__, _CONTENTS, "schedules")

#: All of them but the base, whose name stands for nothing.
_CLASSES = [name for names in _CONTENTS.values() for name in names if name != "Optimizer"]
#: The names of classes by their lower case, as Keras ignores the case of names.
_NAMES = {name.lower(): name for name in _CLASSES}
_OPTIMIZERS = Namespace("optimizer", Members(__name__, _CLASSES), ("optimizers",))


def serialize(optimizer: Optimizer) -> Config:
    """Return a configuration that ``deserialize`` takes."""
    config: Config = serialize_keras_object(optimizer)
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
