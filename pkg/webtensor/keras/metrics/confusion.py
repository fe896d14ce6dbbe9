"""Metrics of two classes at thresholds: what is true and false, positive and negative.

Counting is comparing predictions with all thresholds at once, and one product of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.budgets import claim
from webtensor.keras.config import epsilon
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.metrics.base import Metric, add_to
from webtensor.keras.types import Config, DTypeLike
from webtensor.keras.variables import Variable
from webtensor.shapes import prod

__all__ = [
    "AUC",
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
]

Thresholds = float | Sequence[float] | None

#: The score of a class that is not among the greatest, and a threshold that all others pass.
_NEVER = -1e10

#: More thresholds than this are not each compared with all predictions.
_MOST_COMPARED = 8

_COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives")


def _checked(owner: Metric, thresholds: Thresholds, default: float) -> list[float]:
    """Return thresholds as a list."""
    if thresholds is None:
        return [default]
    values = list(thresholds) if isinstance(thresholds, Sequence) else [thresholds]
    for one in values:
        if not isinstance(one, (int, float)) or not 0 <= one <= 1:
            raise ValueError(
                f"{type(owner).__name__}: thresholds must lie in [0, 1], but got {thresholds!r}"
            )
    return [float(one) for one in values]


def _only_top(scores: Tensor, k: int) -> Tensor:
    """Scores that are among the ``k`` greatest along the last axis; the others are never enough."""
    places = wt.topk(scores, k).indices
    chosen = wt.any(wt.one_hot(places, scores.shape[-1], dtype="bool"), -2)
    return wt.where(chosen, scores, _NEVER)


def _compared(
    thresholds: Sequence[float], positive: Tensor, guess: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Sums of positives and of weights above each threshold: (thresholds, labels)."""
    edges = wt.tensor(list(thresholds), (len(thresholds), 1, 1), float32)
    above = wt.astype(wt.greater(wt.expand_dims(guess, 0), edges), float32)
    whole = above if weight is None else above * weight
    return wt.sum(above * positive, 1), wt.sum(whole, 1)


