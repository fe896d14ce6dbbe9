"""Products of vectors and matrices, in Keras's module ``numpy``."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor import ops as wt
from webtensor.arguments import check_choice
from webtensor.engine import Tensor, TensorLike
from webtensor.keras.ops.operations import Row, op
from webtensor.ops.casting import as_float

__all__ = ["ROWS"]


def _dot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the sums of products along the last axis of ``x1`` and the last but one of ``x2``.

    Of a vector ``x2`` it is the only axis; a number is multiplied with all elements.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.dot([1, 2], [3, 4]).item()
        11
    """
    return wt.dot(x1, x2)


def _inner(x1: TensorLike, x2: TensorLike) -> Tensor:
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


def _vdot(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the sum of the products of all elements, those of ``x1`` conjugated.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.vdot([1, 2], [3, 4]).item()
        11
    """
    return wt.sum(wt.multiply(wt.conj(wt.reshape(x1, (-1,))), wt.reshape(x2, (-1,))))


def _outer(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Return the products of each element of ``x1`` with each of ``x2``, as a matrix.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.outer([1, 2], [3, 4]).tolist()
        [[3, 4], [6, 8]]
    """
    return wt.multiply(wt.reshape(x1, (-1, 1)), wt.reshape(x2, (1, -1)))


def _kron(x1: TensorLike, x2: TensorLike) -> Tensor:
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
    rows = [size for axis_size in first for size in (axis_size, 1)]
    columns = [size for axis_size in second for size in (1, axis_size)]
    products = wt.multiply(wt.reshape(x1, rows), wt.reshape(x2, columns))
    return wt.reshape(products, [m * n for m, n in zip(first, second, strict=True)])


def _cross(
    x1: TensorLike,
    x2: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Tensor:
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
    first, second = wt.moveaxis(x1, axisa, -1), wt.moveaxis(x2, axisb, -1)
    sizes = (first.shape[-1], second.shape[-1])
    if not set(sizes) <= {2, 3}:
        raise ValueError(f"cross: vectors must have size 2 or 3, but have sizes {sizes}")
    if sizes == (2, 2):
        return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    vectors = wt.broadcast_arrays(_in_space(first), _in_space(second))
    return wt.moveaxis(wt.linalg.cross(*vectors), -1, axisc)


def _in_space(x: Tensor) -> Tensor:
    """Append a 0 to vectors of two elements."""
    rank = len(x.shape)
    return x if x.shape[-1] == 3 else wt.pad(x, [[0, 0]] * (rank - 1) + [[0, 1]])


def _tensordot(x1: TensorLike, x2: TensorLike, axes: int | Sequence[int] = 2) -> Tensor:
    """Return the sums of products along pairs of axes.

    ``axes`` is the number of last axes of ``x1`` and first axes of ``x2``, or a pair of lists of
    axes.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]], axes=2).item()
        5
    """
    return wt.linalg.tensordot(x1, x2, axes=axes)


def _einsum(subscripts: str, *operands: TensorLike) -> Tensor:
    """Return the sums of products that the subscripts of Einstein's notation describe.

    Raises:
        ValueError: the subscripts do not fit the operands.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]).tolist()
        [3, 7]
    """
    return wt.einsum(subscripts, *operands)


def _vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
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


def _correlate(x1: TensorLike, x2: TensorLike, mode: str = "valid") -> Tensor:
    """Return the cross-correlation of two vectors, in float32.

    ``mode`` is "valid", "same" or "full".

    Raises:
        ValueError: the mode is unknown, or an argument is not a vector.

    Example:
        >>> from webtensor import keras
        >>> keras.ops.correlate([1.0, 2.0, 3.0], [0.0, 1.0], mode="valid").tolist()
        [2.0, 3.0]
    """
    x1, x2 = as_float("correlate", "x1", x1), as_float("correlate", "x2", x2)
    if len(x1.shape) != 1 or len(x2.shape) != 1:
        raise ValueError(
            f"correlate: x1 and x2 must have one axis, but have shapes {x1.shape} and {x2.shape}"
        )
    is_longer = x2.shape[0] > x1.shape[0]
    long, short = (x2, x1) if is_longer else (x1, x2)
    n, m = long.shape[0], short.shape[0]
    paddings = {"valid": (0, 0), "same": (m // 2, (m - 1) // 2), "full": (m - 1, m - 1)}
    check_choice("correlate", "mode", mode, paddings)
    before, after = paddings[mode]
    if is_longer and mode == "same":
        before, after = after, before
    padded = wt.pad(long, [[before, after]])
    result = wt.conv1d(
        wt.reshape(padded, (1, -1, 1)),
        wt.reshape(short, (-1, 1, 1)),
        1,
        "valid",
    )
    result = wt.reshape(result, (n + before + after - m + 1,))
    return wt.flip(result) if is_longer else result


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
