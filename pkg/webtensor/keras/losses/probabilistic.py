"""Losses between distributions: cross-entropies, focal ones among them, and related losses.

Those of logits are computed by the logarithm of the softmax or by softplus, without overflow.
Probabilities are clipped to ``[epsilon(), 1 - epsilon()]``, with an epsilon of 1e-7; no gradient
flows through the clipped ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from webtensor import ops as wt
from webtensor.autodiff import custom_grad
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.base import (
    FunctionLoss,
    Reduction,
    as_floats,
    check_same_shape,
    of_labels,
)
from webtensor.keras.settings import epsilon
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


def _clipped(probabilities: Tensor) -> Tensor:
    """Keep probabilities away from 0 and 1."""
    return wt.clip(probabilities, epsilon(), 1 - epsilon())


def _as_distribution(values: Tensor, axis: int) -> Tensor:
    """Divide values by their sum along ``axis``, and clip them."""
    return _clipped(values / wt.sum(values, axis, keepdims=True))


def _power(base: Tensor, gamma: float) -> Tensor:
    return wt.square(base) if gamma == 2 else wt.pow(base, gamma)


# -- two classes -------------------------------------------------------------------------------


def _binary(target: Tensor, output: Tensor, from_logits: bool) -> Tensor:
    """Return the cross-entropy of each element."""
    if from_logits:
        return wt.softplus(output) - output * target
    probability = _clipped(output)
    log_of_1, log_of_0 = wt.log(probability), wt.log(1.0 - probability)
    return wt.negative(target * log_of_1 + (1.0 - target) * log_of_0)


def _binary_pair(
    name: str, y_true: TensorLike, y_pred: TensorLike, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return smoothed labels and predictions as float32."""
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
    """Binary cross-entropy times ``(1 - p)**gamma``, where ``p`` is the label's probability.

    With ``apply_class_balancing``, class 1 is weighted by ``alpha`` and class 0 by ``1 - alpha``
    (Lin et al., 2018).
    """
    name = "binary_focal_crossentropy"
    target, output = _binary_pair(name, y_true, y_pred, label_smoothing)
    probability = wt.sigmoid(output) if from_logits else output
    one_minus_p = target + probability - target * probability * 2.0
    losses = _power(one_minus_p, gamma) * _binary(target, probability, False)
    if apply_class_balancing:
        losses = losses * (target * (2 * alpha - 1) + (1 - alpha))
    return wt.mean(losses, axis)


# -- several classes ---------------------------------------------------------------------------


def _categorical_pair(
    name: str, y_true: TensorLike, y_pred: TensorLike, smoothing: float, axis: int
) -> tuple[Tensor, Tensor]:
    """Return smoothed distributions and predictions as float32."""
    target, output = as_floats(y_true), as_floats(y_pred)
    check_same_shape(name, target, output)
    if smoothing:
        target = target * (1.0 - smoothing) + smoothing / output.shape[axis]
    return target, output


def _log_probabilities(output: Tensor, from_logits: bool, axis: int) -> Tensor:
    if from_logits:
        return wt.log_softmax(output, axis)
    return wt.log(_as_distribution(output, axis))


