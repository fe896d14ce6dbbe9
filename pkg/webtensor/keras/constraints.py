"""Constraints: functions that map a weight to an allowed one after each step of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import Configurable
from webtensor.keras.changes import NotesChanges
from webtensor.keras.registry import Namespace
from webtensor.keras.settings import epsilon
from webtensor.keras.types import Config, ConstraintLike, CustomObjects

__all__ = [
    "Constraint",
    "MaxNorm",
    "MinMaxNorm",
    "NonNeg",
    "UnitNorm",
    "deserialize",
    "get",
    "max_norm",
    "min_max_norm",
    "non_neg",
    "serialize",
    "unit_norm",
]

Axis = int | Sequence[int] | None


class Constraint(NotesChanges, Configurable):
    """A function of a weight that returns an allowed one: the base class of constraints.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> class Bounded(keras.constraints.Constraint):
        ...     def __call__(self, w):
        ...         return wt.clip(w, -1, 1)
        >>> Bounded()([-2.0, 0.5]).tolist()
        [-1.0, 0.5]
    """

    def __call__(self, w: TensorLike) -> Tensor:
        """Return the weight that replaces ``w``; the base class returns ``w``."""
        return wt.asarray(w)


def _norms(weight: Tensor, axis: Axis) -> Tensor:
    return wt.euclidean_norm(weight, axis, keepdims=True)


class MaxNorm(Constraint):
    """Limit the norm of the vectors along ``axis``.

    Args:
        max_value: a number, the maximum norm.
        axis: an integer or several, the axes of a vector; None are all axes.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.MaxNorm(10.0)([[30.0], [40.0]]).round().tolist()
        [[6.0], [8.0]]
    """

    def __init__(self, max_value: float = 2, axis: Axis = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        weight = wt.asarray(w)
        norms = _norms(weight, self.axis)
        return weight * (wt.minimum(norms, self.max_value) / (norms + epsilon()))


class MinMaxNorm(Constraint):
    """Move the norm of the vectors along ``axis`` into an interval, or towards it.

    The new norm is ``(1 - rate) * norm + rate * clip(norm, min_value, max_value)``.

    Args:
        min_value: a number, the minimum norm.
        max_value: a number, the maximum norm.
        rate: a number from 0 to 1; with 1, norms are moved all the way.
        axis: an integer or several, the axes of a vector; None are all axes.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.MinMaxNorm(10.0, 20.0)([[3.0], [4.0]]).round().tolist()
        [[6.0], [8.0]]
    """

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Axis = 0
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        weight = wt.asarray(w)
        norms = _norms(weight, self.axis)
        new_norms = wt.clip(norms, self.min_value, self.max_value)
        if self.rate != 1:
            new_norms = new_norms * self.rate + norms * (1 - self.rate)
        return weight * (new_norms / (norms + epsilon()))


class NonNeg(Constraint):
    """Replace negative weights by 0.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.NonNeg()([-1.0, 1.0]).tolist()
        [0.0, 1.0]
    """

    def __call__(self, w: TensorLike) -> Tensor:
        return wt.relu(w)


class UnitNorm(Constraint):
    """Give the vectors along ``axis`` a norm of 1.

    Args:
        axis: an integer or several, the axes of a vector; None are all axes.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.UnitNorm()([[0.0], [4.0]]).round().tolist()
        [[0.0], [1.0]]
    """

    def __init__(self, axis: Axis = 0) -> None:
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        weight = wt.asarray(w)
        return weight / (_norms(weight, self.axis) + epsilon())


# -- names -------------------------------------------------------------------------------------

max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
unit_norm = UnitNorm

_CLASSES = (Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm)
_NAMESPACE = Namespace("constraint", {cls.__name__: cls for cls in _CLASSES}, ("constraints",))


def get(identifier: ConstraintLike | type[Constraint]) -> Any:
    """Return the constraint that a name, a configuration, a class or an object stands for.

    Raises:
        ValueError: there is no such constraint.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.get("max_norm").get_config()
        {'max_value': 2, 'axis': 0}
    """
    return _NAMESPACE.get(identifier)


def serialize(constraint: ConstraintLike) -> str | Config | None:
    """Return the configuration of a constraint."""
    return _NAMESPACE.serialize(constraint)


def deserialize(config: str | Config, custom_objects: CustomObjects | None = None) -> Any:
    """Return the constraint that a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
