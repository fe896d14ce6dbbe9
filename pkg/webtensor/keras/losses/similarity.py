"""The circle loss of embeddings, from which a model learns which samples are alike."""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.arguments import forwards_arguments
from webtensor.keras.losses.base import FunctionLoss, Reduction, as_floats, of_labels
from webtensor.keras.types import DTypeLike

__all__ = ["Circle", "circle"]

#: The score of a pair that does not count.
_MASKED_SCORE = -1e9


@of_labels
def circle(
    y_true: TensorLike,
    y_pred: TensorLike,
    ref_labels: TensorLike | None = None,
    ref_embeddings: TensorLike | None = None,
    remove_diagonal: bool = True,
    gamma: float = 80,
    margin: float = 0.4,
) -> Tensor:
    """How much closer an embedding is to those of other labels than to those of its own label.

    ``y_true`` are integer labels, ``(batch,)``, and ``y_pred`` unit vectors, ``(batch, size)``.
    They are compared with ``ref_labels`` and ``ref_embeddings``, by default with themselves; then
    ``remove_diagonal`` leaves out the pair of each sample with itself. A sample without another
    of its label is masked (Sun et al., *Circle Loss*, 2020).
    """
    labels = _as_labels(y_true)
    other_labels = labels if ref_labels is None else _as_labels(ref_labels)
    embeddings = as_floats(y_pred)
    references = embeddings if ref_embeddings is None else as_floats(ref_embeddings)
    distances = 1.0 - wt.matmul(embeddings, references, transpose_b=True)

    is_positive = wt.equal(wt.expand_dims(labels, 1), wt.expand_dims(other_labels, 0))
    is_negative = wt.logical_not(is_positive)
    if remove_diagonal:
        is_off_diagonal = wt.equal(wt.eye(len(embeddings), len(references)), 0.0)
        is_positive = wt.logical_and(is_positive, is_off_diagonal)

    positive_score = wt.relu(distances + margin) * (distances - margin)
    negative_score = wt.relu(1.0 + margin - distances) * (1.0 - margin - distances)
    positive, negative = (
        wt.log_sum_exp(wt.where(counts, score * gamma, _MASKED_SCORE), 1)
        for counts, score in ((is_positive, positive_score), (is_negative, negative_score))
    )
    losses = wt.softplus(positive + negative)
    losses._keras_mask = wt.any(is_positive, 1)
    return losses


def _as_labels(values: TensorLike) -> Tensor:
    """Return labels as int32 in a single axis."""
    return wt.flatten(wt.astype(wt.asarray(values), int32, copy=False))


class Circle(FunctionLoss, function=circle):
    """How much closer an embedding is to those of other labels than to those of its own label.

    Targets are integer labels, ``(batch,)``, and predictions unit vectors, ``(batch, size)`` (Sun
    et al., *Circle Loss*, 2020).

    Args:
        gamma: a number by which scores are multiplied.
        margin: a number. The distances of samples of the same label, 1 minus their cosine, are to
            be less than ``margin``, and those of others greater than ``1 - margin``.
        remove_diagonal: a boolean, whether the pair of a sample with itself is left out.
    """

    @forwards_arguments
    def __init__(
        self,
        gamma: float = 80.0,
        margin: float = 0.4,
        remove_diagonal: bool = True,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "circle",
        dtype: DTypeLike = None,
    ) -> None: ...