def categorical_crossentropy(
    y_true: TensorLike,
    y_pred: TensorLike,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Tensor:
    """``-sum(y_true * log(p))`` along ``axis``; probabilities are first divided by their sum.

    ``label_smoothing`` moves labels towards the uniform distribution.

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

    ``alpha`` is a number, or a sequence of one number for each class.
    """
    name = "categorical_focal_crossentropy"
    target, output = _categorical_pair(name, y_true, y_pred, label_smoothing, axis)
    probability = _as_distribution(wt.softmax(output, axis) if from_logits else output, axis)
    factor = alpha if isinstance(alpha, (int, float)) else as_floats(alpha)
    losses = _power(1.0 - probability, gamma) * target * wt.log(probability) * factor
    return wt.negative(wt.sum(losses, axis))


def _classes(name: str, y_true: TensorLike, output: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return labels as int32 without a last axis of size 1, and the output with classes last."""
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


def _from_logits(one_hot: Tensor) -> Differentiable:
    """Cross-entropy of one-hot labels and logits, with its gradient: softmax minus labels."""

    def loss(logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        log_probabilities = wt.log_softmax(logits)

        def gradient(dy: Tensor) -> Tensor:
            scale = wt.expand_dims(dy * wt.sum(one_hot, -1), -1)  # 0 for a label that is no class
            return (wt.exp(log_probabilities) - one_hot) * scale

        return wt.negative(wt.sum(one_hot * log_probabilities, -1)), gradient

    return loss


def _from_probabilities(one_hot: Tensor) -> Differentiable:
    """Cross-entropy of one-hot labels and probabilities, with its gradient.

    Let s be the sum of a row p, k its label, and q = p[k] / s. The gradient of -log(q) by p is
    (q - one_hot) / p[k].
    """

    def loss(output: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        value_of_label = wt.sum(one_hot * output, -1)
        probability = value_of_label / wt.sum(output, -1)
        clipped = _clipped(probability)

        def gradient(dy: Tensor) -> Tensor:
            scale = wt.where(wt.equal(probability, clipped), dy / value_of_label, 0.0)
            return (wt.expand_dims(probability, -1) - one_hot) * wt.expand_dims(scale, -1)

        return wt.negative(wt.log(clipped) * wt.sum(one_hot, -1)), gradient

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

    Samples of ``ignore_class`` have a loss of 0 and are masked in a mean. Samples whose label is
    no class have a loss of 0, too.

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
    one_hot = wt.one_hot(labels, output.shape[-1], dtype=float32)
    losses = custom_grad((_from_logits if from_logits else _from_probabilities)(one_hot))(output)
    if ignore_class is not None:
        mask = wt.not_equal(labels, ignore_class)
        losses = wt.where(mask, losses, 0.0)
        losses._keras_mask = mask
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
    probability = wt.sum(wt.one_hot(labels, output.shape[-1], dtype=float32) * output, -1)
    return (1.0 - wt.pow(probability, q)) / q


# -- distributions -----------------------------------------------------------------------------


def kl_divergence(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``sum(y_true * log(y_true / y_pred), -1)``, with both clipped to [1e-7, 1]."""
    target, output = (wt.clip(as_floats(values), epsilon(), 1.0) for values in (y_true, y_pred))
    return wt.sum(target * wt.log(target / output), -1)


def poisson(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """``mean(y_pred - y_true * log(y_pred + 1e-7), -1)``."""
    target, output = as_floats(y_true), as_floats(y_pred)
    return wt.mean(output - target * wt.log(output + epsilon()), -1)


# -- classes -----------------------------------------------------------------------------------


class BinaryCrossentropy(FunctionLoss, function=binary_crossentropy):
    """Cross-entropy between labels of two classes and probabilities, or logits.

    Args:
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        label_smoothing: a number from 0 to 1: how far labels are moved towards 1/2.
        axis: an integer, the axis along which the mean is taken.

    Raises:
        ValueError: when called, if targets and predictions have different shapes.

    Example:
        >>> from webtensor import keras
        >>> keras.losses.BinaryCrossentropy(from_logits=True)([[1.0]], [[100.0]]).tolist()
        0.0
    """

    @forwards_arguments
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "binary_crossentropy",
        dtype: DTypeLike = None,
    ) -> None: ...


class BinaryFocalCrossentropy(FunctionLoss, function=binary_focal_crossentropy):
    """Binary cross-entropy that weights well-predicted samples less (Lin et al., 2018).

    ``-(1 - p)**gamma * log(p)``, where ``p`` is the probability of the label.

    Args:
        apply_class_balancing: a boolean, whether class 1 is weighted by ``alpha`` and class 0 by
            ``1 - alpha``.
        alpha: a number from 0 to 1, the weight of class 1.
        gamma: a number: the larger it is, the less well-predicted samples count.
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        label_smoothing: a number from 0 to 1: how far labels are moved towards 1/2.
        axis: an integer, the axis along which the mean is taken.

    Raises:
        ValueError: when called, if targets and predictions have different shapes.
    """

    @forwards_arguments
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
    ) -> None: ...


class CategoricalCrossentropy(FunctionLoss, function=categorical_crossentropy):
    """Cross-entropy between one-hot labels, or other distributions, and predicted distributions.

    Args:
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        label_smoothing: a number from 0 to 1: how far labels are moved towards the uniform
            distribution.
        axis: an integer, the axis of the classes.

    Raises:
        ValueError: when called, if targets and predictions have different shapes.
    """

    @forwards_arguments
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "categorical_crossentropy",
        dtype: DTypeLike = None,
    ) -> None: ...


class CategoricalFocalCrossentropy(FunctionLoss, function=categorical_focal_crossentropy):
    """Categorical cross-entropy that weights well-predicted samples less (Lin et al., 2018).

    ``-sum(alpha * (1 - p)**gamma * y_true * log(p))``

    Args:
        alpha: a number, or a sequence of one for each class: weights of the classes.
        gamma: a number: the larger it is, the less well-predicted samples count.
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        label_smoothing: a number from 0 to 1: how far labels are moved towards the uniform
            distribution.
        axis: an integer, the axis of the classes.

    Raises:
        ValueError: when called, if targets and predictions have different shapes.
    """

    @forwards_arguments
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
    ) -> None: ...


class SparseCategoricalCrossentropy(FunctionLoss, function=sparse_categorical_crossentropy):
    """Cross-entropy between integer labels and predicted distributions over classes.

    Args:
        from_logits: a boolean, whether predictions are logits instead of probabilities.
        ignore_class: an integer, a class whose samples are masked; None masks none.
        axis: an integer, the axis of the classes.

    Raises:
        ValueError: when called, if targets do not have the shape of predictions without ``axis``.
    """

    _config_omits: ClassVar = {"axis": -1}

    @forwards_arguments
    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: Reduction = "sum_over_batch_size",
        axis: int = -1,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: DTypeLike = None,
    ) -> None: ...


class CategoricalGeneralizedCrossEntropy(
    FunctionLoss, function=categorical_generalized_cross_entropy
):
    """``(1 - p**q) / q``, where ``p`` is the probability of the label; for labels with errors.

    Targets are integer labels. With ``q`` near 0 this is the cross-entropy, with ``q`` near 1 the
    absolute error (Zhang and Sabuncu, 2018).

    Args:
        q: a number between 0 and 1.

    Raises:
        ValueError: ``q`` is outside (0, 1).
    """

    @forwards_arguments
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


class KLDivergence(FunctionLoss, function=kl_divergence):
    """The Kullback-Leibler divergence, ``sum(y_true * log(y_true / y_pred))``."""


class Poisson(FunctionLoss, function=poisson):
    """``mean(y_pred - y_true * log(y_pred))``."""
