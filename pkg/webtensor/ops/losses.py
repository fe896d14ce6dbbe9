"""Losses between labels and predictions, weighted and reduced to a number: ``wt.losses``."""

from __future__ import annotations

from enum import IntEnum

from webtensor.arguments import as_fraction, as_number
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.ops.activations import relu, softplus
from webtensor.ops.binary import (
    add,
    divide,
    multiply,
    not_equal,
    squared_difference,
    subtract,
)
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.casting import as_float, cast_to
from webtensor.ops.nn import clip, log_softmax
from webtensor.ops.reduction import mean as _mean, sum as _sum
from webtensor.ops.unary import abs as _abs, log, negative, square
from webtensor.shapes import broadcast_shapes, normalize_axis

__all__ = [
    "Reduction",
    "absolute_difference",
    "compute_weighted_loss",
    "cosine_distance",
    "hinge_loss",
    "huber_loss",
    "log_loss",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
]


class Reduction(IntEnum):
    """How weighted losses are reduced.

    Example:
        >>> import webtensor as wt
        >>> wt.losses.absolute_difference([1.0, 2.0], [2.0, 4.0], reduction=wt.Reduction.SUM).item()
        3.0
    """

    #: They stay as they are.
    NONE = 0
    #: Their sum, divided by the sum of the weights.
    MEAN = 1
    #: Their sum.
    SUM = 2
    #: Their sum, divided by the number of weights that are not zero.
    SUM_BY_NONZERO_WEIGHTS = 3


_BY_NONZERO = Reduction.SUM_BY_NONZERO_WEIGHTS


def _reduced(
    name: str, losses: Tensor, weights: TensorLike | None, reduction: Reduction | int
) -> Tensor:
    try:
        chosen = Reduction(reduction)
    except ValueError:
        names = ", ".join(f"Reduction.{member.name}" for member in Reduction)
        raise ValueError(
            f"{name}: reduction must be one of {names}, but got {reduction!r}"
        ) from None
    if weights is None:
        if chosen is Reduction.NONE:
            return losses
        return _sum(losses) if chosen is Reduction.SUM else _mean(losses)
    factors = as_float(name, "weights", weights)
    try:
        shape = broadcast_shapes(name, factors.shape, losses.shape)
    except ValueError:
        raise ValueError(
            f"{name}: weights have shape {factors.shape}, which does not broadcast with that of "
            f"the losses, {losses.shape}"
        ) from None
    weighted = multiply(losses, factors)
    if chosen is Reduction.NONE:
        return weighted
    total = _sum(weighted)
    if chosen is Reduction.SUM:
        return total
    each = broadcast_to(factors, shape)
    if chosen is Reduction.MEAN:
        return divide(total, _sum(each))
    return divide(total, cast_to(_sum(not_equal(each, 0.0)), float32))


def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike | None = None,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """Multiply losses by weights, with broadcasting, and reduce the products.

    Without weights each loss counts once. All weights zero give NaN, where they divide.

    Raises:
        ValueError: weights of another shape, or an unknown reduction.

    Example:
        >>> import webtensor as wt
        >>> wt.losses.compute_weighted_loss([1.0, 2.0, 3.0], [1.0, 0.0, 2.0]).tolist()
        3.5
    """
    name = "compute_weighted_loss"
    return _reduced(name, as_float(name, "losses", losses), weights, reduction)


def _pair(
    name: str, first: str, labels: TensorLike, second: str, predictions: TensorLike
) -> tuple[Tensor, Tensor]:
    """Return two float tensors of one shape."""
    a = as_float(name, first, labels)
    b = as_float(name, second, predictions)
    if a.shape != b.shape:
        raise ValueError(f"{name}: {first} has shape {a.shape}, but {second} has shape {b.shape}")
    return a, b


def _labelled(name: str, labels: TensorLike, predictions: TensorLike) -> tuple[Tensor, Tensor]:
    return _pair(name, "labels", labels, "predictions", predictions)


