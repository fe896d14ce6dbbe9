"""F-scores: harmonic means of precision and recall."""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import as_floats
from webtensor.keras.metrics.base import Metric, add_to
from webtensor.keras.settings import epsilon
from webtensor.keras.types import DTypeLike

__all__ = ["F1Score", "FBetaScore"]

_AVERAGES = (None, "micro", "macro", "weighted")


class FBetaScore(Metric):
    """``(1 + beta**2) * precision * recall / (beta**2 * precision + recall)`` of each class.

    Targets and predictions are ``(batch, classes)``.

    Args:
        average: how the scores of the classes become one: ``"micro"`` counts all classes together,
            ``"macro"`` is the mean of the scores, ``"weighted"`` their mean weighted by the
            frequency of the classes; None returns them as they are.
        beta: a positive float, the weight of recall relative to precision.
        threshold: a float in (0, 1]: larger predictions are positive; None takes the maximum of
            each sample as positive.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str | None = "fbeta_score",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(dtype, name)
        owner = type(self).__name__
        check_choice(owner, "average", average, _AVERAGES)
        if not isinstance(beta, float) or beta <= 0:
            raise ValueError(f"{owner}: beta must be a positive float, but got {beta!r}")
        if threshold is not None and not (isinstance(threshold, float) and 0 < threshold <= 1):
            raise ValueError(f"{owner}: threshold must be a float in (0, 1], but got {threshold!r}")
        self.average = average
        self.beta = beta
        self.threshold = threshold
        self._is_built = False

    def _build(self, classes: int) -> None:
        shape = () if self.average == "micro" else (classes,)
        self.true_positives = self.add_variable(shape, "zeros", name="true_positives")
        self.false_positives = self.add_variable(shape, "zeros", name="false_positives")
        self.false_negatives = self.add_variable(shape, "zeros", name="false_negatives")
        self.intermediate_weights = self.add_variable(shape, "zeros", name="intermediate_weights")
        self._is_built = True

    def _positives(self, scores: Tensor) -> Tensor:
        """1 for the classes that are predicted, else 0."""
        if self.threshold is not None:
            return wt.astype(wt.greater(scores, self.threshold), float32)
        is_maximum = wt.greater_equal(scores, wt.max(scores, -1, keepdims=True))
        return wt.astype(wt.logical_and(is_maximum, wt.greater(wt.abs(scores), 1e-9)), float32)

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account.

        Raises:
            ValueError: the shapes differ, or are not (batch, classes).
        """
        target, scores = as_floats(y_true), as_floats(y_pred)
        if len(target.shape) != 2 or target.shape != scores.shape:
            raise ValueError(
                f"{type(self).__name__}: y_true and y_pred must be (batch, classes) alike, but "
                f"their shapes are {target.shape} and {scores.shape}"
            )
        if not self._is_built:
            self._build(target.shape[1])
        predicted = self._positives(scores)
        axis = None if self.average == "micro" else 0
        correct = target * predicted
        if sample_weight is not None:
            weight = as_floats(sample_weight)
            if len(weight.shape) == 1:
                weight = wt.expand_dims(weight, 1)
            target, predicted, correct = target * weight, predicted * weight, correct * weight
        true_positives = wt.sum(correct, axis)
        support = wt.sum(target, axis)
        add_to(self.true_positives, true_positives)
        add_to(self.false_positives, wt.sum(predicted, axis) - true_positives)
        add_to(self.false_negatives, support - true_positives)
        add_to(self.intermediate_weights, support)

    def result(self) -> Tensor:
        """Return the score or scores; 0 before the first batch."""
        if not self._is_built:
            return wt.zeros(())
        true_positives = self.true_positives.value
        precision = true_positives / (true_positives + self.false_positives.value + epsilon())
        recall = true_positives / (true_positives + self.false_negatives.value + epsilon())
        square = self.beta**2
        scores = precision * recall / (precision * square + recall + epsilon()) * (1 + square)
        if self.average == "weighted":
            support = self.intermediate_weights.value
            return wt.sum(scores * (support / (wt.sum(support) + epsilon())))
        return scores if self.average is None else wt.mean(scores)


class F1Score(FBetaScore):
    """``2 * precision * recall / (precision + recall)`` of each class: ``FBetaScore`` of beta 1.

    Example:
        >>> from webtensor import keras
        >>> metric = keras.metrics.F1Score(average="micro", threshold=0.5)
        >>> round(float(metric([[1, 1], [1, 0]], [[0.9, 0.2], [0.8, 0.1]])), 4)
        0.8
    """

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str | None = "f1_score",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(average, 1.0, threshold, name, dtype)