def _sorted_in(
    thresholds: Sequence[float], positive: Tensor, guess: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The same, for many thresholds: what lies between two is added up, then those sums are."""
    count, labels = len(thresholds), guess.shape[1]
    order = sorted(range(count), key=thresholds.__getitem__)
    edges = wt.tensor([thresholds[one] for one in order], dtype=float32)
    places = wt.lower_bound(edges, wt.flatten(guess))  # how many thresholds are less
    if labels > 1:
        places = wt.flatten(wt.reshape(places, guess.shape) * labels + wt.arange(labels))
    pair = wt.stack([positive, wt.ones_like(guess) if weight is None else weight], -1)
    parts = wt.unsorted_segment_sum(wt.reshape(pair, (-1, 2)), places, (count + 1) * labels)
    sums = wt.cumsum(wt.reshape(parts, (count + 1, labels, 2)), 0, reverse=True)[1:]
    if order != list(range(count)):
        sums = wt.gather(sums, sorted(range(count), key=order.__getitem__))
    return sums[..., 0], sums[..., 1]


class _Confusion(Metric):
    """What is counted at each threshold; subclasses say what, and make numbers of it."""

    #: Which of ``_COUNTS`` are kept.
    _kept: ClassVar[tuple[str, ...]] = _COUNTS

    true_positives: Variable
    false_positives: Variable
    true_negatives: Variable
    false_negatives: Variable
    thresholds: list[float]
    _top_k: int | None = None
    _class_id: int | None = None

    def _add_counts(self, *labels: int) -> None:
        shape = (len(self.thresholds), *labels)
        for name in self._kept:
            setattr(self, name, self.add_variable(shape, "zeros", name=name))

    def _operands(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Targets, predictions and weights of one shape."""
        target, guess = same_rank(as_floats(y_true), as_floats(y_pred))
        if target.shape != guess.shape:
            raise ValueError(
                f"{type(self).__name__}: y_true and y_pred must have the same shape, but got "
                f"{target.shape} and {guess.shape}"
            )
        if self._top_k is not None:
            guess = _only_top(guess, self._top_k)
        if self._class_id is not None:
            if len(guess.shape) == 1:
                raise ValueError(
                    f"{type(self).__name__}: with class_id, y_pred must be (batch, classes), but "
                    f"its shape is {guess.shape}"
                )
            chosen = slice(self._class_id, self._class_id + 1)
            target, guess = target[..., chosen], guess[..., chosen]
        if sample_weight is None:
            return target, guess, None
        weight = as_floats(sample_weight)
        if weight.shape:
            guess, weight = same_rank(guess, weight)
            target = wt.reshape(target, guess.shape)
            missing = len(guess.shape) - len(weight.shape)
            weight = wt.reshape(weight, (*weight.shape, *[1] * missing))
        weight = wt.broadcast_to(weight, guess.shape)
        return target, guess, weight

    def _counts(
        self, target: Tensor, guess: Tensor, weight: Tensor | None, columns: bool = False
    ) -> dict[str, Tensor]:
        """What is to be added: (thresholds,), or (thresholds, labels) with ``columns``."""
        shape = (prod(guess.shape[:-1]), guess.shape[-1]) if columns else (guess.size, 1)
        guess = wt.reshape(guess, shape)
        weight = None if weight is None else wt.reshape(weight, shape)
        positive = wt.reshape(target, shape)
        positive = positive if weight is None else positive * weight

        count = _compared if len(self.thresholds) <= _MOST_COMPARED else _sorted_in
        true_positives, above = count(self.thresholds, positive, guess, weight)
        made = {"true_positives": true_positives, "false_positives": above - true_positives}
        if "false_negatives" in self._kept:
            made["false_negatives"] = wt.sum(positive, 0) - true_positives
        if "true_negatives" in self._kept:
            whole = float(shape[0]) if weight is None else wt.sum(weight, 0)
            made["true_negatives"] = whole - wt.sum(positive, 0) - made["false_positives"]
        return made if columns else {name: wt.flatten(one) for name, one in made.items()}

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account.

        Raises:
            ValueError: the shapes differ.
        """
        counts = self._counts(*self._operands(y_true, y_pred, sample_weight))
        for name in self._kept:
            add_to(getattr(self, name), counts[name])


def _ratio(part: Variable, rest: Variable) -> Tensor:
    return wt.divide_no_nan(part.value, part.value + rest.value)


# -- counts ------------------------------------------------------------------------------------


class _Count(_Confusion):
    """One of the counts."""

    def __init__(
        self, thresholds: Thresholds = None, name: str | None = None, dtype: DTypeLike = None
    ) -> None:
        super().__init__(dtype, name)
        self.init_thresholds = thresholds
        self.thresholds = _checked(self, thresholds, 0.5)
        self.accumulator = self.add_variable((len(self.thresholds),), "zeros", name="accumulator")

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account.

        Raises:
            ValueError: the shapes differ.
        """
        counts = self._counts(*self._operands(y_true, y_pred, sample_weight))
        add_to(self.accumulator, counts[self._kept[0]])

    def result(self) -> Tensor:
        """Return the count, or one for each threshold."""
        held = self.accumulator.value
        return held[0] if len(self.thresholds) == 1 else held

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Count):
    """The weight of samples of class 1 that are predicted as such.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.TruePositives()([0, 1, 1], [0.9, 0.8, 0.2]).tolist()
        1.0
    """

    _kept = ("true_positives",)


class FalsePositives(_Count):
    """The weight of samples of class 0 that are predicted as class 1."""

    _kept = ("false_positives",)


class TrueNegatives(_Count):
    """The weight of samples of class 0 that are predicted as such."""

    _kept = ("true_negatives",)


class FalseNegatives(_Count):
    """The weight of samples of class 1 that are predicted as class 0."""

    _kept = ("false_negatives",)


# -- precision and recall ----------------------------------------------------------------------


class _Share(_Confusion):
    """True positives divided by them and another count."""

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
        self.top_k = self._top_k = top_k
        self.class_id = self._class_id = class_id
        self.thresholds = _checked(self, thresholds, 0.5 if top_k is None else _NEVER)
        self._add_counts()

    def result(self) -> Tensor:
        """Return the quotient, or one for each threshold; 0 where nothing is counted."""
        made = _ratio(*(getattr(self, name) for name in self._kept))
        return made[0] if len(self.thresholds) == 1 else made

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        return {
            **super().get_config(),
            "thresholds": self.init_thresholds,
            "top_k": self.top_k,
            "class_id": self.class_id,
        }


