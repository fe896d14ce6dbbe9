"""Losses of classification."""

from __future__ import annotations

from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations import Row
from webtensor.onnx.operations.operators import Operator

__all__ = ["ROWS"]


def log_likelihood_loss(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return minus the logarithms of the probabilities of the targets' classes."""
    is_ignored = None if ignore_index is None else ops.equal(target, ignore_index)
    classes = (
        target if is_ignored is None else ops.where(is_ignored, ops.zeros_like(target), target)
    )
    picked = ops.take_along_axis(x, ops.expand_dims(classes, 1), 1)
    weights: Any = ops.ones(target.shape) if weight is None else ops.gather(weight, classes)
    if is_ignored is not None:
        weights = ops.where(is_ignored, ops.zeros_like(weights), weights)
    losses = ops.multiply(-ops.squeeze(picked, 1), weights)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return ops.sum(losses)
    if reduction != "mean":
        raise ValueError(f"reduction must be 'none', 'sum' or 'mean', not {reduction!r:.200}")
    return ops.sum(losses) / ops.sum(weights)


def softmax_loss(
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> tuple[Tensor, Tensor]:
    """Return the cross entropy of scores, and the logarithms of their softmax."""
    logarithms = ops.log_softmax(scores, 1)
    loss = log_likelihood_loss(
        logarithms, labels, weights, ignore_index=ignore_index, reduction=reduction
    )
    return loss, logarithms


ROWS: dict[str, Row] = {
    "NegativeLogLikelihoodLoss": Operator(log_likelihood_loss),
    "SoftmaxCrossEntropyLoss": Operator(softmax_loss),
}
