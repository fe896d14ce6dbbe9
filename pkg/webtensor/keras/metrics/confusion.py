"""Metrics of two classes: true and false positives and negatives at thresholds, and their ratios.

All thresholds are compared with predictions at once, and the counts are sums of the comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.allocations import claim
from webtensor.keras.arguments import check_positive, forwards_arguments
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.metrics.base import Metric, add_to
from webtensor.keras.types import DTypeLike
from webtensor.keras.variables import Variable
from webtensor.shapes import prod

__all__ = [
    "ConfusionMetric",
    "FalseNegatives",
    "FalsePositives",
    "Precision",
    "PrecisionAtRecall",
    "Recall",
    "RecallAtPrecision",
    "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
    "TrueNegatives",
    "TruePositives",
    "as_thresholds",
    "evenly_spaced",
]

Thresholds = float | Sequence[float] | None

#: The score of a class that is not among the top ones, and a threshold that all other scores pass.
_LOWEST_SCORE = -1e10

#: Up to this number, thresholds are compared with all predictions; more are searched by sorting.
_MAX_COMPARED = 8

_COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives")
#: Each of these ratios is the first count divided by the sum of the two.
_RATIOS = {
    "precision": ("true_positives", "false_positives"),
    "recall": ("true_positives", "false_negatives"),
    "sensitivity": ("true_positives", "false_negatives"),
    "specificity": ("true_negatives", "false_positives"),
}


def as_thresholds(owner: Metric, thresholds: Thresholds, default: float) -> list[float]:
    """Return thresholds as a list of numbers in [0, 1]."""
    if thresholds is None:
        return [default]
    values = list(thresholds) if isinstance(thresholds, Sequence) else [thresholds]
    if not all(isinstance(value, (int, float)) and 0 <= value <= 1 for value in values):
        raise ValueError(
            f"{type(owner).__name__}: thresholds must lie in [0, 1], but got {thresholds!r}"
        )
    return [float(value) for value in values]


def evenly_spaced(owner: Metric, num_thresholds: int) -> list[float]:
    """Return numbers from 0 to 1, both included."""
    claim(num_thresholds, f"{type(owner).__name__}: num_thresholds={num_thresholds}")
    last = num_thresholds - 1
    return [index / last for index in range(num_thresholds)] if last else [0.5]


def _only_top(scores: Tensor, k: int) -> Tensor:
    """Keep the top ``k`` scores along the last axis, and lower the others below any threshold."""
    indices = wt.topk(scores, k).indices
    is_top = wt.any(wt.one_hot(indices, scores.shape[-1], dtype="bool"), -2)
    return wt.where(is_top, scores, _LOWEST_SCORE)


def _sums_by_comparing(
    thresholds: Sequence[float], positive: Tensor, scores: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Return the sums of positives and of weights above each threshold: (thresholds, labels)."""
    edges = wt.tensor(list(thresholds), (len(thresholds), 1, 1), float32)
    is_above = wt.astype(wt.greater(wt.expand_dims(scores, 0), edges), float32)
    weight_above = is_above if weight is None else is_above * weight
    return wt.sum(is_above * positive, 1), wt.sum(weight_above, 1)


