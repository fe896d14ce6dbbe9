"""Class labels as vectors, and vectors of length 1."""

from __future__ import annotations

from math import prod

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import TensorLike
from webtensor.keras.array_results import like_input

__all__ = ["normalize", "to_categorical"]


def to_categorical(x: TensorLike, num_classes: int | None = None) -> TensorLike:
    """Return one-hot vectors for integer labels.

    ``num_classes``, the size of the vectors, is by default one more than the largest label.

    Raises:
        ValueError: a label is negative, or not less than ``num_classes``.

    Example:
        >>> from webtensor import keras
        >>> keras.utils.to_categorical([0, 2], 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    labels = wt.astype(wt.asarray(x), int32)
    if len(labels.shape) > 1 and labels.shape[-1] == 1:
        labels = wt.squeeze(labels, -1)
    has_labels = prod(labels.shape) > 0
    minimum, maximum = (int(wt.min(labels)), int(wt.max(labels))) if has_labels else (0, -1)
    if num_classes is None:
        num_classes = maximum + 1
    if minimum < 0 or maximum >= num_classes:
        raise ValueError(
            f"to_categorical: labels must be from 0 to {num_classes - 1} for num_classes="
            f"{num_classes}, but there are ones from {minimum} to {maximum}"
        )
    return like_input(wt.one_hot(labels, num_classes, dtype=float32), x)


def normalize(x: TensorLike, axis: int = -1, order: float = 2) -> TensorLike:
    """Divide vectors along an axis by their norms; vectors of zeros stay zeros.

    Example:
        >>> from webtensor import keras
        >>> [round(number, 2) for number in keras.utils.normalize([[3.0, 4.0]])[0].tolist()]
        [0.6, 0.8]
    """
    vectors = wt.astype(wt.asarray(x), float32)
    norm = wt.linalg.vector_norm(vectors, axis=axis, ord=order, keepdims=True)
    return like_input(wt.divide(vectors, wt.where(wt.equal(norm, 0), 1.0, norm)), x)
