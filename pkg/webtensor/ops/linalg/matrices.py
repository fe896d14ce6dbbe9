"""Parts of matrices, and products of vectors: band_part, diagonal, trace, cross, outer."""

from __future__ import annotations

from typing import Any

from webtensor.arguments import as_integer
from webtensor.dtypes import as_dtype, int32
from webtensor.engine import Tensor, TensorLike, as_operand, as_operands, from_host
from webtensor.ops.binary import multiply, subtract
from webtensor.ops.casting import cast_to
from webtensor.ops.movement import gather, reshape
from webtensor.ops.reduction import sum as _sum
from webtensor.ops.sequences import arange
from webtensor.ops.ternary import where
from webtensor.ops.vector_products import outer_named
from webtensor.shapes import normalize_axis

__all__ = ["band_part", "cross", "diagonal", "outer", "trace"]


def _rows_and_columns(name: str, x: TensorLike) -> tuple[Tensor, int, int]:
    operand = as_operand(name, x)
    if len(operand.shape) < 2:
        raise ValueError(f"{name}: x must have at least two axes, but its shape is {operand.shape}")
    return operand, operand.shape[-2], operand.shape[-1]


def band_part(a: TensorLike, num_lower: int, num_upper: int) -> Tensor:
    """Matrices with zeros outside a band about their diagonals.

    ``num_lower`` diagonals below the main one and ``num_upper`` above it are kept; a negative
    number keeps all.

    Raises:
        TypeError: the numbers are not integers.
        ValueError: ``a`` has fewer than two axes, or a number exceeds the rows or columns.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.band_part([[1, 2], [3, 4]], 0, -1).tolist()
        [[1, 2], [0, 4]]
    """
    operand, rows, columns = _rows_and_columns("band_part", a)
    below = as_integer("band_part", "num_lower", num_lower)
    above = as_integer("band_part", "num_upper", num_upper)
    if below > rows or above > columns:
        raise ValueError(
            f"band_part: num_lower={below} and num_upper={above} must not exceed the rows and "
            f"columns of shape {operand.shape}"
        )
    below = rows if below < 0 else below
    above = columns if above < 0 else above
    apart = subtract(arange(columns), reshape(arange(rows), (rows, 1)))
    return where((apart >= -below) & (apart <= above), operand, False)


def diagonal(x: TensorLike, /, *, offset: int = 0) -> Tensor:
    """Diagonals of matrices, (..., rows, columns); ``offset`` counts from the main one upward.

    Raises:
        TypeError: the offset is not an integer.
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.diagonal([[1, 2], [3, 4]]).tolist()
        [1, 4]
    """
    operand, rows, columns = _rows_and_columns("diagonal", x)
    above = as_integer("diagonal", "offset", offset)
    start = above if above >= 0 else -above * columns
    count = max(0, min(rows, columns - above) if above >= 0 else min(rows + above, columns))
    # Each element is one row and one column after its predecessor.
    flat = reshape(operand, (*operand.shape[:-2], rows * columns))
    return flat[..., start : start + count * (columns + 1) : columns + 1]


def trace(x: TensorLike, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Sums of the diagonals of matrices, (..., rows, columns).

    The result has shape (...).

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.trace([[1, 2], [3, 4]]).tolist()
        5
    """
    operand, _, _ = _rows_and_columns("trace", x)
    elements = diagonal(operand, offset=offset)
    return _sum(elements if dtype is None else cast_to(elements, as_dtype(dtype)), -1)


def cross(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Cross products of vectors of three elements along an axis; the other axes broadcast.

    Raises:
        ValueError: the axis is out of range, or does not have size 3.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.cross([1, 0, 0], [0, 1, 0]).tolist()
        [0, 0, 1]
    """
    x, y = as_operands("cross", x1, x2)
    axes = [normalize_axis("cross", axis, len(operand.shape)) for operand in (x, y)]
    sizes = [operand.shape[own_axis] for operand, own_axis in zip((x, y), axes, strict=True)]
    if sizes != [3, 3] or (axis >= 0 and len(x.shape) != len(y.shape)):
        raise ValueError(
            f"cross: operands must have size 3 along axis {axis}, but got shapes {x.shape} and "
            f"{y.shape}"
        )
    onward, back = (from_host("cross", turn, int32) for turn in ([1, 2, 0], [2, 0, 1]))
    return subtract(
        multiply(gather(x, onward, axes[0]), gather(y, back, axes[1])),
        multiply(gather(x, back, axes[0]), gather(y, onward, axes[1])),
    )


def outer(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Matrix of the products of the elements of two vectors.

    Raises:
        ValueError: an operand does not have rank 1.

    Example:
        >>> import webtensor as wt
        >>> wt.linalg.outer([1, 2], [3, 4]).tolist()
        [[3, 4], [6, 8]]
    """
    return outer_named("outer", x1, x2)
