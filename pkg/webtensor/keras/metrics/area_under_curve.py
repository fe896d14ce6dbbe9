"""The area under the curve of one ratio of counts over another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import as_floats
from webtensor.keras.metrics.confusion import ConfusionMetric, as_thresholds, evenly_spaced
from webtensor.keras.settings import epsilon
from webtensor.keras.types import DTypeLike

__all__ = ["AUC"]

_CURVES = ("ROC", "PR", "PRGAIN")
_SUMMATIONS = ("interpolation", "minoring", "majoring")


class AUC(ConfusionMetric):
    """The area under a curve, such as that of the true over the false positive rate.

    The curve is computed at thresholds, and the area is a Riemann sum.

    Args:
        num_thresholds: an integer of at least 2, the number of evenly spaced thresholds.
        curve: ``"ROC"``, the true over the false positive rate; ``"PR"``, precision over recall; or
            ``"PRGAIN"``, precision gain over recall gain.
        summation_method: the height of the curve between two thresholds: ``"interpolation"`` is the
            mean of both heights, or for ``"PR"`` an interpolation of the counts; ``"minoring"`` is
            the lower and ``"majoring"`` the higher of both.
        thresholds: a list of numbers from 0 to 1, thresholds in place of evenly spaced ones; one
            below 0 and one above 1 are added.
        multi_label: a boolean, whether each label has a curve of its own, and the areas are
            averaged; predictions then are ``(batch, labels)``.
        num_labels: an integer, the number of labels with ``multi_label``; None takes it from the
            first batch.
        label_weights: a list of numbers, one for each label: weights of the areas with
            ``multi_label``, otherwise of the predictions.
        from_logits: a boolean, whether predictions are logits instead of probabilities.

    Raises:
        ValueError: ``curve`` or ``summation_method`` is none of these, a threshold is outside
            [0, 1], there are fewer than 2 thresholds, ``num_labels`` is given without
            ``multi_label``, or there is not one weight for each label.

    Example:
        >>> from webtensor import keras
        >>> metric = keras.metrics.AUC(num_thresholds=3)
        >>> round(float(metric([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 4)
        0.75
    """

    _config_omits: ClassVar = {"thresholds": None}

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: DTypeLike = None,
        thresholds: Sequence[float] | None = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: TensorLike | None = None,
        from_logits: bool = False,
    ) -> None:
        super().__init__(dtype, name)
        if curve.upper() not in _CURVES:
            raise ValueError(f"AUC: curve must be one of {', '.join(_CURVES)}, but got {curve!r}")
        if summation_method.lower() not in _SUMMATIONS:
            raise ValueError(
                f"AUC: summation_method must be one of {', '.join(_SUMMATIONS)}, but got "
                f"{summation_method!r}"
            )
        if thresholds is not None:
            self.init_thresholds = inner = sorted(as_thresholds(self, thresholds, 0.5))
        elif num_thresholds <= 1:
            raise ValueError(
                f"AUC: num_thresholds must be greater than 1, but got {num_thresholds}"
            )
        else:
            inner = evenly_spaced(self, num_thresholds)[1:-1]
        self.thresholds = [-epsilon(), *inner, 1 + epsilon()]
        self.num_thresholds = len(self.thresholds)
        self.curve = curve.upper()
        self.summation_method = summation_method.lower()
        self.multi_label = multi_label
        self.num_labels = num_labels
        self.label_weights = None if label_weights is None else as_floats(label_weights)
        self.from_logits = from_logits
        self._is_built = not multi_label
        if not multi_label:
            if num_labels:
                raise ValueError(
                    f"AUC: num_labels is for multi_label=True only, but got {num_labels!r}"
                )
            self._add_counts()
        elif num_labels:
            self._build(num_labels)

    def _build(self, labels: int) -> None:
        if self.label_weights is not None and self.label_weights.shape != (labels,):
            raise ValueError(
                f"AUC: label_weights must be one for each of {labels} labels, but their shape is "
                f"{self.label_weights.shape}"
            )
        self._add_counts(labels)
        self._is_built = True

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account.

        Raises:
            ValueError: the shapes differ, or are not (batch, labels) with ``multi_label``.
        """
        target, scores, weight = self._operands(y_true, y_pred, sample_weight)
        if self.multi_label:
            if len(scores.shape) != 2 or self.num_labels not in (None, scores.shape[1]):
                raise ValueError(
                    f"AUC: y_pred must be (batch, {self.num_labels or 'labels'}), but its shape is "
                    f"{scores.shape}"
                )
            if not self._is_built:
                self._build(scores.shape[1])
        elif self.label_weights is not None:
            label_weights = wt.broadcast_to(self.label_weights, scores.shape)
            weight = label_weights if weight is None else weight * label_weights
        if self.from_logits:
            scores = wt.sigmoid(scores)
        self._add_batch(target, scores, weight, self.multi_label)

    def result(self) -> Tensor:
        """Return the area; 0 before the first batch."""
        if not self._is_built:
            return wt.zeros(())
        if self.curve == "PR" and self.summation_method == "interpolation":
            areas = wt.sum(self._interpolated_areas(), 0)
        else:
            x, y = self._points()
            heights = {
                "interpolation": lambda: (y[:-1] + y[1:]) * 0.5,
                "minoring": lambda: wt.minimum(y[:-1], y[1:]),
                "majoring": lambda: wt.maximum(y[:-1], y[1:]),
            }[self.summation_method]()
            areas = wt.sum((x[:-1] - x[1:]) * heights, 0)
        if not self.multi_label:
            return areas
        if self.label_weights is None:
            return wt.mean(areas)
        weights = self.label_weights
        return wt.divide_no_nan(wt.sum(areas * weights), wt.sum(weights))

    def _points(self) -> tuple[Tensor, Tensor]:
        """Return x and y of the curve at the thresholds."""
        true_positives, false_positives = self.true_positives.value, self.false_positives.value
        true_negatives, false_negatives = self.true_negatives.value, self.false_negatives.value
        if self.curve == "ROC":
            negatives = false_positives + true_negatives
            return wt.divide_no_nan(false_positives, negatives), self._ratio("recall")
        if self.curve == "PR":
            return self._ratio("recall"), self._ratio("precision")
        odds = wt.divide_no_nan(true_positives + false_negatives, false_positives + true_negatives)
        recall_gain = wt.relu(1.0 - odds * wt.divide_no_nan(false_negatives, true_positives))
        return (
            wt.where(wt.greater(true_positives, 0.0), recall_gain, 0.0),
            1.0 - odds * wt.divide_no_nan(false_positives, true_positives),
        )

    def _interpolated_areas(self) -> Tensor:
        """Return the areas between thresholds under the curve of precision over recall.

        Between two thresholds, true and false positives are interpolated, not their ratio (Davis
        and Goadrich, 2006).
        """
        true_positives = self.true_positives.value
        predicted = true_positives + self.false_positives.value
        before, after = predicted[:-1], predicted[1:]
        gained = true_positives[:-1] - true_positives[1:]
        slope = wt.divide_no_nan(gained, wt.relu(before - after))
        intercept = true_positives[1:] - slope * after
        is_positive = wt.logical_and(wt.greater(before, 0.0), wt.greater(after, 0.0))
        ratio = wt.where(is_positive, wt.divide_no_nan(before, wt.relu(after)), 1.0)
        positives = true_positives[1:] + self.false_negatives.value[1:]
        return wt.divide_no_nan(slope * (gained + intercept * wt.log(ratio)), wt.relu(positives))

    def _config_value(self, name: str) -> Any:
        if name == "label_weights" and self.label_weights is not None:
            return self.label_weights.tolist()
        return super()._config_value(name)
