"""Operations on matrices that TensorFlow.js does not have: diagonals, factors and solutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from webtensor import ops
from webtensor.engine import Tensor
from webtensor.graph.operations.arguments import attribute, boolean, integer, integers, number
from webtensor.graph.operations.rows import Row

__all__ = ["ONLY_HERE"]

# -- diagonals ---------------------------------------------------------------------------------


def _starts(k: Sequence[int], shape: Sequence[int], length: int, align: str) -> list[int]:
    """Return where the diagonals of matrices begin in rows of a length, the uppermost first."""
    sides = align.split("_")  # of those above and below the main diagonal
    offsets = range(k[-1], k[0] - 1, -1)
    if not offsets:
        raise ValueError(f"k must be the lowest and the highest diagonal, but is {[*k]}")
    return [
        length - min(shape[-2] + min(offset, 0), shape[-1] - max(offset, 0))
        if sides[offset < 0] == "RIGHT"
        else 0
        for offset in offsets
    ]


def with_diagonals(
    x: Tensor, diagonals: Tensor, k: Sequence[int] = (0,), align: str = "LEFT_LEFT"
) -> Tensor:
    """Return matrices with other diagonals."""
    batch = x.shape[:-2]
    elements = ops.reshape(diagonals, (*batch, -1))
    length = diagonals.shape[-1]
    starts = _starts(k, x.shape, length, align)
    row, column = ops.reshape(ops.arange(x.shape[-2]), (-1, 1)), ops.arange(x.shape[-1])
    number = k[-1] - column + row
    clipped = ops.clip(number, 0, len(starts) - 1)
    place = ops.minimum(ops.minimum(row, column) + ops.gather(starts, clipped), length - 1)
    inserted = ops.gather(elements, clipped * length + place, len(batch))
    return ops.where(ops.equal(number, clipped), inserted, x)


def matrices_of(
    diagonals: Tensor,
    k: Sequence[int] = (0,),
    rows: int = -1,
    columns: int = -1,
    padding: float = 0,
    align: str = "LEFT_LEFT",
) -> Tensor:
    """Return matrices with some diagonals; -1 is the least number of rows or columns."""
    length = diagonals.shape[-1]
    shape = [length - min(k[-1], 0), length + max(k[0], 0)]
    if rows == columns == -1:
        shape = [max(shape)] * 2
    shape = [max(size) for size in zip(shape, (rows, columns), strict=True)]
    batch = diagonals.shape[: -1 if k[0] == k[-1] else -2]
    background = ops.full((*batch, *shape), padding, diagonals.dtype)
    return with_diagonals(background, diagonals, k, align)


def diagonals_of(
    x: Tensor, k: Sequence[int] = (0,), padding: float = 0, align: str = "LEFT_LEFT"
) -> Tensor:
    """Return some diagonals of matrices, the uppermost first, padded to the longest."""
    if k[0] == k[-1]:
        return ops.linalg.diagonal(x, offset=k[0])
    *batch, rows, columns = x.shape
    length = min(rows + min(k[-1], 0), columns - max(k[0], 0))
    starts = ops.tensor(_starts(k, x.shape, length, align))
    place = ops.arange(length) - ops.reshape(starts, (-1, 1))
    offset = ops.reshape(ops.arange(k[-1], k[0] - 1, -1), (-1, 1))
    row, column = place - ops.minimum(offset, 0), place + ops.maximum(offset, 0)
    smallest = ops.minimum(row, column)
    is_inside = (smallest >= 0) & (row < rows) & (column < columns)
    index = ops.where(is_inside, row * columns + column, 0)
    elements = ops.gather(ops.reshape(x, (*batch, -1)), index, len(batch))
    return ops.where(is_inside, elements, ops.astype(padding, x.dtype))


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
    return {
        op: Row(function, *inputs),
        f"{op}V2": Row(function, *inputs, **options),
        f"{op}V3": Row(function, *inputs, **options, align=attribute("align", "RIGHT_LEFT")),
    }


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
    **_versions("MatrixDiagPart", diagonals_of, 0, k=integers(1), padding=number(2)),
    **_versions("MatrixSetDiag", with_diagonals, 0, 1, k=integers(2)),
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