def absolute_difference(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """Absolute differences; see ``compute_weighted_loss`` for the weights and the reduction.

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.losses.absolute_difference([1.0, 2.0], [2.0, 4.0]).tolist()
        1.5
    """
    name = "absolute_difference"
    truth, guess = _labelled(name, labels, predictions)
    return _reduced(name, _abs(subtract(truth, guess)), weights, reduction)


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """Squared differences; see ``compute_weighted_loss`` for the weights and the reduction.

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.losses.mean_squared_error([1.0, 2.0], [2.0, 4.0]).tolist()
        2.5
    """
    name = "mean_squared_error"
    truth, guess = _labelled(name, labels, predictions)
    return _reduced(name, squared_difference(truth, guess), weights, reduction)


def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int,
    weights: TensorLike | None = None,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """One minus the product of vectors of length 1, which lie along ``axis``.

    The axis keeps size 1 in the losses, to which the weights broadcast.

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.losses.cosine_distance([[1.0, 0.0]], [[0.0, 1.0]], 1).tolist()
        1.0
    """
    name = "cosine_distance"
    truth, guess = _labelled(name, labels, predictions)
    along = normalize_axis(name, axis, len(truth.shape))
    losses = subtract(1.0, _sum(multiply(truth, guess), along, keepdims=True))
    return _reduced(name, losses, weights, reduction)


def hinge_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """How far predictions are from beyond 1 on the side of their labels, which are 0 or 1.

    ``max(0, 1 - (2 * labels - 1) * predictions)``.

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.losses.hinge_loss([1.0, 0.0], [0.5, 0.5]).tolist()
        1.0
    """
    name = "hinge_loss"
    truth, guess = _labelled(name, labels, predictions)
    sign = subtract(multiply(truth, 2.0), 1.0)
    return _reduced(name, relu(subtract(1.0, multiply(sign, guess))), weights, reduction)


def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    delta: float = 1.0,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """Half the squared difference up to ``delta``, going on as its tangent (Huber, 1964).

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> wt.losses.huber_loss([0.0, 0.0], [0.5, 3.0]).tolist()
        1.3125
    """
    name = "huber_loss"
    delta = as_number(name, "delta", delta)
    if not delta >= 0:
        raise ValueError(f"{name}: delta must be a non-negative number, but got {delta!r}")
    truth, guess = _labelled(name, labels, predictions)
    losses = huber_of_errors(subtract(guess, truth), delta)
    return _reduced(name, losses, weights, reduction)


def huber_of_errors(errors: Tensor, delta: float) -> Tensor:
    """Return half the squares of errors up to ``delta``, which go on as their tangents."""
    quadratic = clip(errors, -delta, delta)
    linear = multiply(_abs(subtract(errors, quadratic)), delta)
    return add(multiply(square(quadratic), 0.5), linear)


def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    epsilon: float = 1e-7,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """Cross-entropy of probabilities: ``-labels * log(p) - (1 - labels) * log(1 - p)``.

    ``epsilon`` is added to the probabilities, so that no logarithm is infinite.

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> loss = wt.losses.log_loss([1.0], [0.5])
        >>> abs(float(loss) - 0.693147) < 1e-5
        True
    """
    name = "log_loss"
    epsilon = as_number(name, "epsilon", epsilon)
    if not epsilon >= 0:
        raise ValueError(f"{name}: epsilon must be a non-negative number, but got {epsilon!r}")
    truth, guess = _labelled(name, labels, predictions)
    yes = multiply(truth, log(add(guess, epsilon)))
    no = multiply(subtract(1.0, truth), log(add(subtract(1.0, guess), epsilon)))
    return _reduced(name, negative(add(yes, no)), weights, reduction)


def _smoothed(name: str, labels: Tensor, smoothing: float, share: float) -> Tensor:
    """Move labels towards their mean by ``smoothing``."""
    smoothing = as_fraction(name, "label_smoothing", smoothing)
    if smoothing == 0:
        return labels
    return add(multiply(labels, 1.0 - smoothing), smoothing * share)


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike | None = None,
    label_smoothing: float = 0.0,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """Cross-entropy between labels and the sigmoid of logits, each class on its own.

    ``label_smoothing`` moves the labels towards 1/2. Computed as ``z * softplus(-x) +
    (1 - z) * softplus(x)``, which neither overflows nor cancels.

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> loss = wt.losses.sigmoid_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]])
        >>> abs(float(loss) - 0.693147) < 1e-6
        True
    """
    name = "sigmoid_cross_entropy"
    truth, x = _pair(name, "multi_class_labels", multi_class_labels, "logits", logits)
    truth = _smoothed(name, truth, label_smoothing, 0.5)
    yes, no = softplus(negative(x)), softplus(x)
    losses = add(multiply(truth, yes), multiply(subtract(1.0, truth), no))
    return _reduced(name, losses, weights, reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike | None = None,
    label_smoothing: float = 0.0,
    reduction: Reduction | int = _BY_NONZERO,
) -> Tensor:
    """Cross-entropy between labels and the softmax of logits, both (…, classes).

    Each row of the labels is a probability distribution, which ``label_smoothing`` moves towards
    the even one. There is one loss for each row, to which the weights broadcast.

    Raises:
        ValueError: shapes that differ, or options that do not fit.

    Example:
        >>> import webtensor as wt
        >>> loss = wt.losses.softmax_cross_entropy([[0.0, 1.0]], [[0.0, 0.0]])
        >>> abs(float(loss) - 0.693147) < 1e-6
        True
    """
    name = "softmax_cross_entropy"
    truth, scores = _pair(name, "onehot_labels", onehot_labels, "logits", logits)
    if not truth.shape or truth.shape[-1] == 0:
        raise ValueError(f"{name}: logits must have classes, but their shape is {scores.shape}")
    truth = _smoothed(name, truth, label_smoothing, 1.0 / truth.shape[-1])
    losses = negative(_sum(multiply(truth, log_softmax(scores)), -1))
    return _reduced(name, losses, weights, reduction)
