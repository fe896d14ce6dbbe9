"""Operations on matrices that TensorFlow.js does not have: diagonals, factors and solutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import boolean, integer, integers, number
from webtensor.graph.operations.rows import Row

__all__ = ["ONLY_HERE"]

# -- diagonals ---------------------------------------------------------------------------------


def _offset(k: Sequence[int]) -> int:
    """Return the offset of a diagonal."""
    if k[0] != k[-1]:
        raise ValueError(f"a band of the diagonals from {k[0]} to {k[-1]} is not supported")
    return k[0]


def with_diagonal(x: Tensor, diagonal: Tensor, k: Sequence[int] = (0,)) -> Tensor:
    """Return matrices with another diagonal."""
    offset = _offset(k)
    row, column = ops.reshape(ops.arange(x.shape[-2]), (-1, 1)), ops.arange(x.shape[-1])
    index = ops.minimum(ops.minimum(row, column), diagonal.shape[-1] - 1)
    elements = ops.gather(diagonal, index, len(diagonal.shape) - 1)
    return ops.where(ops.equal(column - row, offset), elements, x)


def matrices_of(
    diagonal: Tensor,
    k: Sequence[int] = (0,),
    rows: int = -1,
    columns: int = -1,
    padding: float = 0,
) -> Tensor:
    """Return matrices with a diagonal; -1 is the least number of rows or columns."""
    offset, length = _offset(k), diagonal.shape[-1]
    shape = [length - min(offset, 0), length + max(offset, 0)]
    if rows == columns == -1:
        shape = [max(shape)] * 2
    shape = [max(size) for size in zip(shape, (rows, columns), strict=True)]
    background = ops.full((*diagonal.shape[:-1], *shape), padding, diagonal.dtype)
    return with_diagonal(background, diagonal, k)


def diagonal_of(x: Tensor, k: Sequence[int] = (0,)) -> Tensor:
    """Return a diagonal of matrices."""
    return ops.linalg.diagonal(x, offset=_offset(k))


def diagonal_of_tensor(x: Tensor) -> Tensor:
    """Return the elements whose first and second half of indices are equal."""
    shape = x.shape[: len(x.shape) // 2]
    return ops.reshape(ops.flatten(x)[:: prod(shape) + 1], shape)


# -- solutions ---------------------------------------------------------------------------------


def adjoint_if(x: Tensor, adjoint: bool) -> Tensor:
    """Return matrices, or their adjoints."""
    return ops.conj(ops.matrix_transpose(x)) if adjoint else x


def inverse(x: Tensor, adjoint: bool) -> Tensor:
    """Return inverses of matrices."""
    return ops.linalg.inv(adjoint_if(x, adjoint))


def solution(a: Tensor, b: Tensor, adjoint: bool) -> Tensor:
    """Solve linear equations."""
    return ops.linalg.solve(adjoint_if(a, adjoint), b)


def solution_of_triangle(a: Tensor, b: Tensor, lower: bool, adjoint: bool) -> Tensor:
    """Solve linear equations with one triangle of a matrix."""
    triangle = ops.tril(a) if lower else ops.triu(a)
    return ops.linalg.solve(adjoint_if(triangle, adjoint), b)


def orthogonal_factors(x: Tensor, full_matrices: bool) -> tuple[Tensor, ...]:
    """Return orthogonal and triangular factors."""
    return ops.linalg.qr(x, mode="complete" if full_matrices else "reduced")


def eigenvalues(x: Tensor, compute_v: bool) -> tuple[Tensor, ...]:
    """Return eigenvalues and eigenvectors."""
    return ops.linalg.eigh(x) if compute_v else (ops.linalg.eigvalsh(x), ops.zeros((0,)))


def singular_values(x: Tensor, compute_uv: bool, full_matrices: bool) -> tuple[Tensor, ...]:
    """Return singular values and vectors."""
    if not compute_uv:
        return ops.linalg.svdvals(x), ops.zeros((0,)), ops.zeros((0,))
    left, values, right = ops.linalg.svd(x, full_matrices=full_matrices)
    return values, left, adjoint_if(right, True)


def _versions(op: str, function: Callable[..., Tensor], *inputs: int, **options: Any) -> Any:
    """Return the rows of an operation whose first version knows the main diagonal alone."""
    row = Row(function, *inputs, **options)
    return {op: Row(function, *inputs), f"{op}V2": row, f"{op}V3": row}


ONLY_HERE: dict[str, Row] = {
    **_versions(
        "MatrixDiag",
        matrices_of,
        0,
        k=integers(1),
        rows=integer(2),
        columns=integer(3),
        padding=number(4),
    ),
    **_versions("MatrixDiagPart", diagonal_of, 0, k=integers(1)),
    **_versions("MatrixSetDiag", with_diagonal, 0, 1, k=integers(2)),
    "Cholesky": Row("linalg.cholesky", 0),
    "Diag": Row("diag", 0),
    "DiagPart": Row(diagonal_of_tensor, 0),
    "LogMatrixDeterminant": Row("linalg.slogdet", 0),
    "MatrixDeterminant": Row("linalg.det", 0),
    "MatrixInverse": Row(inverse, 0, adjoint=boolean("adjoint")),
    "MatrixSolve": Row(solution, 0, 1, adjoint=boolean("adjoint")),
    "MatrixTriangularSolve": Row(
        solution_of_triangle, 0, 1, lower=boolean("lower", True), adjoint=boolean("adjoint")
    ),
    "Qr": Row(orthogonal_factors, 0, full_matrices=boolean("full_matrices")),
    "SelfAdjointEigV2": Row(eigenvalues, 0, compute_v=boolean("compute_v", True)),
    "Svd": Row(
        singular_values,
        0,
        compute_uv=boolean("compute_uv", True),
        full_matrices=boolean("full_matrices"),
    ),
}
