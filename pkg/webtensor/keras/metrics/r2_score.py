"""The coefficient of determination, R²."""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import as_floats, same_rank
from webtensor.keras.metrics.base import Metric, add_to
from webtensor.keras.types import DTypeLike
from webtensor.keras.variables import Variable

__all__ = ["R2Score"]

_AGGREGATIONS = (None, "uniform_average", "variance_weighted_average")


class R2Score(Metric):
    """The share of the targets' variance that predictions explain: 1 at best.

    Targets and predictions are ``(batch, outputs)``.

    Args:
        class_aggregation: how the scores of the outputs become one: ``"uniform_average"`` is their
            mean, ``"variance_weighted_average"`` weights them by the variance of the targets; None
            returns them as they are.
        num_regressors: an integer, the number of independent variables that the score is adjusted
            for; 0 leaves it unadjusted.

    Raises:
        ValueError: ``class_aggregation`` is none of these, or ``num_regressors`` is negative.

    Example:
        >>> from webtensor import keras
        >>> float(keras.metrics.R2Score()([[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]]))
        1.0
    """

    sum: Variable

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = "r2_score",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(dtype, name)
        check_choice("R2Score", "class_aggregation", class_aggregation, _AGGREGATIONS)
        if num_regressors < 0:
            raise ValueError(
                f"R2Score: num_regressors must not be negative, but got {num_regressors}"
            )
        self.class_aggregation = class_aggregation
        self.num_regressors = num_regressors
        self.num_samples = self.add_variable((), "zeros", name="num_samples")
        self._is_built = False

    def _build(self, classes: int) -> None:
        self.squared_sum = self.add_variable((classes,), "zeros", name="squared_sum")
        self.sum = self.add_variable((classes,), "zeros", name="sum")
        self.residual = self.add_variable((classes,), "zeros", name="residual")
        self.count = self.add_variable((classes,), "zeros", name="count")
        self._is_built = True

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> None:
        """Take a batch into account.

        Raises:
            ValueError: the shapes differ, or are not (batch, outputs).
        """
        target, prediction = same_rank(as_floats(y_true), as_floats(y_pred))
        if len(target.shape) != 2 or target.shape != prediction.shape:
            raise ValueError(
                "R2Score: y_true and y_pred must be (batch, outputs) alike, but their shapes are "
                f"{target.shape} and {prediction.shape}"
            )
        if not self._is_built:
            self._build(target.shape[1])
        weight = wt.ones(()) if sample_weight is None else as_floats(sample_weight)
        if len(weight.shape) == 1:
            weight = wt.expand_dims(weight, 1)
        weight = wt.broadcast_to(weight, target.shape)
        weighted = target * weight
        add_to(self.sum, wt.sum(weighted, 0))
        add_to(self.squared_sum, wt.sum(weighted * target, 0))
        add_to(self.residual, wt.sum(wt.squared_difference(target, prediction) * weight, 0))
        add_to(self.count, wt.sum(weight, 0))
        add_to(self.num_samples, float(target.size))

    def result(self) -> Tensor:
        """Return the score or scores; 0 before the first batch."""
        if not self._is_built:
            return wt.zeros(())
        total = self.squared_sum.value - wt.square(self.sum.value) / self.count.value
        unexplained = self.residual.value / total
        score = wt.where(wt.isinf(unexplained), 0.0, 1.0 - unexplained)
        if self.class_aggregation == "uniform_average":
            score = wt.mean(score)
        elif self.class_aggregation == "variance_weighted_average":
            score = wt.sum(total * score) / wt.sum(total)
        if self.num_regressors == 0:
            return score
        samples = self.num_samples.value
        degrees_of_freedom = samples - float(self.num_regressors + 1)
        adjusted = 1.0 - (1.0 - score) * (samples - 1.0) / degrees_of_freedom
        return wt.where(wt.greater(degrees_of_freedom, 0.0), adjusted, score)
