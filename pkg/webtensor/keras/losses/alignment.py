"""Connectionist temporal classification: sequences whose labels are not aligned with their steps.

Graves et al., *Connectionist temporal classification*, ICML 2006.
"""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import LossFunctionWrapper, Reduction, as_floats, of_labels
from webtensor.keras.types import DTypeLike

__all__ = ["CTC", "ctc"]

#: The logarithm that stands for a probability of 0.
_NEVER = -1e9


@of_labels
def ctc(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Minus the logarithm of the probability of all alignments of the labels: (batch,).

    ``y_true`` are labels, integers from 1, followed by zeros, (batch, labels); ``y_pred`` are
    logits, (batch, steps, classes), of which class 0 is the blank.

    Raises:
        ValueError: the ranks are others, or the batches differ.

    Example:
        >>> from webtensor import keras
        >>> loss = keras.losses.ctc([[1]], [[[0.0, 0.0]]])
        >>> abs(float(loss[0]) - 0.693147) < 1e-5
        True
    """
    labels = wt.astype(wt.asarray(y_true), int32, copy=False)
    logits = as_floats(y_pred)
    if len(labels.shape) != 2 or len(logits.shape) != 3 or labels.shape[0] != logits.shape[0]:
        raise ValueError(
            "ctc: y_true must be (batch, labels) and y_pred (batch, steps, classes), but their "
            f"shapes are {labels.shape} and {logits.shape}"
        )
    batch, count = labels.shape
    steps = logits.shape[1]
    # Blanks stand before, between and after labels: 2 * count + 1 states.
    states = wt.pad(wt.reshape(wt.pad(wt.expand_dims(labels, -1), _BEFORE), (batch, -1)), _AFTER)
    width = 2 * count + 1
    places = wt.broadcast_to(wt.expand_dims(states, 1), (batch, steps, width))
    scores = wt.unstack(wt.take_along_axis(wt.log_softmax(logits), places, -1), axis=1)

    # A label is reached from the label before it, too, unless that is the same.
    skipped = wt.pad(states[:, :-2], _TWO) if count else states
    is_label = wt.equal(wt.arange(width) % 2, 1)
    may_skip = wt.logical_and(is_label, wt.not_equal(states, skipped))
    no_skip = wt.where(may_skip, 0.0, _NEVER)

    first = wt.tensor([[0.0, 0.0, *[_NEVER] * width][:width]], dtype=float32)
    total = scores[0] + first
    for score in scores[1:]:
        one = wt.pad(total[:, :-1], _ONE, _NEVER)
        both = wt.logaddexp(total, one)
        if count:
            both = wt.logaddexp(both, wt.pad(total[:, :-2], _TWO, _NEVER) + no_skip)
        total = both + score

    # It ends with the last label, or with the blank after it.
    last = wt.sum(wt.not_equal(labels, 0), 1, keepdims=True) * 2
    state = wt.arange(width)
    is_end = wt.logical_or(
        wt.equal(state, last), wt.logical_and(wt.equal(state, last - 1), wt.greater(last, 0))
    )
    return wt.negative(wt.log_sum_exp(wt.where(is_end, total, _NEVER), 1))


_BEFORE = [(0, 0), (0, 0), (1, 0)]
_AFTER = [(0, 0), (0, 1)]
_ONE = [(0, 0), (1, 0)]
_TWO = [(0, 0), (2, 0)]


class CTC(LossFunctionWrapper):
    """Connectionist temporal classification of labels from 1, of which 0 is none."""

    def __init__(
        self,
        reduction: Reduction = "sum_over_batch_size",
        name: str | None = "ctc",
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__(ctc, reduction, name, dtype)
