"""Matrix products: matmul, dot."""

from __future__ import annotations

from webtensor.dtypes import complex64, int32, promote
from webtensor.engine import Primitive, Tensor, TensorLike, as_operands, planned, run
from webtensor.matmul_sizes import MatmulSizes
from webtensor.ops.broadcasting import broadcast_to, sum_to
from webtensor.ops.casting import cast_to
from webtensor.ops.creation import zeros
from webtensor.ops.elementwise import complex_rule
from webtensor.ops.epilogue import Epilogue, check_residual, fused_primitive
from webtensor.ops.movement import reshape
from webtensor.ops.shared_operands import OfRows
from webtensor.shapes import Shape, broadcast_shapes, prod

__all__ = ["matmul"]


def _gradient_a(dy: Tensor, y: Tensor, a: Tensor, b: Tensor, sizes: MatmulSizes) -> Tensor:
    if sizes.transpose_a:
        return sum_to(matmul(b, dy, sizes.transpose_b, True), a.shape)
    return sum_to(matmul(dy, b, False, not sizes.transpose_b), a.shape)


def _product_of_rows(a: Tensor, dy: Tensor) -> Tensor:
    return matmul(a, dy, True, False)


def _gradient_b(dy: Tensor, y: Tensor, a: Tensor, b: Tensor, sizes: MatmulSizes) -> Tensor | OfRows:
    if len(a.shape) == len(b.shape) == 2 and not (sizes.transpose_a or sizes.transpose_b):
        return OfRows(_product_of_rows, a, dy)
    if sizes.transpose_b:
        return sum_to(matmul(dy, a, True, sizes.transpose_a), b.shape)
    return sum_to(matmul(a, dy, not sizes.transpose_a, False), b.shape)


_MATMUL = Primitive("matmul", gradients=(_gradient_a, _gradient_b))
_FUSED_MATMUL = fused_primitive(_MATMUL)


@planned
def matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False
) -> Tensor:
    """Matrix product of the last two axes; the axes before them broadcast.

    An operand of rank 1 is a row on the left and a column on the right, and its axis is removed
    from the result, as in NumPy. The result has the promoted dtype; bool becomes int32.

    Raises:
        ValueError: an operand is a scalar, the inner sizes differ, or the batches do not
            broadcast.

    Example:
        >>> import webtensor as wt
        >>> wt.matmul([[1.0, 2.0]], [[3.0], [4.0]]).tolist()
        [[11.0]]
    """
    return fused_matmul(a, b, transpose_a, transpose_b, None)


def fused_matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool, transpose_b: bool, epilogue: Epilogue | None
) -> Tensor:
    """``matmul``; in float32 with an epilogue in the same kernel."""
    a, b = as_operands("matmul", a, b)
    if not a.shape or not b.shape:
        raise ValueError(f"matmul: operands must have axes, but got shapes {a.shape}, {b.shape}")
    dtype = promote(promote(a.dtype, b.dtype), int32)
    a, b = cast_to(a, dtype), cast_to(b, dtype)
    if dtype is complex64:
        return complex_rule("matmul")(a, b, transpose_a, transpose_b)
    if len(a.shape) == 1 or len(b.shape) == 1:
        product = _vector_product(a, b, transpose_a, transpose_b)
        return product if epilogue is None else epilogue.apply(product)
    m, k = a.shape[:-3:-1] if transpose_a else a.shape[-2:]
    other, n = b.shape[:-3:-1] if transpose_b else b.shape[-2:]
    if k != other:
        raise ValueError(
            f"matmul: a has {k} columns, but b has {other} rows (a.shape={a.shape}, "
            f"b.shape={b.shape}, transpose_a={transpose_a}, transpose_b={transpose_b})"
        )
    batches = broadcast_shapes("matmul", a.shape[:-2], b.shape[:-2])
    shape = (*batches, m, n)
    if epilogue is not None and epilogue.residual is not None:
        check_residual("fused.mat_mul", epilogue.residual, shape)
    if k == 0:
        return zeros(shape, dtype) if epilogue is None else epilogue.apply(zeros(shape, dtype))
    if len(b.shape) == 2 < len(a.shape) and not transpose_a:
        rows = reshape(a, (prod(a.shape[:-1]), k))
        if epilogue is not None and epilogue.residual is not None:
            epilogue = epilogue._replace(residual=reshape(epilogue.residual, (rows.shape[0], n)))
        return reshape(fused_matmul(rows, b, False, transpose_b, epilogue), shape)
    a = _batched(a, batches)
    b = _batched(b, batches)
    batch = prod(batches)
    a_batched = prod(a.shape[:-2]) == batch > 1
    b_batched = prod(b.shape[:-2]) == batch > 1
    sizes = MatmulSizes(batch, m, k, n, bool(transpose_a), bool(transpose_b), a_batched, b_batched)
    if epilogue is None:
        return run(_MATMUL, (a, b), shape, dtype, sizes)
    operands = (a, b, *epilogue.operands)
    return run(_FUSED_MATMUL, operands, shape, dtype, sizes, epilogue.row, *epilogue.parameters)


def _batched(x: Tensor, batches: Shape) -> Tensor:
    """Repeat a batch of matrices to the full batch unless it is whole or a single matrix."""
    own = prod(x.shape[:-2])
    return x if own in (1, prod(batches)) else broadcast_to(x, (*batches, *x.shape[-2:]))


def _vector_product(a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    a_is_vector, b_is_vector = len(a.shape) == 1, len(b.shape) == 1
    left = reshape(a, (1, a.shape[0])) if a_is_vector else a
    right = reshape(b, (b.shape[0], 1)) if b_is_vector else b
    product = matmul(left, right, transpose_a and not a_is_vector, transpose_b and not b_is_vector)
    shape = product.shape
    if b_is_vector:
        shape = shape[:-1]
    if a_is_vector:
        shape = shape[:-2] + shape[-1:] if not b_is_vector else shape[:-1]
    return reshape(product, shape)
