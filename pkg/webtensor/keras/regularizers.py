"""Regularizers: penalties on weights or outputs that training adds to the loss."""

from __future__ import annotations

from math import isfinite
from typing import Any, Literal

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import Configurable, accepted_arguments
from webtensor.keras.changes import NotesChanges
from webtensor.keras.registry import Namespace
from webtensor.keras.types import Config, CustomObjects, RegularizerLike

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

#: A row with a smaller norm is divided by this instead.
_MINIMUM_NORM = 1e-7


class Regularizer(NotesChanges, Configurable):
    """A function of a tensor that returns a scalar: the base class of regularizers.

    Example:
        >>> import webtensor as wt
        >>> from webtensor import keras
        >>> class Sum(keras.regularizers.Regularizer):
        ...     def __call__(self, x):
        ...         return wt.sum(x)
        >>> Sum()([1.0, 2.0]).tolist()
        3.0
    """

    def __call__(self, x: TensorLike) -> Tensor:
        """Return the penalty on a tensor; the base class returns 0."""
        return wt.zeros(())

    def get_config(self) -> Config:
        """Return the arguments of the constructor.

        Raises:
            NotImplementedError: a user's class has no ``get_config``, as in Keras.
        """
        if not accepted_arguments(type(self), library_only=True):
            raise NotImplementedError(f"{type(self).__name__} does not implement get_config")
        return super().get_config()


def _factor(owner: object, argument: str, value: float | None, default: float) -> float:
    """Return a factor of a regularizer as a float, None as its default."""
    if value is None:
        return default
    if not isinstance(value, (int, float)) or not isfinite(value) or value < 0:
        raise ValueError(
            f"{type(owner).__name__}: {argument} must be a non-negative number, but got {value!r}"
        )
    return float(value)


class L1(Regularizer):
    """``l1 * sum(abs(x))``.

    Args:
        l1: a number that is not negative, the factor; None is 0.01.

    Raises:
        ValueError: ``l1`` is negative or not finite.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.L1(0.5)([1.0, -3.0]).tolist()
        2.0
    """

    def __init__(self, l1: float | None = 0.01) -> None:
        self.l1 = _factor(self, "l1", l1, 0.01)

    def __call__(self, x: TensorLike) -> Tensor:
        return wt.sum(wt.abs(x)) * self.l1


class L2(Regularizer):
    """``l2 * sum(square(x))``.

    Args:
        l2: a number that is not negative, the factor; None is 0.01.

    Raises:
        ValueError: ``l2`` is negative or not finite.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.L2(0.5)([1.0, -3.0]).tolist()
        5.0
    """

    def __init__(self, l2: float | None = 0.01) -> None:
        self.l2 = _factor(self, "l2", l2, 0.01)

    def __call__(self, x: TensorLike) -> Tensor:
        return wt.sum(wt.square(x)) * self.l2


class L1L2(Regularizer):
    """``l1 * sum(abs(x)) + l2 * sum(square(x))``.

    Args:
        l1: a number that is not negative, the factor of the absolute values; None is 0.
        l2: a number that is not negative, the factor of the squares; None is 0.

    Raises:
        ValueError: a factor is negative or not finite.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.L1L2(0.5, 0.5)([1.0, -3.0]).tolist()
        7.0
    """

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1 = _factor(self, "l1", l1, 0.0)
        self.l2 = _factor(self, "l2", l2, 0.0)

    def __call__(self, x: TensorLike) -> Tensor:
        tensor = wt.asarray(x)
        return wt.sum(wt.abs(tensor)) * self.l1 + wt.sum(wt.square(tensor)) * self.l2


class OrthogonalRegularizer(Regularizer):
    """``factor`` times the mean absolute cosine between different rows of a matrix, or columns.

    Args:
        factor: a number that is not negative; None is 0.01.
        mode: ``"rows"`` or ``"columns"``, which are to be orthogonal.

    Raises:
        ValueError: ``factor`` is negative or not finite, ``mode`` is none of these, or, when
            called, the tensor is not a matrix.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.OrthogonalRegularizer(0.5)([[2.0, 0.0], [0.0, 3.0]]).tolist()
        0.0
    """

    def __init__(
        self, factor: float | None = 0.01, mode: Literal["rows", "columns"] = "rows"
    ) -> None:
        self.factor = _factor(self, "factor", factor, 0.01)
        check_choice("OrthogonalRegularizer", "mode", mode, ("rows", "columns"))
        self.mode = mode

    def __call__(self, inputs: TensorLike) -> Tensor:
        matrix = wt.asarray(inputs)
        if len(matrix.shape) != 2:
            raise ValueError(
                f"OrthogonalRegularizer: inputs must be a matrix, but their shape is {matrix.shape}"
            )
        by_rows = self.mode == "rows"
        squares = wt.sum(wt.square(matrix), 1 if by_rows else 0, keepdims=True)
        normalized = matrix * wt.rsqrt(wt.maximum(squares, _MINIMUM_NORM**2))
        cosines = wt.matmul(normalized, normalized, transpose_a=not by_rows, transpose_b=by_rows)
        count = cosines.shape[0]
        off_diagonal = wt.abs(cosines) * (1 - wt.eye(count))
        return wt.sum(off_diagonal) * (self.factor / max(count * (count - 1), 1))


# -- names -------------------------------------------------------------------------------------

l1 = L1
l2 = L2
l1_l2 = L1L2
orthogonal_regularizer = OrthogonalRegularizer

_CLASSES = (Regularizer, L1, L2, L1L2, OrthogonalRegularizer)
_NAMESPACE = Namespace(
    "regularizer",
    {cls.__name__: cls for cls in _CLASSES},
    ("regularizers",),
    l1l2="L1L2",
    l1_l2="L1L2",
)


def get(identifier: RegularizerLike | type[Regularizer]) -> Any:
    """Return the regularizer that a name, a configuration, a class or an object stands for.

    Raises:
        ValueError: there is no such regularizer.

    Example:
        >>> from webtensor import keras
        >>> keras.regularizers.get("l2").get_config()
        {'l2': 0.01}
    """
    return _NAMESPACE.get(identifier)


def serialize(regularizer: RegularizerLike) -> str | Config | None:
    """Return the configuration of a regularizer."""
    return _NAMESPACE.serialize(regularizer)


def deserialize(config: str | Config, custom_objects: CustomObjects | None = None) -> Any:
    """Return the regularizer that a configuration describes."""
    return _NAMESPACE.deserialize(config, custom_objects)
