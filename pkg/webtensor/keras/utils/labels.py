"""Labels as vectors, and vectors of one length.

Given a tensor, these functions return a tensor; else a NumPy array where NumPy is, as Keras does.
"""

from __future__ import annotations

from math import prod
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor

__all__ = ["as_array", "as_given", "normalize", "to_categorical"]


def as_array(made: Tensor) -> Any:
    """Return a tensor as an array where there is NumPy."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return made
    return made.numpy()


def as_given(made: Tensor, given: Any) -> Any:
    """Return a tensor as an array where no tensor was given and there is NumPy."""
    return made if isinstance(given, Tensor) else as_array(made)


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Return vectors with a 1 at the place that a label names.

    Raises:
        ValueError: there are labels beyond ``num_classes``, or below 0.

    Example:
        >>> from webtensor import keras
        >>> keras.utils.to_categorical([0, 2], 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    labels = wt.astype(wt.asarray(x), int32)
    if len(labels.shape) > 1 and labels.shape[-1] == 1:
        labels = wt.squeeze(labels, -1)
    has_labels = prod(labels.shape) > 0
    least, most = (int(wt.min(labels)), int(wt.max(labels))) if has_labels else (0, -1)
    if num_classes is None:
        num_classes = most + 1
    if least < 0 or most >= num_classes:
        raise ValueError(
            f"to_categorical: labels must be from 0 to {num_classes - 1} for num_classes="
            f"{num_classes}, but there are ones from {least} to {most}"
        )
    return as_given(wt.one_hot(labels, num_classes, dtype=float32), x)


def normalize(x: Any, axis: int = -1, order: float = 2) -> Any:
    """Return vectors divided by their norms; those of zeros stay.

    Example:
        >>> from webtensor import keras
        >>> [round(one, 2) for one in keras.utils.normalize([[3.0, 4.0]])[0].tolist()]
        [0.6, 0.8]
    """
    held = wt.astype(wt.asarray(x), float32)
    length = wt.linalg.vector_norm(held, axis=axis, ord=order, keepdims=True)
    return as_given(wt.divide(held, wt.where(wt.equal(length, 0), 1.0, length)), x)
