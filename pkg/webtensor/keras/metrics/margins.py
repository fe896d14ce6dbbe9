"""Metrics of losses with a margin."""

from __future__ import annotations

from webtensor.keras.losses.margins import categorical_hinge, hinge, squared_hinge
from webtensor.keras.metrics.reductions import FunctionMetric

__all__ = ["CategoricalHinge", "Hinge", "SquaredHinge"]


class Hinge(FunctionMetric, function=hinge):
    """``mean(max(1 - y_true * y_pred, 0))``; labels are -1 and 1, or 0 and 1."""


class SquaredHinge(FunctionMetric, function=squared_hinge):
    """``mean(square(max(1 - y_true * y_pred, 0)))``; labels are -1 and 1, or 0 and 1."""


class CategoricalHinge(FunctionMetric, function=categorical_hinge):
    """The mean of ``max(highest_other - score_of_label + 1, 0)``.

    ``score_of_label`` is the score of the class that the one-hot label marks, and
    ``highest_other`` the maximum of the scores of the other classes.
    """
