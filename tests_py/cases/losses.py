"""Cases of losses: each formula, with weights of many shapes, under each reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from tests_py.cases.inputs import arr, away_from_ties, bools, floats, ints
from tests_py.cases.table import Array, Case, Tolerance, gradient_of, second_derivative_of

__all__ = ["GRADIENTS", "LOSSES"]

NONE, MEAN, SUM, BY_NONZERO = range(4)

# -- oracles -------------------------------------------------------------------------------------


def _reduced(losses: Array, weights: Any = None, reduction: int = BY_NONZERO) -> Array:
    weights = 1.0 if weights is None else weights
    each = np.broadcast_to(weights, np.broadcast_shapes(losses.shape, np.shape(weights)))
    weighted = losses * 1.0 * each
    if reduction == NONE:
        return np.asarray(weighted)
    divisor = {SUM: 1.0, MEAN: each.sum(), BY_NONZERO: (each != 0).sum()}[reduction]
    return np.asarray(weighted.sum() / divisor)


def _huber(labels: Array, predictions: Array, delta: float) -> Array:
    error = np.abs(predictions - labels)
    return np.where(error <= delta, error**2 / 2, delta * error - delta**2 / 2)


def _log_loss(labels: Array, predictions: Array, epsilon: float) -> Array:
    yes = labels * np.log(predictions + epsilon)
    return np.asarray(-yes - (1 - labels) * np.log(1 - predictions + epsilon))


def _sigmoid_entropy(labels: Array, logits: Array) -> Array:
    return np.asarray(labels * np.logaddexp(0, -logits) + (1 - labels) * np.logaddexp(0, logits))


def _softmax_entropy(labels: Array, logits: Array) -> Array:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    total = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return np.asarray(-(labels * (shifted - total)).sum(axis=-1))


def _smoothed(labels: Array, smoothing: float, share: float) -> Array:
    return np.asarray(labels * (1 - smoothing) + smoothing * share)


def _plain(formula: Callable[[Array, Array], Array]) -> Any:
    def oracle(
        labels: Array, predictions: Array, weights: Any = None, reduction: int = BY_NONZERO
    ) -> Array:
        return _reduced(formula(labels * 1.0, predictions * 1.0), weights, reduction)

    return oracle


def _with_option(formula: Callable[[Array, Array, float], Array], default: float) -> Any:
    def oracle(
        labels: Array,
        predictions: Array,
        weights: Any = None,
        option: float = default,
        reduction: int = BY_NONZERO,
    ) -> Array:
        return _reduced(formula(labels * 1.0, predictions * 1.0, option), weights, reduction)

    return oracle


def _cosine(
    labels: Array,
    predictions: Array,
    axis: int,
    weights: Any = None,
    reduction: int = BY_NONZERO,
) -> Array:
    losses = 1 - (labels * predictions * 1.0).sum(axis=axis, keepdims=True)
    return _reduced(losses, weights, reduction)


ORACLES: dict[str, Any] = {
    "absolute_difference": _plain(lambda labels, guess: np.abs(labels - guess)),
    "mean_squared_error": _plain(lambda labels, guess: (labels - guess) ** 2),
    "hinge_loss": _plain(lambda labels, guess: np.maximum(0, 1 - (2 * labels - 1) * guess)),
    "huber_loss": _with_option(_huber, 1.0),
    "log_loss": _with_option(_log_loss, 1e-7),
    "sigmoid_cross_entropy": _with_option(
        lambda labels, x, smoothing: _sigmoid_entropy(_smoothed(labels, smoothing, 0.5), x), 0.0
    ),
    "softmax_cross_entropy": _with_option(
        lambda labels, x, smoothing: _softmax_entropy(
            _smoothed(labels, smoothing, 1 / x.shape[-1]), x
        ),
        0.0,
    ),
}
#: Values to try for the option before the reduction.
CHOICES = {
    "huber_loss": (0.5, 2.0),
    "log_loss": (1e-3,),
    "sigmoid_cross_entropy": (0.1, 1.0),
    "softmax_cross_entropy": (0.1, 1.0),
}

# -- rows ----------------------------------------------------------------------------------------

LOSS = Tolerance(
    "a formula of some ten operations on numbers up to 10, and a sum of up to 24 of them",
    ulps=64,
    gpu_ulps=256,
    scale=lambda *_, **__: 10.0,
)


def _operands(name: str, shape: Sequence[int]) -> tuple[Array, Array]:
    if name == "log_loss":
        return floats(shape, 0, 1, seed=1), floats(shape, 0.01, 0.99, seed=2)
    if "entropy" in name or name == "hinge_loss":
        return floats(shape, 0, 1, seed=1), floats(shape, -4, 4, seed=2)
    return floats(shape, seed=1), floats(shape, seed=2)


def _case(name: str, operands: Sequence[Array], *options: Any, **fields: Any) -> Case:
    return Case(f"losses.{name}", (*operands, *options), ORACLES[name], LOSS, **fields)


def _loss_cases() -> list[Case]:
    cases = []
    for name in ORACLES:
        several = name == "softmax_cross_entropy"
        operands = _operands(name, (4, 3))
        last = (4,) if several else (4, 3)
        weights: list[Any] = [None, 0.5, floats(last, 0, 1), floats((), 0.5, 2)]
        some = np.where(bools(last), floats(last, 0, 1), 0).astype(np.float32)
        weights += [some, floats((1,) * len(last), 1, 2), floats((4, 1)[: len(last)], 0, 1)]
        cases += [
            _case(name, operands, weight, kwargs={"reduction": reduction})
            for weight, reduction in product(weights, (NONE, MEAN, SUM, BY_NONZERO))
        ]
        cases += [_case(name, operands, None, choice) for choice in CHOICES.get(name, ())]
        cases.append(_case(name, operands, sample=True))
        for shape in ((1, 2), (2, 3, 4), (6, 1)) + (() if several else ((5,),)):
            cases.append(_case(name, _operands(name, shape)))
        cases.append(_case(name, (ints((4, 3), 0, 2), _operands(name, (4, 3))[1])))
        cases.append(_case(name, _operands(name, (0, 3)), None, kwargs={"reduction": SUM}))
        zero = np.zeros(last, np.float32)
        cases.append(_case(name, operands, zero, note="of weights that are all zero"))
    for axis in (0, 1, -1):
        operands = _operands("", (4, 3))
        weights_shape = (1, 3) if axis == 0 else (4, 1)
        for weight in (None, 0.5, floats(weights_shape, 0, 1)):
            args = (*operands, axis, weight)
            for reduction in (NONE, MEAN, SUM, BY_NONZERO):
                kwargs = {"reduction": reduction}
                cases.append(Case("losses.cosine_distance", args, _cosine, LOSS, kwargs))
    name = "losses.compute_weighted_loss"
    for weight in (None, 2.0, floats((4, 3)), floats((3,)), ints((4, 1), 0, 3)):
        for reduction in (NONE, MEAN, SUM, BY_NONZERO):
            cases.append(Case(name, (floats((4, 3), seed=3), weight, reduction), _reduced, LOSS))
    wide = floats((4, 3), 0, 1, seed=4)
    for reduction in (NONE, MEAN, SUM, BY_NONZERO):
        operands = _operands("softmax_cross_entropy", (3, 3))
        cases.append(
            _case("softmax_cross_entropy", operands, wide, kwargs={"reduction": reduction})
        )
    extreme = arr([[1000, -1000, 0], [0, 1000, -1000]])
    hard = arr([[1, 0, 0], [1, 0, 0]])
    large = Tolerance("relative to logits of 1000", ulps=8, scale=lambda *_, **__: 1000.0)
    for entropy in ("sigmoid_cross_entropy", "softmax_cross_entropy"):
        case = Case(f"losses.{entropy}", (hard, extreme), ORACLES[entropy], large)
        cases.append(case)
    return cases


def _gradient_cases() -> list[Case]:
    cases = []
    for name in ORACLES:
        labels, guess = _operands(name, (2, 3))
        if name in ("absolute_difference", "huber_loss"):
            guess = (labels + away_from_ties((2, 3), (-1.0, 0.0, 1.0), seed=3)).astype(np.float32)
        if name == "log_loss":
            guess = floats((2, 3), 0.2, 0.8, seed=2)
        if name == "hinge_loss":
            guess = away_from_ties((2, 3), (), seed=3)
        weights = floats((2,) if name == "softmax_cross_entropy" else (2, 3), 0.5, 1.5)
        case = _case(name, (labels, guess), weights)
        cases += [gradient_of(case), gradient_of(_case(name, (labels, guess)), (1,))]
        for reduction in (NONE, MEAN, SUM):
            kwargs = {"reduction": reduction}
            cases.append(gradient_of(_case(name, (labels, guess), weights, kwargs=kwargs)))
        if name not in ("absolute_difference", "hinge_loss"):
            cases.append(second_derivative_of(_case(name, (labels, guess)), (1,)))
    args = (*_operands("", (2, 3)), 1, floats((2, 1), 0.5, 1.5))
    case = Case("losses.cosine_distance", args, _cosine)
    cases += [gradient_of(case), second_derivative_of(case)]
    name = "losses.compute_weighted_loss"
    for reduction in (NONE, MEAN, SUM, BY_NONZERO):
        case = Case(name, (floats((4, 3)), floats((3,), 0.5, 1.5), reduction), _reduced)
        cases += [gradient_of(case), second_derivative_of(case)]
    return cases


LOSSES = _loss_cases()
GRADIENTS = _gradient_cases()
