"""Bounds of weights: functions that move a weight to the nearest one that is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import Configurable
from webtensor.keras.config import epsilon
from webtensor.keras.registry import Namespace
from webtensor.keras.types import ConstraintLike

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


class Constraint(Configurable):
    """A function of a weight that returns an allowed one; the base class of those here."""

    def __call__(self, w: TensorLike) -> Tensor:
        """Return the weight that takes the place of ``w``; here, ``w`` itself."""
        return wt.asarray(w)


def _norms(w: Tensor, axis: Axis) -> Tensor:
    return wt.euclidean_norm(w, axis, keepdims=True)


class MaxNorm(Constraint):
    """Shorten weights along ``axis`` to a norm of ``max_value``, where theirs is greater.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.MaxNorm(10.0)([[30.0], [40.0]]).round().tolist()
        [[6.0], [8.0]]
    """

    def __init__(self, max_value: float = 2, axis: Axis = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        """Return the weight that takes the place of ``w``."""
        held = wt.asarray(w)
        norms = _norms(held, self.axis)
        return held * (wt.minimum(norms, self.max_value) / (norms + epsilon()))


class MinMaxNorm(Constraint):
    """Bring the norms of weights along ``axis`` towards an interval.

    The new norm is ``(1 - rate) * norm + rate * clip(norm, min_value, max_value)``.

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
        """Return the weight that takes the place of ``w``."""
        held = wt.asarray(w)
        norms = _norms(held, self.axis)
        wanted = wt.clip(norms, self.min_value, self.max_value)
        if self.rate != 1:
            wanted = wanted * self.rate + norms * (1 - self.rate)
        return held * (wanted / (norms + epsilon()))


class NonNeg(Constraint):
    """Replace negative weights by 0.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.NonNeg()([-1.0, 1.0]).tolist()
        [0.0, 1.0]
    """

    def __call__(self, w: TensorLike) -> Tensor:
        """Return the weight that takes the place of ``w``."""
        return wt.relu(w)


class UnitNorm(Constraint):
    """Give weights along ``axis`` a norm of 1.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.UnitNorm()([[0.0], [4.0]]).round().tolist()
        [[0.0], [1.0]]
    """

    def __init__(self, axis: Axis = 0) -> None:
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        """Return the weight that takes the place of ``w``."""
        held = wt.asarray(w)
        return held / (_norms(held, self.axis) + epsilon())


# -- names -------------------------------------------------------------------------------------

max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
unit_norm = UnitNorm

_CLASSES = (Constraint, MaxNorm, MinMaxNorm, NonNeg, UnitNorm)
_NAMESPACE = Namespace("constraint", {one.__name__: one for one in _CLASSES}, ("constraints",))


def get(identifier: Any) -> Any:
    """Return the constraint that a name, a configuration, a class or an object stands for.

    Raises:
        ValueError: there is no such constraint.

    Example:
        >>> from webtensor import keras
        >>> keras.constraints.get("max_norm").get_config()
        {'max_value': 2, 'axis': 0}
    """
    return _NAMESPACE.get(identifier)


def serialize(constraint: ConstraintLike) -> Any:
    """Return the configuration of a constraint."""
    return _NAMESPACE.serialize(constraint)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the constraint that a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
