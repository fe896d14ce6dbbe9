"""Penalties on weights or outputs, which training adds to the loss."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Literal

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import Configurable, accepted_arguments
from webtensor.keras.registry import Namespace
from webtensor.keras.types import Config, RegularizerLike

__all__ = [
    "L1",
    "L1L2",
    "L2",
    "OrthogonalRegularizer",
    "Regularizer",
    "deserialize",
    "get",
    "l1",
    "l1_l2",
    "l2",
    "orthogonal_regularizer",
    "serialize",
]

#: A row that is shorter is divided by this to be a unit one.
_LEAST_NORM = 1e-7


class Regularizer(Configurable):
    """A function of a tensor that returns a scalar; the base class of those here."""

    def __call__(self, x: TensorLike) -> Tensor:
        """Return the penalty."""
        return wt.zeros(())

    def get_config(self) -> Config:
        """Return the arguments that would make another such regularizer."""
        if not accepted_arguments(type(self), library_only=True):
            raise NotImplementedError(f"{type(self).__name__} does not implement get_config")
        return super().get_config()


def _factor(owner: object, argument: str, value: float | None, default: float) -> float:
    """Return a factor among the arguments of a regularizer."""
    if value is None:
        return default
    if not isinstance(value, (int, float)) or not isfinite(value) or value < 0:
        raise ValueError(
            f"{type(owner).__name__}: {argument} must be a non-negative number, but got {value!r}"
        )
    return float(value)


class L1(Regularizer):
    """``l1 * sum(abs(x))``.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.L1(0.5)([1.0, -3.0]).tolist()
        2.0
    """

    def __init__(self, l1: float | None = 0.01) -> None:
        self.l1 = _factor(self, "l1", l1, 0.01)

    def __call__(self, x: TensorLike) -> Tensor:
        """Return the penalty."""
        return wt.sum(wt.abs(x)) * self.l1


class L2(Regularizer):
    """``l2 * sum(square(x))``.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.L2(0.5)([1.0, -3.0]).tolist()
        5.0
    """

    def __init__(self, l2: float | None = 0.01) -> None:
        self.l2 = _factor(self, "l2", l2, 0.01)

    def __call__(self, x: TensorLike) -> Tensor:
        """Return the penalty."""
        return wt.sum(wt.square(x)) * self.l2


class L1L2(Regularizer):
    """``l1 * sum(abs(x)) + l2 * sum(square(x))``.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.L1L2(0.5, 0.5)([1.0, -3.0]).tolist()
        7.0
    """

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1 = _factor(self, "l1", l1, 0.0)
        self.l2 = _factor(self, "l2", l2, 0.0)

    def __call__(self, x: TensorLike) -> Tensor:
        """Return the penalty."""
        held = wt.asarray(x)
        return wt.sum(wt.abs(held)) * self.l1 + wt.sum(wt.square(held)) * self.l2


class OrthogonalRegularizer(Regularizer):
    """``factor`` times the mean size of the cosines between rows of a matrix, or between columns.

    Each row with each other counts once; ``mode`` is "rows" or "columns".

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.OrthogonalRegularizer(0.5)([[2.0, 0.0], [0.0, 3.0]]).tolist()
        0.0
    """

    def __init__(
        self, factor: float | None = 0.01, mode: Literal["rows", "columns"] = "rows"
    ) -> None:
        self.factor = _factor(self, "factor", factor, 0.01)
        if mode not in ("rows", "columns"):
            raise ValueError(
                f'OrthogonalRegularizer: mode must be "rows" or "columns", but got {mode!r}'
            )
        self.mode = mode

    def __call__(self, inputs: TensorLike) -> Tensor:
        """Return the penalty.

        Raises:
            ValueError: the tensor is no matrix.
        """
        matrix = wt.asarray(inputs)
        if len(matrix.shape) != 2:
            raise ValueError(
                f"OrthogonalRegularizer: inputs must be a matrix, but their shape is {matrix.shape}"
            )
        by_rows = self.mode == "rows"
        squares = wt.sum(wt.square(matrix), 1 if by_rows else 0, keepdims=True)
        unit = matrix * wt.rsqrt(wt.maximum(squares, _LEAST_NORM**2))
        cosines = wt.matmul(unit, unit, transpose_a=not by_rows, transpose_b=by_rows)
        count = cosines.shape[0]
        others = wt.abs(cosines) * (1 - wt.eye(count))
        return wt.sum(others) * (self.factor / max(count * (count - 1), 1))


# -- names -------------------------------------------------------------------------------------

l1 = L1
l2 = L2
l1_l2 = L1L2
orthogonal_regularizer = OrthogonalRegularizer

_CLASSES = (Regularizer, L1, L2, L1L2, OrthogonalRegularizer)
_NAMESPACE = Namespace(
    "regularizer",
    {one.__name__: one for one in _CLASSES},
    ("regularizers",),
    l1l2="L1L2",
    l1_l2="L1L2",
)


def get(identifier: Any) -> Any:
    """Return the regularizer that a name, a configuration, a class or an object stands for.

    Raises:
        ValueError: there is no such regularizer.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.get("l2").get_config()
        {'l2': 0.01}
    """
    return _NAMESPACE.get(identifier)


def serialize(regularizer: RegularizerLike) -> Any:
    """Return the configuration of a regularizer."""
    return _NAMESPACE.serialize(regularizer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Return the regularizer that a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
