"""Softmax and its relatives, clip, round and one_hot."""

from __future__ import annotations

from typing import Any

from webtensor.arguments import as_integer, as_non_negative_integer
from webtensor.dtypes import DType, as_dtype, bool_, float32, int32
from webtensor.engine import Primitive, Tensor, TensorLike, as_operand, as_operands, planned, run
from webtensor.ops.binary import divide, maximum, minimum, multiply
from webtensor.ops.casting import as_float, cast_to
from webtensor.ops.movement import clone, permute_dims
from webtensor.ops.reduction import mean, sum as _sum
from webtensor.ops.ternary import where
from webtensor.ops.unary import clip_by_value, round as _round
from webtensor.shapes import normalize_axis

__all__ = ["clip", "log_softmax", "one_hot", "round", "softmax", "softmax_cross_entropy"]

# Attributes are (outer, length): the last axis is normalized.
_SOFTMAX = Primitive(
    "softmax",
    gradients=(lambda dy, y, x, *sizes: (dy - (dy * y).sum(-1, keepdims=True)) * y,),
)
_ONE_HOT = Primitive("one_hot")
_LOG_SOFTMAX = Primitive(
    "log_softmax",
    gradients=(lambda dy, y, x, *sizes: dy - dy.sum(-1, keepdims=True) * y.exp(),),
)


def _normalized(primitive: Primitive, logits: TensorLike, axis: int) -> Tensor:
    name = primitive.name
    x = as_float(name, "logits", logits)
    rank = len(x.shape)
    axis = normalize_axis(name, axis, rank)
    if axis != rank - 1:
        order = (*(dimension for dimension in range(rank) if dimension != axis), axis)
        back = sorted(range(rank), key=order.__getitem__)
        return permute_dims(_normalized(primitive, permute_dims(x, order), -1), back)
    length = x.shape[-1]
    return run(primitive, (x,), x.shape, float32, x.size // length if length else 0, length)


@planned
def softmax(logits: TensorLike, axis: int = -1) -> Tensor:
    """Exponentials along an axis divided by their sum, without overflow.

    The result has the shape of ``logits`` and is float32.

    Raises:
        TypeError: ``logits`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.softmax([1000.0, 1000.0]).tolist()
        [0.5, 0.5]
    """
    return _normalized(_SOFTMAX, logits, axis)


@planned
def log_softmax(logits: TensorLike, axis: int = -1) -> Tensor:
    """Logarithm of the softmax, without overflow or underflow.

    The result has the shape of ``logits`` and is float32.

    Raises:
        TypeError: ``logits`` has dtype string.
        ValueError: ``axis`` is out of range.

    Example:
        >>> import webtensor as wt
        >>> wt.log_softmax([0.0]).tolist()
        [0.0]
    """
    return _normalized(_LOG_SOFTMAX, logits, axis)


def softmax_cross_entropy(onehot_labels: TensorLike, logits: TensorLike) -> Tensor:
    """Mean over the batch of the cross-entropy between labels and softmax of the logits.

    Both are (batch, classes); each row of the labels is a probability distribution.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> import webtensor as wt
        >>> loss = wt.softmax_cross_entropy([[0.0, 1.0]], [[0.0, 0.0]])
        >>> abs(float(loss) - 0.693147) < 1e-6
        True
    """
    labels = as_operand("softmax_cross_entropy", onehot_labels)
    scores = as_operand("softmax_cross_entropy", logits)
    if labels.shape != scores.shape:
        raise ValueError(
            f"softmax_cross_entropy: onehot_labels has shape {labels.shape}, but logits has shape "
            f"{scores.shape}"
        )
    return mean(-_sum(multiply(labels, log_softmax(scores)), -1))


@planned
def one_hot(
    indices: TensorLike,
    depth: int,
    on_value: float = 1,
    off_value: float = 0,
    dtype: Any = int32,
) -> Tensor:
    """Add an axis of size ``depth`` that holds ``on_value`` at each index, else ``off_value``.

    An index outside ``range(depth)`` gives only ``off_value``.

    The result has the shape of ``indices`` with the new axis last.

    Raises:
        TypeError: ``indices`` are not int32.
        ValueError: ``depth`` is negative.

    Example:
        >>> import webtensor as wt
        >>> wt.one_hot([2, 0], 3).tolist()
        [[0, 0, 1], [1, 0, 0]]
    """
    operand = as_operand("one_hot", indices)
    if operand.dtype is not int32:
        raise TypeError(f"one_hot: indices must be int32, but got {operand.dtype}")
    depth = as_non_negative_integer("one_hot", "depth", depth)
    result_dtype = as_dtype(dtype)
    shape = (*operand.shape, depth)
    if _is_stored(on_value, result_dtype) and _is_stored(off_value, result_dtype):
        number = float if result_dtype is float32 else int
        return run(
            _ONE_HOT, (operand,), shape, result_dtype, depth, number(on_value), number(off_value)
        )
    hot = run(_ONE_HOT, (operand,), shape, bool_, depth, 1, 0)
    return cast_to(where(hot, *as_operands("one_hot", on_value, off_value)), result_dtype)


def _is_stored(value: Any, dtype: DType) -> bool:
    """Whether a Python number is one of a dtype that kernels know."""
    allowed = {float32: (int, float), int32: (int,), bool_: (bool,)}.get(dtype, ())
    return isinstance(value, allowed) and (dtype is not int32 or -(2**31) <= value < 2**31)


@planned
def clip(x: TensorLike, min: Any = None, max: Any = None) -> Tensor:
    """Limit elements to an interval; a bound that is None does not limit. NaN stays NaN.

    As in NumPy, where ``min`` exceeds ``max`` every element becomes ``max``, and a bound of NaN
    makes NaN.

    The result has the shape of ``x``. It is int32 if ``x`` and the bounds are, else float32.

    Raises:
        TypeError: ``x`` has dtype complex64 or string.

    Example:
        >>> import webtensor as wt
        >>> wt.clip([-2, 5], 0, 3).tolist()
        [0, 3]
    """
    operand = as_operand("clip", x)
    numbers = all(isinstance(bound, (int, float)) and bound == bound for bound in (min, max))
    if operand.dtype is float32 and numbers:
        return clip_by_value(operand, min, max)
    if min is not None:
        operand = maximum(*as_operands("clip", operand, min))
    if max is not None:
        operand = minimum(*as_operands("clip", operand, max))
    return clone(operand) if min is None and max is None else operand


def round(x: TensorLike, decimals: int = 0) -> Tensor:
    """Nearest number with ``decimals`` decimals, with halves rounded to the even one.

    A negative number of decimals rounds to tens, hundreds and so on. As in NumPy, ``x`` times
    ``10**decimals`` must not overflow.

    The result has the shape of ``x`` and its dtype, or int32 for bool.

    Raises:
        TypeError: ``x`` has dtype string.

    Example:
        >>> import webtensor as wt
        >>> wt.round([0.5, 1.5, -2.7]).tolist()
        [0.0, 2.0, -3.0]
        >>> wt.round(1234, -2).item()
        1200
    """
    decimals = as_integer("round", "decimals", decimals)
    if not decimals:
        return _round(x)
    # No larger power of ten is a float32.
    operand, scale = as_operand("round", x), 10.0 ** min(abs(decimals), 38)
    if operand.dtype.rank <= int32.rank:
        rounded = operand if decimals > 0 else multiply(_round(divide(operand, scale)), scale)
        return cast_to(rounded, int32)
    if decimals > 0:
        return divide(_round(multiply(operand, scale)), scale)
    return multiply(_round(divide(operand, scale)), scale)