def _sums_by_sorting(
    thresholds: Sequence[float], positive: Tensor, scores: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Return what ``_sums_by_comparing`` does, in less time if there are many thresholds.

    Values between two neighbouring thresholds are added up, then the sums above each threshold.
    """
    count, labels = len(thresholds), scores.shape[1]
    order = sorted(range(count), key=thresholds.__getitem__)
    edges = wt.tensor([thresholds[index] for index in order], dtype=float32)
    segments = wt.lower_bound(edges, wt.flatten(scores))  # the number of lower thresholds
    if labels > 1:
        segments = wt.flatten(wt.reshape(segments, scores.shape) * labels + wt.arange(labels))
    pair = wt.stack([positive, wt.ones_like(scores) if weight is None else weight], -1)
    parts = wt.unsorted_segment_sum(wt.reshape(pair, (-1, 2)), segments, (count + 1) * labels)
    sums = wt.cumsum(wt.reshape(parts, (count + 1, labels, 2)), 0, reverse=True)[1:]
    if order != list(range(count)):
        sums = wt.gather(sums, sorted(range(count), key=order.__getitem__))
    return sums[..., 0], sums[..., 1]


class ConfusionMetric(Metric):
    """A metric whose state are counts at thresholds.

    Args:
        class_id: an integer, the only class of the last axis that is counted; None counts all.
    """

    #: Which of ``_COUNTS`` the state has.
    _counted: ClassVar[tuple[str, ...]] = _COUNTS

    true_positives: Variable
    false_positives: Variable
    true_negatives: Variable
    false_negatives: Variable
    thresholds: list[float]
    #: The argument ``thresholds``.
    init_thresholds: Thresholds = None
    top_k: int | None = None
    class_id: int | None = None

    def _add_counts(self, *labels: int) -> None:
        shape = (len(self.thresholds), *labels)
        for name in self._counted:
            setattr(self, name, self.add_variable(shape, "zeros", name=name))

    def _count_variables(self) -> dict[str, Variable]:
        """The variables that ``update_state`` adds to, by the names of their counts."""
        return {name: getattr(self, name) for name in self._counted}

    def _operands(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return targets of 0 and 1, predictions and weights of the same shape."""
        labels = as_floats(wt.not_equal(as_floats(y_true), 0))
        target, scores = same_rank(labels, as_floats(y_pred))
        if target.shape != scores.shape:
            raise ValueError(
                f"{type(self).__name__}: y_true and y_pred must have the same shape, but got "
                f"{target.shape} and {scores.shape}"
            )
        if self.top_k is not None:
            scores = _only_top(scores, self.top_k)
        if self.class_id is not None:
            if len(scores.shape) == 1:
                raise ValueError(
                    f"{type(self).__name__}: with class_id, y_pred must be (batch, classes), but "
                    f"its shape is {scores.shape}"
                )
            column = slice(self.class_id, self.class_id + 1)
            target, scores = target[..., column], scores[..., column]
        if sample_weight is None:
            return target, scores, None
        weight = as_floats(sample_weight)
        if weight.shape:
            scores, weight = same_rank(scores, weight)
            target = wt.reshape(target, scores.shape)
            missing_axes = len(scores.shape) - len(weight.shape)
            weight = wt.reshape(weight, (*weight.shape, *[1] * missing_axes))
        return target, scores, wt.broadcast_to(weight, scores.shape)

    def _counts(
        self, target: Tensor, scores: Tensor, weight: Tensor | None, per_label: bool = False
    ) -> dict[str, Tensor]:
        """Return the counts of a batch, (thresholds,), or (thresholds, labels) if ``per_label``."""
        shape = (prod(scores.shape[:-1]), scores.shape[-1]) if per_label else (scores.size, 1)
        scores = wt.reshape(scores, shape)
        weight = None if weight is None else wt.reshape(weight, shape)
        positive = wt.reshape(target, shape)
        positive = positive if weight is None else positive * weight

        is_few = len(self.thresholds) <= _MAX_COMPARED
        sums_above = _sums_by_comparing if is_few else _sums_by_sorting
        true_positives, weight_above = sums_above(self.thresholds, positive, scores, weight)
        false_positives = weight_above - true_positives
        counts = {"true_positives": true_positives, "false_positives": false_positives}
        if "false_negatives" in self._counted:
            counts["false_negatives"] = wt.sum(positive, 0) - true_positives
        if "true_negatives" in self._counted:
            total = float(shape[0]) if weight is None else wt.sum(weight, 0)
            counts["true_negatives"] = total - wt.sum(positive, 0) - false_positives
        if per_label:
            return counts
        return {name: wt.flatten(count) for name, count in counts.items()}

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account.

        Raises:
            ValueError: the shapes differ.
        """
        self._add_batch(*self._operands(y_true, y_pred, sample_weight))

    def _add_batch(
        self, target: Tensor, scores: Tensor, weight: Tensor | None, per_label: bool = False
    ) -> None:
        counts = self._counts(target, scores, weight, per_label)
        for name, variable in self._count_variables().items():
            add_to(variable, counts[name])

    def _ratio(self, name: str) -> Tensor:
        """Return one of ``_RATIOS`` at each threshold; 0 if its counts are 0."""
        part, rest = (getattr(self, count).value for count in _RATIOS[name])
        return wt.divide_no_nan(part, part + rest)

    def _config_value(self, name: str) -> Any:
        return self.init_thresholds if name == "thresholds" else super()._config_value(name)


# -- counts ------------------------------------------------------------------------------------


class _SingleCount(ConfusionMetric):
    """One of the counts.

    Args:
        thresholds: a number from 0 to 1 or several; larger predictions are positive. None is 0.5.
    """

    def __init__(
        self, thresholds: Thresholds = None, name: str | None = None, dtype: DTypeLike = None
    ) -> None:
        super().__init__(dtype, name)
        self.init_thresholds = thresholds
        self.thresholds = as_thresholds(self, thresholds, 0.5)
        self.accumulator = self.add_variable((len(self.thresholds),), "zeros", name="accumulator")

    def _count_variables(self) -> dict[str, Variable]:
        return dict.fromkeys(self._counted, self.accumulator)

    def result(self) -> Tensor:
        """Return the count, or the counts at several thresholds."""
        counts = self.accumulator.value
        return counts[0] if len(self.thresholds) == 1 else counts


class TruePositives(_SingleCount):
    """The number of samples of class 1, or the sum of their weights, that are predicted as 1.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.TruePositives()([0, 1, 1], [0.9, 0.8, 0.2]).tolist()
        1.0
    """

    _counted = ("true_positives",)


class FalsePositives(_SingleCount):
    """The number of samples of class 0, or the sum of their weights, that are predicted as 1."""

    _counted = ("false_positives",)


class TrueNegatives(_SingleCount):
    """The number of samples of class 0, or the sum of their weights, that are predicted as 0."""

    _counted = ("true_negatives",)


class FalseNegatives(_SingleCount):
    """The number of samples of class 1, or the sum of their weights, that are predicted as 0."""

    _counted = ("false_negatives",)


# -- precision and recall ----------------------------------------------------------------------


class _RatioAtThresholds(ConfusionMetric):
    """A ratio of counts at given thresholds, or among the top predictions.

    Args:
        thresholds: a number from 0 to 1 or several; larger predictions are positive. None is 0.5,
            or no threshold with ``top_k``.
        top_k: an integer: only the top ``top_k`` predictions of each sample are positive. None sets
            no limit.
    """

    #: Which of ``_RATIOS`` this is.
    _ratio_name: ClassVar[str]

    def __init__(
        self,
        thresholds: Thresholds = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(dtype, name)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self.thresholds = as_thresholds(self, thresholds, 0.5 if top_k is None else _LOWEST_SCORE)
        self._add_counts()

    def result(self) -> Tensor:
        """Return the ratio, or the ratios at several thresholds; 0 if nothing is counted."""
        ratios = self._ratio(self._ratio_name)
        return ratios[0] if len(self.thresholds) == 1 else ratios


class Precision(_RatioAtThresholds):
    """The share of positive predictions that are correct.

    ``true_positives / (true_positives + false_positives)``

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.Precision()([0, 1, 1, 1], [1.0, 0.0, 1.0, 0.0]).tolist()
        0.5
    """

    _ratio_name = "precision"
    _counted = _RATIOS["precision"]


class Recall(_RatioAtThresholds):
    """The share of positive samples that are predicted as positive.

    ``true_positives / (true_positives + false_negatives)``
    """

    _ratio_name = "recall"
    _counted = _RATIOS["recall"]


class _MaximumRatio(ConfusionMetric):
    """The maximum of one ratio over the thresholds where another ratio has at least a given value.

    Args:
        num_thresholds: an integer, the number of evenly spaced thresholds from 0 to 1.

    Raises:
        ValueError: the given value is outside [0, 1], or ``num_thresholds`` is not positive.
    """

    #: The ratio that is maximized, and the one that has a lower bound, the argument of its name.
    _maximized: ClassVar[str]
    _bounded: ClassVar[str]

    def __init__(
        self,
        num_thresholds: int,
        class_id: int | None,
        name: str | None,
        dtype: DTypeLike,
        **bounds: float,
    ) -> None:
        super().__init__(dtype, name)
        owner = type(self).__name__
        value = bounds[self._bounded]
        if not 0 <= value <= 1:
            raise ValueError(f"{owner}: {self._bounded} must lie in [0, 1], but got {value!r}")
        check_positive(owner, num_thresholds=num_thresholds)
        self.value = value
        setattr(self, self._bounded, value)
        self.num_thresholds = num_thresholds
        self.class_id = class_id
        self.thresholds = evenly_spaced(self, num_thresholds)
        self._add_counts()

    def result(self) -> Tensor:
        """Return the maximum; 0 if the other ratio is less than its bound at all thresholds."""
        is_allowed = wt.greater_equal(self._ratio(self._bounded), self.value)
        return wt.max(wt.where(is_allowed, self._ratio(self._maximized), 0.0))


class SensitivityAtSpecificity(_MaximumRatio):
    """The maximum sensitivity over the thresholds where specificity has at least a given value.

    Sensitivity is ``true_positives / (true_positives + false_negatives)``, and
    specificity is ``true_negatives / (true_negatives + false_positives)``.

    Args:
        specificity: a number from 0 to 1, the minimum of specificity.

    Raises:
        ValueError: ``specificity`` is outside [0, 1], or ``num_thresholds`` is not positive.
    """

    _maximized = "sensitivity"
    _bounded = "specificity"
    specificity: float

    @forwards_arguments
    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None: ...


class SpecificityAtSensitivity(_MaximumRatio):
    """The maximum specificity over the thresholds where sensitivity has at least a given value.

    Specificity is ``true_negatives / (true_negatives + false_positives)``, and
    sensitivity is ``true_positives / (true_positives + false_negatives)``.

    Args:
        sensitivity: a number from 0 to 1, the minimum of sensitivity.

    Raises:
        ValueError: ``sensitivity`` is outside [0, 1], or ``num_thresholds`` is not positive.
    """

    _maximized = "specificity"
    _bounded = "sensitivity"
    sensitivity: float

    @forwards_arguments
    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None: ...


class PrecisionAtRecall(_MaximumRatio):
    """The maximum precision over the thresholds where recall has at least a given value.

    Precision is ``true_positives / (true_positives + false_positives)``, and
    recall is ``true_positives / (true_positives + false_negatives)``.

    Args:
        recall: a number from 0 to 1, the minimum of recall.

    Raises:
        ValueError: ``recall`` is outside [0, 1], or ``num_thresholds`` is not positive.
    """

    _maximized = "precision"
    _bounded = "recall"
    recall: float

    @forwards_arguments
    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None: ...


class RecallAtPrecision(_MaximumRatio):
    """The maximum recall over the thresholds where precision has at least a given value.

    Recall is ``true_positives / (true_positives + false_negatives)``, and
    precision is ``true_positives / (true_positives + false_positives)``.

    Args:
        precision: a number from 0 to 1, the minimum of precision.

    Raises:
        ValueError: ``precision`` is outside [0, 1], or ``num_thresholds`` is not positive.
    """

    _maximized = "recall"
    _bounded = "precision"
    precision: float

    @forwards_arguments
    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None: ...
