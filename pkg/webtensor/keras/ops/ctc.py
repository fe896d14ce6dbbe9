"""Connectionist temporal classification: its loss, and the decoding of label sequences."""

from __future__ import annotations

from collections import defaultdict
from math import exp, inf, log1p

from webtensor import ops as wt
from webtensor.dtypes import float32, int32
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.losses.alignment import alignment_loss

__all__ = ["ctc_decode", "ctc_loss"]


def ctc_loss(
    target: TensorLike,
    output: TensorLike,
    target_length: TensorLike,
    output_length: TensorLike,
    mask_index: int = 0,
) -> Tensor:
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
    label_counts, step_counts = (
        wt.reshape(wt.astype(lengths, int32), (-1, 1)) for lengths in (target_length, output_length)
    )
    return alignment_loss(target, output, label_counts, step_counts, mask_index)


def ctc_decode(
    inputs: TensorLike,
    sequence_lengths: TensorLike,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int = 0,
) -> tuple[Tensor, Tensor]:
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


def _greedy(
    inputs: Tensor, lengths: Tensor, merge_repeated: bool, mask_index: int
) -> tuple[Tensor, Tensor]:
    """Decode the most likely class of each step."""
    batch, steps, classes = inputs.shape
    mask_index %= classes
    best = wt.argmax(inputs, axis=-1)
    is_label = wt.less(wt.arange(steps), wt.reshape(lengths, (batch, 1)))
    scores = wt.where(is_label, wt.max(inputs, axis=-1), 0.0)
    if merge_repeated and steps > 1:
        is_new = wt.not_equal(best[:, 1:], best[:, :-1])
        is_new = wt.concat([wt.ones_like(is_new[:, :1]), is_new], 1)
        is_label = wt.logical_and(is_label, is_new)
    is_label = wt.logical_and(is_label, wt.not_equal(best, mask_index))
    order = wt.argsort(wt.where(is_label, 0, 1), axis=1, stable=True)
    labels = wt.take_along_axis(wt.where(is_label, best, -1), order, axis=1)
    return wt.expand_dims(labels, 0), wt.negative(wt.sum(scores, axis=1, keepdims=True))


def _beams(
    inputs: Tensor, lengths: Tensor, width: int, top_paths: int, mask_index: int
) -> tuple[Tensor, Tensor]:
    """Decode the most likely sequences of labels by a beam search in Python."""
    batch, steps, classes = inputs.shape
    rows, counts = wt.log_softmax(inputs).tolist(), lengths.tolist()
    labels = [[[-1] * steps for _ in range(batch)] for _ in range(top_paths)]
    scores = [[-inf] * top_paths for _ in range(batch)]
    for number in range(batch):
        paths = _search(rows[number][: counts[number]], width, mask_index % classes)
        for rank, (path, score) in enumerate(paths[:top_paths]):
            labels[rank][number][: len(path)] = path
            scores[number][rank] = score
    return (
        wt.tensor(labels, (top_paths, batch, steps), int32),
        wt.tensor(scores, (batch, top_paths), float32),
    )


def _search(rows: list[list[float]], width: int, blank: int) -> list[tuple[tuple[int, ...], float]]:
    """Return label sequences with their log probabilities, the most likely first.

    A beam has two log probabilities: that its last step is a blank, and that it is the last label.
    """
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -inf)}
    for row in rows:
        candidates = _extended(beams, row, blank)
        best = sorted(candidates.items(), key=lambda item: -_log_add_exp(*item[1]))[:width]
        beams = {path: (with_blank, with_label) for path, (with_blank, with_label) in best}
    totals = [(path, _log_add_exp(*beam)) for path, beam in beams.items()]
    return sorted(totals, key=lambda item: -item[1])


def _extended(
    beams: dict[tuple[int, ...], tuple[float, float]], row: list[float], blank: int
) -> dict[tuple[int, ...], list[float]]:
    """Return all beams with the labels of one more step, whose log probabilities are a row."""
    extended: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [-inf, -inf])

    def add(path: tuple[int, ...], index: int, log_probability: float) -> None:
        beam = extended[path]
        beam[index] = _log_add_exp(beam[index], log_probability)

    for path, (with_blank, with_label) in beams.items():
        total = _log_add_exp(with_blank, with_label)
        for label, log_probability in enumerate(row):
            if label == blank:
                add(path, 0, total + log_probability)
            elif path and path[-1] == label:
                add(path, 1, with_label + log_probability)
                add((*path, label), 1, with_blank + log_probability)
            else:
                add((*path, label), 1, total + log_probability)
    return extended


def _log_add_exp(first: float, second: float) -> float:
    """Return ``log(exp(first) + exp(second))``."""
    high, low = max(first, second), min(first, second)
    return high if low == -inf else high + log1p(exp(low - high))