class Precision(_Share):
    """True positives, divided by all that are predicted positive.

    Predictions are positive above ``thresholds``, by default 0.5; with ``top_k``, where they are
    among so many greatest of their sample. ``class_id`` is the only class that is counted.

    Example:
        >>> from webtensor import keras
        >>> keras.metrics.Precision()([0, 1, 1, 1], [1.0, 0.0, 1.0, 0.0]).tolist()
        0.5
    """

    _kept = ("true_positives", "false_positives")


class Recall(_Share):
    """True positives, divided by all that are positive. See ``Precision``."""

    _kept = ("true_positives", "false_negatives")


class _AtAnother(_Confusion):
    """The greatest of one quotient, where another is at least a value."""

    #: The argument that holds that value.
    _argument: ClassVar[str]

    def __init__(
        self,
        value: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(dtype, name)
        owner = type(self).__name__
        if not 0 <= value <= 1:
            raise ValueError(f"{owner}: {self._argument} must lie in [0, 1], but got {value!r}")
        if num_thresholds <= 0:
            raise ValueError(f"{owner}: num_thresholds must be positive, but got {num_thresholds}")
        self.value = value
        self.num_thresholds = num_thresholds
        self.class_id = self._class_id = class_id
        claim(num_thresholds, f"{owner}: num_thresholds={num_thresholds}")
        last = num_thresholds - 1
        self.thresholds = [one / last for one in range(num_thresholds)] if last else [0.5]
        self._add_counts()

    def _quotients(self) -> tuple[Tensor, Tensor]:
        """The quotient that must be large enough, and the one that is wanted."""
        raise NotImplementedError

    def result(self) -> Tensor:
        """Return the greatest quotient; 0 where the other is nowhere large enough."""
        other, wanted = self._quotients()
        return wt.max(wt.where(wt.greater_equal(other, self.value), wanted, 0.0))

    def _sensitivity(self) -> Tensor:
        return _ratio(self.true_positives, self.false_negatives)

    def _specificity(self) -> Tensor:
        return _ratio(self.true_negatives, self.false_positives)

    def _precision(self) -> Tensor:
        return _ratio(self.true_positives, self.false_positives)

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        return {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            "class_id": self.class_id,
            self._argument: self.value,
        }


class SensitivityAtSpecificity(_AtAnother):
    """The greatest share of positives that are found, at thresholds with a specificity."""

    _argument = "specificity"

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(specificity, num_thresholds, class_id, name, dtype)
        self.specificity = specificity

    def _quotients(self) -> tuple[Tensor, Tensor]:
        return self._specificity(), self._sensitivity()


class SpecificityAtSensitivity(_AtAnother):
    """The greatest share of negatives that are found, at thresholds with a sensitivity."""

    _argument = "sensitivity"

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)
        self.sensitivity = sensitivity

    def _quotients(self) -> tuple[Tensor, Tensor]:
        return self._sensitivity(), self._specificity()


