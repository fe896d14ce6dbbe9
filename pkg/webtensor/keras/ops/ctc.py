"""Connectionist temporal classification: its loss, and what sequences of classes mean."""

from __future__ import annotations

from collections import defaultdict
from math import exp, inf, log1p
from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32, int32

__all__ = ["ctc_decode", "ctc_loss"]

#: The logarithm of what does not happen.
_NEVER = -1e5


def ctc_loss(
    target: Any, output: Any, target_length: Any, output_length: Any, mask_index: int = 0
) -> Any:
    """Return the loss of connectionist temporal classification: ``-log(p)`` of the label sequences.

    ``target`` is int32 (batch, labels), ``output`` logits (batch, steps, classes),
    ``target_length`` and ``output_length`` int32 (batch,); the result is float32 (batch,).
    ``mask_index`` is the class of the blank.

    Raises:
        ValueError: the shapes do not fit.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.ctc_loss([[1]], keras.ops.zeros((1, 2, 2)), [1], [2]).numpy().round(3)
        array([0.288], dtype=float32)
    """
    target, output = wt.astype(target, int32), wt.astype(output, float32)
    if len(target.shape) != 2 or len(output.shape) != 3 or target.shape[0] != output.shape[0]:
        raise ValueError(
            "ctc_loss: target must be (batch, labels) and output (batch, steps, classes), but they "
            f"have shapes {target.shape} and {output.shape}"
        )
    batch, count = target.shape
    steps, places = output.shape[1], 2 * count + 1
    ends = wt.reshape(wt.astype(output_length, int32), (batch, 1))
    # Between labels, and around them, there may be blanks.
    blanks = wt.full_like(target, mask_index)
    states = wt.reshape(wt.stack([blanks, target], -1), (batch, 2 * count))
    states = wt.concat([states, wt.full((batch, 1), mask_index, int32)], 1)
    wide = wt.broadcast_to(wt.expand_dims(states, 1), (batch, steps, places))
    chances = wt.unstack(wt.take_along_axis(wt.log_softmax(output), wide, axis=2), 1)
    before = wt.pad(states, [[0, 0], [2, 0]], mask_index)[:, :places]
    may_skip = wt.logical_and(wt.not_equal(states, mask_index), wt.not_equal(states, before))
    never = wt.full((batch, places), _NEVER, float32)
    alpha = wt.where(wt.less(wt.arange(places), 2), chances[0], never)
    for step, chance in enumerate(chances[1:], 1):
        ways = [
            alpha,
            wt.pad(alpha, [[0, 0], [1, 0]], _NEVER)[:, :places],
            wt.where(may_skip, wt.pad(alpha, [[0, 0], [2, 0]], _NEVER)[:, :places], never),
        ]
        moved = wt.add(wt.log_sum_exp(wt.stack(ways), 0), chance)
        alpha = wt.where(wt.less(step, ends), moved, alpha)
    last = wt.reshape(wt.astype(target_length, int32), (batch, 1)) * 2
    is_end = wt.logical_and(
        wt.greater_equal(wt.arange(places), last - 1), wt.less_equal(wt.arange(places), last)
    )
    return wt.negative(wt.log_sum_exp(wt.where(is_end, alpha, never), 1))


def ctc_decode(
    inputs: Any,
    sequence_lengths: Any,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int = 0,
) -> Any:
    """Return the most likely label sequences, padded with -1, and their scores.

    ``inputs`` are logits (batch, steps, classes), ``sequence_lengths`` int32 (batch,). The labels
    are int32 (top_paths, batch, steps), the scores float32 (batch, top_paths). ``strategy`` is
    "greedy" or "beam_search", for which ``beam_width`` is the number of candidates. ``mask_index``
    is the class of the blank.

    Raises:
        ValueError: the strategy is unknown, or the inputs do not have 3 axes.

    Example:
        >>> from webtensor import keras
        >>> labels, scores = keras.ops.ctc_decode([[[0.1, 2.0], [3.0, 0.2]]], [2])
        >>> labels.tolist()
        [[[1, -1]]]
    """
    inputs, lengths = wt.astype(inputs, float32), wt.astype(sequence_lengths, int32)
    if len(inputs.shape) != 3:
        raise ValueError(
            f"ctc_decode: inputs must be (batch, steps, classes), but have shape {inputs.shape}"
        )
    if strategy == "greedy":
        return _greedy(inputs, lengths, merge_repeated, mask_index)
    if strategy == "beam_search":
        return _beams(inputs, lengths, beam_width, top_paths, mask_index)
    raise ValueError(
        f"ctc_decode: strategy must be 'greedy' or 'beam_search', but got {strategy!r}"
    )


