"""Products of vectors and matrices, in Keras's module ``numpy``."""

from __future__ import annotations

from typing import Any

from webtensor import ops as wt
from webtensor.dtypes import float32
from webtensor.keras.ops.operations import Row, op

__all__ = ["ROWS"]


def _dot(x1: Any, x2: Any) -> Any:
    """Return the sums of products along the last axis of ``x1`` and the last but one of ``x2``.

    Of a vector ``x2`` it is the only axis; a number is multiplied with all elements.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.dot([1, 2], [3, 4]).item()
        11
    """
    x1, x2 = wt.asarray(x1), wt.asarray(x2)
    if not x1.shape or not x2.shape:
        return wt.multiply(x1, x2)
    return wt.linalg.tensordot(x1, x2, axes=([-1], [-2 if len(x2.shape) > 1 else -1]))


def _inner(x1: Any, x2: Any) -> Any:
    """Return the sums of products along the last axes of both tensors.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.inner([[1, 2], [3, 4]], [1, 1]).tolist()
        [3, 7]
    """
    x1, x2 = wt.asarray(x1), wt.asarray(x2)
    if not x1.shape or not x2.shape:
        return wt.multiply(x1, x2)
    return wt.linalg.tensordot(x1, x2, axes=([-1], [-1]))


def _vdot(x1: Any, x2: Any) -> Any:
    """Return the sum of the products of all elements, those of ``x1`` conjugated.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.vdot([1, 2], [3, 4]).item()
        11
    """
    return wt.sum(wt.multiply(wt.conj(wt.reshape(x1, (-1,))), wt.reshape(x2, (-1,))))


def _outer(x1: Any, x2: Any) -> Any:
    """Return the products of each element of ``x1`` with each of ``x2``, as a matrix.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.outer([1, 2], [3, 4]).tolist()
        [[3, 4], [6, 8]]
    """
    return wt.multiply(wt.reshape(x1, (-1, 1)), wt.reshape(x2, (1, -1)))


def _kron(x1: Any, x2: Any) -> Any:
    """Return the Kronecker product: each element of ``x1`` times all of ``x2``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.kron([1, 2], [1, 10]).tolist()
        [1, 10, 2, 20]
    """
    x1, x2 = wt.asarray(x1), wt.asarray(x2)
    rank = max(len(x1.shape), len(x2.shape))
    first = (1,) * (rank - len(x1.shape)) + x1.shape
    second = (1,) * (rank - len(x2.shape)) + x2.shape
    rows = [part for n in first for part in (n, 1)]
    columns = [part for n in second for part in (1, n)]
    made = wt.multiply(wt.reshape(x1, rows), wt.reshape(x2, columns))
    return wt.reshape(made, [p * q for p, q in zip(first, second, strict=True)])


def _cross(
    x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Return the cross products of vectors of size 2 or 3 along axes.

    The vectors are along ``axisa`` and ``axisb``, the result's along ``axisc``; ``axis`` is all
    three. The product of two vectors of size 2 is a number.

    Raises:
        ValueError: the vectors have another size.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.cross([1, 0, 0], [0, 1, 0]).tolist()
        [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = wt.moveaxis(x1, axisa, -1), wt.moveaxis(x2, axisb, -1)
    lengths = (x1.shape[-1], x2.shape[-1])
    if not set(lengths) <= {2, 3}:
        raise ValueError(f"cross: vectors must have length 2 or 3, but have lengths {lengths}")
    if lengths == (2, 2):
        return x1[..., 0] * x2[..., 1] - x1[..., 1] * x2[..., 0]
    x1, x2 = _in_space(x1), _in_space(x2)
    return wt.moveaxis(wt.linalg.cross(*wt.broadcast_arrays(x1, x2)), -1, axisc)


def _in_space(x: Any) -> Any:
    """Vectors with three elements."""
    rank = len(x.shape)
    return x if x.shape[-1] == 3 else wt.pad(x, [[0, 0]] * (rank - 1) + [[0, 1]])


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Return the sums of products along pairs of axes.

    ``axes`` is the number of last axes of ``x1`` and first axes of ``x2``, or a pair of lists of
    axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]], axes=2).item()
        5
    """
    if not isinstance(axes, int):
        axes = [[one] if isinstance(one, int) else list(one) for one in axes]
    return wt.linalg.tensordot(x1, x2, axes=axes)


def _einsum(subscripts: str, *operands: Any) -> Any:
    """Return the sums of products that the subscripts of Einstein's notation describe.

    Raises:
        ValueError: the subscripts do not fit the operands.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]).tolist()
        [3, 7]
    """
    return wt.einsum(subscripts, *operands)


def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803
    """Return the Vandermonde matrix of a vector: powers of its elements as rows of size ``N``.

    The powers decrease, or increase with ``increasing``.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.vander([2, 3], 3).tolist()
        [[4, 2, 1], [9, 3, 1]]
    """
    x = wt.asarray(x)
    count = x.shape[0] if N is None else N
    powers = wt.arange(count) if increasing else wt.arange(count - 1, -1, -1)
    return wt.pow(wt.expand_dims(x, -1), wt.astype(powers, x.dtype))


def _correlate(x1: Any, x2: Any, mode: str = "valid") -> Any:
    """Return the cross-correlation of two vectors, in float32.

    ``mode`` is "valid", "same" or "full".

    Raises:
        ValueError: the mode is unknown, or an argument is not a vector.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.correlate([1.0, 2.0, 3.0], [0.0, 1.0], mode="valid").tolist()
        [2.0, 3.0]
    """
    x1, x2 = (wt.asarray(one) for one in (x1, x2))
    if len(x1.shape) != 1 or len(x2.shape) != 1:
        raise ValueError(
            f"correlate: x1 and x2 must have one axis, but have shapes {x1.shape} and {x2.shape}"
        )
    is_longer = x2.shape[0] > x1.shape[0]
    long, short = (x2, x1) if is_longer else (x1, x2)
    n, m = long.shape[0], short.shape[0]
    around = {"valid": (0, 0), "same": (m // 2, (m - 1) // 2), "full": (m - 1, m - 1)}
    if mode not in around:
        raise ValueError(f"correlate: mode must be one of {sorted(around)}, but got {mode!r}")
    before, after = around[mode]
    if is_longer and mode == "same":
        before, after = after, before
    padded = wt.pad(wt.astype(long, float32), [[before, after]])
    found = wt.conv1d(
        wt.reshape(padded, (1, -1, 1)),
        wt.reshape(wt.astype(short, float32), (-1, 1, 1)),
        1,
        "valid",
    )
    found = wt.reshape(found, (n + before + after - m + 1,))
    return wt.flip(found) if is_longer else found


ROWS: dict[str, Row] = {
    "correlate": op(_correlate, "mode"),
    "cross": op(_cross, "axisa axisb axisc axis"),
    "dot": op(_dot),
    "einsum": op(_einsum, "subscripts"),
    "inner": op(_inner),
    "kron": op(_kron),
    "matmul": op(wt.matmul, names="x1 x2"),
    "outer": op(_outer),
    "slogdet": op(wt.linalg.slogdet, names="x"),
    "tensordot": op(_tensordot, "axes"),
    "vander": op(_vander, "N increasing"),
    "vdot": op(_vdot),
}