class PrecisionAtRecall(_AtAnother):
    """The greatest precision at thresholds with a recall."""

    _argument = "recall"

    def __init__(
        self,
        recall: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(recall, num_thresholds, class_id, name, dtype)
        self.recall = recall

    def _quotients(self) -> tuple[Tensor, Tensor]:
        return self._sensitivity(), self._precision()


class RecallAtPrecision(_AtAnother):
    """The greatest recall at thresholds with a precision."""

    _argument = "precision"

    def __init__(
        self,
        precision: float,
        num_thresholds: int = 200,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(precision, num_thresholds, class_id, name, dtype)
        self.precision = precision

    def _quotients(self) -> tuple[Tensor, Tensor]:
        return self._precision(), self._sensitivity()


# -- area under the curve ----------------------------------------------------------------------

_CURVES = ("ROC", "PR", "PRGAIN")
_SUMMATIONS = ("interpolation", "minoring", "majoring")


class AUC(_Confusion):
    """The area under the curve of true over false positives ("ROC"), or of precision over recall.

    The curve, "ROC", "PR" or "PRGAIN", is computed at evenly spaced thresholds, or at given ones
    and beyond 0 and 1. ``summation_method`` is "interpolation", "minoring" or "majoring". With
    ``multi_label``, labels have a curve each, and the areas are averaged, by ``label_weights`` if
    there are any; else these weight predictions. With ``from_logits``, predictions are logits.

    Raises:
        ValueError: an argument is none of these.

    Example:
        >>> from webtensor import keras
        >>> metric = keras.metrics.AUC(num_thresholds=3)
        >>> round(float(metric([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 4)
        0.75
    """

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
        self._init_thresholds = None
        if thresholds is not None:
            self._init_thresholds = inner = sorted(_checked(self, thresholds, 0.5))
        else:
            if num_thresholds <= 1:
                raise ValueError(
                    f"AUC: num_thresholds must be greater than 1, but got {num_thresholds}"
                )
            claim(num_thresholds, f"AUC: num_thresholds={num_thresholds}")
            last = num_thresholds - 1
            inner = [one / last for one in range(1, last)]
        self.thresholds = [-epsilon(), *inner, 1 + epsilon()]
        self.num_thresholds = len(self.thresholds)
        self.curve = curve.upper()
        self.summation_method = summation_method.lower()
        self.multi_label = multi_label
        self.num_labels = num_labels
        self.label_weights = None if label_weights is None else as_floats(label_weights)
        self._from_logits = from_logits
        self._is_built = not multi_label
        if not multi_label:
            if num_labels:
                raise ValueError("AUC: num_labels is for multi_label=True alone")
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
        target, guess, weight = self._operands(y_true, y_pred, sample_weight)
        if self.multi_label:
            if len(guess.shape) != 2 or self.num_labels not in (None, guess.shape[1]):
                raise ValueError(
                    f"AUC: y_pred must be (batch, {self.num_labels or 'labels'}), but its shape is "
                    f"{guess.shape}"
                )
            if not self._is_built:
                self._build(guess.shape[1])
        elif self.label_weights is not None:
            labels = wt.broadcast_to(self.label_weights, guess.shape)
            weight = labels if weight is None else weight * labels
        if self._from_logits:
            guess = wt.sigmoid(guess)
        counts = self._counts(target, guess, weight, self.multi_label)
        for name in self._kept:
            add_to(getattr(self, name), counts[name])

    def result(self) -> Tensor:
        """Return the area; 0 where there is nothing."""
        if not self._is_built:
            return wt.zeros(())
        if self.curve == "PR" and self.summation_method == "interpolation":
            areas = wt.sum(self._interpolated(), 0)
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
        """The curve at the thresholds."""
        recall = _ratio(self.true_positives, self.false_negatives)
        if self.curve == "ROC":
            return _ratio(self.false_positives, self.true_negatives), recall
        if self.curve == "PR":
            return recall, _ratio(self.true_positives, self.false_positives)
        right, missed = self.true_positives.value, self.false_negatives.value
        false = self.false_positives.value
        odds = wt.divide_no_nan(right + missed, false + self.true_negatives.value)
        recall_gain = wt.relu(1.0 - odds * wt.divide_no_nan(missed, right))
        return (
            wt.where(wt.greater(right, 0.0), recall_gain, 0.0),
            1.0 - odds * wt.divide_no_nan(false, right),
        )

    def _interpolated(self) -> Tensor:
        """Areas between thresholds under the curve of precision over recall.

        Between two, true and false positives are interpolated, not their quotient (Davis and
        Goadrich, 2006).
        """
        right = self.true_positives.value
        found = right + self.false_positives.value
        before, after = found[:-1], found[1:]
        gained = right[:-1] - right[1:]
        slope = wt.divide_no_nan(gained, wt.relu(before - after))
        intercept = right[1:] - slope * after
        both = wt.logical_and(wt.greater(before, 0.0), wt.greater(after, 0.0))
        ratio = wt.where(both, wt.divide_no_nan(before, wt.relu(after)), 1.0)
        positives = right[1:] + self.false_negatives.value[1:]
        return wt.divide_no_nan(slope * (gained + intercept * wt.log(ratio)), wt.relu(positives))

    def get_config(self) -> Config:
        """Return the arguments that it was made with."""
        weights = None if self.label_weights is None else self.label_weights.tolist()
        config = {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "multi_label": self.multi_label,
            "num_labels": self.num_labels,
            "label_weights": weights,
            "from_logits": self._from_logits,
        }
        if self._init_thresholds is not None:
            config["thresholds"] = self._init_thresholds
        return config
