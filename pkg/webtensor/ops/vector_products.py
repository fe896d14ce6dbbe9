"""Products of vectors, matrices and tensors, composed of transposes and the matrix product."""

from __future__ import annotations

from collections.abc import Sequence

from webtensor.arguments import as_pairs_of_integers
from webtensor.engine import Tensor, TensorLike, as_operand, as_operands, planned
from webtensor.ops.binary import multiply
from webtensor.ops.broadcasting import broadcast_to
from webtensor.ops.complex_numbers import conj
from webtensor.ops.contraction import matmul
from webtensor.ops.movement import permute_dims, reshape
from webtensor.ops.reduction import sum as _sum
from webtensor.shapes import broadcast_shapes, normalize_axis, prod, single_integer

__all__ = ["dot", "matrix_transpose", "outer_product", "tensordot", "vecdot"]


@planned
def matrix_transpose(x: TensorLike) -> Tensor:
    """Exchange the last two axes.

    Raises:
        ValueError: ``x`` has fewer than two axes.

    Example:
        >>> import webtensor as wt
        >>> wt.matrix_transpose([[1, 2], [3, 4]]).tolist()
        [[1, 3], [2, 4]]
    """
    operand = as_operand("matrix_transpose", x)
    rank = len(operand.shape)
    if rank < 2:
        raise ValueError(
            f"matrix_transpose: x must have at least two axes, but its shape is {operand.shape}"
        )
    return permute_dims(operand, (*range(rank - 2), rank - 1, rank - 2))


@planned
def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Tensor:
    """Inner products of vectors along an axis, of which the first is conjugated.

    The other axes broadcast together.

    Raises:
        ValueError: the axis is out of range, or the vectors have different sizes.

    Example:
        >>> import webtensor as wt
        >>> wt.vecdot([[1, 2], [3, 4]], [5, 6]).tolist()
        [17, 39]
    """
    x, y = as_operands("vecdot", x1, x2)
    sizes = [
        operand.shape[normalize_axis("vecdot", axis, len(operand.shape))] for operand in (x, y)
    ]
    if sizes[0] != sizes[1] or (axis >= 0 and len(x.shape) != len(y.shape)):
        raise ValueError(
            f"vecdot: operands must have the same size along axis {axis}, but got shapes "
            f"{x.shape} and {y.shape}"
        )
    return _sum(multiply(conj(x), y), axis)


def _contracted_axes(
    x: Tensor, y: Tensor, axes: int | Sequence[int | Sequence[int]]
) -> tuple[list[int], list[int]]:
    count = single_integer(axes)
    if count is not None:
        if not 0 <= count <= min(len(x.shape), len(y.shape)):
            raise ValueError(
                f"tensordot: axes must be at most the operands' ranks, but got {count} for shapes "
                f"{x.shape} and {y.shape}"
            )
        return list(range(len(x.shape) - count, len(x.shape))), list(range(count))
    if not hasattr(axes, "__len__"):
        raise TypeError(
            f"tensordot: axes must be an integer or a pair of sequences, but got {axes!r}"
        )
    if len(axes) != 2:
        raise ValueError(f"tensordot: axes must be a pair of sequences, but got {axes!r}")
    pairs = as_pairs_of_integers("tensordot", "axes", axes)
    names = [
        [normalize_axis("tensordot", axis, len(operand.shape)) for axis in own_axes]
        for operand, own_axes in zip((x, y), pairs, strict=True)
    ]
    if len(names[0]) != len(names[1]) or any(
        len(set(own_names)) != len(own_names) for own_names in names
    ):
        raise ValueError(
            f"tensordot: axes must name as many, different axes of both operands, but got {axes}"
        )
    return names[0], names[1]


@planned
def tensordot(
    x1: TensorLike, x2: TensorLike, /, *, axes: int | Sequence[int | Sequence[int]] = 2
) -> Tensor:
    """Sum of products over some axes of two tensors.

    ``axes`` is how many of the last axes of the first go with the first ones of the second, or a
    pair of the axis, or the axes, of each. The result has the other axes of the first, then of the
    second.

    Raises:
        TypeError: ``axes`` is something else.
        ValueError: the axes do not exist, or have different sizes.

    Example:
        >>> import webtensor as wt
        >>> wt.tensordot([[1, 2], [3, 4]], [5, 6], axes=1).tolist()
        [17, 39]
    """
    x, y = as_operands("tensordot", x1, x2)
    first, second = _contracted_axes(x, y, axes)
    sizes = [x.shape[axis] for axis in first]
    if sizes != [y.shape[axis] for axis in second]:
        raise ValueError(
            f"tensordot: axes {tuple(first)} of shape {x.shape} and {tuple(second)} of {y.shape} "
            "have different sizes"
        )
    rows = [axis for axis in range(len(x.shape)) if axis not in first]
    columns = [axis for axis in range(len(y.shape)) if axis not in second]
    row_sizes = [x.shape[axis] for axis in rows]
    column_sizes = [y.shape[axis] for axis in columns]
    left = reshape(permute_dims(x, (*rows, *first)), (prod(row_sizes), prod(sizes)))
    right = reshape(permute_dims(y, (*second, *columns)), (prod(sizes), prod(column_sizes)))
    return reshape(matmul(left, right), (*row_sizes, *column_sizes))


@planned
def outer_product(v1: TensorLike, v2: TensorLike) -> Tensor:
    """Matrix of the products of the elements of two vectors.

    Raises:
        ValueError: an operand does not have rank 1.

    Example:
        >>> import webtensor as wt
        >>> wt.outer_product([1, 2], [3, 4]).tolist()
        [[3, 4], [6, 8]]
    """
    return outer_named("outer_product", v1, v2)


def outer_named(name: str, v1: TensorLike, v2: TensorLike) -> Tensor:
    """Outer product; ``name`` is the function that errors will name."""
    x, y = as_operands(name, v1, v2)
    if len(x.shape) != 1 or len(y.shape) != 1:
        raise ValueError(f"{name}: operands must have rank 1, but got {x.shape} and {y.shape}")
    return multiply(reshape(x, (x.shape[0], 1)), y)


def broadcast_batches(name: str, *operands: Tensor) -> list[Tensor]:
    """Give stacks of matrices the same axes before the last two."""
    batch: tuple[int, ...] = ()
    for operand in operands:
        batch = broadcast_shapes(name, batch, operand.shape[:-2])
    return [broadcast_to(operand, (*batch, *operand.shape[-2:])) for operand in operands]


@planned
def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Sums of products along the last axis of ``a`` and the last but one of ``b``, as in NumPy.

    Of a vector ``b`` it is the only axis; a number is multiplied with all elements.

    Raises:
        ValueError: the axes have different sizes.

    Example:
        >>> import webtensor as wt
        >>> wt.dot([1, 2], [3, 4]).tolist()
        11
    """
    a, b = as_operands("dot", a, b)
    if not a.shape or not b.shape:
        return multiply(a, b)
    if len(a.shape) <= 2 and len(b.shape) <= 2:
        return matmul(a, b)
    return tensordot(a, b, axes=([-1], [-2 if len(b.shape) > 1 else -1]))
