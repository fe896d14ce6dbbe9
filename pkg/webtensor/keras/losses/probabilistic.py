"""Losses between distributions: cross-entropies, focal ones among them, and what is like them.

From logits they are computed by the logarithm of the softmax or by softplus, without overflow.
Probabilities are kept ``epsilon()``, 1e-7, away from 0 and 1: no gradient flows through those that
are nearer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from webtensor import ops as wt
from webtensor.autodiff import custom_grad
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.config import epsilon
from webtensor.keras.losses.base import (
    LossFunctionWrapper,
    Reduction,
    as_floats,
    check_same_shape,
    of_labels,
)
from webtensor.keras.types import DTypeLike
from webtensor.shapes import normalize_axis

__all__ = [
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy",
    "KLDivergence",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_generalized_cross_entropy",
    "kl_divergence",
    "poisson",
    "sparse_categorical_crossentropy",
]


def _inside(probabilities: Tensor) -> Tensor:
    return wt.clip(probabilities, epsilon(), 1 - epsilon())


def _along(probabilities: Tensor, axis: int) -> Tensor:
    """Make probabilities add up to 1, and keep them inside."""
    return _inside(probabilities / wt.sum(probabilities, axis, keepdims=True))


def _raised(base: Tensor, gamma: float) -> Tensor:
    return wt.square(base) if gamma == 2 else wt.pow(base, gamma)


# -- two classes -------------------------------------------------------------------------------


def _binary(target: Tensor, output: Tensor, from_logits: bool) -> Tensor:
    """Cross-entropy of each element."""
    if from_logits:
        return wt.softplus(output) - output * target
    inside = _inside(output)
    yes, no = wt.log(inside), wt.log(1.0 - inside)
    return wt.negative(target * yes + (1.0 - target) * no)


def _binary_pair(
    name: str, y_true: TensorLike, y_pred: TensorLike, smoothing: float
) -> tuple[Tensor, Tensor]:
    target, output = as_floats(y_true), as_floats(y_pred)
    check_same_shape(name, target, output)
    if smoothing:
        target = target * (1.0 - smoothing) + 0.5 * smoothing
    return target, output


def binary_crossentropy(
    y_true: TensorLike,
    y_pred: TensorLike,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """The mean along ``axis`` of ``-y_true * log(p) - (1 - y_true) * log(1 - p)``.

    ``label_smoothing`` moves labels towards 1/2.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> from webtensor import keras
        >>> loss = keras.losses.binary_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])
        >>> abs(float(loss[0]) - 0.693147) < 1e-5
        True
    """
    pair = _binary_pair("binary_crossentropy", y_true, y_pred, label_smoothing)
    return wt.mean(_binary(*pair, from_logits), axis)


def binary_focal_crossentropy(
    y_true: TensorLike,
    y_pred: TensorLike,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """Binary cross-entropy times ``(1 - p)**gamma``, with the label's probability ``p``.

    With ``apply_class_balancing``, class 1 is weighted by ``alpha`` and class 0 by ``1 - alpha``
    (Lin et al., 2018).
    """
    name = "binary_focal_crossentropy"
    target, output = _binary_pair(name, y_true, y_pred, label_smoothing)
    chance = wt.sigmoid(output) if from_logits else output
    missing = target + chance - target * chance * 2.0
    losses = _raised(missing, gamma) * _binary(target, chance, False)
    if apply_class_balancing:
        losses = losses * (target * (2 * alpha - 1) + (1 - alpha))
    return wt.mean(losses, axis)


# -- several classes ---------------------------------------------------------------------------


def _categorical_pair(
    name: str, y_true: TensorLike, y_pred: TensorLike, smoothing: float, axis: int
) -> tuple[Tensor, Tensor]:
    target, output = as_floats(y_true), as_floats(y_pred)
    check_same_shape(name, target, output)
    if smoothing:
        target = target * (1.0 - smoothing) + smoothing / output.shape[axis]
    return target, output


def _log_probabilities(output: Tensor, from_logits: bool, axis: int) -> Tensor:
    return wt.log_softmax(output, axis) if from_logits else wt.log(_along(output, axis))


def categorical_crossentropy(
    y_true: TensorLike,
    y_pred: TensorLike,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """``-sum(y_true * log(p))`` along ``axis``, of probabilities that are made to add up to 1.

    ``label_smoothing`` moves labels towards the even distribution.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> from webtensor import keras
        >>> loss = keras.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])
        >>> abs(float(loss[0]) - 0.693147) < 1e-5
        True
    """
    name = "categorical_crossentropy"
    target, output = _categorical_pair(name, y_true, y_pred, label_smoothing, axis)
    return wt.negative(wt.sum(target * _log_probabilities(output, from_logits, axis), axis))


def categorical_focal_crossentropy(
    y_true: TensorLike,
    y_pred: TensorLike,
    alpha: float | Sequence[float] = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """``-sum(alpha * (1 - p)**gamma * y_true * log(p))`` along ``axis`` (Lin et al., 2018).

    ``alpha`` is a number, or one for each class.
    """
    name = "categorical_focal_crossentropy"
    target, output = _categorical_pair(name, y_true, y_pred, label_smoothing, axis)
    chance = _along(wt.softmax(output, axis) if from_logits else output, axis)
    factor = alpha if isinstance(alpha, (int, float)) else as_floats(alpha)
    losses = _raised(1.0 - chance, gamma) * target * wt.log(chance) * factor
    return wt.negative(wt.sum(losses, axis))


def _classes(name: str, y_true: TensorLike, output: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Labels as int32 without an axis of length 1 at the end, and the output, classes last."""
    axis = normalize_axis(name, axis, len(output.shape))
    if axis != len(output.shape) - 1:
        output = wt.moveaxis(output, axis, -1)
    labels = wt.asarray(y_true)
    if len(labels.shape) == len(output.shape) and labels.shape[-1] == 1:
        labels = wt.squeeze(labels, -1)
    if labels.shape != output.shape[:-1]:
        raise ValueError(
            f"{name}: y_true must have the shape of y_pred without the axis of classes, "
            f"{output.shape[:-1]}, but its shape is {labels.shape}"
        )
    return wt.astype(labels, int32, copy=False), output


