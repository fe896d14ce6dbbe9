"""Connectionist temporal classification: sequences of labels without their positions in time.

Graves et al., *Connectionist temporal classification*, ICML 2006.
"""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.dtypes import int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import FunctionLoss, as_floats, of_labels

__all__ = ["CTC", "ctc"]

#: The logarithm that stands for a probability of 0.
_LOG_ZERO = -1e5


@of_labels
def ctc(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    """Minus the logarithm of the sum of the probabilities of all alignments: ``(batch,)``.

    ``y_true`` are labels from 1 on, padded with zeros, ``(batch, labels)``; ``y_pred`` are logits,
    ``(batch, steps, classes)``, of which class 0 is the blank.

    Raises:
        ValueError: the tensors have other ranks, or different batch sizes.

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
    label_counts = wt.sum(wt.not_equal(labels, 0), 1, keepdims=True)
    return alignment_loss(labels, logits, label_counts)


def alignment_loss(
    labels: Tensor,
    logits: Tensor,
    label_counts: Tensor,
    step_counts: Tensor | None = None,
    blank: int = 0,
) -> Tensor:
    """Minus the logarithm of the sum of the probabilities of all alignments: ``(batch,)``.

    ``labels`` is ``(batch, labels)`` and ``logits`` ``(batch, steps, classes)``. Their first
    ``label_counts`` labels and ``step_counts`` steps count, both int32 ``(batch, 1)``.
    """
    batch, max_labels = labels.shape
    # Blanks stand before, between and after labels.
    pairs = wt.stack([wt.full_like(labels, blank), labels], -1)
    states = wt.pad(wt.reshape(pairs, (batch, 2 * max_labels)), [(0, 0), (0, 1)], blank)
    num_states = 2 * max_labels + 1
    indices = wt.broadcast_to(wt.expand_dims(states, 1), (batch, logits.shape[1], num_states))
    scores = wt.unstack(wt.take_along_axis(wt.log_softmax(logits), indices, -1), axis=1)

    # A label may also follow the label before it without a blank, unless the two are equal.
    state = wt.arange(num_states)
    is_label = wt.equal(state % 2, 1)
    may_skip = wt.logical_and(is_label, wt.not_equal(states, _moved(states, 2, blank)))
    skip_score = wt.where(may_skip, 0.0, _LOG_ZERO)

    total = scores[0] + wt.where(wt.less(state, 2), 0.0, _LOG_ZERO)
    for step, score in enumerate(scores[1:], 1):
        reached = wt.logaddexp(total, _moved(total, 1, _LOG_ZERO))
        next_total = wt.logaddexp(reached, _moved(total, 2, _LOG_ZERO) + skip_score) + score
        if step_counts is not None:
            next_total = wt.where(wt.less(step, step_counts), next_total, total)
        total = next_total

    # An alignment ends with the last label, or with the blank after it.
    last = label_counts * 2
    is_end = wt.logical_and(wt.greater_equal(state, last - 1), wt.less_equal(state, last))
    return wt.negative(wt.log_sum_exp(wt.where(is_end, total, _LOG_ZERO), 1))


def _moved(states: Tensor, distance: int, value: float) -> Tensor:
    """Move what states have by a distance to later states; the first ones get a value."""
    return wt.pad(states, [(0, 0), (distance, 0)], value)[:, : states.shape[1]]


class CTC(FunctionLoss, function=ctc):
    """Connectionist temporal classification of sequences of labels.

    Targets are labels from 1 on, padded with zeros, ``(batch, labels)``; predictions are logits,
    ``(batch, steps, classes)``, of which class 0 is the blank.
    """
