"""Connectionist temporal classification: sequences of labels without their positions in time.

Graves et al., *Connectionist temporal classification*, ICML 2006.
"""

from __future__ import annotations

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.base import FunctionLoss, as_floats, of_labels

__all__ = ["CTC", "ctc"]

#: The logarithm that stands for a probability of 0.
_LOG_ZERO = -1e9
#: Paddings of a tensor by a blank or by states.
_BLANK_BEFORE_EACH = [(0, 0), (0, 0), (1, 0)]
_BLANK_AT_END = [(0, 0), (0, 1)]
_ONE_STATE = [(0, 0), (1, 0)]
_TWO_STATES = [(0, 0), (2, 0)]


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
    batch, count = labels.shape
    steps = logits.shape[1]
    # Blanks stand before, between and after labels: 2 * count + 1 states.
    blanks_and_labels = wt.pad(wt.expand_dims(labels, -1), _BLANK_BEFORE_EACH)
    states = wt.pad(wt.reshape(blanks_and_labels, (batch, -1)), _BLANK_AT_END)
    num_states = 2 * count + 1
    indices = wt.broadcast_to(wt.expand_dims(states, 1), (batch, steps, num_states))
    scores = wt.unstack(wt.take_along_axis(wt.log_softmax(logits), indices, -1), axis=1)

    # A label may also follow the label before it without a blank, unless the two are equal.
    label_before = wt.pad(states[:, :-2], _TWO_STATES) if count else states
    is_label = wt.equal(wt.arange(num_states) % 2, 1)
    may_skip = wt.logical_and(is_label, wt.not_equal(states, label_before))
    skip_score = wt.where(may_skip, 0.0, _LOG_ZERO)

    start = wt.tensor([[0.0, 0.0, *[_LOG_ZERO] * num_states][:num_states]], dtype=float32)
    total = scores[0] + start
    for score in scores[1:]:
        reached = wt.logaddexp(total, wt.pad(total[:, :-1], _ONE_STATE, _LOG_ZERO))
        if count:
            skipping = wt.pad(total[:, :-2], _TWO_STATES, _LOG_ZERO) + skip_score
            reached = wt.logaddexp(reached, skipping)
        total = reached + score

    # An alignment ends with the last label, or with the blank after it.
    last = wt.sum(wt.not_equal(labels, 0), 1, keepdims=True) * 2
    state = wt.arange(num_states)
    is_last_label = wt.logical_and(wt.equal(state, last - 1), wt.greater(last, 0))
    is_end = wt.logical_or(wt.equal(state, last), is_last_label)
    return wt.negative(wt.log_sum_exp(wt.where(is_end, total, _LOG_ZERO), 1))


class CTC(FunctionLoss, function=ctc):
    """Connectionist temporal classification of sequences of labels.

    Targets are labels from 1 on, padded with zeros, ``(batch, labels)``; predictions are logits,
    ``(batch, steps, classes)``, of which class 0 is the blank.
    """
