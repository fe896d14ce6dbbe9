"""The circle loss of embeddings, for learning which samples are alike."""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import LossFunctionWrapper, Reduction, as_floats, of_labels
from webtensor.keras.types import DTypeLike

__all__ = ["Circle", "circle"]

#: The score of a pair that does not count.
_NEVER = -1e9


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
    """How much nearer embeddings of other labels are than those of the same (Sun et al., 2020).

    ``y_true`` are labels, integers, and ``y_pred`` unit vectors, (batch, length). They are compared
    with the reference ones, by default themselves; ``remove_diagonal`` leaves out of the latter
    each one's with itself. Those that have no other of their label are masked in a mean.
    """
    labels = wt.flatten(wt.astype(wt.asarray(y_true), int32, copy=False))
    points = as_floats(y_pred)
    others = labels
    if ref_labels is not None:
        others = wt.flatten(wt.astype(wt.asarray(ref_labels), int32, copy=False))
    references = points if ref_embeddings is None else as_floats(ref_embeddings)
    distances = 1.0 - wt.matmul(points, references, transpose_b=True)

    same = wt.equal(wt.expand_dims(labels, 1), wt.expand_dims(others, 0))
    different = wt.logical_not(same)
    if remove_diagonal:
        same = wt.logical_and(same, wt.equal(wt.eye(len(points), len(references)), 0.0))

    far = wt.relu(distances + margin) * (distances - margin)
    near = wt.relu(1.0 + margin - distances) * (1.0 - margin - distances)
    lost = [
        wt.log_sum_exp(wt.where(counts, score * gamma, _NEVER), 1)
        for counts, score in ((same, far), (different, near))
    ]
    losses = wt.softplus(lost[0] + lost[1])
    losses._keras_mask = wt.any(same, 1)
    return losses


class Circle(LossFunctionWrapper):
    """How much nearer unit embeddings of other labels are than those of the same.

    Sun et al., *Circle Loss*, 2020: ``gamma`` scales scores, and ``margin`` is what they are wanted
    to be away from 0 and 1.
    """

    def __init__(
        self,
        gamma: float = 80.0,
        margin: float = 0.4,
        remove_diagonal: bool = True,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "circle",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(
            circle,
            reduction,
            name,
            dtype,
            gamma=gamma,
            margin=margin,
            remove_diagonal=remove_diagonal,
        )