def _greedy(inputs: Any, lengths: Any, merge_repeated: bool, mask_index: int) -> Any:
    """The likeliest class of each step."""
    batch, steps, classes = inputs.shape
    mask_index %= classes
    best = wt.argmax(inputs, axis=-1)
    is_kept = wt.less(wt.arange(steps), wt.reshape(lengths, (batch, 1)))
    scores = wt.where(is_kept, wt.max(inputs, axis=-1), 0.0)
    if merge_repeated and steps > 1:
        is_new = wt.not_equal(best[:, 1:], best[:, :-1])
        is_new = wt.concat([wt.ones_like(is_new[:, :1]), is_new], 1)
        is_kept = wt.logical_and(is_kept, is_new)
    is_kept = wt.logical_and(is_kept, wt.not_equal(best, mask_index))
    order = wt.argsort(wt.where(is_kept, 0, 1), axis=1, stable=True)
    labels = wt.take_along_axis(wt.where(is_kept, best, -1), order, axis=1)
    return wt.expand_dims(labels, 0), wt.negative(wt.sum(scores, axis=1, keepdims=True))


def _beams(inputs: Any, lengths: Any, width: int, top_paths: int, mask_index: int) -> Any:
    """The likeliest sequences of labels, searched for in Python."""
    batch, steps, classes = inputs.shape
    rows, counts = wt.log_softmax(inputs).tolist(), lengths.tolist()
    labels = [[[-1] * steps for _ in range(batch)] for _ in range(top_paths)]
    scores = [[-inf] * top_paths for _ in range(batch)]
    for number in range(batch):
        found = _searched(rows[number][: counts[number]], width, mask_index % classes)
        for place, (path, score) in enumerate(found[:top_paths]):
            labels[place][number][: len(path)] = path
            scores[number][place] = score
    return (
        wt.tensor(labels, (top_paths, batch, steps), int32),
        wt.tensor(scores, (batch, top_paths), float32),
    )


def _searched(
    rows: list[list[float]], width: int, blank: int
) -> list[tuple[tuple[int, ...], float]]:
    """Sequences with the logarithms of their probabilities, the likeliest first.

    For each sequence there are two of them: that a blank is last, and that its last label is.
    """
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -inf)}
    for row in rows:
        made: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [-inf, -inf])
        for path, (with_blank, with_label) in beams.items():
            total = _added(with_blank, with_label)
            for label, chance in enumerate(row):
                if label == blank:
                    made[path][0] = _added(made[path][0], total + chance)
                elif path and path[-1] == label:
                    made[path][1] = _added(made[path][1], with_label + chance)
                    longer = made[(*path, label)]
                    longer[1] = _added(longer[1], with_blank + chance)
                else:
                    longer = made[(*path, label)]
                    longer[1] = _added(longer[1], total + chance)
        best = sorted(made.items(), key=lambda one: -_added(*one[1]))[:width]
        beams = {path: (chances[0], chances[1]) for path, chances in best}
    totals = [(path, _added(*chances)) for path, chances in beams.items()]
    return sorted(totals, key=lambda one: -one[1])


def _added(first: float, second: float) -> float:
    """``log(exp(first) + exp(second))``."""
    high, low = max(first, second), min(first, second)
    return high if low == -inf else high + log1p(exp(low - high))