Differentiable = Callable[[Tensor], tuple[Tensor, Callable[[Tensor], Tensor]]]


def _from_logits(hot: Tensor) -> Differentiable:
    """Cross-entropy of one-hot labels and logits, with its gradient: softmax less labels."""

    def loss(logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        logs = wt.log_softmax(logits)

        def gradient(dy: Tensor) -> Tensor:
            scale = wt.expand_dims(dy * wt.sum(hot, -1), -1)  # 0 for a label that is no class
            return (wt.exp(logs) - hot) * scale

        return wt.negative(wt.sum(hot * logs, -1)), gradient

    return loss


def _from_probabilities(hot: Tensor) -> Differentiable:
    """Cross-entropy of one-hot labels and probabilities, with its gradient.

    With the sum s of a row p, and p[k] of its label, q is p[k] / s, and the gradient of -log(q) is
    (q - labels) / p[k].
    """

    def loss(output: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        picked = wt.sum(hot * output, -1)
        chance = picked / wt.sum(output, -1)
        inside = _inside(chance)

        def gradient(dy: Tensor) -> Tensor:
            scale = wt.where(wt.equal(chance, inside), dy / picked, 0.0)
            return (wt.expand_dims(chance, -1) - hot) * wt.expand_dims(scale, -1)

        return wt.negative(wt.log(inside) * wt.sum(hot, -1)), gradient

    return loss


@of_labels
def sparse_categorical_crossentropy(
    y_true: TensorLike,
    y_pred: TensorLike,
    from_logits: bool = False,
    ignore_class: int | None = None,
    axis: int = -1,
) -> Tensor:
    """``-log(p)`` of the class that ``y_true`` names, an integer for each sample.

    Samples of ``ignore_class`` lose nothing, and are masked in a mean. So lose those of a class
    that is none.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> from webtensor import keras
        >>> loss = keras.losses.sparse_categorical_crossentropy([1], [[0.5, 0.5]])
        >>> abs(float(loss[0]) - 0.693147) < 1e-5
        True
    """
    name = "sparse_categorical_crossentropy"
    labels, output = _classes(name, y_true, as_floats(y_pred), axis)
    hot = wt.one_hot(labels, output.shape[-1], dtype=float32)
    losses = custom_grad((_from_logits if from_logits else _from_probabilities)(hot))(output)
    if ignore_class is not None:
        counts = wt.not_equal(labels, ignore_class)
        losses = wt.where(counts, losses, 0.0)
        losses._keras_mask = counts
    return losses


@of_labels
def categorical_generalized_cross_entropy(
    y_true: TensorLike, y_pred: TensorLike, q: float
) -> Tensor:
    """``(1 - p**q) / q`` of the probability of the class that ``y_true`` names.

    Zhang and Sabuncu, *Generalized Cross Entropy Loss*, 2018.
    """
    name = "categorical_generalized_cross_entropy"
    labels, output = _classes(name, y_true, as_floats(y_pred), -1)
    hot = wt.one_hot(labels, output.shape[-1], dtype=float32)
    chance = wt.sum(hot * output, -1)
    return (1.0 - wt.pow(chance, q)) / q


# -- distributions -----------------------------------------------------------------------------


def kl_divergence(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``sum(y_true * log(y_true / y_pred), -1)``, both at least 1e-7 and at most 1."""
    target, output = (wt.clip(as_floats(one), epsilon(), 1.0) for one in (y_true, y_pred))
    return wt.sum(target * wt.log(target / output), -1)


def poisson(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(y_pred - y_true * log(y_pred + 1e-7), -1)``."""
    target, output = as_floats(y_true), as_floats(y_pred)
    return wt.mean(output - target * wt.log(output + epsilon()), -1)


# -- classes -----------------------------------------------------------------------------------


class BinaryCrossentropy(LossFunctionWrapper):
    """Cross-entropy between labels of two classes and probabilities, or logits.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.BinaryCrossentropy(from_logits=True)([[1.0]], [[100.0]]).tolist()
        0.0
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "binary_crossentropy",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            binary_crossentropy,
            reduction,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class BinaryFocalCrossentropy(LossFunctionWrapper):
    """Binary cross-entropy that counts less where predictions are good (Lin et al., 2018)."""

    def __init__(
        self,
        apply_class_balancing: bool = False,
        alpha: float = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "binary_focal_crossentropy",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            binary_focal_crossentropy,
            reduction,
            name,
            dtype,
            apply_class_balancing=apply_class_balancing,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class CategoricalCrossentropy(LossFunctionWrapper):
    """Cross-entropy between distributions over classes, or one-hot labels, and predicted ones."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "categorical_crossentropy",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            categorical_crossentropy,
            reduction,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class CategoricalFocalCrossentropy(LossFunctionWrapper):
    """Categorical cross-entropy that counts less where predictions are good (Lin et al., 2018)."""

    def __init__(
        self,
        alpha: float | Sequence[float] = 0.25,
        gamma: float = 2.0,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "categorical_focal_crossentropy",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            categorical_focal_crossentropy,
            reduction,
            name,
            dtype,
            alpha=alpha,
            gamma=gamma,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """Cross-entropy between labels, integers, and predicted distributions over classes."""

    _config_omits: ClassVar = {"axis": -1}

    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: Reduction = "sum_over_batch_size",
        axis: int = -1,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            sparse_categorical_crossentropy,
            reduction,
            name,
            dtype,
            from_logits=from_logits,
            ignore_class=ignore_class,
            axis=axis,
        )


class CategoricalGeneralizedCrossEntropy(LossFunctionWrapper):
    """Between cross-entropy and the absolute error, by ``q``, for labels that may be wrong.

    Raises:
        ValueError: ``q`` is outside (0, 1).
    """

    def __init__(
        self,
        q: float = 0.5,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "categorical_generalized_cross_entropy",
        dtype: DTypeLike = None,
    ) -> None:
        if not 0 < q < 1:
            raise ValueError(
                f"CategoricalGeneralizedCrossEntropy: q must lie in (0, 1), but got {q!r}"
            )
        super().__init__(categorical_generalized_cross_entropy, reduction, name, dtype, q=q)


class KLDivergence(LossFunctionWrapper):
    """``sum(y_true * log(y_true / y_pred))``, from Kullback and Leibler."""

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "kl_divergence",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(kl_divergence, reduction, name, dtype)


class Poisson(LossFunctionWrapper):
    """``mean(y_pred - y_true * log(y_pred))``."""

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "poisson",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(poisson, reduction, name, dtype)
